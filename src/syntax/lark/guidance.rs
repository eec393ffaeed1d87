//! llguidance's options of a schema in `%json {…}`: the member `x-guidance` at the schema's root.

use crate::syntax::json_schema::{Options, Whitespace};
use serde_json::{Map, Value};

/// The member of a schema that holds the options.
const KEY: &str = "x-guidance";

/// The letters after a backslash in JSON strings.
const ESCAPES: &str = "\"\\bfnrtu";

/// An option that cannot be followed: its name and its value.
pub(super) struct Refused(pub(super) String);

/// Removes the options from a schema, and returns `options` with their settings.
///
/// # Errors
/// An option that is unknown, or has a value without a counterpart here.
pub(super) fn options(schema: &mut Value, options: &Options) -> Result<Options, Refused> {
    let mut options = options.clone();
    let Some(given) = schema.as_object_mut().and_then(|schema| schema.shift_remove(KEY)) else {
        return Ok(options);
    };
    let given = match given {
        Value::Object(given) => given,
        Value::Null => Map::new(),
        other => return Err(Refused(format!("`{KEY}`: {other}"))),
    };
    let refuse = |name: &str| Err(Refused(format!("`{name}`: {}", given.get(name).unwrap_or(&Value::Null))));
    let (mut item, mut key, mut pattern, mut is_flexible) = (",", ":", None, true);
    for (name, value) in given.iter().filter(|(_, value)| !value.is_null()) {
        match (&**name, value) {
            ("item_separator", Value::String(text)) => item = text,
            ("key_separator", Value::String(text)) => key = text,
            ("whitespace_pattern", Value::String(text)) => pattern = Some(text),
            ("whitespace_flexible", Value::Bool(flag)) => is_flexible = *flag,
            // `oneOf` is exact, no keyword is ignored, and all escapes are allowed
            ("coerce_one_of" | "lenient" | "json_allow_general_unicode_escapes", Value::Bool(_)) => {}
            ("json_allowed_escapes", Value::String(letters))
                if ESCAPES.chars().all(|letter| letters.contains(letter))
                    && letters.chars().all(|letter| ESCAPES.contains(letter)) => {}
            _ => return refuse(name),
        }
    }
    options.whitespace = match (item, key, pattern) {
        (",", ":", Some(pattern)) => Whitespace::Pattern(pattern.clone()),
        (",", ":", None) if is_flexible => options.whitespace,
        (",", ":", None) => Whitespace::Compact,
        (", ", ": ", None) if !is_flexible => Whitespace::Spaced,
        (",", ..) => return refuse("key_separator"),
        _ => return refuse("item_separator"),
    };
    Ok(options)
}
