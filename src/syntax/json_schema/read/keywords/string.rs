//! `minLength`, `maxLength`, `pattern`, `format`, `x-grammata-pattern` and `x-grammata-grammar`.

use super::Keywords;
use crate::error::Result;
use crate::syntax::json_schema::errors;
use crate::syntax::json_schema::grammars::GRAMMAR;
use crate::syntax::json_schema::model::assertion::StringPart;
use crate::syntax::json_schema::model::schema::Schema;
use crate::syntax::json_schema::options::Formats;
use crate::syntax::json_schema::read::reader::Reader;
use crate::syntax::json_schema::strings::formats::Format;
use crate::syntax::json_schema::strings::string_test::{RUST_PATTERN, StringTest};
use crate::syntax::json_schema::values::counts::Counts;
use crate::syntax::json_schema::values::json::Value;
use bumpalo::Bump;

/// Formats that code generators write beside numbers, after the types of their languages.
const NUMBER_FORMATS: &[&str] = &[
    "int",
    "int8",
    "int16",
    "int32",
    "int64",
    "int128",
    "uint",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "uint128",
    "float",
    "float16",
    "float32",
    "float64",
    "double",
    "single",
    "decimal",
    "decimal128",
    "double-int",
    "long",
    "integer",
    "number",
    "usize",
    "isize",
];

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
        Some(Value::String(pattern)) => {
            check_pattern(reader, || keywords.pointer("pattern"), pattern)?;
            let parts = split_look_ahead(pattern, reader.arena);
            tests.extend(parts.into_iter().flatten().map(|part| (StringTest::Pattern(part), true)));
        }
        Some(other) => return Err(keywords.invalid("pattern", other, "a regular expression as a string")),
    }
    match keywords.get(RUST_PATTERN) {
        None => {}
        Some(Value::String(pattern)) => tests.push((StringTest::RustPattern(pattern), true)),
        Some(other) => {
            return Err(keywords.invalid(RUST_PATTERN, other, "a regular expression as a string"));
        }
    }
    if let Some(value) = keywords.get(GRAMMAR) {
        tests.push((grammar(reader, keywords, value)?, true));
    }
    match keywords.get("format") {
        Some(Value::String(name)) if reader.formats() == Formats::Assert => {
            match Format::named(name, keywords.draft.is_third()) {
                Some(format) => tests.push((StringTest::Format(format), true)),
                // a pattern next to an unknown format probably defines it
                None if keywords.get("pattern").is_some() => {}
                None if NUMBER_FORMATS.contains(name) => {
                    let pointer = keywords.pointer("format");
                    let note = || errors::number_format(&pointer, name);
                    reader.warn_once("json-schema/number-format", "", note);
                }
                None => {
                    let pointer = keywords.pointer("format");
                    let warning = || errors::unknown_format(&pointer, name);
                    reader.warn_once("json-schema/unknown-format", name, warning);
                }
            }
        }
        None | Some(Value::String(_)) => {}
        Some(other) => return Err(keywords.invalid("format", other, "the name of a format")),
    }
    *schema.string = StringPart { length, tests };
    Ok(())
}

/// Reads the grammar of a string, and warns of what its notation passes over.
///
/// # Errors
/// Another value than an object with a notation and a text; a notation without a reader; an invalid grammar.
fn grammar<'a>(
    reader: &mut Reader<'a, '_>,
    keywords: &Keywords<'a, '_>,
    value: &'a Value<'a>,
) -> Result<StringTest<'a>> {
    const ALLOWED: &str = "{\"syntax\": \"lark\" or \"regex\", \"definition\": \"the grammar\"}";
    let invalid = || keywords.invalid(GRAMMAR, value, ALLOWED);
    let Value::Object(members) = value else { return Err(invalid()) };
    let (Some(Value::String(syntax)), Some(Value::String(definition)), 2) =
        (members.get("syntax"), members.get("definition"), members.iter().count())
    else {
        return Err(invalid());
    };
    let pointer = keywords.location.pointer;
    if *syntax == "regex" {
        return Ok(StringTest::Regex(definition));
    }
    let Some(known) = reader.grammars().filter(|known| known.syntax() == *syntax) else {
        return Err(errors::no_reader(keywords.location.pointer, syntax, reader.grammars().is_some()));
    };
    reader.spend(definition.len(), pointer)?;
    let read = known.read(definition, reader.limits());
    let (_, warnings) = read.map_err(|cause| errors::definition(pointer, &cause))?;
    for warning in warnings {
        reader.warn(errors::in_definition(pointer, &warning));
    }
    Ok(StringTest::Grammar(definition, known))
}

/// Warns of a pattern that has another meaning elsewhere, or refuses it.
///
/// # Errors
/// The pattern subtracts classes of characters, as only the flag `v` allows.
pub(super) fn check_pattern(
    reader: &mut Reader<'_, '_>,
    pointer: impl Fn() -> String,
    pattern: &str,
) -> Result<()> {
    if is_literal(pattern) {
        reader.warn(errors::pattern_literal(&pointer(), pattern));
    }
    match set_operation(pattern) {
        Some("--") => Err(errors::subtracted_class(&pointer(), pattern)),
        Some(_) => {
            reader.warn(errors::pattern_of_sets(&pointer(), pattern));
            Ok(())
        }
        None => Ok(()),
    }
}

/// Returns the first operation on sets of characters, `--` or `&&`, that a pattern would have with the flag `v`: one
/// between classes in brackets or classes by property. Without the flag these are characters of a class, and a bracket
/// after it.
fn set_operation(pattern: &str) -> Option<&str> {
    let (mut class, mut escaped) = (None, false);
    for (at, c) in pattern.char_indices() {
        match (c, class) {
            _ if std::mem::take(&mut escaped) => {}
            ('\\', _) => escaped = true,
            ('[', None) => class = Some(at),
            (']', Some(start)) => {
                let (inside, after) = (&pattern[start + 1..at], &pattern[at + 1..]);
                for operation in ["--", "&&"] {
                    let is_nested = inside.starts_with('[') && after.starts_with(operation)
                        || inside.contains(&format!("{operation}[")) && after.starts_with(']');
                    if is_nested || inside.contains(&format!("}}{operation}\\p")) {
                        return Some(operation);
                    }
                }
                class = None;
            }
            _ => {}
        }
    }
    None
}

/// Whether a pattern looks like a literal of JavaScript: between slashes, with an anchor inside of them, and perhaps
/// flags. Slashes alone are common in patterns of paths.
fn is_literal(pattern: &str) -> bool {
    let without_flags = pattern.trim_end_matches(|flag| "dgimsuvy".contains(flag));
    let inside = without_flags.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    inside.is_some_and(|inside| inside.starts_with('^') || inside.ends_with('$'))
}

/// Splits a pattern that begins with a look-ahead for the whole string, `^(?=A$)B`, into `^(?:A)$` and `^B`: both must
/// match. A bound on the length is usually written so, and then the parts are automata of few states, while the whole
/// has one for each length. Returns other patterns unchanged.
fn split_look_ahead<'a>(pattern: &'a str, arena: &'a Bump) -> [Option<&'a str>; 2] {
    let split = || {
        let inside = pattern.strip_prefix("^(?=")?;
        // whether `|` may be a choice of the whole pattern, and the group or class that the place is in
        let (mut depth, mut in_class, mut escaped) = (0u32, false, false);
        let mut end = None;
        for (at, c) in inside.char_indices() {
            match c {
                _ if std::mem::take(&mut escaped) => {}
                '\\' => escaped = true,
                '[' => in_class = true,
                ']' => in_class = false,
                _ if in_class => {}
                '(' => depth += 1,
                ')' if depth == 0 && end.is_none() => end = Some(at),
                ')' => depth = depth.checked_sub(1)?,
                '|' if depth == 0 && end.is_some() => return None,
                _ => {}
            }
        }
        let (ahead, rest) = inside.split_at(end?);
        let (ahead, rest) = (ahead.strip_suffix('$')?, &rest[1..]);
        let is_escaped = ahead.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1;
        // a quantifier after the look-ahead, or references to groups, which would be counted anew
        let counts = rest.starts_with(['*', '+', '?', '{']) || names_groups(ahead) || names_groups(rest);
        (!is_escaped && !counts).then_some((ahead, rest))
    };
    match split() {
        None => [Some(pattern), None],
        Some((ahead, rest)) => {
            [Some(arena.alloc_str(&format!("^(?:{ahead})$"))), Some(arena.alloc_str(&format!("^{rest}")))]
        }
    }
}

/// Whether a pattern may refer to a group.
fn names_groups(pattern: &str) -> bool {
    let mut after = pattern.split('\\').skip(1);
    after.any(|rest| rest.starts_with(|c: char| c == 'k' || ('1'..='9').contains(&c)))
}
