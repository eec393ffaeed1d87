//! What a client may send, by version of the Model Context Protocol: methods, and the members of their parameters.
//!
//! The table follows the schemas of the versions 2024-11-05 to 2026-07-28. The schemas before 2025-11-25 are read as
//! that of 2025-11-25, as the official Python package reads them.

use super::names::fold;

/// The first version of the protocol.
const FIRST: &str = "2024-11-05";
/// The last version whose sessions begin with `initialize`.
const LAST_WITH_SESSIONS: &str = "2025-11-25";
/// The known versions whose sessions begin with `initialize`, in their order.
pub(crate) const WITH_SESSIONS: [&str; 4] = [FIRST, "2025-03-26", "2025-06-18", LAST_WITH_SESSIONS];
/// The known version without `initialize`.
pub(crate) const WITHOUT_SESSIONS: &str = "2026-07-28";

/// Members of a message in JSON-RPC.
pub(crate) const MESSAGE: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

/// A method with the members of its `params` other than `_meta`, and the first and last version that have it so.
struct Method {
    name: &'static str,
    members: &'static [&'static str],
    from: &'static str,
    to: &'static str,
}

const fn always(name: &'static str, members: &'static [&'static str]) -> Method {
    Method { name, members, from: FIRST, to: WITHOUT_SESSIONS }
}

const fn before(name: &'static str, members: &'static [&'static str]) -> Method {
    Method { name, members, from: FIRST, to: LAST_WITH_SESSIONS }
}

const fn since(name: &'static str, members: &'static [&'static str]) -> Method {
    Method { name, members, from: WITHOUT_SESSIONS, to: WITHOUT_SESSIONS }
}

const METHODS: [Method; 27] = [
    always("completion/complete", &["argument", "context", "ref"]),
    before("initialize", &["capabilities", "clientInfo", "protocolVersion"]),
    before("logging/setLevel", &["level"]),
    before("ping", &[]),
    before("prompts/get", &["arguments", "name"]),
    since("prompts/get", &["arguments", "name", "inputResponses", "requestState"]),
    always("prompts/list", &["cursor"]),
    always("resources/list", &["cursor"]),
    before("resources/read", &["uri"]),
    since("resources/read", &["uri", "inputResponses", "requestState"]),
    before("resources/subscribe", &["uri"]),
    always("resources/templates/list", &["cursor"]),
    before("resources/unsubscribe", &["uri"]),
    since("server/discover", &[]),
    since("subscriptions/listen", &["notifications"]),
    before("tasks/cancel", &["taskId"]),
    before("tasks/get", &["taskId"]),
    before("tasks/list", &["cursor"]),
    before("tasks/result", &["taskId"]),
    before("tools/call", &["arguments", "name", "task"]),
    since("tools/call", &["arguments", "name", "inputResponses", "requestState"]),
    always("tools/list", &["cursor"]),
    always("notifications/cancelled", &["reason", "requestId"]),
    before("notifications/initialized", &[]),
    always("notifications/progress", &["message", "progress", "progressToken", "total"]),
    before("notifications/roots/list_changed", &[]),
    before(
        "notifications/tasks/status",
        &["createdAt", "lastUpdatedAt", "pollInterval", "status", "statusMessage", "taskId", "ttl"],
    ),
];

/// Returns the known version of this name; `None` for other names.
pub(crate) fn known_version(name: &str) -> Option<&'static str> {
    WITH_SESSIONS.into_iter().chain([WITHOUT_SESSIONS]).find(|version| *version == name)
}

/// Returns the members that the parameters of a method may have in a known version of the protocol, or in any known
/// version if `version` is `None`; `None` if there is no such method.
pub(crate) fn members(method: &str, version: Option<&str>) -> Option<Vec<&'static str>> {
    let is_in = |row: &&Method| version.is_none_or(|version| row.from <= version && version <= row.to);
    let rows = METHODS.iter().filter(|row| row.name == method).filter(is_in);
    let mut found: Option<Vec<&'static str>> = None;
    for row in rows {
        found.get_or_insert_with(|| vec!["_meta"]).extend(row.members);
    }
    found
}

/// Returns the method of any version whose name equals `method` but for case and blanks; `None` if there is none.
pub(crate) fn alike(method: &str) -> Option<&'static str> {
    let folded = fold(method);
    METHODS.iter().map(|row| row.name).find(|name| fold(name) == folded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_their_methods() {
        for (method, version, expected) in [
            (
                "initialize",
                Some("2025-06-18"),
                Some(vec!["_meta", "capabilities", "clientInfo", "protocolVersion"]),
            ),
            ("initialize", Some("2026-07-28"), None),
            ("server/discover", Some("2025-11-25"), None),
            ("server/discover", Some("2026-07-28"), Some(vec!["_meta"])),
            ("resources/read", Some("2024-11-05"), Some(vec!["_meta", "uri"])),
            (
                "resources/read",
                Some("2026-07-28"),
                Some(vec!["_meta", "uri", "inputResponses", "requestState"]),
            ),
            ("resources/read", None, Some(vec!["_meta", "uri", "uri", "inputResponses", "requestState"])),
            ("Ping", None, None),
        ] {
            assert_eq!(members(method, version), expected, "{method} {version:?}");
        }
        assert_eq!(alike("Tools/Call "), Some("tools/call"));
        assert_eq!(alike("re\u{17f}ources/read"), Some("resources/read"));
        assert_eq!(alike("tools/other"), None);
    }
}
