//! The ways to ask for the form of an answer: `response_format`, `text.format`, vLLM's `structured_outputs`, and llama.cpp's
//! `grammar` and `json_schema`.

use crate::errors::ApiError;
use crate::request::Format;
use grammata::syntax::{Notation, Source};
use serde::Deserialize;
use serde_json::{Value, json};

/// `response_format` of chat completions.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum ResponseFormat {
    Text,
    JsonObject,
    JsonSchema { json_schema: NamedSchema },
}

/// The schema of an answer with its name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NamedSchema {
    name: String,
    schema: Option<Value>,
    /// A schema is always enforced, so that the value changes nothing.
    #[serde(rename = "strict")]
    _strict: Option<bool>,
    #[serde(rename = "description")]
    _description: Option<String>,
}

/// `text.format` of responses.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum TextFormat {
    Text,
    JsonObject,
    JsonSchema(NamedSchema),
}

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

const RESPONSE_SCHEMA: &str = "response_format.json_schema.schema";
const TEXT_SCHEMA: &str = "text.format.schema";

impl ResponseFormat {
    pub(crate) fn read(self) -> Result<Format, ApiError> {
        match self {
            ResponseFormat::Text => Ok(Format::Text),
            ResponseFormat::JsonObject => Ok(any_object("response_format")),
            ResponseFormat::JsonSchema { json_schema } => json_schema.read("response_format.json_schema.name", RESPONSE_SCHEMA),
        }
    }
}

impl TextFormat {
    /// The format as an answer repeats it.
    pub(crate) fn value(&self) -> Value {
        match self {
            TextFormat::Text => json!({ "type": "text" }),
            TextFormat::JsonObject => json!({ "type": "json_object" }),
            TextFormat::JsonSchema(named) => json!({
                "type": "json_schema", "name": named.name, "schema": named.schema, "strict": true,
                "description": named._description,
            }),
        }
    }

    pub(crate) fn read(self) -> Result<Format, ApiError> {
        match self {
            TextFormat::Text => Ok(Format::Text),
            TextFormat::JsonObject => Ok(any_object("text.format")),
            TextFormat::JsonSchema(named) => named.read("text.format.name", TEXT_SCHEMA),
        }
    }
}

impl NamedSchema {
    fn read(self, name: &'static str, place: &'static str) -> Result<Format, ApiError> {
        if self.name.is_empty() {
            return Err(ApiError::invalid(name, format!("`{name}` is empty")));
        }
        match self.schema {
            Some(schema) => Ok(Format::Schema { schema, place }),
            None => Err(ApiError::invalid(place, format!("`{place}` is missing; a schema is needed"))),
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
        formats.extend(self.json_object.filter(|is_set| *is_set).map(|_| any_object("structured_outputs.json_object")));
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
    Format::Grammar { source, place }
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
    response: Option<ResponseFormat>,
    structured: Option<StructuredOutputs>,
    gbnf: Option<String>,
    schema: Option<Value>,
) -> Result<Format, ApiError> {
    let mut formats = Vec::new();
    match response.map(ResponseFormat::read).transpose()? {
        None | Some(Format::Text) => {}
        Some(format) => formats.push(("response_format", format)),
    }
    if let Some(structured) = structured {
        formats.push(("structured_outputs", structured.read()?));
    }
    formats.extend(gbnf.map(|text| ("grammar", grammar(Source::gbnf(text), "grammar"))));
    formats.extend(schema.map(|schema| schema_of(schema, "json_schema").map(|format| ("json_schema", format))).transpose()?);
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
