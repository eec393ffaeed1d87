//! The spec as it is written: fields, their types, and which fields which kind has.

use super::fields::{Names, Rules, Symbols};
use super::{Format, errors};
use crate::error::Result;
use rustc_hash::FxHashMap;
use serde::Deserialize;
use std::fmt;

/// The kind of machine or grammar that a spec describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A deterministic finite automaton.
    Dfa,
    /// A nondeterministic finite automaton.
    Nfa,
    /// A pushdown automaton.
    Pda,
    /// A context-free grammar.
    Cfg,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Dfa => "dfa",
            Kind::Nfa => "nfa",
            Kind::Pda => "pda",
            Kind::Cfg => "cfg",
        })
    }
}

/// When a pushdown automaton accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum AcceptBy {
    #[default]
    FinalState,
    EmptyStack,
    Both,
    Either,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Transition {
    pub from: String,
    pub input: Option<Names>,
    pub pop: Option<String>,
    pub push: Option<Names>,
    pub to: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct SymbolLimits {
    pub at_most_once: Vec<String>,
    pub exactly_once: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    pub kind: Kind,
    pub name: Option<String>,
    pub description: Option<String>,
    pub source: Option<String>,
    pub symbols: Symbols,
    #[serde(default)]
    pub separator: String,
    #[serde(default)]
    pub prefix: String,
    #[serde(default)]
    pub suffix: String,
    pub start: Option<String>,
    pub states: Option<Vec<String>>,
    pub accepting: Option<Vec<String>>,
    pub transitions: Option<Vec<Transition>>,
    pub stack_start: Option<String>,
    pub accept_by: Option<AcceptBy>,
    pub rules: Option<Rules>,
    #[serde(default)]
    pub limits: SymbolLimits,
}

impl Document {
    /// The symbols' numbers, in the spec's order.
    pub(super) fn symbol_numbers(&self) -> FxHashMap<&str, usize> {
        self.symbols.0.iter().enumerate().map(|(i, (name, _))| (name.as_str(), i)).collect()
    }

    /// The start, which every kind has.
    pub(super) fn start(&self) -> Result<&str> {
        self.start.as_deref().ok_or_else(|| errors::missing("start", self.kind))
    }

    fn check_fields(&self) -> Result<()> {
        let finite: &[&str] = &["states", "accepting", "transitions"];
        let pushdown: &[&str] = &["states", "accepting", "transitions", "stack_start", "accept_by"];
        let allowed = match self.kind {
            Kind::Dfa | Kind::Nfa => finite,
            Kind::Pda => pushdown,
            Kind::Cfg => &["rules"],
        };
        let given = [
            ("states", self.states.is_some()),
            ("accepting", self.accepting.is_some()),
            ("transitions", self.transitions.is_some()),
            ("stack_start", self.stack_start.is_some()),
            ("accept_by", self.accept_by.is_some()),
            ("rules", self.rules.is_some()),
        ];
        match given.iter().find(|(name, given)| *given && !allowed.contains(name)) {
            Some((name, _)) => Err(errors::misplaced_field(name, self.kind, allowed)),
            None => Ok(()),
        }
    }
}

/// Reads a spec. `rendered` says that the text came out of a template, so that errors can say so.
pub(super) fn read(text: &str, format: Format, rendered: bool) -> Result<Document> {
    let document: Document = match format {
        Format::Toml => toml::from_str(text).map_err(|e| errors::toml(text, &e, rendered))?,
        Format::Json => serde_json::from_str(text).map_err(|e| errors::json(text, &e, rendered))?,
    };
    document.check_fields()?;
    Ok(document)
}

/// The JSON Pointer of a path.
pub(super) fn pointer<'a>(path: impl IntoIterator<Item = &'a str>) -> String {
    let mut pointer = String::new();
    for part in path {
        pointer.push('/');
        pointer.push_str(&part.replace('~', "~0").replace('/', "~1"));
    }
    pointer
}
