//! Tests with servers and libraries that run models on Grammata's engine (`bindings/python/hosts/`), and with
//! frameworks of agents (the examples of `bindings/agents`).
//!
//! Each step sets its host up from package registries by version, below `target/hosts`, and runs the tests in the
//! host's folder.

mod agents_python;
mod candle;
mod genai;
mod llama_cpp;
mod llguidance;
mod python;
mod sglang;
mod tokenizers;
mod transformers;
mod vllm;

pub use agents_python::check as agents_python;
pub use candle::check as candle;
pub use genai::check as genai;
pub use llama_cpp::suite as llama_cpp;
pub use llguidance::check as llguidance;
pub use sglang::check as sglang;
pub use tokenizers::{check as real_tokenizers, files as tokenizer_files};
pub use transformers::check as transformers;
pub use vllm::suite as vllm;
