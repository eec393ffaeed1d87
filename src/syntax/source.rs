//! The text of a grammar, with all that says how it is read.

use crate::diagnostic::Diagnostic;
use crate::error::Result;
use crate::grammar::Grammar;
use crate::syntax::{automaton_spec, gbnf, json_schema, regex};

/// A grammar's source: equal ones give equal grammars.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// A JSON Schema.
    JsonSchema(String, json_schema::JsonSchemaOptions),
    /// A grammar in llama.cpp's notation.
    Gbnf(String, gbnf::Options),
    /// A regular expression.
    Regex(String, regex::Options),
    /// An automaton spec.
    Spec(String, automaton_spec::Options),
}

impl Source {
    /// A JSON Schema, with the default options.
    pub fn json_schema(schema: impl Into<String>) -> Source {
        Source::JsonSchema(schema.into(), json_schema::JsonSchemaOptions::default())
    }

    /// A GBNF grammar, with the default options.
    pub fn gbnf(grammar: impl Into<String>) -> Source {
        Source::Gbnf(grammar.into(), gbnf::Options::default())
    }

    /// A regular expression, with the default options.
    pub fn regex(pattern: impl Into<String>) -> Source {
        Source::Regex(pattern.into(), regex::Options::default())
    }

    /// An automaton spec, with the default options.
    pub fn spec(spec: impl Into<String>) -> Source {
        Source::Spec(spec.into(), automaton_spec::Options::default())
    }

    /// The source's text.
    pub fn text(&self) -> &str {
        match self {
            Source::JsonSchema(text, _)
            | Source::Gbnf(text, _)
            | Source::Regex(text, _)
            | Source::Spec(text, _) => text,
        }
    }

    /// The grammar, and the warnings of its front end.
    ///
    /// # Errors
    /// Those of the front end.
    pub fn grammar(&self) -> Result<(Grammar, Vec<Diagnostic>)> {
        Ok(match self {
            Source::JsonSchema(text, options) => {
                let compiled = json_schema::compile(text, options)?;
                (compiled.grammar, compiled.warnings)
            }
            Source::Gbnf(text, options) => {
                let compiled = gbnf::compile(text, options)?;
                (compiled.grammar, compiled.warnings)
            }
            Source::Regex(text, options) => (regex::compile(text, options)?, Vec::new()),
            Source::Spec(text, options) => {
                let compiled = automaton_spec::compile(text, options)?;
                (compiled.grammar, compiled.warnings)
            }
        })
    }
}
