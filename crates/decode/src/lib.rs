//! Decoding: language models, samplers, and decoders that choose tokens under a constraint.
//!
//! - [`Model`] is the trait of language models with many sequences. The module `ort` (feature `ort`) implements it on
//!   ONNX Runtime.
//! - [`Decoder`] chooses the tokens of one sequence, an [`Event`] at a time: under a
//!   [`Constraint`](grammata::matcher::Constraint), if there is one, with a [`Sampler`], stop strings and limits. It
//!   reads the bytes of tokens through a [`Detokenizer`].
//! - Drivers produce outputs with models and decoders: [`generate`], [`best_of`], [`exact_samples`], [`beam_search`],
//!   [`speculative`] decoding with a [`Draft`], [`run_together`] for decoders in batches, and the [`Scheduler`] for
//!   requests that arrive over time.
//! - A [`PrefixCache`] feeds a prefix that a prompt has in common with the latest prompt only once.
//! - A [`ChatTemplate`] renders a prompt, and a `PromptTokenizer` (feature `huggingface`) tokenizes it.
//! - An [`EmbedderFolder`] has a sentence encoder; the module `ort` runs it (with the feature `huggingface`), as a
//!   [`grammata_embeddings::Embedder`].

mod cached;
mod chat;
mod choice;
mod decoder;
mod draft;
mod drivers;
mod embedder;
mod errors;
mod event;
mod exact;
mod finish;
mod folder;
mod logits;
mod mask;
mod model;
mod options;
mod output;
mod overlap;
mod prefix;
mod prefix_tree;
mod random;
mod sampler;
mod sampling;
mod scores;
mod sequences;
mod settings;
mod text;
mod timings;
#[cfg(feature = "huggingface")]
mod tokenizer;

#[cfg(feature = "ort")]
pub mod ort;

pub use cached::CachedSequence;
pub use chat::{ChatTemplate, Message};
pub use choice::{Choice, Chosen};
pub use decoder::Decoder;
pub use draft::{Draft, ForcedDraft, NgramDraft};
pub use drivers::{
    BeamOptions, Ended, Hypothesis, Request, RequestId, Scheduler, SchedulerOptions, SchedulerStatistics,
    beam_search, best_of, exact_samples, generate, generate_with, run_together, speculative,
};
pub use embedder::EmbedderFolder;
pub use event::{ChosenToken, Event, Poll};
pub use exact::{ExactSampling, ExactStatistics, Exhaustion};
pub use finish::{FinishReason, OutputStatus};
pub use folder::ModelFolder;
pub use logits::{DeviceLogits, DeviceRow, Logits};
pub use model::{Feed, Model, Rows, check_batch, check_truncate};
pub use options::{Generation, GenerationOptions};
pub use output::Detokenizer;
pub use prefix::PrefixCache;
pub use random::RandomLogits;
pub use sampler::Sampler;
pub use sampling::SamplingParams;
pub use scores::LogSoftmax;
pub use sequences::{SequenceId, Sequences};
pub use text::TextStream;
pub use timings::Timings;
#[cfg(feature = "huggingface")]
pub use tokenizer::PromptTokenizer;
