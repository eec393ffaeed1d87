//! A policy that replays predefined answers.

use super::{Answer, ArgumentRequest, Policy, answer_of};
use crate::plan::errors;
use crate::plan::question::Question;
use grammata::error::Result;
use serde_json::Value;

/// Replays predefined answers: labels or numbers from 1 as in the question; for a set, a comma-separated list of labels
/// or numbers. Arguments are separate answers, in JSON.
#[derive(Clone, Debug)]
pub struct ScriptedPolicy {
    answers: std::vec::IntoIter<String>,
    given: usize,
}

impl ScriptedPolicy {
    /// Takes the answers in the order of the questions.
    pub fn new(answers: impl IntoIterator<Item = String>) -> ScriptedPolicy {
        ScriptedPolicy { answers: answers.into_iter().collect::<Vec<_>>().into_iter(), given: 0 }
    }
}

impl Policy for ScriptedPolicy {
    fn choose(&mut self, question: &Question) -> Result<Answer> {
        self.given += 1;
        let ended = || errors::script_ended(self.given, &question.choices);
        let text = self.answers.next().ok_or_else(ended)?;
        answer_of(question, &text).ok_or_else(|| errors::wrong_answer(&text, self.given, &question.choices))
    }

    fn arguments(&mut self, request: &ArgumentRequest<'_>) -> Result<Value> {
        self.given += 1;
        let text = self
            .answers
            .next()
            .ok_or_else(|| errors::no_arguments(request.spec, request.action, self.given))?;
        request.parse(&text)
    }
}
