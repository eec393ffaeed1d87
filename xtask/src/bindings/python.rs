//! The Python package: built, installed into a virtual environment, and tested there.
//!
//! The wheel for tests is of the profile `dev`, so that what the tests of the workspace have built of the dependencies is used
//! again, and arithmetic is checked. The one to ship is of the profile `wheel` (`pip install ./bindings/python`).

use crate::command::{self, Result, command, root, succeeds};
use crate::setup;
use std::path::PathBuf;

/// What builds and tests the package, in a virtual environment of its own.
const PACKAGES: [&str; 9] = [
    "maturin==1.16.0",
    "mypy==2.4.1",
    "numpy==2.4.6",
    "onnxruntime==1.32.0",
    "pydantic==2.14.4",
    "pytest==9.2.0",
    "tiktoken==0.14.0",
    "tokenizers==0.23.3",
    "typing_extensions==4.16.0",
];

/// The virtual environment, below the folder of what is built.
const FOLDER: &str = "target/python";

/// Builds the wheel, installs it, runs the tests, and checks the types of the package and its stubs.
pub fn check() -> Result {
    let python = environment()?;
    let wheels = format!("{FOLDER}/wheels");
    // the only wheel there is the one that is built now
    let _ = std::fs::remove_dir_all(root().join(&wheels));
    let build =
        ["-m", "maturin", "build", "--profile", "dev", "--manifest-path", "bindings/python/Cargo.toml"];
    command::run(command(&python, &build).args(["--out", &wheels, "--interpreter"]).arg(&python))?;
    let install =
        ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--force-reinstall", "--no-deps"];
    command::run(command(&python, &install).args(["--no-index", "--find-links", &wheels, "grammata"]))?;
    command::run(&mut command(&python, &["-m", "pytest", "-q", "bindings/python"]))?;
    command::run(&mut command(&python, &["-m", "mypy", "--strict", "bindings/python/python/grammata"]))?;
    command::run(&mut command(&python, &["-m", "mypy.stubtest", "grammata._native"]))
}

/// The Python of the virtual environment with all packages; makes it if it is missing.
fn environment() -> Result<PathBuf> {
    let venv = root().join(FOLDER).join("venv");
    let python = venv.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    if !succeeds(&mut command(&python, &["--version"])) {
        command::run(command(setup::python()?, &["-m", "venv"]).arg(&venv))?;
    }
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    command::run(command(&python, &install).args(PACKAGES))?;
    Ok(python)
}
