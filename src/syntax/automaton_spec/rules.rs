//! The fields `requires`, `effects` and `outcomes` of a symbol, and declared facts, as written.

use super::fields::{Names, Table, entries};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;

/// A requirement as written.
#[derive(Clone, Debug)]
pub(super) enum WrittenRequires {
    /// A formula, which is not parsed yet.
    Text(String),
    /// Lists of names. In each list, at least one name must hold. A name that is not in an inner list is a list of one
    /// name.
    List(Vec<Vec<String>>),
}

/// The condition before a symbol.
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)] // never constructed: only its schema is used
pub(super) enum RequiresForm {
    /// A formula: names, `and`, `or`, `not`, parentheses, `fact == value`.
    Formula(String),
    /// Names that must all hold. Of the names in an inner list, at least one must hold.
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

/// A value that a flag or a fact is given.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(untagged)]
pub(super) enum WrittenValue {
    /// The value of a flag: true or false.
    Flag(bool),
    /// The value of a fact, by its name.
    Name(String),
}

/// The assignments of `set`, in the order of the text.
#[derive(Clone, Debug, Default)]
pub(super) struct Assignments(pub(super) Vec<(String, WrittenValue)>);

/// New values of flags and facts.
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)] // never constructed: only its schema is used
pub(super) enum AssignmentsForm {
    /// One flag that becomes true.
    Flag(String),
    /// Flags that become true.
    Flags(Vec<String>),
    /// A table from flags and facts to their new values.
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
    /// A flag or a list of flags that become true, or a table from flags and facts to their new values.
    #[schemars(with = "Option<AssignmentsForm>")]
    pub(super) set: Assignments,
    /// Flags that become false, facts that lose their value, and actions that count as if they had not been carried
    /// out.
    #[schemars(with = "Option<super::fields::NamesForm>")]
    pub(super) clear: Option<Names>,
}

/// The outcomes of an action, in the order of the text, with their effects.
#[derive(Clone, Debug, Default)]
pub(super) struct WrittenOutcomes(pub(super) Vec<(String, WrittenEffects)>);

/// The outcomes of a symbol.
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)] // never constructed: only its schema is used
pub(super) enum OutcomesForm {
    /// A list of outcomes without effects of their own.
    Names(Vec<String>),
    /// A table from outcomes to their effects.
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

/// The requirement, effects and outcomes of one symbol as written.
#[derive(Clone, Debug, Default)]
pub(super) struct WrittenRules {
    pub(super) requires: Option<WrittenRequires>,
    pub(super) effects: WrittenEffects,
    pub(super) outcomes: WrittenOutcomes,
}

/// A declared flag or fact.
#[derive(Clone, Debug, Default)]
pub(super) struct WrittenFact {
    /// The values of the fact; `None` for a flag.
    pub(super) values: Option<Vec<String>>,
    /// The initial value; `None` means that a flag is false, or that a fact has no value.
    pub(super) initial: Option<WrittenValue>,
}

/// A flag or a fact with values.
#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FactTable {
    /// The values of the fact; without them it is a flag.
    values: Option<Vec<String>>,
    /// The value at the start; by default a flag is false, and a fact has no value.
    initial: Option<WrittenValue>,
}

/// A flag or a fact.
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)] // never constructed: only its schema is used
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

/// The declared flags and facts, in the spec's order.
pub(super) type WrittenFacts = Table<WrittenFact>;
