//! Runs all tests: the suites with cargo-nextest, then the examples in the documentation.

use crate::command::{self, Result, cargo};
use crate::setup;
use crate::tools::NEXTEST;

/// Fetches ONNX Runtime and the embedder if they are missing, because the driver's tests fail without them, and runs
/// all tests. With arguments it runs the suites only: arguments are filters on names, or options of cargo-nextest.
pub fn run(filters: &[String]) -> Result {
    setup::onnx_runtime()?;
    setup::embedder()?;
    NEXTEST.install()?;
    // examples have no tests; `lints` compiles them. The library of `interleavings` has modules of the engine, whose
    // own tests do not run under loom
    let targets = ["--lib", "--bins", "--tests", "--filterset", "not (package(interleavings) and kind(lib))"];
    let all = ["run", "--workspace", "--features", "ort,server", "--no-fail-fast"];
    command::run(NEXTEST.command(&all).args(targets).args(filters))?;
    if !filters.is_empty() {
        return Ok(());
    }
    command::run(&mut cargo(&["test", "--doc", "--workspace", "--features", "ort,server"]))
}
