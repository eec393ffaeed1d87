//! `grammata tools request`: shows the HTTP requests for calls.

use super::SetArgs;
use crate::io::errors;
use crate::io::output::{Exit, Failure, Output};
use grammata::diagnostic::{Notation, Place, Source};
use grammata::error::{Error, Result};
use grammata_agents::tools::{Call, Request};
use serde::Serialize;
use serde_json::Value;
use std::io::Write;

/// Writes the method, the address, the headers and the body of each request. Arguments are checked by the schema of their tool. Nothing is sent.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    set: SetArgs,
    /// A call, as `{"name": "N", "arguments": {…}}`; may be repeated
    #[arg(long, value_name = "JSON", required = true)]
    call: Vec<String>,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let loaded = arguments.set.load()?;
    if output.is_json() {
        output.list("requests")?;
    }
    for (at, text) in arguments.call.iter().enumerate() {
        let name = if arguments.call.len() == 1 { "--call".to_owned() } else { format!("--call {}", at + 1) };
        let source = Source::new(text, Notation::Json);
        let located = |error: Error| error.in_source(&source).in_file(&name);
        let call = call(text).map_err(located)?;
        let request = loaded.set.request(&call).map_err(located)?;
        write_request(at == 0, &request, output)?;
    }
    Ok(Exit::Done)
}

/// The HTTP request for a call, in JSON.
#[derive(Serialize)]
pub(super) struct RequestReport<'a> {
    method: &'a str,
    url: &'a str,
    /// Names and values, in the order of the document.
    headers: &'a [(String, String)],
    /// Null if the request has no body.
    body: Option<&'a str>,
}

impl RequestReport<'_> {
    pub(super) fn new(request: &Request) -> RequestReport<'_> {
        let Request { method, url, headers, body, .. } = request;
        RequestReport { method, url, headers, body: body.as_deref() }
    }
}

/// Writes a request in the form of HTTP, with an empty line before it unless it is the first. In JSON output the
/// request is an item of the open list.
pub(super) fn write_request(is_first: bool, request: &Request, output: &mut Output) -> std::io::Result<()> {
    if output.is_json() {
        return output.item(&RequestReport::new(request));
    }
    if !is_first {
        writeln!(output)?;
    }
    writeln!(output, "{} {}", request.method, request.url)?;
    for (name, value) in &request.headers {
        writeln!(output, "{name}: {value}")?;
    }
    match &request.body {
        Some(body) => writeln!(output, "\n{body}"),
        None => Ok(()),
    }
}

/// Parses a call from JSON.
fn call(text: &str) -> Result<Call> {
    let call: Value = serde_json::from_str(text).map_err(|cause| {
        let place = Place::LineColumn { line: cause.line().max(1), column: cause.column().max(1) };
        errors::not_a_call(place, text, &cause.to_string())
    })?;
    match (call["name"].as_str(), call["arguments"].as_object()) {
        (Some(tool), Some(arguments)) => Ok(Call { tool: tool.to_owned(), arguments: arguments.clone() }),
        (None, _) => {
            Err(errors::not_a_call(Place::Pointer("/name".to_owned()), text, "`name` is not a text"))
        }
        (_, None) => {
            let place = Place::Pointer("/arguments".to_owned());
            Err(errors::not_a_call(place, text, "`arguments` is not an object"))
        }
    }
}
