//! The events of a session.

use super::usage::Usage;
use grammata::error::Error;
use grammata_agents::procedures::Values;
use serde_json::{Value, json};

/// One event of a session.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A message of the user.
    User {
        /// The words.
        text: String,
        /// The type of a message that is out of the workflow; `None` for other messages.
        kind: Option<String>,
        /// The values that the message tells, by slot; empty if the user has no script.
        tells: Vec<(String, Value)>,
    },
    /// The agent says an answer.
    Say {
        /// The name of the node.
        node: String,
        /// The words.
        text: String,
        /// The slots that the answer asks for.
        asks: Vec<String>,
    },
    /// A reply of the agent that is not a node.
    Free {
        /// `free`, `clarify` or `decline`.
        kind: String,
        /// The words.
        text: String,
    },
    /// The agent calls an API.
    Call {
        /// The name of the API.
        api: String,
        /// The arguments, by slot.
        arguments: Values,
    },
    /// The result of the last call, by slot. A failure of the environment is the member `error`.
    Result(Values),
    /// What the user decided with the last message.
    Decide {
        /// The slot that was decided.
        slot: String,
        /// The value; `None` if the reply was unclear.
        value: Option<Value>,
    },
    /// The user dropped the request.
    Cancel,
    /// An act was refused and not carried out.
    Refused {
        /// The act as the agent wrote it, in one line.
        written: String,
        /// Why the act was refused.
        reason: String,
    },
    /// A text that the agent wrote and that is not a step.
    Unread(String),
    /// The procedure of this name begins and interrupts the current one.
    Switch(String),
    /// The current procedure is left, and the interrupted one continues.
    Return,
}

/// How a session ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// The user left.
    Left,
    /// The user wrote the maximum number of messages.
    Turns,
    /// The user said and decided nothing new for several turns in which no act brought a closing answer nearer.
    Stalled,
    /// The session cannot continue: the procedure does not catch an error of an API, or does not allow its result.
    Failed(Error),
}

/// The record of a session.
#[derive(Clone, Debug)]
pub struct Record {
    /// The name of the first procedure.
    pub procedure: String,
    /// The events in order, each with the number of procedures that its procedure interrupts; 0 for the first
    /// procedure.
    pub entries: Vec<(usize, Entry)>,
    /// How the session ended.
    pub ending: Ending,
    /// Whether a closing answer of the first procedure was said when it was allowed.
    pub is_complete: bool,
    /// The number of steps that were refused or could not be read.
    pub refusals: usize,
    /// The costs of the agent.
    pub usage: Usage,
}

impl Record {
    /// Creates the record of a session without events. Its ending is [`Ending::Left`] until it is set.
    pub fn new(procedure: &str) -> Record {
        Record {
            procedure: procedure.to_owned(),
            entries: Vec::new(),
            ending: Ending::Left,
            is_complete: false,
            refusals: 0,
            usage: Usage::default(),
        }
    }

    /// Returns the events of the first procedure as a trace, which [`verify`](fn@grammata_agents::procedures::verify) reads.
    pub fn events(&self) -> Vec<Value> {
        self.entries.iter().filter_map(|(depth, entry)| entry.event().filter(|_| *depth == 0)).collect()
    }

    /// Returns the number of the user's messages, including those that other procedures heard.
    pub fn user_messages(&self) -> usize {
        self.entries.iter().filter(|(_, entry)| matches!(entry, Entry::User { .. })).count()
    }
}

impl Entry {
    /// Returns the entry as an event of a trace. Returns `None` for the entries that traces lack: unclear decisions,
    /// cancellations, refused acts, unreadable texts, switches to procedures, and returns from them.
    pub fn event(&self) -> Option<Value> {
        Some(match self {
            Entry::User { text, kind: Some(kind), .. } => json!(["user", text, kind]),
            Entry::User { text, kind: None, .. } => json!(["user", text]),
            Entry::Say { node, text, asks } if asks.is_empty() => json!(["say", node, text]),
            Entry::Say { node, text, asks } => json!(["say", node, text, asks]),
            Entry::Free { text, .. } => json!(["free", text]),
            Entry::Call { api, arguments } => json!(["call", api, arguments]),
            Entry::Result(result) => json!(["result", result]),
            Entry::Decide { slot, value: Some(value) } => json!(["slot", slot, value]),
            _ => return None,
        })
    }

    /// Returns a label (the speaker, or the kind of an event such as `call`) and a text, for people. The text of a
    /// return is empty.
    pub fn line(&self) -> (&'static str, String) {
        let values = |values: &Values| Value::Object(values.clone()).to_string();
        match self {
            Entry::User { text, .. } => ("user", text.clone()),
            Entry::Say { text, .. } | Entry::Free { text, .. } => ("agent", text.clone()),
            Entry::Call { api, arguments } => ("call", format!("{api} {}", values(arguments))),
            Entry::Result(result) => ("result", values(result)),
            Entry::Decide { slot, value: Some(value) } => ("decision", format!("{slot} = {value}")),
            Entry::Decide { slot, value: None } => ("decision", format!("{slot} is not clear")),
            Entry::Cancel => ("decision", "the request is dropped".to_owned()),
            Entry::Refused { written, reason } => ("refused", format!("{reason}: {written}")),
            Entry::Unread(text) => ("unread", text.clone()),
            Entry::Switch(name) => ("switch", name.clone()),
            Entry::Return => ("return", String::new()),
        }
    }

    /// Returns the name of the node of an answer or a call, or the kind of a free reply; `None` for other entries.
    pub fn node(&self) -> Option<&str> {
        match self {
            Entry::Say { node, .. } => Some(node),
            Entry::Call { api, .. } => Some(api),
            Entry::Free { kind, .. } => Some(kind),
            _ => None,
        }
    }
}
