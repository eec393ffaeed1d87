//! Queries that a language model writes: reading them back.
//!
//! A model that is asked for descriptions of tools, one on each line, is either held to that form by a grammar
//! ([`lines_pattern`]), whose words are split at their line ends, or writes freely, and [`parse`] makes the best of it.

mod lines;
mod parse;

pub use lines::{Charset, Lines, lines_pattern};
pub use parse::{Dropped, Parsed, Reason, parse};

/// The most queries that are kept.
const MOST_QUERIES: usize = 5;
/// The most words of a query: "under 20", as the prompt says.
const MOST_WORDS: usize = 19;
