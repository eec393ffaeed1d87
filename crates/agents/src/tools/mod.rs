//! Tools: from the documents that describe them to calls that always parse.
//!
//! - [`read`] parses OpenAPI documents, MCP's `tools/list`, function declarations of OpenAI, Anthropic, Gemini, BFCL
//!   and ToolBench, and Python signatures into a [`ToolSet`]. A tool that cannot be called is kept with the reason.
//! - A [`CallFormat`] defines how calls are written. [`CallGrammar`] is the grammar of turns that call a set's tools in
//!   a format. [`CallFormat::read`] parses turns, and [`CallFormat::render`] writes them.
//! - A [`TagPreset`] builds the structural tag of a request to a model family.
//!
//! The source is the paper on ToolDec (arXiv 2310.07075v3), which builds an automaton from a tool's documentation so
//! that a model calls it without syntax errors. `docs/tools.md` describes the documents that are read, and their
//! translation.

mod address;
mod arguments;
mod binding;
mod custom;
mod errors;
mod finding;
mod form;
mod format;
mod name;
mod needs;
mod origin;
mod plain;
mod preset;
mod prompt;
mod read;
mod request;
mod schema;
pub mod session;
mod set;

pub use binding::{Binding, Body, BodyMembers, Encoding, HttpBinding, Location, Media, Parameter, Style};
pub use finding::{Finding, Severity};
pub use format::{Call, CallFormat, CallGrammar, Choice, GrammarOptions, Markers, Turn};
pub use name::restricted as restricted_names;
pub use preset::{OutputPart, OutputReader, ReasoningMode, RequestTag, TagOptions, TagPreset};
pub use prompt::{Level, is_documentation_of, without_special_tokens};
pub use read::{Document, ReadOptions, YamlPlaces, is_document, read};
pub use request::Request;
pub use schema::Schema;
pub use set::{Tool, ToolSet};
