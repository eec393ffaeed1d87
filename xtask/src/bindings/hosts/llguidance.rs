//! llguidance's own Python tests on Grammata's engine, by the module `grammata.compat.llguidance`, and Outlines'
//! llguidance backend.
//!
//! llguidance and its tests are fetched from package registries. `bindings/python/compat/llguidance-failures.toml`
//! lists the tests that fail, with reasons; the step fails if a test that is not listed fails, or a listed one passes.

use super::python::Host;
use super::transformers::OUTLINES;
use crate::command::Result;

const SUITE: &str = "bindings/python/compat/llguidance_suite.py";

/// The folder of llguidance and of the outcomes.
const FOLDER: &str = "target/llguidance";

/// tiktoken, because a test reads one of its tokenizers, and MLX for the CPU. llguidance is not among them: half of the
/// tests run without it.
const PACKAGES: [&str; 3] = ["tiktoken==0.14.0", "mlx==0.32.4", "mlx-cpu==0.32.4"];

/// Runs llguidance's tests with torch and `transformers`, then those of Outlines with SmolLM2.
pub fn check() -> Result {
    let host = Host::new("llguidance", true, &[&PACKAGES[..], &OUTLINES].concat())?;
    let jobs = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).to_string();
    host.run(&[SUITE, FOLDER, "--jobs", &jobs])?;
    host.smollm2()?;
    host.tests("llguidance")
}
