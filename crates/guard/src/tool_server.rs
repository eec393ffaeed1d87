//! An MCP server that offers tools of this program on two streams.

use crate::rules::Values;
use crate::wire::{self, Id, Kind, Line, Message, error, read_line};
use serde_json::{Value, json};
use std::io::{self, BufRead, Write};

/// The supported versions of the protocol, newest first. 2025-03-26 is not among them, because its clients may send
/// batches.
const VERSIONS: [&str; 3] = ["2025-11-25", "2025-06-18", "2024-11-05"];

/// A function that carries out a call, given the tool's name and the arguments. Its error is a text for the agent.
type Call<'t> = dyn FnMut(&str, &Values) -> Result<Value, String> + 't;

/// An MCP server with tools whose results are JSON objects.
pub struct ToolServer<'t> {
    name: String,
    instructions: String,
    tools: Vec<Value>,
    call: Box<Call<'t>>,
}

impl std::fmt::Debug for ToolServer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolServer").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<'t> ToolServer<'t> {
    /// Creates a server with a name, instructions for the client, and tools in the format of a `tools/list` result.
    /// `call` carries out calls of these tools.
    pub fn new(
        name: &str,
        instructions: &str,
        tools: Vec<Value>,
        call: impl FnMut(&str, &Values) -> Result<Value, String> + 't,
    ) -> ToolServer<'t> {
        ToolServer {
            name: name.to_owned(),
            instructions: instructions.to_owned(),
            tools,
            call: Box::new(call),
        }
    }

    /// Answers the lines of a client until the input ends. A line of more than `line_bytes` bytes is answered with an
    /// error.
    ///
    /// # Errors
    /// Errors of the streams.
    pub fn run(
        &mut self,
        input: &mut impl BufRead,
        output: &mut impl Write,
        line_bytes: usize,
    ) -> io::Result<()> {
        while let Some(line) = read_line(input, line_bytes)? {
            if let Some(answer) = self.answer(line) {
                output.write_all(answer.as_bytes())?;
                output.write_all(b"\n")?;
                output.flush()?;
            }
        }
        Ok(())
    }

    /// Returns the answer to a line, without a line end; `None` for a notification or a response, which need no answer.
    pub fn answer(&mut self, line: Line) -> Option<String> {
        let text = match line {
            Line::Text(text) => text,
            Line::TooLong => return Some(error::line(None, error::PARSE, "the line is too long")),
            Line::NotUtf8 => return Some(error::line(None, error::PARSE, "the line is not UTF-8")),
        };
        let message = match Message::read(&text) {
            Ok(message) => message,
            Err(invalid) => return Some(error::line(invalid.id.as_ref(), invalid.code, &invalid.text)),
        };
        let Kind::Request { id, method } = &message.kind else { return None };
        let params = match message.value("params") {
            Some(Value::Object(params)) => params,
            _ => Values::new(),
        };
        Some(match method.as_str() {
            "initialize" => wire::response(id, &self.about(&params)),
            "ping" => wire::response(id, &json!({})),
            "tools/list" => wire::response(id, &json!({ "tools": self.tools })),
            "tools/call" => self.called(id, &params),
            _ => error::line(Some(id), error::UNKNOWN_METHOD, "this server has tools only"),
        })
    }

    fn about(&self, params: &Values) -> Value {
        let wanted = params.get("protocolVersion").and_then(Value::as_str);
        let version = VERSIONS.into_iter().find(|version| wanted == Some(version)).unwrap_or(VERSIONS[0]);
        json!({
            "protocolVersion": version,
            "capabilities": { "tools": {} },
            "serverInfo": { "name": self.name, "version": env!("CARGO_PKG_VERSION") },
            "instructions": self.instructions,
        })
    }

    fn called(&mut self, id: &Id, params: &Values) -> String {
        let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
        if !self.tools.iter().any(|tool| tool["name"] == name) {
            return error::line(Some(id), error::INVALID_PARAMS, "unknown tool");
        }
        let none = Values::new();
        let arguments = match params.get("arguments") {
            None | Some(Value::Null) => &none,
            Some(Value::Object(arguments)) => arguments,
            Some(_) => return error::line(Some(id), error::INVALID_PARAMS, "`arguments` must be an object"),
        };
        let result = match (self.call)(name, arguments) {
            Ok(data) => {
                let text = data.to_string();
                json!({ "content": [{ "type": "text", "text": text }], "structuredContent": data, "isError": false })
            }
            Err(text) => json!({ "content": [{ "type": "text", "text": text }], "isError": true }),
        };
        wire::response(id, &result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_answered() {
        let tool = json!({ "name": "double", "inputSchema": { "type": "object" } });
        let mut server = ToolServer::new("s", "Doubles.", vec![tool], |_, arguments| {
            let number = arguments.get("n").and_then(Value::as_u64).ok_or("`n` must be a number")?;
            Ok(json!({ "n": 2 * number }))
        });
        let request = |method: &str, params: Value| wire::request(1, method, &params);
        let call =
            |arguments: Value| request("tools/call", json!({ "name": "double", "arguments": arguments }));
        for (line, pointer, expected) in [
            (
                request("initialize", json!({ "protocolVersion": "2025-06-18" })),
                "/result/protocolVersion",
                json!("2025-06-18"),
            ),
            // this version has batches
            (
                request("initialize", json!({ "protocolVersion": "2025-03-26" })),
                "/result/protocolVersion",
                json!("2025-11-25"),
            ),
            (
                request("initialize", json!({ "protocolVersion": "x" })),
                "/result/protocolVersion",
                json!("2025-11-25"),
            ),
            (request("ping", json!({})), "/result", json!({})),
            (request("tools/list", json!({})), "/result/tools/0/name", json!("double")),
            (call(json!({ "n": 4 })), "/result/structuredContent", json!({ "n": 8 })),
            (call(json!({ "n": "4" })), "/result/isError", json!(true)),
            (call(json!([])), "/error/code", json!(error::INVALID_PARAMS)),
            (request("tools/call", json!({ "name": "x" })), "/error/code", json!(error::INVALID_PARAMS)),
            (request("resources/list", json!({})), "/error/code", json!(error::UNKNOWN_METHOD)),
            ("{".to_owned(), "/error/code", json!(error::PARSE)),
            ("[]".to_owned(), "/error/code", json!(error::INVALID_REQUEST)),
        ] {
            let answer: Value =
                serde_json::from_str(&server.answer(Line::Text(line.clone())).unwrap()).unwrap();
            assert_eq!(answer.pointer(pointer), Some(&expected), "{line} {answer}");
        }
        assert_eq!(server.answer(Line::Text(wire::notification("notifications/initialized", None))), None);
        let mut output = Vec::new();
        let input = format!("{}\n\u{0}\n", call(json!({ "n": 1 })));
        server.run(&mut input.as_bytes(), &mut output, 1_000).unwrap();
        assert_eq!(String::from_utf8(output).unwrap().lines().count(), 2);
    }
}
