//! Token terminals in specs: a name, an id, a list of names, ids and ranges, or all tokens or special tokens except
//! some.

use crate::grammar::{TokenScope, TokenSelector, TokenTerminal};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// A token terminal as written.
#[derive(Clone, Debug)]
pub(super) struct WrittenToken(pub(super) TokenTerminal);

/// The tokens that a symbol matches by id.
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)] // never constructed: only its schema is used
pub(super) enum TokenForm {
    /// The name of a special token, or the text of an ordinary one.
    Name(String),
    /// The id of a token.
    Id(u32),
    /// Any one of several tokens.
    List(Vec<SelectorForm>),
    /// All tokens but some.
    But(ButTable),
}

/// An entry of a list of tokens.
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)] // never constructed: only its schema is used
pub(super) enum SelectorForm {
    /// The name of a special token, or the text of an ordinary one.
    Name(String),
    /// The id of a token.
    Id(u32),
    /// The least and the greatest id of a range, both included.
    Ids(u32, u32),
}

/// All tokens but some.
#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ButTable {
    /// All tokens that the vocabulary uses, except these and the end-of-sequence tokens.
    #[schemars(with = "Option<Vec<SelectorForm>>")]
    any_but: Option<Vec<WrittenSelector>>,
    /// All special tokens, except these and the end-of-sequence tokens.
    #[schemars(with = "Option<Vec<SelectorForm>>")]
    special_but: Option<Vec<WrittenSelector>>,
}

/// A name, an id or a range of ids.
struct WrittenSelector(TokenSelector);

const RANGE: &str = "a range of ids is its least id and its greatest one: `[10, 19]`";

impl<'de> Deserialize<'de> for WrittenSelector {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<WrittenSelector, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = WrittenSelector;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a token, its id, or a range of ids `[first, last]`")
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<WrittenSelector, E> {
                Ok(WrittenSelector(TokenSelector::Name(name.into())))
            }
            fn visit_u64<E: Error>(self, id: u64) -> Result<WrittenSelector, E> {
                let id = u32::try_from(id).map_err(|_| E::custom("ids are at most 4294967295"))?;
                Ok(WrittenSelector(TokenSelector::Ids { first: id, last: id }))
            }
            fn visit_i64<E: Error>(self, id: i64) -> Result<WrittenSelector, E> {
                self.visit_u64(u64::try_from(id).map_err(|_| E::custom("ids are not negative"))?)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<WrittenSelector, A::Error> {
                let (first, last) = (seq.next_element::<u32>()?, seq.next_element::<u32>()?);
                match (first, last, seq.next_element::<u32>()?) {
                    (Some(first), Some(last), None) if first <= last => {
                        Ok(WrittenSelector(TokenSelector::Ids { first, last }))
                    }
                    _ => Err(A::Error::custom(RANGE)),
                }
            }
        }
        deserializer.deserialize_any(V)
    }
}

impl<'de> Deserialize<'de> for WrittenToken {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<WrittenToken, D::Error> {
        struct V;
        fn terminal<E: Error>(scope: TokenScope, list: Vec<WrittenSelector>) -> Result<WrittenToken, E> {
            let terminal = TokenTerminal::new(scope, list.into_iter().map(|selector| selector.0));
            match terminal.is_empty() {
                true => Err(E::custom("a list of tokens needs one")),
                false => Ok(WrittenToken(terminal)),
            }
        }
        impl<'de> Visitor<'de> for V {
            type Value = WrittenToken;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "the name of a token, its id, a list of names, ids and ranges, `{ any_but = [...] }` or \
                     `{ special_but = [...] }`",
                )
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<WrittenToken, E> {
                Ok(WrittenToken(TokenTerminal::named(name)))
            }
            fn visit_u64<E: Error>(self, id: u64) -> Result<WrittenToken, E> {
                let id = u32::try_from(id).map_err(|_| E::custom("ids are at most 4294967295"))?;
                Ok(WrittenToken(TokenTerminal::id(id)))
            }
            fn visit_i64<E: Error>(self, id: i64) -> Result<WrittenToken, E> {
                self.visit_u64(u64::try_from(id).map_err(|_| E::custom("ids are not negative"))?)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<WrittenToken, A::Error> {
                terminal(TokenScope::Listed, Vec::deserialize(SeqAccessDeserializer::new(seq))?)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<WrittenToken, A::Error> {
                let table = ButTable::deserialize(MapAccessDeserializer::new(map))?;
                match (table.any_but, table.special_but) {
                    (Some(but), None) => terminal(TokenScope::AllBut, but),
                    (None, Some(but)) => terminal(TokenScope::SpecialBut, but),
                    _ => Err(A::Error::custom("a table of tokens has one of `any_but` and `special_but`")),
                }
            }
        }
        deserializer.deserialize_any(V)
    }
}
