//! Custom tools, as OpenAI has them: their input is a text, which may be a word of a grammar.
//!
//! A model writes a call of a custom tool as a call with one argument, `input`, whose value is the text. So every call
//! format and every family writes it in its own form.

use super::errors;
use super::format::GrammarOptions;
use grammata::automaton::Automaton;
use grammata::diagnostic::{Diagnostic, Place};
use grammata::error::{Error, ErrorKind, Result};
use grammata::limits::Limits;
use grammata::syntax::json_schema::{Options, compile_value};
use grammata::syntax::lark;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// The argument that has the input.
pub(super) const INPUT: &str = "input";

/// The keyword of a schema for strings that are words of a grammar.
const GRAMMAR: &str = "x-grammata-grammar";

/// The arguments of a custom tool.
#[derive(Debug)]
pub(super) struct Arguments {
    /// Their schema: an object whose only member is the input.
    pub(super) schema: Value,
    /// The place of the grammar in the document, or of the whole declaration of a tool whose input is any text.
    pub(super) pointer: String,
    /// Warnings about the grammar, with this place.
    pub(super) warnings: Vec<Diagnostic>,
}

/// Returns options with which the grammars of custom tools are read, which those of schemas alone may lack.
pub(super) fn reading(options: &Options) -> Cow<'_, Options> {
    match options.grammars {
        Some(_) => Cow::Borrowed(options),
        None => Cow::Owned(options.clone().grammars(Some(lark::IN_STRINGS))),
    }
}

/// Returns the pointer into the schema of the arguments under which its grammar is.
pub(super) fn grammar_pointer() -> String {
    format!("/properties/{INPUT}/{GRAMMAR}/definition")
}

/// Reads the members of a custom tool. `pointer` is the place of the object with the `format`.
///
/// # Errors
/// `tools/form` for a `format` that is not one of OpenAI's, `tools/definition` for a grammar that is invalid or has no
/// words, each with its place; limits.
pub(super) fn read(members: &Map<String, Value>, pointer: &str, limits: &Limits) -> Result<Arguments> {
    let Some(grammar) = grammar(members.get("format"), &format!("{pointer}/format"))? else {
        let schema = object(json!({ "type": "string" }));
        return Ok(Arguments { schema, pointer: pointer.to_owned(), warnings: Vec::new() });
    };
    let Grammar { syntax, definition, pointer } = grammar;
    let schema = object(json!({ "type": "string", GRAMMAR: { "syntax": syntax, "definition": definition } }));
    let options = GrammarOptions::arguments(limits.clone());
    let place = || Place::Pointer(pointer.clone());
    let invalid = |error: Error| match error.kind() {
        ErrorKind::Limit => Error::new(ErrorKind::Limit, error.diagnostic().clone().at(place())),
        _ => errors::fatal(errors::definition(place(), error.diagnostic())),
    };
    let compiled = compile_value(&schema, &options).map_err(invalid)?;
    if Automaton::new(&compiled.grammar, limits)
        .is_err_and(|error| error.code() == "automaton/empty-language")
    {
        return Err(errors::fatal(errors::no_input(place(), definition)));
    }
    let warnings = compiled.warnings.into_iter().map(|warning| warning.at(place())).collect();
    Ok(Arguments { schema, pointer, warnings })
}

fn object(input: Value) -> Value {
    json!({"type": "object", "properties": { INPUT: input }, "required": [INPUT], "additionalProperties": false})
}

/// A grammar as declared.
struct Grammar<'v> {
    syntax: &'v str,
    definition: &'v str,
    /// The place of the definition.
    pointer: String,
}

/// Reads a `format`: nothing or `{"type": "text"}` for any text; otherwise a grammar, in the form of the Responses API
/// or in that of chat completions, which has it in a member.
fn grammar<'v>(format: Option<&'v Value>, at: &str) -> Result<Option<Grammar<'v>>> {
    const FORMAT: &str = "{\"type\": \"text\"}, {\"type\": \"grammar\", \"syntax\": \"lark\" or \"regex\", \
        \"definition\": …}, or the latter two in a member `grammar`";
    let wrong = |at: &str, found: &Value| {
        errors::fatal(errors::form(Place::Pointer(at.to_owned()), &found.to_string(), FORMAT))
    };
    let only = |members: &Map<String, Value>, at: &str, known: &[&str]| {
        let unknown = members.keys().find(|name| !known.contains(&name.as_str()));
        unknown.map_or(Ok(()), |name| Err(wrong(at, &name.as_str().into())))
    };
    let format = match format {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Object(format)) => format,
        Some(other) => return Err(wrong(at, other)),
    };
    match format.get("type").and_then(Value::as_str) {
        Some("text") => {
            only(format, at, &["type"])?;
            return Ok(None);
        }
        Some("grammar") => {}
        _ => return Err(wrong(&format!("{at}/type"), format.get("type").unwrap_or(&Value::Null))),
    }
    let (members, at) = match format.get("grammar") {
        Some(Value::Object(inner)) => {
            only(format, at, &["type", "grammar"])?;
            let at = format!("{at}/grammar");
            only(inner, &at, &["syntax", "definition"])?;
            (inner, at)
        }
        Some(other) => return Err(wrong(&format!("{at}/grammar"), other)),
        None => {
            only(format, at, &["type", "syntax", "definition"])?;
            (format, at.to_owned())
        }
    };
    let text = |name: &str| match members.get(name) {
        Some(Value::String(text)) => Ok(text.as_str()),
        Some(other) => Err(wrong(&format!("{at}/{name}"), other)),
        None => Err(wrong(&at, &Value::Object(members.clone()))),
    };
    let (syntax, definition) = (text("syntax")?, text("definition")?);
    match syntax {
        "lark" | "regex" => Ok(Some(Grammar { syntax, definition, pointer: format!("{at}/definition") })),
        other => Err(wrong(&format!("{at}/syntax"), &other.into())),
    }
}
