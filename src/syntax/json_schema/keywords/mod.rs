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
mod unevaluated;
mod values;

use super::decimal::Decimal;
use super::draft::Draft;
use super::errors;
use super::pointer::join;
use super::policies;
use super::reader::{Location, Reader};
use super::schema::Schema;
use crate::error::Result;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};
use smallvec::SmallVec;
use std::sync::LazyLock;

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

/// The keywords of the drafts 3 to 2020-12, with the first and the last draft that has them ([`Draft`] numbers
/// them).
const STATUS: &[(Status, u8, u8, &[&str])] = &[
    (Assertion, 3, 9, &["type", "enum", "properties", "additionalProperties", "patternProperties"]),
    (Assertion, 3, 9, &["required", "items", "minItems", "maxItems", "uniqueItems"]),
    (Assertion, 3, 9, &["minLength", "maxLength", "pattern", "format", "minimum", "maximum"]),
    (Assertion, 3, 9, &["exclusiveMinimum", "exclusiveMaximum"]),
    (Assertion, 3, 3, &["divisibleBy"]),
    (Assertion, 3, 8, &["additionalItems"]),
    (Assertion, 4, 9, &["minProperties", "maxProperties", "multipleOf"]),
    (Assertion, 6, 9, &["const", "contains", "propertyNames"]),
    (Assertion, 8, 9, &["minContains", "maxContains"]),
    (Assertion, 9, 9, &["prefixItems"]),
    (Applicator, 3, 9, &["$ref"]),
    (Applicator, 8, 8, &["$recursiveRef"]),
    (Applicator, 9, 9, &["$dynamicRef"]),
    (Applicator, 4, 9, &["allOf", "anyOf", "oneOf", "not"]),
    (Applicator, 7, 9, &["if", "then", "else"]),
    (Applicator, 3, 7, &["dependencies"]),
    (Applicator, 8, 9, &["dependentRequired", "dependentSchemas"]),
    (Applicator, 8, 9, &["unevaluatedItems", "unevaluatedProperties"]),
    (Applicator, 3, 3, &["extends"]),
    (Annotation, 3, 9, &["title", "description", "default", "examples", "$comment", "$schema", "$id", "id"]),
    (Annotation, 3, 9, &["readOnly", "writeOnly", "deprecated", "$defs", "definitions", "$vocabulary"]),
    (Annotation, 3, 9, &["$anchor", "$dynamicAnchor", "$recursiveAnchor"]),
    (Annotation, 3, 9, &["contentEncoding", "contentMediaType", "contentSchema", policies::KEYWORD]),
    (Refused, 3, 3, &["disallow"]),
];

/// [`STATUS`] by keyword.
static STATUSES: LazyLock<FxHashMap<&str, (Status, u8, u8)>> = LazyLock::new(|| {
    let each = |&(status, since, until, words): &(Status, u8, u8, &'static [&'static str])| {
        words.iter().map(move |&word| (word, (status, since, until)))
    };
    STATUS.iter().flat_map(each).collect()
});

/// What becomes of a keyword in a document of a draft; `None` if the draft does not have it.
fn status(draft: Draft, keyword: &str) -> Option<Status> {
    let &(status, since, until) = STATUSES.get(keyword)?;
    draft.is_within(since, until).then_some(status)
}

/// The keywords of one schema object, for the families to read from.
struct Keywords<'a, 'l> {
    location: &'l Location<'a>,
    /// Those that the draft has. They are few: a look at each is quicker than the object's index.
    known: SmallVec<[(&'a str, &'a Value); 8]>,
    draft: Draft,
}

impl<'a> Keywords<'a, '_> {
    /// The value of a keyword, if it is there and the draft has it.
    fn get(&self, keyword: &str) -> Option<&'a Value> {
        self.known.iter().find(|(known, _)| *known == keyword).map(|(_, value)| *value)
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
    let draft = reader.draft(location);
    let mut keywords = Keywords { location, known: SmallVec::new(), draft };
    let mut schema = Schema::new(location.pointer.clone());
    for (keyword, value) in map {
        *reader.keywords.entry(keyword).or_default() += 1;
        if status(draft, keyword).is_some() {
            keywords.known.push((keyword, value));
        }
    }
    if draft.ref_stands_alone() && map.contains_key("$ref") {
        for keyword in map.keys().filter(|k| *k != "$ref" && status(draft, k) != Some(Annotation)) {
            reader.warn(errors::beside_ref(&keywords.pointer(keyword), keyword));
        }
        combine::read_ref(reader, &keywords, &mut schema)?;
        return Ok(schema);
    }
    for (keyword, value) in map {
        match status(draft, keyword) {
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
    unevaluated::read(reader, &keywords, &mut schema);
    draft3::read(reader, &keywords, &mut schema)?;
    Ok(schema)
}
