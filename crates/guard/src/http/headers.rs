//! The headers of requests of versions without `initialize`, which repeat parts of the message.

use super::VERSION;
use crate::wire::{Kind, Message, WITHOUT_SESSIONS, stateless};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";
/// The parameters that [`NAME`] repeats, by method.
const NAMES: [(&str, &str); 3] = [("tools/call", "name"), ("prompts/get", "name"), ("resources/read", "uri")];

/// Returns the headers of a request that names a version without `initialize`; none for other messages.
pub(super) fn of(message: &Message) -> Vec<(&'static str, String)> {
    let Kind::Request { method, .. } = &message.kind else { return Vec::new() };
    let version = stateless::named_version(message);
    let Some(version) = version.filter(|version| version == WITHOUT_SESSIONS) else {
        return Vec::new();
    };
    let mut headers = vec![(VERSION, version), (METHOD, method.clone())];
    let params = message.value("params");
    let named =
        NAMES.iter().find(|(known, _)| known == method).and_then(|(_, name)| params.as_ref()?.get(*name));
    headers.extend(named.and_then(Value::as_str).map(|name| (NAME, encoded(name))));
    headers
}

/// Returns a text as the value of a header: in base64 if a header could not have it, or if it looks like base64.
fn encoded(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) && text == text.trim();
    match is_plain && !(text.starts_with("=?base64?") && text.ends_with("?=")) {
        true => text.to_owned(),
        false => format!("=?base64?{}?=", STANDARD.encode(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_the_headers_of_their_version() {
        let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
        let old = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2025-06-18"}"#;
        let read = |method: &str, params: &str| {
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}}}}}"#);
            let headers = of(&Message::read(&text).unwrap());
            headers
                .into_iter()
                .map(|(name, value)| format!("{name}: {value}"))
                .collect::<Vec<String>>()
                .join(", ")
        };
        let version = "mcp-protocol-version: 2026-07-28";
        for (method, params, expected) in [
            ("initialize", String::new(), String::new()),
            ("tools/list", old.to_owned(), String::new()),
            ("tools/list", meta.to_owned(), format!("{version}, mcp-method: tools/list")),
            (
                "tools/call",
                format!(r#""name":"a","uri":"b",{meta}"#),
                format!("{version}, mcp-method: tools/call, mcp-name: a"),
            ),
            (
                "resources/read",
                format!(r#""name":"a","uri":"ü",{meta}"#),
                format!("{version}, mcp-method: resources/read, mcp-name: =?base64?w7w=?="),
            ),
            (
                "tools/call",
                format!(r#""name":"=?base64??=",{meta}"#),
                format!("{version}, mcp-method: tools/call, mcp-name: =?base64?PT9iYXNlNjQ/Pz0=?="),
            ),
            ("tools/call", format!(r#""name":1,{meta}"#), format!("{version}, mcp-method: tools/call")),
        ] {
            assert_eq!(read(method, &params), expected, "{method} {params}");
        }
    }
}
