//! JSON values in an arena, which borrow strings from the source text where possible.
//!
//! A schema is read once and dropped as a whole. `serde_json` reads the text, so it decides what is JSON and reports
//! what is wrong with a text that is not.

use super::decimal::Decimal;
use super::quote;
use bumpalo::Bump;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use std::cell::{Cell, RefCell};
use std::fmt;

/// The key under which `serde_json` passes the text of a number.
const NUMBER: &str = "$serde_json::private::Number";

/// A JSON value. Equality compares the texts of numbers, and ignores the order of members.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::syntax::json_schema) enum Value<'t> {
    Null,
    Bool(bool),
    Number(Number<'t>),
    String(&'t str),
    Array(&'t [Value<'t>]),
    Object(Map<'t>),
}

impl<'t> Value<'t> {
    pub(in crate::syntax::json_schema) fn as_str(&self) -> Option<&'t str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    pub(in crate::syntax::json_schema) fn as_u64(&self) -> Option<u64> {
        match self {
            Value::Number(number) => number.0.parse().ok(),
            _ => None,
        }
    }

    /// Whether both are the same text, or numbers of the same value.
    pub(in crate::syntax::json_schema) fn is_same_scalar(&self, other: &Value<'_>) -> bool {
        match (self, other) {
            (Value::String(one), Value::String(other)) => one == other,
            (Value::Number(one), Value::Number(other)) => {
                one.0 == other.0 || Decimal::parse(one.0) == Decimal::parse(other.0)
            }
            _ => false,
        }
    }

    pub(in crate::syntax::json_schema) fn is_number(&self) -> bool {
        matches!(self, Value::Number(_))
    }

    /// Returns the number with the text `text`.
    pub(in crate::syntax::json_schema) fn number(text: &'t str) -> Value<'t> {
        Value::Number(Number(text))
    }

    /// Returns the value with all integers written in digits only, unless they would be too long. Recurses; the depth
    /// of values is bounded.
    pub(in crate::syntax::json_schema) fn in_digits(&self, arena: &'t Bump) -> Value<'t> {
        match self {
            Value::Number(number) => {
                let decimal = Decimal::parse(number.0);
                let text = (decimal.is_plain() && decimal.is_integer()).then(|| decimal.to_plain_text());
                text.map_or(*self, |text| Value::number(arena.alloc_str(&text)))
            }
            Value::Array(list) => {
                Value::Array(arena.alloc_slice_fill_iter(list.iter().map(|value| value.in_digits(arena))))
            }
            Value::Object(map) => {
                let members: Vec<Member<'t>> =
                    map.iter().map(|(name, value)| (name, value.in_digits(arena))).collect();
                Value::Object(Map::new(arena, &members).0)
            }
            other => *other,
        }
    }

    /// Returns the value of a member, if this is an object that has it.
    pub(in crate::syntax::json_schema) fn get(&self, name: &str) -> Option<&'t Value<'t>> {
        match self {
            Value::Object(map) => map.get(name),
            _ => None,
        }
    }

    /// Converts a value. Recurses; the depth of values is bounded.
    pub(in crate::syntax::json_schema) fn of(value: &serde_json::Value, arena: &'t Bump) -> Value<'t> {
        match value {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(value) => Value::Bool(*value),
            serde_json::Value::Number(number) => Value::Number(Number(arena.alloc_str(&number.to_string()))),
            serde_json::Value::String(text) => Value::String(arena.alloc_str(text)),
            serde_json::Value::Array(list) => {
                Value::Array(arena.alloc_slice_fill_iter(list.iter().map(|value| Value::of(value, arena))))
            }
            serde_json::Value::Object(map) => {
                let member = |(name, value): (&String, _)| (&*arena.alloc_str(name), Value::of(value, arena));
                Value::Object(Map::new(arena, &map.iter().map(member).collect::<Vec<_>>()).0)
            }
        }
    }
}

impl<'t> From<&'t str> for Value<'t> {
    fn from(text: &'t str) -> Value<'t> {
        Value::String(text)
    }
}

/// Writes JSON without whitespace. Recurses; the depth of values is bounded.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(value) => value.fmt(f),
            Value::Number(number) => number.fmt(f),
            Value::String(text) => f.write_str(&quote::quoted(text)),
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
                for (index, (name, value)) in map.iter().enumerate() {
                    f.write_str(if index > 0 { "," } else { "" })?;
                    write!(f, "{}:{value}", quote::quoted(name))?;
                }
                f.write_str("}")
            }
        }
    }
}

/// The text of a number. `serde_json` normalises exponents: `1E3` becomes `1e+3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::syntax::json_schema) struct Number<'t>(&'t str);

impl fmt::Display for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Greatest number of members for which linear search is faster than an index.
const FEW: usize = 12;

/// Name and value of a member.
type Member<'t> = (&'t str, Value<'t>);

/// The members of an object, in the order of the text. If a name occurs several times, its last value counts, at the
/// place of its first occurrence.
#[derive(Clone, Copy, Debug)]
pub(in crate::syntax::json_schema) struct Map<'t> {
    members: &'t [Member<'t>],
    /// Indices of the members in order of their names; empty if there are few members.
    sorted: &'t [u32],
}

impl<'t> Map<'t> {
    /// Returns the object of some members, and whether all names are different.
    fn new(arena: &'t Bump, members: &[Member<'t>]) -> (Map<'t>, bool) {
        let name = |place: u32| members[place as usize].0;
        let count = members.len() as u32;
        let few = members.len() <= FEW;
        let sorted = arena.alloc_slice_fill_iter(0..if few { 0 } else { count });
        sorted.sort_unstable_by_key(|&place| name(place));
        let repeats = match few {
            true => (0..count).any(|place| (0..place).any(|before| name(before) == name(place))),
            false => sorted.windows(2).any(|pair| name(pair[0]) == name(pair[1])),
        };
        match repeats {
            false => (Map { members: arena.alloc_slice_copy(members), sorted }, true),
            true => (Map::of_repeated(arena, members), false),
        }
    }

    /// Returns the object of members whose names may repeat.
    fn of_repeated(arena: &'t Bump, members: &[Member<'t>]) -> Map<'t> {
        let mut places = rustc_hash::FxHashMap::default();
        let mut single: Vec<Member<'t>> = Vec::new();
        for &(name, value) in members {
            let place = *places.entry(name).or_insert(single.len());
            match single.get_mut(place) {
                Some(member) => member.1 = value,
                None => single.push((name, value)),
            }
        }
        Map::new(arena, &single).0
    }

    fn place(&self, name: &str) -> Option<usize> {
        if self.sorted.is_empty() {
            return self.members.iter().position(|(known, _)| *known == name);
        }
        let found = self.sorted.binary_search_by_key(&name, |&place| self.members[place as usize].0).ok()?;
        Some(self.sorted[found] as usize)
    }

    pub(in crate::syntax::json_schema) fn get(&self, name: &str) -> Option<&'t Value<'t>> {
        self.place(name).map(|place| &self.members[place].1)
    }

    pub(in crate::syntax::json_schema) fn contains_key(&self, name: &str) -> bool {
        self.place(name).is_some()
    }

    pub(in crate::syntax::json_schema) fn len(&self) -> usize {
        self.members.len()
    }

    pub(in crate::syntax::json_schema) fn iter(&self) -> Iter<'t> {
        self.into_iter()
    }
}

/// Iterator over the members of a [`Map`].
pub(in crate::syntax::json_schema) type Iter<'t> =
    std::iter::Map<std::slice::Iter<'t, Member<'t>>, fn(&'t Member<'t>) -> (&'t str, &'t Value<'t>)>;

impl<'t> IntoIterator for &Map<'t> {
    type Item = (&'t str, &'t Value<'t>);
    type IntoIter = Iter<'t>;

    fn into_iter(self) -> Iter<'t> {
        self.members.iter().map(|(name, value)| (name, value))
    }
}

impl PartialEq for Map<'_> {
    fn eq(&self, other: &Map<'_>) -> bool {
        self.len() == other.len() && self.iter().all(|(name, value)| other.get(name) == Some(value))
    }
}

/// The result of reading a text.
pub(in crate::syntax::json_schema) struct Read<'t> {
    pub(in crate::syntax::json_schema) value: Value<'t>,
    /// Whether no object repeats a name.
    pub(in crate::syntax::json_schema) all_different: bool,
    /// Nesting depth of arrays and objects.
    pub(in crate::syntax::json_schema) depth: usize,
    /// Number of members for which the predicate holds.
    pub(in crate::syntax::json_schema) counted: usize,
}

/// Reads a text and counts the members for which `counts` holds. A text that is nested deeper than 127 is an error.
pub(in crate::syntax::json_schema) fn read<'t>(
    text: &'t str,
    arena: &'t Bump,
    counts: Counts,
) -> serde_json::Result<Read<'t>> {
    // the open objects and arrays of most texts have no more members and items in total
    let (members, items) = (RefCell::new(Vec::with_capacity(16)), RefCell::new(Vec::with_capacity(8)));
    let (repeats, depth, deepest, counted) = Default::default();
    let reading = Reading { arena, members, items, repeats, depth, deepest, counts, counted };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = reading.deserialize(&mut deserializer)?;
    deserializer.end()?;
    let Reading { repeats, deepest, counted, .. } = reading;
    Ok(Read { value, all_different: !repeats.get(), depth: deepest.get(), counted: counted.get() })
}

/// Predicate on the name and value of a member.
type Counts = fn(&str, &Value<'_>) -> bool;

/// The state of reading a text.
struct Reading<'t> {
    arena: &'t Bump,
    /// Stacks of the members and items of the open objects and arrays.
    members: RefCell<Vec<Member<'t>>>,
    items: RefCell<Vec<Value<'t>>>,
    /// Whether an object repeated a name.
    repeats: Cell<bool>,
    /// Number of open arrays and objects, now and at most.
    depth: Cell<usize>,
    deepest: Cell<usize>,
    /// The predicate, and the number of members for which it held.
    counts: Counts,
    counted: Cell<usize>,
}

impl Reading<'_> {
    /// Notes that an array or object begins.
    fn open(&self) {
        self.depth.set(self.depth.get() + 1);
    }

    /// Notes that an array or object ends.
    fn close(&self) {
        self.deepest.set(self.deepest.get().max(self.depth.get()));
        self.depth.set(self.depth.get() - 1);
    }
}

impl<'t> DeserializeSeed<'t> for &Reading<'t> {
    type Value = Value<'t>;

    fn deserialize<D: Deserializer<'t>>(self, deserializer: D) -> Result<Value<'t>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'t> Visitor<'t> for &Reading<'t> {
    type Value = Value<'t>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value<'t>, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value<'t>, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value<'t>, E> {
        Ok(Value::Number(Number(self.arena.alloc_str(&value.to_string()))))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value<'t>, E> {
        Ok(Value::Number(Number(self.arena.alloc_str(&value.to_string()))))
    }

    fn visit_borrowed_str<E>(self, text: &'t str) -> Result<Value<'t>, E> {
        Ok(Value::String(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value<'t>, E> {
        Ok(Value::String(self.arena.alloc_str(text)))
    }

    fn visit_seq<A: SeqAccess<'t>>(self, mut access: A) -> Result<Value<'t>, A::Error> {
        self.open();
        let first = self.items.borrow().len();
        while let Some(item) = access.next_element_seed(self)? {
            self.items.borrow_mut().push(item);
        }
        let mut items = self.items.borrow_mut();
        let array = self.arena.alloc_slice_copy(&items[first..]);
        items.truncate(first);
        self.close();
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'t>>(self, mut access: A) -> Result<Value<'t>, A::Error> {
        self.open();
        let first = self.members.borrow().len();
        while let Some(name) = access.next_key_seed(Name(self.arena))? {
            if name == NUMBER && self.members.borrow().len() == first {
                let text: String = access.next_value()?;
                // this is a number, not an object
                self.depth.set(self.depth.get() - 1);
                // the text itself may contain an object with this key
                return match text.parse::<serde_json::Number>() {
                    Ok(_) => Ok(Value::Number(Number(self.arena.alloc_str(&text)))),
                    Err(error) => Err(A::Error::custom(error)),
                };
            }
            let value = access.next_value_seed(self)?;
            self.counted.set(self.counted.get() + usize::from((self.counts)(name, &value)));
            self.members.borrow_mut().push((name, value));
        }
        let mut members = self.members.borrow_mut();
        let (map, different) = Map::new(self.arena, &members[first..]);
        members.truncate(first);
        self.repeats.set(self.repeats.get() || !different);
        self.close();
        Ok(Value::Object(map))
    }
}

/// Reader of a member's name, which borrows from the text or is copied to the arena.
struct Name<'t>(&'t Bump);

impl<'t> DeserializeSeed<'t> for Name<'t> {
    type Value = &'t str;

    fn deserialize<D: Deserializer<'t>>(self, deserializer: D) -> Result<&'t str, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'t> Visitor<'t> for Name<'t> {
    type Value = &'t str;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E>(self, text: &'t str) -> Result<&'t str, E> {
        Ok(text)
    }

    fn visit_str<E>(self, text: &str) -> Result<&'t str, E> {
        Ok(self.0.alloc_str(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_members_of_one_name_there_is_the_last_at_the_place_of_the_first() {
        for others in [1, FEW, 3 * FEW] {
            let more: String = (0..others).map(|n| format!(r#", "m{n}": {n}"#)).collect();
            let text = format!(r#"{{"a": 1, "b": [{{"a": 2}}]{more}, "a": 3, "\u0061": 4}}"#);
            let arena = Bump::new();
            let counts: Counts = |name, value| name == "a" && value.is_number();
            let Read { value, all_different, depth, counted } = read(&text, &arena, counts).unwrap();
            assert!(!all_different);
            assert_eq!((depth, counted), (3, 4));
            let expected: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(value, Value::of(&expected, &arena), "{text}");
            assert_eq!(value.to_string(), expected.to_string());
            assert_eq!(value.get("a").and_then(Value::as_u64), Some(4));
            assert_eq!(value.get("m0").and_then(Value::as_u64), Some(0));
            assert!(value.get("c").is_none());
            let text = value.to_string();
            assert!(read(&text, &arena, counts).unwrap().all_different, "{value}");
        }
    }

    #[test]
    fn values_are_those_of_the_text() {
        let text = r#" {"n": [null, true, false, -1.50, 12345678901234567890123], "s": "\"é\ud83d\ude00/\/\u0007"} "#;
        let arena = Bump::new();
        let Read { value, all_different, depth, counted } = read(text, &arena, |_, _| false).unwrap();
        assert!(all_different);
        assert_eq!((depth, counted), (2, 0));
        let written = "{\"n\":[null,true,false,-1.50,12345678901234567890123],\"s\":\"\\\"é😀//\\u0007\"}";
        assert_eq!(value.to_string(), written);
        for wrong in
            ["", "{", "[1,]", "{\"a\":1}x", "{\"$serde_json::private::Number\":\"x\"}", "\"\\ud800\""]
        {
            assert!(read(wrong, &arena, |_, _| false).is_err(), "{wrong}");
        }
    }
}
