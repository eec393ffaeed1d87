//! What is wrong with an output. Nothing of the engine is used: texts are cut and read here, arguments are judged by the crate
//! `jsonschema`. Only turns of `endpoint`, `http` and `restgpt` are read by the reader of their call format.

use super::python::python;
use crate::tools::{CallFormat, ToolSet};
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::fmt;

/// The first thing that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Fault {
    /// The limit of tokens came first.
    Cut,
    /// The turn has not the form of the call format.
    Format,
    /// The arguments are no JSON.
    Json,
    /// No tool has the name.
    Name,
    /// A required argument is missing.
    Missing,
    /// An argument is not declared.
    Undeclared,
    /// An argument is of another type.
    Type,
    /// An argument is out of its bounds, or none of the listed values.
    Value,
    /// An argument comes twice.
    Duplicate,
    /// The published algorithm has no parser for the schema.
    Exception,
}

impl Fault {
    pub(super) const ALL: [Fault; 10] = [
        Fault::Cut,
        Fault::Format,
        Fault::Json,
        Fault::Name,
        Fault::Missing,
        Fault::Undeclared,
        Fault::Type,
        Fault::Value,
        Fault::Duplicate,
        Fault::Exception,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Fault::Cut => "cut",
            Fault::Format => "format",
            Fault::Json => "json",
            Fault::Name => "name",
            Fault::Missing => "missing",
            Fault::Undeclared => "undeclared",
            Fault::Type => "type",
            Fault::Value => "value",
            Fault::Duplicate => "duplicate",
            Fault::Exception => "exception",
        }
    }

    /// What a model is told of it.
    pub(super) fn told(self) -> &'static str {
        match self {
            Fault::Cut => "it did not end",
            Fault::Format => "it is no call in the form of the examples",
            Fault::Json => "its arguments are no JSON",
            Fault::Name => "no tool has this name",
            Fault::Missing => "an argument that must be there is missing",
            Fault::Undeclared => "the tool has no such argument",
            Fault::Type => "an argument is of another type",
            Fault::Value => "an argument has a value that is not allowed",
            Fault::Duplicate => "an argument is there twice",
            Fault::Exception => "it cannot be read",
        }
    }
}

/// A call as it was read here.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Judged {
    pub(super) tool: String,
    pub(super) arguments: Value,
}

/// Judges turns of a call format.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judge<'a> {
    pub(super) format: &'a CallFormat,
    pub(super) format_name: &'a str,
}

impl Judge<'_> {
    /// The call of a turn.
    pub(super) fn turn(&self, text: &str, set: &ToolSet) -> Result<Judged, Fault> {
        match self.format_name {
            "react" => react(text, set),
            "json" => json(text, set),
            "relation" => name(text, set),
            "python" => python(text, set),
            _ => {
                let turn = self.format.read(text, set).map_err(|_| Fault::Format)?;
                let call = turn.calls.first().ok_or(Fault::Format)?;
                if self.format_name == "endpoint" {
                    return Ok(Judged { tool: call.tool.clone(), arguments: json!({}) });
                }
                validated(Value::Object(call.arguments.clone()), &call.tool, set)
            }
        }
    }
}

/// The call of a turn in ReAct.
fn react(text: &str, set: &ToolSet) -> Result<Judged, Fault> {
    let body = text.strip_prefix("Thought:").ok_or(Fault::Format)?;
    let (_, action) = body.split_once("\nAction: ").ok_or(Fault::Format)?;
    let (name, input) = action.split_once("\nAction Input: ").ok_or(Fault::Format)?;
    if name.contains('\n') {
        return Err(Fault::Format);
    }
    known(name, set)?;
    arguments(input, name, set)
}

/// A call as the JSON object that a turn is.
fn json(text: &str, set: &ToolSet) -> Result<Judged, Fault> {
    if !text.starts_with('{') {
        return Err(Fault::Format);
    }
    let value: Value = serde_json::from_str(text).map_err(|_| Fault::Json)?;
    let object = value.as_object().ok_or(Fault::Format)?;
    let name = object.get("name").and_then(Value::as_str);
    let (Some(name), Some(inner), 2) = (name, object.get("arguments"), object.len()) else {
        return Err(Fault::Format);
    };
    known(name, set)?;
    // the text of the arguments, in which a name may come twice
    serde_json::from_str::<Unique>(text).map_err(|_| Fault::Duplicate)?;
    validated(inner.clone(), name, set)
}

/// The name of a tool alone.
fn name(text: &str, set: &ToolSet) -> Result<Judged, Fault> {
    known(text, set)?;
    Ok(Judged { tool: text.to_owned(), arguments: Value::Object(Map::new()) })
}

pub(super) fn known(name: &str, set: &ToolSet) -> Result<(), Fault> {
    let is_known = set.tools().iter().any(|tool| tool.refusal.is_none() && tool.name == name);
    if is_known { Ok(()) } else { Err(Fault::Name) }
}

fn arguments(text: &str, name: &str, set: &ToolSet) -> Result<Judged, Fault> {
    let value: Value = serde_json::from_str(text).map_err(|_| Fault::Json)?;
    serde_json::from_str::<Unique>(text).map_err(|_| Fault::Duplicate)?;
    validated(value, name, set)
}

/// The arguments, if their schema holds.
pub(super) fn validated(value: Value, name: &str, set: &ToolSet) -> Result<Judged, Fault> {
    let Some(tool) = set.tools().iter().find(|tool| tool.name == name) else { return Err(Fault::Name) };
    let validator = jsonschema::options().should_validate_formats(true).build(&tool.arguments.value());
    let validator = validator.map_err(|_| Fault::Exception)?;
    let mut faults: Vec<Fault> = validator
        .iter_errors(&value)
        .map(|error| match error.kind().keyword() {
            "required" | "dependentRequired" => Fault::Missing,
            "additionalProperties" | "unevaluatedProperties" | "propertyNames" => Fault::Undeclared,
            "type" => Fault::Type,
            _ => Fault::Value,
        })
        .collect();
    faults.sort_unstable();
    match faults.first() {
        Some(fault) => Err(*fault),
        None => Ok(Judged { tool: name.to_owned(), arguments: value }),
    }
}

/// JSON in which no object has a name twice.
pub(super) struct Unique;

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Unique, D::Error> {
        deserializer.deserialize_any(Unique)
    }
}

impl<'de> Visitor<'de> for Unique {
    type Value = Unique;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Unique, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Unique, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Unique, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Unique, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Unique, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Unique, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Unique, A::Error> {
        while items.next_element::<Unique>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Unique, A::Error> {
        let mut seen = Vec::new();
        while let Some(name) = members.next_key::<String>()? {
            members.next_value::<Unique>()?;
            if seen.contains(&name) {
                return Err(A::Error::custom("a name comes twice"));
            }
            seen.push(name);
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::{Document, ReadOptions, read};

    #[test]
    fn the_first_fault_of_a_turn_is_named() {
        let text = r#"[{"name": "f", "inputSchema": {"type": "object", "properties": {"a": {"type": "integer", "maximum": 9},
            "b": {"enum": ["x"]}}, "required": ["a"], "additionalProperties": false}}]"#;
        let set = read([Document { label: "d", text }], &ReadOptions::default()).unwrap();
        for (arguments, expected) in [
            (r#"{"a": 1}"#, None),
            (r#"{"a": 1, "b": "x"}"#, None),
            (r#"{"b": "x"}"#, Some(Fault::Missing)),
            (r#"{"a": 1, "c": 1}"#, Some(Fault::Undeclared)),
            (r#"{"a": "1"}"#, Some(Fault::Type)),
            (r#"{"a": 10}"#, Some(Fault::Value)),
            (r#"{"a": 1, "b": "y"}"#, Some(Fault::Value)),
            (r#"{"a": 1, "a": 2}"#, Some(Fault::Duplicate)),
            (r#"{"a": 1"#, Some(Fault::Json)),
        ] {
            let turn = format!("Thought: x\nAction: f\nAction Input: {arguments}");
            assert_eq!(react(&turn, &set).err(), expected, "{turn}");
            let turn = format!(r#"{{"name": "f", "arguments": {arguments}}}"#);
            assert_eq!(json(&turn, &set).err(), expected, "{turn}");
        }
        assert_eq!(react("Thought: x\nAction: g\nAction Input: {}", &set), Err(Fault::Name));
        assert_eq!(react("Action: f\nAction Input: {}", &set), Err(Fault::Format));
        for turn in ["f", "{}", r#"{"a": 1}"#, r#"{"name": 1, "arguments": {}}"#, r#"{"name": "f"}"#] {
            assert_eq!(json(turn, &set), Err(Fault::Format), "{turn}");
        }
        assert_eq!(name("g", &set), Err(Fault::Name));
    }
}
