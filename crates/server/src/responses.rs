//! `/v1/responses`, without state: each request has the whole conversation.

use crate::answer::{Change, Collector, Ending, failure};
use crate::app::{App, Prepared};
use crate::body::{self, Response};
use crate::engine::Output;
use crate::errors::ApiError;
use crate::format;
use crate::request::{self, Format, Order, only};
use crate::stream::{Events, Gone};
use crate::{ids, items};
use grammata_decode::Generation;
use hyper::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedReceiver;

const MEMBERS: &[&str] = &[
    "model",
    "input",
    "instructions",
    "text",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "stream",
    "stream_options",
    "max_output_tokens",
    "reasoning",
    "store",
    "previous_response_id",
    "conversation",
    "background",
    "include",
    "truncation",
    "service_tier",
];

#[derive(Debug, Deserialize)]
struct ResponsesRequest {
    model: String,
    input: Value,
    instructions: Option<String>,
    text: Option<TextOptions>,
    tools: Option<Vec<Value>>,
    tool_choice: Option<Value>,
    parallel_tool_calls: Option<bool>,
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
    max_output_tokens: Option<usize>,
    reasoning: Option<ReasoningOptions>,
    store: Option<Value>,
    previous_response_id: Option<Value>,
    conversation: Option<Value>,
    background: Option<Value>,
    include: Option<Value>,
    truncation: Option<Value>,
    service_tier: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TextOptions {
    format: Option<Value>,
    verbosity: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StreamOptions {
    include_obfuscation: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReasoningOptions {
    effort: Option<String>,
    summary: Option<Value>,
}

impl ResponsesRequest {
    fn order(self, settings: request::Settings) -> Result<(Order, Value), ApiError> {
        // a server without state: what would need a stored answer is refused
        only("store", self.store.as_ref(), &[json!(false), Value::Null])?;
        only("previous_response_id", self.previous_response_id.as_ref(), &[Value::Null])?;
        only("conversation", self.conversation.as_ref(), &[Value::Null])?;
        only("background", self.background.as_ref(), &[json!(false), Value::Null])?;
        only("include", self.include.as_ref(), &[json!([]), Value::Null])?;
        only("truncation", self.truncation.as_ref(), &[json!("disabled"), Value::Null])?;
        only("service_tier", self.service_tier.as_ref(), &[json!("auto"), json!("default"), Value::Null])?;
        let obfuscation =
            self.stream_options.and_then(|options| options.include_obfuscation).map(Value::from);
        only("stream_options.include_obfuscation", obfuscation.as_ref(), &[json!(false)])?;
        let (mut form, mut echoed) = (Format::Text, json!({ "type": "text" }));
        if let Some(text) = self.text {
            only("text.verbosity", text.verbosity.as_ref(), &[json!("medium"), Value::Null])?;
            if let Some(wanted) = text.format {
                echoed = wanted.clone();
                form = format::of_responses(wanted)?;
            }
        }
        let reasoning = self.reasoning;
        let summary = reasoning.as_ref().and_then(|reasoning| reasoning.summary.as_ref());
        only("reasoning.summary", summary, &[Value::Null])?;
        let order = Order {
            messages: items::messages(self.input, self.instructions)?,
            tools: items::tools(self.tools.unwrap_or_default())?,
            tool_choice: items::choice(self.tool_choice.unwrap_or_default()),
            parallel_tool_calls: self.parallel_tool_calls.unwrap_or(true),
            format: form,
            settings,
            max_tokens: self.max_output_tokens,
            max_tokens_name: "max_output_tokens",
            outputs: 1,
            log_probabilities: false,
            alternatives: 0,
            reasoning_effort: reasoning.and_then(|reasoning| reasoning.effort),
        };
        Ok((order, echoed))
    }
}

/// Answers a request for a response.
pub(crate) async fn answer(app: Arc<App>, body: &[u8]) -> Result<Response, ApiError> {
    let members: Value = serde_json::from_slice(body).unwrap_or_default();
    let (request, settings): (ResponsesRequest, _) = request::read(body, MEMBERS)?;
    app.check_model(&request.model)?;
    let is_stream = request.stream.unwrap_or(false);
    let (order, format) = request.order(settings)?;
    let places = app.engine.reserve(1).ok_or_else(ApiError::busy)?;
    let prepared = app.prepare(order).await?;
    let mut outputs = app.submit(&prepared, places, 1)?;
    let outputs = outputs.pop().ok_or_else(ApiError::ended)?;
    let head = Head { id: ids::new("resp_"), created: ids::now(), model: app.name.clone(), format, members };
    match is_stream {
        true => streamed(head, prepared, outputs).await,
        false => whole(&head, &prepared, outputs).await,
    }
}

/// What the answer and its events repeat of the request.
#[derive(Debug)]
struct Head {
    id: String,
    created: u64,
    model: String,
    format: Value,
    members: Value,
}

impl Head {
    fn value(&self, status: &str, output: &[Value], usage: Value) -> Value {
        let member = |name: &str, other: Value| match &self.members[name] {
            Value::Null => other,
            value => value.clone(),
        };
        json!({
            "id": self.id,
            "object": "response",
            "created_at": self.created,
            "status": status,
            "background": false,
            "error": null,
            "incomplete_details": null,
            "instructions": self.members["instructions"],
            "max_output_tokens": self.members["max_output_tokens"],
            "metadata": member("metadata", json!({})),
            "model": self.model,
            "output": output,
            "parallel_tool_calls": member("parallel_tool_calls", json!(true)),
            "previous_response_id": null,
            "reasoning": { "effort": self.members["reasoning"]["effort"], "summary": null },
            "safety_identifier": self.members["safety_identifier"],
            "service_tier": "default",
            "store": false,
            "temperature": member("temperature", json!(1.0)),
            "text": { "format": self.format, "verbosity": "medium" },
            "tool_choice": member("tool_choice", json!("auto")),
            "tools": member("tools", json!([])),
            "top_p": member("top_p", json!(1.0)),
            "truncation": "disabled",
            "usage": usage,
            "user": self.members["user"],
        })
    }

    /// The value of a response that has ended.
    fn ended(&self, prepared: &Prepared, output: &[Value], generation: &Generation, ending: Ending) -> Value {
        let usage = usage(prepared.prompt.len(), generation.tokens.len());
        let mut value = match ending {
            Ending::Length => {
                let mut value = self.value("incomplete", output, usage);
                value["incomplete_details"] = json!({ "reason": "max_output_tokens" });
                value
            }
            Ending::Stop | Ending::Calls => self.value("completed", output, usage),
        };
        if !prepared.warnings.is_empty() {
            value["warnings"] = Value::Array(prepared.warnings.clone());
        }
        value
    }
}

fn usage(input: usize, output: usize) -> Value {
    json!({
        "input_tokens": input,
        "input_tokens_details": { "cached_tokens": 0, "cache_write_tokens": 0 },
        "output_tokens": output,
        "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": input + output,
    })
}

async fn whole(
    head: &Head,
    prepared: &Prepared,
    mut outputs: UnboundedReceiver<Output>,
) -> Result<Response, ApiError> {
    let mut list = items::List::default();
    let mut collector = Collector::new(prepared.reader.clone(), Arc::clone(&prepared.custom));
    let generation = loop {
        match outputs.recv().await {
            None => return Err(ApiError::ended()),
            Some(Output::Ended(Err(error))) => return Err(failure(&error, prepared.limit_place)),
            Some(Output::Ended(Ok(generation))) => break generation,
            Some(output) => collector.take(&output).into_iter().for_each(|change| drop(list.apply(change))),
        }
    };
    collector.finish().into_iter().for_each(|change| drop(list.apply(change)));
    let ending = Ending::of(&generation, &collector.answer, prepared.is_free);
    list.end(ending);
    Ok(body::json(StatusCode::OK, &head.ended(prepared, list.items(), &generation, ending)))
}

async fn streamed(
    head: Head,
    prepared: Prepared,
    mut outputs: UnboundedReceiver<Output>,
) -> Result<Response, ApiError> {
    // an output that cannot begin is an answer with its own status, not an event
    let first = outputs.recv().await.ok_or_else(ApiError::ended)?;
    if let Output::Ended(Err(error)) = &first {
        return Err(failure(error, prepared.limit_place));
    }
    let (events, response) = Events::new();
    tokio::spawn(async move {
        let mut writer = Writer { head, prepared, events, number: 0, list: items::List::default() };
        // the client has gone if it fails
        let _ = writer.write(first, outputs).await;
    });
    Ok(response)
}

struct Writer {
    head: Head,
    prepared: Prepared,
    events: Events,
    /// The number of the next event.
    number: u64,
    list: items::List,
}

impl Writer {
    async fn write(&mut self, first: Output, mut outputs: UnboundedReceiver<Output>) -> Result<(), Gone> {
        let begun = self.head.value("in_progress", &[], Value::Null);
        self.send("response.created", json!({ "response": begun })).await?;
        self.send("response.in_progress", json!({ "response": begun })).await?;
        let mut collector = Collector::new(self.prepared.reader.clone(), Arc::clone(&self.prepared.custom));
        let mut next = Some(first);
        loop {
            match next {
                None => {
                    return self.fail(&ApiError::ended()).await;
                }
                Some(Output::Ended(Err(error))) => {
                    let error = failure(&error, self.prepared.limit_place);
                    return self.fail(&error).await;
                }
                Some(Output::Ended(Ok(generation))) => {
                    self.changes(collector.finish()).await?;
                    let ending = Ending::of(&generation, &collector.answer, self.prepared.is_free);
                    for (name, event) in self.list.end(ending) {
                        self.send(name, event).await?;
                    }
                    let value = self.head.ended(&self.prepared, self.list.items(), &generation, ending);
                    let name = match ending {
                        Ending::Length => "response.incomplete",
                        Ending::Stop | Ending::Calls => "response.completed",
                    };
                    return self.send(name, json!({ "response": value })).await;
                }
                Some(output) => self.changes(collector.take(&output)).await?,
            }
            next = outputs.recv().await;
        }
    }

    async fn changes(&mut self, changes: Vec<Change>) -> Result<(), Gone> {
        for change in changes {
            for (name, event) in self.list.apply(change) {
                self.send(name, event).await?;
            }
        }
        Ok(())
    }

    async fn fail(&mut self, error: &ApiError) -> Result<(), Gone> {
        let mut value = self.head.value("failed", self.list.items(), Value::Null);
        let error = error.value();
        value["error"] = json!({ "code": "server_error", "message": error["message"] });
        self.send("response.failed", json!({ "response": value })).await
    }

    async fn send(&mut self, name: &'static str, mut event: Value) -> Result<(), Gone> {
        event["type"] = Value::from(name);
        event["sequence_number"] = Value::from(self.number);
        self.number += 1;
        self.events.send(Some(name), &event).await
    }
}
