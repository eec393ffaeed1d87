//! Types of fields that serde's derive does not support: ordered tables without duplicate keys, and one name or
//! several.

use super::place::pointer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// A table with its entries in the order of the text. A duplicate key is an error, whereas JSON parsers would keep the
/// last value.
#[derive(Clone, Debug)]
pub(super) struct Table<T>(pub Vec<(String, T)>);

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table(Vec::new())
    }
}

/// Reads the entries of a table in the order of the text. A duplicate key is an error.
pub(super) fn entries<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    mut map: A,
) -> Result<Vec<(String, T)>, A::Error> {
    let mut seen = rustc_hash::FxHashSet::default();
    let mut list = Vec::new();
    while let Some(key) = map.next_key::<String>()? {
        if !seen.insert(key.clone()) {
            return Err(A::Error::custom(format!("duplicate key `{key}`")));
        }
        list.push((key, map.next_value()?));
    }
    Ok(list)
}

fn list<'de, T: Deserialize<'de>, A: SeqAccess<'de>>(mut seq: A) -> Result<Vec<T>, A::Error> {
    let mut list = Vec::new();
    while let Some(item) = seq.next_element()? {
        list.push(item);
    }
    Ok(list)
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Table<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Table<T>, D::Error> {
        struct V<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for V<T> {
            type Value = Table<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Table<T>, A::Error> {
                entries(map).map(Table)
            }
        }
        deserializer.deserialize_map(V(PhantomData))
    }
}

/// One name or a list of names.
#[derive(Clone, Debug)]
pub(super) struct Names(pub Vec<String>);

/// One name or several.
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)] // never constructed: only its schema is used
pub(super) enum NamesForm {
    /// One name.
    One(String),
    /// Several names.
    Several(Vec<String>),
}

/// The body of a rule.
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)] // never constructed: only its schema is used
pub(super) enum BodyForm {
    /// Names separated by white space.
    Text(String),
    /// A list of names.
    List(Vec<String>),
}

/// The rules of a `cfg`.
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)] // never constructed: only its schema is used
pub(super) enum RulesForm {
    /// A table from heads to lists of bodies.
    Table(std::collections::BTreeMap<String, Vec<BodyForm>>),
    /// A list of rules.
    List(Vec<RuleForm>),
}

/// A rule in a list.
#[derive(schemars::JsonSchema)]
#[allow(dead_code)] // never constructed: only its schema is used
pub(super) struct RuleForm {
    head: String,
    body: BodyForm,
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Names, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = Names;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name or a list of names")
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<Names, E> {
                Ok(Names(vec![name.to_owned()]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Names, A::Error> {
                list(seq).map(Names)
            }
        }
        deserializer.deserialize_any(V)
    }
}

/// The body of a rule: a text split at white space, or a list of names.
#[derive(Debug)]
pub(super) struct Body(pub Vec<String>);

impl<'de> Deserialize<'de> for Body {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Body, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = Body;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a body: a text of names between spaces, or a list of names")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Body, E> {
                Ok(Body(text.split_whitespace().map(str::to_owned).collect()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Body, A::Error> {
                list(seq).map(Body)
            }
        }
        deserializer.deserialize_any(V)
    }
}

/// The rules of a `cfg` as written, in the order of the text.
#[derive(Clone, Debug)]
pub(super) struct Rules(pub Vec<Written>);

/// A rule as written.
#[derive(Clone, Debug)]
pub(super) struct Written {
    pub head: String,
    pub body: Vec<String>,
    /// The JSON Pointer to the body, from the root of the spec.
    pub pointer: String,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    head: String,
    body: Body,
}

impl<'de> Deserialize<'de> for Rules {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Rules, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = Rules;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table from heads to lists of bodies, or a list of `{ head, body }`")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Rules, A::Error> {
                let table: Vec<(String, Vec<Body>)> = entries(map)?;
                let rules = table.into_iter().flat_map(|(head, bodies)| {
                    let start = pointer(["rules", head.as_str()]);
                    bodies.into_iter().enumerate().map(move |(i, body)| Written {
                        head: head.clone(),
                        body: body.0,
                        pointer: format!("{start}/{i}"),
                    })
                });
                Ok(Rules(rules.collect()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Rules, A::Error> {
                let listed: Vec<Listed> = list(seq)?;
                let rules = listed.into_iter().enumerate().map(|(i, rule)| Written {
                    head: rule.head,
                    body: rule.body.0,
                    pointer: format!("/rules/{i}/body"),
                });
                Ok(Rules(rules.collect()))
            }
        }
        deserializer.deserialize_any(V)
    }
}
