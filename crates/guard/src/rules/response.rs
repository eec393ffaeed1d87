//! The slots of a response, read from the data of a result.

use super::Values;
use serde_json::{Map, Value};

/// Returns the values of the slots in `response`, and of `error`, from the data of a result. Other members of an object
/// are dropped. If the response has only one slot, two more forms are read: an object without this slot and without
/// `error`, whose member `result` is the value, because servers wrap single values in `result`; and data that is
/// neither an object nor null, which is itself the value.
pub(super) fn slots(response: &[String], data: Value) -> Values {
    match (response, data) {
        ([only], Value::Object(mut data)) if !data.contains_key(only) && !data.contains_key("error") => {
            data.remove("result").map(|value| (only.clone(), value)).into_iter().collect()
        }
        (_, Value::Object(data)) => {
            data.into_iter().filter(|(name, _)| name == "error" || response.contains(name)).collect()
        }
        (_, Value::Null) => Map::new(),
        ([only], data) => Map::from_iter([(only.clone(), data)]),
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn slots_are_read() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        for (response, data, expected) in [
            (names(&["a", "b"]), json!({"a": 1, "c": 2}), json!({"a": 1})),
            (names(&["a"]), json!({"a": 1, "result": 2}), json!({"a": 1})),
            (names(&["a"]), json!({"result": 2}), json!({"a": 2})),
            (names(&["a"]), json!({"c": 2}), json!({})),
            (names(&["a"]), json!("text"), json!({"a": "text"})),
            (names(&["a", "b"]), json!("text"), json!({})),
            (names(&["a"]), json!(null), json!({})),
            (names(&["a"]), json!({"error": "no"}), json!({"error": "no"})),
            (names(&[]), json!({"a": 1}), json!({})),
        ] {
            assert_eq!(Value::Object(slots(&response, data.clone())), expected, "{response:?} {data}");
        }
    }
}
