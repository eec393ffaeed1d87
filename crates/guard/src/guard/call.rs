//! A call of a tool, and the parameters that make it a retry of an earlier one.

use crate::rules::Values;
use crate::wire::Id;
use serde_json::{Value, json};
use std::time::Instant;

/// The parameter with the state of a question, and the member of its result.
pub(super) const STATE: &str = "requestState";
const ANSWERS: &str = "inputResponses";

/// The owner of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    /// The guard. The name is that of the tool in the rules, without the prefix.
    Own(&'static str),
    /// The server; the rules name the tool.
    Servers,
    /// Not the guard, and not named by the rules. The server may have the tool.
    Other,
}

/// A `tools/call` request of the client.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) id: Id,
    pub(super) tool: Tool,
    pub(super) name: String,
    pub(super) arguments: Values,
    /// The parameters other than `name` and `arguments`, such as `_meta`.
    pub(super) rest: Values,
    pub(super) bytes: usize,
}

impl Call {
    /// Returns the parameters for the server. Each member occurs only once, so that the server reads the name and the
    /// arguments that the rules have checked.
    pub(super) fn params(self) -> Value {
        let mut params = Values::new();
        params.insert("name".to_owned(), self.name.into());
        params.insert("arguments".to_owned(), self.arguments.into());
        params.extend(self.rest);
        Value::Object(params)
    }
}

/// The checked call that the server carries out now.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) id: Id,
    /// The id of the request to the server, which the guard has chosen.
    pub(super) number: u64,
    pub(super) name: String,
    pub(super) arguments: Values,
    pub(super) deadline: Instant,
}

/// Returns the result of a tool call: one text, and whether the call failed.
pub(super) fn result(text: &str, is_error: bool) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "isError": is_error })
}

/// The parameters of a retry.
#[derive(Debug)]
pub(super) struct Retry {
    /// The state of the question; null if the retry has none.
    state: Value,
    /// The answers by the names of the questions; null if the retry has none.
    pub(super) answers: Value,
}

impl Retry {
    /// Removes the parameters of a retry from a call; `None` if the call is not a retry.
    pub(super) fn take(call: &mut Call) -> Option<Retry> {
        let mut take = |name: &str| call.rest.shift_remove(name).unwrap_or_default();
        let retry = Retry { state: take(STATE), answers: take(ANSWERS) };
        (!retry.state.is_null() || !retry.answers.is_null()).then_some(retry)
    }

    /// Returns whether the state is that of a question; `None` if the question has none.
    pub(super) fn has_state(&self, state: Option<&str>) -> bool {
        self.state == state.map_or(Value::Null, Value::from)
    }

    /// Returns the call with the parameters of the retry.
    pub(super) fn put(self, mut call: Call) -> Call {
        let members = [(STATE, self.state), (ANSWERS, self.answers)].into_iter();
        let members = members.filter(|(_, value)| !value.is_null());
        call.rest.extend(members.map(|(name, value)| (name.to_owned(), value)));
        call
    }
}
