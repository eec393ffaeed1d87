//! The address that a path is appended to.

use serde_json::{Map, Value};

/// The first server of the operation, its path or the document.
pub(super) fn of(
    root: &Value,
    item: &Map<String, Value>,
    operation: &Value,
    base: Option<&str>,
) -> Option<String> {
    if root.get("swagger").is_some() {
        return swagger(root, operation, base);
    }
    let lists = [operation.get("servers"), item.get("servers"), root.get("servers")];
    let server = lists.into_iter().flatten().find_map(|list| list.as_array()?.first());
    let url = server.and_then(|server| server.get("url")).and_then(Value::as_str).unwrap_or("/");
    let url = filled(url, server.and_then(|server| server.get("variables")));
    absolute(&url, base)
}

/// A template with the default values of its variables.
fn filled(url: &str, variables: Option<&Value>) -> String {
    let mut filled = String::new();
    let mut rest = url;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let Some((name, after)) = after.split_once('}') else {
            filled.push('{');
            rest = after;
            continue;
        };
        let value = variables.and_then(|all| all.get(name)?.get("default")?.as_str());
        filled.push_str(value.unwrap_or_default());
        rest = after;
    }
    filled + rest
}

/// The address of version 2.0: scheme, host and base path.
fn swagger(root: &Value, operation: &Value, base: Option<&str>) -> Option<String> {
    let first = |value: &Value| Some(value.get("schemes")?.as_array()?.first()?.as_str()?.to_owned());
    let path = root.get("basePath").and_then(Value::as_str).unwrap_or("/");
    let Some(host) = root.get("host").and_then(Value::as_str) else { return absolute(path, base) };
    let scheme = first(operation).or_else(|| first(root)).unwrap_or_else(|| "https".to_owned());
    Some(format!("{scheme}://{host}{}", path.trim_end_matches('/')))
}

fn absolute(url: &str, base: Option<&str>) -> Option<String> {
    let path = url.trim_end_matches('/');
    if url.contains("://") {
        return Some(path.to_owned());
    }
    let base = base?.trim_end_matches('/');
    if path.is_empty() || path.starts_with('/') {
        // a path replaces that of the base
        let start = base.find("://").map_or(0, |at| at + 3);
        let end = base[start..].find('/').map_or(base.len(), |at| start + at);
        let kept = if path.is_empty() { base } else { &base[..end] };
        return Some(format!("{kept}{path}"));
    }
    Some(format!("{base}/{path}"))
}
