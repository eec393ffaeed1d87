//! The front ends: each turns the text of one notation into a [`Grammar`](crate::grammar::Grammar). They do not depend
//! on tokens or on each other, with two exceptions: `json_schema` lowers `pattern` with `regex`, and a structural tag
//! contains schemas, patterns and grammars. [`parse`] reads a [`Source`] in any [`Notation`].

#[cfg(feature = "spec")]
pub mod automaton_spec;
mod deterministic;
pub mod gbnf;
pub mod json_schema;
pub mod lark;
pub mod regex;
mod source;
pub mod structural_tag;

pub use source::{Notation, Parsed, Source, parse};
