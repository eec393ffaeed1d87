//! The events of a turn, reported as soon as they are certain.

use super::names::Names;
use super::turn::Begun;
use crate::tools::format::{Call, CallFormat, Turn};
use crate::tools::set::ToolSet;

/// A certain event of a turn.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A further piece of text outside of calls.
    Text(String),
    /// A call begins, and the name of its tool is known.
    Call {
        /// The index of the call in the turn, from 0.
        index: usize,
        /// The name of the tool.
        tool: String,
    },
    /// A further piece of the arguments of a call: as written, or, in formats that do not write names first, the parsed
    /// arguments as JSON in one piece.
    Arguments {
        /// The index of the call in the turn, from 0.
        index: usize,
        /// A piece of JSON text.
        text: String,
    },
    /// A call is complete.
    Called {
        /// The index of the call in the turn, from 0.
        index: usize,
        /// The parsed call.
        call: Call,
    },
    /// The turn has ended; the parsed turn.
    Finished(Turn),
}

/// The state of scanning the arguments of a call for their end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Scan {
    /// The byte offset at which the arguments begin, once it is known.
    start: Option<usize>,
    /// The offset of the next byte to scan.
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

/// Reports the events of one turn.
#[derive(Clone, Debug, Default)]
pub(super) struct Teller {
    /// The byte offset in the turn up to which text or arguments were reported.
    told: usize,
    /// The byte offset of the first special token. If calls begin with a special token, it begins the first call.
    marker: Option<usize>,
    /// The number of calls whose beginning was reported.
    begun: usize,
    scan: Scan,
    turn: Turn,
}

/// The input from which events are derived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Telling<'t> {
    pub(super) text: &'t [u8],
    /// The calls that have begun; `None` while this is uncertain.
    pub(super) calls: Option<&'t [Begun]>,
    pub(super) format: &'t CallFormat,
    pub(super) set: &'t ToolSet,
    pub(super) names: &'t Names,
    /// Whether calls begin with a special token.
    pub(super) by_token: bool,
    pub(super) has_ended: bool,
}

impl Teller {
    /// Records a special token at a byte offset. Only the first one counts.
    pub(super) fn special(&mut self, at: usize) {
        self.marker.get_or_insert(at);
    }

    /// Returns the turn as reported so far.
    pub(super) fn turn(&self) -> &Turn {
        &self.turn
    }

    /// Returns the events since the last use of this function; none while it is uncertain which calls have begun.
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

/// Returns the longest prefix that is valid UTF-8.
fn whole_characters(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    }
}

/// Returns all events of a complete turn, except its end.
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
