//! Refusals of steps of a procedure, and the check of a call's arguments.

use crate::border::value;
use grammata::automaton::{Automaton, Cache, ConfigurationId, Lazy};
use grammata::{Limits, Result};
use grammata_agents::procedures::{
    Act, Argument, Arguments, NodeKind, Obstacle, Offer, Origin, Session, StepFormat, StepOptions, Values,
    step_grammar, step_text,
};
use grammata_python_border::from_json;
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

/// The most values that a shown schema lists.
const MOST_LISTED: usize = 100;

/// Why a step is not allowed.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// A rule of the procedure excludes the step.
    Obstacle(Obstacle),
    /// The value of an argument is not allowed.
    Schema {
        /// The name of the argument.
        slot: String,
        /// The schema of the allowed values; `false` if the call has no such argument.
        schema: Value,
    },
}

impl Refusal {
    /// Why a node is not allowed with any arguments; `None` if it is allowed.
    pub(crate) fn of(session: &Session<'_>, node: usize) -> Option<Refusal> {
        let is_call = session.procedure().nodes().get(node).is_some_and(|node| node.kind == NodeKind::Api);
        let lacking = || session.arguments(node).err().filter(|_| is_call);
        session.obstacle(node, None).or_else(lacking).map(Refusal::Obstacle)
    }

    /// Converts the refusal to the package's `Obstacle`.
    pub(crate) fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (mut node, mut slot, mut condition, mut values, mut limit, mut allowed) =
            (None, None, None, None, None, None);
        let (code, text) = match self {
            Refusal::Schema { slot: name, schema }
            | Refusal::Obstacle(Obstacle::Schema { slot: name, schema }) => {
                slot = Some(name.as_str());
                allowed = Some(from_json(py, schema)?);
                ("schema", schema_text(name, schema))
            }
            Refusal::Obstacle(obstacle) => {
                match obstacle {
                    Obstacle::Unknown
                    | Obstacle::Order
                    | Obstacle::Again
                    | Obstacle::Cancelled
                    | Obstacle::Schema { .. } => {}
                    Obstacle::Precondition(name) => node = Some(name.as_str()),
                    Obstacle::Limit(most) => limit = Some(*most),
                    Obstacle::Guard { condition: test, values: known } => {
                        (condition, values) = (Some(test.as_str()), Some(known.as_str()));
                    }
                    Obstacle::Stale { api, slot: name } => {
                        (node, slot) = (Some(api.as_str()), Some(name.as_str()))
                    }
                    Obstacle::Argument(name) | Obstacle::Unsaid(name) => slot = Some(name.as_str()),
                    Obstacle::Blocking(outcome) => condition = Some(outcome.as_str()),
                }
                (obstacle.code(), sentence(obstacle))
            }
        };
        value(py, "Obstacle", (code, text, node, slot, condition, values, limit, allowed))
    }
}

fn schema_text(slot: &str, schema: &Value) -> String {
    if *schema == Value::Bool(false) {
        return format!("the call has no argument `{slot}`");
    }
    let allowed: String = schema.to_string().chars().take(400).collect();
    format!("the argument `{slot}` must be a value of the schema {allowed}")
}

/// Describes an obstacle in a sentence, for a model or its user.
fn sentence(obstacle: &Obstacle) -> String {
    match obstacle {
        Obstacle::Unknown => "the procedure has no such call or answer".to_owned(),
        Obstacle::Precondition(name) => format!("`{name}` must come before"),
        Obstacle::Limit(most) => format!("it may be called {most} times at most"),
        Obstacle::Guard { condition, values } if condition.is_empty() => {
            format!("no call of the text is open{values}")
        }
        Obstacle::Guard { condition, values } if values.is_empty() => {
            format!("the condition `{condition}` does not hold")
        }
        Obstacle::Guard { condition, values } => {
            format!("the condition `{condition}` does not hold: {values}")
        }
        Obstacle::Order => "another step comes next in the procedure".to_owned(),
        Obstacle::Stale { api, slot } => format!("`{slot}` must have the value that `{api}` was called with"),
        Obstacle::Argument(slot) => {
            format!("the argument `{slot}` is missing, or nothing is known that it may be")
        }
        Obstacle::Schema { slot, schema } => schema_text(slot, schema),
        Obstacle::Unsaid(slot) => {
            format!("nobody said the value of `{slot}`: take it from the user or from a result, or ask")
        }
        Obstacle::Again => {
            "the same call was answered, and nothing that it depends on has changed since".to_owned()
        }
        Obstacle::Cancelled => "the user dropped the request, and the call has an effect".to_owned(),
        Obstacle::Blocking(outcome) => {
            format!("after `{outcome}` no end of the procedure would be certain to be reached")
        }
    }
}

/// Returns the first argument whose name or value is not allowed now; `None` if all are.
///
/// # Errors
/// Schemas that are not supported; limits.
pub(crate) fn wrong_argument(
    api: &str,
    known: &Arguments,
    given: &Values,
    limits: &Limits,
) -> Result<Option<Refusal>> {
    for (name, value) in given {
        let refusal = |schema| Ok(Some(Refusal::Schema { slot: name.clone(), schema }));
        let Some(slot) = known.slots.iter().find(|slot| slot.slot == *name) else {
            return refusal(Value::Bool(false));
        };
        let is_right = match &slot.origin {
            Origin::Fixed(fixed) => fixed == value,
            Origin::Told(told) => told.contains(value),
            Origin::Words(words) => value.as_str().is_some_and(|text| words.iter().any(|word| word == text)),
            Origin::Schema => is_value(api, slot, value, limits)?,
        };
        if !is_right {
            return refusal(schema(slot));
        }
    }
    Ok(None)
}

/// Whether a value conforms to the schema of a slot, checked with the grammar that also constrains models.
///
/// # Errors
/// Those of [`wrong_argument`].
pub(crate) fn is_value(api: &str, slot: &Argument, value: &Value, limits: &Limits) -> Result<bool> {
    let arguments = Arguments { slots: vec![slot.clone()], excluded: Vec::new() };
    let offers = [Offer::Call { api: api.to_owned(), arguments }];
    let options = StepOptions::default().format(StepFormat::Json).limits(limits.clone());
    let automaton = Automaton::new(&step_grammar(&offers, &options)?, limits)?;
    let arguments = Map::from_iter([(slot.slot.clone(), value.clone())]);
    let text = step_text(&Act::Call { name: api.to_owned(), arguments }, &offers, StepFormat::Json);
    let mut tables = Cache::new();
    let mut run = Lazy::new(&automaton, &mut tables);
    let mut at = run.start()?;
    for &byte in text.as_bytes() {
        at = run.step(at, byte)?;
        if at == ConfigurationId::DEAD {
            return Ok(false);
        }
    }
    Ok(run.is_accepting(at))
}

/// The JSON Schema of an argument. A list of more than [`MOST_LISTED`] values is replaced by a description; calls are
/// still checked against all of them.
fn schema(slot: &Argument) -> Value {
    let values = match &slot.origin {
        Origin::Fixed(value) => return json!({ "const": value }),
        Origin::Schema => return slot.schema.clone(),
        Origin::Told(values) => json!(values),
        Origin::Words(words) => json!(words),
    };
    match values.as_array().is_some_and(|values| values.len() > MOST_LISTED) {
        true => json!({ "description": "a value that the user or a result gave, as it was written there" }),
        false => json!({ "enum": values }),
    }
}

/// The JSON Schema of the arguments of a call, without keywords that chat servers refuse.
pub(crate) fn parameters(session: &Session<'_>, known: &Arguments) -> Value {
    let mut properties = Map::new();
    for slot in &known.slots {
        let mut property = match schema(slot) {
            // the file declares no schema for the slot
            Value::Bool(true) => json!({ "type": ["string", "number", "boolean"] }),
            schema => schema,
        };
        let description = session.procedure().slot(&slot.slot).map_or("", |slot| slot.description.as_str());
        if let Some(property) = property.as_object_mut().filter(|_| !description.is_empty()) {
            property.entry("description").or_insert_with(|| description.into());
        }
        properties.insert(slot.slot.clone(), property);
    }
    let required = known.slots.iter().filter(|slot| slot.is_required).map(|slot| slot.slot.as_str());
    let required: Vec<&str> = required.collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}
