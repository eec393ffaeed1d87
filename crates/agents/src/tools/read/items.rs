//! Streams the items of a JSON text, so that a list of many tools is never in memory as one tree of values.

use super::pointer::join;
use crate::tools::errors;
use grammata::diagnostic::Place;
use grammata::error::{Error, Result};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::fmt;

/// Receives a value that may contain tools, and its pointer.
pub(super) type Take<'t> = dyn FnMut(&Value, String) -> Result<()> + 't;

/// Passes the values of a text to `take`. Several concatenated values are passed one by one. Otherwise the items of an
/// array are passed, or those of the array that `list` selects among the members of an object. Any other object is
/// passed as a whole, as is an empty list. A text without a value passes nothing.
///
/// # Errors
/// `tools/syntax` if the text is not JSON, or its first value is neither an array nor an object; errors of `take`.
pub(super) fn each(
    text: &str,
    list: impl Fn(&[Member]) -> Option<&'static str>,
    take: &mut Take<'_>,
) -> Result<()> {
    let mut outlines = serde_json::Deserializer::from_str(text).into_iter::<Outline>();
    let Some(outline) = outlines.next() else { return Ok(()) };
    let outline = outline.map_err(|cause| syntax(&cause))?;
    let mut reader = serde_json::Deserializer::from_str(text);
    if !text[outlines.byte_offset()..].trim_start().is_empty() {
        for (at, value) in reader.into_iter::<Value>().enumerate() {
            take(&value.map_err(|cause| syntax(&cause))?, format!("/{at}"))?;
        }
        return Ok(());
    }
    let name = match &outline {
        Outline::Array => None,
        Outline::Object(members) => match list(members) {
            Some(name) => Some(name),
            None => {
                let value: Value = serde_json::from_str(text).map_err(|cause| syntax(&cause))?;
                return take(&value, String::new());
            }
        },
    };
    let mut failure = None;
    let pointer = name.map_or_else(String::new, |name| join("", name));
    let items = Items { pointer, take, failure: &mut failure };
    let done = match name {
        None => items.deserialize(&mut reader),
        Some(name) => reader.deserialize_map(InMember { name, items }),
    };
    match failure {
        Some(error) => Err(error),
        None => done.map_err(|cause| syntax(&cause)),
    }
}

fn syntax(cause: &serde_json::Error) -> Error {
    let place = Place::LineColumn { line: cause.line().max(1), column: cause.column().max(1) };
    errors::syntax(place, &cause.to_string(), "JSON (RFC 8259)")
}

pub(super) struct Member {
    pub(super) name: String,
    pub(super) is_array: bool,
}

/// The shape of a value, determined without storing it.
enum Outline {
    Array,
    /// An object, with its members in order, including duplicate names.
    Object(Vec<Member>),
}

impl<'de> Deserialize<'de> for Outline {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> std::result::Result<Outline, D::Error> {
        struct Look;
        impl<'de> Visitor<'de> for Look {
            type Value = Outline;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array or an object")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> std::result::Result<Outline, A::Error> {
                while items.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Outline::Array)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> std::result::Result<Outline, A::Error> {
                let mut found = Vec::new();
                while let Some((name, IsArray(is_array))) = members.next_entry()? {
                    found.push(Member { name, is_array });
                }
                Ok(Outline::Object(found))
            }
        }
        reader.deserialize_any(Look)
    }
}

struct IsArray(bool);

impl<'de> Deserialize<'de> for IsArray {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> std::result::Result<IsArray, D::Error> {
        struct Look;
        macro_rules! scalars {
            ($($visit:ident($kind:ty))*) => { $(
                fn $visit<E>(self, _: $kind) -> std::result::Result<IsArray, E> {
                    Ok(IsArray(false))
                }
            )* };
        }
        impl<'de> Visitor<'de> for Look {
            type Value = IsArray;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            scalars! { visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_f64(f64) visit_str(&str) }

            fn visit_unit<E>(self) -> std::result::Result<IsArray, E> {
                Ok(IsArray(false))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> std::result::Result<IsArray, A::Error> {
                while items.next_element::<IgnoredAny>()?.is_some() {}
                Ok(IsArray(true))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> std::result::Result<IsArray, A::Error> {
                while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(IsArray(false))
            }
        }
        reader.deserialize_any(Look)
    }
}

/// The items of an array.
struct Items<'i, 't> {
    pointer: String,
    take: &'i mut Take<'t>,
    /// The error of `take` that ended the stream.
    failure: &'i mut Option<Error>,
}

impl Items<'_, '_> {
    fn take<E: serde::de::Error>(&mut self, value: &Value, pointer: String) -> std::result::Result<(), E> {
        (self.take)(value, pointer).map_err(|error| {
            *self.failure = Some(error);
            E::custom("ended")
        })
    }
}

impl<'de> DeserializeSeed<'de> for Items<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> std::result::Result<(), D::Error> {
        reader.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Items<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> std::result::Result<(), A::Error> {
        let mut at = 0_usize;
        while let Some(item) = items.next_element::<Value>()? {
            self.take(&item, join(&self.pointer, &at.to_string()))?;
            at += 1;
        }
        match at {
            0 => self.take(&Value::Array(Vec::new()), self.pointer.clone()),
            _ => Ok(()),
        }
    }
}

/// The items of an array that is a member of an object.
struct InMember<'i, 't> {
    name: &'static str,
    items: Items<'i, 't>,
}

impl<'de> Visitor<'de> for InMember<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> std::result::Result<(), A::Error> {
        let mut items = Some(self.items);
        while let Some(name) = members.next_key::<String>()? {
            match items.take_if(|_| name == self.name) {
                Some(items) => members.next_value_seed(items)?,
                None => members.next_value::<IgnoredAny>().map(|_| ())?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn given(text: &str) -> Result<Vec<(String, Value)>> {
        let mut all = Vec::new();
        let list = |members: &[Member]| {
            let is_it = |member: &&Member| member.name == "tools" && member.is_array;
            members.iter().find(is_it).map(|_| "tools")
        };
        each(text, list, &mut |value, pointer| {
            all.push((pointer, value.clone()));
            Ok(())
        })?;
        Ok(all)
    }

    #[test]
    fn lists_are_given_item_by_item() {
        let all = |pairs: &[(&str, Value)]| -> Vec<(String, Value)> {
            pairs.iter().map(|(pointer, value)| ((*pointer).to_owned(), value.clone())).collect()
        };
        for (text, expected) in [
            (
                r#"[1, "a", {"b": null}]"#,
                all(&[("/0", json!(1)), ("/1", json!("a")), ("/2", json!({"b": null}))]),
            ),
            ("[]", all(&[("", json!([]))])),
            (
                r#"{"a": 1.5, "tools": [2, []], "b": {"c": [false]}}"#,
                all(&[("/tools/0", json!(2)), ("/tools/1", json!([]))]),
            ),
            (r#"{"tools": []}"#, all(&[("/tools", json!([]))])),
            (
                r#"{"tools": {"a": 1e400}}"#,
                vec![(String::new(), serde_json::from_str(r#"{"tools": {"a": 1e400}}"#).unwrap())],
            ),
            ("{}\n[3]\n", all(&[("/0", json!({})), ("/1", json!([3]))])),
        ] {
            assert_eq!(given(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn errors_have_their_places_in_the_text() {
        for (text, line) in
            [("[1,\n2,\n}", 3), ("{\"tools\": [1,\n\"\\ud800\"]}", 2), ("{}\n[}", 2), ("{\"a\": 1", 1)]
        {
            let error = given(text).unwrap_err();
            assert!(
                matches!(error.diagnostic().place(), Place::LineColumn { line: found, .. } if *found == line),
                "{text}: {error}"
            );
        }
        let error = each("[1, 2]", |_| None, &mut |value, _| {
            Err(errors::syntax(Place::Byte(7), &value.to_string(), "none"))
        });
        assert_eq!(error.unwrap_err().diagnostic().place(), &Place::Byte(7));
    }
}
