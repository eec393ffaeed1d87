//! Determines the address of a server, to which paths are appended.

use super::Api;
use crate::tools::read::pointer::join;
use crate::tools::{address, errors};
use grammata::diagnostic::Diagnostic;
use serde_json::{Map, Value};

/// Returns the address of the first server of the operation, otherwise of its path item, otherwise of the document. In
/// OpenAPI 2.0, the address is built from scheme, host and base path. A missing address is `/`. Relative addresses are
/// resolved against `api.server`. An address to which no path can be appended is replaced by `api.server`, with a
/// warning. Returns `None` if no absolute address to which a path can be appended is known.
pub(super) fn of(
    api: &Api<'_>,
    (item, item_pointer): (&Map<String, Value>, &str),
    (operation, pointer): (&Value, &str),
    notes: &mut Vec<Diagnostic>,
) -> Option<String> {
    let (url, pointer) = match api.is_swagger {
        true => (swagger(api.root, operation, api.server)?, "/host".to_owned()),
        false => {
            let lists = [
                (operation.get("servers"), pointer),
                (item.get("servers"), item_pointer),
                (api.root.get("servers"), ""),
            ];
            let server =
                lists.into_iter().find_map(|(list, pointer)| Some((list?.as_array()?.first()?, pointer)));
            let (server, pointer) = server.unzip();
            let url = server.and_then(|server| server.get("url")).and_then(Value::as_str).unwrap_or("/");
            let url = filled(url, server.and_then(|server| server.get("variables")));
            (absolute(&url, api.server)?, format!("{}/0", join(pointer.unwrap_or_default(), "servers")))
        }
    };
    if let Some(url) = address::server(&url) {
        return Some(url);
    }
    let message = "no path can follow this address of a server, so it is not used";
    let help = "an address has a scheme and a host, and no `?`, `#`, `.` and `..` as segments, or control characters";
    notes.push(errors::notice(api.place(&pointer), message, &url.escape_debug().to_string(), help));
    address::server(api.server?)
}

/// Replaces the variables of a template by their default values; a variable without a default becomes empty.
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

/// Returns the address in OpenAPI 2.0: scheme (`https` by default), host and base path. Without a host, the base path
/// is resolved against `base`; `None` if there is no base.
fn swagger(root: &Value, operation: &Value, base: Option<&str>) -> Option<String> {
    let first = |value: &Value| Some(value.get("schemes")?.as_array()?.first()?.as_str()?.to_owned());
    let path = root.get("basePath").and_then(Value::as_str).unwrap_or("/");
    let Some(host) = root.get("host").and_then(Value::as_str) else { return absolute(path, base) };
    let scheme = first(operation).or_else(|| first(root)).unwrap_or_else(|| "https".to_owned());
    Some(format!("{scheme}://{host}{}", path.trim_end_matches('/')))
}

/// Returns an address without slashes at its end, resolved against `base` if it is relative; `None` if it is relative
/// and there is no base.
fn absolute(url: &str, base: Option<&str>) -> Option<String> {
    let path = url.trim_end_matches('/');
    if url.contains("://") {
        return Some(path.to_owned());
    }
    let base = base?.trim_end_matches('/');
    if path.is_empty() || path.starts_with('/') {
        // a path replaces the path of the base
        let start = base.find("://").map_or(0, |at| at + 3);
        let end = base[start..].find('/').map_or(base.len(), |at| start + at);
        let kept = if path.is_empty() { base } else { &base[..end] };
        return Some(format!("{kept}{path}"));
    }
    Some(format!("{base}/{path}"))
}
