//! Recorded conversations, and the verdict on them.

use crate::procedures::automaton::rules::Mode;
use crate::procedures::conversation::obstacle::Obstacle;
use crate::procedures::conversation::session::Session;
use crate::procedures::language::declarations::normal;
use crate::procedures::language::errors;
use crate::procedures::semantics::procedure::Procedure;
use grammata::error::Result;
use grammata::limits::Limits;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

/// An event of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// `["call", API, {SLOT: VALUE}]`: the agent calls an API. A fourth item, with arguments that the procedure does
    /// not govern, is ignored.
    Call(String, Map<String, Value>),
    /// `["result", {SLOT: VALUE}]` or `["result", {"error": TEXT}]`: the system answers the last call.
    Result(Map<String, Value>),
    /// `["say", ANSWER]`, optionally followed by the text and the list of slots that the answer asks for: the agent
    /// says an answer.
    Say {
        /// The name of the answer.
        answer: String,
        /// The text of the answer; empty if the trace has none.
        text: String,
        /// The slots that the answer asks for; empty if the trace has none.
        asks: Vec<String>,
    },
    /// `["free", TEXT]`: a reply of the agent that is not a node.
    Free,
    /// `["slot", NAME, VALUE]`: the user decided on a slot.
    Decide(String, Value),
    /// `["user", TEXT]`: the user says something.
    User(String),
    /// `["guide", TEXT]`, a remark, or `["client", {…}]`, the name of the client: they change nothing.
    Guide,
}

const FORMS: &str = r#"["user", TEXT], ["say", ANSWER], ["free", TEXT], ["call", API, OBJECT], ["result", OBJECT], ["slot", NAME, VALUE] or ["guide", TEXT]"#;

impl Event {
    /// Reads the event of a JSON value: the event itself, or an object with the event as its member `event`, such as
    /// `{"time": TEXT, "event": EVENT}`. `None` if the value has none of the forms of an event.
    pub fn of(value: &Value) -> Option<Event> {
        let items = value.get("event").unwrap_or(value).as_array()?;
        let text = |place: usize| items.get(place).and_then(Value::as_str).map(str::to_owned);
        let object = |place: usize| items.get(place).and_then(Value::as_object).cloned();
        Some(match text(0)?.as_str() {
            "call" => Event::Call(text(1)?, object(2)?),
            "result" => Event::Result(object(1)?),
            "say" => Event::Say {
                answer: text(1)?,
                text: text(2).unwrap_or_default(),
                asks: items.get(3).and_then(Value::as_array).map_or_else(Vec::new, |slots| {
                    slots.iter().filter_map(Value::as_str).map(str::to_owned).collect()
                }),
            },
            "free" => Event::Free,
            "slot" => Event::Decide(text(1)?, items.get(2)?.clone()),
            "user" => Event::User(text(1)?),
            "guide" | "client" => Event::Guide,
            _ => return None,
        })
    }
}

/// Splits a trace before its last line if that line was cut off while it was written: it has no line end, and its JSON
/// is incomplete. Returns the trace without the line, and the bytes of the line, which is empty if no line was cut off.
pub fn split_cut_line(trace: &[u8]) -> (&[u8], &[u8]) {
    let start = trace.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let (lines, last) = trace.split_at(start);
    let is_cut = !last.trim_ascii().is_empty()
        && serde_json::from_slice::<IgnoredAny>(last).is_err_and(|cause| cause.is_eof());
    if is_cut { (lines, last) } else { (trace, &[]) }
}

/// Reads a trace: a JSON list on each line. Blank lines are skipped.
///
/// # Errors
/// `pdl/trace` for the first line that has none of the forms of an [`Event`]; the limit `source_bytes`.
pub fn read_trace(text: &str, limits: &Limits) -> Result<Vec<Event>> {
    limits.check_source(text)?;
    let mut events = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let event = serde_json::from_str(line).ok().and_then(|value| Event::of(&value));
        events.push(event.ok_or_else(|| errors::trace(number + 1, line, FORMS))?);
    }
    Ok(events)
}

/// A line of a stream of conversations.
#[derive(Clone, Debug, PartialEq)]
pub enum TraceLine {
    /// An event of the current conversation.
    Event(Event),
    /// A whole conversation: a list of events, or an object with `events` and an optional `id`.
    Session {
        /// The name of the conversation, if it has one. A name that is not a text is given as JSON.
        id: Option<String>,
        /// The events of the conversation, in order.
        events: Vec<Event>,
    },
}

impl TraceLine {
    /// Reads a line. `number` is its place in the stream, from 1. The caller must bound the length of the line.
    ///
    /// # Errors
    /// `pdl/trace` if the line is neither an [`Event`] nor a conversation, or if an event of the conversation has none
    /// of the forms of an [`Event`].
    pub fn read(line: &str, number: usize) -> Result<TraceLine> {
        let wrong = |found: &str| errors::trace(number, found, FORMS);
        let value: Value = serde_json::from_str(line).map_err(|_| wrong(line))?;
        let (id, items) = match &value {
            Value::Array(items) if items.first().is_none_or(Value::is_array) => (None, items),
            Value::Object(fields) if !fields.contains_key("event") => {
                let id = fields.get("id").map(|id| id.as_str().map_or_else(|| id.to_string(), str::to_owned));
                (id, fields.get("events").and_then(Value::as_array).ok_or_else(|| wrong(line))?)
            }
            event => return Event::of(event).map(TraceLine::Event).ok_or_else(|| wrong(line)),
        };
        let events = items.iter().map(|event| Event::of(event).ok_or_else(|| wrong(&event.to_string())));
        Ok(TraceLine::Session { id, events: events.collect::<Result<_>>()? })
    }
}

/// Applies an event to a session without judging it. An event with a name that is not a node does not change which
/// nodes are done.
pub fn follow(session: &mut Session<'_>, event: &Event) {
    let node = |name: &str| session.procedure().node(name).unwrap_or(usize::MAX);
    match event {
        Event::Call(name, arguments) => {
            session.call(node(name), arguments.clone(), false);
        }
        Event::Say { answer, text, asks } => {
            session.say_text(node(answer), text, asks);
        }
        Event::Result(result) => session.result(result),
        Event::Free => session.free(),
        Event::Decide(slot, value) => session.decide(slot, value),
        Event::User(text) => session.hear(text),
        Event::Guide => {}
    }
}

/// A step of the agent that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The index of the event, from 0.
    pub event: usize,
    /// The name that the agent called or said, with `_` for spaces.
    pub node: String,
    /// The first rule that the step breaks.
    pub obstacle: Obstacle,
}

/// The verdict on a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The number of calls and answers that were judged.
    pub steps: usize,
    /// The steps that break a rule, in order.
    pub violations: Vec<Violation>,
    /// Whether a closing answer was said when it was allowed.
    pub is_complete: bool,
}

/// Judges a session event by event.
///
/// Each call and answer is judged by the events before it, including wrong steps: a wrong call that was answered counts
/// as done, and a wrong answer counts as said. A said name that is not the name of an answer is not judged.
#[derive(Debug)]
pub struct Verification<'p> {
    session: Session<'p>,
    judges_arguments: bool,
    events: usize,
    steps: usize,
    wrong: usize,
}

impl<'p> Verification<'p> {
    /// Begins a session. With `judges_arguments` the arguments of calls are judged too: their agreement with the calls
    /// on which they build, missing arguments, values that nobody said (once the trace has a message of the user), and
    /// repetition within a turn.
    pub fn new(procedure: &'p Procedure, mode: Mode, judges_arguments: bool) -> Verification<'p> {
        let session = Session::new(procedure, mode);
        Verification { session, judges_arguments, events: 0, steps: 0, wrong: 0 }
    }

    /// Judges and applies an event. Returns the first rule that the event breaks, if there is one.
    pub fn take(&mut self, event: &Event) -> Option<Violation> {
        let at = self.events;
        self.events += 1;
        let node = |name: &str| self.session.procedure().node(name).unwrap_or(usize::MAX);
        let (name, obstacle) = match event {
            Event::Call(name, arguments) => {
                let api = node(name);
                (name, self.session.call(api, arguments.clone(), self.judges_arguments))
            }
            Event::Say { answer, text, asks } => {
                let node = node(answer);
                match self.session.say_text(node, text, asks) {
                    Some(Obstacle::Unknown) => return None,
                    obstacle => (answer, obstacle),
                }
            }
            other => {
                follow(&mut self.session, other);
                return None;
            }
        };
        self.steps += 1;
        let obstacle = obstacle?;
        self.wrong += 1;
        Some(Violation { event: at, node: normal(name), obstacle })
    }

    /// Returns the session after the events so far.
    pub fn session(&self) -> &Session<'p> {
        &self.session
    }

    /// Returns the number of calls and answers that were judged so far.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Returns the number of judged calls and answers that break a rule.
    pub fn wrong(&self) -> usize {
        self.wrong
    }
}

/// Judges a trace, as a [`Verification`] does. Also returns the session after the trace.
pub fn verify<'p>(
    procedure: &'p Procedure,
    mode: Mode,
    trace: &[Event],
    judge_arguments: bool,
) -> (Verdict, Session<'p>) {
    let mut verification = Verification::new(procedure, mode, judge_arguments);
    let violations = trace.iter().filter_map(|event| verification.take(event)).collect();
    let Verification { session, steps, .. } = verification;
    let is_complete = session.is_complete();
    (Verdict { steps, violations, is_complete }, session)
}
