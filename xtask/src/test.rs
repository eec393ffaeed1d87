//! All tests: the suites with cargo-nextest, then the examples in the documentation.

use crate::command::{self, Result, cargo, succeeds};
use crate::setup;

/// Fetches ONNX Runtime if it is missing (the driver's tests fail without it) and runs all tests.
pub fn run() -> Result {
    setup::onnx_runtime()?;
    tool("nextest", "cargo-nextest")?;
    command::run(&mut cargo(&["nextest", "run", "--workspace", "--features", "ort", "--no-fail-fast"]))?;
    command::run(&mut cargo(&["test", "--doc", "--features", "ort"]))
}

/// Installs a cargo subcommand if it is missing.
pub fn tool(subcommand: &str, package: &str) -> Result {
    if succeeds(&mut cargo(&[subcommand, "--version"])) {
        return Ok(());
    }
    println!("{package} is missing: installing it");
    command::run(&mut cargo(&["install", package, "--locked"]))
}
