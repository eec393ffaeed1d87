//! The symbols of a spec, with their texts and further properties. The symbols of a plan are its actions.

use super::fields::{Names, Table, entries};
use super::free_text::SymbolFreeText;
use super::rules::{WrittenEffects, WrittenOutcomes, WrittenRequires, WrittenRules};
use super::token::WrittenToken;
use crate::grammar::TokenTerminal;
use num_bigint::BigUint;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

/// A symbol of a spec. The symbols of a plan are its actions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbol {
    /// The name by which transitions, rules, limits and formulas refer to the symbol.
    pub id: String,
    /// The text that the symbol spells. `{}` in it is replaced by a subset of the [`set`](Symbol::set) or by the JSON
    /// of the [`arguments`](Symbol::arguments). For a token or free text, a text that shows it to people.
    pub text: String,
    /// The token terminal that the symbol is; `None` if it is a text.
    pub token: Option<TokenTerminal>,
    /// The free text that the symbol spells; `None` if it spells a fixed text or is a token.
    pub free_text: Option<SymbolFreeText>,
    /// How the symbol is shown in a choice; `None` means as its text.
    pub label: Option<String>,
    /// The cost of the symbol, in a unit chosen by the spec; 0 by default.
    pub cost: u64,
    /// The duration of the symbol, in a unit chosen by the spec; `None` if the spec does not say.
    pub duration: Option<u64>,
    /// The names of the symbol's inputs, in order. From inputs and outputs, a plan can be drawn as a data-flow graph.
    pub inputs: Vec<String>,
    /// The names of the symbol's outputs.
    pub outputs: Vec<String>,
    /// The groups to which the symbol belongs. Limits count the symbols of a group together.
    pub groups: Vec<String>,
    /// The set whose subsets the symbol can choose; `None` if the symbol is not set-valued.
    pub set: Option<SymbolSet>,
    /// The JSON Schema of the symbol's arguments, or the path of a file with one; `None` if it has no arguments.
    pub arguments: Option<Value>,
    /// The names of the symbol's outcomes. After each occurrence, the environment chooses one of them. Empty if it has
    /// only its own effects.
    pub outcomes: Vec<String>,
    /// Alternative texts for the symbol that are accepted when a plan is read.
    pub aliases: Vec<String>,
}

/// The set of a set-valued symbol. The symbol spells a subset: its elements in the order of [`of`](SymbolSet::of).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolSet {
    /// The elements of the set, all different and not empty.
    pub of: Vec<String>,
    /// The text between two elements.
    pub separator: String,
    /// The text for no elements.
    pub empty: String,
    /// The minimum number of elements.
    pub min: usize,
    /// The maximum number of elements.
    pub max: usize,
    /// Elements, each with another name of it that is accepted when a plan is read.
    pub aliases: Vec<(String, String)>,
}

/// A symbol, written as a table.
#[derive(Debug, Default, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct SymbolTable {
    /// The text that the symbol spells; by default its name. `{}` is replaced by a subset (with `set`) or by the JSON
    /// of the arguments (with `arguments`). Without a text, arguments follow the name and a space.
    text: Option<String>,
    /// The token that the symbol is, in place of a text: the name of a special token, an id, a list of names, ids and
    /// ranges, or all but some. It is matched by its id.
    #[schemars(with = "Option<super::token::TokenForm>")]
    token: Option<WrittenToken>,
    /// Free text that the symbol spells, in place of a text: until a string occurs, without some strings, of a bounded
    /// length.
    free_text: Option<SymbolFreeText>,
    /// The text by which the symbol is offered in a choice; by default `text`.
    label: Option<String>,
    /// The cost of the symbol; 0 by default.
    cost: u64,
    /// The duration of the symbol.
    duration: Option<u64>,
    /// The names of the symbol's inputs, in order.
    inputs: Vec<String>,
    /// The names of the symbol's outputs.
    outputs: Vec<String>,
    /// One or more names of groups, which limits and formulas can use.
    #[schemars(with = "Option<super::fields::NamesForm>")]
    group: Option<Names>,
    /// The condition before the symbol: a formula over actions, groups, flags and facts, or a list of names.
    #[schemars(with = "Option<super::rules::RequiresForm>")]
    requires: Option<WrittenRequires>,
    /// The changes of flags and facts when the symbol is carried out.
    effects: WrittenEffects,
    /// The possible outcomes with their changes; the environment chooses one.
    #[schemars(with = "Option<super::rules::OutcomesForm>")]
    outcomes: WrittenOutcomes,
    /// The JSON Schema of the symbol's arguments, or the path of a file with it, relative to the folder of the spec.
    #[schemars(with = "Option<ArgumentsForm>")]
    arguments: Option<Value>,
    /// A set; the symbol spells one of its subsets.
    set: Option<SetTable>,
    /// Other texts that mean this symbol when a plan is read.
    aliases: Vec<String>,
}

/// The set of a set-valued symbol.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SetTable {
    /// The elements of the set, all different and not empty.
    of: Vec<String>,
    /// The text between two elements; by default a comma and a space.
    separator: Option<String>,
    /// The text for no elements; by default `none`.
    empty: Option<String>,
    /// The minimum number of elements; 0 by default.
    #[serde(default)]
    min: usize,
    /// The maximum number of elements; by default all of them.
    max: Option<usize>,
    /// Other names of elements that mean them when a plan is read.
    #[serde(default)]
    #[schemars(with = "std::collections::BTreeMap<String, super::fields::NamesForm>")]
    aliases: Table<Names>,
}

/// The arguments of a symbol.
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)] // never constructed: only its schema is used
pub(super) enum ArgumentsForm {
    /// The path of a file with a JSON Schema.
    File(String),
    /// A JSON Schema.
    Schema(serde_json::Map<String, Value>),
}

impl SymbolTable {
    /// Converts the table to the symbol with the name `id`, and its rules.
    fn named(self, id: String) -> (Symbol, WrittenRules) {
        let token = self.token.map(|token| token.0);
        let text = self.text.unwrap_or_else(|| match (&self.arguments, &token, &self.free_text) {
            (Some(_), ..) => format!("{id} {{}}"),
            (None, Some(token), _) => token.to_string(),
            (None, None, Some(_)) => "…".to_owned(),
            (None, None, None) => id.clone(),
        });
        let outcomes = self.outcomes.0.iter().map(|(name, _)| name.clone()).collect();
        let rules = WrittenRules { requires: self.requires, effects: self.effects, outcomes: self.outcomes };
        let symbol = Symbol {
            text,
            token,
            free_text: self.free_text,
            label: self.label,
            cost: self.cost,
            duration: self.duration,
            inputs: self.inputs,
            outputs: self.outputs,
            groups: self.group.map(|names| names.0).unwrap_or_default(),
            set: self.set.map(|set| SymbolSet {
                max: set.max.unwrap_or(set.of.len()),
                of: set.of,
                separator: set.separator.unwrap_or_else(|| ", ".to_owned()),
                empty: set.empty.unwrap_or_else(|| "none".to_owned()),
                min: set.min,
                aliases: set
                    .aliases
                    .0
                    .into_iter()
                    .flat_map(|(element, names)| names.0.into_iter().map(move |name| (element.clone(), name)))
                    .collect(),
            }),
            arguments: self.arguments,
            outcomes,
            aliases: self.aliases,
            id,
        };
        (symbol, rules)
    }
}

/// The value of a symbol in the table of symbols: its text, or a table.
struct Written(SymbolTable);

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Written, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = Written;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the symbol's text, or a table of what it is")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Written, E> {
                Ok(Written(SymbolTable { text: Some(text.to_owned()), ..SymbolTable::default() }))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Written, A::Error> {
                let table = SymbolTable::deserialize(MapAccessDeserializer::new(map))?;
                let spells = table.text.is_some() || table.set.is_some() || table.arguments.is_some();
                if table.token.is_some() && (spells || table.free_text.is_some()) {
                    return Err(A::Error::custom(
                        "a symbol that is a token spells nothing: it has no `text`, `free_text`, `set` or `arguments`",
                    ));
                }
                if table.free_text.is_some() && spells {
                    return Err(A::Error::custom(
                        "a symbol that spells free text has no `text`, `set` or `arguments`",
                    ));
                }
                Ok(Written(table))
            }
        }
        deserializer.deserialize_any(V)
    }
}

/// The symbols, written as a table from names to texts or tables, or as a list of symbols that spell their own names;
/// and the rules of each, in the same order.
#[derive(Clone, Debug)]
pub(super) struct Symbols(pub Vec<Symbol>, pub Vec<WrittenRules>);

/// The symbols of a spec.
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)] // never constructed: only its schema is used
pub(super) enum SymbolsForm {
    /// Symbols that spell their own names.
    Names(Vec<String>),
    /// A table from names to symbols.
    Table(std::collections::BTreeMap<String, SymbolForm>),
}

/// A symbol.
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)] // never constructed: only its schema is used
pub(super) enum SymbolForm {
    /// The text that the symbol spells.
    Text(String),
    /// All properties of the symbol.
    Table(Box<SymbolTable>),
}

impl<'de> Deserialize<'de> for Symbols {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Symbols, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = Symbols;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table from symbols to texts, or a list of symbols")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Symbols, A::Error> {
                let table: Vec<(String, Written)> = entries(map)?;
                let (symbols, rules) = table.into_iter().map(|(id, written)| written.0.named(id)).unzip();
                Ok(Symbols(symbols, rules))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Symbols, A::Error> {
                let mut symbols = Vec::new();
                let mut seen = rustc_hash::FxHashSet::default();
                while let Some(name) = seq.next_element::<String>()? {
                    if !seen.insert(name.clone()) {
                        return Err(A::Error::custom(format!("the symbol `{name}` occurs twice")));
                    }
                    symbols.push(Symbol { text: name.clone(), id: name, ..Symbol::default() });
                }
                let rules = vec![WrittenRules::default(); symbols.len()];
                Ok(Symbols(symbols, rules))
            }
        }
        deserializer.deserialize_any(V)
    }
}

impl Symbol {
    /// How the symbol is shown in a choice: its label or, without one, its text without white space around it. `…` is
    /// shown in place of `{}` if the symbol has a set or arguments.
    pub fn shown(&self) -> Cow<'_, str> {
        self.with_ellipsis(self.label.as_deref().unwrap_or_else(|| self.text.trim()))
    }

    /// The text of the symbol. `…` is shown in place of `{}` if the symbol has a set or arguments.
    pub fn outline(&self) -> Cow<'_, str> {
        self.with_ellipsis(&self.text)
    }

    fn with_ellipsis<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.set.is_some() || self.arguments.is_some() {
            true => Cow::Owned(text.replacen("{}", "…", 1)),
            false => Cow::Borrowed(text),
        }
    }

    /// The number of subsets that the symbol can choose; 1 if it is not set-valued.
    pub fn subsets(&self) -> BigUint {
        let Some(set) = &self.set else { return 1u32.into() };
        let (n, mut ways, mut total) = (set.of.len(), BigUint::from(1u32), 0u32.into());
        for k in 0..=set.max.min(n) {
            if k >= set.min {
                total += &ways;
            }
            ways = ways * (n - k) / (k + 1);
        }
        total
    }

    /// The text of the symbol with the subset `elements` of its set, given as ascending indices into [`SymbolSet::of`].
    pub fn text_with(&self, elements: &[usize]) -> String {
        match &self.set {
            None => self.text.clone(),
            Some(set) => self.text.replacen("{}", &set.text(elements), 1),
        }
    }
}

impl SymbolSet {
    /// The index of the element with this text; `None` if there is none.
    pub fn element(&self, text: &str) -> Option<usize> {
        self.of.iter().position(|element| element == text)
    }

    /// The text of the elements with these indices, in the order given; [`empty`](SymbolSet::empty) if there are none.
    /// Indices that are out of range are ignored.
    pub fn text(&self, elements: &[usize]) -> String {
        let names: Vec<&str> =
            elements.iter().filter_map(|&place| self.of.get(place)).map(String::as_str).collect();
        if names.is_empty() { self.empty.clone() } else { names.join(&self.separator) }
    }
}
