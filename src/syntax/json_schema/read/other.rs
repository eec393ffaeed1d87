//! Detection of documents that are not schemas but contain some: OpenAPI descriptions, lists of tools of the Model
//! Context Protocol, tools, response formats and other wrappers. As a schema such a document would admit every value,
//! since none of its members is a keyword.

use super::keyword::{self, Keyword};
use crate::error::Result;
use crate::syntax::json_schema::errors;
use crate::syntax::json_schema::values::json::Value;
use crate::syntax::json_schema::values::pointer::step;

/// The kinds of wrappers, and the paths of the schemas in them. Of several paths that exist, the first one counts.
const WRAPPERS: &[(&str, &[&[&str]])] = &[
    (
        "a response format",
        &[
            &["response_format", "json_schema", "schema"],
            &["response_format", "schema"],
            &["json_schema", "schema"],
            &["json_schema"],
            &["text", "format", "schema"],
            &["format", "schema"],
            &["output_config", "format", "schema"],
            &["output_format", "schema"],
            &["schema"],
        ],
    ),
    (
        "a tool",
        &[
            &["function", "parameters"],
            &["toolSpec", "inputSchema", "json"],
            &["parameters"],
            &["parametersJsonSchema"],
            &["inputSchema", "json"],
            &["inputSchema"],
            &["input_schema"],
            &["parameter_definitions"],
        ],
    ),
    (
        "a configuration of a model",
        &[
            &["generationConfig", "responseSchema"],
            &["generationConfig", "responseJsonSchema"],
            &["responseSchema"],
            &["responseJsonSchema"],
            &["response_schema"],
            &["response_json_schema"],
            &["structured_outputs", "json"],
            &["guided_json"],
        ],
    ),
];

/// Values of the member `type` of wrappers.
const WRAPPER_TYPES: [&str; 4] = ["json_schema", "json", "function", "custom"];

/// Checks that a document is not recognisably of another kind. A wrapper is a document without a keyword of any draft
/// that restricts values, in which one of the [`WRAPPERS`]' members is an object with such a keyword. A `type` that is
/// no type of JSON does not count as a keyword.
///
/// # Errors
/// The document is an OpenAPI or Swagger description, a list of tools, or a wrapper.
pub(in crate::syntax::json_schema) fn refuse(root: &Value<'_>) -> Result<()> {
    for (keyword, kind, inside) in [
        ("openapi", "an OpenAPI description", "/components/schemas/NAME"),
        ("swagger", "a Swagger description", "/definitions/NAME"),
    ] {
        let parts = ["paths", "components", "definitions", "webhooks"];
        if let Some(version @ Value::String(_)) = root.get(keyword)
            && parts.iter().any(|part| matches!(root.get(part), Some(Value::Object(_))))
        {
            return Err(errors::other_document(kind, &format!("`{keyword}`: {version}"), inside));
        }
    }
    // a list on its own, or the result of a call of `tools/list`
    let result = root.get("result").filter(|_| root.get("jsonrpc").is_some());
    for (holder, inside) in [(Some(root), "/tools/0/inputSchema"), (result, "/result/tools/0/inputSchema")] {
        if let Some(Value::Array([first, ..])) = holder.and_then(|holder| holder.get("tools"))
            && first.get("name").is_some()
            && first.get("inputSchema").is_some()
        {
            return Err(errors::other_document("a list of tools", "`tools` with `inputSchema`", inside));
        }
    }
    if restricts(root) {
        return Ok(());
    }
    for (kind, paths) in WRAPPERS {
        for path in *paths {
            let inner = path.iter().try_fold(root, |value, member| step(value, member));
            if inner.is_some_and(restricts) {
                return Err(errors::wrapped_schema(kind, path));
            }
        }
    }
    Ok(())
}

/// Whether a value is an object with a keyword that restricts values.
fn restricts(value: &Value<'_>) -> bool {
    let Value::Object(members) = value else { return false };
    members.iter().any(|(name, value)| {
        let is_other_type =
            name == "type" && value.as_str().is_some_and(|name| WRAPPER_TYPES.contains(&name));
        keyword::named(name).is_some_and(Keyword::restricts) && !is_other_type
    })
}
