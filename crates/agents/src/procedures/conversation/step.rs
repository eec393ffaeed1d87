//! The grammar of one step of an agent: an optional thought, then a call with its arguments or an answer with its text,
//! in FlowAgent's published format or in JSON.

use super::arguments::{Argument, Arguments, Origin};
use super::claims;
use super::session::Values;
use crate::procedures::semantics::shape;
use grammata::error::Result;
use grammata::grammar::{
    CharClass, ExprId, Grammar, GrammarBuilder, Member, Order, WordEdge, WordGraph, WordTarget,
};
use grammata::limits::Limits;
use grammata::syntax::json_schema;
use serde_json::Value;

/// How a step is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum StepFormat {
    /// Lines: `Thought: …`, `Action: API` and `Action Input: JSON`, or `Answer: NAME` and `Response: TEXT`.
    #[default]
    Published,
    /// One object: `{"call": API, "arguments": …}` or `{"say": NAME, "text": TEXT}`. A `thought` may be its first
    /// member.
    Json,
}

/// The text of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Text {
    /// Exactly the given text.
    Verbatim(String),
    /// Any text of bounded length that contains each of the given texts. The grammar of a step allows only non-empty
    /// lines that do not begin with a space.
    Guided(Vec<String>),
    /// Any text of bounded length. The grammar of a step allows only non-empty lines that do not begin with a space.
    Free,
}

/// A step that is offered.
#[derive(Clone, Debug, PartialEq)]
pub enum Offer {
    /// A call.
    Call {
        /// The name of the API.
        api: String,
        /// Its arguments.
        arguments: Arguments,
    },
    /// An answer, or a reply that is not a node.
    Answer {
        /// The name. A question has the slots that it asks for in brackets: `ask(slot, slot)`.
        name: String,
        /// Its text.
        text: Text,
        /// Patterns that the text may not contain, unless it is verbatim.
        forbidden: Vec<String>,
    },
    /// Another procedure begins (`switch NAME`), or the current one is left (`return`).
    Control(String),
}

grammata_base::options! {
    /// Options of the grammar of a step.
    #[derive(Clone, Debug)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
    #[non_exhaustive]
    pub struct StepOptions {
        /// How a step is written.
        pub format: StepFormat,
        /// The most characters of a thought, which may be left out; 0 counts as 1. `None` for no thought.
        pub thought: Option<u32>,
        /// The most characters of a text that is not verbatim; 0 counts as 1. 400 by default.
        pub text_characters: u32 = 400,
        /// Limits on the size of the grammar.
        pub limits: Limits,
    }
}

/// Builds the grammar of a step that is one of the offers.
///
/// # Errors
/// Slots with schemas that are not supported (`json-schema/…`), claims that are not patterns (`regex/…`); limits, for
/// instance if the user's messages have too many words to quote (`grammar_nodes`).
pub fn step_grammar(offers: &[Offer], options: &StepOptions) -> Result<Grammar> {
    let mut maker = Maker::new(options);
    let mut steps = Vec::with_capacity(offers.len());
    for offer in offers {
        steps.push(maker.offer(offer)?);
    }
    let step = maker.builder.choice(steps);
    let thought = maker.thought();
    let body = maker.builder.sequence([thought, step]);
    let root = maker.builder.declare("step");
    maker.builder.define(root, body);
    maker.builder.build(root)
}

pub(super) struct Maker<'o> {
    pub(super) builder: GrammarBuilder,
    options: &'o StepOptions,
}

impl<'o> Maker<'o> {
    pub(super) fn new(options: &'o StepOptions) -> Maker<'o> {
        Maker { builder: GrammarBuilder::with_limits(options.limits.clone()), options }
    }

    fn is_json(&self) -> bool {
        self.options.format == StepFormat::Json
    }

    /// Builds the part before the step: the opening brace in JSON, and an optional thought.
    fn thought(&mut self) -> ExprId {
        let is_json = self.is_json();
        let begin = if is_json { self.builder.text("{") } else { self.builder.empty() };
        let Some(most) = self.options.thought else { return begin };
        let line = self.line(most);
        let (before, after) = if is_json { ("\"thought\": \"", "\", ") } else { ("Thought: ", "\n") };
        let (before, after) = (self.builder.text(before), self.builder.text(after));
        let thought = self.builder.sequence([before, line, after]);
        let thought = self.builder.optional(thought);
        self.builder.sequence([begin, thought])
    }

    /// Builds a character of a text without line breaks, as the format writes it; the first character is not a space.
    fn character(&mut self, is_first: bool) -> ExprId {
        let mut ranges = vec![('!', '\u{7e}'), ('\u{a1}', '\u{d7ff}'), ('\u{e000}', char::MAX)];
        if !is_first {
            ranges.push((' ', ' '));
        }
        let is_json = self.is_json();
        if is_json {
            ranges[0] = ('#', '[');
            ranges.extend([('!', '!'), (']', '\u{7e}')]);
        }
        let class = self.builder.char_class(CharClass::new(ranges));
        if !is_json {
            return class;
        }
        let (quote, backslash) = (self.builder.text("\\\""), self.builder.text("\\\\"));
        self.builder.choice([class, quote, backslash])
    }

    /// Builds a line of 1 to `most` characters (1 if `most` is 0) that does not begin with a space.
    fn line(&mut self, most: u32) -> ExprId {
        let (first, other) = (self.character(true), self.character(false));
        let rest = self.builder.repeat(other, 0, Some(most.saturating_sub(1)));
        self.builder.sequence([first, rest])
    }

    /// Returns a text as the format writes it.
    fn spelled(&self, text: &str) -> String {
        if !self.is_json() {
            return text.to_owned();
        }
        let quoted = Value::from(text).to_string();
        quoted[1..quoted.len() - 1].to_owned()
    }

    pub(super) fn text(&mut self, text: &Text, forbidden: &[String]) -> Result<ExprId> {
        let values = match text {
            Text::Verbatim(text) => {
                let text = self.spelled(text);
                return Ok(self.builder.text(text));
            }
            Text::Guided(values) => values.as_slice(),
            Text::Free => &[],
        };
        let mut operands = vec![self.line(self.options.text_characters)];
        let never = self.builder.never();
        for value in values {
            let value = self.spelled(value);
            let (any, value) = (self.builder.complement(never), self.builder.text(value));
            operands.push(self.builder.sequence([any, value, any]));
        }
        if let Some(matching) = claims::matching(&mut self.builder, forbidden)? {
            operands.push(self.builder.complement(matching));
        }
        Ok(self.builder.intersection(operands))
    }

    fn offer(&mut self, offer: &Offer) -> Result<ExprId> {
        let is_json = self.is_json();
        let (before, inner, after) = match offer {
            Offer::Call { api, arguments } => {
                let before = match is_json {
                    true => format!("\"call\": {}, \"arguments\": ", Value::from(api.as_str())),
                    false => format!("Action: {api}\nAction Input: "),
                };
                (before, self.arguments(arguments)?, if is_json { "}" } else { "" })
            }
            Offer::Answer { name, text, forbidden } => {
                let before = match is_json {
                    true => format!("\"say\": {}, \"text\": \"", Value::from(name.as_str())),
                    false => format!("Answer: {name}\nResponse: "),
                };
                (before, self.text(text, forbidden)?, if is_json { "\"}" } else { "" })
            }
            Offer::Control(name) => {
                let text = match is_json {
                    true => format!("\"call\": {}, \"arguments\": {{}}}}", Value::from(name.as_str())),
                    false => format!("Action: {name}\nAction Input: {{}}"),
                };
                (text, self.builder.empty(), "")
            }
        };
        let (before, after) = (self.builder.text(before), self.builder.text(after));
        Ok(self.builder.sequence([before, inner, after]))
    }

    /// Builds the object of the arguments, with members in the order of the request and without the excluded
    /// combinations.
    fn arguments(&mut self, arguments: &Arguments) -> Result<ExprId> {
        let mut members = Vec::with_capacity(arguments.slots.len());
        for slot in &arguments.slots {
            let value = self.value(slot)?;
            let key = format!("{}: ", Value::from(slot.slot.as_str()));
            members.push(Member { key: key.into_bytes().into(), value, required: slot.is_required });
        }
        let separator = self.builder.text(", ");
        let members = self.builder.members(Order::Declared, members, None, separator);
        let (open, close) = (self.builder.text("{"), self.builder.text("}"));
        let object = self.builder.sequence([open, members, close]);
        if arguments.excluded.is_empty() {
            return Ok(object);
        }
        let repetitions: Vec<ExprId> =
            arguments.excluded.iter().map(|values| self.repetition(arguments, values)).collect();
        let repetitions = self.builder.choice(repetitions);
        let other = self.builder.complement(repetitions);
        Ok(self.builder.intersection([object, other]))
    }

    fn value(&mut self, argument: &Argument) -> Result<ExprId> {
        match &argument.origin {
            Origin::Fixed(value) => Ok(self.builder.text(value.to_string())),
            Origin::Told(values) => {
                let values: Vec<ExprId> =
                    values.iter().map(|value| self.builder.text(value.to_string())).collect();
                Ok(self.builder.choice(values))
            }
            Origin::Words(words) => Ok(self.words(words)),
            Origin::Schema => {
                let options = shape::options(&self.options.limits);
                let schema = shape::canonical(&argument.schema);
                let compiled = json_schema::compile_value(&schema, &options)?;
                Ok(self.builder.import(&compiled.grammar))
            }
        }
    }

    /// Builds a choice of texts as JSON strings, in a trie of their bytes.
    fn words(&mut self, words: &[String]) -> ExprId {
        let mut spelled: Vec<String> =
            words.iter().map(|word| Value::from(word.as_str()).to_string()).collect();
        spelled.sort();
        spelled.dedup();
        // by node: its edges; the strings are sorted, so edges are pushed in ascending order
        let mut nodes: Vec<Vec<(u8, Option<u32>)>> = vec![Vec::new()];
        let (mut path, mut before): (Vec<u32>, &[u8]) = (vec![0], &[]);
        for word in &spelled {
            let word = word.as_bytes();
            let shared = word.iter().zip(before).take_while(|(a, b)| a == b).count();
            path.truncate(shared + 1);
            for (place, &byte) in word.iter().enumerate().skip(shared) {
                let from = path.get(place).copied().unwrap_or(0) as usize;
                if place + 1 == word.len() {
                    nodes[from].push((byte, None));
                } else {
                    let to = nodes.len() as u32;
                    nodes[from].push((byte, Some(to)));
                    nodes.push(Vec::new());
                    path.push(to);
                }
            }
            before = word;
        }
        let mut graph = WordGraph::new([self.builder.empty()]);
        for edges in nodes {
            let edges = edges.into_iter().map(|(byte, to)| WordEdge {
                low: byte,
                high: byte,
                to: to.map_or(WordTarget::Exit(0), WordTarget::Node),
            });
            graph.push(edges, None);
        }
        self.builder.word_graph(graph)
    }

    /// Builds all spellings that the grammar of the request has for these arguments: numbers may end in zeros after the
    /// point.
    fn repetition(&mut self, arguments: &Arguments, values: &Values) -> ExprId {
        let (mut parts, mut separator) = (vec![self.builder.text("{")], "");
        for slot in &arguments.slots {
            let Some(value) = values.get(&slot.slot) else { continue };
            let key = format!("{separator}{}: {value}", Value::from(slot.slot.as_str()));
            separator = ", ";
            parts.push(self.builder.text(key));
            if let Value::Number(number) = value {
                let zero = self.builder.text("0");
                let mut zeros = self.builder.star(zero);
                if number.is_i64() || number.is_u64() {
                    let point = self.builder.text(".");
                    zeros = self.builder.sequence([point, zeros]);
                }
                parts.push(self.builder.optional(zeros));
            }
        }
        parts.push(self.builder.text("}"));
        self.builder.sequence(parts)
    }
}
