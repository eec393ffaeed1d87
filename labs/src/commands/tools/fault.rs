//! Faults of calls. Arguments are judged by the crate `jsonschema`, independently of the engine.

use grammata_agents::tools::ToolSet;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// The first fault of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Fault {
    /// The token limit or the context limit was reached before a call could be read.
    Cut,
    /// The turn does not have the form of the call format.
    Format,
    /// The arguments cannot be read: they are not JSON, or not Python literals in the format `python`.
    Json,
    /// No callable tool has this name.
    Name,
    /// A required argument is missing.
    Missing,
    /// An argument is not declared.
    Undeclared,
    /// An argument has the wrong type.
    Type,
    /// An argument is out of bounds or not one of the listed values, or breaks another rule of its schema.
    Value,
    /// A name occurs twice in the arguments, in an object among their values or, in the format `json`, in the call
    /// itself. In the format `python`, a name that occurs twice in a value is the fault `Json`.
    Duplicate,
    /// The published algorithm has no parser for the schema, or the judge cannot compile the schema.
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

    /// Describes the fault to a model.
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

/// A call that the judge has read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Judged {
    pub(super) tool: String,
    pub(super) arguments: Value,
}

/// Checks that a callable tool of the set has this name.
pub(super) fn known(name: &str, set: &ToolSet) -> Result<(), Fault> {
    let is_known = set.tools().iter().any(|tool| tool.refusal.is_none() && tool.name == name);
    if is_known { Ok(()) } else { Err(Fault::Name) }
}

/// Returns the call if its arguments are valid for the schema of the tool, otherwise the first fault in the order of
/// [`Fault`]. [`Fault::Name`] if no tool has the name, [`Fault::Exception`] if its schema cannot be compiled.
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

/// JSON in which no object has a duplicate name.
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
