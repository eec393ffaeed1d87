//! Recorded conversations, and the verdict on them.

use crate::procedures::automaton::rules::Mode;
use crate::procedures::conversation::obstacle::Obstacle;
use crate::procedures::conversation::session::Session;
use crate::procedures::language::declarations::normal;
use crate::procedures::language::errors;
use crate::procedures::semantics::procedure::Procedure;
use grammata::error::Result;
use grammata::limits::Limits;
use serde_json::{Map, Value};

/// An event of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// `["call", API, {SLOT: VALUE}]`: the agent calls an API.
    Call(String, Map<String, Value>),
    /// `["result", {SLOT: VALUE}]` or `["result", {"error": TEXT}]`: the system answers the call before it.
    Result(Map<String, Value>),
    /// `["say", ANSWER]`, perhaps with its text and the list of slots that it asks for: the agent says an answer.
    Say {
        /// The answer.
        answer: String,
        /// Its text; empty if the trace does not say.
        text: String,
        /// The slots that it asks for.
        asks: Vec<String>,
    },
    /// `["free", TEXT]`: a reply of the agent that is not a node.
    Free,
    /// `["slot", NAME, VALUE]`: the user decided.
    Decide(String, Value),
    /// `["user", TEXT]`: the user says something.
    User(String),
    /// `["guide", TEXT]`, a remark that changes nothing.
    Guide,
}

const FORMS: &str = r#"["user", TEXT], ["say", ANSWER], ["free", TEXT], ["call", API, OBJECT], ["result", OBJECT], ["slot", NAME, VALUE] or ["guide", TEXT]"#;

impl Event {
    /// Reads the event of a JSON value; `None` if it has none of these forms.
    pub fn of(value: &Value) -> Option<Event> {
        let items = value.as_array()?;
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
            "guide" => Event::Guide,
            _ => return None,
        })
    }
}

/// Reads a trace: a JSON list on each line.
///
/// # Errors
/// `pdl/trace` for the first line that has none of the forms of an [`Event`]; `source_bytes`.
pub fn read_trace(text: &str, limits: &Limits) -> Result<Vec<Event>> {
    limits.check_source(text)?;
    let mut events = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let event = serde_json::from_str(line).ok().and_then(|value| Event::of(&value));
        events.push(event.ok_or_else(|| errors::trace(number + 1, line, FORMS))?);
    }
    Ok(events)
}

/// Applies an event without judging it.
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
    /// The event, from 0.
    pub event: usize,
    /// The name that the agent called or said.
    pub node: String,
    /// The first rule that it breaks.
    pub obstacle: Obstacle,
}

/// The verdict on a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Calls and answers that were judged.
    pub steps: usize,
    /// The steps that break a rule, in order.
    pub violations: Vec<Violation>,
    /// Whether a closing answer was said when it was allowed.
    pub is_complete: bool,
}

/// Judges each call and answer of a trace by what happened before it, wrong steps included: a wrong call that was answered
/// is done, a wrong answer is said. Answers of unknown names count as free replies. With `judge_arguments` the arguments of
/// calls are judged too: their agreement with the calls that they build on, missing ones, values that nobody said (once the
/// trace has a message of the user), and repetition within a turn.
///
/// Also returns the session after the trace.
pub fn verify<'p>(
    procedure: &'p Procedure,
    mode: Mode,
    trace: &[Event],
    judge_arguments: bool,
) -> (Verdict, Session<'p>) {
    let mut session = Session::new(procedure, mode);
    let mut verdict = Verdict { steps: 0, violations: Vec::new(), is_complete: false };
    for (event, step) in trace.iter().enumerate() {
        let (name, obstacle) = match step {
            Event::Call(name, arguments) => {
                verdict.steps += 1;
                let api = procedure.node(name).unwrap_or(usize::MAX);
                (name, session.call(api, arguments.clone(), judge_arguments))
            }
            Event::Say { answer, text, asks } => {
                let node = procedure.node(answer).unwrap_or(usize::MAX);
                match session.say_text(node, text, asks) {
                    Some(Obstacle::Unknown) => continue,
                    obstacle => {
                        verdict.steps += 1;
                        (answer, obstacle)
                    }
                }
            }
            other => {
                follow(&mut session, other);
                continue;
            }
        };
        if let Some(obstacle) = obstacle {
            verdict.violations.push(Violation { event, node: normal(name), obstacle });
        }
    }
    verdict.is_complete = session.is_complete();
    (verdict, session)
}
