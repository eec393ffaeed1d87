//! Markers as tokens: rewrites a tag so that a family's control markers are matched by their tokens and not as text.

use super::tag::{one_of, optional, sequence};
use serde_json::{Value, json};

/// Replaces the markers in a format by tokens: in constant texts, in the beginnings and ends of tags, and in triggers.
/// Markers inside arguments stay text. Text before an end that is a token becomes tokens, so that this end stops it.
/// Unless text may spell markers with other tokens (`is_spelled`), it stays text, without the markers, in which those
/// that it does not exclude are tokens.
///
/// # Errors
/// A description of a part that cannot be written in tokens.
pub(super) fn bind(format: &Value, markers: &[String], is_spelled: bool) -> Result<Value, String> {
    let mut longest_first: Vec<&str> =
        markers.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
    longest_first.sort_by_key(|text| std::cmp::Reverse(text.len()));
    Binder { markers: longest_first, is_spelled }.format(format)
}

struct Binder<'m> {
    /// The markers, the longest first, so that one that extends another is found.
    markers: Vec<&'m str>,
    is_spelled: bool,
}

impl<'m> Binder<'m> {
    fn format(&self, format: &Value) -> Result<Value, String> {
        let mut made = format.clone();
        match format["type"].as_str().unwrap_or_default() {
            "const_string" => return Ok(self.text(format)),
            "any_text" if !self.is_spelled => made["excludes"] = self.excluded(format).into(),
            "tag" => return self.tag(format),
            "triggered_tags" => return self.triggered(format),
            "tags_with_separator" => made["tags"] = self.each(&format["tags"], Self::tag)?,
            "sequence" | "or" => made["elements"] = self.each(&format["elements"], Self::format)?,
            "optional" | "plus" | "star" => made["content"] = self.format(&format["content"])?,
            _ => {}
        }
        Ok(made)
    }

    fn each(&self, list: &Value, one: fn(&Self, &Value) -> Result<Value, String>) -> Result<Value, String> {
        let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
        list.iter().map(|value| one(self, value)).collect::<Result<Vec<_>, _>>().map(Value::from)
    }

    fn text(&self, format: &Value) -> Value {
        let mut parts = self.parts(format["value"].as_str().unwrap_or_default());
        match parts.len() {
            0 => format.clone(),
            1 => parts.remove(0),
            _ => json!({ "type": "sequence", "elements": parts }),
        }
    }

    /// Splits a text into texts and tokens.
    fn parts(&self, text: &str) -> Vec<Value> {
        let (mut parts, mut rest) = (Vec::new(), text);
        while !rest.is_empty() {
            let places = self.markers.iter().filter_map(|marker| Some((rest.find(marker)?, *marker)));
            // of several at one place the first is the longest
            let Some((place, marker)) = places.min_by_key(|(place, _)| *place) else { break };
            if place > 0 {
                parts.push(json!({ "type": "const_string", "value": rest[..place] }));
            }
            parts.push(token(marker));
            rest = &rest[place + marker.len()..];
        }
        if !rest.is_empty() {
            parts.push(json!({ "type": "const_string", "value": rest }));
        }
        parts
    }

    fn tag(&self, tag: &Value) -> Result<Value, String> {
        let begin = tag["begin"].as_str().unwrap_or_default();
        let marker = self.markers.iter().find(|marker| begin.starts_with(**marker)).copied();
        self.tag_from(tag, marker)
    }

    /// Returns a tag whose beginning is the token of a marker, if one is given.
    fn tag_from(&self, tag: &Value, marker: Option<&str>) -> Result<Value, String> {
        let mut made = tag.clone();
        let begin = tag["begin"].as_str().unwrap_or_default();
        let mut elements = Vec::new();
        if let Some(rest) = marker.and_then(|marker| begin.strip_prefix(marker)) {
            elements = self.parts(rest);
            made["begin"] = token(&begin[..begin.len() - rest.len()]);
        }
        let content = self.format(&tag["content"])?;
        let ending = |text: &str| self.markers.iter().find(|marker| text.ends_with(**marker)).copied();
        match &tag["end"] {
            Value::String(end) => match ending(end) {
                Some(marker) => {
                    elements.push(self.in_tokens(&content)?);
                    elements.extend(self.parts(&end[..end.len() - marker.len()]));
                    made["end"] = token(marker);
                }
                None => elements.push(content),
            },
            Value::Array(ends) if ends.iter().filter_map(Value::as_str).any(|end| ending(end).is_some()) => {
                return Err("a tag with several ends, one of which is a marker".to_owned());
            }
            _ => elements.push(content),
        }
        made["content"] = match elements.len() {
            1 => elements.remove(0),
            _ => json!({ "type": "sequence", "elements": elements }),
        };
        Ok(made)
    }

    /// Returns text in which the token of a marker begins tags, if all triggers begin with this marker.
    fn triggered(&self, format: &Value) -> Result<Value, String> {
        let texts = |field: &str, of: fn(&Value) -> &Value| -> Vec<String> {
            let list = format[field].as_array().map(Vec::as_slice).unwrap_or_default();
            list.iter().filter_map(|value| of(value).as_str()).map(str::to_owned).collect()
        };
        let begins = [texts("triggers", |text| text), texts("tags", |tag| &tag["begin"])].concat();
        let common = self.markers.iter().find(|marker| begins.iter().all(|text| text.starts_with(**marker)));
        let mut made = format.clone();
        let tags = format["tags"].as_array().map(Vec::as_slice).unwrap_or_default();
        let marker = common.copied();
        let tags = tags.iter().map(|tag| self.tag_from(tag, marker)).collect::<Result<Vec<_>, _>>()?;
        let Some(marker) = marker else {
            made["tags"] = tags.into();
            return Ok(made);
        };
        if !self.is_spelled {
            return Ok(self.around(format, tags, marker));
        }
        let excluded: Vec<String> = texts("excludes", |text| text);
        let excluded: Vec<&str> =
            excluded.iter().map(String::as_str).filter(|text| self.markers.contains(text)).collect();
        let mut made = json!({ "type": "token_triggered_tags", "trigger_tokens": [marker], "tags": tags });
        if !excluded.is_empty() {
            made["exclude_tokens"] = json!(excluded);
        }
        for flag in ["at_least_one", "stop_after_first"] {
            if let Some(value) = format.get(flag) {
                made[flag] = value.clone();
            }
        }
        Ok(made)
    }

    /// Returns a format whose free text consists of tokens, for content before an end that is a token.
    fn in_tokens(&self, format: &Value) -> Result<Value, String> {
        let mut made = format.clone();
        match format["type"].as_str().unwrap_or_default() {
            "any_text" if !self.is_spelled => made = self.unspelled(format, &[]),
            "any_text" => {
                let excludes = format["excludes"].as_array().map(Vec::as_slice).unwrap_or_default();
                let is_marker = |text: &Value| text.as_str().is_some_and(|text| self.markers.contains(&text));
                if !excludes.iter().all(is_marker) {
                    return Err("text that excludes strings other than markers".to_owned());
                }
                made = json!({ "type": "any_tokens", "exclude_tokens": excludes });
            }
            "triggered_tags" => return Err("a trigger that is not a marker, inside a tag".to_owned()),
            "sequence" | "or" => made["elements"] = self.each(&format["elements"], Self::in_tokens)?,
            "optional" | "plus" | "star" => made["content"] = self.in_tokens(&format["content"])?,
            _ => {}
        }
        Ok(made)
    }
}

impl Binder<'_> {
    /// Returns text without spelled markers, in which the markers that neither `text` nor `triggers` has may occur as
    /// tokens.
    fn unspelled(&self, text: &Value, triggers: &[&str]) -> Value {
        let excludes = text["excludes"].as_array().map(Vec::as_slice).unwrap_or_default();
        let is_free =
            |marker: &&&str| !excludes.iter().any(|text| text == **marker) && !triggers.contains(*marker);
        let free: Vec<Value> = self.markers.iter().filter(is_free).map(|marker| token(marker)).collect();
        let plain = json!({ "type": "any_text", "excludes": self.excluded(text) });
        if free.is_empty() {
            return plain;
        }
        let more = sequence(vec![one_of(free), plain.clone()]);
        sequence(vec![plain, json!({ "type": "star", "content": more })])
    }

    /// Returns the markers and what else a text excludes.
    fn excluded(&self, text: &Value) -> Vec<Value> {
        let others = text["excludes"].as_array().map(Vec::as_slice).unwrap_or_default();
        let others = others.iter().filter(|text| !self.markers.iter().any(|marker| *text == marker));
        self.markers.iter().map(|marker| Value::from(*marker)).chain(others.cloned()).collect()
    }

    /// Returns text with tags in it that begin with the token of `marker`, in place of `triggered`.
    fn around(&self, triggered: &Value, tags: Vec<Value>, marker: &str) -> Value {
        let text = self.unspelled(triggered, &[marker]);
        let is_set = |flag: &str| triggered[flag] == true;
        let tag = one_of(tags);
        let more = json!({ "type": "star", "content": sequence(vec![tag.clone(), text.clone()]) });
        sequence(match (is_set("at_least_one"), is_set("stop_after_first")) {
            (true, true) => vec![tag],
            (true, false) => vec![tag, text, more],
            (false, true) => vec![text, optional(tag)],
            (false, false) => vec![text, more],
        })
    }
}

fn token(text: &str) -> Value {
    json!({ "type": "token", "token": text })
}
