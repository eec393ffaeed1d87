//! Simulations: a file with the mock of a procedure's APIs and scripted users.

use super::apis::{Rows, SimulatedApis};
use super::errors;
use grammata::diagnostic::{Notation, Source};
use grammata::error::Result;
use grammata::limits::Limits;
use grammata_agents::procedures::Values;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A message of a scripted user that is out of the workflow.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutOfWorkflow {
    /// The turn of the user at which the message replaces an answer. The first message is turn 1, and each answer of
    /// the script to the agent is one more turn. With 1 the message is never sent.
    pub at: usize,
    /// The type of the message, written `kind/type`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The text of the message.
    pub say: String,
    /// New values of slots that the message tells.
    #[serde(default)]
    pub set: Values,
    /// Whether the user drops the request with the message.
    #[serde(default)]
    pub cancel: bool,
}

/// The expected calls and informs of a session.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// The calls: names of APIs with their arguments.
    #[serde(default)]
    pub calls: Vec<(String, Values)>,
    /// The names of the answers of the kind `inform`, in order.
    #[serde(default)]
    pub informs: Vec<String>,
}

/// A scripted user.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserScript {
    /// The name of the user among those of the file.
    pub id: String,
    /// `iw`: stays in the workflow; `oow`: leaves it.
    pub kind: String,
    /// The first message.
    pub open: String,
    /// Slots that the first message tells, if `slots` has their values.
    #[serde(default)]
    pub opens_with: Vec<String>,
    /// The values that the user knows.
    pub slots: Values,
    /// The decisions of the user, by slot: a value, or a list of values for one decision after another.
    #[serde(default)]
    pub decide: Values,
    /// Conditions in words, and whether they hold.
    #[serde(default)]
    pub prose: BTreeMap<String, bool>,
    /// Messages out of the workflow.
    #[serde(default)]
    pub oow: Vec<OutOfWorkflow>,
    /// The expected calls and informs.
    #[serde(default)]
    pub expect: Expected,
}

/// A file of simulated APIs and users.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Simulation {
    /// The name of the procedure.
    pub procedure: String,
    /// Rows by the name of an API: arguments, and the result of calls with these arguments.
    pub mock: Rows,
    /// The scripted users.
    pub users: Vec<UserScript>,
}

impl Simulation {
    /// Reads a simulation in JSON.
    ///
    /// # Errors
    /// `procedure/simulation` with the place if the text is not a simulation; the limit `source_bytes`.
    pub fn read(text: &str, limits: &Limits) -> Result<Simulation> {
        limits.check_source(text)?;
        let source = Source::new(text, Notation::Text);
        serde_json::from_str(text).map_err(|cause| errors::simulation(&cause).in_source(&source))
    }

    /// Returns the simulated APIs with the rows of `mock`.
    pub fn apis(&self) -> SimulatedApis {
        SimulatedApis::new(self.mock.clone())
    }

    /// Returns the first user with the id `id`; `None` if there is no such user.
    pub fn user(&self, id: &str) -> Option<&UserScript> {
        self.users.iter().find(|user| user.id == id)
    }
}

impl UserScript {
    /// Returns the value of a slot in `slots`, the values that the user knows.
    pub fn value(&self, slot: &str) -> Option<&Value> {
        self.slots.get(slot)
    }
}
