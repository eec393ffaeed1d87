//! Detection of documents that are not schemas but contain some: OpenAPI descriptions, and lists of tools of the Model
//! Context Protocol. As a schema such a document would admit every value, since none of its members is a keyword.

use super::errors;
use crate::error::Result;
use crate::syntax::json_schema::json::Value;

/// Checks that a document is not recognisably of another kind.
///
/// # Errors
/// The document is an OpenAPI or Swagger description, or a list of tools.
pub(super) fn refuse(root: &Value<'_>) -> Result<()> {
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
    Ok(())
}
