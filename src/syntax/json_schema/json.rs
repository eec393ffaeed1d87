//! JSON values that borrow their strings from the text they are read from.
//!
//! A schema is read once and then let go, and most of its strings are looked at, not kept. The text is read by `serde_json`,
//! so that what is JSON, and what is wrong with a text that is not, is what it says.

use super::strings;
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::hash::BuildHasher;

/// The key under which `serde_json` hands out numbers as they are written.
const NUMBER: &str = "$serde_json::private::Number";

/// A JSON value. Equal ones are written alike but for the order of members.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value<'t> {
    Null,
    Bool(bool),
    Number(Number),
    String(Cow<'t, str>),
    Array(Vec<Value<'t>>),
    Object(Map<'t>),
}

impl<'t> Value<'t> {
    pub(super) fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn as_u64(&self) -> Option<u64> {
        match self {
            Value::Number(number) => number.0.parse().ok(),
            _ => None,
        }
    }

    pub(super) fn is_number(&self) -> bool {
        matches!(self, Value::Number(_))
    }

    /// A member of an object.
    pub(super) fn get(&self, name: &str) -> Option<&Value<'t>> {
        match self {
            Value::Object(map) => map.get(name),
            _ => None,
        }
    }

    /// The same value; its depth is bounded.
    pub(super) fn of(value: &'t serde_json::Value) -> Value<'t> {
        match value {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(value) => Value::Bool(*value),
            serde_json::Value::Number(number) => Value::Number(Number(number.to_string().into())),
            serde_json::Value::String(text) => Value::String(Cow::Borrowed(text)),
            serde_json::Value::Array(list) => Value::Array(list.iter().map(Value::of).collect()),
            serde_json::Value::Object(map) => {
                let members =
                    map.iter().map(|(name, value)| (Cow::Borrowed(name.as_str()), Value::of(value)));
                Value::Object(Map::new(members.collect()))
            }
        }
    }

    /// The same value with strings of its own; its depth is bounded.
    pub(super) fn into_owned(self) -> Value<'static> {
        match self {
            Value::Null => Value::Null,
            Value::Bool(value) => Value::Bool(value),
            Value::Number(number) => Value::Number(number),
            Value::String(text) => Value::String(Cow::Owned(text.into_owned())),
            Value::Array(list) => Value::Array(list.into_iter().map(Value::into_owned).collect()),
            Value::Object(map) => {
                let members = map.members.into_iter();
                let members =
                    members.map(|(name, value)| (Cow::Owned(name.into_owned()), value.into_owned()));
                Value::Object(Map::new(members.collect()))
            }
        }
    }
}

impl<'t> From<&'t str> for Value<'t> {
    fn from(text: &'t str) -> Value<'t> {
        Value::String(Cow::Borrowed(text))
    }
}

/// The text, without whitespace. The depth of values is bounded.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(value) => value.fmt(f),
            Value::Number(number) => number.fmt(f),
            Value::String(text) => f.write_str(&strings::quoted(text)),
            Value::Array(list) => {
                f.write_str("[")?;
                for (index, value) in list.iter().enumerate() {
                    f.write_str(if index > 0 { "," } else { "" })?;
                    value.fmt(f)?;
                }
                f.write_str("]")
            }
            Value::Object(map) => {
                f.write_str("{")?;
                for (index, (name, value)) in map.into_iter().enumerate() {
                    f.write_str(if index > 0 { "," } else { "" })?;
                    write!(f, "{}:{value}", strings::quoted(name))?;
                }
                f.write_str("}")
            }
        }
    }
}

/// A number as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Number(Box<str>);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// In objects of so many members a look at each is quicker than an index.
const FEW: usize = 12;

/// The members of an object, in the order of the text. Of members of one name there is the last, at the place of the first.
#[derive(Clone, Debug, Default)]
pub(super) struct Map<'t> {
    members: Vec<(Cow<'t, str>, Value<'t>)>,
    /// Places by the hashes of names, if there are many.
    index: Option<Box<HashTable<u32>>>,
}

impl<'t> Map<'t> {
    fn new(members: Vec<(Cow<'t, str>, Value<'t>)>) -> Map<'t> {
        let mut map = Map { members: Vec::with_capacity(members.len()), index: None };
        members.into_iter().for_each(|(name, value)| map.insert(name, value));
        map
    }

    fn insert(&mut self, name: Cow<'t, str>, value: Value<'t>) {
        match self.place(&name) {
            Some(place) => self.members[place].1 = value,
            None => {
                self.members.push((name, value));
                if self.members.len() > FEW {
                    self.index_last();
                }
            }
        }
    }

    fn index_last(&mut self) {
        let members = &self.members;
        let hash = |place: &u32| FxBuildHasher.hash_one(&*members[*place as usize].0);
        let from = if self.index.is_none() { 0 } else { members.len() - 1 };
        let index = self.index.get_or_insert_default();
        for place in from as u32..members.len() as u32 {
            index.insert_unique(hash(&place), place, hash);
        }
    }

    fn place(&self, name: &str) -> Option<usize> {
        let Some(index) = &self.index else {
            return self.members.iter().position(|(known, _)| known == name);
        };
        let same = |place: &u32| self.members[*place as usize].0 == name;
        index.find(FxBuildHasher.hash_one(name), same).map(|&place| place as usize)
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value<'t>> {
        self.place(name).map(|place| &self.members[place].1)
    }

    pub(super) fn contains_key(&self, name: &str) -> bool {
        self.place(name).is_some()
    }

    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    pub(super) fn iter(&self) -> Iter<'_, 't> {
        self.into_iter()
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &Value<'t>> {
        self.members.iter().map(|(_, value)| value)
    }
}

impl PartialEq for Map<'_> {
    fn eq(&self, other: &Map<'_>) -> bool {
        self.len() == other.len() && self.iter().all(|(name, value)| other.get(name) == Some(value))
    }
}

type Member<'m, 't> = (&'m str, &'m Value<'t>);

/// The members of a [`Map`].
pub(super) type Iter<'m, 't> = std::iter::Map<
    std::slice::Iter<'m, (Cow<'t, str>, Value<'t>)>,
    fn(&'m (Cow<'t, str>, Value<'t>)) -> Member<'m, 't>,
>;

impl<'m, 't> IntoIterator for &'m Map<'t> {
    type Item = Member<'m, 't>;
    type IntoIter = Iter<'m, 't>;

    fn into_iter(self) -> Iter<'m, 't> {
        self.members.iter().map(|(name, value)| (&**name, value))
    }
}

impl<'de> Deserialize<'de> for Value<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value<'de>, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value<'de>, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value<'de>, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value<'de>, E> {
        Ok(Value::Number(Number(value.to_string().into())))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value<'de>, E> {
        Ok(Value::Number(Number(value.to_string().into())))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Value<'de>, E> {
        Ok(Value::String(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value<'de>, E> {
        Ok(Value::String(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value<'de>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value<'de>, A::Error> {
        let mut map = Map::default();
        while let Some(Text(name)) = members.next_key()? {
            if map.len() == 0 && name == NUMBER {
                let text: String = members.next_value()?;
                // the name may also stand in the text itself
                let number: Result<serde_json::Number, _> = text.parse();
                return match number {
                    Ok(_) => Ok(Value::Number(Number(text.into()))),
                    Err(error) => Err(A::Error::custom(error)),
                };
            }
            map.insert(name, members.next_value()?);
        }
        Ok(Value::Object(map))
    }
}

/// The name of a member.
struct Text<'t>(Cow<'t, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Text<'de>, D::Error> {
        deserializer.deserialize_str(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(text.to_owned())))
    }
}
