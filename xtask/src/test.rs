//! All tests: the suites with cargo-nextest, then the examples in the documentation.

use crate::command::{self, Result, cargo};
use crate::setup;
use crate::tools::NEXTEST;

/// Fetches ONNX Runtime and the embedder if they are missing (the driver's tests fail without them) and runs all tests; or those whose names
/// contain one of the filters, and what else cargo-nextest takes as an argument.
pub fn run(filters: &[String]) -> Result {
    setup::onnx_runtime()?;
    setup::embedder()?;
    NEXTEST.install()?;
    let all = ["run", "--workspace", "--features", "ort,hnsw,qdrant", "--no-fail-fast"];
    command::run(NEXTEST.command(&all).args(filters))?;
    if !filters.is_empty() {
        return Ok(());
    }
    command::run(&mut cargo(&["test", "--doc", "--workspace", "--features", "ort,hnsw,qdrant"]))
}
