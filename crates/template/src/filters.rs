//! Jinja's filters that the library lacks, or that write other texts than Python.

use crate::arguments::{Arguments, invalid};
use crate::number::{Number, integer, number, truncated};
use crate::{strings, text};
use minijinja::Error;
use minijinja::value::{Tuple, Value, ValueKind};

pub(crate) fn string(value: &Value, arguments: Arguments) -> Result<Value, Error> {
    arguments.finish("string")?;
    Ok(match value.kind() {
        ValueKind::String => value.clone(),
        _ => Value::from(text::text(value)),
    })
}

pub(crate) fn upper(value: &Value, arguments: Arguments) -> Result<Value, Error> {
    arguments.finish("upper")?;
    Ok(Value::from(text::text(value).to_uppercase()))
}

pub(crate) fn lower(value: &Value, arguments: Arguments) -> Result<Value, Error> {
    arguments.finish("lower")?;
    Ok(Value::from(text::text(value).to_lowercase()))
}

pub(crate) fn capitalize(value: &Value, arguments: Arguments) -> Result<Value, Error> {
    arguments.finish("capitalize")?;
    Ok(Value::from(strings::capitalize(&text::text(value))))
}

/// Capitalises each word. Unlike Python's method, words begin after white space and opening brackets only.
pub(crate) fn title(value: &Value, arguments: Arguments) -> Result<Value, Error> {
    arguments.finish("title")?;
    let text = text::text(value);
    let mut out = String::with_capacity(text.len());
    let mut begins = true;
    for c in text.chars() {
        match begins {
            true => out.extend(c.to_uppercase()),
            false => out.extend(c.to_lowercase()),
        }
        begins = text::is_space(c) || matches!(c, '-' | '(' | '{' | '[' | '<');
    }
    Ok(Value::from(out))
}

pub(crate) fn trim(value: &Value, mut arguments: Arguments) -> Result<Value, Error> {
    let set = arguments.text("chars")?;
    arguments.finish("trim")?;
    let cut = |c: char| set.as_ref().map_or_else(|| text::is_space(c), |set| set.contains(c));
    Ok(Value::from(text::text(value).trim_matches(cut)))
}

pub(crate) fn replace(value: &Value, mut arguments: Arguments) -> Result<Value, Error> {
    let (old, new) = (arguments.need("old")?, arguments.need("new")?);
    let count = arguments.integer("count")?;
    arguments.finish("replace")?;
    Ok(Value::from(strings::replace(&text::text(value), &text::text(&old), &text::text(&new), count)))
}

pub(crate) fn join(value: &Value, mut arguments: Arguments) -> Result<Value, Error> {
    let separator = arguments.take("d").map(|separator| text::text(&separator)).unwrap_or_default();
    let attribute = arguments.take("attribute").filter(|attribute| !attribute.is_none());
    arguments.finish("join")?;
    let mut out = String::new();
    for (at, item) in value.try_iter()?.enumerate() {
        if at > 0 {
            out.push_str(&separator);
        }
        match &attribute {
            Some(attribute) => text::push(&mut out, &at_path(&item, attribute)?),
            None => text::push(&mut out, &item),
        }
    }
    Ok(Value::from(out))
}

pub(crate) fn center(value: &Value, mut arguments: Arguments) -> Result<Value, Error> {
    let width = arguments.integer("width")?.unwrap_or(80);
    arguments.finish("center")?;
    let width = usize::try_from(width).unwrap_or(0);
    Ok(Value::from(strings::pad(&text::text(value), width, ' ', "center")))
}

pub(crate) fn reverse(value: &Value, arguments: Arguments) -> Result<Value, Error> {
    arguments.finish("reverse")?;
    if let Some(text) = value.as_str() {
        return Ok(Value::from(text.chars().rev().collect::<String>()));
    }
    let mut items: Vec<Value> = value.try_iter()?.collect();
    items.reverse();
    Ok(Value::from(items))
}

/// Returns the number of items; 0 for an undefined value.
pub(crate) fn length(value: &Value, arguments: Arguments) -> Result<Value, Error> {
    arguments.finish("length")?;
    if value.is_undefined() {
        return Ok(Value::from(0));
    }
    if let Some(bytes) = value.as_bytes().filter(|_| value.kind() == ValueKind::Bytes) {
        return Ok(Value::from(bytes.len()));
    }
    let length = value.len().ok_or_else(|| invalid(format!("a {} has no length", value.kind())))?;
    Ok(Value::from(length))
}

/// Indents the lines of a text, by default by four spaces, all but the first and the blank ones.
pub(crate) fn indent(value: &Value, mut arguments: Arguments) -> Result<Value, Error> {
    let width = arguments.take("width").unwrap_or_else(|| Value::from(4));
    let (first, blank) = (arguments.flag("first"), arguments.flag("blank"));
    arguments.finish("indent")?;
    let step = match (width.as_str(), width.as_i64()) {
        (Some(text), _) => text.to_owned(),
        (None, Some(spaces)) => " ".repeat(usize::try_from(spaces).unwrap_or(0)),
        _ => return Err(invalid("`width` is a text or a number of spaces")),
    };
    let text = text::text(value);
    let mut out = String::new();
    // Jinja appends a line break before it splits the text into lines, so that a last one is kept
    let lines = if blank { text.split('\n').collect::<Vec<_>>() } else { lines(&text) };
    for (at, line) in lines.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        if (at > 0 && (blank || !line.is_empty())) || (at == 0 && first) {
            out.push_str(&step);
        }
        out.push_str(line);
    }
    Ok(Value::from(out))
}

fn lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(strings::ends_line) {
        let (line, after) = rest.split_at(at);
        lines.push(line);
        let end = if after.starts_with("\r\n") { 2 } else { after.chars().next().map_or(0, char::len_utf8) };
        rest = &after[end..];
    }
    lines.push(rest);
    lines
}

pub(crate) fn wordcount(value: &Value, arguments: Arguments) -> Result<Value, Error> {
    arguments.finish("wordcount")?;
    let text = text::text(value);
    let is_word = |c: char| c == '_' || c.is_alphanumeric();
    Ok(Value::from(text.split(|c| !is_word(c)).filter(|word| !word.is_empty()).count()))
}

pub(crate) fn truncate(value: &Value, mut arguments: Arguments) -> Result<Value, Error> {
    let length = arguments.integer("length")?.unwrap_or(255);
    let cuts_words = arguments.flag("killwords");
    let end = arguments.text("end")?.unwrap_or_else(|| "...".to_owned());
    let leeway = arguments.integer("leeway")?.unwrap_or(5);
    arguments.finish("truncate")?;
    let text = match value.kind() {
        // a list that is short enough stays a list
        ValueKind::Seq | ValueKind::Map
            if value.len().is_some_and(|long| long as i64 <= length.saturating_add(leeway)) =>
        {
            return Ok(value.clone());
        }
        ValueKind::Seq | ValueKind::Map => return Err(invalid(format!("`truncate` of a {}", value.kind()))),
        _ => text::text(value),
    };
    let (long, end_length) = (text.chars().count() as i64, end.chars().count() as i64);
    if length < end_length || leeway < 0 {
        return Err(invalid(format!("`length` is at least {end_length}, and `leeway` 0")));
    }
    if long <= length.saturating_add(leeway) {
        return Ok(Value::from(text));
    }
    let mut kept: String = text.chars().take(usize::try_from(length - end_length).unwrap_or(0)).collect();
    if !cuts_words && let Some(at) = kept.rfind(' ') {
        kept.truncate(at);
    }
    Ok(Value::from(kept + &end))
}

pub(crate) fn urlencode(value: &Value, arguments: Arguments) -> Result<Value, Error> {
    arguments.finish("urlencode")?;
    let pairs: Vec<(Value, Value)> = match value.kind() {
        ValueKind::Map => {
            let mut pairs = Vec::new();
            for key in value.try_iter()? {
                let item = value.get_item(&key)?;
                pairs.push((key, item));
            }
            pairs
        }
        ValueKind::Seq | ValueKind::Iterable => {
            let pair = |pair: Value| Ok((pair.get_item_by_index(0)?, pair.get_item_by_index(1)?));
            value.try_iter()?.map(pair).collect::<Result<_, Error>>()?
        }
        _ => return Ok(Value::from(quoted(&text::text(value), false))),
    };
    let written: Vec<String> = pairs
        .iter()
        .map(|(key, item)| format!("{}={}", quoted(&text::text(key), true), quoted(&text::text(item), true)))
        .collect();
    Ok(Value::from(written.join("&")))
}

/// Percent-encodes a text, for a query string (`+` for a space, `/` encoded) or for a path.
fn quoted(text: &str, is_query: bool) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'-' | b'~' => {
                out.push(char::from(byte));
            }
            b'/' if !is_query => out.push('/'),
            b' ' if is_query => out.push('+'),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

pub(crate) fn default(value: &Value, mut arguments: Arguments) -> Result<Value, Error> {
    let default = arguments.take("default_value").unwrap_or_else(|| Value::from(""));
    let is_false_enough = arguments.flag("boolean");
    arguments.finish("default")?;
    let is_missing = value.is_undefined() || (is_false_enough && !value.is_true());
    Ok(if is_missing { default } else { value.clone() })
}

pub(crate) fn abs(value: &Value, arguments: Arguments) -> Result<Value, Error> {
    arguments.finish("abs")?;
    Ok(match number(value).map_err(|_| invalid(format!("`abs` of a {}", value.kind())))? {
        Number::Integer(number) => integer(number.saturating_abs()),
        Number::Float(number) => Value::from(number.abs()),
    })
}

/// Returns the pairs of a mapping; none for an undefined value.
pub(crate) fn items(value: &Value, arguments: Arguments) -> Result<Value, Error> {
    arguments.finish("items")?;
    if value.is_undefined() {
        return Ok(Value::from(Vec::<Value>::new()));
    }
    if value.kind() != ValueKind::Map {
        return Err(invalid(format!("`items` of a {}", value.kind())));
    }
    let mut pairs = Vec::new();
    for key in value.try_iter()? {
        let item = value.get_item(&key)?;
        pairs.push(Value::from(Tuple::from([key, item])));
    }
    Ok(Value::from(pairs))
}

pub(crate) fn first(value: &Value, arguments: Arguments) -> Result<Value, Error> {
    arguments.finish("first")?;
    Ok(value.try_iter()?.next().unwrap_or_default())
}

pub(crate) fn last(value: &Value, arguments: Arguments) -> Result<Value, Error> {
    arguments.finish("last")?;
    Ok(value.try_iter()?.last().unwrap_or_default())
}

/// Marks a text as safe for HTML.
pub(crate) fn safe(value: &Value, arguments: Arguments) -> Result<Value, Error> {
    arguments.finish("safe")?;
    Ok(Value::from_safe_string(text::text(value)))
}

/// Escapes a text for HTML, unless it is marked as safe.
pub(crate) fn escape(value: &Value, arguments: Arguments) -> Result<Value, Error> {
    if value.is_safe() { Ok(value.clone()) } else { force_escape(value, arguments) }
}

pub(crate) fn force_escape(value: &Value, arguments: Arguments) -> Result<Value, Error> {
    arguments.finish("escape")?;
    Ok(Value::from_safe_string(escaped(&text::text(value))))
}

/// Escapes a text for HTML.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\'' => out.push_str("&#39;"),
            '"' => out.push_str("&#34;"),
            _ => out.push(c),
        }
    }
    out
}

/// Adds numbers.
pub(crate) fn sum(value: &Value, mut arguments: Arguments) -> Result<Value, Error> {
    let attribute = arguments.take("attribute").filter(|attribute| !attribute.is_none());
    let start = arguments.take("start").unwrap_or_else(|| Value::from(0));
    arguments.finish("sum")?;
    let mut total = number(&start)?;
    for item in value.try_iter()? {
        let item = match &attribute {
            Some(attribute) => number(&at_path(&item, attribute)?)?,
            None => number(&item)?,
        };
        total = match (total, item) {
            (Number::Integer(a), Number::Integer(b)) => {
                Number::Integer(a.checked_add(b).ok_or_else(|| invalid("a sum with too many digits"))?)
            }
            (a, b) => Number::Float(a.float() + b.float()),
        };
    }
    Ok(match total {
        Number::Integer(total) => integer(total),
        Number::Float(total) => Value::from(total),
    })
}

/// Returns the integer of a number or of a text in base `base`; `default` if there is none.
pub(crate) fn int(value: &Value, mut arguments: Arguments) -> Result<Value, Error> {
    let default = arguments.take("default").unwrap_or_else(|| Value::from(0));
    let base = arguments.integer("base")?.unwrap_or(10);
    arguments.finish("int")?;
    let found = match value.as_str() {
        Some(text) => digits(text, base).or_else(|| float_text(text).and_then(truncated)),
        None if value.kind() == ValueKind::Number || value.kind() == ValueKind::Bool => {
            match text::float_of(value) {
                Some(number) if !number.is_finite() => return Err(invalid("no integer is infinite")),
                Some(number) => truncated(number),
                None => i128::try_from(value.clone()).ok(),
            }
        }
        None => None,
    };
    Ok(found.map_or(default, integer))
}

/// Reads an integer as Python's `int(text, base)`.
fn digits(text: &str, base: i64) -> Option<i128> {
    let text = text.trim_matches(text::is_space);
    let (is_negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = text.to_ascii_lowercase();
    let prefixed = [("0x", 16), ("0o", 8), ("0b", 2)].into_iter().find_map(|(prefix, known)| {
        let rest = lower.strip_prefix(prefix)?;
        (base == known || base == 0).then_some((rest.trim_start_matches('_'), known))
    });
    let (digits, base) = prefixed.unwrap_or((&lower, if base == 0 { 10 } else { base }));
    let base = u32::try_from(base).ok().filter(|base| (2..=36).contains(base))?;
    if digits.starts_with(['_', '+', '-']) || digits.ends_with('_') || digits.contains("__") {
        return None;
    }
    let number = i128::from_str_radix(&digits.replace('_', ""), base).ok()?;
    Some(if is_negative { -number } else { number })
}

/// Reads a number as Python's `float(text)`.
fn float_text(text: &str) -> Option<f64> {
    let text = text.trim_matches(text::is_space);
    if text.starts_with('_') || text.ends_with('_') || text.contains("__") {
        return None;
    }
    text.replace('_', "").parse().ok()
}

pub(crate) fn float(value: &Value, mut arguments: Arguments) -> Result<Value, Error> {
    let default = arguments.take("default").unwrap_or_else(|| Value::from(0.0));
    arguments.finish("float")?;
    let found = match value.as_str() {
        Some(text) => float_text(text),
        None => number(value).ok().map(|number| number.float()),
    };
    Ok(found.map_or(default, Value::from))
}

pub(crate) fn round(value: &Value, mut arguments: Arguments) -> Result<Value, Error> {
    let precision = arguments.integer("precision")?.unwrap_or(0).clamp(-400, 400) as i32;
    let method = arguments.text("method")?.unwrap_or_else(|| "common".to_owned());
    arguments.finish("round")?;
    let scale = 10_f64.powi(precision);
    let exact = text::float_of(value);
    let number = number(value)?;
    if let ("common", Number::Integer(number), 0..) = (method.as_str(), &number, precision) {
        // `round` of an integer is one
        return Ok(integer(*number));
    }
    let number = number.float();
    let rounded = match method.as_str() {
        "ceil" => (number * scale).ceil() / scale,
        "floor" => (number * scale).floor() / scale,
        // Rust and Python round the exact number to even
        "common" if precision >= 0 => {
            let digits = usize::try_from(precision).unwrap_or(0);
            format!("{number:.digits$}").parse().unwrap_or(number)
        }
        "common" => {
            let rounded = (number * scale).round_ties_even() / scale;
            if exact.is_none() {
                return Ok(integer(rounded as i128));
            }
            rounded
        }
        _ => return Err(invalid("`method` is common, ceil or floor")),
    };
    Ok(Value::from(rounded))
}

/// Returns the value of an attribute: an index, or a name or index at each step of a path with dots.
pub(crate) fn at_path(value: &Value, attribute: &Value) -> Result<Value, Error> {
    let Some(path) = attribute.as_str() else { return value.get_item(attribute) };
    let mut value = value.clone();
    for step in path.split('.') {
        value = match step.parse::<usize>() {
            Ok(index) => value.get_item_by_index(index)?,
            Err(_) => value.get_attr(step)?,
        };
    }
    Ok(value)
}
