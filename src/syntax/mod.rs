//! The front ends: each compiles the text of one notation to a [`Grammar`](crate::grammar::Grammar). A front end does
//! not depend on a vocabulary. Front ends depend on each other only where one notation contains another: patterns
//! (`regex`) are part of schemas, GBNF, Lark and structural tags; schemas (`json_schema`) of Lark, structural tags and
//! automaton specs; GBNF and Lark grammars of structural tags. [`parse`] compiles a [`Source`] in any [`Notation`].

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
