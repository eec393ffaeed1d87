//! The tools of a request: which members they may have, and what the masks enforce of them.

use crate::errors::ApiError;
use crate::request::{Order, only_members};
use serde_json::{Map, Value, json};

/// Checks the tools of a chat completion. Members that are null are left out.
///
/// # Errors
/// A tool has a kind or a member that is not supported; the error names its place.
pub(crate) fn of_chat(tools: Vec<Value>) -> Result<Vec<Value>, ApiError> {
    let check = |(index, tool): (usize, Value)| {
        let at = format!("tools.{index}");
        let mut tool = object(tool, &at)?;
        let kind = match tool.remove("type") {
            // clients may omit it
            None => if tool.contains_key("custom") { "custom" } else { "function" }.to_owned(),
            Some(kind) => kind_of(&kind, &at)?,
        };
        let inside = format!("{at}.{kind}");
        let Some(members) = tool.remove(&kind) else {
            return Err(ApiError::invalid(&inside, format!("`{inside}` is missing")));
        };
        only_members(&tool, &[], &at)?;
        let members = members_of(object(members, &inside)?, &kind, &inside)?;
        Ok(json!({ "type": kind, kind: members }))
    };
    tools.into_iter().enumerate().map(check).collect()
}

/// Checks the tools of a response, which are flat, and turns them into those of a chat completion.
///
/// # Errors
/// A tool has a kind or a member that is not supported; the error names its place.
pub(crate) fn of_responses(tools: Vec<Value>) -> Result<Vec<Value>, ApiError> {
    let turn = |(index, tool): (usize, Value)| {
        let at = format!("tools.{index}");
        let mut tool = object(tool, &at)?;
        let kind = kind_of(&tool.remove("type").unwrap_or_default(), &at)?;
        let mut tool = members_of(tool, &kind, &at)?;
        if let Some(Value::Object(format)) = tool.get_mut("format")
            && format.get("type") == Some(&json!("grammar"))
        {
            let mut grammar = std::mem::take(format);
            grammar.remove("type");
            *format = Map::from_iter([
                ("type".to_owned(), json!("grammar")),
                ("grammar".to_owned(), Value::Object(grammar)),
            ]);
        }
        Ok(json!({ "type": kind, kind: tool }))
    };
    tools.into_iter().enumerate().map(turn).collect()
}

fn object(value: Value, at: &str) -> Result<Map<String, Value>, ApiError> {
    match value {
        Value::Object(mut members) => {
            members.retain(|_, value| !value.is_null());
            Ok(members)
        }
        _ => Err(ApiError::invalid(at, format!("`{at}` must be an object"))),
    }
}

fn kind_of(kind: &Value, at: &str) -> Result<String, ApiError> {
    match kind.as_str() {
        Some(kind @ ("function" | "custom")) => Ok(kind.to_owned()),
        kind => {
            let (at, kind) = (format!("{at}.type"), kind.unwrap_or("missing"));
            let message = format!("`{at}` is `{kind}`; this server supports `function` and `custom`");
            Err(ApiError::unsupported(&at, message))
        }
    }
}

fn members_of(members: Map<String, Value>, kind: &str, at: &str) -> Result<Map<String, Value>, ApiError> {
    match kind {
        "function" => only_members(&members, &["name", "description", "parameters", "strict"], at)?,
        _ => only_members(&members, &["name", "description", "format"], at)?,
    }
    Ok(members)
}

/// The tools as masks enforce them. Arguments are objects: a function without `parameters` has none, as the protocol has
/// it, and one that is not strict has any members.
pub(crate) fn for_masks(tools: &[Value]) -> Value {
    let arguments = |tool: &Value| {
        let mut tool = tool.clone();
        if let Some(function) = tool.get_mut("function").and_then(Value::as_object_mut) {
            if function.remove("strict") == Some(Value::Bool(false)) {
                function.insert("parameters".to_owned(), json!({ "type": "object" }));
            }
            let none = || json!({ "type": "object", "properties": {}, "additionalProperties": false });
            function.entry("parameters").or_insert_with(none);
        }
        tool
    };
    tools.iter().map(arguments).collect()
}

/// Checks that calls are not asked for without tools.
pub(crate) fn check_choice(order: &Order) -> Result<(), ApiError> {
    let may_be_ignored =
        order.tool_choice.is_null() || order.tool_choice == "auto" || order.tool_choice == "none";
    if order.tools.is_empty() && !may_be_ignored {
        let message = "`tool_choice` asks for a call, and there are no `tools`";
        return Err(ApiError::invalid("tool_choice", message));
    }
    Ok(())
}
