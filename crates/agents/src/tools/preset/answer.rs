//! Calls or an answer by a JSON Schema, in place of calls and free text.
//!
//! An output is then reasoning, if the request has it, followed either by calls or by the answer, each in the family's
//! own channel. No free text is left, but for the preamble of a call in a message of its own.

use super::errors;
use super::request::{Calling, Request};
use super::tag::{Builder, const_string, end, one_of, optional, sequence, tag};
use super::{Layout, ReasoningMode, writable};
use grammata::diagnostic::Diagnostic;
use grammata::error::Result;
use grammata::syntax::json_schema;
use serde_json::{Value, json};

/// The most white space between two calls of a family that writes no section around them, in characters.
const SPACE: u32 = 8;

/// The least length of a mark that begins calls, in bytes.
const MARK: usize = 4;

/// Checks that the schema of an answer can be written, and that no answer begins as a call does. Returns its warnings,
/// whose places are JSON Pointers in the schema.
///
/// # Errors
/// Those of [`json_schema::compile_value`]; `tools/no-answer` if no value satisfies the schema;
/// `tools/answer-like-call` if an answer may begin as a call does.
pub(super) fn check(schema: &Value, request: &Request<'_>, builder: Builder<'_>) -> Result<Vec<Diagnostic>> {
    let options = writable::answer_options(builder, !request.tools.is_empty());
    let compiled = json_schema::compile_value(schema, &options)?;
    if !writable::has_words(&compiled.grammar, &options) {
        return Err(errors::no_answer());
    }
    // families with text around calls have marks before an answer
    if builder.preset.layout == Layout::Triggered && request.calling == Calling::Auto {
        let begins = builder.begins(request);
        if let Some(begin) = writable::beginning(&compiled.grammar, begins, &options.limits)? {
            return Err(errors::answer_like_call(&begin));
        }
    }
    Ok(compiled.warnings)
}

impl Builder<'_> {
    /// Builds the format of an output that is calls or an answer by the schema.
    pub(super) fn calls_or_answer(self, request: &Request<'_>, calls: Vec<Value>, schema: &Value) -> Value {
        let answer = self.values(schema, None, &self.answer_excludes(!calls.is_empty()));
        match self.preset.layout {
            Layout::Triggered => {
                let calls = self.calls_alone(request, calls);
                self.after_reasoning(alternatives(request, calls, answer))
            }
            Layout::Blocks => {
                let begin = self.begin_of_text();
                let answer = tag(begin, answer, end(&self.preset.text.end));
                // the block of text is there also if a call follows it
                let calls = self.calls_alone(request, calls).map(|calls| {
                    let ends = self.preset.text.end.0.iter();
                    let empty = ends.map(|end| const_string(&format!("{begin}{end}"))).collect();
                    sequence(vec![one_of(empty), calls])
                });
                let mut elements = vec![self.after_reasoning(alternatives(request, calls, answer))];
                elements.extend((!self.preset.end.is_empty()).then(|| const_string(&self.preset.end)));
                sequence(elements)
            }
            Layout::Messages => self.messages_or_answer(request, calls, answer),
        }
    }

    /// The texts that strings of the answer may not contain: what free text may not contain, the ends of the family's
    /// text, and, if there may be calls, the marks that begin them, because readers of the family look for them in the
    /// whole output.
    pub(super) fn answer_excludes(self, has_calls: bool) -> Vec<String> {
        let preset = self.preset;
        let mut texts = self.excludes(self.text_excludes(), &preset.text.excludes_without_calls.0);
        texts.extend(preset.text.end.0.iter().cloned());
        let begins = match preset.trigger.is_empty() {
            true => &preset.calls.begin.0[..],
            false => std::slice::from_ref(&preset.trigger),
        };
        // a text like `{"name": ` or `[` is not a mark
        let is_mark = |text: &&str| text.len() >= MARK && text.starts_with(['<', '[', ']']);
        let begins = begins.iter().filter(|_| has_calls).filter_map(|text| text.lines().next());
        texts.extend(begins.filter(is_mark).map(str::to_owned));
        texts.retain(|text| !text.is_empty());
        texts.sort_unstable();
        texts.dedup();
        texts
    }

    /// The texts with which the calls of a request may begin, up to the first number or id.
    fn begins(self, request: &Request<'_>) -> Vec<String> {
        let preset = self.preset;
        if !preset.calls.begin.0.is_empty() && !preset.calls.begin_with_call {
            return preset.calls.begin.0.clone();
        }
        let sections = match &preset.calls.begin.0[..] {
            [] => &[String::new()][..],
            begins => begins,
        };
        let calls = self.calls(request);
        let calls = calls.iter().filter_map(|call| call["begin"].as_str());
        calls.flat_map(|call| sections.iter().map(move |section| format!("{section}{call}"))).collect()
    }

    fn after_reasoning(self, format: Value) -> Value {
        sequence(self.reasoning().into_iter().chain([format]).collect())
    }

    /// The calls of an output without text around them; `None` if no tool may be called. Without sections, white space
    /// may stand between calls.
    fn calls_alone(self, request: &Request<'_>, calls: Vec<Value>) -> Option<Value> {
        if calls.is_empty() {
            return None;
        }
        let is_one = request.calling == Calling::Forced || !self.options.parallel_tool_calls;
        if !self.preset.calls.begin.0.is_empty() {
            let calls = if request.calling == Calling::Forced { one_of(calls) } else { self.several(calls) };
            // as where a call is required, no text may lead to the section
            return Some(one_of(self.sections(calls, true)));
        }
        let call = one_of(calls);
        if is_one {
            return Some(call);
        }
        let space = json!({ "type": "regex", "pattern": format!("[ \\t\\r\\n]{{0,{SPACE}}}") });
        let more = json!({ "type": "star", "content": sequence(vec![space, call.clone()]) });
        Some(sequence(vec![call, more]))
    }

    /// Messages of reasoning, and of preambles if calls follow, and then messages of calls, or one with the answer.
    fn messages_or_answer(self, request: &Request<'_>, calls: Vec<Value>, answer: Value) -> Value {
        let preset = self.preset;
        let separator = const_string(&preset.calls.separator);
        let reasons = self.options.reasoning != ReasoningMode::Disabled;
        let reasoning: Vec<Value> = self.reasoning_message().filter(|_| reasons).into_iter().collect();
        let before = |others: &[Value]| {
            let messages = || sequence(vec![self.separated(others.to_vec(), true, false), separator.clone()]);
            (!others.is_empty()).then(|| optional(messages()))
        };
        let answer = tag(&preset.text.begin, answer, end(&preset.text.end));
        let answer = sequence(before(&reasoning).into_iter().chain([answer]).collect());
        let others: Vec<Value> = self.preamble().into_iter().chain(reasoning).collect();
        let is_one = request.calling == Calling::Forced || !self.options.parallel_tool_calls;
        let calls = (!calls.is_empty()).then(|| {
            let mut elements: Vec<Value> = before(&others).into_iter().collect();
            elements.push(one_of(calls.clone()));
            if !is_one {
                // the last message is a call
                let again = before(&others).into_iter().chain([one_of(calls)]);
                let more = sequence([separator.clone()].into_iter().chain(again).collect());
                elements.push(json!({ "type": "star", "content": more }));
            }
            sequence(elements)
        });
        alternatives(request, calls, answer)
    }
}

/// The calls if some are required, otherwise calls or the answer.
fn alternatives(request: &Request<'_>, calls: Option<Value>, answer: Value) -> Value {
    match calls {
        None => answer,
        Some(calls) if request.calling == Calling::Auto => one_of(vec![calls, answer]),
        Some(calls) => calls,
    }
}
