//! The kinds of specs: three kinds of automata, and context-free grammars.

use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt;

/// The kind of machine or grammar that a spec describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
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
