//! Calls whose result asks a question, in sessions without `initialize`: a result with the type `input_required`. The
//! client answers by a retry of the call with `inputResponses` and the `requestState` of the question.
//!
//! For the rules, a call and its retries are one call, which waits for its result while a question is open.

use super::Guard;
use super::call::{Call, Retry, Running, STATE};
use crate::outcome::Outcome;
use crate::rules::{Reply, Values};
use crate::wire::error;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// A call that arrives so soon after a question was probably sent together with the call that asks it.
const TOGETHER: Duration = Duration::from_secs(1);
/// Maximum number of open questions of tools that the rules do not name; if there are more, the oldest are forgotten.
const MOST_OTHERS: usize = 64;
/// Maximum bytes of the state of a question of such a tool.
const MOST_STATE_BYTES: usize = 64 << 10;

/// A call of a tool of the rules that waits for its retry, because the server has answered it with a question.
#[derive(Debug)]
pub(super) struct Suspended {
    name: String,
    arguments: Values,
    state: Option<String>,
    pub(super) deadline: Instant,
}

impl Suspended {
    /// Reads the question that the result of a call asks. `None` if the result asks none: it is of another type, or has
    /// neither requests nor a state.
    fn of(running: &Running, result: &Value, deadline: Instant) -> Option<Suspended> {
        if result.get("resultType")? != "input_required" {
            return None;
        }
        let state = match result.get(STATE) {
            None | Some(Value::Null) => None,
            Some(state) => Some(state.as_str()?.to_owned()),
        };
        let is_request = |requests: &Value| requests.as_object().is_some_and(|requests| !requests.is_empty());
        if state.is_none() && !result.get("inputRequests").is_some_and(is_request) {
            return None;
        }
        Some(Suspended { name: running.name.clone(), arguments: running.arguments.clone(), state, deadline })
    }
}

/// Open questions of tools that the rules do not name: the tool and the state of each.
#[derive(Debug, Default)]
pub(super) struct OtherQuestions(VecDeque<(String, String)>);

impl OtherQuestions {
    /// Stores the question of a result, if it asks one with a state.
    pub(super) fn add(&mut self, name: String, result: &Value) {
        let state = result.get(STATE).and_then(Value::as_str);
        let Some(state) = state.filter(|state| state.len() <= MOST_STATE_BYTES) else { return };
        self.0.push_back((name, state.to_owned()));
        if self.0.len() > MOST_OTHERS {
            self.0.pop_front();
        }
    }

    /// Removes the question that a retry answers. Returns whether there was one.
    fn take(&mut self, tool: &str, retry: &Retry) -> bool {
        let is_of = |(name, state): &(String, String)| tool == name && retry.has_state(Some(state));
        let place = self.0.iter().position(is_of);
        place.and_then(|place| self.0.remove(place)).is_some()
    }
}

impl Guard<'_> {
    /// Opens the question that the result of a call asks. Returns whether the result asks one.
    pub(super) fn asks(&mut self, running: &Running, result: &Value, now: Instant) -> bool {
        if self.envelope.is_some() {
            self.suspended = Suspended::of(running, result, now + self.options.ask_deadline);
        }
        self.suspended.is_some()
    }

    /// Continues the call whose question is answered by a retry: the same tool, arguments and state. Refuses a retry of
    /// no open question: a server could take the state of another call for what the rules have allowed.
    pub(super) fn retry(&mut self, call: Call, retry: Retry, now: Instant) {
        let is_same = |name: &str, arguments: &Values| call.name == name && call.arguments == *arguments;
        let is_suspended = |suspended: &mut Suspended| {
            retry.has_state(suspended.state.as_deref()) && is_same(&suspended.name, &suspended.arguments)
        };
        if self.asking.as_ref().is_some_and(|asking| asking.is_retried(&call, &retry)) {
            self.question_retried(call, retry.answers, now);
        } else if self.suspended.take_if(is_suspended).is_some() {
            self.send_call(retry.put(call), now);
        } else {
            self.refuse_retry(&call);
        }
    }

    /// Passes on a retry of a tool that the rules do not name, if it has the state of an open question of this tool, or
    /// no state.
    pub(super) fn pass_retry(&mut self, call: Call, retry: Retry) {
        match retry.has_state(None) || self.other_questions.take(&call.name, &retry) {
            true => self.pass_call(retry.put(call)),
            false => self.refuse_retry(&call),
        }
    }

    fn refuse_retry(&mut self, call: &Call) {
        let text =
            "no open question of this call has this `requestState`: call without it and `inputResponses`";
        self.refuse(&call.id, error::INVALID_PARAMS, text);
    }

    /// Ends a question that was asked with a result, because the client makes another call. If the call was probably
    /// sent together with the call that asks, nothing happens, and it waits.
    pub(super) fn leave_question(&mut self, now: Instant) {
        const WHY: &str = "another call was made before the answer";
        let patience = self.options.ask_deadline;
        let is_new = |deadline: Instant| now + patience <= deadline + TOGETHER;
        if self.suspended.as_ref().is_some_and(|suspended| !is_new(suspended.deadline)) {
            self.abandon(WHY);
        }
        if self.asking.as_ref().is_some_and(|asking| asking.is_in_result() && !is_new(asking.deadline)) {
            self.end_question(Reply::Invalid(WHY.to_owned()), now);
        }
    }

    /// Ends the server's question without an answer: its call counts as failed. Does nothing if none is open.
    pub(super) fn abandon(&mut self, why: &str) {
        if self.suspended.take().is_some() {
            let why = format!("the question of the call was not answered: {why}");
            let (Ok(logged) | Err((logged, _))) = self.rules.result(Outcome::error(&why));
            self.log(&json!(["result", logged]));
            self.announce(false);
        }
    }
}
