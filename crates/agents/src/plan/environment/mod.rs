//! Environments, which execute steps and return observations.

mod errors;

use super::step::Step;
use grammata::error::Result;
use grammata::syntax::automaton_spec::{About, Spec};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The observed result of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Observation {
    /// The name of the outcome; optional if the facts determine it or the action has no outcomes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The flags and facts after the step: `true` or `false`, a value, or null for none.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub facts: Map<String, Value>,
    /// Any other data. The data has no effect on the plan; it informs whoever chooses the next step.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub data: Value,
}

/// Executes steps.
pub trait Environment {
    /// Executes a step whose arguments match their schema, and returns what was observed.
    ///
    /// # Errors
    /// `environment/failed`: the step could not be executed; `environment/timeout`: it took too long. The plan stays
    /// unchanged after either error.
    fn execute(&mut self, spec: &Spec, step: &Step) -> Result<Observation>;
}

impl<F: FnMut(&Spec, &Step) -> Result<Observation>> Environment for F {
    fn execute(&mut self, spec: &Spec, step: &Step) -> Result<Observation> {
        self(spec, step)
    }
}

/// Returns the values of a spec's variables after an action with an outcome.
pub(super) fn values_after(spec: &Spec, values: &[u32], action: usize, outcome: Option<usize>) -> Vec<u32> {
    let mut values = values.to_vec();
    for (variable, value) in spec.facts().rules(action).effects(outcome) {
        if let Some(place) = values.get_mut(variable) {
            *place = value;
        }
    }
    values
}

/// Returns the outcome that an observation names or that its facts determine; `None` if the action has no outcomes.
/// `values` are the values of the variables before the step.
///
/// # Errors
/// `environment/forbidden`: the outcome or a fact is not one of the spec's, the facts contradict the outcome, or no
/// outcome is named and the facts leave several.
pub(super) fn outcome_of(
    spec: &Spec,
    action: usize,
    values: &[u32],
    observation: &Observation,
) -> Result<Option<usize>> {
    let Some(symbol) = spec.symbols().get(action) else { return Ok(None) };
    let facts = known_facts(spec, action, observation)?;
    let contradicted = |outcome: Option<usize>| {
        let after = values_after(spec, values, action, outcome);
        facts.iter().find(|&&(variable, value)| after.get(variable) != Some(&value)).copied()
    };
    let named = match &observation.outcome {
        Some(name) => match symbol.outcomes.iter().position(|outcome| outcome == name) {
            Some(outcome) => vec![Some(outcome)],
            None => return Err(errors::no_such_outcome(symbol, name)),
        },
        None if symbol.outcomes.is_empty() => vec![None],
        None => (0..symbol.outcomes.len()).map(Some).collect(),
    };
    let possible: Vec<Option<usize>> =
        named.iter().copied().filter(|&outcome| contradicted(outcome).is_none()).collect();
    match (possible[..].first(), possible.len(), named.first()) {
        (Some(&outcome), 1, _) => Ok(outcome),
        (Some(_), ..) => Err(errors::outcome_not_named(symbol)),
        (None, _, Some(&outcome)) => {
            let (variable, found) = contradicted(outcome).unwrap_or_default();
            let value = values_after(spec, values, action, outcome).get(variable).copied();
            Err(errors::fact_contradicts(spec, symbol, variable, found, value.unwrap_or_default()))
        }
        (None, _, None) => Ok(None),
    }
}

/// Returns the outcome of an action that an observation names, for a spec without facts.
///
/// # Errors
/// `environment/forbidden`: the outcome is not one of the spec's, the observation has facts, or no outcome is named and
/// the action has several.
pub fn observed_outcome(spec: &Spec, action: usize, observation: &Observation) -> Result<Option<usize>> {
    outcome_of(spec, action, &[], observation)
}

/// Returns the facts of an observation as pairs of the index of a variable and the index of its value.
fn known_facts(spec: &Spec, action: usize, observation: &Observation) -> Result<Vec<(usize, u32)>> {
    let variables = spec.facts().variables();
    let id = spec.symbols().get(action).map_or("", |symbol| symbol.id.as_str());
    let mut found = Vec::with_capacity(observation.facts.len());
    for (name, value) in &observation.facts {
        let place =
            variables.iter().position(|variable| variable.about == About::Fact && variable.name == *name);
        let Some(place) = place else {
            let known = variables.iter().filter(|variable| variable.about == About::Fact);
            return Err(errors::no_such_fact(id, name, known.map(|variable| variable.name.as_str())));
        };
        let variable = &variables[place];
        let number = match value {
            Value::Bool(value) if variable.is_boolean() => Some(usize::from(*value)),
            Value::Null if !variable.is_boolean() => Some(0),
            Value::String(value) if !value.is_empty() => {
                variable.values.iter().position(|known| known == value)
            }
            _ => None,
        };
        match number {
            Some(number) => found.push((place, number as u32)),
            None => return Err(errors::no_such_value(id, variable, value)),
        }
    }
    Ok(found)
}

/// Converts a step to the JSON object that an environment receives: the step's action and text, its elements if the
/// action is set-valued, and its arguments if present.
pub fn step_json(spec: &Spec, step: &Step) -> Value {
    let mut object = Map::new();
    let symbol = spec.symbols().get(step.action);
    object.insert("action".to_owned(), Value::from(symbol.map_or("", |symbol| symbol.id.as_str())));
    object.insert("text".to_owned(), Value::from(step.text(spec)));
    if let Some(set) = symbol.and_then(|symbol| symbol.set.as_ref()) {
        let elements = step.elements.iter().filter_map(|&place| set.of.get(place));
        object.insert("elements".to_owned(), elements.map(String::as_str).collect());
    }
    if let Some(arguments) = &step.arguments {
        object.insert("arguments".to_owned(), arguments.clone());
    }
    Value::Object(object)
}
