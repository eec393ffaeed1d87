//! The items of responses: those of the input become messages, and an output becomes items.

use crate::answer::{Change, Ending};
use crate::errors::ApiError;
use crate::{ids, messages};
use serde_json::{Map, Value, json};

/// An event of a stream: its type and its other members.
pub(crate) type Event = (&'static str, Value);

/// Turns the input of a response into messages for chat templates.
pub(crate) fn messages(input: Value, instructions: Option<String>) -> Result<Vec<Value>, ApiError> {
    let mut made: Vec<Value> = Vec::new();
    made.extend(instructions.map(|text| json!({ "role": "system", "content": text })));
    let items = match input {
        Value::String(text) => vec![json!({ "role": "user", "content": text })],
        Value::Array(items) => items,
        _ => return Err(ApiError::invalid("input", "`input` must be a text or a list of items")),
    };
    if items.is_empty() {
        return Err(ApiError::invalid("input", "`input` is empty; it must have an item"));
    }
    for (index, item) in items.into_iter().enumerate() {
        let at = format!("input.{index}");
        let Value::Object(mut item) = item else {
            return Err(ApiError::invalid(&at, format!("`{at}` must be an object")));
        };
        let kind = item.get("type").and_then(Value::as_str).unwrap_or("message").to_owned();
        match &*kind {
            "message" => {
                // what a client repeats of an earlier answer
                ["type", "id", "status", "phase"].iter().for_each(|name| drop(item.remove(*name)));
                made.push(Value::Object(item));
            }
            "function_call" | "custom_tool_call" => {
                let (name, id) = (item.remove("name"), item.remove("call_id"));
                let arguments = match &*kind {
                    "function_call" => item.remove("arguments"),
                    _ => item.remove("input").map(|input| json!({ "input": input })),
                };
                let call = json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } });
                // the calls of one turn are in one message
                match made
                    .last_mut()
                    .and_then(|last| last.get_mut("tool_calls"))
                    .and_then(Value::as_array_mut)
                {
                    Some(calls) => calls.push(call),
                    None => made.push(json!({ "role": "assistant", "content": null, "tool_calls": [call] })),
                }
            }
            "function_call_output" | "custom_tool_call_output" => {
                let output = match item.remove("output") {
                    Some(text @ Value::String(_)) => text,
                    Some(parts @ Value::Array(_)) => {
                        Value::from(messages::text(parts, &format!("{at}.output"))?)
                    }
                    _ => {
                        let at = format!("{at}.output");
                        return Err(ApiError::invalid(
                            &at,
                            format!("`{at}` must be a text or a list of parts"),
                        ));
                    }
                };
                made.push(
                    json!({ "role": "tool", "content": output, "tool_call_id": item.remove("call_id") }),
                );
            }
            // what a model thought earlier is not shown to it again
            "reasoning" => {}
            _ => {
                let at = format!("{at}.type");
                return Err(ApiError::unsupported(
                    &at,
                    format!("`{at}` is `{kind}`, which this server does not support"),
                ));
            }
        }
    }
    messages::of_chat(made).map_err(|error| error.within("input"))
}

/// Turns the choice of a tool, which is flat, into that of a chat completion.
pub(crate) fn choice(choice: Value) -> Value {
    let kind = choice.get("type").and_then(Value::as_str);
    let name = choice.get("name").cloned();
    match (kind, name) {
        (Some(kind @ ("function" | "custom")), Some(name)) => json!({ "type": kind, kind: { "name": name } }),
        (Some("allowed_tools"), _) => {
            let nested = |tool: &Value| self::choice(tool.clone());
            let tools: Vec<Value> = choice["tools"].as_array().into_iter().flatten().map(nested).collect();
            json!({ "type": "allowed_tools", "allowed_tools": { "mode": choice["mode"], "tools": tools } })
        }
        _ => choice,
    }
}

/// The items of an output, as they come.
#[derive(Debug, Default)]
pub(crate) struct List {
    items: Vec<Value>,
    is_open: bool,
}

const REASONING: &str = "reasoning";
const MESSAGE: &str = "message";
const CALL: &str = "function_call";
const CUSTOM: &str = "custom_tool_call";

impl List {
    pub(crate) fn items(&self) -> &[Value] {
        &self.items
    }

    /// Takes a change of the answer. Returns the events that say so.
    pub(crate) fn apply(&mut self, change: Change) -> Vec<Event> {
        let mut events = Vec::new();
        match change {
            Change::Reasoning(text) => {
                let begin = || json!({ "type": REASONING, "summary": [], "content": [{ "type": "reasoning_text", "text": "" }] });
                self.open(REASONING, "rs_", begin, &mut events);
                self.append("/content/0/text", &text);
                events.push(
                    self.event("response.reasoning_text.delta", json!({ "content_index": 0, "delta": text })),
                );
            }
            Change::Text(text) => {
                let part = || json!({ "type": "output_text", "text": "", "annotations": [], "logprobs": [] });
                let begin = || json!({ "type": MESSAGE, "role": "assistant", "content": [] });
                if self.open(MESSAGE, "msg_", begin, &mut events) {
                    self.last(|item| item["content"] = json!([part()]));
                    events.push(
                        self.event(
                            "response.content_part.added",
                            json!({ "content_index": 0, "part": part() }),
                        ),
                    );
                }
                self.append("/content/0/text", &text);
                let event = json!({ "content_index": 0, "delta": text, "logprobs": [] });
                events.push(self.event("response.output_text.delta", event));
            }
            Change::Call { id, name, is_custom, .. } => {
                self.close("completed", &mut events);
                let (kind, prefix, text) =
                    if is_custom { (CUSTOM, "ctc_", "input") } else { (CALL, "fc_", "arguments") };
                let begin = || json!({ "type": kind, "call_id": id, "name": name, text: "" });
                self.open(kind, prefix, begin, &mut events);
            }
            Change::Input { text, .. } => {
                self.append("/input", &text);
                events.push(self.event("response.custom_tool_call_input.delta", json!({ "delta": text })));
            }
            Change::Arguments { text, .. } => {
                self.append("/arguments", &text);
                events.push(self.event("response.function_call_arguments.delta", json!({ "delta": text })));
            }
            Change::CallEnd => self.close("completed", &mut events),
        }
        events
    }

    /// Ends the list. Returns the last events.
    pub(crate) fn end(&mut self, ending: Ending) -> Vec<Event> {
        let mut events = Vec::new();
        let status = if ending.is_complete() { "completed" } else { "incomplete" };
        self.close(status, &mut events);
        events
    }

    /// Begins an item, unless one of its kind is open. Returns whether it began.
    fn open(&mut self, kind: &str, prefix: &str, begin: impl Fn() -> Value, events: &mut Vec<Event>) -> bool {
        if self.is_open && self.items.last().is_some_and(|item| item["type"] == kind) {
            return false;
        }
        self.close("completed", events);
        let mut item = begin();
        item["id"] = Value::from(ids::new(prefix));
        item["status"] = Value::from("in_progress");
        self.items.push(item.clone());
        self.is_open = true;
        events.push((
            "response.output_item.added",
            json!({ "output_index": self.items.len() - 1, "item": item }),
        ));
        true
    }

    fn close(&mut self, status: &str, events: &mut Vec<Event>) {
        if !std::mem::take(&mut self.is_open) {
            return;
        }
        self.last(|item| item["status"] = Value::from(status));
        let Some(item) = self.items.last().cloned() else { return };
        match item["type"].as_str() {
            Some(MESSAGE) => {
                let part = &item["content"][0];
                let event = json!({ "content_index": 0, "text": part["text"], "logprobs": [] });
                events.push(self.event("response.output_text.done", event));
                events.push(
                    self.event("response.content_part.done", json!({ "content_index": 0, "part": part })),
                );
            }
            Some(REASONING) => {
                let event = json!({ "content_index": 0, "text": item["content"][0]["text"] });
                events.push(self.event("response.reasoning_text.done", event));
            }
            Some(CUSTOM) => {
                let event = json!({ "input": item["input"] });
                events.push(self.event("response.custom_tool_call_input.done", event));
            }
            _ => {
                let event = json!({ "arguments": item["arguments"], "name": item["name"] });
                events.push(self.event("response.function_call_arguments.done", event));
            }
        }
        let index = self.items.len() - 1;
        events.push(("response.output_item.done", json!({ "output_index": index, "item": item })));
    }

    fn last(&mut self, change: impl FnOnce(&mut Value)) {
        if let Some(item) = self.items.last_mut() {
            change(item);
        }
    }

    fn append(&mut self, pointer: &str, text: &str) {
        self.last(|item| {
            if let Some(Value::String(so_far)) = item.pointer_mut(pointer) {
                so_far.push_str(text);
            }
        });
    }

    /// An event about the latest item.
    fn event(&self, name: &'static str, members: Value) -> Event {
        let mut event = Map::new();
        event.insert("output_index".to_owned(), Value::from(self.items.len().saturating_sub(1)));
        event.insert("item_id".to_owned(), self.items.last().map_or(Value::Null, |item| item["id"].clone()));
        event.extend(members.as_object().cloned().unwrap_or_default());
        (name, Value::Object(event))
    }
}
