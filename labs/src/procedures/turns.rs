//! Recorded sessions of people: which of their steps a procedure permits, and what an agent would have done at each
//! step.

use super::errors;
use grammata::error::Result;
use grammata::limits::Limits;
use grammata_agents::procedures::{
    Act, Conversation, Event, NodeKind, Procedure, Resolved, Scalar, Values, Workflow, normal,
};
use grammata_agents_drive::procedures::{Agent, AgentOptions, Entry, Mask, Record, Situation};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

/// A recorded session.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Recorded {
    /// Id of the session.
    pub id: Value,
    /// Kind of the session: `happy` within the workflow, `unhappy` also out of it, and others.
    pub kind: String,
    /// The names of the session's procedures.
    pub tasks: Vec<String>,
    /// The events, as [`verify`](fn@grammata_agents::procedures::verify) reads them. The third item of an answer is its
    /// text.
    pub events: Vec<Value>,
}

impl Recorded {
    /// Reads JSON lines with one session each. Other members and empty lines are ignored.
    ///
    /// # Errors
    /// `procedure/recorded` for the first line that is not a session or has an invalid event; the text is longer than
    /// `source_bytes`.
    pub fn read(text: &str, limits: &Limits) -> Result<Vec<Recorded>> {
        limits.check_source(text)?;
        let mut sessions = Vec::new();
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
            let session: Recorded =
                serde_json::from_str(line).map_err(|cause| errors::recorded(number, &cause.to_string()))?;
            if let Some(event) = session.events.iter().find(|event| Event::of(event).is_none()) {
                return Err(errors::recorded(number, &format!("{event} is not an event")));
            }
            sessions.push(session);
        }
        Ok(sessions)
    }

    /// Returns the events under one procedure: calls of its APIs with their results, its answers, and all other kinds
    /// of events.
    pub fn events_of(&self, procedure: &Procedure) -> Vec<Value> {
        let is_own = |event: &Value| {
            event.get(1).and_then(Value::as_str).is_some_and(|name| procedure.node(name).is_some())
        };
        let mut is_own_call = false;
        let keep = |event: &&Value| match event.get(0).and_then(Value::as_str) {
            Some("call") => {
                is_own_call = is_own(event);
                is_own_call
            }
            Some("result") => is_own_call,
            Some("say") => is_own(event),
            _ => true,
        };
        self.events.iter().filter(keep).cloned().collect()
    }
}

/// Numbers of true positives, false positives and false negatives.
pub type Confusion = (usize, usize, usize);

/// Counts of what an agent did in the place of a person, over the turns of sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turns {
    /// Number of the person's steps.
    pub turns: usize,
    /// Number of steps at which the agent chose the same node. All courtesies count as one node, and so do all free
    /// texts, with the answers out of the workflow and the answer `custom`.
    pub passed: usize,
    /// The APIs called.
    pub tools: Confusion,
    /// The values of arguments, as texts without names.
    pub values: Confusion,
    /// The arguments with their names.
    pub arguments: Confusion,
}

impl Turns {
    /// Adds the counts of `other`.
    pub fn add(&mut self, other: &Turns) {
        self.turns += other.turns;
        self.passed += other.passed;
        for (sum, one) in [
            (&mut self.tools, other.tools),
            (&mut self.values, other.values),
            (&mut self.arguments, other.arguments),
        ] {
            *sum = (sum.0 + one.0, sum.1 + one.1, sum.2 + one.2);
        }
    }

    fn judge(&mut self, procedure: &Procedure, truth: &Resolved, found: Option<&Resolved>) {
        let class = |act: &Resolved| match act {
            Resolved::Call { api: node, .. } | Resolved::Say { node, .. } => {
                let node = &procedure.nodes()[*node];
                match node.kind {
                    NodeKind::Courtesy => "courtesy".to_owned(),
                    NodeKind::OutOfWorkflow => "free".to_owned(),
                    _ if node.name == "custom" => "free".to_owned(),
                    _ => format!("node {}", node.name),
                }
            }
            Resolved::Free { .. } => "free".to_owned(),
            other => format!("{other:?}"),
        };
        self.turns += 1;
        self.passed += usize::from(found.is_some_and(|found| class(found) == class(truth)));
        let called = |act: Option<&Resolved>| -> BTreeSet<usize> {
            match act {
                Some(Resolved::Call { api, .. }) => BTreeSet::from([*api]),
                _ => BTreeSet::new(),
            }
        };
        confuse(&mut self.tools, &called(Some(truth)), &called(found));
        let pairs = |act: Option<&Resolved>| -> BTreeSet<(String, String)> {
            match act {
                Some(Resolved::Call { arguments, .. }) => arguments
                    .iter()
                    .map(|(slot, value)| (slot.clone(), Scalar::of(value).to_string()))
                    .collect(),
                _ => BTreeSet::new(),
            }
        };
        let (right, made) = (pairs(Some(truth)), pairs(found));
        confuse(&mut self.arguments, &right, &made);
        let values = |pairs: BTreeSet<(String, String)>| -> BTreeSet<String> {
            pairs.into_iter().map(|(_, value)| value).collect()
        };
        confuse(&mut self.values, &values(right), &values(made));
    }
}

fn confuse<T: Ord>(counts: &mut Confusion, right: &BTreeSet<T>, made: &BTreeSet<T>) {
    let both = right.intersection(made).count();
    *counts = (counts.0 + both, counts.1 + made.len() - both, counts.2 + right.len() - both);
}

/// Replays the events of a session under the first workflow. At each step of the person the agent says what it would do
/// after the same events, and then the person's step is followed. Calls of APIs that the procedure lacks are skipped.
///
/// # Errors
/// `procedure/none`: there is no workflow. Errors of the agent.
pub fn replay(
    workflows: &[Workflow<'_>],
    binding: &AgentOptions,
    agent: &mut dyn Agent,
    events: &[Value],
) -> Result<Turns> {
    let mut conversation = Conversation::new(workflows).ok_or_else(errors::no_workflow)?;
    let procedure = conversation.session().procedure();
    let mut record = Record::new(procedure.name());
    let mut turns = Turns::default();
    for event in events {
        let text = |place: usize| event.get(place).and_then(Value::as_str).unwrap_or_default().to_owned();
        let Some(read) = Event::of(event) else { continue };
        let entry = match read {
            Event::Guide => continue,
            Event::User(words) => {
                conversation.hear(&words);
                Entry::User { text: words, kind: None, tells: Vec::new() }
            }
            Event::Decide(slot, value) => {
                conversation.decide(&slot, &value);
                Entry::Decide { slot, value: Some(value) }
            }
            Event::Result(result) => {
                conversation.result(&result);
                Entry::Result(result)
            }
            Event::Call(..) | Event::Say { .. } | Event::Free => {
                let truth = truth(procedure, &read, text(if read == Event::Free { 1 } else { 2 }));
                let Some((truth, entry)) = truth else { continue };
                let found = write(&conversation, &record, binding, agent)?;
                turns.judge(procedure, &truth, found.as_ref());
                conversation.take(&truth);
                entry
            }
        };
        record.entries.push((0, entry));
    }
    Ok(turns)
}

/// Asks the agent for its next act; `None` if the answer cannot be read.
fn write(
    conversation: &Conversation<'_>,
    record: &Record,
    binding: &AgentOptions,
    agent: &mut dyn Agent,
) -> Result<Option<Resolved>> {
    let offers = match binding.mask {
        Mask::None => Vec::new(),
        Mask::Form | Mask::Open(_) => conversation.offers(&binding.offering()),
    };
    let situation = Situation { conversation, record, offers: &offers, binding, refusals: &[] };
    Ok(Act::read(&agent.write(&situation)?, binding.format).map(|act| conversation.resolve(act)))
}

/// Returns what the person did; `None` for a call of an API that the procedure lacks. An answer that it lacks is a free
/// text.
fn truth(procedure: &Procedure, event: &Event, text: String) -> Option<(Resolved, Entry)> {
    Some(match event {
        Event::Call(name, arguments) => {
            let arguments: Values = arguments.clone();
            let api = procedure.node(name)?;
            (
                Resolved::Call { api, arguments: arguments.clone() },
                Entry::Call { api: normal(name), arguments },
            )
        }
        Event::Say { answer, asks, .. } if procedure.node(answer).is_some() => {
            let (node, asks) = (procedure.node(answer)?, asks.clone());
            let say = Resolved::Say { node, asks: asks.clone(), text: text.clone() };
            (say, Entry::Say { node: normal(answer), text, asks })
        }
        _ => {
            let free = Resolved::Free { kind: "free", text: text.clone() };
            (free, Entry::Free { kind: "free".to_owned(), text })
        }
    })
}
