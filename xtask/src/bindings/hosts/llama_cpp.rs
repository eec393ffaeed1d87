//! llama.cpp and llama-cpp-python with Grammata's engine: llama.cpp's own test of llguidance, generation, and the Python module.
//!
//! llama.cpp comes in the source archive of llama-cpp-python and is built with `libgrammata_llg` in place of llguidance; llguidance's
//! library is built from its crate for comparison, and the model is SmolLM2. All come from package registries, by version.
//! `bindings/python/hosts/llama_cpp/failures.toml` lists what differs from llama.cpp's test, with reasons.

use crate::bindings::install::target;
use crate::bindings::python;
use crate::command::{self, Result, cargo, command};

const SUITE: &str = "bindings/python/hosts/llama_cpp/suite.py";

/// Where llama.cpp is put and built, and the outputs are written.
const FOLDER: &str = "target/llama-cpp";

/// Libraries that are measured are built as users have them, but for link-time optimisation.
const PROFILE: &str = "quick";

/// Builds the libraries and the Python package, and runs the suite.
pub fn suite() -> Result {
    if !cfg!(target_os = "linux") {
        println!("not run: llama.cpp is built for Linux alone here");
        return Ok(());
    }
    let packages = ["--package", "grammata-llg", "--package", "grammata-c"];
    command::run(cargo(&["build", "--profile", PROFILE]).args(packages))?;
    let (python, site) = python::package()?;
    let libraries = target().join(PROFILE);
    let jobs = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).to_string();
    let mut suite = command(&python, &[SUITE, FOLDER, "--jobs", &jobs, "--libraries"]);
    command::run(suite.arg(libraries).env("PYTHONPATH", site))
}
