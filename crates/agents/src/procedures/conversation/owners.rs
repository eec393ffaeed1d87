//! Everything that was said in a conversation, and by whom.

use super::sayings::Saying;
use super::told::{Part, parts};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

/// The maximum number of values of results that are remembered; the oldest are forgotten.
const MOST_TOLD: usize = 4_096;

/// Everything that was said in a conversation, and by whom.
#[derive(Clone, Debug, Default)]
pub(in crate::procedures) struct Owners {
    /// The user's messages, the oldest first.
    pub(in crate::procedures) messages: Vec<Saying>,
    /// The parts of the user's messages, the oldest first.
    pub(in crate::procedures) parts: Vec<Part>,
    /// Texts of answers that the user agreed to with a decision, each with the number of messages then.
    pub(in crate::procedures) agreed: Vec<(usize, Saying)>,
    /// The text of the last answer; empty once the user agreed to it.
    proposed: String,
    /// Values of results, the oldest first. Elements of lists are separate values.
    pub(in crate::procedures) told: Vec<Told>,
    /// Values known before the conversation, by slot.
    pub(in crate::procedures) given: Map<String, Value>,
    /// By slot, the number of messages when it was asked for last.
    asked: FxHashMap<String, usize>,
    /// The number of messages when all slots were asked for last.
    asked_all: Option<usize>,
    /// The slot for which the last answer asked, if it asked for one alone.
    asked_alone: Option<String>,
}

/// A value of a result.
#[derive(Clone, Debug)]
pub(in crate::procedures) struct Told {
    pub(in crate::procedures) slot: String,
    pub(in crate::procedures) value: Value,
    /// The number of the user's messages before the result.
    pub(in crate::procedures) at: usize,
}

/// Returns the elements of a list, nothing for null, and otherwise the value alone.
pub(in crate::procedures) fn elements(value: &Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items.clone(),
        Value::Null => Vec::new(),
        value => vec![value.clone()],
    }
}

impl Owners {
    /// Records a message. `names` are the names of slots.
    pub(in crate::procedures) fn hear(&mut self, text: &str, names: &[&str]) {
        let asked = self.asked_alone.take();
        self.parts.extend(parts(text, self.messages.len(), names, asked.as_deref()));
        self.messages.push(Saying::of(text));
    }

    /// Records an answer and the slots that it asks for. A question without slots asks for all slots.
    pub(in crate::procedures) fn answered(&mut self, text: &str, asks: &[String], is_question: bool) {
        text.clone_into(&mut self.proposed);
        let now = self.messages.len();
        self.asked.extend(asks.iter().map(|slot| (slot.clone(), now)));
        self.asked_alone = if let [only] = asks { Some(only.clone()) } else { None };
        if is_question && asks.is_empty() {
            self.asked_all = Some(now);
        }
    }

    /// Records a decision after the last answer. Unless the decision is null or false, the text of that answer counts
    /// as said by the user.
    pub(in crate::procedures) fn decided(&mut self, value: &Value) {
        let is_no = matches!(value, Value::Null | Value::Bool(false));
        if !is_no && !self.proposed.is_empty() {
            let agreed = Saying::of(&std::mem::take(&mut self.proposed));
            self.agreed.push((self.messages.len(), agreed));
        }
    }

    pub(in crate::procedures) fn told(&mut self, result: &Map<String, Value>) {
        let at = self.messages.len();
        for (slot, value) in result {
            let told = elements(value).into_iter();
            self.told.extend(told.map(|value| Told { slot: slot.clone(), value, at }));
        }
        let surplus = self.told.len().saturating_sub(MOST_TOLD);
        self.told.drain(..surplus);
    }

    pub(in crate::procedures) fn given(&mut self, slot: &str, value: Value) {
        self.given.insert(slot.to_owned(), value);
    }

    /// Returns the number of messages when the agent last asked for a slot, or for all slots; `None` if it did not, or
    /// if the user has not answered.
    pub(in crate::procedures) fn asked(&self, slot: &str) -> Option<usize> {
        let asked = self.asked.get(slot).copied().max(self.asked_all)?;
        (asked < self.messages.len()).then_some(asked)
    }
}
