//! The ways to ask for the form of an answer: `response_format`, `text.format`, vLLM's `structured_outputs`, and llama.cpp's
//! `grammar` and `json_schema`.

use crate::errors::ApiError;
use crate::request::{Format, only_members};
use grammata::syntax::{Notation, Source};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// `structured_outputs` of vLLM. One member is used.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct StructuredOutputs {
    json: Option<Value>,
    json_object: Option<bool>,
    regex: Option<String>,
    choice: Option<Vec<String>>,
    grammar: Option<String>,
    structural_tag: Option<Value>,
}

/// Where the form of an answer is asked for.
#[derive(Clone, Copy, Debug)]
struct Places {
    /// The whole form.
    form: &'static str,
    /// The member with name and schema; `None` if these are members of the form itself.
    named: Option<&'static str>,
    name: &'static str,
    schema: &'static str,
    /// The schema of `json_object`.
    object: &'static str,
}

const OF_CHAT: Places = Places {
    form: "response_format",
    named: Some("json_schema"),
    name: "response_format.json_schema.name",
    schema: "response_format.json_schema.schema",
    object: "response_format.schema",
};
const OF_RESPONSES: Places = Places {
    form: "text.format",
    named: None,
    name: "text.format.name",
    schema: "text.format.schema",
    object: "text.format.schema",
};

/// Reads `text.format` of responses.
pub(crate) fn of_responses(form: Value) -> Result<Format, ApiError> {
    read(form, OF_RESPONSES)
}

/// Reads `response_format` of chat completions, with the extensions of llama.cpp (a `schema` of `json_object`) and vLLM
/// (`structural_tag`), or `text.format` of responses.
fn read(form: Value, places: Places) -> Result<Format, ApiError> {
    const SCHEMA: [&str; 4] = ["name", "schema", "strict", "description"];
    let Value::Object(mut members) = form else {
        let message = format!("`{}` must be an object with a `type`", places.form);
        return Err(ApiError::invalid(places.form, message));
    };
    let kind = members.remove("type");
    match kind.as_ref().and_then(Value::as_str) {
        Some("text") => {
            only_members(&members, &[], places.form)?;
            Ok(Format::Text)
        }
        Some("json_object") => {
            only_members(&members, &["schema"], places.form)?;
            match members.remove("schema") {
                None | Some(Value::Null) => Ok(any_object(places.form)),
                Some(schema) => Ok(Format::Schema { schema, place: places.object }),
            }
        }
        Some("json_schema") => {
            let named = match places.named {
                None => members,
                Some(named) => {
                    only_members(&members, &[named], places.form)?;
                    match members.remove(named) {
                        Some(Value::Object(members)) => members,
                        _ => {
                            let at = format!("{}.{named}", places.form);
                            return Err(ApiError::invalid(
                                &at,
                                format!("`{at}` must be an object with a `schema`"),
                            ));
                        }
                    }
                }
            };
            only_members(&named, &SCHEMA, places.name.trim_end_matches(".name"))?;
            schema(named, places)
        }
        Some("structural_tag") => {
            members.insert("type".to_owned(), Value::from("structural_tag"));
            let text = Value::Object(members).to_string();
            Ok(grammar(Source::structural_tag(text), places.form))
        }
        _ => {
            let at = format!("{}.type", places.form);
            let found = kind.unwrap_or_default();
            let message = format!(
                "`{at}` is {found}; it must be `text`, `json_object`, `json_schema` or `structural_tag`"
            );
            Err(ApiError::unsupported(&at, message))
        }
    }
}

/// Reads a schema with its name. It is always enforced, so that `strict` changes nothing.
fn schema(mut named: Map<String, Value>, places: Places) -> Result<Format, ApiError> {
    if named.get("name").and_then(Value::as_str).is_none_or(str::is_empty) {
        let message = format!("`{}` must be a text that is not empty", places.name);
        return Err(ApiError::invalid(places.name, message));
    }
    if named.get("strict").is_some_and(|strict| !strict.is_boolean() && !strict.is_null()) {
        let at = places.name.replace("name", "strict");
        return Err(ApiError::invalid(&at, format!("`{at}` must be `true` or `false`")));
    }
    match named.remove("schema") {
        Some(schema @ (Value::Object(_) | Value::Bool(_))) => {
            Ok(Format::Schema { schema, place: places.schema })
        }
        _ => {
            let message = format!("`{}` must be a JSON Schema: an object", places.schema);
            Err(ApiError::invalid(places.schema, message))
        }
    }
}

fn any_object(place: &'static str) -> Format {
    Format::Schema { schema: json!({ "type": "object" }), place }
}

impl StructuredOutputs {
    fn read(self) -> Result<Format, ApiError> {
        let mut formats = Vec::new();
        formats.extend(self.json.map(|schema| schema_of(schema, "structured_outputs.json")).transpose()?);
        formats.extend(
            self.json_object.filter(|is_set| *is_set).map(|_| any_object("structured_outputs.json_object")),
        );
        formats.extend(self.regex.map(|regex| grammar(Source::regex(regex), "structured_outputs.regex")));
        formats.extend(self.choice.map(|texts| choice(&texts)).transpose()?);
        formats.extend(self.grammar.map(|text| {
            let source = match Notation::of_text(&text) {
                Some(Notation::Gbnf) => Source::gbnf(text),
                // a grammar in EBNF has `::=`
                _ if text.contains("::=") => Source::gbnf(text),
                _ => Source::lark(text),
            };
            grammar(source, "structured_outputs.grammar")
        }));
        formats.extend(self.structural_tag.map(|tag| {
            let text = tag.as_str().map_or_else(|| tag.to_string(), str::to_owned);
            grammar(Source::structural_tag(text), "structured_outputs.structural_tag")
        }));
        match formats.len() {
            1 => Ok(formats.remove(0)),
            count => {
                let message = format!("`structured_outputs` has {count} grammars; it must have one");
                Err(ApiError::invalid("structured_outputs", message))
            }
        }
    }
}

fn grammar(source: Source, place: &'static str) -> Format {
    Format::Grammar { source: Box::new(source), place }
}

/// A schema as JSON, or as a text with JSON.
fn schema_of(schema: Value, place: &'static str) -> Result<Format, ApiError> {
    let schema = match schema {
        Value::String(text) => serde_json::from_str(&text)
            .map_err(|cause| ApiError::invalid(place, format!("`{place}` is not JSON: {cause}")))?,
        schema => schema,
    };
    Ok(Format::Schema { schema, place })
}

/// One of these texts.
fn choice(texts: &[String]) -> Result<Format, ApiError> {
    const PLACE: &str = "structured_outputs.choice";
    if texts.is_empty() {
        return Err(ApiError::invalid(PLACE, format!("`{PLACE}` is empty; it must have a text")));
    }
    let quoted: Vec<String> = texts.iter().map(|text| Value::from(text.as_str()).to_string()).collect();
    // Lark reads strings as JSON writes them
    Ok(grammar(Source::lark(format!("start: {}", quoted.join(" | "))), PLACE))
}

/// Chooses among the ways to ask for a form; at most one may be used.
pub(crate) fn one_of(
    response: Option<Value>,
    structured: Option<StructuredOutputs>,
    gbnf: Option<String>,
    schema: Option<Value>,
) -> Result<Format, ApiError> {
    let mut formats = Vec::new();
    match response.map(|form| read(form, OF_CHAT)).transpose()? {
        None | Some(Format::Text) => {}
        Some(format) => formats.push(("response_format", format)),
    }
    if let Some(structured) = structured {
        formats.push(("structured_outputs", structured.read()?));
    }
    formats.extend(gbnf.map(|text| ("grammar", grammar(Source::gbnf(text), "grammar"))));
    formats.extend(
        schema
            .map(|schema| schema_of(schema, "json_schema").map(|format| ("json_schema", format)))
            .transpose()?,
    );
    match formats.len() {
        0 => Ok(Format::Text),
        1 => Ok(formats.remove(0).1),
        _ => {
            let names: Vec<&str> = formats.iter().map(|(name, _)| *name).collect();
            let message = format!("{} all ask for the form of the answer; use one of them", names.join(", "));
            Err(ApiError::invalid(names.get(1).copied().unwrap_or_default(), message))
        }
    }
}
