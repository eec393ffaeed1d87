//! The texts of values: Python's `str` and `repr`.

use minijinja::value::{Tuple, Value, ValueKind};

/// Returns Python's `str` of a value. It recurses as deep as the value is nested, which the meter bounds.
pub(crate) fn text(value: &Value) -> String {
    match as_text(value) {
        Some(text) => text.to_owned(),
        None => {
            let mut out = String::new();
            push(&mut out, value);
            out
        }
    }
}

/// Returns the characters of a text; `None` for other values. The library also takes bytes for a text.
pub(crate) fn as_text(value: &Value) -> Option<&str> {
    if value.kind() == ValueKind::String { value.as_str() } else { None }
}

/// Appends Python's `str` of a value.
pub(crate) fn push(out: &mut String, value: &Value) {
    match value.kind() {
        ValueKind::String => out.push_str(value.as_str().unwrap_or_default()),
        ValueKind::Undefined => {}
        _ => push_repr(out, value),
    }
}

/// Appends Python's `repr` of a value.
pub(crate) fn push_repr(out: &mut String, value: &Value) {
    match value.kind() {
        ValueKind::Undefined => out.push_str("Undefined"),
        ValueKind::Number => match float_of(value) {
            Some(number) => out.push_str(&float(number)),
            None => out.push_str(&value.to_string()),
        },
        ValueKind::String => push_quoted(out, value.as_str().unwrap_or_default()),
        ValueKind::Bytes => push_bytes(out, value.as_bytes().unwrap_or_default()),
        ValueKind::Seq if value.downcast_object_ref::<Tuple>().is_some() => {
            push_items(out, value, "(", if value.len() == Some(1) { ",)" } else { ")" });
        }
        ValueKind::Seq | ValueKind::Iterable => push_items(out, value, "[", "]"),
        ValueKind::Map => {
            out.push('{');
            for (at, key) in value.try_iter().into_iter().flatten().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                push_repr(out, &key);
                out.push_str(": ");
                push_repr(out, &value.get_item(&key).unwrap_or_default());
            }
            out.push('}');
        }
        _ => out.push_str(&value.to_string()),
    }
}

fn push_items(out: &mut String, value: &Value, open: &str, close: &str) {
    out.push_str(open);
    for (at, item) in value.try_iter().into_iter().flatten().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        push_repr(out, &item);
    }
    out.push_str(close);
}

fn push_quoted(out: &mut String, text: &str) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if c == quote => out.extend(['\\', quote]),
            ' '..='~' => out.push(c),
            _ if is_printable(c) => out.push(c),
            '\0'..='\u{ff}' => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            '\u{100}'..='\u{ffff}' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            _ => out.push_str(&format!("\\U{:08x}", u32::from(c))),
        }
    }
    out.push(quote);
}

/// Returns whether Python prints a character as it is: not controls, spaces other than the ordinary one, invisible
/// format characters, and characters for private use.
pub(crate) fn is_printable(c: char) -> bool {
    const FORMAT: [std::ops::RangeInclusive<char>; 12] = [
        '\u{ad}'..='\u{ad}',
        '\u{600}'..='\u{605}',
        '\u{61c}'..='\u{61c}',
        '\u{6dd}'..='\u{6dd}',
        '\u{70f}'..='\u{70f}',
        '\u{180e}'..='\u{180e}',
        '\u{200b}'..='\u{200f}',
        '\u{202a}'..='\u{202e}',
        '\u{2060}'..='\u{206f}',
        '\u{e000}'..='\u{f8ff}',
        '\u{feff}'..='\u{feff}',
        '\u{e0000}'..='\u{10ffff}',
    ];
    c == ' ' || !(c.is_control() || is_space(c) || FORMAT.iter().any(|range| range.contains(&c)))
}

fn push_bytes(out: &mut String, bytes: &[u8]) {
    let quote = if bytes.contains(&b'\'') && !bytes.contains(&b'"') { '"' } else { '\'' };
    out.push('b');
    out.push(quote);
    for &byte in bytes {
        match byte {
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            _ if char::from(byte) == quote => out.extend(['\\', quote]),
            b' '..=b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("\\x{byte:02x}")),
        }
    }
    out.push(quote);
}

/// Returns the number if a value is a floating-point number.
pub(crate) fn float_of(value: &Value) -> Option<f64> {
    if value.kind() == ValueKind::Number && !value.is_integer() {
        f64::try_from(value.clone()).ok()
    } else {
        None
    }
}

/// Returns Python's `repr` of a floating-point number: the shortest text that reads back as the number, with an
/// exponent of at least two digits below 1e-4 and from 1e16.
pub(crate) fn float(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.is_infinite() {
        return if number < 0.0 { "-inf" } else { "inf" }.to_owned();
    }
    // `Debug` has the same thresholds, but writes `1e-7` and `1e16`
    let shortest = format!("{number:?}");
    match shortest.split_once('e') {
        Some((digits, exponent)) => {
            let exponent: i32 = exponent.parse().unwrap_or_default();
            format!("{digits}e{exponent:+03}")
        }
        None => shortest,
    }
}

/// Returns whether Python's `str.strip` and `str.split` treat a character as white space.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\x1c'..='\x1f').contains(&c)
}
