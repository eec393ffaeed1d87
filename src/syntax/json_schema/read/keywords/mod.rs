//! Reading of keywords, one file for each family. The [table](super::keyword) has every keyword of every draft: each is
//! supported or an annotation. Other words are annotations too; they cause a warning unless they begin with `x-`.

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

use super::draft::Draft;
use super::keyword::Status::{Annotation, Assertion};
use super::keyword::{self, Family, Word};
use super::reader::{Location, Reader};
use crate::error::Result;
use crate::syntax::json_schema::errors;
use crate::syntax::json_schema::model::schema::Schema;
use crate::syntax::json_schema::values::decimal::Decimal;
use crate::syntax::json_schema::values::json::{Map, Value};
use crate::syntax::json_schema::values::pointer::join;
use smallvec::SmallVec;

/// Greatest number of unknown words for which a similar keyword is searched.
const MAX_ADVICE: usize = 100;

/// The keywords of one schema object, which the families read.
struct Keywords<'a, 'l> {
    location: &'l Location<'a>,
    /// The keywords that the draft has and that are not annotations. They are few, so a linear search is faster than
    /// the object's index.
    known: SmallVec<[(&'a str, &'a Value<'a>); 8]>,
    draft: Draft,
}

impl<'a> Keywords<'a, '_> {
    /// Returns the value of a keyword, if the schema has it and the draft knows it.
    fn get(&self, keyword: &str) -> Option<&'a Value<'a>> {
        self.known.iter().find(|(known, _)| *known == keyword).map(|(_, value)| *value)
    }

    /// Returns the pointer of a keyword.
    fn pointer(&self, keyword: &str) -> String {
        join(self.location.pointer, keyword)
    }

    /// Returns the error for an invalid value of a keyword.
    fn invalid(&self, keyword: &str, found: &Value<'_>, allowed: &str) -> crate::Error {
        errors::invalid_keyword(&self.pointer(keyword), keyword, found, allowed)
    }

    fn array(&self, keyword: &str, allowed: &str) -> Result<Option<&'a [Value<'a>]>> {
        match self.get(keyword) {
            None => Ok(None),
            Some(Value::Array(list)) => Ok(Some(list)),
            Some(other) => Err(self.invalid(keyword, other, allowed)),
        }
    }

    /// Reads a count, an integer from 0. A value above `u32::MAX` is an error for a minimum; for a maximum it is no
    /// bound, with a warning.
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
/// A keyword with an invalid value, or a number that is too large; a reference that does not resolve.
pub(super) fn read<'a>(
    reader: &mut Reader<'a, '_>,
    location: &Location<'a>,
    map: &'a Map<'a>,
) -> Result<Schema<'a>> {
    let draft = reader.draft(location);
    let mut keywords = Keywords { location, known: SmallVec::new(), draft };
    let mut schema = Schema::new(location.pointer);
    let alone = draft.ref_stands_alone() && map.contains_key("$ref");
    let mut families = 0u16;
    for (keyword, value) in map {
        let word = reader.keywords.entry(keyword).or_insert_with(|| Word::of(keyword));
        word.count += 1;
        let status = word.status(draft);
        if alone && keyword != "$ref" && status.is_none_or(|(_, status)| status != Annotation) {
            reader.warn(errors::beside_ref(&keywords.pointer(keyword), keyword));
        }
        match status {
            Some((_, Annotation)) => {}
            Some((family, status)) => {
                schema.is_bare &= alone || status != Assertion;
                families |= 1 << family as u16;
                keywords.known.push((keyword, value));
            }
            None if alone => {}
            // extensions by convention
            None if keyword.starts_with("x-") => {}
            None => warn_of_unknown(reader, &keywords.pointer(keyword), keyword),
        }
    }
    if alone {
        combine::read_ref(reader, &keywords, &mut schema)?;
        return Ok(schema);
    }
    let has = |family: Family| families >> family as u16 & 1 == 1;
    if has(Family::Types) {
        types::read(reader, &keywords, &mut schema)?;
    }
    if has(Family::Values) {
        values::read(&keywords, &mut schema)?;
    }
    if has(Family::Number) {
        number::read(&keywords, &mut schema)?;
    }
    if has(Family::String) {
        string::read(reader, &keywords, &mut schema)?;
    }
    if has(Family::Array) {
        array::read(reader, &keywords, &mut schema)?;
    }
    if has(Family::Object) {
        object::read(reader, &keywords, &mut schema)?;
    }
    if has(Family::Combine) {
        combine::read_ref(reader, &keywords, &mut schema)?;
        combine::read(reader, &keywords, &mut schema)?;
    }
    if has(Family::Dependent) {
        dependent::read(reader, &keywords, &mut schema)?;
    }
    unevaluated::read(reader, &keywords, &mut schema);
    if has(Family::Draft3) {
        draft3::read(reader, &keywords, &mut schema)?;
    }
    Ok(schema)
}

/// Warns of a word that is not a keyword of the schema's draft: once for each word, with the number of places.
fn warn_of_unknown<'a>(reader: &mut Reader<'a, '_>, pointer: &str, keyword: &'a str) {
    if keyword == "discriminator" {
        return reader.warn_once("json-schema/discriminator", "", || errors::discriminator(pointer));
    }
    let is_other_draft = reader.keywords.get(keyword).is_some_and(|word| word.known.is_some());
    let advises = reader.counted.len() < MAX_ADVICE;
    reader.warn_once("json-schema/unknown-keyword", keyword, || {
        errors::unknown_keyword(pointer, keyword, is_other_draft, keyword::names().filter(|_| advises))
    });
}
