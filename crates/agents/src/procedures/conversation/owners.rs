//! Everything that was said in a conversation, and by whom.

use super::sayings::Saying;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

/// The maximum number of values of results that are remembered; the oldest are forgotten.
const MOST_TOLD: usize = 4_096;

/// Everything that was said in a conversation, and by whom.
#[derive(Clone, Debug, Default)]
pub(in crate::procedures) struct Owners {
    /// The user's messages, the oldest first.
    pub(in crate::procedures) messages: Vec<Saying>,
    /// Texts of answers that the user agreed to with a decision.
    pub(in crate::procedures) agreed: Vec<Saying>,
    /// The text of the last answer; empty once the user agreed to it.
    proposed: String,
    /// Values of results with their slots, the oldest first. Elements of lists are separate values.
    pub(in crate::procedures) told: Vec<(String, Value)>,
    /// Values known before the conversation, by slot.
    pub(in crate::procedures) given: Map<String, Value>,
    /// By slot, the number of messages when it was asked for last.
    asked: FxHashMap<String, usize>,
    /// The number of messages when all slots were asked for last.
    asked_all: Option<usize>,
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
    pub(in crate::procedures) fn hear(&mut self, text: &str) {
        self.messages.push(Saying::of(text));
    }

    /// Records an answer and the slots that it asks for. A question without slots asks for all slots.
    pub(in crate::procedures) fn answered(&mut self, text: &str, asks: &[String], is_question: bool) {
        text.clone_into(&mut self.proposed);
        let now = self.messages.len();
        self.asked.extend(asks.iter().map(|slot| (slot.clone(), now)));
        if is_question && asks.is_empty() {
            self.asked_all = Some(now);
        }
    }

    /// Records a decision after the last answer. Unless the decision is null or false, the text of that answer counts
    /// as said by the user.
    pub(in crate::procedures) fn decided(&mut self, value: &Value) {
        let is_no = matches!(value, Value::Null | Value::Bool(false));
        if !is_no && !self.proposed.is_empty() {
            self.agreed.push(Saying::of(&std::mem::take(&mut self.proposed)));
        }
    }

    pub(in crate::procedures) fn told(&mut self, result: &Map<String, Value>) {
        for (slot, value) in result {
            self.told.extend(elements(value).into_iter().map(|value| (slot.clone(), value)));
        }
        let surplus = self.told.len().saturating_sub(MOST_TOLD);
        self.told.drain(..surplus);
    }

    pub(in crate::procedures) fn given(&mut self, slot: &str, value: Value) {
        self.given.insert(slot.to_owned(), value);
    }

    /// Returns the messages since the agent last asked for a slot, or for all slots; `None` if it did not, or if the
    /// user has not answered.
    pub(in crate::procedures) fn answers_to(&self, slot: &str) -> Option<&[Saying]> {
        let asked = self.asked.get(slot).copied().max(self.asked_all)?;
        self.messages.get(asked..).filter(|messages| !messages.is_empty())
    }

    /// Returns the distinct numbers of the user's messages, the latest message first.
    pub(in crate::procedures) fn numbers(&self) -> Vec<Value> {
        let mut seen = Vec::new();
        for number in self.messages.iter().rev().flat_map(Saying::numbers) {
            let whole = number.fract() == 0.0 && number.abs() < 9e15;
            let value = if whole { Value::from(*number as i64) } else { Value::from(*number) };
            if !seen.contains(&value) {
                seen.push(value);
            }
        }
        seen
    }

    pub(in crate::procedures) fn normal_forms(&self) -> impl Iterator<Item = String> {
        self.messages.iter().rev().flat_map(Saying::normal_forms)
    }
}
