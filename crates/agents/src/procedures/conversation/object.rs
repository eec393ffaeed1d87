//! Steps as JSON objects, for agents without masks: a schema of the offered steps, which is wider than their grammar,
//! and the text of an object's step, which the grammar checks.

use super::act::Act;
use super::arguments::Arguments;
use super::fill::one_line;
use super::session::Values;
use super::step::{Offer, StepFormat, Text};
use serde_json::{Value, json};

/// The member that has the step, because strict servers require an object at the root.
const STEP: &str = "step";
/// The member that has a thought.
const THOUGHT: &str = "thought";

/// Returns a JSON Schema of an object with one of the offers as its member `step`: `{"call": API, "arguments": {…}}` or
/// `{"say": NAME, "text": TEXT}`. Before `step` there is a member `thought` of at most `thought` characters, unless
/// that is `None`. As strict servers require, all members are required and no others are allowed: an optional argument
/// without a value is null. Answers with only one text have no `text`. A text has at most `characters` characters.
pub fn object_schema(offers: &[Offer], thought: Option<u32>, characters: u32) -> Value {
    let text = |most: u32| json!({"type": "string", "maxLength": most});
    let mut steps = Vec::new();
    let (mut fixed, mut free) = (Vec::new(), Vec::new());
    for offer in offers {
        match offer {
            Offer::Call { api, arguments } => steps.push(call(api, schema(arguments))),
            Offer::Control(name) => steps.push(call(name, object([]))),
            Offer::Answer { name, text: Text::Verbatim(_), .. } => fixed.push(name.as_str()),
            Offer::Answer { name, .. } => free.push(name.as_str()),
        }
    }
    let names = |names: Vec<&str>| json!({"type": "string", "enum": names});
    if !fixed.is_empty() {
        steps.push(object([("say", names(fixed))]));
    }
    if !free.is_empty() {
        steps.push(object([("say", names(free)), ("text", text(characters))]));
    }
    let step = json!({"anyOf": steps});
    match thought {
        Some(most) => object([(THOUGHT, text(most)), (STEP, step)]),
        None => object([(STEP, step)]),
    }
}

fn call(name: &str, arguments: Value) -> Value {
    object([("call", json!({"type": "string", "enum": [name]})), ("arguments", arguments)])
}

/// Returns the schema of an object that requires these members.
fn object<'n>(members: impl IntoIterator<Item = (&'n str, Value)>) -> Value {
    let properties: Values = members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let required: Vec<&String> = properties.keys().collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// Returns a schema of arguments. In contrast to [`Arguments::schema`], repetitions are not excluded, optional slots
/// are null if they have no value, and a slot without a schema is a text, a number or a boolean.
fn schema(arguments: &Arguments) -> Value {
    object(arguments.slots.iter().map(|slot| {
        let schema = match slot.narrowed() {
            // a slot without a schema
            Value::Bool(_) => json!({"type": ["string", "number", "boolean"]}),
            schema => schema,
        };
        let schema = if slot.is_required { schema } else { json!({"anyOf": [schema, {"type": "null"}]}) };
        (slot.slot.as_str(), schema)
    }))
}

/// Reads the act of an object, which is the object or its member `step`. Returns `None` if there is no act. Optional
/// arguments of an offered call that are null are dropped. An answer that is offered with one text has that text.
pub fn object_act(text: &str, offers: &[Offer]) -> Option<Act> {
    let value: Value = serde_json::from_str(text.trim()).ok()?;
    let step = value.get(STEP).unwrap_or(&value);
    let field = |name: &str| step.get(name).and_then(Value::as_str);
    if let Some(name) = field("call") {
        let mut arguments = step.get("arguments").and_then(Value::as_object).cloned().unwrap_or_default();
        let offered = offers.iter().find_map(|offer| match offer {
            Offer::Call { api, arguments } if api == name => Some(arguments),
            _ => None,
        });
        if let Some(offered) = offered {
            let is_optional =
                |name: &str| offered.slots.iter().any(|slot| slot.slot == name && !slot.is_required);
            arguments.retain(|name, value| !(value.is_null() && is_optional(name)));
        }
        return Some(Act::Call { name: name.to_owned(), arguments });
    }
    let name = field("say")?;
    // an answer with one text says that text, whatever was written
    let fixed = offers.iter().find_map(|offer| match offer {
        Offer::Answer { name: known, text: Text::Verbatim(text), .. } if known == name => Some(text.as_str()),
        _ => None,
    });
    let text = fixed.or(field("text"))?;
    Some(Act::answer(name, &one_line(text)))
}

/// Returns the text of an act in a format, as the grammar of the offers spells it: arguments in the order of the
/// request.
pub fn step_text(act: &Act, offers: &[Offer], format: StepFormat) -> String {
    let quoted = |text: &str| Value::from(text).to_string();
    match act {
        Act::Call { name, arguments } => {
            let order: Vec<&str> = offers
                .iter()
                .find_map(|offer| match offer {
                    Offer::Call { api, arguments } if api == name => Some(arguments),
                    _ => None,
                })
                .map(|arguments| arguments.slots.iter().map(|slot| slot.slot.as_str()).collect())
                .unwrap_or_default();
            let mut members: Vec<(&String, &Value)> = arguments.iter().collect();
            members
                .sort_by_key(|(name, _)| order.iter().position(|slot| slot == name).unwrap_or(order.len()));
            let members: Vec<String> =
                members.iter().map(|(name, value)| format!("{}: {value}", quoted(name))).collect();
            let arguments = format!("{{{}}}", members.join(", "));
            match format {
                StepFormat::Json => format!("{{\"call\": {}, \"arguments\": {arguments}}}", quoted(name)),
                StepFormat::Published => format!("Action: {name}\nAction Input: {arguments}"),
            }
        }
        Act::Answer { name, asks, text } => {
            let name = if asks.is_empty() { name.clone() } else { format!("{name}({})", asks.join(", ")) };
            match format {
                StepFormat::Json => format!("{{\"say\": {}, \"text\": {}}}", quoted(&name), quoted(text)),
                StepFormat::Published => format!("Answer: {name}\nResponse: {text}"),
            }
        }
    }
}
