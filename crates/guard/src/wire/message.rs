//! JSON-RPC messages. The values of their members keep their original text.

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::fmt;

/// Maximum number of members of a message. JSON-RPC defines six.
const MOST_MEMBERS: usize = 16;
/// Maximum bytes of an id in JSON. The bound is needed because ids are stored while requests wait.
const MOST_ID_BYTES: usize = 256;

/// The id of a request: the original text of a number, or a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Id {
    Number(String),
    Text(String),
}

impl Id {
    /// Parses an id from JSON; `None` if it is null, of another type, or too long. A number keeps its text.
    fn read(text: &str) -> Option<Id> {
        if text.len() > MOST_ID_BYTES {
            return None;
        }
        match serde_json::from_str(text).ok()? {
            Value::Number(_) => Some(Id::Number(text.to_owned())),
            Value::String(text) => Some(Id::Text(text)),
            _ => None,
        }
    }

    /// Returns the id as a number, if it can be one that the guard gave to a request; `None` for other ids.
    pub(crate) fn number(&self) -> Option<u64> {
        match self {
            Id::Number(number) => number.parse().ok(),
            Id::Text(_) => None,
        }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Id::Number(number) => f.write_str(number),
            Id::Text(text) => Value::from(text.as_str()).fmt(f),
        }
    }
}

/// The kind of a message, with the id of a request or response, and the method of a request or notification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Request { id: Id, method: String },
    Notification { method: String },
    Response { id: Id },
}

/// The reason why a line is not a message: the id, code and text of the error response. The id is `None` if it is not
/// known or not valid.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Invalid {
    pub(crate) id: Option<Id>,
    pub(crate) code: i32,
    pub(crate) text: String,
}

/// A JSON-RPC message. Each member occurs only once, so that the guard and the other side read the same values.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) kind: Kind,
    members: Members,
}

impl Message {
    /// Parses a message.
    ///
    /// # Errors
    /// The text is not JSON, or not a request, notification or response of JSON-RPC 2.0; a member occurs twice; there
    /// are more than 16 members; the id has more than 256 bytes.
    pub(crate) fn read(text: &str) -> Result<Message, Invalid> {
        let members: Members = serde_json::from_str(text).map_err(|cause| {
            let code = if cause.is_data() { error::INVALID_REQUEST } else { error::PARSE };
            Invalid { id: None, code, text: cause.to_string() }
        })?;
        let id = members.get("id").map(|id| Id::read(id.get()));
        let invalid = |text: &str| Invalid {
            id: id.clone().flatten(),
            code: error::INVALID_REQUEST,
            text: text.to_owned(),
        };
        if members.get("jsonrpc").is_none_or(|version| version.get() != "\"2.0\"") {
            return Err(invalid("`jsonrpc` must be \"2.0\""));
        }
        if id == Some(None) {
            return Err(invalid("`id` must be a text or a number of at most 256 bytes"));
        }
        let method = members.get("method").map(|method| serde_json::from_str::<String>(method.get()));
        let answers = ["result", "error"].into_iter().filter(|name| members.get(name).is_some()).count();
        let kind = match (id.clone().flatten(), method, answers) {
            (Some(id), Some(Ok(method)), 0) => Kind::Request { id, method },
            (None, Some(Ok(method)), 0) => Kind::Notification { method },
            (Some(id), None, 1) => Kind::Response { id },
            _ => return Err(invalid("this is neither a request nor a notification nor a response")),
        };
        Ok(Message { kind, members })
    }

    /// Returns the value of a member; `None` if it is missing or cannot be parsed, because it is nested too
    /// deeply or has a surrogate without its pair.
    pub(crate) fn value(&self, name: &str) -> Option<Value> {
        self.parsed(name)
    }

    /// Returns a member's value; `None` if it is missing, or has another form than `T`.
    pub(crate) fn parsed<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_str(self.members.get(name)?.get()).ok()
    }

    /// Returns the names of the members, in their order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.members.0.iter().map(|(name, _)| name.as_str())
    }

    /// Returns the names of the members of `params`, in their order; none if `params` is missing.
    ///
    /// # Errors
    /// Text that says why they cannot be read: `params` is not an object, or has a member twice or more than 16.
    pub(crate) fn param_names(&self) -> Result<Vec<String>, String> {
        let Some(params) = self.members.get("params") else { return Ok(Vec::new()) };
        let members: Members = serde_json::from_str(params.get()).map_err(|cause| cause.to_string())?;
        Ok(members.0.into_iter().map(|(name, _)| name).collect())
    }

    /// Returns the id in the member `requestId` of `params`; `None` if there is none.
    pub(crate) fn cancelled(&self) -> Option<Id> {
        let members: Members = serde_json::from_str(self.members.get("params")?.get()).ok()?;
        Id::read(members.get("requestId")?.get())
    }

    /// Returns the length in bytes of a member's value; 0 if it is missing.
    pub(crate) fn bytes(&self, name: &str) -> usize {
        self.members.get(name).map_or(0, |member| member.get().len())
    }

    /// Returns the message as one line, with its id replaced by `id` if `id` is given.
    pub(crate) fn line(&self, id: Option<&Id>) -> String {
        let mut line = String::from("{");
        for (name, value) in &self.members.0 {
            if line.len() > 1 {
                line.push(',');
            }
            line.push_str(&Value::from(name.as_str()).to_string());
            line.push(':');
            match id.filter(|_| name == "id") {
                Some(id) => line.push_str(&id.to_string()),
                None => line.push_str(value.get()),
            }
        }
        line.push('}');
        // JSON allows line breaks only between its tokens, so a blank can replace them
        if line.contains(['\n', '\r']) { line.replace(['\n', '\r'], " ") } else { line }
    }
}

/// The members of a message in their original order.
#[derive(Debug)]
struct Members(Vec<(String, Box<RawValue>)>);

impl Members {
    fn get(&self, name: &str) -> Option<&RawValue> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| &**value)
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Members, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Members(Vec::new());
                while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    if members.get(&name).is_some() || members.0.len() == MOST_MEMBERS {
                        return Err(A::Error::custom("a member twice, or too many members"));
                    }
                    members.0.push((name, value));
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Read)
    }
}

/// Returns the line of a request, without a line end.
pub(crate) fn request(id: u64, method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

/// Returns the line of a notification, without a line end.
pub(crate) fn notification(method: &str, params: Option<Value>) -> String {
    let mut message = json!({ "jsonrpc": "2.0", "method": method });
    if let Some(params) = params {
        message["params"] = params;
    }
    message.to_string()
}

/// Returns the line of a response with a result, without a line end.
pub(crate) fn response(id: &Id, result: &Value) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// Error responses, and their codes in JSON-RPC.
pub(crate) mod error {
    use super::Id;
    use serde_json::json;

    pub(crate) const PARSE: i32 = -32700;
    pub(crate) const INVALID_REQUEST: i32 = -32600;
    pub(crate) const UNKNOWN_METHOD: i32 = -32601;
    pub(crate) const INVALID_PARAMS: i32 = -32602;
    /// The server or the guard cannot answer. The number is from the range that JSON-RPC reserves for servers.
    pub(crate) const UNAVAILABLE: i32 = -32000;

    /// Returns the line of an error response, without a line end. If `id` is `None`, the id of the response is null.
    pub(crate) fn line(id: Option<&Id>, code: i32, text: &str) -> String {
        let id = id.map_or_else(|| "null".to_owned(), Id::to_string);
        let error = json!({ "code": code, "message": text });
        format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_by_their_members() {
        let number = |number: &str| Id::Number(number.to_owned());
        let call = "tools/call".to_owned();
        for (text, expected) in [
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#,
                Ok(Kind::Request { id: number("1"), method: call.clone() }),
            ),
            // an escaped name is the same name
            (r#"{"jsonrpc":"2.0","method":"tools\u002fcall"}"#, Ok(Kind::Notification { method: call })),
            (
                r#"{"jsonrpc":"2.0","id":"a","result":{}}"#,
                Ok(Kind::Response { id: Id::Text("a".to_owned()) }),
            ),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}"#, Err(error::INVALID_REQUEST)),
            (r#"{"jsonrpc":"2.0","id":1,"method":"x","method":"y"}"#, Err(error::INVALID_REQUEST)),
            (r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#, Err(error::INVALID_REQUEST)),
            (r#"{"jsonrpc":"2.0","id":[1],"method":"x"}"#, Err(error::INVALID_REQUEST)),
            (r#"{"jsonrpc":"2.0","id":1,"method":"x","result":1}"#, Err(error::INVALID_REQUEST)),
            (r#"{"jsonrpc":"2.0","id":1,"result":1,"error":1}"#, Err(error::INVALID_REQUEST)),
            (r#"{"jsonrpc":"1.0","id":1,"method":"x"}"#, Err(error::INVALID_REQUEST)),
            (r#"{"id":1,"method":"x"}"#, Err(error::INVALID_REQUEST)),
            (r#"{"jsonrpc":"2.0"}"#, Err(error::INVALID_REQUEST)),
            ("[]", Err(error::INVALID_REQUEST)),
            ("7", Err(error::INVALID_REQUEST)),
            (r#"{"jsonrpc":"2.0","id":1,"method":"x""#, Err(error::PARSE)),
            ("{} {}", Err(error::PARSE)),
        ] {
            let read = Message::read(text).map(|message| message.kind).map_err(|invalid| invalid.code);
            assert_eq!(read, expected, "{text}");
        }
        let long = format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"x"}}"#, "a".repeat(300));
        assert_eq!(Message::read(&long).unwrap_err().code, error::INVALID_REQUEST);
    }

    #[test]
    fn members_keep_their_text() {
        let text = "{ \"jsonrpc\": \"2.0\",\n \"id\": 1, \"method\":\"x\",\"params\":{\"b\":1.50,\"a\":1e2}, \"extra\":[ 1 ] }";
        let line = Message::read(text).unwrap().line(Some(&Id::Text("\"".to_owned())));
        let expected =
            r#"{"jsonrpc":"2.0","id":"\"","method":"x","params":{"b":1.50,"a":1e2},"extra":[ 1 ]}"#;
        assert_eq!(line, expected);
    }

    #[test]
    fn depth_does_not_use_the_stack() {
        let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{deep}}}"#);
        let message = Message::read(&text).unwrap();
        assert_eq!(message.value("params"), None);
        assert_eq!(message.line(None).len(), text.len());
    }
}
