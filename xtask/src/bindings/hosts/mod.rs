//! Servers and libraries that run models, on Grammata's engine: `bindings/python/hosts/`.
//!
//! Each step sets its host up from package registries by version, below `target/hosts`, and runs the tests in the host's folder.

mod genai;
mod python;
mod sglang;
mod transformers;

pub use genai::check as genai;
pub use sglang::check as sglang;
pub use transformers::check as transformers;
//! Servers and libraries that run models, with Grammata's engine in them: `bindings/python/hosts`.

mod llama_cpp;

pub use llama_cpp::suite as llama_cpp;
//! Servers and libraries that run models, with Grammata inside.

mod vllm;

pub use vllm::suite as vllm;
