//! What a turn says, as it comes.

use super::names::Names;
use super::turn::Begun;
use crate::tools::format::{Call, CallFormat, Turn};
use crate::tools::set::ToolSet;

/// Something that a turn has said for certain.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// More text.
    Text(String),
    /// A call begins: its name is known.
    Call {
        /// Which call of the turn, from 0.
        index: usize,
        /// The tool.
        tool: String,
    },
    /// More of the arguments of a call, as they were written.
    Arguments {
        /// Which call of the turn.
        index: usize,
        /// JSON text.
        text: String,
    },
    /// A call is whole.
    Called {
        /// Which call of the turn.
        index: usize,
        /// The call, typed.
        call: Call,
    },
    /// The turn has ended.
    Finished(Turn),
}

/// How far the arguments of a call were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Scan {
    /// Where they begin, once they have.
    start: Option<usize>,
    /// The next byte to look at.
    at: usize,
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    is_whole: bool,
}

impl Scan {
    fn over(&mut self, text: &[u8]) {
        while !self.is_whole && self.at < text.len() {
            let byte = text[self.at];
            self.at += 1;
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.in_string => self.is_escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.is_whole = self.depth == 0;
                }
                _ => {}
            }
        }
    }
}

/// Tells the events of one turn.
#[derive(Clone, Debug, Default)]
pub(super) struct Teller {
    /// Bytes of the turn's text that were told, and of its arguments.
    told: usize,
    /// Where a special token began a call.
    marker: Option<usize>,
    /// Calls that were told to have begun.
    begun: usize,
    scan: Scan,
    turn: Turn,
}

/// What a turn is told from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Telling<'t> {
    /// The turn so far.
    pub(super) text: &'t [u8],
    /// The calls that have begun; none while that is uncertain.
    pub(super) calls: Option<&'t [Begun]>,
    pub(super) format: &'t CallFormat,
    pub(super) set: &'t ToolSet,
    pub(super) names: &'t Names,
    /// Whether calls begin with a special token.
    pub(super) by_token: bool,
    pub(super) has_ended: bool,
}

impl Teller {
    /// A special token comes at a place.
    pub(super) fn special(&mut self, at: usize) {
        self.marker.get_or_insert(at);
    }

    /// What was told so far.
    pub(super) fn turn(&self) -> &Turn {
        &self.turn
    }

    /// The events that have come since the last time.
    pub(super) fn tell(&mut self, from: Telling<'_>) -> Vec<Event> {
        let mut events = Vec::new();
        let Some(calls) = from.calls else { return events };
        if self.begun == 0 {
            let range = from.format.text_so_far(from.text, self.marker, from.by_token, from.has_ended);
            self.text(from.text, range, &mut events);
        }
        loop {
            self.arguments(from, calls, &mut events);
            let is_open = self.begun > 0 && !self.scan.is_whole;
            let Some(begun) = calls.get(self.begun).filter(|_| !is_open) else { return events };
            let tool = from.set.tools()[from.names.tool(begun.rank)].name.clone();
            events.push(Event::Call { index: self.begun, tool });
            self.begun += 1;
            self.scan = Scan::default();
        }
    }

    fn text(&mut self, text: &[u8], range: std::ops::Range<usize>, events: &mut Vec<Event>) {
        let from = self.told.max(range.start);
        let piece = whole_characters(text.get(from..range.end).unwrap_or_default());
        if !piece.is_empty() {
            self.told = from + piece.len();
            self.turn.text += piece;
            events.push(Event::Text(piece.to_owned()));
        }
    }

    fn arguments(&mut self, from: Telling<'_>, calls: &[Begun], events: &mut Vec<Event>) {
        let Telling { text, format, set, names, .. } = from;
        let Some(index) = self.begun.checked_sub(1).filter(|_| !self.scan.is_whole) else { return };
        let Some(begun) = calls.get(index) else { return };
        if self.scan.start.is_none() {
            let Some(offset) = format.arguments_start(&text[begun.end..]) else { return };
            let start = begun.end + offset;
            self.scan = Scan { start: Some(start), at: start, ..Scan::default() };
            self.told = start;
        }
        self.scan.over(text);
        let piece = whole_characters(&text[self.told..self.scan.at]);
        if !piece.is_empty() {
            self.told += piece.len();
            events.push(Event::Arguments { index, text: piece.to_owned() });
        }
        if let (true, Some(start)) = (self.scan.is_whole, self.scan.start) {
            let arguments = serde_json::from_slice(&text[start..self.scan.at]).unwrap_or_default();
            let tool = set.tools()[names.tool(begun.rank)].name.clone();
            let call = Call { tool, arguments };
            self.turn.calls.push(call.clone());
            events.push(Event::Called { index, call });
        }
    }
}

/// The longest beginning that ends between characters.
fn whole_characters(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    }
}

/// All events of a turn at once.
pub(super) fn of_turn(turn: &Turn) -> Vec<Event> {
    let mut events = Vec::new();
    let tell = |events: &mut Vec<Event>, text: &String| {
        if !text.is_empty() {
            events.push(Event::Text(text.clone()));
        }
    };
    tell(&mut events, &turn.text);
    for (index, call) in turn.calls.iter().enumerate() {
        let text = serde_json::Value::Object(call.arguments.clone()).to_string();
        events.push(Event::Call { index, tool: call.tool.clone() });
        events.push(Event::Arguments { index, text });
        events.push(Event::Called { index, call: call.clone() });
        turn.between.get(index).into_iter().for_each(|text| tell(&mut events, text));
    }
    tell(&mut events, &turn.after);
    events
}
