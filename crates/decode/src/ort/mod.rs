//! Language models and embedders on ONNX Runtime; the only user of the `ort` crate.
//!
//! The library is loaded at run time from where [`locate`] finds it, so nothing here needs it to build. A model is an
//! ONNX file of the form that Hugging Face's exporters write: see [`ModelSignature`] and `OrtEmbedder`.

mod cache;
#[cfg(feature = "huggingface")]
mod embedder;
mod errors;
mod locate;
mod logits;
mod model;
mod session;
mod signature;

#[cfg(feature = "huggingface")]
pub use embedder::{EmbedderOptions, OrtEmbedder};
pub use locate::{library_info, locate};
pub use model::{ModelOptions, OrtModel};
pub use session::Device;
pub use signature::{KvCacheShape, LogitsPositions, ModelSignature};
