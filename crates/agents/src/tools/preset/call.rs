//! The text of a call as a template with the placeholders `$name`, `$number` and `$arguments`.

use super::texts::Texts;
use serde::de::{Deserialize, Deserializer, Error};

/// The alternative forms of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CallTexts(pub(super) Vec<CallText>);

/// The form of a call. In the template, `$name` is the tool's name, `$number`, which may be missing, a number in
/// digits, and `$arguments` the arguments; `$$` is a dollar sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CallText {
    /// The parts before the arguments.
    head: Vec<Part>,
    /// The text after the arguments.
    pub(super) end: String,
}

/// A part of the text before the arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    Name,
    Number,
}

impl CallText {
    /// Parses a template. An error describes the fault: `$name` or `$arguments` is missing, a placeholder occurs twice
    /// or after `$arguments`, or a `$` begins no placeholder.
    fn parse(template: &str) -> Result<CallText, String> {
        let (mut parts, mut text, mut rest) = (Vec::new(), String::new(), template);
        loop {
            let Some((before, after)) = rest.split_once('$') else {
                return Err("a call without `$arguments`".to_owned());
            };
            text.push_str(before);
            let part = if let Some(after) = after.strip_prefix('$') {
                text.push('$');
                rest = after;
                continue;
            } else if let Some(after) = after.strip_prefix("name") {
                rest = after;
                Part::Name
            } else if let Some(after) = after.strip_prefix("number") {
                rest = after;
                Part::Number
            } else if let Some(after) = after.strip_prefix("arguments") {
                rest = after;
                break;
            } else {
                return Err("a `$` that begins no hole (a dollar sign is `$$`)".to_owned());
            };
            if parts.contains(&part) {
                return Err("a hole that is there twice".to_owned());
            }
            parts.push(Part::Text(std::mem::take(&mut text)));
            parts.push(part);
        }
        parts.push(Part::Text(text));
        if !parts.contains(&Part::Name) {
            return Err("a call without `$name` before `$arguments`".to_owned());
        }
        if rest.replace("$$", "").contains('$') {
            return Err("a hole after `$arguments`".to_owned());
        }
        Ok(CallText { head: parts, end: rest.replace("$$", "$") })
    }

    /// Returns the text before the first placeholder; may be empty.
    pub(super) fn before_name(&self) -> &str {
        match self.head.first() {
            Some(Part::Text(text)) => text,
            _ => "",
        }
    }

    /// Returns the opening of a call of a tool: the text before the number, or before the arguments if the form has no
    /// number; and, if it has one, the text between the number and the arguments.
    pub(super) fn head(&self, name: &str) -> (String, Option<String>) {
        let (mut begin, mut between) = (String::new(), None);
        for part in &self.head {
            let text = match part {
                Part::Text(text) => text,
                Part::Name => name,
                Part::Number => {
                    between = Some(String::new());
                    continue;
                }
            };
            between.as_mut().unwrap_or(&mut begin).push_str(text);
        }
        (begin, between)
    }
}

impl<'de> Deserialize<'de> for CallTexts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<CallTexts, D::Error> {
        let templates = Texts::deserialize(deserializer)?.0;
        let calls = templates.iter().map(|template| CallText::parse(template)).collect::<Result<_, _>>();
        calls.map(CallTexts).map_err(D::Error::custom)
    }
}
