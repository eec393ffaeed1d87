//! Python's methods of texts.

use crate::arguments::{Arguments, invalid};
use crate::text::{self, is_space};
use minijinja::formatting::{self, FormatStyle};
use minijinja::value::{Tuple, Value, ValueKind};
use minijinja::{Error, ErrorKind};

/// Calls a method of a text. `values` are the arguments as they are written.
///
/// # Errors
/// The method is unknown, the arguments do not fit, or Python's method fails.
pub(crate) fn call(s: &str, method: &str, values: &[Value]) -> Result<Value, Error> {
    if method == "format" {
        let values: Vec<Value> = values.iter().map(readable).collect();
        return formatting::format(FormatStyle::StrFormat, s, &values).map(Value::from);
    }
    let mut arguments = Arguments::new(values.iter().cloned());
    let result = without_arguments(s, method)
        .or_else(|| questions(s, method))
        .map_or_else(|| with_arguments(s, method, &mut arguments), Ok)?;
    arguments.finish(method)?;
    Ok(result)
}

/// Returns a value of which `str.format` writes Python's text.
fn readable(value: &Value) -> Value {
    match value.kind() {
        ValueKind::None | ValueKind::Bytes => Value::from(text::text(value)),
        _ => value.clone(),
    }
}

fn without_arguments(s: &str, method: &str) -> Option<Value> {
    Some(match method {
        "upper" => Value::from(s.to_uppercase()),
        "lower" => Value::from(s.to_lowercase()),
        "casefold" => Value::from(casefold(s)),
        "swapcase" => Value::from(swapcase(s)),
        "title" => Value::from(title(s)),
        "capitalize" => Value::from(capitalize(s)),
        _ => return None,
    })
}

/// Returns the answer of a method whose name begins with `is`.
pub(crate) fn questions(s: &str, method: &str) -> Option<Value> {
    let all = |test: fn(char) -> bool| !s.is_empty() && s.chars().all(test);
    let (upper, lower) = (|| s.chars().any(char::is_uppercase), || s.chars().any(char::is_lowercase));
    let answer = match method {
        "isascii" => s.is_ascii(),
        "isalpha" => all(char::is_alphabetic),
        "isalnum" => all(char::is_alphanumeric),
        "isnumeric" => all(char::is_numeric),
        "isdecimal" => all(is_decimal),
        "isdigit" => all(|c| is_decimal(c) || is_raised(c)),
        "isspace" => all(is_space),
        "isupper" => upper() && !lower(),
        "islower" => lower() && !upper(),
        "istitle" => s.chars().any(char::is_alphabetic) && title(s) == s,
        "isprintable" => s.chars().all(text::is_printable),
        "isidentifier" => {
            s.starts_with(|c: char| c == '_' || c.is_alphabetic())
                && s.chars().all(|c| c == '_' || c.is_alphanumeric())
        }
        _ => return None,
    };
    Some(Value::from(answer))
}

/// Returns whether a character is a decimal digit: a numeric one that is no fraction, numeral or raised digit.
fn is_decimal(c: char) -> bool {
    const OTHERS: [std::ops::RangeInclusive<char>; 12] = [
        '\u{b2}'..='\u{b3}',
        '\u{b9}'..='\u{b9}',
        '\u{bc}'..='\u{be}',
        '\u{9f4}'..='\u{9f9}',
        '\u{b72}'..='\u{b77}',
        '\u{bf0}'..='\u{bf2}',
        '\u{f2a}'..='\u{f33}',
        '\u{1369}'..='\u{137c}',
        '\u{16ee}'..='\u{16f0}',
        '\u{2070}'..='\u{218b}',
        '\u{2460}'..='\u{2cfd}',
        '\u{3007}'..='\u{32bf}',
    ];
    c.is_numeric() && !OTHERS.iter().any(|range| range.contains(&c))
}

/// Returns whether a character is a raised or lowered digit, which Python counts as a digit but not as decimal.
fn is_raised(c: char) -> bool {
    c.is_numeric() && matches!(c, '\u{b2}' | '\u{b3}' | '\u{b9}' | '\u{2070}'..='\u{2089}')
}

fn with_arguments(s: &str, method: &str, arguments: &mut Arguments) -> Result<Value, Error> {
    Ok(match method {
        "strip" | "lstrip" | "rstrip" => {
            let set = arguments.text("chars")?;
            let cut = |c: char| set.as_ref().map_or_else(|| is_space(c), |set| set.contains(c));
            Value::from(match method {
                "lstrip" => s.trim_start_matches(cut),
                "rstrip" => s.trim_end_matches(cut),
                _ => s.trim_matches(cut),
            })
        }
        "split" | "rsplit" => {
            let separator = arguments.text("sep")?;
            let most = arguments.integer("maxsplit")?.and_then(|most| usize::try_from(most).ok());
            split(s, separator.as_deref(), most, method == "rsplit")?
        }
        "splitlines" => splitlines(s, arguments.flag("keepends")),
        "partition" | "rpartition" => partition(s, &needed(arguments, "sep")?, method == "rpartition")?,
        "removeprefix" => Value::from(s.strip_prefix(&*needed(arguments, "prefix")?).unwrap_or(s)),
        "removesuffix" => Value::from(s.strip_suffix(&*needed(arguments, "suffix")?).unwrap_or(s)),
        "replace" => {
            let (old, new) = (needed(arguments, "old")?, needed(arguments, "new")?);
            Value::from(replace(s, &old, &new, arguments.integer("count")?))
        }
        "find" | "index" | "rfind" | "rindex" => {
            let needle = needed(arguments, "sub")?;
            let found = window(s, arguments)?.and_then(|(window, skipped)| {
                let at = if method.starts_with('r') { window.rfind(&*needle) } else { window.find(&*needle) };
                Some(skipped + window.get(..at?)?.chars().count() as i64)
            });
            match found {
                None if method.ends_with("index") => return Err(invalid("substring not found")),
                found => Value::from(found.unwrap_or(-1)),
            }
        }
        "count" => {
            let needle = needed(arguments, "sub")?;
            let count = window(s, arguments)?.map_or(0, |(window, _)| window.matches(&*needle).count());
            Value::from(count)
        }
        "startswith" | "endswith" => {
            let parts = texts(&arguments.need("prefix")?, method)?;
            let holds = |window: &str, part: &String| match method {
                "startswith" => window.starts_with(part),
                _ => window.ends_with(part),
            };
            let window = window(s, arguments)?;
            Value::from(window.is_some_and(|(window, _)| parts.iter().any(|part| holds(window, part))))
        }
        "join" => {
            let items = arguments.need("iterable")?;
            let mut parts = Vec::new();
            for item in items.try_iter()? {
                match item.as_str() {
                    Some(part) => parts.push(part.to_owned()),
                    None => return Err(invalid(format!("`join` of texts, not of {}", item.kind()))),
                }
            }
            Value::from(parts.join(s))
        }
        "zfill" => Value::from(zfill(s, width(arguments)?)),
        "ljust" | "rjust" | "center" => {
            let width = width(arguments)?;
            let fill = arguments.text("fillchar")?.unwrap_or_else(|| " ".to_owned());
            let mut characters = fill.chars();
            let (Some(fill), None) = (characters.next(), characters.next()) else {
                return Err(invalid("the fill is one character"));
            };
            Value::from(pad(s, width, fill, method))
        }
        "expandtabs" => Value::from(expand_tabs(s, arguments.integer("tabsize")?.unwrap_or(8))),
        "encode" => {
            let name = arguments.text("encoding")?.unwrap_or_else(|| "utf-8".to_owned());
            arguments.text("errors")?;
            match name.to_ascii_lowercase().replace('_', "-").as_str() {
                "utf-8" | "utf8" => Value::from_bytes(s.as_bytes().to_vec()),
                "ascii" if s.is_ascii() => Value::from_bytes(s.as_bytes().to_vec()),
                other => return Err(invalid(format!("`encode` to {other}; utf-8 is supported"))),
            }
        }
        _ => return Err(Error::from(ErrorKind::UnknownMethod)),
    })
}

fn needed(arguments: &mut Arguments, name: &str) -> Result<String, Error> {
    let value = arguments.need(name)?;
    let text = value.as_str().ok_or_else(|| invalid(format!("`{name}` is a text, not {}", value.kind())))?;
    Ok(text.to_owned())
}

fn width(arguments: &mut Arguments) -> Result<usize, Error> {
    let width = arguments.integer("width")?.ok_or_else(|| invalid("`width` is not given"))?;
    Ok(usize::try_from(width).unwrap_or(0))
}

/// Returns a text, or the texts of a list.
fn texts(value: &Value, method: &str) -> Result<Vec<String>, Error> {
    let wrong = || invalid(format!("`{method}` takes a text, or a tuple of texts, not {}", value.kind()));
    if let Some(text) = value.as_str() {
        return Ok(vec![text.to_owned()]);
    }
    if !matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable) {
        return Err(wrong());
    }
    value.try_iter()?.map(|part| part.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
}

/// Takes the arguments `start` and `end`, and returns the characters between them with the number of those before.
/// `None` if `start` is after the end of the text or after `end`.
fn window<'s>(s: &'s str, arguments: &mut Arguments) -> Result<Option<(&'s str, i64)>, Error> {
    let (start, end) = (arguments.integer("start")?, arguments.integer("end")?);
    if start.is_none() && end.is_none() {
        return Ok(Some((s, 0)));
    }
    let length = s.chars().count() as i64;
    let place = |index: i64| if index < 0 { (index.saturating_add(length)).max(0) } else { index };
    let (start, end) = (place(start.unwrap_or(0)), place(end.unwrap_or(length)).min(length));
    if start > end {
        return Ok(None);
    }
    let byte = |index: i64| s.char_indices().nth(index as usize).map_or(s.len(), |(at, _)| at);
    Ok(s.get(byte(start)..byte(end)).map(|window| (window, start)))
}

fn split(s: &str, separator: Option<&str>, most: Option<usize>, from_end: bool) -> Result<Value, Error> {
    let mut parts: Vec<&str> = match (separator, most, from_end) {
        (Some(""), ..) => return Err(invalid("empty separator")),
        (Some(separator), None, _) => s.split(separator).collect(),
        (Some(separator), Some(most), false) => s.splitn(most.saturating_add(1), separator).collect(),
        (Some(separator), Some(most), true) => s.rsplitn(most.saturating_add(1), separator).collect(),
        (None, None, _) => s.split(is_space).filter(|part| !part.is_empty()).collect(),
        (None, Some(most), false) => words(s, most),
        (None, Some(most), true) => words_from_end(s, most),
    };
    if from_end && most.is_some() {
        parts.reverse();
    }
    Ok(parts.into_iter().map(Value::from).collect())
}

fn words(s: &str, most: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = s.trim_start_matches(is_space);
    while !rest.is_empty() && parts.len() < most {
        let (part, after) = rest.split_at(rest.find(is_space).unwrap_or(rest.len()));
        parts.push(part);
        rest = after.trim_start_matches(is_space);
    }
    parts.extend(Some(rest).filter(|rest| !rest.is_empty()));
    parts
}

/// Splits off at most `most` words, and returns them last first.
fn words_from_end(s: &str, most: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = s.trim_end_matches(is_space);
    while !rest.is_empty() && parts.len() < most {
        let at = rest.char_indices().rev().find(|(_, c)| is_space(*c)).map_or(0, |(at, c)| at + c.len_utf8());
        let (before, part) = rest.split_at(at);
        parts.push(part);
        rest = before.trim_end_matches(is_space);
    }
    parts.extend(Some(rest).filter(|rest| !rest.is_empty()));
    parts
}

/// Returns whether Python's `splitlines` ends a line at a character.
pub(crate) fn ends_line(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\x0b' | '\x0c' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn splitlines(s: &str, keeps_ends: bool) -> Value {
    let mut lines = Vec::new();
    let mut rest = s;
    while !rest.is_empty() {
        let at = rest.find(ends_line).unwrap_or(rest.len());
        let (line, after) = rest.split_at(at);
        let end = match after.chars().next() {
            Some('\r') if after.starts_with("\r\n") => 2,
            Some(c) => c.len_utf8(),
            None => 0,
        };
        lines.push(Value::from(if keeps_ends { &rest[..at + end] } else { line }));
        rest = &after[end..];
    }
    Value::from(lines)
}

fn partition(s: &str, separator: &str, from_end: bool) -> Result<Value, Error> {
    if separator.is_empty() {
        return Err(invalid("empty separator"));
    }
    let cut = if from_end { s.rsplit_once(separator) } else { s.split_once(separator) };
    let parts = match cut {
        Some((before, after)) => [before, separator, after],
        None if from_end => ["", "", s],
        None => [s, "", ""],
    };
    Ok(Value::from(Tuple::from(parts.map(Value::from))))
}

pub(crate) fn replace(s: &str, old: &str, new: &str, count: Option<i64>) -> String {
    match count.map(usize::try_from) {
        Some(Ok(count)) => s.replacen(old, new, count),
        _ => s.replace(old, new),
    }
}

fn casefold(s: &str) -> String {
    let fold = |c: char| -> String {
        if c == 'ı' { c.to_string() } else { c.to_uppercase().flat_map(char::to_lowercase).collect() }
    };
    s.chars().map(fold).collect()
}

fn swapcase(s: &str) -> String {
    let mut out = String::with_capacity(s.len());
    for c in s.chars() {
        match (c.is_uppercase(), c.is_lowercase()) {
            (true, _) => out.extend(c.to_lowercase()),
            (_, true) => out.extend(c.to_uppercase()),
            _ => out.push(c),
        }
    }
    out
}

/// Returns a letter as the first of a word: of several capitals, as for `ß`, only the first is one.
fn title_case(c: char) -> String {
    let mut capitals = c.to_uppercase();
    capitals.next().into_iter().chain(capitals.flat_map(char::to_lowercase)).collect()
}

/// Returns the text with the first letter of each run of letters as a capital, the others small.
fn title(s: &str) -> String {
    let mut out = String::with_capacity(s.len());
    let mut is_inside = false;
    for c in s.chars() {
        let is_cased = c.is_uppercase() || c.is_lowercase();
        match is_inside {
            true => out.extend(c.to_lowercase()),
            false => out.push_str(&title_case(c)),
        }
        is_inside = is_cased;
    }
    out
}

pub(crate) fn capitalize(s: &str) -> String {
    let mut characters = s.chars();
    let first = characters.next().map(title_case).unwrap_or_default();
    first + &characters.as_str().to_lowercase()
}

fn zfill(s: &str, width: usize) -> String {
    let missing = width.saturating_sub(s.chars().count());
    match s.strip_prefix(['+', '-']) {
        Some(rest) => format!("{}{}{rest}", &s[..1], "0".repeat(missing)),
        None => "0".repeat(missing) + s,
    }
}

/// Fills a text up to `width` characters; `method` is the side that it is moved to, as Python names it.
pub(crate) fn pad(s: &str, width: usize, fill: char, method: &str) -> String {
    let missing = width.saturating_sub(s.chars().count());
    let left = match method {
        "ljust" => 0,
        "rjust" => missing,
        // Python puts the odd one at the left only if the width is odd
        _ => missing / 2 + (missing & width & 1),
    };
    let fill = |count: usize| std::iter::repeat_n(fill, count);
    fill(left).chain(s.chars()).chain(fill(missing - left)).collect()
}

fn expand_tabs(s: &str, size: i64) -> String {
    let size = usize::try_from(size).unwrap_or(0);
    let mut out = String::new();
    let mut column = 0;
    for c in s.chars() {
        match c {
            '\t' if size > 0 => {
                let spaces = size - column % size;
                out.extend(std::iter::repeat_n(' ', spaces));
                column += spaces;
            }
            '\t' => {}
            '\n' | '\r' => {
                out.push(c);
                column = 0;
            }
            _ => {
                out.push(c);
                column += 1;
            }
        }
    }
    out
}
