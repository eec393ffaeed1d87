//! Queries by a model that is asked by chat.

use super::parse::parse_texts;
use super::read::{Draft, Written};
use super::{Example, MOST_QUERIES, Parsed, Prompt, parse};
use crate::chat::{self, Chat, Form, Message, Request};
use grammata::error::Result;
use serde_json::{Value, json};

/// Asks a model for queries: an object with a list of them, or lines of text. An answer without a query is refused.
pub struct ChatWriter<'m> {
    model: &'m mut dyn Chat,
    prompt: Prompt,
    max_tokens: u32,
}

impl std::fmt::Debug for ChatWriter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChatWriter").field("usage", &self.model.usage()).finish_non_exhaustive()
    }
}

impl<'m> ChatWriter<'m> {
    /// Creates a writer whose outputs have at most `max_tokens` tokens.
    pub fn new(model: &'m mut dyn Chat, prompt: Prompt, max_tokens: u32) -> ChatWriter<'m> {
        ChatWriter { model, prompt, max_tokens }
    }

    /// Asks the model for queries for a request, with examples of answered requests.
    ///
    /// # Errors
    /// The prompt cannot be rendered; two answers contain no query (`chat/refused`); errors of the model.
    pub fn write(&mut self, request: &str, examples: &[Example]) -> Result<Draft> {
        let rest = self.prompt.render(request, examples, "")?;
        let system = Some(self.prompt.instruction()).filter(|text| !text.is_empty()).map(Message::system);
        let list = json!({
            "type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": MOST_QUERIES,
        });
        let schema = json!({
            "type": "object", "properties": {"queries": list}, "required": ["queries"],
            "additionalProperties": false,
        });
        let request = Request {
            messages: system.into_iter().chain([Message::user(rest)]).collect(),
            form: Form::Json { name: "queries".to_owned(), schema },
            max_tokens: self.max_tokens,
        };
        chat::ask(self.model, request, |answer| {
            let draft = draft(&answer.text);
            Ok(if draft.queries.is_empty() { Err("it contains no query".to_owned()) } else { Ok(draft) })
        })
    }
}

/// Reads the queries of an answer: the texts in `queries` of a JSON object, no queries from other JSON, and the lines
/// of any other text.
fn draft(raw: &str) -> Draft {
    let object: Option<Value> = serde_json::from_str(raw).ok();
    let listed = object.as_ref().and_then(|object| object.get("queries")).and_then(Value::as_array);
    let Parsed { queries, dropped } = match listed {
        Some(queries) => parse_texts(queries.iter().filter_map(Value::as_str)),
        // JSON of another shape is not a query
        None if object.is_some() => Parsed::default(),
        None => parse(raw),
    };
    let queries = queries.into_iter().map(|text| Written { text, ..Written::default() });
    Draft { raw: raw.to_owned(), queries: queries.collect(), dropped, ..Draft::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_read_from_objects_and_lines() {
        for (raw, expected) in [
            (r#"{"queries": ["find a\n flight", "book a room"]}"#, &["find a flight", "book a room"][..]),
            ("- find a flight\n- book a room", &["find a flight", "book a room"]),
            (r#"{"queries": ["- find a flight", "book a room"]}"#, &["find a flight", "book a room"]),
            (
                r#"{"queries": ["Here is one", "1. two", "I hope: three"]}"#,
                &["Here is one", "two", "I hope: three"],
            ),
            (r#"{"queries": ["a b", "A  B", "7", "`c`", "d", "e", "f", "g"]}"#, &["a b", "c", "d", "e", "f"]),
            (r#"{"queries": []}"#, &[]),
            (r#"{"queries": [1, null]}"#, &[]),
            (r#"{"tools": ["find a flight"]}"#, &[]),
            ("17", &[]),
            ("", &[]),
        ] {
            let found: Vec<String> = draft(raw).queries.into_iter().map(|query| query.text).collect();
            assert_eq!(found, expected, "{raw}");
        }
    }
}
