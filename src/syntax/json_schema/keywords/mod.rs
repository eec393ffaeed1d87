//! The keywords, one file a family. Every keyword of every draft is in [`STATUS`]: supported, an annotation,
//! or refused; a word of no draft is an annotation, with a warning.

mod array;
mod combine;
mod dependent;
mod draft3;
mod number;
mod object;
mod string;
mod types;
mod values;

use super::decimal::Decimal;
use super::errors;
use super::pointer::join;
use super::reader::{Draft, Location, Reader};
use super::schema::Schema;
use crate::error::Result;
use serde_json::{Map, Value};

/// What becomes of a keyword.
#[derive(Clone, Copy, PartialEq)]
enum Status {
    /// Read by its family.
    Assertion,
    /// Applies schemas to the same value.
    Applicator,
    /// Says nothing about which values are valid.
    Annotation,
    /// Says something, but is not supported.
    Refused,
}
use Status::{Annotation, Applicator, Assertion, Refused};

/// The keywords of the drafts 3 to 2020-12.
const STATUS: &[(Status, &[&str])] = &[
    (Assertion, &["type", "enum", "const"]),
    (Assertion, &["properties", "required", "additionalProperties", "patternProperties", "propertyNames"]),
    (Assertion, &["minProperties", "maxProperties"]),
    (Assertion, &["items", "prefixItems", "additionalItems", "minItems", "maxItems"]),
    (Assertion, &["uniqueItems", "contains", "minContains", "maxContains"]),
    (Assertion, &["minLength", "maxLength", "pattern", "format"]),
    (Assertion, &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
    (Assertion, &["divisibleBy"]),
    (Applicator, &["$ref", "allOf", "anyOf", "oneOf", "not", "if", "then", "else"]),
    (Applicator, &["dependencies", "dependentRequired", "dependentSchemas", "extends"]),
    (Annotation, &["title", "description", "default", "examples", "$comment", "$schema", "$id", "id"]),
    (Annotation, &["readOnly", "writeOnly", "deprecated", "$defs", "definitions", "$vocabulary"]),
    (Annotation, &["$anchor", "$dynamicAnchor", "$recursiveAnchor"]),
    (Annotation, &["contentEncoding", "contentMediaType", "contentSchema"]),
    (Refused, &["unevaluatedItems", "unevaluatedProperties"]),
    (Refused, &["$dynamicRef", "$recursiveRef", "disallow"]),
];

fn status(keyword: &str) -> Option<Status> {
    STATUS.iter().find(|(_, words)| words.contains(&keyword)).map(|(status, _)| *status)
}

/// The keywords of one schema object, for the families to read from.
struct Keywords<'a, 'l> {
    location: &'l Location<'a>,
    map: &'a Map<String, Value>,
}

impl<'a> Keywords<'a, '_> {
    fn get(&self, keyword: &str) -> Option<&'a Value> {
        self.map.get(keyword)
    }

    /// The pointer of the keyword.
    fn pointer(&self, keyword: &str) -> String {
        join(&self.location.pointer, keyword)
    }

    /// The error that the keyword's value is not what it must be.
    fn invalid(&self, keyword: &str, found: &Value, allowed: &str) -> crate::Error {
        errors::invalid_keyword(&self.pointer(keyword), keyword, found, allowed)
    }

    fn array(&self, keyword: &str, allowed: &str) -> Result<Option<&'a Vec<Value>>> {
        match self.get(keyword) {
            None => Ok(None),
            Some(Value::Array(list)) => Ok(Some(list)),
            Some(other) => Err(self.invalid(keyword, other, allowed)),
        }
    }

    /// A count: an integer from 0. One that is too big to count to is an error for a minimum and, with a
    /// warning, no bound for a maximum.
    fn count(&self, reader: &mut Reader<'_, '_>, keyword: &str) -> Result<Option<u32>> {
        let Some(value) = self.get(keyword) else { return Ok(None) };
        let number = match value {
            Value::Number(number) => Decimal::parse(&number.to_string()),
            other => return Err(self.invalid(keyword, other, "an integer that is not negative")),
        };
        if !number.is_integer() || number.is_negative() {
            return Err(self.invalid(keyword, value, "an integer that is not negative"));
        }
        if number > Decimal::parse(&u32::MAX.to_string()) {
            let pointer = self.pointer(keyword);
            if keyword.starts_with("min") {
                return Err(errors::count_too_large(&pointer, keyword, value));
            }
            reader.warn(errors::count_without_effect(&pointer, keyword, value));
            return Ok(None);
        }
        Ok(number.to_plain_text().parse().ok())
    }
}

/// What becomes of a keyword in a document of a draft.
fn status_in(draft: Draft, keyword: &str) -> Option<Status> {
    // what only draft 3 has is a word of no later draft
    let outdated = !draft.third && draft3::KEYWORDS.contains(&keyword);
    status(keyword).filter(|_| !outdated)
}

/// Reads one schema object.
///
/// # Errors
/// A keyword that is not supported, or whose value is not what the standard asks for; a reference that does
/// not resolve.
pub(super) fn read<'a>(
    reader: &mut Reader<'a, '_>,
    location: &Location<'a>,
    map: &'a Map<String, Value>,
) -> Result<Schema<'a>> {
    let keywords = Keywords { location, map };
    let mut schema = Schema::new(location.pointer.clone());
    if reader.draft.ref_stands_alone && map.contains_key("$ref") {
        for keyword in map.keys().filter(|k| *k != "$ref" && status(k) != Some(Annotation)) {
            reader.warn(errors::beside_ref(&keywords.pointer(keyword), keyword));
        }
        combine::read_ref(reader, &keywords, &mut schema)?;
        return Ok(schema);
    }
    for (keyword, value) in map {
        match status_in(reader.draft, keyword) {
            Some(Assertion) => schema.is_bare = false,
            Some(Applicator | Annotation) => {}
            Some(Refused) => {
                return Err(errors::unsupported_keyword(&keywords.pointer(keyword), keyword, value));
            }
            None => reader.warn(errors::unknown_keyword(&keywords.pointer(keyword), keyword)),
        }
    }
    types::read(&keywords, &mut schema)?;
    values::read(&keywords, &mut schema)?;
    number::read(&keywords, &mut schema)?;
    string::read(reader, &keywords, &mut schema)?;
    array::read(reader, &keywords, &mut schema)?;
    object::read(reader, &keywords, &mut schema)?;
    combine::read_ref(reader, &keywords, &mut schema)?;
    combine::read(reader, &keywords, &mut schema)?;
    dependent::read(reader, &keywords, &mut schema)?;
    draft3::read(reader, &keywords, &mut schema)?;
    Ok(schema)
}
