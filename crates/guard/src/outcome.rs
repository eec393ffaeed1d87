//! Outcomes of tool calls, read from MCP results.

use serde_json::Value;

/// Maximum number of characters of the text of an error.
const MOST_ERROR: usize = 500;

/// The outcome of a tool call.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The data of the result: an object, another JSON value, or a text that is not JSON.
    Data(Value),
    /// The tool failed, with this text.
    Error(String),
}

impl Outcome {
    /// Creates an error with a text, trimmed and truncated to 500 characters. An empty text becomes `failed`.
    pub(crate) fn error(text: &str) -> Outcome {
        let text: String = text.trim().chars().take(MOST_ERROR).collect();
        Outcome::Error(if text.is_empty() { "failed".to_owned() } else { text })
    }

    /// Reads the outcome of an MCP tool result. The data is `structuredContent` if that is an object; otherwise the
    /// first text of `content` that is a JSON object; otherwise the first text, parsed if it is JSON; otherwise null.
    /// A result with `isError`, or with a `resultType` other than `complete`, is an error.
    pub(crate) fn of(result: &Value) -> Outcome {
        let items = result.get("content").and_then(Value::as_array);
        let mut texts = items.into_iter().flatten().filter_map(|item| item.get("text")?.as_str());
        if result.get("isError").and_then(Value::as_bool) == Some(true) {
            return Outcome::error(texts.next().unwrap_or_default());
        }
        if is_of_unknown_type(result) {
            return Outcome::error("the result is of a type that the guard does not follow");
        }
        if let Some(data) = result.get("structuredContent").filter(|data| data.is_object()) {
            return Outcome::Data(data.clone());
        }
        let mut first = None;
        for text in texts {
            let value = serde_json::from_str::<Value>(text).unwrap_or_else(|_| text.into());
            if value.is_object() {
                return Outcome::Data(value);
            }
            first.get_or_insert(value);
        }
        Outcome::Data(first.unwrap_or_default())
    }
}

/// Returns whether a result is not the final result of a call: its `resultType` is not `complete`.
pub(crate) fn is_of_unknown_type(result: &Value) -> bool {
    result.get("resultType").is_some_and(|kind| kind != "complete")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn results_are_read() {
        let text = |text: &str| json!({ "type": "text", "text": text });
        for (result, expected) in [
            (
                json!({ "structuredContent": {"a": 1}, "content": [text("x")] }),
                Outcome::Data(json!({"a": 1})),
            ),
            (json!({ "content": [text("Done."), text("{\"a\": 1}")] }), Outcome::Data(json!({"a": 1}))),
            (json!({ "content": [text("Done."), text("[1]")] }), Outcome::Data(json!("Done."))),
            (json!({ "content": [text("[1]")] }), Outcome::Data(json!([1]))),
            (json!({ "content": [{ "type": "image", "data": "" }] }), Outcome::Data(Value::Null)),
            (json!({}), Outcome::Data(Value::Null)),
            (json!({ "content": [text("no car")], "isError": true }), Outcome::Error("no car".to_owned())),
            (json!({ "content": [], "isError": true }), Outcome::Error("failed".to_owned())),
            (json!({ "structuredContent": [1], "content": 3 }), Outcome::Data(Value::Null)),
            (json!({ "resultType": "complete", "structuredContent": {} }), Outcome::Data(json!({}))),
            (
                json!({ "resultType": "input_required", "structuredContent": {} }),
                Outcome::Error("the result is of a type that the guard does not follow".to_owned()),
            ),
        ] {
            assert_eq!(Outcome::of(&result), expected, "{result}");
        }
    }
}
