//! Decoding: a language model, a sampler and the loop that lets a constraint choose with them.
//!
//! [`generate`] is the whole loop: it feeds the prompt to a [`Model`], asks a [`Constraint`] for the mask of
//! every step, samples under it with a [`Sampler`] and hands out text as soon as it is certain. What it needs to know
//! of a vocabulary is the [`Detokenizer`] trait; a prompt is written by a [`ChatTemplate`] and cut into tokens by a
//! `PromptTokenizer` (feature `huggingface`). An [`Embedder`] maps texts to vectors. The module `ort` (feature `ort`) has a
//! language model and an embedder on ONNX Runtime.

mod chat;
mod chat_functions;
mod constraint;
mod embedder;
mod errors;
mod folder;
mod generate;
mod logits;
mod matcher;
mod model;
mod sampler;
mod sequences;
mod settings;
mod text;
mod timings;
#[cfg(feature = "huggingface")]
mod tokenizer;

#[cfg(feature = "ort")]
pub mod ort;

pub use chat::{ChatTemplate, Message};
pub use constraint::Constraint;
pub use embedder::{Embedder, EmbedderFolder, Embeddings, TableEmbedder, Truncation};
pub use folder::ModelFolder;
pub use generate::{Detokenizer, FinishReason, Generation, GenerationOptions, OutputStatus, generate};
pub use logits::{DeviceLogits, DeviceRow, Logits};
pub use model::{Feed, Model, Rows, check_batch, check_truncate};
pub use sampler::{Sampler, SamplingParams};
pub use sequences::{SequenceId, Sequences};
pub use text::TextStream;
pub use timings::Timings;
#[cfg(feature = "huggingface")]
pub use tokenizer::PromptTokenizer;
