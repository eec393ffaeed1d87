//! Grammata compiles grammars to token-level masks for constrained decoding.
//!
//! Given the text that a language model has written so far, a mask says which tokens are allowed next, so that the text
//! can still become a word of the grammar. The path from a grammar's text to a mask has four steps:
//!
//! ```
//! use grammata::syntax::json_schema;
//! use grammata::vocabulary::{LoadOptions, Vocabulary};
//! use grammata::Compiler;
//! use std::sync::Arc;
//!
//! // the tokenizer of the model: once for each model
//! let vocabulary = Vocabulary::from_file("tests/data/smollm2/tokenizer.json", &LoadOptions::default())?;
//! let compiler = Compiler::new(Arc::new(vocabulary));
//!
//! // the grammar: once for each schema
//! let schema = r#"{"type": "object",
//!                  "properties": {"answer": {"enum": ["yes", "no"]}},
//!                  "required": ["answer"], "additionalProperties": false}"#;
//! let schema = json_schema::compile(schema, &json_schema::Options::default())?;
//! let compiled = compiler.compile(&schema.grammar)?;
//!
//! // a matcher: once for each sequence
//! let mut matcher = compiled.matcher();
//! matcher.accept_bytes(br#"{"answer": "y"#)?;
//! let allowed: Vec<&[u8]> =
//!     matcher.mask()?.iter().filter_map(|token| compiled.vocabulary().bytes(token)).collect();
//! assert_eq!(allowed, [&b"e"[..], b"es"]);
//! # Ok::<(), grammata::Error>(())
//! ```
//!
//! # Where to look
//!
//! - [`vocabulary`] reads tokenizer files; a [`Vocabulary`] has each token's bytes.
//! - [`syntax`] has the front ends: [`json_schema`](syntax::json_schema), [`gbnf`](syntax::gbnf),
//!   [`lark`](syntax::lark), [`regex`](syntax::regex), [`structural_tag`](syntax::structural_tag) and `automaton_spec`.
//!   A grammar can also be built in code, with a [`GrammarBuilder`](grammar::GrammarBuilder).
//! - A [`Compiler`] builds a [`CompiledGrammar`], which threads share; each of its [`Matcher`]s follows one sequence.
//! - [`explore`] computes configurations and masks ahead of time, and [`mask_file`] stores them for other processes.
//! - `serve` is for servers: a cache of compiled grammars, and masks of many sequences in one call.
//! - [`automaton`] counts, lists and samples languages.
//! - The crate `grammata-decode` runs a language model under a matcher, `grammata-agents` has tools, plans, retrieval,
//!   procedures and flows, `grammata-agents-drive` runs agents under their rules, and `grammata-cli` is the program.
//! - Options and [`Limits`] may get fields in minor versions. Build them from their defaults with a method for each
//!   field: `Limits::default().cache_bytes(64 << 20)`.
//! - An [`Error`] has a code, a place, the value found, the values allowed and a line of help; [`Limits`] lists every
//!   limit.
//!
//! # Features
//!
//! | feature | default | adds |
//! |---|---|---|
//! | `spec` | yes | `syntax::automaton_spec`: specs of automata and grammars in TOML and JSON, with templates |
//! | `serve` | yes | `serve`: a cache of compiled grammars, and masks of many sequences over a pool of threads |
//! | `serde` | no | `Serialize` and `Deserialize` for options, ids and [`Limits`], `Serialize` for statistics and diagnostics |
//! | `testing` | no | access to the engine for this project's own tests; not part of the public API |

// docs.rs shows for each item which feature it needs
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod automaton;
mod collections;
pub mod explore;
pub mod grammar;
mod json;
pub mod mask;
pub mod mask_file;
pub mod matcher;
#[cfg(feature = "serve")]
pub mod serve;
mod sync;
pub mod syntax;
mod token_index;
pub mod transitions;
pub mod vocabulary;

pub use diagnostic::{Diagnostic, Place};
pub use error::{Error, ErrorKind, Result};
pub use grammata_base::{diagnostic, error, forking, limits};
use grammata_base::{dot, files, work};
pub use limits::{LimitKind, Limits};
pub use mask::{CompiledGrammar, Compiler, MemoryBound, TokenMask};
pub use mask_file::MaskFile;
pub use matcher::Matcher;
pub use vocabulary::{TokenId, Vocabulary};

/// Servers share these types between threads and move them. Compilation fails if one of them does not allow that.
const _: fn() = || {
    fn is_shared<T: Send + Sync + 'static>() {}
    is_shared::<Vocabulary>();
    is_shared::<grammar::Grammar>();
    is_shared::<automaton::Automaton>();
    is_shared::<Compiler>();
    is_shared::<CompiledGrammar>();
    is_shared::<TokenMask>();
    is_shared::<Matcher>();
    is_shared::<matcher::EventMatcher>();
    #[cfg(feature = "serve")]
    is_shared::<serve::GrammarCache>();
    is_shared::<Error>();
    is_shared::<Limits>();
};
