//! Reads outcomes of calls from their results, and log lines of steps.

use crate::outcome::Outcome;
use crate::rules::Values;
use serde_json::Value;

/// Returns the name of the outcome in the data of a result. The name is the member `outcome`; without it, the member
/// `result`; without both, the whole data. Booleans and numbers are compared as JSON text. `None` if the name is not
/// one of `names`.
pub(super) fn outcome<'n>(data: &Value, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let said = data.get("outcome").or_else(|| data.get("result")).unwrap_or(data);
    let text = match said {
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) => said.to_string(),
        _ => return None,
    };
    names.into_iter().find(|name| *name == text)
}

/// The reason why a call without a result in a log has failed.
pub(super) const INTERRUPTED: &str = "the session ended before the result";

/// Returns the data for the log of a result that counts as failed: the member `error` with the text.
pub(super) fn failure(text: &str) -> Values {
    Values::from_iter([("error".to_owned(), text.into())])
}

/// Returns the data of an outcome for the log: an object as it is, and any other value as the member `result`.
pub(super) fn logged(outcome: Outcome) -> Values {
    match outcome {
        Outcome::Error(text) => failure(&text),
        Outcome::Data(Value::Object(data)) => data,
        Outcome::Data(Value::Null) => Values::new(),
        Outcome::Data(data) => Values::from_iter([("result".to_owned(), data)]),
    }
}

/// Returns the log line of an event: the member `step` of the data of the event. `None` for an event without this
/// member.
pub(super) fn step_line(event: &Value) -> Option<String> {
    event.get(1)?.get("step")?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn outcomes_are_read() {
        for (data, expected) in [
            (json!({"outcome": "yes"}), Some("yes")),
            (json!({"outcome": true, "x": "yes"}), Some("true")),
            (json!({"result": "yes"}), Some("yes")),
            (json!("yes"), Some("yes")),
            (json!(true), Some("true")),
            (json!({"outcome": "no"}), None),
            (json!({"x": "yes"}), None),
            (json!(null), None),
        ] {
            assert_eq!(outcome(&data, ["yes", "true"]), expected, "{data}");
        }
    }
}
