//! `/v1/chat/completions`.

use crate::answer::{Answer, Change, Collector, Ending, failure};
use crate::app::{App, Prepared};
use crate::body::{self, Response};
use crate::engine::Output;
use crate::errors::ApiError;
use crate::format::{self, StructuredOutputs};
use crate::http::Received;
use crate::request::{self, Order, Reasoning, only};
use crate::stream::{self, Events, Gone};
use crate::{ids, messages, tools};
use grammata_decode::{ChosenToken, Generation};
use hyper::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedReceiver;

const MEMBERS: &[&str] = &[
    "model",
    "messages",
    "response_format",
    "structured_outputs",
    "grammar",
    "json_schema",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "stream",
    "stream_options",
    "n",
    "logprobs",
    "top_logprobs",
    "max_tokens",
    "max_completion_tokens",
    "reasoning_effort",
    "store",
    "service_tier",
    "modalities",
    "verbosity",
];

#[derive(Debug, Deserialize)]
struct ChatRequest {
    model: String,
    messages: Vec<Value>,
    response_format: Option<Value>,
    structured_outputs: Option<StructuredOutputs>,
    grammar: Option<String>,
    json_schema: Option<Value>,
    tools: Option<Vec<Value>>,
    tool_choice: Option<Value>,
    parallel_tool_calls: Option<bool>,
    #[serde(default)]
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
    n: Option<u32>,
    logprobs: Option<bool>,
    top_logprobs: Option<usize>,
    max_tokens: Option<usize>,
    max_completion_tokens: Option<usize>,
    reasoning_effort: Option<String>,
    store: Option<Value>,
    service_tier: Option<Value>,
    modalities: Option<Value>,
    verbosity: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct StreamOptions {
    include_usage: Option<bool>,
    include_obfuscation: Option<bool>,
}

impl ChatRequest {
    fn order(self, settings: request::Settings) -> Result<Order, ApiError> {
        only("store", self.store.as_ref(), &[json!(false)])?;
        only("service_tier", self.service_tier.as_ref(), &[json!("auto"), json!("default")])?;
        only("modalities", self.modalities.as_ref(), &[json!(["text"])])?;
        only("verbosity", self.verbosity.as_ref(), &[json!("medium")])?;
        let obfuscation = self.stream_options.as_ref().and_then(|options| options.include_obfuscation);
        only("stream_options.include_obfuscation", obfuscation.map(Value::from).as_ref(), &[json!(false)])?;
        let (max_tokens, max_tokens_name) = match (self.max_completion_tokens, self.max_tokens) {
            (Some(_), Some(_)) => {
                let message = "`max_tokens` and `max_completion_tokens` are both there; use one of them";
                return Err(ApiError::invalid("max_tokens", message));
            }
            (Some(most), None) => (Some(most), "max_completion_tokens"),
            (None, most) => (most, "max_tokens"),
        };
        let log_probabilities = self.logprobs.unwrap_or(false);
        if self.top_logprobs.is_some() && !log_probabilities {
            return Err(ApiError::invalid("top_logprobs", "`top_logprobs` needs `logprobs`: true"));
        }
        let format =
            format::one_of(self.response_format, self.structured_outputs, self.grammar, self.json_schema)?;
        let variables = settings.chat_template_kwargs.as_ref();
        let reasoning = Reasoning::read(self.reasoning_effort, "reasoning_effort", variables)?;
        Ok(Order {
            messages: messages::of_chat(self.messages)?,
            tools: tools::of_chat(self.tools.unwrap_or_default())?,
            tool_choice: self.tool_choice.unwrap_or_default(),
            parallel_tool_calls: self.parallel_tool_calls.unwrap_or(true),
            format,
            settings,
            max_tokens,
            max_tokens_name,
            outputs: request::outputs(self.n)?,
            log_probabilities,
            alternatives: request::alternatives(self.top_logprobs)?,
            reasoning,
            is_flat: false,
        })
    }
}

/// Reads the body of a chat completion.
#[cfg(feature = "testing")]
pub(crate) fn order(body: &[u8]) -> Result<Order, ApiError> {
    let (request, settings): (ChatRequest, _) = request::read(body, MEMBERS)?;
    request.order(settings)
}

/// Answers a chat completion.
pub(crate) async fn answer(app: Arc<App>, received: Received) -> Result<Response, ApiError> {
    let (request, settings): (ChatRequest, _) = request::read(&received.bytes, MEMBERS)?;
    app.check_model(&request.model)?;
    let is_stream = request.stream.unwrap_or(false);
    let with_usage =
        request.stream_options.as_ref().and_then(|options| options.include_usage).unwrap_or(false);
    if request.stream_options.is_some() && !is_stream {
        return Err(ApiError::invalid("stream_options", "`stream_options` needs `stream`: true"));
    }
    let order = request.order(settings)?;
    let outputs = order.outputs;
    let places = app.engine.reserve(outputs)?;
    let prepared = app.prepare(order).await?;
    drop(received);
    let receivers = app.submit(&prepared, places, outputs)?;
    let head = Head { id: ids::new("chatcmpl-"), created: ids::now(), model: app.name.clone() };
    match is_stream {
        true => streamed(app, head, prepared, receivers, with_usage).await,
        false => whole(&app, &head, &prepared, receivers).await,
    }
}

/// What all answers and events of one request have in common.
#[derive(Clone, Debug)]
struct Head {
    id: String,
    created: u64,
    model: String,
}

impl Head {
    fn value(&self, object: &str, choices: Value) -> Value {
        json!({ "id": self.id, "object": object, "created": self.created, "model": self.model, "choices": choices })
    }
}

async fn whole(
    app: &App,
    head: &Head,
    prepared: &Prepared,
    receivers: Vec<UnboundedReceiver<Output>>,
) -> Result<Response, ApiError> {
    let (mut choices, mut usage) = (Vec::new(), Usage::new(prepared.prompt.len()));
    for (index, mut outputs) in receivers.into_iter().enumerate() {
        let mut collector = prepared.collector();
        let generation = loop {
            match outputs.recv().await {
                None => return Err(ApiError::ended()),
                Some(Output::Ended(Err(error))) => return Err(failure(&error, prepared.limit_place)),
                Some(Output::Ended(Ok(generation))) => break generation,
                Some(output) => drop(collector.take(&output)),
            }
        };
        collector.finish();
        usage.add(&generation, &collector.answer);
        let ending = Ending::of(&generation, &collector.answer, prepared.is_free);
        choices.push(choice(app, index, &collector.answer, &generation, ending));
    }
    let mut value = head.value("chat.completion", Value::Array(choices));
    value["usage"] = usage.value();
    if !prepared.warnings.is_empty() {
        value["warnings"] = Value::Array(prepared.warnings.clone());
    }
    Ok(body::json(StatusCode::OK, &value))
}

fn choice(app: &App, index: usize, answer: &Answer, generation: &Generation, ending: Ending) -> Value {
    let has_calls = !answer.calls.is_empty();
    let content = (!answer.text.is_empty() || !has_calls).then(|| answer.text.clone());
    let mut message = json!({ "role": "assistant", "content": content, "refusal": null });
    if has_calls {
        let calls = answer.calls.iter().map(|call| match call.is_custom {
            true => json!({
                "id": call.id, "type": "custom",
                "custom": { "name": call.name, "input": call.arguments },
            }),
            false => json!({
                "id": call.id, "type": "function",
                "function": { "name": call.name, "arguments": call.arguments },
            }),
        });
        message["tool_calls"] = calls.collect();
    }
    if !answer.reasoning.is_empty() {
        message["reasoning_content"] = Value::from(answer.reasoning.clone());
    }
    let has_scores = !generation.log_probabilities.is_empty();
    let scores = has_scores.then(|| json!({ "content": scores(app, &answer.tokens), "refusal": null }));
    json!({
        "index": index,
        "message": message,
        "logprobs": scores,
        "finish_reason": ending.name(),
    })
}

/// The log-probabilities of tokens.
fn scores(app: &App, tokens: &[ChosenToken]) -> Value {
    let score = |token: &ChosenToken| {
        let (text, bytes) = app.token(token.id);
        let alternatives = token.alternatives.iter().map(|&(id, log_probability)| {
            let (text, bytes) = app.token(id);
            json!({ "token": text, "logprob": log_probability, "bytes": bytes })
        });
        let alternatives: Value = alternatives.collect();
        json!({ "token": text, "logprob": token.log_probability, "bytes": bytes, "top_logprobs": alternatives })
    };
    tokens.iter().map(score).collect()
}

/// The tokens of a request and of its outputs.
#[derive(Clone, Copy, Debug)]
struct Usage {
    prompt: usize,
    completion: usize,
    reasoning: usize,
}

impl Usage {
    fn new(prompt: usize) -> Usage {
        Usage { prompt, completion: 0, reasoning: 0 }
    }

    fn add(&mut self, generation: &Generation, answer: &Answer) {
        self.completion += generation.tokens.len();
        self.reasoning += answer.reasoning_tokens;
    }

    fn value(self) -> Value {
        json!({
            "prompt_tokens": self.prompt,
            "completion_tokens": self.completion,
            "total_tokens": self.prompt + self.completion,
            "completion_tokens_details": { "reasoning_tokens": self.reasoning },
        })
    }
}

async fn streamed(
    app: Arc<App>,
    head: Head,
    prepared: Prepared,
    receivers: Vec<UnboundedReceiver<Output>>,
    with_usage: bool,
) -> Result<Response, ApiError> {
    let mut merged = stream::merge(receivers);
    // an output that cannot begin is an answer with its own status, not an event
    let first = merged.recv().await.ok_or_else(ApiError::ended)?;
    if let (_, Output::Ended(Err(error))) = &first {
        return Err(failure(error, prepared.limit_place));
    }
    let (events, response) = Events::new();
    tokio::spawn(async move {
        let mut writer = Writer { app, head, prepared, with_usage, events };
        // the client has gone if it fails
        let _ = writer.write(first, merged).await;
    });
    Ok(response)
}

/// Writes the events of a stream.
struct Writer {
    app: Arc<App>,
    head: Head,
    prepared: Prepared,
    with_usage: bool,
    events: Events,
}

impl Writer {
    async fn write(&mut self, first: (usize, Output), mut merged: stream::Merged) -> Result<(), Gone> {
        let mut usage = Usage::new(self.prepared.prompt.len());
        let mut collectors: Vec<Option<Collector>> = Vec::new();
        let mut next = Some(first);
        let mut scored = Vec::new();
        while let Some((index, output)) = next {
            while collectors.len() <= index {
                let index = collectors.len();
                collectors.push(Some(self.prepared.collector()));
                scored.push(0);
                self.begin(index).await?;
            }
            let (Some(Some(collector)), Some(scored)) = (collectors.get_mut(index), scored.get_mut(index))
            else {
                next = merged.recv().await;
                continue;
            };
            match output {
                Output::Ended(Err(error)) => {
                    let error = failure(&error, self.prepared.limit_place);
                    self.events.send(None, &json!({ "error": error.value() })).await?;
                    return Ok(());
                }
                Output::Ended(Ok(generation)) => {
                    let changes = told(collector.finish());
                    let answer = std::mem::take(&mut collector.answer);
                    let rest = Writer::scores(&self.app, &answer, scored);
                    let last = changes.len().saturating_sub(1);
                    let mut rest = Some(rest);
                    for (at, change) in changes.into_iter().enumerate() {
                        let scores = if at == last { rest.take().flatten() } else { None };
                        self.change(index, change, scores).await?;
                    }
                    usage.add(&generation, &answer);
                    let reason = Ending::of(&generation, &answer, self.prepared.is_free).name();
                    self.chunk(index, json!({}), rest.flatten(), Some(reason)).await?;
                    collectors[index] = None;
                }
                output => {
                    let changes = told(collector.take(&output));
                    if !changes.is_empty() {
                        let mut scores = Writer::scores(&self.app, &collector.answer, scored);
                        for change in changes {
                            self.change(index, change, scores.take()).await?;
                        }
                    }
                }
            }
            next = merged.recv().await;
        }
        if collectors.iter().any(Option::is_some) {
            return self.events.send(None, &json!({ "error": ApiError::ended().value() })).await;
        }
        if self.with_usage {
            let mut value = self.head.value("chat.completion.chunk", json!([]));
            value["usage"] = usage.value();
            self.events.send(None, &value).await?;
        }
        self.events.done().await
    }

    /// Writes the first event of an output; that of the first output has the warnings.
    async fn begin(&mut self, index: usize) -> Result<(), Gone> {
        let mut value = self.value(index, &json!({ "role": "assistant", "content": "" }), None, None);
        if index == 0 && !self.prepared.warnings.is_empty() {
            value["warnings"] = Value::Array(self.prepared.warnings.clone());
        }
        self.events.send(None, &value).await
    }

    /// The log-probabilities of the tokens since the last event, if they are known.
    fn scores(app: &App, answer: &Answer, scored: &mut usize) -> Option<Value> {
        let tokens = answer.tokens.get(*scored..).filter(|tokens| !tokens.is_empty())?;
        tokens.iter().all(|token| token.log_probability.is_some()).then(|| {
            *scored = answer.tokens.len();
            scores(app, tokens)
        })
    }

    async fn change(&mut self, index: usize, change: Change, scores: Option<Value>) -> Result<(), Gone> {
        let delta = match change {
            Change::Text(text) => json!({ "content": text }),
            Change::Reasoning(text) => json!({ "reasoning_content": text }),
            Change::Call { index, id, name, is_custom: true } => json!({ "tool_calls": [{
                "index": index, "id": id, "type": "custom", "custom": { "name": name, "input": "" },
            }] }),
            Change::Call { index, id, name, is_custom: false } => json!({ "tool_calls": [{
                "index": index, "id": id, "type": "function", "function": { "name": name, "arguments": "" },
            }] }),
            Change::Input { index, text } => {
                json!({ "tool_calls": [{ "index": index, "custom": { "input": text } }] })
            }
            Change::Arguments { index, text } => {
                json!({ "tool_calls": [{ "index": index, "function": { "arguments": text } }] })
            }
            Change::CallEnd => return Ok(()),
        };
        self.chunk(index, delta, scores, None).await
    }

    async fn chunk(
        &mut self,
        index: usize,
        delta: Value,
        scores: Option<Value>,
        reason: Option<&str>,
    ) -> Result<(), Gone> {
        let value = self.value(index, &delta, scores, reason);
        self.events.send(None, &value).await
    }

    fn value(&self, index: usize, delta: &Value, scores: Option<Value>, reason: Option<&str>) -> Value {
        let scores = scores.map(|scores| json!({ "content": scores, "refusal": null }));
        let choice = json!({ "index": index, "delta": delta, "logprobs": scores, "finish_reason": reason });
        let mut value = self.head.value("chat.completion.chunk", json!([choice]));
        if self.with_usage {
            value["usage"] = Value::Null;
        }
        value
    }
}

/// The changes that events tell of.
fn told(mut changes: Vec<Change>) -> Vec<Change> {
    changes.retain(|change| *change != Change::CallEnd);
    changes
}
