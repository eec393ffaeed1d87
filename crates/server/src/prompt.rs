//! The prompt of an order: its messages and tools, as the model's chat template writes them.

use crate::app::App;
use crate::errors::ApiError;
use crate::reasoning;
use crate::request::Order;
use grammata_agents::tools::ReasoningMode;
use serde_json::{Value, json};

/// Returns the tokens of the prompt.
pub(crate) fn tokens(app: &App, order: &Order) -> Result<Vec<u32>, ApiError> {
    let Some(template) = &app.template else {
        let text = without_template(&order.messages);
        return encode(app, &text, true);
    };
    let reads = |name: &str| template.source().contains(name);
    let mut messages = order.messages.clone();
    if !reads("tool_calls") {
        messages.iter_mut().for_each(write_calls);
    }
    let mut template = template.clone();
    if !order.tools.is_empty() && order.tool_choice != json!("none") {
        match reads("tools") {
            true => template = template.with_variable("tools", order.tools.iter().map(as_function).collect()),
            // a template that knows no tools: the model learns of them from a message
            false => messages.insert(0, json!({ "role": "system", "content": introduction(&order.tools) })),
        }
    }
    if !order.tools.is_empty() || matches!(messages.first(), Some(first) if first["role"] == "system") {
        merge_system(&mut messages);
    }
    let effort = order.reasoning.effort.as_deref();
    // as the grammar of the output has it
    let is_thinking = match &app.family {
        Some(family) => {
            let mode = reasoning::mode(order, family)?;
            let is_told = mode == ReasoningMode::Disabled || order.reasoning.is_on.is_some();
            is_told.then_some(mode != ReasoningMode::Disabled)
        }
        None if effort.is_some() && !reads("reasoning_effort") && !reads("enable_thinking") => {
            let place = order.reasoning.place;
            let message = format!("`{place}`: this model's chat template knows no reasoning; leave it out");
            return Err(ApiError::unsupported(place, message));
        }
        None => effort.map(|effort| effort != "none"),
    };
    if let Some(is_thinking) = is_thinking {
        template = template.with_variable("enable_thinking", json!(is_thinking));
    }
    if let Some(effort) = effort.filter(|effort| *effort != "none") {
        template = template.with_variable("reasoning_effort", json!(effort));
    }
    for (name, value) in order.settings.chat_template_kwargs.iter().flatten() {
        if name == "messages" || name == "tools" {
            let at = format!("chat_template_kwargs.{name}");
            return Err(ApiError::invalid(&at, format!("`{at}` would replace `{name}`; leave it out")));
        }
        template = template.with_variable(name, value.clone());
    }
    let rendered = template.with_variable("messages", Value::Array(messages)).render(&[], true);
    let text = rendered.map_err(|error| ApiError::of(&error, "messages"))?;
    encode(app, &text, false)
}

fn encode(app: &App, text: &str, add_special_tokens: bool) -> Result<Vec<u32>, ApiError> {
    let encoded = app.tokenizer.encode(text, add_special_tokens);
    encoded.map_err(|error| ApiError::of(&error, "messages"))
}

/// The texts of the messages, one after the other, for models without a chat template.
fn without_template(messages: &[Value]) -> String {
    let texts: Vec<&str> = messages.iter().filter_map(|message| message["content"].as_str()).collect();
    texts.join("\n")
}

/// Joins the system messages at the beginning, since many templates accept only one.
fn merge_system(messages: &mut Vec<Value>) {
    let count = messages.iter().take_while(|message| message["role"] == "system").count();
    if count < 2 {
        return;
    }
    let texts: Vec<String> =
        messages.drain(..count).filter_map(|message| Some(message["content"].as_str()?.to_owned())).collect();
    messages.insert(0, json!({ "role": "system", "content": texts.join("\n\n") }));
}

/// Writes the calls of a message into its text.
fn write_calls(message: &mut Value) {
    let Some(calls) = message.as_object_mut().and_then(|message| message.remove("tool_calls")) else {
        return;
    };
    let calls = calls.as_array().into_iter().flatten();
    let lines: Vec<String> = calls.map(|call| call["function"].to_string()).collect();
    let text = message["content"].as_str().unwrap_or_default();
    let lines = lines.join("\n");
    message["content"] = Value::from(if text.is_empty() { lines } else { format!("{text}\n{lines}") });
}

/// Describes a custom tool as the function that a model calls in its place: one argument `input`, a text.
fn as_function(tool: &Value) -> Value {
    if tool["type"] != "custom" {
        return tool.clone();
    }
    let custom = &tool["custom"];
    let grammar = custom["format"].get("grammar").unwrap_or(&custom["format"]);
    let mut input = json!({ "type": "string" });
    if let (Some(syntax), Some(definition)) = (grammar["syntax"].as_str(), grammar["definition"].as_str()) {
        input["description"] = Value::from(format!("A text by this grammar ({syntax}): {definition}"));
    }
    json!({ "type": "function", "function": {
        "name": custom["name"],
        "description": custom["description"],
        "parameters": { "type": "object", "properties": { "input": input }, "required": ["input"] },
    } })
}

/// Tells a model of tools whose chat template does not.
fn introduction(tools: &[Value]) -> String {
    let mut text = "You can call these functions:".to_owned();
    for tool in tools {
        text.push('\n');
        text.push_str(&as_function(tool)["function"].to_string());
    }
    text
}
