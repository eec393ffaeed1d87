//! The spec as written: its fields, their types, and which kinds have which fields.

use super::fields::{Names, NamesForm, Rules, RulesForm, Table};
use super::kind::Kind;
use super::phrases::WrittenPhrase;
use super::symbol::{Symbols, SymbolsForm};
use super::{Format, errors};
use crate::error::Result;
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// When a pushdown automaton accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum AcceptBy {
    /// In an accepting state, whatever the stack holds.
    #[default]
    FinalState,
    /// With an empty stack, in any state.
    EmptyStack,
    /// In an accepting state with an empty stack.
    Both,
    /// In an accepting state, or with an empty stack.
    Either,
}

/// The order in which the words of a spec name the steps of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From the first step to the last.
    #[default]
    Forward,
    /// From the last step to the first.
    Backward,
}

/// Templates (in Jinja's notation) of the texts for the chooser and the reader of a plan; see `docs/plans.md`. Without
/// a template, a built-in text is used, and as the task the spec's description, if it has one.
#[derive(Clone, Debug, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Templates {
    /// The task, unless the caller gives one.
    pub task: Option<String>,
    /// The steps chosen so far, as part of a question.
    pub progress: Option<String>,
    /// The question for the next step.
    pub question: Option<String>,
    /// The text of a finished plan.
    pub plan: Option<String>,
}

/// A transition of an automaton.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Transition {
    /// The state that the transition leaves.
    pub from: String,
    /// The symbol that the transition reads, or a list of symbols, any one of which may be read; without `input`, the
    /// transition reads nothing.
    #[schemars(with = "Option<NamesForm>")]
    pub input: Option<Names>,
    /// The stack symbol that must be on top, and is popped; without `pop`, any stack is allowed and nothing is popped.
    pub pop: Option<String>,
    /// The stack symbols that are pushed after `pop`, in order: the first is the deepest.
    #[schemars(with = "Option<NamesForm>")]
    pub push: Option<Names>,
    /// The state that the transition enters.
    pub to: String,
}

/// Limits on the number of occurrences of symbols. A name is a symbol or a group; the symbols of a group are counted
/// together.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct SymbolLimits {
    /// Names that may occur at most once each.
    pub at_most_once: Vec<String>,
    /// Names that must occur exactly once each.
    pub exactly_once: Vec<String>,
    /// The maximum number of occurrences, by name.
    #[schemars(with = "BTreeMap<String, u32>")]
    pub at_most: Table<u32>,
    /// The minimum number of occurrences, by name.
    #[schemars(with = "BTreeMap<String, u32>")]
    pub at_least: Table<u32>,
    /// The maximum total cost of a plan. Only plans have it; it is an error in a grammar of texts.
    pub max_cost: Option<u64>,
}

/// An automaton, pushdown automaton or context-free grammar over named symbols.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    /// The kind of the automaton or grammar.
    pub kind: Kind,
    /// The name of the spec, for people.
    pub name: Option<String>,
    /// A description of the spec, for people.
    pub description: Option<String>,
    /// Where the spec comes from, for people.
    pub source: Option<String>,
    /// The symbols; the symbols of a plan are its actions.
    #[schemars(with = "SymbolsForm")]
    pub symbols: Symbols,
    /// The text between two symbols of a word; empty by default.
    #[serde(default)]
    pub separator: String,
    /// The text before a word; empty by default.
    #[serde(default)]
    pub prefix: String,
    /// The text after a word; empty by default.
    #[serde(default)]
    pub suffix: String,
    /// The start state, or the start symbol of a `cfg`.
    pub start: Option<String>,
    /// All states of an automaton; needed only for a state that no transition leaves and that does not accept.
    pub states: Option<Vec<String>>,
    /// The accepting states of an automaton.
    pub accepting: Option<Vec<String>>,
    /// The transitions of an automaton.
    pub transitions: Option<Vec<Transition>>,
    /// The only stack symbol on the stack of a `pda` at the start; without it, the stack is empty.
    pub stack_start: Option<String>,
    /// When a `pda` accepts; by default in an accepting state, with any stack.
    pub accept_by: Option<AcceptBy>,
    /// The rules of a `cfg`.
    #[schemars(with = "Option<RulesForm>")]
    pub rules: Option<Rules>,
    /// Flags and facts of formulas, with their values; flags that some effect sets need not be listed.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, super::rules::FactForm>")]
    pub facts: super::rules::WrittenFacts,
    /// Limits on the number of occurrences of symbols.
    #[serde(default)]
    pub limits: SymbolLimits,
    /// The order in which words name the steps of a plan.
    #[serde(default)]
    pub direction: Direction,
    /// Lines of written plans that mean several steps, or none.
    #[serde(default)]
    pub phrases: Vec<WrittenPhrase>,
    /// Templates of the texts for the chooser and the reader of a plan. If a spec has a header, they are part of the
    /// header.
    pub templates: Option<Templates>,
}

impl Document {
    /// The index of each symbol, by its name. Indices follow the order of the spec.
    pub(super) fn symbol_numbers(&self) -> FxHashMap<&str, usize> {
        self.symbols.0.iter().enumerate().map(|(i, symbol)| (symbol.id.as_str(), i)).collect()
    }

    /// The start state or start symbol.
    ///
    /// # Errors
    /// `automaton-spec/missing` if the spec has none.
    pub(super) fn start(&self) -> Result<&str> {
        self.start.as_deref().ok_or_else(|| errors::missing("start", self.kind))
    }

    /// Checks that the spec has no field that only other kinds have.
    ///
    /// # Errors
    /// `automaton-spec/misplaced` for the first field of another kind.
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

/// Parses a rendered spec and checks that it has no fields of other kinds.
///
/// # Errors
/// `automaton-spec/unreadable` and `automaton-spec/misplaced`.
pub(super) fn read(text: &str, format: Format) -> Result<Document> {
    let document: Document = match format {
        Format::Toml => toml::from_str(text).map_err(|e| errors::toml(text, &e))?,
        Format::Json => serde_json::from_str(text).map_err(|e| errors::json(text, &e))?,
    };
    document.check_fields()?;
    Ok(document)
}
