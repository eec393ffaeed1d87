//! Collects the outputs of a request into messages, as they come.

use crate::engine::Output;
use crate::errors::ApiError;
use grammata_agents::tools::{OutputPart, OutputReader};
use grammata_decode::{ChosenToken, FinishReason, Generation, OutputStatus};
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
    /// How many of the tokens are reasoning.
    pub(crate) reasoning_tokens: usize,
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
    /// White space at the end of the text so far. Before a call it is dropped.
    space: String,
    /// Whether the latest part is a call, after which white space is dropped.
    after_call: bool,
    /// Whether the latest call is still being written.
    in_call: bool,
    /// How many tokens wait to be counted, because no text has come of them.
    uncounted: usize,
    /// Whether the latest text is reasoning.
    in_reasoning: bool,
}

impl Collector {
    pub(crate) fn new(reader: Option<OutputReader>, custom: Arc<[String]>) -> Collector {
        Collector {
            reader,
            custom,
            answer: Answer::default(),
            space: String::new(),
            after_call: false,
            in_call: false,
            uncounted: 0,
            in_reasoning: false,
        }
    }

    /// Takes an output that is not the last one. Returns what it changes.
    pub(crate) fn take(&mut self, output: &Output) -> Vec<Change> {
        match output {
            Output::Token(token) => {
                self.answer.tokens.push(token.clone());
                self.uncounted += 1;
                Vec::new()
            }
            Output::Text(text) => {
                let parts = match &mut self.reader {
                    None => vec![OutputPart::Text(text.clone())],
                    Some(reader) => reader.push(text),
                };
                self.count(&parts);
                self.apply(parts)
            }
            Output::Ended(_) => Vec::new(),
        }
    }

    /// Counts the tokens of a text as reasoning, if it begins with some.
    fn count(&mut self, parts: &[OutputPart]) {
        if let Some(first) = parts.first() {
            self.in_reasoning = matches!(first, OutputPart::Reasoning(_));
        }
        let tokens = std::mem::take(&mut self.uncounted);
        if self.in_reasoning {
            self.answer.reasoning_tokens += tokens;
        }
        if let Some(last) = parts.last() {
            self.in_reasoning = matches!(last, OutputPart::Reasoning(_));
        }
    }

    /// Returns the last changes.
    pub(crate) fn finish(&mut self) -> Vec<Change> {
        let parts = self.reader.as_mut().map(OutputReader::finish).unwrap_or_default();
        self.count(&parts);
        let mut changes = self.apply(parts);
        if self.in_call {
            changes.extend(self.input());
        }
        let space = std::mem::take(&mut self.space);
        if !space.is_empty() && !self.after_call {
            self.answer.text.push_str(&space);
            changes.push(Change::Text(space));
        }
        changes
    }

    /// Returns the input of the latest call if its tool is a custom one. It may have been cut.
    fn input(&mut self) -> Option<Change> {
        let index = self.answer.calls.len().checked_sub(1)?;
        let call = self.answer.calls.last_mut().filter(|call| call.is_custom)?;
        call.arguments = input(&call.arguments);
        Some(Change::Input { index, text: call.arguments.clone() })
    }

    fn apply(&mut self, parts: Vec<OutputPart>) -> Vec<Change> {
        let mut changes = Vec::new();
        for part in parts {
            let change = match part {
                OutputPart::Reasoning(text) => {
                    self.answer.reasoning.push_str(&text);
                    Change::Reasoning(text)
                }
                OutputPart::Text(text) if self.reader.is_none() => {
                    self.answer.text.push_str(&text);
                    Change::Text(text)
                }
                OutputPart::Text(text) => {
                    let mut text = std::mem::take(&mut self.space) + &text;
                    if self.after_call {
                        text.drain(..text.len() - text.trim_start().len());
                    }
                    self.space = text.split_off(text.trim_end().len());
                    if text.is_empty() {
                        continue;
                    }
                    self.after_call = false;
                    self.answer.text.push_str(&text);
                    Change::Text(text)
                }
                OutputPart::CallBegin(name) => {
                    self.space.clear();
                    (self.after_call, self.in_call) = (true, true);
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
                    self.in_call = false;
                    changes.extend(self.input());
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

/// The most characters of an escape in a JSON string, those of a surrogate pair.
const ESCAPE: usize = 12;

/// Returns the input of a custom tool, which is the one argument of its call. Of arguments that were cut, it is what
/// they have of the input.
fn input(arguments: &str) -> String {
    let read = |text: &str| {
        let value: Value = serde_json::from_str(text).ok()?;
        Some(value["input"].as_str()?.to_owned())
    };
    let cut = |length: usize| {
        let end = arguments.char_indices().rev().nth(length.checked_sub(1)?).map(|(at, _)| at);
        arguments.get(..end?)
    };
    // an escape at the end may be cut, too
    let mut tries = std::iter::once(arguments).chain((1..ESCAPE).filter_map(cut));
    let whole = read(arguments).or_else(|| read(&format!("{arguments}}}")));
    whole.or_else(|| tries.find_map(|text| read(&format!("{text}\"}}")))).unwrap_or_default()
}

/// Why an output ended, in the words of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Stop,
    /// A stop text came before the answer was complete.
    Cut,
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
            FinishReason::StopString { status: OutputStatus::Prefix, .. } => Ending::Cut,
            _ if !answer.calls.is_empty() => Ending::Calls,
            _ => Ending::Stop,
        }
    }

    /// The value of `finish_reason`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Ending::Stop | Ending::Cut => "stop",
            Ending::Calls => "tool_calls",
            Ending::Length => "length",
        }
    }

    /// Whether the output is complete.
    pub(crate) fn is_complete(self) -> bool {
        matches!(self, Ending::Stop | Ending::Calls)
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
