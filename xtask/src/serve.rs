//! Serves the small model.

use crate::command::{self, Result, cargo};
use crate::setup;

/// Sets up, builds the program and serves SmolLM2, with further options of `grammata serve`.
pub fn run(options: &[String]) -> Result {
    setup::onnx_runtime()?;
    setup::language_model()?;
    let program =
        ["run", "--profile", "quick", "--quiet", "--features", "server", "--package", "grammata-cli", "--"];
    let serve = ["serve", "--model", ".models/smollm2", "--family", "hermes"];
    command::run(cargo(&program).args(serve).args(options))
}
