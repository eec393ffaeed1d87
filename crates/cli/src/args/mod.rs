//! Groups of arguments that commands share, and what they name: grammars, tokenizers, models, endpoints, limits.
//!
//! `source` reads grammars of every kind, `tokens` vocabularies; `session` compiles a grammar for a vocabulary.

pub(crate) mod deadline;
pub mod endpoint;
pub(crate) mod examples;
pub(crate) mod global;
pub(crate) mod grammar_files;
pub mod limits;
pub mod model;
pub(crate) mod origin;
pub mod server;
pub(crate) mod session;
pub mod source;
pub(crate) mod special;
pub mod tokens;
