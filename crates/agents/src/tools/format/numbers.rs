//! Rewrites the numbers in the arguments of calls to plain notation.

use super::read::Call;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The greatest absolute exponent that is written out in digits; that of a double is at most 324.
const MOST: i64 = 400;

/// Rewrites numbers with exponents as the grammar of calls spells them: `1e-3` becomes `0.001`. Exponents beyond
/// [`MOST`] stay.
pub(in crate::tools) fn in_plain_notation(call: &Call) -> Cow<'_, Call> {
    let text = Value::Object(call.arguments.clone()).to_string();
    let Some(plain) = text_in_plain_notation(&text) else { return Cow::Borrowed(call) };
    match serde_json::from_str::<Map<String, Value>>(&plain) {
        Ok(arguments) => Cow::Owned(Call { tool: call.tool.clone(), arguments }),
        Err(_) => Cow::Borrowed(call),
    }
}

/// Writes a JSON text with its numbers in plain notation; `None` if no number changes.
fn text_in_plain_notation(json: &str) -> Option<String> {
    let mut made = String::new();
    let (mut kept, mut at) = (0, 0);
    let bytes = json.as_bytes();
    let (mut is_in_string, mut is_escaped) = (false, false);
    while at < bytes.len() {
        match bytes[at] {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_in_string => is_escaped = true,
            b'"' => is_in_string = !is_in_string,
            b'-' | b'0'..=b'9' if !is_in_string => {
                let is_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
                let length = bytes[at..].iter().take_while(|byte| is_number(byte)).count();
                if let Some(number) = plain(&json[at..at + length]) {
                    made.push_str(&json[kept..at]);
                    made.push_str(&number);
                    kept = at + length;
                }
                at += length;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    made.push_str(&json[kept..]);
    (kept > 0).then_some(made)
}

/// Writes a number in plain notation; `None` if the number has no exponent, or an exponent beyond [`MOST`].
fn plain(number: &str) -> Option<String> {
    let (mantissa, exponent) = number.split_once(['e', 'E'])?;
    let exponent: i64 = exponent.parse().ok().filter(|exponent: &i64| exponent.abs() <= MOST)?;
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let point = whole.len() as i64 + exponent;
    let before = usize::try_from(point).unwrap_or(0).min(digits.len());
    let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or(0));
    let whole = format!("{}{}", &digits[..before], zeros(point - digits.len() as i64));
    let fraction = format!("{}{}", zeros(-point), &digits[before..]);
    let whole = whole.trim_start_matches('0');
    let fraction = fraction.trim_end_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    Some(if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_written_out() {
        for (number, expected) in [
            ("1e-09", Some("0.000000001")),
            ("8.854e-12", Some("0.000000000008854")),
            ("-1.5E3", Some("-1500")),
            ("12.34e1", Some("123.4")),
            ("12.34e-1", Some("1.234")),
            ("0e5", Some("0")),
            ("1e+2", Some("100")),
            ("1e401", None),
            ("15.0", None),
        ] {
            assert_eq!(plain(number).as_deref(), expected, "{number}");
        }
        let text = r#"{"a":[1e2,"1e2\"1e2",2],"b":-1e-2}"#;
        assert_eq!(text_in_plain_notation(text).as_deref(), Some(r#"{"a":[100,"1e2\"1e2",2],"b":-0.01}"#));
        assert_eq!(text_in_plain_notation(r#"{"a":"1e2","b":5}"#), None);
    }
}
