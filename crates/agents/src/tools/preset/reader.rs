//! Reads an output of a family as it is generated, and splits it into reasoning, text and calls.

use super::call::{CallText, Part};
use super::mode::ReasoningMode;
use super::scan::{Best, Found, JsonScan, Segment, best, first_end, matched};
use super::texts::Texts;
use super::{InPrompt, Layout, TagPreset, errors};
use grammata::error::Result;
use std::sync::Arc;

/// A part of an output. A text, a reasoning or the arguments of a call may come in several parts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputPart {
    /// Text that the model wrote before its answer.
    Reasoning(String),
    /// Text for the user. The preambles of calls count as text.
    Text(String),
    /// The beginning of a call of the tool with this name.
    CallBegin(String),
    /// Arguments of the call, as JSON text.
    Arguments(String),
    /// The call is complete.
    CallEnd,
}

/// Splits an output of a model family into its parts. Marks of the family are not part of any text.
///
/// It reads the words of the [tag](TagPreset::structural_tag) that has the same options, and their prefixes. Each part is
/// reported as soon as the text so far decides it; an end of text that may begin a mark is held back.
#[derive(Clone, Debug)]
pub struct OutputReader {
    marks: Arc<Marks>,
    /// Whether an output without calls is an answer, in which nothing is a mark.
    has_answer: bool,
    state: State,
    /// Read and not yet reported.
    held: String,
}

/// The marks of a family, with the names of the tools.
#[derive(Debug)]
struct Marks {
    layout: Layout,
    openers: Vec<(Segments, Opener)>,
    /// What may begin a call within a section: the heads of all tools, each with the index of its first tail.
    heads: Vec<(Segments, Head)>,
    ways: Vec<Way>,
    names: Vec<String>,
    section_ends: Vec<String>,
    has_section: bool,
    separator: String,
    end: String,
}

type Segments = Vec<Segment>;

/// The texts of a call before and after its arguments. Ways with equal heads are one.
#[derive(Clone, Debug)]
struct Way {
    tails: Vec<Segments>,
}

/// A tool, and how its call is written.
#[derive(Clone, Copy, Debug)]
struct Head {
    tool: usize,
    way: usize,
}

/// What a mark outside of text blocks and calls begins.
#[derive(Clone, Debug)]
enum Opener {
    Call(Head),
    Section,
    Block(Block),
    /// A mark without contents.
    Skip,
}

#[derive(Clone, Debug)]
struct Block {
    is_reasoning: bool,
    ends: Vec<String>,
    /// What may follow the end, and is not text.
    after: String,
}

#[derive(Clone, Debug)]
enum State {
    /// At the beginning of the output, one of these may occur, in whole; otherwise the other state begins.
    Start(Vec<(String, State)>, Box<State>),
    /// Between blocks and calls. With the layout `triggered` it is text.
    Body,
    Block(Block),
    Section {
        may_separate: bool,
    },
    Arguments {
        way: usize,
        scan: JsonScan,
    },
    Tail {
        way: usize,
    },
}

impl TagPreset {
    /// Returns the family's control markers, which are single tokens of its tokenizers.
    pub fn markers(&self) -> &[String] {
        &self.markers.0
    }

    /// Whether models of the family reason.
    pub fn has_reasoning(&self) -> bool {
        self.reasoning.is_some()
    }

    /// Returns a reader of outputs that may call the tools with the given names.
    ///
    /// # Errors
    /// `tools/reader-style` if the family does not write arguments in JSON.
    pub fn reader<'n>(
        &self,
        names: impl IntoIterator<Item = &'n str>,
        reasoning: ReasoningMode,
    ) -> Result<OutputReader> {
        if let Some(style) = self.style {
            return Err(errors::reader_style(super::Spelling::style_name(style).unwrap_or_default()));
        }
        Ok(OutputReader::new(self, names.into_iter().map(str::to_owned).collect(), reasoning))
    }
}

impl OutputReader {
    fn new(preset: &TagPreset, names: Vec<String>, reasoning: ReasoningMode) -> OutputReader {
        let (mut ways, mut heads): (Vec<Way>, Vec<(Segments, Head)>) = (Vec::new(), Vec::new());
        let mut open: Vec<&CallText> = preset.call.0.iter().collect();
        while let Some(first) = open.first().copied() {
            let (same, others): (Vec<_>, Vec<_>) = open.into_iter().partition(|way| way.head == first.head);
            open = others;
            for (tool, name) in names.iter().enumerate() {
                heads.push((segments(&first.head, name), Head { tool, way: ways.len() }));
            }
            // a longer tail may begin like a shorter one
            let mut tails: Vec<Segments> = same.iter().map(|way| segments(&way.tail, "")).collect();
            tails.sort_by_key(|tail| std::cmp::Reverse(tail.len()));
            ways.push(Way { tails });
        }
        let block = |is_reasoning: bool, ends: &Texts, after: &str| Block {
            is_reasoning,
            ends: ends.0.clone(),
            after: after.to_owned(),
        };
        let literal = |text: &str| vec![Segment::Text(text.to_owned())];
        let calls = &preset.calls;
        let mut openers: Vec<(Segments, Opener)> = Vec::new();
        if calls.begin.0.is_empty() {
            openers.extend(heads.iter().map(|(head, call)| (head.clone(), Opener::Call(*call))));
        }
        // without tools nothing begins a call
        for begin in calls.begin.0.iter().filter(|_| !names.is_empty()) {
            for lead in [&*calls.lead, ""].into_iter().take(if calls.lead.is_empty() { 1 } else { 2 }) {
                let begin = format!("{lead}{begin}");
                match calls.begin_with_call {
                    false => openers.push((literal(&begin), Opener::Section)),
                    true => openers.extend(heads.iter().map(|(head, call)| {
                        let head = literal(&begin).into_iter().chain(head.iter().cloned()).collect();
                        (head, Opener::Call(*call))
                    })),
                }
            }
        }
        if preset.layout != Layout::Triggered {
            openers.push((literal(&preset.text.begin), Opener::Block(block(false, &preset.text.end, ""))));
            if let Some(preamble) = &preset.preamble {
                openers.push((literal(&preamble.begin), Opener::Block(block(false, &preamble.end, ""))));
            }
            let skipped = [&preset.end, &calls.separator].into_iter().filter(|text| !text.is_empty());
            openers.extend(skipped.map(|text| (literal(text), Opener::Skip)));
        }
        let thought =
            preset.reasoning.as_ref().map(|thought| (thought, block(true, &thought.end, &thought.after)));
        if let (Layout::Messages, Some((thought, block))) = (preset.layout, &thought) {
            openers.push((literal(&thought.begin), Opener::Block(block.clone())));
        }
        let body = match preset.layout {
            Layout::Blocks if thought.is_none() || reasoning == ReasoningMode::Disabled => {
                State::Block(block(false, &preset.text.end, ""))
            }
            _ => State::Body,
        };
        let start =
            |marks: Vec<(String, State)>, other: State| match marks.iter().all(|(mark, _)| mark.is_empty()) {
                true => other,
                false => State::Start(marks, Box::new(other)),
            };
        let state = match (preset.layout, thought) {
            (Layout::Messages, _) | (_, None) => body,
            (_, Some((thought, block))) => {
                let begin = (thought.begin.clone(), State::Block(block.clone()));
                match reasoning {
                    ReasoningMode::Disabled => start(vec![(thought.disabled.clone(), body.clone())], body),
                    ReasoningMode::Auto => start(vec![begin, (thought.skipped.clone(), body.clone())], body),
                    ReasoningMode::Enabled if thought.in_prompt == InPrompt::Always => State::Block(block),
                    ReasoningMode::Enabled => start(vec![begin], State::Block(block)),
                }
            }
        };
        let marks = Marks {
            layout: preset.layout,
            openers,
            heads,
            ways,
            names,
            section_ends: calls.end.0.clone(),
            has_section: !calls.begin.0.is_empty(),
            separator: calls.separator.clone(),
            end: preset.end.clone(),
        };
        OutputReader { marks: Arc::new(marks), has_answer: false, state, held: String::new() }
    }

    /// Sets whether the request has the schema of an [`answer`](super::TagOptions::answer): then calls begin where the
    /// answer would, and an answer has no marks.
    #[must_use]
    pub fn with_answer(mut self, has_answer: bool) -> OutputReader {
        self.has_answer = has_answer;
        self
    }

    /// Appends a piece of the output. Returns the parts that it decides.
    pub fn push(&mut self, piece: &str) -> Vec<OutputPart> {
        self.held.push_str(piece);
        let mut parts = Vec::new();
        while self.step(&mut parts, false) {}
        parts
    }

    /// Returns the parts that were held back, at the end of the output. Text that was held back because a mark may begin
    /// with it is text; the beginning of a mark after which no text may follow is dropped.
    pub fn finish(&mut self) -> Vec<OutputPart> {
        let mut parts = Vec::new();
        while self.step(&mut parts, true) {}
        parts
    }

    /// Reports what the held text decides. Returns whether the state changed, so that more may be decided. If the output
    /// has ended (`is_last`), a mark that is not whole is none.
    fn step(&mut self, parts: &mut Vec<OutputPart>, is_last: bool) -> bool {
        let next = match &mut self.state {
            State::Start(marks, other) => {
                let found = marks.iter().filter(|(mark, _)| !mark.is_empty());
                let found = found.map(|(mark, next)| (matched_text(&self.held, mark), next));
                match best(found, is_last) {
                    Best::Waits => None,
                    Best::Whole(length, next) => Some((length, next.clone())),
                    Best::None => Some((0, (**other).clone())),
                }
            }
            State::Block(block) => {
                let (mut text, end) = first_end(&self.held, &block.ends);
                if is_last && end.is_none() {
                    text = self.held.len();
                }
                let kind = if block.is_reasoning { OutputPart::Reasoning } else { OutputPart::Text };
                report(parts, kind, &self.held[..text]);
                match end {
                    None => {
                        self.held.drain(..text);
                        None
                    }
                    Some(length) => {
                        let after = std::mem::take(&mut block.after);
                        let next = match after.is_empty() {
                            true => State::Body,
                            false => State::Start(vec![(after, State::Body)], Box::new(State::Body)),
                        };
                        Some((text + length, next))
                    }
                }
            }
            State::Body => return self.body(parts, is_last),
            State::Section { may_separate } => {
                let may_separate = *may_separate;
                return self.section(may_separate, parts, is_last);
            }
            State::Arguments { way, scan } => {
                let way = *way;
                let (length, mut ends) = scan.read(&self.held);
                report(parts, OutputPart::Arguments, &self.held[..length]);
                // the last character of a number may be its end
                ends |= is_last && scan.may_end();
                match ends {
                    true => Some((length, State::Tail { way })),
                    false => {
                        self.held.drain(..length);
                        None
                    }
                }
            }
            State::Tail { way } => {
                let tails = self.marks.ways.get(*way).map_or(&[][..], |way| &way.tails);
                let found = tails.iter().map(|tail| (matched(&self.held, tail), ()));
                let after = match self.marks.has_section {
                    true => State::Section { may_separate: true },
                    false => State::Body,
                };
                match best(found, is_last) {
                    Best::Waits => None,
                    Best::Whole(length, ()) => {
                        parts.push(OutputPart::CallEnd);
                        Some((length, after))
                    }
                    // the output was cut, or is no word of the grammar: the arguments are whole
                    Best::None => {
                        parts.push(OutputPart::CallEnd);
                        let rest = if is_last { self.held.len() } else { 0 };
                        Some((rest, after))
                    }
                }
            }
        };
        match next {
            Some((length, state)) => {
                self.held.drain(..length);
                self.state = state;
                true
            }
            None => false,
        }
    }

    /// Between blocks and calls: finds the first opener. With the layout `triggered`, what is before it is text.
    fn body(&mut self, parts: &mut Vec<OutputPart>, is_last: bool) -> bool {
        if self.has_answer && self.marks.layout == Layout::Triggered {
            return self.body_with_answer(parts, is_last);
        }
        let mut at = 0;
        let found = loop {
            let Some(rest) = self.held.get(at..).filter(|rest| !rest.is_empty()) else { break None };
            let openers =
                self.marks.openers.iter().map(|(segments, opener)| (matched(rest, segments), opener));
            match best(openers, is_last) {
                Best::Waits => break None,
                Best::Whole(length, opener) => break Some((length, opener.clone())),
                Best::None => at += rest.chars().next().map_or(1, char::len_utf8),
            }
        };
        if self.marks.layout == Layout::Triggered {
            let is_end = !self.marks.end.is_empty() && self.held[..at] == *self.marks.end;
            if !is_end {
                report(parts, OutputPart::Text, &self.held[..at]);
            }
        }
        self.held.drain(..at);
        let Some((length, opener)) = found else { return false };
        self.held.drain(..length);
        self.open(opener, parts);
        true
    }

    /// Where calls or an answer begin, perhaps after white space.
    fn body_with_answer(&mut self, parts: &mut Vec<OutputPart>, is_last: bool) -> bool {
        let space = self.held.len() - self.held.trim_start().len();
        report(parts, OutputPart::Text, &self.held[..space]);
        self.held.drain(..space);
        if self.held.is_empty() {
            return false;
        }
        let openers = self.marks.openers.iter();
        let found = best(openers.map(|(segments, opener)| (matched(&self.held, segments), opener)), is_last);
        match found {
            Best::Waits => return false,
            Best::Whole(length, opener) => {
                let opener = opener.clone();
                self.held.drain(..length);
                self.open(opener, parts);
            }
            Best::None => {
                self.state =
                    State::Block(Block { is_reasoning: false, ends: Vec::new(), after: String::new() });
            }
        }
        true
    }

    fn open(&mut self, opener: Opener, parts: &mut Vec<OutputPart>) {
        match opener {
            Opener::Call(head) => self.begin_call(head, parts),
            Opener::Section => self.state = State::Section { may_separate: false },
            Opener::Block(block) => self.state = State::Block(block),
            Opener::Skip => {}
        }
    }

    /// In a section of calls: a call, the separator before one, or the end of the section.
    fn section(&mut self, may_separate: bool, parts: &mut Vec<OutputPart>, is_last: bool) -> bool {
        if self.held.is_empty() {
            return false;
        }
        let heads = self
            .marks
            .heads
            .iter()
            .map(|(segments, head)| (matched(&self.held, segments), After::Call(*head)));
        let separator = (may_separate && !self.marks.separator.is_empty())
            .then(|| (matched_text(&self.held, &self.marks.separator), After::Separator));
        let ends = self.marks.section_ends.iter().map(|end| (matched_text(&self.held, end), After::End));
        match best(heads.chain(separator).chain(ends), is_last) {
            Best::Waits => false,
            Best::Whole(length, after) => {
                self.held.drain(..length);
                match after {
                    After::Call(head) => self.begin_call(head, parts),
                    After::Separator => self.state = State::Section { may_separate: false },
                    After::End => self.state = State::Body,
                }
                true
            }
            // of a section that was cut nothing is left to tell
            Best::None if is_last => {
                self.held.clear();
                false
            }
            Best::None => {
                self.state = State::Body;
                true
            }
        }
    }

    fn begin_call(&mut self, head: Head, parts: &mut Vec<OutputPart>) {
        let name = self.marks.names.get(head.tool).cloned().unwrap_or_default();
        parts.push(OutputPart::CallBegin(name));
        self.state = State::Arguments { way: head.way, scan: JsonScan::default() };
    }
}

/// What may follow in a section of calls.
enum After {
    Call(Head),
    Separator,
    End,
}

fn matched_text(text: &str, mark: &str) -> Found {
    matched(text, std::slice::from_ref(&Segment::Text(mark.to_owned())))
}

/// Returns the segments of the text around the arguments of a call, with the name of a tool.
fn segments(parts: &[Part], name: &str) -> Segments {
    let mut segments: Segments = Vec::new();
    for part in parts {
        let text = match part {
            Part::Text(text) => text,
            Part::Name => name,
            Part::Number => {
                segments.push(Segment::Digits);
                continue;
            }
            Part::Id => {
                segments.push(Segment::Id);
                continue;
            }
        };
        match segments.last_mut() {
            Some(Segment::Text(last)) => last.push_str(text),
            _ if text.is_empty() => {}
            _ => segments.push(Segment::Text(text.to_owned())),
        }
    }
    segments
}

/// Appends a part, unless its text is empty; joins it with the part before of the same kind.
fn report(parts: &mut Vec<OutputPart>, kind: impl Fn(String) -> OutputPart, text: &str) {
    if text.is_empty() {
        return;
    }
    let part = kind(text.to_owned());
    match (parts.last_mut(), &part) {
        (Some(OutputPart::Text(last)), OutputPart::Text(more))
        | (Some(OutputPart::Reasoning(last)), OutputPart::Reasoning(more))
        | (Some(OutputPart::Arguments(last)), OutputPart::Arguments(more)) => last.push_str(more),
        _ => parts.push(part),
    }
}
