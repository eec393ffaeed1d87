//! The environment that Hugging Face's `apply_chat_template` gives to chat templates.

mod strftime;

use crate::Dialect;
use minijinja::value::Value;
use minijinja::{Error, ErrorKind};
use std::time::SystemTime;

/// Returns the dialect of chat templates: blocks trimmed, undefined names empty, and the functions `raise_exception`,
/// which fails with its argument as the message, and `strftime_now`, which formats `now` in UTC, or the time of the
/// call if `now` is `None`. Times before 1970 are formatted as the start of 1970.
pub fn dialect(now: Option<SystemTime>) -> Dialect {
    let raise =
        |message: String| -> Result<Value, Error> { Err(Error::new(ErrorKind::InvalidOperation, message)) };
    let tell = move |format: &str| {
        let now = now.unwrap_or_else(SystemTime::now);
        strftime::strftime(format, now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs()))
    };
    let functions =
        vec![("raise_exception", Value::from_function(raise)), ("strftime_now", Value::from_function(tell))];
    Dialect { trim_blocks: true, strict: false, put: None, functions }
}

/// Converts JSON to a template value, numbers as Python's `json.loads` reads them: a number without point and exponent
/// is an integer, a float that is too large is infinite. An integer of more than 128 bits becomes its text. The
/// conversion does not use serde, because numbers of `serde_json` with arbitrary precision serialise as objects. It
/// recurses as deep as the JSON is nested; `serde_json` parses fewer than 128 levels.
pub fn from_json(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::from(()),
        serde_json::Value::Bool(b) => Value::from(*b),
        serde_json::Value::Number(n) => number(&n.to_string()),
        serde_json::Value::String(s) => Value::from(s.as_str()),
        serde_json::Value::Array(items) => items.iter().map(from_json).collect(),
        serde_json::Value::Object(map) => {
            Value::from_pairs(map.iter().map(|(k, v)| (k.as_str(), from_json(v))))
        }
    }
}

fn number(text: &str) -> Value {
    if text.contains(['.', 'e', 'E']) {
        // a text that JSON allows is a float
        return text.parse::<f64>().map_or_else(|_| Value::from(text), Value::from);
    }
    match (text.parse::<i64>(), text.parse::<u64>(), text.parse::<i128>()) {
        (Ok(n), ..) => Value::from(n),
        (_, Ok(n), _) => Value::from(n),
        (.., Ok(n)) => Value::from(n),
        _ => Value::from(text),
    }
}
