//! Simulated APIs: rows of conditions on arguments and results.

use grammata::error::Result;
use grammata::syntax::automaton_spec::Spec;
use grammata_agents::plan::{Environment, Observation, Step};
use grammata_agents::procedures::Scalar;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Rows by the name of an API. A row is a pair: the arguments that a call must have, and the result of such a call.
pub type Rows = BTreeMap<String, Vec<(Map<String, Value>, Map<String, Value>)>>;

/// Simulated APIs, with [`Rows`] of conditions and results. A row matches a call that has an equal value for each of
/// its arguments; the call may have other arguments too. Numbers are compared as numbers, even if they are written as
/// texts; other texts and booleans are compared as texts in lower case, and other values by their JSON. The first
/// matching row of the API is used. A call without a matching row has an empty result.
#[derive(Clone, Debug, Default)]
pub struct SimulatedApis {
    rows: Rows,
}

impl SimulatedApis {
    /// Creates APIs that answer calls with the results in `rows`.
    pub fn new(rows: Rows) -> SimulatedApis {
        SimulatedApis { rows }
    }

    /// Returns the result of the first row that matches a call; empty if no row matches or the API has no rows.
    pub fn result(&self, api: &str, arguments: &Map<String, Value>) -> Map<String, Value> {
        let fits = |condition: &Map<String, Value>| {
            condition.iter().all(|(slot, wanted)| {
                arguments.get(slot).is_some_and(|value| Scalar::of(value) == Scalar::of(wanted))
            })
        };
        let rows = self.rows.get(api).map_or(&[][..], Vec::as_slice);
        rows.iter()
            .find(|(condition, _)| fits(condition))
            .map(|(_, result)| result.clone())
            .unwrap_or_default()
    }
}

impl Environment for SimulatedApis {
    fn execute(&mut self, spec: &Spec, step: &Step) -> Result<Observation> {
        let api = spec.symbols().get(step.action).map_or("", |symbol| symbol.id.as_str());
        let none = Map::new();
        let arguments = step.arguments.as_ref().and_then(Value::as_object).unwrap_or(&none);
        Ok(Observation { data: Value::Object(self.result(api, arguments)), ..Observation::default() })
    }
}
