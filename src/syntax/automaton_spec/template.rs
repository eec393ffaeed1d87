//! Rendering of the template after a header, at a cost that is bounded.
//!
//! Fuel bounds how many instructions are run and the writer bounds what is put out, but neither bounds the
//! values in between: a template that doubles a text forty times would need a terabyte. So tags are checked
//! first. A variable can only be bound by `for`, which may go over a name, a list of texts and numbers, or a
//! `range`; so what is bound is never larger than a parameter or a tag, and one tag of at most [`TAG_BYTES`]
//! can join only so many values of bounded size. `*` repeats texts, and `recursive` loops bind what they are
//! called with; neither is allowed.

use super::errors;
use super::parameters::{Parameter, ParameterValue};
use crate::diagnostic::Place;
use crate::error::Result;
use crate::limits::Limits;
use minijinja::value::ValueKind;
use minijinja::{Environment, UndefinedBehavior, Value};
use std::collections::BTreeMap;
use std::io;

const TAG_BYTES: usize = 1_000;
const RANGE_NUMBERS: i64 = 1_000;
const FUEL: u64 = 1_000_000;
const STATEMENTS: [&str; 8] = ["if", "elif", "else", "endif", "for", "endfor", "break", "continue"];

/// Renders the template that begins at byte `body` of `source`.
pub(super) fn render(source: &str, body: usize, parameters: &[Parameter], limits: &Limits) -> Result<String> {
    check(source, body)?;
    // The header's lines are left empty, so that the line numbers of errors are those of the file.
    let lines = source.bytes().take(body).filter(|&b| b == b'\n').count();
    let mut template = "\n".repeat(lines);
    template.push_str(source.get(body..).unwrap_or_default());

    let mut environment = Environment::empty();
    environment.set_fuel(Some(FUEL));
    environment.set_debug(false);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_function("range", range);
    environment.add_filter("length", minijinja::filters::length);
    environment.add_filter("lower", minijinja::filters::lower);
    environment.add_filter("upper", minijinja::filters::upper);
    environment.add_filter("first", minijinja::filters::first);
    environment.add_filter("last", minijinja::filters::last);
    environment.set_formatter(|out, _, value| put(out, value));

    let values: BTreeMap<&str, Value> =
        parameters.iter().map(|p| (p.name.as_str(), to_value(&p.value))).collect();
    let mut writer = Bounded { text: Vec::new(), limit: limits.source_bytes, exceeded: false };
    let rendered = environment
        .template_from_str(&template)
        .and_then(|template| template.render_captured_to(Value::from(values), &mut writer).map(|_| ()));
    if writer.exceeded {
        let exceeded = Limits::exceeded("source_bytes", limits.source_bytes, "a larger rendered template");
        return Err(exceeded.or_at(&Place::in_text(source, body)));
    }
    rendered.map_err(|e| errors::template(&e))?;
    String::from_utf8(writer.text).map_err(|_| errors::template_not_text())
}

fn to_value(value: &ParameterValue) -> Value {
    match value {
        ParameterValue::Integer(n) => Value::from(*n),
        ParameterValue::Boolean(b) => Value::from(*b),
        ParameterValue::String(text) => Value::from(text.as_str()),
        ParameterValue::List(list) => list.iter().map(|text| Value::from(text.as_str())).collect(),
    }
}

struct Bounded {
    text: Vec<u8>,
    limit: usize,
    exceeded: bool,
}

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.text.len() + bytes.len() > self.limit {
            self.exceeded = true;
            return Err(io::Error::other("too long"));
        }
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The numbers from the first to before the second argument; or from zero to before the only one. With a
/// third argument, in such steps.
fn range(a: i64, b: Option<i64>, step: Option<i64>) -> Result<Vec<i64>, minijinja::Error> {
    let (start, end) = b.map_or((0, a), |b| (a, b));
    let step = step.unwrap_or(1);
    let mut numbers = Vec::new();
    let mut next = Some(start);
    while let Some(n) = next.filter(|&n| if step > 0 { n < end } else { n > end }) {
        if step == 0 || numbers.len() as i64 == RANGE_NUMBERS {
            let message = format!("`range` gives at most {RANGE_NUMBERS} numbers, in steps that are not 0");
            return Err(minijinja::Error::new(minijinja::ErrorKind::InvalidOperation, message));
        }
        numbers.push(n);
        next = n.checked_add(step);
    }
    Ok(numbers)
}

/// Puts a value out so that it stays what it is inside a quoted string of TOML or JSON.
fn put(out: &mut minijinja::Output<'_>, value: &Value) -> Result<(), minijinja::Error> {
    if let Some(text) = value.as_str() {
        return Ok(out.write_str(&escape(text))?);
    }
    match value.kind() {
        ValueKind::Number | ValueKind::Bool => Ok(write!(out, "{value}")?),
        ValueKind::Seq | ValueKind::Iterable => {
            out.write_str("[")?;
            for (i, item) in value.try_iter()?.enumerate() {
                out.write_str(if i > 0 { ", " } else { "" })?;
                match item.as_str() {
                    Some(text) => write!(out, "\"{}\"", escape(text))?,
                    None if item.kind() == ValueKind::Number => write!(out, "{item}")?,
                    None => return Err(cannot_put(&item)),
                }
            }
            Ok(out.write_str("]")?)
        }
        _ => Err(cannot_put(value)),
    }
}

fn cannot_put(value: &Value) -> minijinja::Error {
    let message = format!("{} cannot be put out", value.kind());
    minijinja::Error::new(minijinja::ErrorKind::InvalidOperation, message)
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            // TOML has no raw control characters, U+007F included; JSON knows the same escape
            c if c.is_ascii_control() => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// Checks all tags; see the [module](self).
fn check(source: &str, body: usize) -> Result<()> {
    let bytes = source.as_bytes();
    let mut at = body;
    while let Some(pair) = bytes.get(at..at + 2) {
        let end = match pair {
            b"{#" => source.get(at..).and_then(|rest| rest.find("#}")).map_or(bytes.len(), |n| at + n + 2),
            b"{{" => check_tag(source, at, b"}}")?,
            b"{%" => check_tag(source, at, b"%}")?,
            _ => at + 1,
        };
        at = end;
    }
    Ok(())
}

/// Checks the tag at byte `start` and gives its end. The end is found as Jinja finds it: outside quotes and
/// brackets. A tag without an end is left to Jinja to report.
fn check_tag(source: &str, start: usize, close: &[u8; 2]) -> Result<usize> {
    let bytes = source.as_bytes();
    let (mut at, mut depth) = (start + 2, 0_isize);
    let mut code = String::new();
    let mut deep = Vec::new();
    while let Some(&byte) = bytes.get(at) {
        if depth == 0 && bytes.get(at..at + 2) == Some(close) {
            at += 2;
            break;
        }
        match byte {
            b'"' | b'\'' => {
                // texts are replaced by a quote: what they hold is not code
                at += 1;
                while let Some(&inner) = bytes.get(at).filter(|&&inner| inner != byte) {
                    at += if inner == b'\\' { 2 } else { 1 };
                }
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
        // one character a byte, so that `deep` has the same indices
        code.push(if byte.is_ascii() { char::from(byte) } else { '?' });
        deep.push(depth);
        at += 1;
    }
    if at - start > TAG_BYTES {
        return Err(errors::long_tag(source, start, TAG_BYTES));
    }
    if code.contains('*') {
        return Err(errors::forbidden(source, start, "*"));
    }
    if close == b"%}" {
        let statement = code.trim_start_matches(['-', '+']).trim();
        let word =
            statement.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
        if !STATEMENTS.contains(&word) {
            return Err(errors::statement(source, start, word, &STATEMENTS));
        }
        if word == "for" {
            check_for(source, start, &code, &deep)?;
        }
    }
    Ok(at)
}

/// Checks what a `for` goes over; see the [module](self).
fn check_for(source: &str, start: usize, code: &str, deep: &[isize]) -> Result<()> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if code.split(|c: char| !word(c)).any(|name| name == "recursive") {
        return Err(errors::forbidden(source, start, "recursive"));
    }
    let code = code.trim_end().trim_end_matches(['-', '+']).trim_end();
    let whole = |&(at, _): &(usize, &str)| {
        let around = [code[..at].chars().next_back(), code[at + 2..].chars().next()];
        !around.iter().any(|c| c.is_some_and(word))
    };
    let Some((at, _)) = code.match_indices("in").find(whole) else { return Ok(()) };
    let over = code[at + 2..].trim_start();
    let bracketed = over.contains(['(', '[', '{']);
    let allowed = match over.strip_prefix("range").map(str::trim_start) {
        // the bracket that `range` opens is closed at the tag's end, so its arguments are all there is
        Some(arguments) if arguments.starts_with('(') => {
            let opens = code.len() - arguments.len();
            let between = deep.get(opens..code.len().saturating_sub(1)).unwrap_or_default();
            code.ends_with(')') && between.iter().all(|&depth| depth > 0) && !arguments.contains(['[', '{'])
        }
        _ if over.contains(['+', '~']) => false,
        _ if bracketed => !over.contains(|c: char| c.is_ascii_alphabetic() || c == '_'),
        _ => !over.contains(','),
    };
    if allowed { Ok(()) } else { Err(errors::computed_for(source, start)) }
}
