//! A second, lenient reader for outputs without a grammar: it accepts what a well-meaning host might still accept as a
//! call.
//!
//! Code fences are removed. In JSON the first JSON object of the text counts, in ReAct the first one after a line
//! `Action:`, with any text around it; names of tools and arguments are case-insensitive. In `relation` the first line
//! that is not blank is the name, case-insensitive. In the other formats the whole text, a block of lines or a line may
//! be the call. The call itself is judged as strictly as by the first reader.

use super::fault::{Fault, Judged, Unique, validated};
use super::judge::Judge;
use super::record::{Lenient, Record};
use super::tasks::Task;
use grammata_agents::tools::{Tool, ToolSet};
use serde_json::{Deserializer, Map, Value};

impl Judge<'_> {
    /// Returns the lenient reader's result for an output; `None` for all arms but `free` and `free+retry`, and for the
    /// format `toolken`. An output in which the strict reader found no fault keeps its result.
    pub(super) fn leniently(&self, task: &Task, record: &Record) -> Option<Lenient> {
        if !record.arm.is_unconstrained() || self.format_name == "toolken" {
            return None;
        }
        Some(match (record.fault, self.lenient_turn(&record.text, &task.tools)) {
            (None, _) => Lenient { fault: None, right: record.right },
            (_, Ok(call)) => {
                Lenient { fault: None, right: task.gold.is_met(&task.tools, &call.tool, &call.arguments) }
            }
            // an unreadable text that did not end has the fault that it did not end
            (Some(Fault::Cut), Err(_)) => Lenient { fault: Some(Fault::Cut), right: false },
            (_, Err(fault)) => Lenient { fault: Some(fault), right: false },
        })
    }

    fn lenient_turn(&self, text: &str, set: &ToolSet) -> Result<Judged, Fault> {
        match self.format_name {
            "json" => json(text, set),
            "react" => react(text, set),
            "relation" => {
                let text = without_fences(text);
                let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
                let tool = tool(bare(line), set)?;
                Ok(Judged { tool: tool.name.clone(), arguments: Value::Object(Map::new()) })
            }
            _ => self.any_part(&without_fences(text), set),
        }
    }

    /// Returns the first call that is the whole text, a block of lines or a line. Otherwise returns the first fault
    /// other than a wrong form, or, if all parts have a wrong form, [`Fault::Format`].
    fn any_part(&self, text: &str, set: &ToolSet) -> Result<Judged, Fault> {
        let parts = std::iter::once(text).chain(text.split("\n\n")).chain(text.lines());
        let mut found = Fault::Format;
        for part in parts.map(str::trim).filter(|part| !part.is_empty()) {
            match self.turn(part, set) {
                Ok(call) => return Ok(call),
                Err(fault) if found == Fault::Format => found = fault,
                Err(_) => {}
            }
        }
        Err(found)
    }
}

fn json(text: &str, set: &ToolSet) -> Result<Judged, Fault> {
    let (call, object) = first_object(text)?;
    let (Some(name), Some(arguments)) =
        (member(&object, "name").and_then(Value::as_str), member(&object, "arguments"))
    else {
        return Err(Fault::Format);
    };
    let tool = tool(name, set)?;
    serde_json::from_str::<Unique>(call).map_err(|_| Fault::Duplicate)?;
    validated(renamed(arguments.clone(), tool)?, &tool.name, set)
}

fn react(text: &str, set: &ToolSet) -> Result<Judged, Fault> {
    let mut rest = text;
    while let Some((line, after)) = rest.split_once('\n') {
        rest = after;
        let line = bare(line);
        let (Some(start), Some(name)) = (line.get(..7), line.get(7..)) else { continue };
        if start.eq_ignore_ascii_case("action:") {
            let tool = tool(bare(name), set)?;
            let (input, object) = first_object(rest)?;
            serde_json::from_str::<Unique>(input).map_err(|_| Fault::Duplicate)?;
            return validated(renamed(Value::Object(object), tool)?, &tool.name, set);
        }
    }
    Err(Fault::Format)
}

/// Returns the first JSON object of a text, as text and as a value.
fn first_object(text: &str) -> Result<(&str, Map<String, Value>), Fault> {
    for (start, _) in text.match_indices('{') {
        let mut values = Deserializer::from_str(&text[start..]).into_iter::<Value>();
        if let Some(Ok(Value::Object(object))) = values.next() {
            return Ok((&text[start..start + values.byte_offset()], object));
        }
    }
    Err(if text.contains('{') { Fault::Json } else { Fault::Format })
}

/// Removes white space and the marks that Markdown and prose put around a name or a line.
fn bare(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || "*`\"'.".contains(c))
}

/// Removes the lines that begin or end code blocks.
fn without_fences(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("```")).collect();
    lines.join("\n").trim().to_owned()
}

/// Returns the only name that equals the text case-insensitively; of several, the one that equals it exactly.
fn folded<'n>(names: impl Iterator<Item = &'n str>, text: &str) -> Option<&'n str> {
    let lower = text.to_lowercase();
    let alike: Vec<&str> = names.filter(|name| name.to_lowercase() == lower).collect();
    match alike.as_slice() {
        [only] => Some(only),
        several => several.iter().copied().find(|name| *name == text),
    }
}

fn member<'v>(object: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
    let exact = object.get(name);
    exact.or_else(|| object.get(folded(object.keys().map(String::as_str), name)?))
}

fn tool<'s>(name: &str, set: &'s ToolSet) -> Result<&'s Tool, Fault> {
    let known = folded(set.callable().map(|tool| tool.name.as_str()), name).ok_or(Fault::Name)?;
    set.tool(known).ok_or(Fault::Name)
}

/// Renames arguments to the declared names that differ only in case. Fails if two arguments then have one name.
fn renamed(arguments: Value, tool: &Tool) -> Result<Value, Fault> {
    let Value::Object(given) = arguments else { return Ok(arguments) };
    let schema = tool.arguments.value();
    let declared = schema["properties"].as_object();
    let mut made = Map::new();
    for (name, value) in given {
        let names = declared.into_iter().flat_map(Map::keys).map(String::as_str);
        let name = folded(names, &name).map_or(name.clone(), str::to_owned);
        if made.insert(name, value).is_some() {
            return Err(Fault::Duplicate);
        }
    }
    Ok(Value::Object(made))
}

#[cfg(test)]
mod tests {
    use super::*;
    use grammata_agents::tools::{CallFormat, Document, ReadOptions, read};

    fn set() -> ToolSet {
        let text = r#"[{"name": "getPlant", "inputSchema": {"type": "object", "properties": {"bedId": {"type": "integer", "maximum": 9}},
            "required": ["bedId"], "additionalProperties": false}},
            {"name": "do", "inputSchema": {"type": "object"}}, {"name": "Do", "inputSchema": {"type": "object"}}]"#;
        read([Document { label: "d", text }], &ReadOptions::default()).unwrap()
    }

    fn found(format: &str, text: &str) -> Result<(String, String), Fault> {
        let call_format = CallFormat::named(format).unwrap();
        let judge = Judge { format: &call_format, format_name: format };
        judge.lenient_turn(text, &set()).map(|call| (call.tool, call.arguments.to_string()))
    }

    fn call() -> Result<(String, String), Fault> {
        Ok(("getPlant".to_owned(), r#"{"bedId":2}"#.to_owned()))
    }

    #[test]
    fn the_first_object_of_a_text_is_the_call() {
        for text in [
            r#"{"name": "getPlant", "arguments": {"bedId": 2}}"#,
            "Sure! Use {this}:\n```json\n{\"name\": \"getPlant\", \"arguments\": {\"bedId\": 2}}\n```\nIt has {plants}.",
            r#"{"Name": "GETPLANT", "Arguments": {"BEDID": 2}, "id": 7} {"name": "do", "arguments": {}}"#,
        ] {
            assert_eq!(found("json", text), call(), "{text}");
        }
        for (text, fault) in [
            ("I would look.", Fault::Format),
            (r#"{"name": "getPlant", "parameters": {"bedId": 2}}"#, Fault::Format),
            (r#"{"bedId": 2} {"name": "getPlant", "arguments": {"bedId": 2}}"#, Fault::Format),
            (r#"{"name": "getPlant"; "arguments""#, Fault::Json),
            (r#"{"name": "getBed", "arguments": {"bedId": 2}}"#, Fault::Name),
            (r#"{"name": "DO", "arguments": {}}"#, Fault::Name),
            (r#"{"name": "getPlant", "arguments": {}}"#, Fault::Missing),
            (r#"{"name": "getPlant", "arguments": {"bedId": 2, "colour": "red"}}"#, Fault::Undeclared),
            (r#"{"name": "getPlant", "arguments": {"bedId": "2"}}"#, Fault::Type),
            (r#"{"name": "getPlant", "arguments": {"bedId": 10}}"#, Fault::Value),
            (r#"{"name": "getPlant", "arguments": {"bedId": 2, "bedId": 2}}"#, Fault::Duplicate),
            (r#"{"name": "getPlant", "arguments": {"bedId": 2, "bedID": 2}}"#, Fault::Duplicate),
        ] {
            assert_eq!(found("json", text), Err(fault), "{text}");
        }
        assert_eq!(found("json", r#"{"name": "Do", "arguments": {}}"#).unwrap().0, "Do");
    }

    #[test]
    fn an_action_is_found_whatever_stands_around_it() {
        for text in [
            "Thought: x\nAction: getPlant\nAction Input: {\"bedId\": 2}",
            "I look.\n**Action:** `getplant`\nInput:\n```json\n{\"BedId\": 2}\n```",
        ] {
            assert_eq!(found("react", text), call(), "{text}");
        }
        for (text, fault) in [
            ("Thought: Reaction: getPlant {\"bedId\": 2}", Fault::Format),
            ("Action: getPlant", Fault::Format),
            ("Action: getPlant\nAction Input: none", Fault::Format),
            ("Action: getBed\nAction Input: {}", Fault::Name),
            ("Action: getPlant\nAction Input: {\"bedId\": ", Fault::Json),
            ("Action: getPlant\nAction Input: {\"bedId\": true}", Fault::Type),
        ] {
            assert_eq!(found("react", text), Err(fault), "{text}");
        }
    }

    #[test]
    fn other_formats_are_read_from_any_part() {
        assert_eq!(found("relation", "```\n`GetPlant`.\n```").unwrap().0, "getPlant");
        assert_eq!(found("relation", "The relation is getPlant"), Err(Fault::Name));
        for text in [
            "[getPlant(bedId=2)]",
            "Here:\n```python\n[getPlant(bedId=2)]\n```",
            "So:\n[getPlant(bedId=2)]\nDone.",
        ] {
            assert_eq!(found("python", text), call(), "{text}");
        }
        assert_eq!(found("python", "So:\n[getPlant(bedId=\"2\")]"), Err(Fault::Type));
        assert_eq!(found("python", "So: [getPlant(bedId=2)]"), Err(Fault::Format));
    }

    #[test]
    fn objects_in_objects_without_an_end_are_no_call_and_no_overflow() {
        for unit in ["{", "{\"a\":", "{\"a\":[", "{\"a\":\""] {
            assert_eq!(found("json", &unit.repeat(20_000)), Err(Fault::Json), "{unit}");
        }
    }
}
