//! The messages of a conversation, in the form that chat templates read.

use crate::errors::ApiError;
use crate::request::only_members;
use serde_json::{Map, Value, json};

const ROLES: [&str; 5] = ["system", "developer", "user", "assistant", "tool"];

/// Checks the messages of a chat completion, and rewrites them for chat templates: texts in parts are joined, and the
/// arguments of calls become JSON.
///
/// # Errors
/// A message has a form or a part that is not supported; the error names its place.
pub(crate) fn of_chat(messages: Vec<Value>) -> Result<Vec<Value>, ApiError> {
    if messages.is_empty() {
        return Err(ApiError::invalid("messages", "`messages` is empty; it must have a message"));
    }
    messages
        .into_iter()
        .enumerate()
        .map(|(index, message)| one(message, &format!("messages.{index}")))
        .collect()
}

fn one(message: Value, at: &str) -> Result<Value, ApiError> {
    let Value::Object(mut message) = message else {
        return Err(ApiError::invalid(
            at,
            format!("`{at}` is no object; a message has a `role` and a `content`"),
        ));
    };
    // clients send back answers with all their members
    message.retain(|_, value| !value.is_null() && !value.as_array().is_some_and(Vec::is_empty));
    let role = message.get("role").and_then(Value::as_str).unwrap_or_default().to_owned();
    if !ROLES.contains(&&*role) {
        let at = format!("{at}.role");
        return Err(ApiError::invalid(&at, format!("`{at}` must be one of {}", ROLES.join(", "))));
    }
    const MEMBERS: [&str; 8] = [
        "role",
        "content",
        "name",
        "tool_calls",
        "tool_call_id",
        "refusal",
        "reasoning_content",
        "reasoning",
    ];
    only_members(&message, &MEMBERS, at)?;
    let refusal = message.remove("refusal");
    let content = match message.remove("content").or(refusal) {
        None => None,
        Some(content) => Some(text(content, &format!("{at}.content"))?),
    };
    let calls = match message.remove("tool_calls") {
        None => Vec::new(),
        Some(Value::Array(calls)) => calls,
        Some(_) => {
            let at = format!("{at}.tool_calls");
            return Err(ApiError::invalid(&at, format!("`{at}` must be a list of calls")));
        }
    };
    if content.is_none() && calls.is_empty() {
        let at = format!("{at}.content");
        return Err(ApiError::invalid(&at, format!("`{at}` is missing")));
    }
    let calls = calls.into_iter().enumerate();
    let calls: Vec<Value> = calls
        .map(|(index, call)| read_call(call, &format!("{at}.tool_calls.{index}")))
        .collect::<Result<_, _>>()?;
    // templates know the role by its older name
    let role = if role == "developer" { "system" } else { &*role };
    let mut made = Map::from_iter([
        ("role".to_owned(), json!(role)),
        ("content".to_owned(), json!(content.unwrap_or_default())),
    ]);
    if !calls.is_empty() {
        made.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    message.remove("role");
    made.extend(message);
    Ok(Value::Object(made))
}

/// Joins a content that is a text, or a list of parts that are texts.
pub(crate) fn text(content: Value, at: &str) -> Result<String, ApiError> {
    let parts = match content {
        Value::String(text) => return Ok(text),
        Value::Array(parts) => parts,
        _ => return Err(ApiError::invalid(at, format!("`{at}` must be a text or a list of parts"))),
    };
    let mut joined = String::new();
    for (index, part) in parts.iter().enumerate() {
        let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
        let text = match kind {
            "text" | "input_text" | "output_text" => part.get("text"),
            "refusal" => part.get("refusal"),
            _ => {
                let at = format!("{at}.{index}.type");
                let message = format!("`{at}` is `{kind}`; this server reads parts of the type `text` only");
                return Err(ApiError::unsupported(&at, message));
            }
        };
        match text.and_then(Value::as_str) {
            Some(text) => joined.push_str(text),
            None => {
                let at = format!("{at}.{index}.text");
                return Err(ApiError::invalid(&at, format!("`{at}` must be a text")));
            }
        }
    }
    Ok(joined)
}

/// A call in a message of the model, with its arguments as JSON.
fn read_call(mut call: Value, at: &str) -> Result<Value, ApiError> {
    if let Some(custom) = call.get("custom") {
        let (name, input) = (custom["name"].clone(), custom["input"].clone());
        return Ok(json!({
            "id": call["id"], "type": "function",
            "function": { "name": name, "arguments": { "input": input } },
        }));
    }
    let arguments = call.get_mut("function").and_then(|function| function.get_mut("arguments"));
    let Some(arguments) = arguments else {
        let at = format!("{at}.function.arguments");
        return Err(ApiError::invalid(&at, format!("`{at}` is missing")));
    };
    if let Value::String(text) = arguments
        && let Ok(value) = serde_json::from_str::<Value>(text)
    {
        *arguments = value;
    }
    Ok(call)
}
