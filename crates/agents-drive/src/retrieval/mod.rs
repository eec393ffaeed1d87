//! Queries that a language model writes for a request.
//!
//! A [`QueryWriter`] asks a model for descriptions of tools ([`Prompt`], in one of several [`Mode`]s) and reads the
//! output. Either a grammar holds the output to a [`Format`], so that no parser is needed, or the output is raw, and
//! [`parse`] extracts the queries. A [`Run`] records the results of a request.

mod chat;
mod encoder;
mod errors;
mod format;
mod lines;
mod parse;
mod prompt;
mod read;
mod run;
mod writer;

pub use chat::ChatWriter;
#[cfg(feature = "huggingface")]
pub use encoder::TokenizerEncoder;
pub use encoder::{Encoded, Encoder};
pub use format::{Format, format_grammar};
pub use lines::{Charset, Lines, lines_pattern};
pub use parse::{Dropped, Parsed, Reason, parse};
pub use prompt::{Example, Mode, Prompt, few_shot_examples};
pub use read::{Draft, Written, read};
pub use run::{Ranked, Run, RunQuery, RunTool, Source, Times, retrieve};
pub use writer::{QueryWriter, WriterOptions};

/// The maximum number of queries of a request, unless [`Lines`] allow more.
const MOST_QUERIES: usize = 5;
/// The maximum number of words of a query: "under 20", as the prompt says.
const MOST_WORDS: usize = 19;
