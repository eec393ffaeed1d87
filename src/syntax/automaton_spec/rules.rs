//! The rules of a symbol as written (`requires`, `effects`, `outcomes`), and declared facts.

use super::fields::{Names, Table, entries};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;

/// A requirement as written.
#[derive(Clone, Debug)]
pub(super) enum WrittenRequires {
    /// A formula.
    Text(String),
    /// Names that must all hold; of the names in one inner list, any must hold.
    List(Vec<Vec<String>>),
}

/// The form of a requirement, for the schema.
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)] // never made: a type for the schema
pub(super) enum RequiresForm {
    /// A formula: names, `and`, `or`, `not`, parentheses, `fact == value`.
    Formula(String),
    /// Names that must all hold. Of the names in an inner list, one must hold.
    Names(Vec<super::fields::NamesForm>),
}

impl<'de> Deserialize<'de> for WrittenRequires {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<WrittenRequires, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = WrittenRequires;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a formula, or a list of names and of lists of names")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<WrittenRequires, E> {
                Ok(WrittenRequires::Text(text.to_owned()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<WrittenRequires, A::Error> {
                let list: Vec<Names> = Vec::deserialize(SeqAccessDeserializer::new(seq))?;
                Ok(WrittenRequires::List(list.into_iter().map(|names| names.0).collect()))
            }
        }
        deserializer.deserialize_any(V)
    }
}

/// A value that a fact is given.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(untagged)]
pub(super) enum WrittenValue {
    /// The value of a flag.
    Flag(bool),
    /// The value of a fact.
    Name(String),
}

/// The assignments of `set`.
#[derive(Clone, Debug, Default)]
pub(super) struct Assignments(pub(super) Vec<(String, WrittenValue)>);

/// The form of [`Assignments`], for the schema.
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)] // never made: a type for the schema
pub(super) enum AssignmentsForm {
    /// One flag that becomes true.
    Flag(String),
    /// Flags that become true.
    Flags(Vec<String>),
    /// From flags and facts to their new values.
    Table(BTreeMap<String, WrittenValue>),
}

impl<'de> Deserialize<'de> for Assignments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Assignments, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = Assignments;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a flag, a list of flags, or a table from flags and facts to values")
            }
            fn visit_str<E: Error>(self, flag: &str) -> Result<Assignments, E> {
                Ok(Assignments(vec![(flag.to_owned(), WrittenValue::Flag(true))]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Assignments, A::Error> {
                let flags: Vec<String> = Vec::deserialize(SeqAccessDeserializer::new(seq))?;
                Ok(Assignments(flags.into_iter().map(|flag| (flag, WrittenValue::Flag(true))).collect()))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Assignments, A::Error> {
                entries(map).map(Assignments)
            }
        }
        deserializer.deserialize_any(V)
    }
}

/// The changes of an action or of one of its outcomes.
#[derive(Clone, Debug, Default, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct WrittenEffects {
    /// Flags that become true, or a table from flags and facts to their new values.
    #[schemars(with = "Option<AssignmentsForm>")]
    pub(super) set: Assignments,
    /// Flags that become false, facts that lose their value, actions that count as not carried out.
    #[schemars(with = "Option<super::fields::NamesForm>")]
    pub(super) clear: Option<Names>,
}

/// The outcomes of an action: a list of names, or a table from names to their effects.
#[derive(Clone, Debug, Default)]
pub(super) struct WrittenOutcomes(pub(super) Vec<(String, WrittenEffects)>);

/// The form of [`WrittenOutcomes`], for the schema.
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)] // never made: a type for the schema
pub(super) enum OutcomesForm {
    /// Outcomes that change nothing more.
    Names(Vec<String>),
    /// Changes by outcome.
    Table(BTreeMap<String, WrittenEffects>),
}

impl<'de> Deserialize<'de> for WrittenOutcomes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<WrittenOutcomes, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = WrittenOutcomes;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of outcomes, or a table from outcomes to their effects")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<WrittenOutcomes, A::Error> {
                let names: Vec<String> = Vec::deserialize(SeqAccessDeserializer::new(seq))?;
                let mut seen = rustc_hash::FxHashSet::default();
                if let Some(twice) = names.iter().find(|name| !seen.insert(name.as_str())) {
                    return Err(A::Error::custom(format!("the outcome `{twice}` occurs twice")));
                }
                Ok(WrittenOutcomes(names.into_iter().map(|name| (name, WrittenEffects::default())).collect()))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<WrittenOutcomes, A::Error> {
                entries(map).map(WrittenOutcomes)
            }
        }
        deserializer.deserialize_any(V)
    }
}

/// The rules of one symbol as written.
#[derive(Clone, Debug, Default)]
pub(super) struct WrittenRules {
    pub(super) requires: Option<WrittenRequires>,
    pub(super) effects: WrittenEffects,
    pub(super) outcomes: WrittenOutcomes,
}

/// A declared fact.
#[derive(Clone, Debug, Default)]
pub(super) struct WrittenFact {
    /// Its values; `None` makes it a flag.
    pub(super) values: Option<Vec<String>>,
    pub(super) initial: Option<WrittenValue>,
}

/// The table of a fact.
#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FactTable {
    /// Its values; without them it is a flag.
    values: Option<Vec<String>>,
    /// Its value at the start; a flag is false, and a fact has no value, unless given.
    initial: Option<WrittenValue>,
}

/// The form of a fact, for the schema.
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)] // never made: a type for the schema
pub(super) enum FactForm {
    /// A flag, and its value at the start.
    Flag(bool),
    /// The values of a fact, which has none of them at the start.
    Values(Vec<String>),
    /// A flag or a fact with values.
    Table(FactTable),
}

impl<'de> Deserialize<'de> for WrittenFact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<WrittenFact, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = WrittenFact;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`true` or `false`, a list of values, or `{ values, initial }`")
            }
            fn visit_bool<E: Error>(self, initial: bool) -> Result<WrittenFact, E> {
                Ok(WrittenFact { values: None, initial: Some(WrittenValue::Flag(initial)) })
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<WrittenFact, A::Error> {
                let values = Vec::deserialize(SeqAccessDeserializer::new(seq))?;
                Ok(WrittenFact { values: Some(values), initial: None })
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<WrittenFact, A::Error> {
                let FactTable { values, initial } = FactTable::deserialize(MapAccessDeserializer::new(map))?;
                Ok(WrittenFact { values, initial })
            }
        }
        deserializer.deserialize_any(V)
    }
}

/// The declared facts, in the spec's order.
pub(super) type WrittenFacts = Table<WrittenFact>;
