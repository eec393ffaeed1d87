//! Names of members that readers could confuse.
//!
//! Some readers of JSON ignore the case of names, and take the last of several members. What the guard passes on must
//! mean the same to them as to the guard.

use serde_json::{Map, Value};
use std::collections::HashMap;

/// Returns a name without what readers may ignore: case, also of letters that have a common capital letter such as
/// U+017F and `s`, and blanks and control characters.
pub(crate) fn fold(name: &str) -> String {
    let kept = name.chars().filter(|letter| !letter.is_whitespace() && !letter.is_control());
    kept.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// Returns the name of `known` that equals `name` but for what [`fold`] removes; `None` if there is none, or if `name`
/// itself is known.
pub(crate) fn confused<'k>(name: &str, known: impl IntoIterator<Item = &'k str> + Clone) -> Option<&'k str> {
    if known.clone().into_iter().any(|known| known == name) {
        return None;
    }
    let folded = fold(name);
    known.into_iter().find(|known| fold(known) == folded)
}

/// Returns the names of two members of one object, at any depth, that a reader could confuse; `None` if there are none.
/// Recurses as deep as the values are nested, which the JSON reader limits.
pub(crate) fn ambiguous(members: &Map<String, Value>) -> Option<(&str, &str)> {
    fn within(value: &Value) -> Option<(&str, &str)> {
        match value {
            Value::Array(items) => items.iter().find_map(within),
            Value::Object(members) => ambiguous(members),
            _ => None,
        }
    }
    let mut seen = HashMap::with_capacity(members.len());
    let twice =
        members.keys().find_map(|name| Some((seen.insert(fold(name), name.as_str())?, name.as_str())));
    twice.or_else(|| members.values().find_map(within))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_that_readers_confuse_are_found() {
        let known = ["pickup", "kind", "STRASSE"];
        for (name, expected) in [
            ("pickup", None),
            ("Pickup", Some("pickup")),
            ("PICKUP", Some("pickup")),
            ("pick up", Some("pickup")),
            ("pickup\u{0}", Some("pickup")),
            ("\u{212a}ind", Some("kind")),
            ("stra\u{df}e", Some("STRASSE")),
            ("pickups", None),
        ] {
            assert_eq!(confused(name, known), expected, "{name}");
        }
    }

    #[test]
    fn ambiguous_members_are_found_at_any_depth() {
        for (value, expected) in [
            (json!({"a": 1, "b": {"A": 1}}), None),
            (json!({"a": 1, "A": 2}), Some(("a", "A"))),
            (json!({"b": [[{"is": 1, "i\u{17f}": 2}]]}), Some(("is", "i\u{17f}"))),
            (json!({"a": [1, "a", null]}), None),
        ] {
            assert_eq!(ambiguous(value.as_object().unwrap()), expected, "{value}");
        }
    }
}
