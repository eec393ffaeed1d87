//! `/v1/responses`, without state: each request has the whole conversation.

use crate::answer::{Answer, Change, Ending, failure};
use crate::app::{App, Prepared};
use crate::body::{self, Response};
use crate::engine::Output;
use crate::errors::ApiError;
use crate::format;
use crate::http::Received;
use crate::request::{self, Format, Order, Reasoning, only};
use crate::stream::{Events, Gone};
use crate::{ids, items, tools};
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
        only("store", self.store.as_ref(), &[json!(false)])?;
        only("previous_response_id", self.previous_response_id.as_ref(), &[])?;
        only("conversation", self.conversation.as_ref(), &[])?;
        only("background", self.background.as_ref(), &[json!(false)])?;
        only("include", self.include.as_ref(), &[json!([])])?;
        only("truncation", self.truncation.as_ref(), &[json!("disabled")])?;
        only("service_tier", self.service_tier.as_ref(), &[json!("auto"), json!("default")])?;
        let obfuscation =
            self.stream_options.and_then(|options| options.include_obfuscation).map(Value::from);
        only("stream_options.include_obfuscation", obfuscation.as_ref(), &[json!(false)])?;
        let (mut form, mut echoed) = (Format::Text, json!({ "type": "text" }));
        if let Some(text) = self.text {
            only("text.verbosity", text.verbosity.as_ref(), &[json!("medium")])?;
            if let Some(wanted) = text.format {
                echoed = wanted.clone();
                form = format::of_responses(wanted)?;
            }
        }
        let reasoning = self.reasoning;
        let summary = reasoning.as_ref().and_then(|reasoning| reasoning.summary.as_ref());
        only("reasoning.summary", summary, &[])?;
        let effort = reasoning.and_then(|reasoning| reasoning.effort);
        let variables = settings.chat_template_kwargs.as_ref();
        let thought = Reasoning::read(effort, "reasoning.effort", variables)?;
        let order = Order {
            messages: items::messages(self.input, self.instructions)?,
            tools: tools::of_responses(self.tools.unwrap_or_default())?,
            tool_choice: items::choice(self.tool_choice.unwrap_or_default()),
            parallel_tool_calls: self.parallel_tool_calls.unwrap_or(true),
            format: form,
            settings,
            max_tokens: self.max_output_tokens,
            max_tokens_name: "max_output_tokens",
            outputs: 1,
            log_probabilities: false,
            alternatives: 0,
            reasoning: thought,
            is_flat: true,
        };
        Ok((order, echoed))
    }
}

/// Reads the body of a request for a response.
#[cfg(feature = "testing")]
pub(crate) fn order(body: &[u8]) -> Result<Order, ApiError> {
    let (request, settings): (ResponsesRequest, _) = request::read(body, MEMBERS)?;
    request.order(settings).map(|(order, _)| order)
}

/// Answers a request for a response.
pub(crate) async fn answer(app: Arc<App>, received: Received) -> Result<Response, ApiError> {
    let (request, settings): (ResponsesRequest, _) = request::read(&received.bytes, MEMBERS)?;
    let echo: Echo = request::part(&received.bytes)?;
    app.check_model(&request.model)?;
    let is_stream = request.stream.unwrap_or(false);
    let (order, format) = request.order(settings)?;
    let places = app.engine.reserve(1)?;
    let prepared = app.prepare(order).await?;
    drop(received);
    let mut outputs = app.submit(&prepared, places, 1)?;
    let outputs = outputs.pop().ok_or_else(ApiError::ended)?;
    let head = Head { id: ids::new("resp_"), created: ids::now(), model: app.name.clone(), format, echo };
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
    echo: Echo,
}

/// Members of a request that its answer repeats as they are.
#[derive(Debug, Deserialize)]
#[serde(default)]
struct Echo {
    instructions: Value,
    max_output_tokens: Value,
    metadata: Value,
    parallel_tool_calls: Value,
    reasoning: Value,
    safety_identifier: Value,
    temperature: Value,
    tool_choice: Value,
    tools: Value,
    top_p: Value,
    user: Value,
}

impl Default for Echo {
    fn default() -> Echo {
        Echo {
            instructions: Value::Null,
            max_output_tokens: Value::Null,
            metadata: json!({}),
            parallel_tool_calls: json!(true),
            reasoning: Value::Null,
            safety_identifier: Value::Null,
            temperature: json!(1.0),
            tool_choice: json!("auto"),
            tools: json!([]),
            top_p: json!(1.0),
            user: Value::Null,
        }
    }
}

impl Head {
    fn value(&self, status: &str, output: &[Value], usage: Value) -> Value {
        let Echo { instructions, max_output_tokens, safety_identifier, user, .. } = &self.echo;
        // null is as good as nothing
        let other = Echo::default();
        let member =
            |value: &Value, other: &Value| if value.is_null() { other.clone() } else { value.clone() };
        json!({
            "id": self.id,
            "object": "response",
            "created_at": self.created,
            "status": status,
            "background": false,
            "error": null,
            "incomplete_details": null,
            "instructions": instructions,
            "max_output_tokens": max_output_tokens,
            "metadata": member(&self.echo.metadata, &other.metadata),
            "model": self.model,
            "output": output,
            "parallel_tool_calls": member(&self.echo.parallel_tool_calls, &other.parallel_tool_calls),
            "previous_response_id": null,
            "reasoning": { "effort": self.echo.reasoning["effort"], "summary": null },
            "safety_identifier": safety_identifier,
            "service_tier": "default",
            "store": false,
            "temperature": member(&self.echo.temperature, &other.temperature),
            "text": { "format": self.format, "verbosity": "medium" },
            "tool_choice": member(&self.echo.tool_choice, &other.tool_choice),
            "tools": member(&self.echo.tools, &other.tools),
            "top_p": member(&self.echo.top_p, &other.top_p),
            "truncation": "disabled",
            "usage": usage,
            "user": user,
        })
    }

    /// The value of a response that has ended.
    fn ended(
        &self,
        prepared: &Prepared,
        output: &[Value],
        generation: &Generation,
        answer: &Answer,
    ) -> Value {
        let ending = Ending::of(generation, answer, prepared.is_free);
        let usage = usage(prepared.prompt.len(), generation.tokens.len(), answer.reasoning_tokens);
        let mut value = match ending {
            Ending::Length => {
                let mut value = self.value("incomplete", output, usage);
                value["incomplete_details"] = json!({ "reason": "max_output_tokens" });
                value
            }
            Ending::Cut => self.value("incomplete", output, usage),
            Ending::Stop | Ending::Calls => self.value("completed", output, usage),
        };
        if !prepared.warnings.is_empty() {
            value["warnings"] = Value::Array(prepared.warnings.clone());
        }
        value
    }
}

fn usage(input: usize, output: usize, reasoning: usize) -> Value {
    json!({
        "input_tokens": input,
        "input_tokens_details": { "cached_tokens": 0, "cache_write_tokens": 0 },
        "output_tokens": output,
        "output_tokens_details": { "reasoning_tokens": reasoning },
        "total_tokens": input + output,
    })
}

async fn whole(
    head: &Head,
    prepared: &Prepared,
    mut outputs: UnboundedReceiver<Output>,
) -> Result<Response, ApiError> {
    let mut list = items::List::default();
    let mut collector = prepared.collector();
    let generation = loop {
        match outputs.recv().await {
            None => return Err(ApiError::ended()),
            Some(Output::Ended(Err(error))) => return Err(failure(&error, prepared.limit_place)),
            Some(Output::Ended(Ok(generation))) => break generation,
            Some(output) => collector.take(&output).into_iter().for_each(|change| drop(list.apply(change))),
        }
    };
    collector.finish().into_iter().for_each(|change| drop(list.apply(change)));
    list.end(Ending::of(&generation, &collector.answer, prepared.is_free));
    Ok(body::json(StatusCode::OK, &head.ended(prepared, list.items(), &generation, &collector.answer)))
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
        let mut collector = self.prepared.collector();
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
                    let value =
                        self.head.ended(&self.prepared, self.list.items(), &generation, &collector.answer);
                    let name = match ending.is_complete() {
                        true => "response.completed",
                        false => "response.incomplete",
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
