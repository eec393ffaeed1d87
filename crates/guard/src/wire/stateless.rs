//! What requests of the version without `initialize` say of themselves: each names its version in `_meta`.

use super::{Id, Message};
use serde_json::json;

/// The member of `_meta` that names the version.
pub(crate) const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// The error code for a version that is not supported.
const UNSUPPORTED: i32 = -32022;

/// Returns the version that a request names in `_meta`; `None` if it names none.
pub(crate) fn named_version(message: &Message) -> Option<String> {
    let params = message.value("params")?;
    Some(params.get("_meta")?.get(VERSION)?.as_str()?.to_owned())
}

/// Returns the line of the error response to a request of a version that is not supported, without a line end. The
/// client then uses one of the versions `supported`.
pub(crate) fn unsupported_version(id: &Id, requested: &str, supported: &[&str]) -> String {
    let error = json!({
        "code": UNSUPPORTED,
        "message": format!("Unsupported protocol version; supported: {}", supported.join(", ")),
        "data": { "supported": supported, "requested": requested },
    });
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
}
