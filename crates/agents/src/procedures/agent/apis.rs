//! Simulated APIs: rows of conditions on arguments and results.

use crate::plan::{Environment, Observation, Step};
use crate::procedures::language::value::Scalar;
use grammata::error::Result;
use grammata::syntax::automaton_spec::Spec;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// By API, pairs of arguments that a call must have and its result.
pub type Rows = BTreeMap<String, Vec<(Map<String, Value>, Map<String, Value>)>>;

/// By API, rows of arguments that a call must have and the result that it then gets. The first matching row is used; a
/// call without one gets an empty result. The result `{"timeout": true}` means that the call takes too long.
#[derive(Clone, Debug, Default)]
pub struct SimulatedApis {
    rows: Rows,
}

impl SimulatedApis {
    /// Creates APIs with these rows.
    pub fn new(rows: Rows) -> SimulatedApis {
        SimulatedApis { rows }
    }

    /// Returns the result of a call.
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
