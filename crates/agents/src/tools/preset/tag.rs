//! Builds the structural tag of a request.

use super::call::{CallText, Part};
use super::mode::ReasoningMode;
use super::request::{Calling, Request, TagOptions, Tool};
use super::texts::Texts;
use super::{InPrompt, Layout, TagPreset};
use grammata::syntax::json_schema::Spelling;
use serde_json::{Map, Value, json};

/// Builds the tag of a request.
#[derive(Clone, Copy)]
pub(super) struct Builder<'b> {
    pub(super) preset: &'b TagPreset,
    pub(super) options: &'b TagOptions,
}

impl Builder<'_> {
    /// Builds the whole tag.
    pub(super) fn tag(self, request: &Request<'_>) -> Value {
        let calls = self.calls(request);
        if let Some(schema) = &self.options.answer {
            let format = self.calls_or_answer(request, calls, schema);
            return json!({ "type": "structural_tag", "format": format });
        }
        let format = match self.preset.layout {
            Layout::Triggered => {
                let mut elements: Vec<Value> = self.reasoning().into_iter().collect();
                elements.push(self.triggered(request, calls));
                sequence(elements)
            }
            Layout::Blocks => self.blocks(request, calls),
            Layout::Messages => self.messages(request, calls),
        };
        json!({ "type": "structural_tag", "format": format })
    }

    /// Builds the alternative calls of all tools, as tags.
    pub(super) fn calls(self, request: &Request<'_>) -> Vec<Value> {
        let of_tool = |tool: &Tool<'_>| {
            let ways = if tool.is_builtin() { &self.preset.builtin_call } else { &self.preset.call };
            let mut calls = Vec::new();
            let mut open: Vec<&CallText> = ways.0.iter().collect();
            // forms that differ only after the arguments are one tag
            while let Some(first) = open.first().copied() {
                let (same, others) = open.into_iter().partition(|way| way.head == first.head);
                open = others;
                calls.push(self.call(&same, tool));
            }
            calls
        };
        request.tools.iter().flat_map(of_tool).collect()
    }

    /// Builds a call in one of several forms, which are equal before the arguments.
    fn call(self, ways: &[&CallText], tool: &Tool<'_>) -> Value {
        let head = ways.first().map_or(&[][..], |way| &way.head);
        let (begin, mut elements) = parts(head, tool.name);
        elements.push(self.arguments(tool));
        let mut tails: Vec<&[Part]> = ways.iter().map(|way| &way.tail[..]).collect();
        tails.dedup();
        let ends: Vec<&str> = tails.iter().map(|tail| last_text(tail)).collect();
        let end = common_end(&ends);
        let mut others = Vec::new();
        for tail in tails {
            let (text, mut more) = parts(tail, tool.name);
            let last = last_text(tail);
            let cut = &last[..last.len() - end.len()];
            if more.is_empty() {
                more.extend((!cut.is_empty()).then(|| const_string(cut)));
            } else {
                more.pop();
                more.extend((!cut.is_empty()).then(|| const_string(cut)));
                more.splice(0..0, (!text.is_empty()).then(|| const_string(&text)));
            }
            others.push(more);
        }
        let (empty, others): (Vec<_>, Vec<_>) = others.into_iter().partition(Vec::is_empty);
        match (empty.is_empty(), others.len()) {
            (_, 0) => {}
            (true, 1) => elements.extend(others.into_iter().flatten()),
            (is_required, _) => {
                let others = one_of(others.into_iter().map(sequence).collect());
                elements.push(if is_required { others } else { optional(others) });
            }
        }
        tag(&begin, sequence(elements), json!(end))
    }

    fn arguments(self, tool: &Tool<'_>) -> Value {
        let style = self.preset.style.and_then(Spelling::style_name);
        let excludes = match self.options.exclude_special_tokens {
            true => &self.preset.argument_excludes.0[..],
            false => &[],
        };
        self.values(tool.parameters.as_deref().unwrap_or(&Value::Bool(true)), style, excludes)
    }

    /// The values of a schema, whose strings have none of `excludes`; without a `style`, in JSON.
    pub(super) fn values(self, schema: &Value, style: Option<&str>, excludes: &[String]) -> Value {
        let mut format = Map::new();
        format.insert("type".to_owned(), json!("json_schema"));
        format.insert("json_schema".to_owned(), schema.clone());
        if let Some(style) = style {
            format.insert("style".to_owned(), json!(style));
        }
        if self.options.any_order {
            format.insert("any_order".to_owned(), json!(true));
        }
        if let Some(count) = self.options.max_whitespace_cnt {
            format.insert("max_whitespace_cnt".to_owned(), json!(count));
        }
        if !excludes.is_empty() {
            format.insert("excludes".to_owned(), json!(excludes));
        }
        Value::Object(format)
    }

    /// Builds the reasoning before the answer, or, if reasoning is disabled, the text that replaces it. Returns `None`
    /// if there is neither.
    pub(super) fn reasoning(self) -> Option<Value> {
        let reasoning = self.preset.reasoning.as_ref()?;
        let mode = self.options.reasoning;
        if mode == ReasoningMode::Disabled {
            return (!reasoning.disabled.is_empty()).then(|| const_string(&reasoning.disabled));
        }
        let is_enabled = mode == ReasoningMode::Enabled;
        let begin = if is_enabled && reasoning.in_prompt != InPrompt::Never { "" } else { &*reasoning.begin };
        let mut excludes = match &reasoning.excludes {
            Some(excludes) => excludes.0.clone(),
            None => self.marks(),
        };
        if is_enabled && reasoning.in_prompt == InPrompt::Sometimes {
            excludes.retain(|text| *text != reasoning.begin && !reasoning.end.0.contains(text));
        }
        let block = tag(begin, self.text(excludes, &[]), end(&reasoning.end));
        let mut elements = vec![block];
        if !reasoning.after.is_empty() {
            elements.push(const_string(&reasoning.after));
        }
        let block = sequence(elements);
        match mode {
            ReasoningMode::Auto if reasoning.skipped.is_empty() => Some(optional(block)),
            ReasoningMode::Auto => Some(optional(one_of(vec![block, const_string(&reasoning.skipped)]))),
            _ => Some(block),
        }
    }

    /// Returns the texts that begin and end reasoning; empty for families without reasoning.
    fn marks(self) -> Vec<String> {
        let reasoning = self.preset.reasoning.iter();
        reasoning
            .flat_map(|reasoning| std::iter::once(&reasoning.begin).chain(&reasoning.end.0))
            .cloned()
            .collect()
    }

    /// Returns the special tokens that text may not contain.
    pub(super) fn text_excludes(self) -> Vec<String> {
        self.preset.text.excludes.as_ref().map_or_else(|| self.marks(), |excludes| excludes.0.clone())
    }

    /// Combines special tokens, if they are excluded, with other texts.
    pub(super) fn excludes(self, special: Vec<String>, others: &[String]) -> Vec<String> {
        let special = if self.options.exclude_special_tokens { special } else { Vec::new() };
        let others = others.iter().filter(|text| !special.contains(text)).cloned().collect::<Vec<_>>();
        special.into_iter().chain(others).collect()
    }

    fn text(self, special: Vec<String>, others: &[String]) -> Value {
        with_excludes(json!({ "type": "any_text" }), self.excludes(special, others))
    }

    /// Builds text in which a trigger begins calls. If a call is required or forced, the output begins, after any
    /// reasoning, with a call or a section of calls; text may follow only if a call is required, the family has no
    /// sections, and several calls are allowed. If no tool may be called, the output is text.
    fn triggered(self, request: &Request<'_>, calls: Vec<Value>) -> Value {
        let preset = self.preset;
        if calls.is_empty() {
            return self.text(self.text_excludes(), &preset.text.excludes_without_calls.0);
        }
        let has_section = !preset.calls.begin.0.is_empty();
        let is_required = match request.calling {
            Calling::Forced if has_section => return one_of(self.sections(one_of(calls), true)),
            Calling::Forced => return one_of(calls),
            Calling::Required if has_section => return one_of(self.sections(self.several(calls), true)),
            Calling::Required => true,
            Calling::Auto => false,
        };
        let (tags, triggers) = if preset.calls.begin_with_call {
            self.sections_by_call(&calls)
        } else if has_section {
            (self.sections(self.several(calls), false), vec![preset.trigger.clone()])
        } else {
            (calls, vec![preset.trigger.clone()])
        };
        let text = json!({ "type": "triggered_tags", "triggers": triggers, "tags": tags });
        let text = with_excludes(text, self.excludes(self.text_excludes(), &[]));
        with_times(text, is_required, !self.options.parallel_tool_calls || preset.calls.end_turn)
    }

    /// Returns a section for each call with which it may begin, and the beginnings of these sections up to the
    /// arguments of the first call.
    fn sections_by_call(self, calls: &[Value]) -> (Vec<Value>, Vec<String>) {
        let section = &self.preset.calls;
        let (mut tags, mut triggers) = (Vec::new(), Vec::new());
        let further = sequence(vec![const_string(&section.separator), one_of(calls.to_vec())]);
        for begin in &section.begin.0 {
            for call in calls {
                let trigger = format!("{begin}{}", call["begin"].as_str().unwrap_or_default());
                let mut elements = vec![tag("", call["content"].clone(), call["end"].clone())];
                if self.options.parallel_tool_calls {
                    elements.push(json!({ "type": "star", "content": further }));
                }
                tags.push(tag(&trigger, sequence(elements), end(&section.end)));
                triggers.push(trigger);
            }
        }
        triggers.dedup();
        (tags, triggers)
    }

    /// Returns the alternative forms of the section of calls, with the text before it if a call is required.
    pub(super) fn sections(self, content: Value, is_required: bool) -> Vec<Value> {
        let calls = &self.preset.calls;
        let lead = if is_required { &*calls.lead } else { "" };
        let begins = calls.begin.0.iter();
        begins.map(|begin| tag(&format!("{lead}{begin}"), content.clone(), end(&calls.end))).collect()
    }

    /// Builds a list of at least one call; exactly one if calls are not parallel.
    pub(super) fn several(self, calls: Vec<Value>) -> Value {
        self.separated(calls, true, !self.options.parallel_tool_calls)
    }

    pub(super) fn separated(self, tags: Vec<Value>, at_least_one: bool, stop_after_first: bool) -> Value {
        let separator = &self.preset.calls.separator;
        let tags = json!({ "type": "tags_with_separator", "tags": tags, "separator": separator });
        with_times(tags, at_least_one, stop_after_first)
    }

    /// Builds the layout of blocks: reasoning, text and calls, in this order. The prompt contains the beginning of the
    /// first block.
    fn blocks(self, request: &Request<'_>, calls: Vec<Value>) -> Value {
        let preset = self.preset;
        let begin = self.begin_of_text();
        let mut elements: Vec<Value> = self.reasoning().into_iter().collect();
        let without_calls: &[String] =
            if calls.is_empty() { &preset.text.excludes_without_calls.0 } else { &[] };
        elements.push(tag(begin, self.text(self.text_excludes(), without_calls), end(&preset.text.end)));
        if !calls.is_empty() {
            elements.push(match request.calling {
                Calling::Auto => optional(one_of(self.sections(self.several(calls), false))),
                Calling::Required => one_of(self.sections(self.several(calls), true)),
                Calling::Forced => one_of(self.sections(one_of(calls), true)),
            });
        }
        if !preset.end.is_empty() {
            elements.push(const_string(&preset.end));
        }
        sequence(elements)
    }

    /// The beginning of the block of text, unless the prompt ends with it.
    pub(super) fn begin_of_text(&self) -> &str {
        let reasoning = &self.preset.reasoning;
        let is_first = reasoning.is_none() || self.options.reasoning == ReasoningMode::Disabled;
        if is_first { "" } else { &self.preset.text.begin }
    }

    /// A preamble of a call, as a message.
    pub(super) fn preamble(self) -> Option<Value> {
        let preamble = self.preset.preamble.as_ref()?;
        let content = self.text(self.text_excludes(), &[]);
        Some(tag(&preamble.begin, content, end(&preamble.end)))
    }

    /// Reasoning as a message.
    pub(super) fn reasoning_message(self) -> Option<Value> {
        let reasoning = self.preset.reasoning.as_ref()?;
        let excludes = reasoning.excludes.as_ref().map_or_else(|| self.marks(), |texts| texts.0.clone());
        Some(tag(&reasoning.begin, self.text(excludes, &[]), end(&reasoning.end)))
    }

    /// Builds the layout of messages: calls, preambles of calls, reasoning, and, unless a call is required or forced,
    /// text. The messages are in any order; but if a call is forced, or calls are not parallel, the only call is the
    /// last message.
    fn messages(self, request: &Request<'_>, calls: Vec<Value>) -> Value {
        let preset = self.preset;
        let mut others = Vec::new();
        if request.calling == Calling::Auto {
            let content = self.text(self.text_excludes(), &[]);
            others.push(tag(&preset.text.begin, content, end(&preset.text.end)));
        }
        others.extend(self.preamble().filter(|_| !calls.is_empty()));
        let reasons = self.options.reasoning != ReasoningMode::Disabled;
        others.extend(self.reasoning_message().filter(|_| reasons));
        let all: Vec<Value> = calls.iter().chain(&others).cloned().collect();
        let is_parallel = self.options.parallel_tool_calls;
        if calls.is_empty() || request.calling == Calling::Auto && is_parallel {
            return self.separated(all, false, false);
        }
        let separator = const_string(&preset.calls.separator);
        let one_call = self.separated(calls, true, true);
        let before = (!others.is_empty())
            .then(|| sequence(vec![self.separated(others.clone(), true, false), separator.clone()]));
        if request.calling == Calling::Auto {
            // any number of other messages, then at most one call, which ends the turn
            let messages = self.separated(others, false, false);
            let with_call = sequence(before.map(optional).into_iter().chain([one_call]).collect());
            return one_of(vec![messages, with_call]);
        }
        let mut elements: Vec<Value> = before.map(optional).into_iter().collect();
        elements.push(one_call);
        if request.calling == Calling::Required && is_parallel {
            let more = sequence(vec![separator, one_of(all)]);
            elements.push(json!({ "type": "star", "content": more }));
        }
        sequence(elements)
    }
}

/// Returns the text before the first placeholder for a number or an id, and what comes after it: formats of
/// placeholders and texts. A last text is always there if a placeholder is.
fn parts(parts: &[Part], name: &str) -> (String, Vec<Value>) {
    let (mut begin, mut formats, mut text) = (None, Vec::new(), String::new());
    for part in parts {
        let pattern = match part {
            Part::Text(more) => {
                text.push_str(more);
                continue;
            }
            Part::Name => {
                text.push_str(name);
                continue;
            }
            Part::Number => "[0-9]+",
            Part::Id => "[a-zA-Z0-9]{9}",
        };
        let before = std::mem::take(&mut text);
        match begin {
            None => begin = Some(before),
            Some(_) => formats.push(const_string(&before)),
        }
        formats.push(json!({ "type": "regex", "pattern": pattern }));
    }
    match begin {
        None => (text, formats),
        Some(begin) => {
            formats.push(const_string(&text));
            (begin, formats)
        }
    }
}

/// Returns the text after the last placeholder.
fn last_text(parts: &[Part]) -> &str {
    match parts.last() {
        Some(Part::Text(text)) => text,
        _ => "",
    }
}

/// Returns the longest text with which all texts end.
fn common_end<'t>(texts: &[&'t str]) -> &'t str {
    let Some((&first, others)) = texts.split_first() else { return "" };
    let starts = first.char_indices().map(|(at, _)| at).chain([first.len()]);
    let mut ends = starts.map(|at| &first[at..]);
    ends.find(|end| others.iter().all(|text| text.ends_with(end))).unwrap_or("")
}

pub(super) fn const_string(text: &str) -> Value {
    json!({ "type": "const_string", "value": text })
}

pub(super) fn tag(begin: &str, content: Value, end: Value) -> Value {
    json!({ "type": "tag", "begin": begin, "content": content, "end": end })
}

/// Returns the `end` of a tag: one text, which may be empty, or the list of alternative texts.
pub(super) fn end(texts: &Texts) -> Value {
    match &*texts.0 {
        [] => json!(""),
        [text] => json!(text),
        texts => json!(texts),
    }
}

pub(super) fn optional(content: Value) -> Value {
    json!({ "type": "optional", "content": content })
}

pub(super) fn sequence(elements: Vec<Value>) -> Value {
    single(elements, "sequence")
}

pub(super) fn one_of(elements: Vec<Value>) -> Value {
    single(elements, "or")
}

/// Returns the only element of a list, or the list as a format of the given type.
fn single(mut elements: Vec<Value>, kind: &str) -> Value {
    match elements.len() {
        1 => elements.remove(0),
        _ => json!({ "type": kind, "elements": elements }),
    }
}

fn with_excludes(mut format: Value, excludes: Vec<String>) -> Value {
    if let Some(members) = format.as_object_mut().filter(|_| !excludes.is_empty()) {
        members.insert("excludes".to_owned(), json!(excludes));
    }
    format
}

fn with_times(mut format: Value, at_least_one: bool, stop_after_first: bool) -> Value {
    if let Some(members) = format.as_object_mut() {
        let flags = [("at_least_one", at_least_one), ("stop_after_first", stop_after_first)];
        members.extend(
            flags.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| (name.to_owned(), json!(true))),
        );
    }
    format
}
