//! Symbols: their texts, and what else a spec says of them. The symbols of a plan are its actions.

use super::fields::{Names, entries};
use num_bigint::BigUint;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// A symbol of a spec. The symbols of a plan are its actions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbol {
    /// The name by which transitions and rules refer to it.
    pub id: String,
    /// What it spells. With a [`set`](Symbol::set), `{}` stands for the set.
    pub text: String,
    /// How it is offered in a choice; without it, by its text.
    pub label: Option<String>,
    /// What it costs, in a unit of the spec's own.
    pub cost: u64,
    /// How long it takes, in a unit of the spec's own.
    pub duration: Option<u64>,
    /// What it works on, in order. With inputs and outputs, a plan can be drawn as who works on whose output.
    pub inputs: Vec<String>,
    /// What it makes.
    pub outputs: Vec<String>,
    /// Names under which it is counted together with others.
    pub groups: Vec<String>,
    /// Symbols that must have been carried out before it.
    pub requires: Vec<String>,
    /// The set of which it takes some elements, if it is set-valued.
    pub set: Option<SymbolSet>,
    /// Other texts by which it is known when a plan is read.
    pub aliases: Vec<String>,
}

/// What a set-valued symbol chooses from. The elements have no order; they are written in the list's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolSet {
    /// The elements, distinct.
    pub of: Vec<String>,
    /// What stands between two elements.
    pub separator: String,
    /// What stands for no element.
    pub empty: String,
    /// The least number of elements.
    pub min: usize,
    /// The greatest number of elements.
    pub max: usize,
}

/// One symbol, written as a table.
#[derive(Debug, Default, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct SymbolTable {
    /// What it spells; the symbol's name unless given. With `set`, `{}` stands for the set.
    text: Option<String>,
    /// How it is offered in a choice; the text unless given.
    label: Option<String>,
    /// What it costs; 0 unless given.
    cost: u64,
    /// How long it takes.
    duration: Option<u64>,
    /// What it works on, in order.
    inputs: Vec<String>,
    /// What it makes.
    outputs: Vec<String>,
    /// A name, or names, under which it is counted together with others.
    #[schemars(with = "Option<super::fields::NamesForm>")]
    group: Option<Names>,
    /// Symbols that must have been carried out before it.
    requires: Vec<String>,
    /// A set of which the symbol takes some elements.
    set: Option<SetTable>,
    /// Other texts by which it is known when a plan is read.
    aliases: Vec<String>,
}

/// The set of a set-valued symbol.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SetTable {
    /// The elements, distinct.
    of: Vec<String>,
    /// What stands between two elements; a comma and a space unless given.
    separator: Option<String>,
    /// What stands for no element; `none` unless given.
    empty: Option<String>,
    /// The least number of elements; 0 unless given.
    #[serde(default)]
    min: usize,
    /// The greatest number of elements; all of them unless given.
    max: Option<usize>,
}

impl SymbolTable {
    fn named(self, id: String) -> Symbol {
        Symbol {
            text: self.text.unwrap_or_else(|| id.clone()),
            label: self.label,
            cost: self.cost,
            duration: self.duration,
            inputs: self.inputs,
            outputs: self.outputs,
            groups: self.group.map(|names| names.0).unwrap_or_default(),
            requires: self.requires,
            set: self.set.map(|set| SymbolSet {
                max: set.max.unwrap_or(set.of.len()),
                of: set.of,
                separator: set.separator.unwrap_or_else(|| ", ".to_owned()),
                empty: set.empty.unwrap_or_else(|| "none".to_owned()),
                min: set.min,
            }),
            aliases: self.aliases,
            id,
        }
    }
}

/// What stands for a symbol in the table of symbols: its text, or a table.
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
                SymbolTable::deserialize(MapAccessDeserializer::new(map)).map(Written)
            }
        }
        deserializer.deserialize_any(V)
    }
}

/// The symbols; written as a table from names to texts or tables, or as a list of symbols that spell themselves.
#[derive(Debug)]
pub(super) struct Symbols(pub Vec<Symbol>);

/// The form of the symbols, for the schema.
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)] // never made: a type for the schema
pub(super) enum SymbolsForm {
    /// Symbols that spell their own names.
    Names(Vec<String>),
    /// A table from names to symbols.
    Table(std::collections::BTreeMap<String, SymbolForm>),
}

/// The form of one symbol, for the schema.
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)] // never made: a type for the schema
pub(super) enum SymbolForm {
    /// What the symbol spells.
    Text(String),
    /// All that can be said of it.
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
                Ok(Symbols(table.into_iter().map(|(id, written)| written.0.named(id)).collect()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Symbols, A::Error> {
                let mut symbols = Vec::new();
                let mut seen = rustc_hash::FxHashSet::default();
                while let Some(name) = seq.next_element::<String>()? {
                    if !seen.insert(name.clone()) {
                        return Err(A::Error::custom(format!("the symbol `{name}` stands twice")));
                    }
                    symbols.push(SymbolTable::default().named(name));
                }
                Ok(Symbols(symbols))
            }
        }
        deserializer.deserialize_any(V)
    }
}

impl Symbol {
    /// How it is offered in a choice: by its label, else by its text, `…` in place of a set that is not chosen yet.
    pub fn shown(&self) -> Cow<'_, str> {
        let shown = self.label.as_deref().unwrap_or_else(|| self.text.trim());
        match self.set {
            Some(_) => Cow::Owned(shown.replacen("{}", "…", 1)),
            None => Cow::Borrowed(shown),
        }
    }

    /// What it spells, `…` in place of a set that is not chosen yet.
    pub fn outline(&self) -> Cow<'_, str> {
        match self.set {
            Some(_) => Cow::Owned(self.text.replacen("{}", "…", 1)),
            None => Cow::Borrowed(&self.text),
        }
    }

    /// How many ways there are to choose the set; 1 if the symbol is not set-valued.
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

    /// What the symbol spells with these elements of its set, given by their places in rising order.
    pub fn text_with(&self, elements: &[usize]) -> String {
        match &self.set {
            None => self.text.clone(),
            Some(set) => self.text.replacen("{}", &set.text(elements), 1),
        }
    }
}

impl SymbolSet {
    /// The elements of these places, as they are written.
    pub fn text(&self, elements: &[usize]) -> String {
        let names: Vec<&str> =
            elements.iter().filter_map(|&place| self.of.get(place)).map(String::as_str).collect();
        if names.is_empty() { self.empty.clone() } else { names.join(&self.separator) }
    }
}
