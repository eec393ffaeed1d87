//! `minLength`, `maxLength`, `pattern`, `format` and `x-grammata-pattern`.

use super::Keywords;
use crate::error::Result;
use crate::syntax::json_schema::assertion::StringPart;
use crate::syntax::json_schema::counts::Counts;
use crate::syntax::json_schema::errors;
use crate::syntax::json_schema::formats::Format;
use crate::syntax::json_schema::json::Value;
use crate::syntax::json_schema::options::Formats;
use crate::syntax::json_schema::reader::Reader;
use crate::syntax::json_schema::schema::Schema;
use crate::syntax::json_schema::string_test::{RUST_PATTERN, StringTest};

pub(super) fn read<'a>(
    reader: &mut Reader<'a, '_>,
    keywords: &Keywords<'a, '_>,
    schema: &mut Schema<'a>,
) -> Result<()> {
    let length = Counts {
        min: keywords.count(reader, "minLength")?.unwrap_or(0),
        max: keywords.count(reader, "maxLength")?,
    };
    let mut tests = Vec::new();
    match keywords.get("pattern") {
        None => {}
        Some(Value::String(pattern)) => tests.push((StringTest::Pattern(pattern), true)),
        Some(other) => return Err(keywords.invalid("pattern", other, "a regular expression as a string")),
    }
    match keywords.get(RUST_PATTERN) {
        None => {}
        Some(Value::String(pattern)) => tests.push((StringTest::RustPattern(pattern), true)),
        Some(other) => {
            return Err(keywords.invalid(RUST_PATTERN, other, "a regular expression as a string"));
        }
    }
    match keywords.get("format") {
        Some(Value::String(name)) if reader.formats() == Formats::Assert => {
            match Format::named(name, keywords.draft.is_third()) {
                Some(format) => tests.push((StringTest::Format(format), true)),
                // a pattern next to an unknown format probably defines it
                None if keywords.get("pattern").is_some() => {}
                None => reader.warn(errors::unknown_format(&keywords.pointer("format"), name)),
            }
        }
        None | Some(Value::String(_)) => {}
        Some(other) => return Err(keywords.invalid("format", other, "the name of a format")),
    }
    *schema.string = StringPart { length, tests };
    Ok(())
}
