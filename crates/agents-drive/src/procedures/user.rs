//! Users of an agent.

use super::simulation::{OutOfWorkflow, UserScript};
use grammata::error::Result;
use grammata_agents::procedures::{Values, spoken};
use serde_json::Value;
use std::collections::VecDeque;

/// A reply of the agent, as the user gets it.
#[derive(Clone, Debug)]
pub struct Said<'a> {
    /// The words.
    pub text: &'a str,
    /// The name of the node; `None` for a reply that is not a node or is out of the workflow.
    pub node: Option<&'a str>,
    /// The slots that the reply asks for.
    pub asks: &'a [String],
    /// The slots that the user decides after the reply.
    pub decisions: &'a [String],
    /// Whether the reply is a closing answer and the first procedure is complete.
    pub is_closing: bool,
}

/// The reply of a user.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// A message.
    Message {
        /// The words.
        text: String,
        /// The type of a message that is out of the workflow; `None` for other messages.
        kind: Option<String>,
        /// The values that the message tells, by slot; empty if they are not known.
        tells: Vec<(String, Value)>,
    },
    /// The user leaves.
    End,
}

impl Reply {
    /// Creates a message with a text, no type and no told values.
    pub fn text(text: impl Into<String>) -> Reply {
        Reply::Message { text: text.into(), kind: None, tells: Vec::new() }
    }
}

/// The other side of a conversation with an agent: a script, a model, or a person at a terminal.
pub trait User {
    /// Returns the first message, or [`Reply::End`] if the user says nothing.
    ///
    /// # Errors
    /// The user cannot be asked.
    fn open(&mut self) -> Result<Reply>;

    /// Returns the answer to a reply of the agent.
    ///
    /// # Errors
    /// The user cannot be asked.
    fn reply(&mut self, said: &Said<'_>) -> Result<Reply>;
}

/// A user of a simulation. It tells the slots that it is asked for, and decides and sends messages out of the workflow
/// as its script says. After a closing answer it ends the conversation once it has made all decisions of the script. It
/// also ends the conversation at the next reply after it dropped the request, and at the third consecutive reply for
/// which the script has no answer.
#[derive(Clone, Debug)]
pub struct ScriptedUser {
    open: String,
    opens_with: Vec<String>,
    slots: Values,
    decide: Vec<(String, VecDeque<Value>)>,
    outside: Vec<OutOfWorkflow>,
    /// The number of the current turn: 1 for the first message, and one more for each answer of the script to the
    /// agent.
    turn: usize,
    /// The answer that a message out of the workflow replaced. The user gives it after the next reply of the agent that
    /// is not a node of the workflow, unless the script has an answer to that reply.
    held: Option<Reply>,
    /// Whether the user dropped the request.
    is_cancelled: bool,
    /// Whether a closing answer was said.
    is_closed: bool,
    /// The number of consecutive replies for which the script had no answer.
    idle: usize,
}

/// The maximum number of consecutive replies for which the script has no answer; at one more such reply, the user ends
/// the conversation.
const MOST_IDLE: usize = 2;

impl ScriptedUser {
    /// Creates a user that follows a script from its first message on.
    pub fn new(script: &UserScript) -> ScriptedUser {
        let list = |value: &Value| match value {
            Value::Array(values) => values.iter().cloned().collect(),
            value => VecDeque::from([value.clone()]),
        };
        ScriptedUser {
            open: script.open.clone(),
            opens_with: script.opens_with.clone(),
            slots: script.slots.clone(),
            decide: script.decide.iter().map(|(slot, value)| (slot.clone(), list(value))).collect(),
            outside: script.oow.clone(),
            turn: 1,
            held: None,
            is_cancelled: false,
            is_closed: false,
            idle: 0,
        }
    }

    fn telling(values: Vec<(String, Value)>) -> Reply {
        let parts: Vec<String> =
            values.iter().map(|(slot, value)| format!("{slot}: {}", spoken(value))).collect();
        Reply::Message { text: parts.join("; "), kind: None, tells: values }
    }

    /// Returns the decisions that the user would make now; `None` if the script lacks one of the slots.
    fn decisions(&self, slots: &[String]) -> Option<Vec<(String, Value)>> {
        let value = |slot: &String| {
            let of_script = self.decide.iter().find(|(known, _)| known == slot);
            of_script.and_then(|(_, values)| values.front()).or_else(|| self.slots.get(slot)).cloned()
        };
        slots.iter().map(|slot| Some((slot.clone(), value(slot)?))).collect()
    }

    /// Returns the answer within the workflow; `None` if the script lacks a decision that the reply needs, or has none
    /// of the slots that the reply asks for.
    fn answer(&self, said: &Said<'_>) -> Option<Reply> {
        if !said.decisions.is_empty() {
            return self.decisions(said.decisions).map(ScriptedUser::telling);
        }
        let known = said.asks.iter().filter_map(|slot| Some((slot.clone(), self.slots.get(slot)?.clone())));
        let known: Vec<(String, Value)> = known.collect();
        (!known.is_empty()).then(|| ScriptedUser::telling(known))
    }

    /// Returns a message out of the workflow. The replaced answer `held` is kept for later, unless the message changes
    /// values or drops the request.
    fn leave_workflow(&mut self, outside: OutOfWorkflow, held: Option<Reply>) -> Reply {
        self.is_cancelled |= outside.cancel;
        if outside.set.is_empty() && !outside.cancel {
            self.held = held;
        }
        self.slots.extend(outside.set.clone());
        let tells = outside.set.into_iter().collect();
        Reply::Message { text: outside.say, kind: Some(outside.kind), tells }
    }
}

impl User for ScriptedUser {
    fn open(&mut self) -> Result<Reply> {
        let known = self.opens_with.iter();
        let tells = known.filter_map(|slot| Some((slot.clone(), self.slots.get(slot)?.clone()))).collect();
        Ok(Reply::Message { text: self.open.clone(), kind: None, tells })
    }

    fn reply(&mut self, said: &Said<'_>) -> Result<Reply> {
        let answer = self.answer(said);
        let is_question = !said.decisions.is_empty() || !said.asks.is_empty();
        self.is_closed |= said.is_closing;
        let has_more = self.held.is_some() || self.decide.iter().any(|(_, values)| !values.is_empty());
        let is_over = self.is_closed && !has_more && (answer.is_none() || !is_question);
        if self.is_cancelled || is_over {
            return Ok(Reply::End);
        }
        let held = if said.node.is_none() { self.held.take() } else { None };
        let Some(answer) = answer.or(held) else {
            self.idle += 1;
            return Ok(match (self.idle > MOST_IDLE, is_question) {
                (true, _) => Reply::End,
                (false, true) => Reply::text("I do not know."),
                (false, false) => Reply::text("Please go on."),
            });
        };
        self.idle = 0;
        self.turn += 1;
        if let Some(place) = self.outside.iter().position(|outside| outside.at == self.turn) {
            let outside = self.outside.remove(place);
            return Ok(self.leave_workflow(outside, Some(answer)));
        }
        for slot in said.decisions {
            if let Some((_, values)) = self.decide.iter_mut().find(|(known, _)| known == slot) {
                values.pop_front();
            }
        }
        Ok(answer)
    }
}

/// Shows what the agent said.
type Say<'f> = dyn FnMut(&str) -> Result<()> + 'f;
/// Returns the next message; `None` at the end.
type Ask<'f> = dyn FnMut() -> Result<Option<String>> + 'f;

/// A user behind two functions: `say` shows a reply of the agent, `ask` returns the next message, or `None` at the end.
pub struct AskedUser<'f> {
    say: Box<Say<'f>>,
    ask: Box<Ask<'f>>,
}

impl std::fmt::Debug for AskedUser<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AskedUser").finish_non_exhaustive()
    }
}

impl<'f> AskedUser<'f> {
    /// Creates a user that shows replies with `say` and gets messages from `ask`.
    pub fn new(
        say: impl FnMut(&str) -> Result<()> + 'f,
        ask: impl FnMut() -> Result<Option<String>> + 'f,
    ) -> AskedUser<'f> {
        AskedUser { say: Box::new(say), ask: Box::new(ask) }
    }
}

impl User for AskedUser<'_> {
    fn open(&mut self) -> Result<Reply> {
        Ok((self.ask)()?.map_or(Reply::End, Reply::text))
    }

    fn reply(&mut self, said: &Said<'_>) -> Result<Reply> {
        (self.say)(said.text)?;
        self.open()
    }
}
