//! Grammata for other languages: `bindings/`.

mod c;
mod hosts;
mod install;
mod python;
mod xgrammar;

pub use c::bless;
pub use hosts::{
    agents_python, candle, genai, llama_cpp, llguidance, real_tokenizers, sglang, tokenizer_files,
    transformers, vllm,
};
pub use install::{install, target};
pub use python::wheel;
pub use xgrammar::suite as xgrammar;

use crate::command::Result;
use crate::steps::{self, Step};

/// The arguments that build the libraries of all bindings, with the features that dependencies have in the tests, so
/// that only the libraries themselves are built in addition to the tests. Naming a test has this effect; it is the
/// smallest one.
const BUILD: [&str; 7] = ["build", "--workspace", "--lib", "--test", "memory", "--features", "ort,server"];

const STEPS: [Step; 3] =
    [("c", c::check), ("python", python::check), ("agents-python", python::check_agents)];

/// Checks the bindings that are named, or all.
pub fn run(names: &[String]) -> Result {
    steps::run("bindings", &STEPS, names)
}
