//! Calls that the server answers with a question, in sessions without `initialize`: a result with the type
//! `input_required`. The client answers by a retry of the call with `inputResponses` and the `requestState` of the
//! question.
//!
//! For the rules, the call and its retries are one call, which waits for its result while a question is open.

use super::Guard;
use super::calls::{Call, Running};
use crate::outcome::Outcome;
use crate::rules::Values;
use crate::wire::error;
use serde_json::{Value, json};
use std::time::Instant;

/// How long a question may be open, in deadlines of a call.
const PATIENCE: u32 = 10;
/// The parameters of a retry.
const RETRY: [&str; 2] = ["requestState", "inputResponses"];

/// A call of a tool of the rules that waits for its retry.
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
        let state = match result.get("requestState") {
            None | Some(Value::Null) => None,
            Some(state) => Some(state.as_str()?.to_owned()),
        };
        let is_request = |requests: &Value| requests.as_object().is_some_and(|requests| !requests.is_empty());
        if state.is_none() && !result.get("inputRequests").is_some_and(is_request) {
            return None;
        }
        Some(Suspended { name: running.name.clone(), arguments: running.arguments.clone(), state, deadline })
    }

    /// Returns whether `call` is the retry of the call that asked: the same tool, arguments and state.
    fn is_answered_by(&self, call: &Call) -> bool {
        let state = call.rest.get(RETRY[0]).filter(|state| !state.is_null());
        let is_state = match (&self.state, state) {
            (None, None) => true,
            (Some(known), Some(state)) => state == known,
            _ => false,
        };
        is_state && self.name == call.name && self.arguments == call.arguments
    }
}

/// Returns whether a call is a retry after a question.
pub(super) fn is_retry(call: &Call) -> bool {
    RETRY.iter().any(|name| call.rest.get(*name).is_some_and(|value| !value.is_null()))
}

impl Guard<'_> {
    /// Opens the question that the result of a call asks. Returns whether the result asks one.
    pub(super) fn asks(&mut self, running: &Running, result: &Value, now: Instant) -> bool {
        if self.envelope.is_some() {
            let deadline = now + self.options.deadline * PATIENCE;
            self.suspended = Suspended::of(running, result, deadline);
        }
        self.suspended.is_some()
    }

    /// Passes on the retry of the call that asked the open question. Refuses other retries: a server could take the
    /// state of another call for what the rules have allowed.
    pub(super) fn retry(&mut self, call: Call, now: Instant) {
        if self.suspended.take_if(|suspended| suspended.is_answered_by(&call)).is_none() {
            let text =
                "no open question of this call has this `requestState`: call without it and `inputResponses`";
            return self.refuse(&call.id, error::INVALID_PARAMS, text);
        }
        self.send_call(call, now);
    }

    /// Closes the open question without an answer: its call counts as failed. Does nothing if none is open.
    pub(super) fn abandon(&mut self, why: &str) {
        if self.suspended.take().is_some() {
            let (Ok(logged) | Err((logged, _))) = self.rules.result(Outcome::error(why));
            self.log(&json!(["result", logged]));
            self.announce(false);
        }
    }
}
