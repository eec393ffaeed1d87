//! Language models and embedders on ONNX Runtime; the only user of the `ort` crate.
//!
//! The library is loaded at run time from where [`locate`] finds it, so nothing here needs it to build. A model is an
//! ONNX file of the form that Hugging Face's exporters write: see [`Interface`] and `OrtEmbedder`.

mod decoder;
#[cfg(feature = "huggingface")]
mod embedder;
mod errors;
mod interface;
mod locate;
mod session;

pub use decoder::{DecoderOptions, OrtDecoder};
#[cfg(feature = "huggingface")]
pub use embedder::{EmbedderOptions, OrtEmbedder};
pub use interface::{Interface, PastShape};
pub use locate::{library_info, locate};
pub use session::Device;
