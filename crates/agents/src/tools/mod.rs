//! Tools: from the documents that describe them to calls that always parse.
//!
//! - [`read`] reads OpenAPI documents, MCP's `tools/list`, the function declarations of OpenAI, Anthropic and Gemini, those of
//!   BFCL and ToolBench, and Python's signatures, into a [`ToolSet`]. One that cannot be called is kept with the reason;
//! - a [`CallFormat`] says how calls are written. [`CallGrammar`] is the language of the turns in which a set's tools are called in
//!   that format, [`CallFormat::read`] gives the calls of a text and [`CallFormat::render`] the text of calls;
//! - a [`TagPreset`] makes the structural tag of a request to a model of a family.
//!
//! The source is the paper on ToolDec (arXiv 2310.07075v3), which builds an automaton from a tool's documentation so that a model calls
//! it without syntax errors. `docs/tools.md` says what is read, and how.

mod address;
mod arguments;
mod binding;
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
pub use preset::{ReasoningMode, TagOptions, TagPreset};
pub use prompt::{Level, is_documentation_of, without_special_tokens};
pub use read::{Document, ReadOptions, YamlPlaces, read};
pub use request::Request;
pub use schema::Schema;
pub use set::{Tool, ToolSet};
