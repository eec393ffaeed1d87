//! The body of the fuzz target for requests to the server.

use grammata_server::testing::{read_chat, read_responses};
use serde_json::Value;

/// Reads the bytes as the body of both kinds of request. A body is taken, or refused with status 400, a message and a
/// code; the parameter that an error names is a member of the body, or one that is missing.
pub fn server(bytes: &[u8]) {
    for read in [read_chat, read_responses] {
        let Err((status, error)) = read(bytes) else { continue };
        assert_eq!(status, 400, "{error}");
        let is_text = |name: &str| error[name].as_str().is_some_and(|text| !text.is_empty());
        assert!(is_text("message") && is_text("code"), "{error}");
        let body: Option<Value> = serde_json::from_slice(bytes).ok();
        assert!(body.is_some() || error["param"].is_null() || is_text("param"), "{error}");
    }
}
