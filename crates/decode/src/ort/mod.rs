//! Language models and embedders on ONNX Runtime; the only user of the `ort` crate.
//!
//! The library is loaded at run time from the path that [`locate`] returns, so that the crate is built without it. A
//! model is an ONNX file in the format of Hugging Face's exporters: see [`ModelSignature`] and `OrtEmbedder`.

mod cache;
#[cfg(feature = "testing")]
mod check;
mod chooser;
mod copied;
mod copier;
#[cfg(feature = "huggingface")]
mod embedder;
mod errors;
mod graph;
mod locate;
mod logits;
mod model;
mod network;
mod session;
mod signature;

#[cfg(feature = "testing")]
pub use check::{BOUNDARY, ChoiceCases, ChoiceReport, check_choices, time_choices};
pub use copied::Copied;
#[cfg(feature = "huggingface")]
pub use embedder::{EmbedderOptions, OrtEmbedder};
pub use locate::{library_info, locate};
pub use model::{ModelOptions, OrtModel};
pub use session::Device;
pub use signature::{KvCacheShape, LogitsPositions, ModelSignature};
