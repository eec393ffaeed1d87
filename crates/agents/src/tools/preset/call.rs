//! The text of a call as a template with the placeholders `$name`, `$number`, `$id` and `$arguments`.

use super::texts::Texts;
use serde::de::{Deserialize, Deserializer, Error};

/// The alternative forms of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CallTexts(pub(super) Vec<CallText>);

/// The form of a call. In the template, `$name` is the tool's name, `$number`, which may be missing, a number in
/// digits, `$id`, which may be missing or come after the arguments, an id of nine letters and digits, and `$arguments`
/// the arguments; `$$` is a dollar sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CallText {
    /// The parts before the arguments; the last one is a text.
    pub(super) head: Vec<Part>,
    /// The parts after the arguments; the last one is a text.
    pub(super) tail: Vec<Part>,
}

/// A part of the text around the arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    Name,
    Number,
    Id,
}

impl CallText {
    /// Parses a template. An error describes the fault: `$name` or `$arguments` is missing, a placeholder occurs twice,
    /// one other than `$id` is after `$arguments`, or a `$` begins no placeholder.
    fn parse(template: &str) -> Result<CallText, String> {
        let (mut parts, mut text, mut rest) = (Vec::new(), String::new(), template);
        let mut head = None;
        while let Some((before, after)) = rest.split_once('$') {
            text.push_str(before);
            if let Some(after) = after.strip_prefix('$') {
                text.push('$');
                rest = after;
                continue;
            }
            let known = [("name", Some(Part::Name)), ("number", Some(Part::Number)), ("id", Some(Part::Id))];
            let found = known.into_iter().chain([("arguments", None)]);
            let found = found.filter_map(|(name, part)| Some((after.strip_prefix(name)?, part))).next();
            let part = match found {
                None if head.is_none() => {
                    return Err("a `$` that begins no hole (a dollar sign is `$$`)".to_owned());
                }
                Some((after, None)) if head.is_none() => {
                    parts.push(Part::Text(std::mem::take(&mut text)));
                    head = Some(std::mem::take(&mut parts));
                    rest = after;
                    continue;
                }
                Some((after, Some(part))) if head.is_none() || part == Part::Id => {
                    rest = after;
                    part
                }
                _ => return Err("a hole after `$arguments`".to_owned()),
            };
            if parts.contains(&part) || head.as_ref().is_some_and(|head| head.contains(&part)) {
                return Err("a hole that is there twice".to_owned());
            }
            parts.push(Part::Text(std::mem::take(&mut text)));
            parts.push(part);
        }
        text.push_str(rest);
        parts.push(Part::Text(text));
        let Some(head) = head else { return Err("a call without `$arguments`".to_owned()) };
        if !head.contains(&Part::Name) {
            return Err("a call without `$name` before `$arguments`".to_owned());
        }
        Ok(CallText { head, tail: parts })
    }

    /// Returns the text before the first placeholder; may be empty.
    pub(super) fn before_name(&self) -> &str {
        match self.head.first() {
            Some(Part::Text(text)) => text,
            _ => "",
        }
    }
}

impl<'de> Deserialize<'de> for CallTexts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<CallTexts, D::Error> {
        let templates = Texts::deserialize(deserializer)?.0;
        let calls = templates.iter().map(|template| CallText::parse(template)).collect::<Result<_, _>>();
        calls.map(CallTexts).map_err(D::Error::custom)
    }
}
