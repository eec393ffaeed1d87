//! Parses the step that an agent wrote.

use super::session::Values;
use super::step::StepFormat;
use serde_json::Value;

/// An act of the agent as written; its names are not resolved yet.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// A call, or a control.
    Call {
        /// The name; in the published format without a leading `API_` or `API.`.
        name: String,
        /// The arguments, by slot.
        arguments: Values,
    },
    /// An answer.
    Answer {
        /// The name; empty for a text without one.
        name: String,
        /// The slots that the answer asks for.
        asks: Vec<String>,
        /// The text.
        text: String,
    },
}

impl Act {
    /// Reads a step in one of the formats; `None` if the text is not a step. [`StepFormat::Published`] ignores text
    /// that models write around the step, including further lines of a response; [`StepFormat::Json`] ignores only
    /// white space around the object.
    pub fn read(text: &str, format: StepFormat) -> Option<Act> {
        match format {
            StepFormat::Json => json(text),
            StepFormat::Published => lines(text),
        }
    }

    /// Returns the answer with a name and a text, without whitespace around them. The name is written `NAME`, or
    /// `NAME(SLOT, SLOT)` for a question that asks for slots.
    pub(super) fn answer(name: &str, text: &str) -> Act {
        answer(name, text)
    }
}

fn json(text: &str) -> Option<Act> {
    let value: Value = serde_json::from_str(text.trim()).ok()?;
    let field = |name: &str| value.get(name).and_then(Value::as_str);
    match (field("call"), field("say")) {
        (Some(name), _) => {
            Some(Act::Call { name: name.to_owned(), arguments: value.get("arguments")?.as_object()?.clone() })
        }
        (None, Some(name)) => Some(answer(name, field("text")?)),
        (None, None) => None,
    }
}

fn answer(name: &str, text: &str) -> Act {
    let name = name.trim();
    let (name, asks) = match name.strip_suffix(')').and_then(|name| name.split_once('(')) {
        Some((name, asks)) => (
            name,
            asks.split(',').map(|slot| slot.trim().to_owned()).filter(|slot| !slot.is_empty()).collect(),
        ),
        None => (name, Vec::new()),
    };
    Act::Answer { name: name.trim().to_owned(), asks, text: text.trim().to_owned() }
}

fn lines(text: &str) -> Option<Act> {
    let after = |label: &str| {
        let mut lines = text.lines().map(str::trim_start);
        lines.find_map(|line| line.strip_prefix(label)).map(str::trim)
    };
    if let Some(name) = after("Action:") {
        let name = name.strip_prefix("API_").or(name.strip_prefix("API.")).unwrap_or(name);
        let input = &text[text.find("Action Input:")? + "Action Input:".len()..];
        // only the first value of the rest, because models continue after it
        let mut values = serde_json::Deserializer::from_str(input).into_iter::<Value>();
        let arguments = values.next()?.ok()?.as_object()?.clone();
        return Some(Act::Call { name: name.to_owned(), arguments });
    }
    Some(answer(after("Answer:").unwrap_or_default(), after("Response:")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn steps_are_read_as_models_write_them() {
        let call = |name: &str, arguments: Value| Act::Call {
            name: name.to_owned(),
            arguments: arguments.as_object().unwrap().clone(),
        };
        let say = |name: &str, asks: &[&str], text: &str| Act::Answer {
            name: name.to_owned(),
            asks: asks.iter().map(|slot| (*slot).to_owned()).collect(),
            text: text.to_owned(),
        };
        for (text, expected) in [
            (
                "Thought: x\nAction: API_check\nAction Input: {\"a\": 1}\nmore",
                Some(call("check", json!({"a": 1}))),
            ),
            ("Answer: ask(a, b)\nResponse: A and b?", Some(say("ask", &["a", "b"], "A and b?"))),
            ("Thought: none\nResponse: Hello.", Some(say("", &[], "Hello."))),
            ("Action: check\nAction Input: {\"a\"", None),
            ("Action: check", None),
            ("Hello.", None),
        ] {
            assert_eq!(Act::read(text, StepFormat::Published), expected, "{text}");
        }
        let read = |text| Act::read(text, StepFormat::Json);
        assert_eq!(read(r#"{"call": "check", "arguments": {"a": 1}}"#), Some(call("check", json!({"a": 1}))));
        assert_eq!(read(r#"{"say": "ok", "text": "a \"b\""}"#), Some(say("ok", &[], "a \"b\"")));
        assert_eq!(read(r#"{"say": 1}"#), None);
    }
}
