//! Collects the outputs of a request into messages, as they come.

use crate::engine::Output;
use crate::errors::ApiError;
use grammata_agents::tools::{OutputPart, OutputReader};
use grammata_decode::{ChosenToken, FinishReason, Generation};
use hyper::StatusCode;
use serde_json::Value;
use std::sync::Arc;

/// A call that a model made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    /// The arguments as JSON; for a custom tool its input, once the call has ended.
    pub(crate) arguments: String,
    pub(crate) is_custom: bool,
}

/// What an output consists of so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) reasoning: String,
    pub(crate) text: String,
    pub(crate) calls: Vec<Call>,
    pub(crate) tokens: Vec<ChosenToken>,
}

/// A change of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    Reasoning(String),
    Text(String),
    /// A call began. `index` is the number of calls before it.
    Call {
        index: usize,
        id: String,
        name: String,
        is_custom: bool,
    },
    Arguments {
        index: usize,
        text: String,
    },
    /// The whole input of a call of a custom tool.
    Input {
        index: usize,
        text: String,
    },
    CallEnd,
}

/// Reads the outputs of one generation.
pub(crate) struct Collector {
    reader: Option<OutputReader>,
    /// The names of custom tools.
    custom: Arc<[String]>,
    pub(crate) answer: Answer,
    /// White space between calls, which counts as text only if text follows.
    space: String,
}

impl Collector {
    pub(crate) fn new(reader: Option<OutputReader>, custom: Arc<[String]>) -> Collector {
        Collector { reader, custom, answer: Answer::default(), space: String::new() }
    }

    /// Takes an output that is not the last one. Returns what it changes.
    pub(crate) fn take(&mut self, output: &Output) -> Vec<Change> {
        match output {
            Output::Token(token) => {
                self.answer.tokens.push(token.clone());
                Vec::new()
            }
            Output::Text(text) => match &mut self.reader {
                None => self.apply(vec![OutputPart::Text(text.clone())]),
                Some(reader) => {
                    let parts = reader.push(text);
                    self.apply(parts)
                }
            },
            Output::Ended(_) => Vec::new(),
        }
    }

    /// Returns the last changes.
    pub(crate) fn finish(&mut self) -> Vec<Change> {
        let parts = self.reader.as_mut().map(OutputReader::finish).unwrap_or_default();
        self.apply(parts)
    }

    fn apply(&mut self, parts: Vec<OutputPart>) -> Vec<Change> {
        let mut changes = Vec::new();
        for part in parts {
            let change = match part {
                OutputPart::Reasoning(text) => {
                    self.answer.reasoning.push_str(&text);
                    Change::Reasoning(text)
                }
                OutputPart::Text(text) => {
                    let text = std::mem::take(&mut self.space) + &text;
                    let is_space = text.chars().all(char::is_whitespace);
                    if self.reader.is_some() && is_space {
                        self.space = text;
                        continue;
                    }
                    self.answer.text.push_str(&text);
                    Change::Text(text)
                }
                OutputPart::CallBegin(name) => {
                    self.space.clear();
                    let (index, id) = (self.answer.calls.len(), crate::ids::new("call_"));
                    let is_custom = self.custom.contains(&name);
                    let call =
                        Call { id: id.clone(), name: name.clone(), arguments: String::new(), is_custom };
                    self.answer.calls.push(call);
                    Change::Call { index, id, name, is_custom }
                }
                OutputPart::Arguments(text) => {
                    let index = self.answer.calls.len().saturating_sub(1);
                    let Some(call) = self.answer.calls.last_mut() else { continue };
                    call.arguments.push_str(&text);
                    // the input of a custom tool is known when its argument is whole
                    if call.is_custom {
                        continue;
                    }
                    Change::Arguments { index, text }
                }
                OutputPart::CallEnd => {
                    let index = self.answer.calls.len().saturating_sub(1);
                    if let Some(call) = self.answer.calls.last_mut().filter(|call| call.is_custom) {
                        call.arguments = input(&call.arguments);
                        changes.push(Change::Input { index, text: call.arguments.clone() });
                    }
                    Change::CallEnd
                }
                // the parts of a later version
                _ => continue,
            };
            changes.push(change);
        }
        changes
    }
}

/// Returns the input of a custom tool, which is the one argument of its call.
fn input(arguments: &str) -> String {
    let value: Value = serde_json::from_str(arguments).unwrap_or_default();
    value["input"].as_str().unwrap_or_default().to_owned()
}

/// Why an output ended, in the words of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Stop,
    Calls,
    Length,
}

impl Ending {
    /// Returns why an output ended. Free text (`is_free`) that reached a limit was cut, although each text is a word of
    /// its grammar; an answer in another form may be complete at its limit.
    pub(crate) fn of(generation: &Generation, answer: &Answer, is_free: bool) -> Ending {
        let is_complete = generation.finish.is_complete() && !(is_free && answer.calls.is_empty());
        match &generation.finish {
            FinishReason::TokenLimit { .. }
            | FinishReason::ContextLimit { .. }
            | FinishReason::Timeout { .. }
                if !is_complete =>
            {
                Ending::Length
            }
            FinishReason::Abandoned | FinishReason::Exhausted { .. } => Ending::Length,
            _ if !answer.calls.is_empty() => Ending::Calls,
            _ => Ending::Stop,
        }
    }

    /// The value of `finish_reason`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Ending::Stop => "stop",
            Ending::Calls => "tool_calls",
            Ending::Length => "length",
        }
    }
}

/// Returns the error of a generation as a client gets it. `limit` is the member of the body with the limit of tokens.
pub(crate) fn failure(error: &grammata::error::Error, limit: &str) -> ApiError {
    match error.code() {
        "matcher/budget" => ApiError::of(error, limit),
        "decode/prompt-too-long" => ApiError::new(
            StatusCode::BAD_REQUEST,
            "context_length_exceeded",
            "messages".to_owned(),
            error.to_string(),
        ),
        _ => ApiError::of(error, "messages"),
    }
}
