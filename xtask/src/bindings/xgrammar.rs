//! XGrammar's own tests on Grammata's engine, by the module `grammata.compat.xgrammar`.
//!
//! XGrammar is fetched from the package registry. `bindings/python/compat/xgrammar-failures.toml` lists the tests that
//! fail, with reasons; the step fails if a test that is not listed fails, or a listed one passes.

use super::python;
use crate::command::{self, Result, command};

const SUITE: &str = "bindings/python/compat/xgrammar_suite.py";

/// The folder of XGrammar and of the outcomes.
const FOLDER: &str = "target/xgrammar";

/// Assembles the Python package and runs the tests with it.
pub fn suite() -> Result {
    let (python, site) = python::package()?;
    let jobs = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).to_string();
    let arguments = [SUITE, FOLDER, "--jobs", &jobs];
    command::run(command(&python, &arguments).env("PYTHONPATH", site))
}
