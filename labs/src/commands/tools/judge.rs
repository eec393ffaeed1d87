//! Reads the call of an output, independently of the engine. Only turns of formats other than `react`, `json`,
//! `relation` and `python` are read by the reader of their call format, and so are the turns whose paths are compared.

use super::fault::{Fault, Judged, Unique, known, validated};
use super::python::python;
use super::record::Record;
use super::tasks::Task;
use grammata_agents::tools::{CallFormat, ToolSet};
use serde_json::{Map, Value, json};

/// Judges turns of a call format.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judge<'a> {
    pub(super) format: &'a CallFormat,
    pub(super) format_name: &'a str,
}

impl Judge<'_> {
    /// Returns whether the calls of an output contain the whole path of the answer. An output with a fault does not.
    /// `None` if the answer is no path.
    pub(super) fn has_path(&self, task: &Task, record: &Record) -> Option<bool> {
        let set = &task.tools;
        let turn = self.format.read(&record.text, set).ok().filter(|_| record.fault.is_none());
        match turn {
            Some(turn) => task.gold.has_path(set, turn.calls.iter().map(|call| call.tool.as_str())),
            None => task.gold.has_path(set, record.tool.as_deref()),
        }
    }

    /// Reads the call of a turn, or returns its first fault.
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

/// Reads the call of a turn in ReAct.
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

/// Reads a turn that is a call as a JSON object.
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
    // this checks the whole text, because the parsed value no longer has duplicate names
    serde_json::from_str::<Unique>(text).map_err(|_| Fault::Duplicate)?;
    validated(inner.clone(), name, set)
}

/// Reads a turn that is only the name of a tool.
fn name(text: &str, set: &ToolSet) -> Result<Judged, Fault> {
    known(text, set)?;
    Ok(Judged { tool: text.to_owned(), arguments: Value::Object(Map::new()) })
}

fn arguments(text: &str, name: &str, set: &ToolSet) -> Result<Judged, Fault> {
    let value: Value = serde_json::from_str(text).map_err(|_| Fault::Json)?;
    serde_json::from_str::<Unique>(text).map_err(|_| Fault::Duplicate)?;
    validated(value, name, set)
}

#[cfg(test)]
mod tests {
    use super::*;
    use grammata_agents::tools::{Document, ReadOptions, read};

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
