//! `grammata tools request`: the HTTP requests that calls stand for.

use super::SetArgs;
use crate::cli::errors;
use crate::cli::output::{Exit, Failure, Output};
use crate::tools::Call;
use serde_json::{Value, json};

/// Writes each request as a JSON object. Nothing is sent.
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
    for text in &arguments.call {
        let call: Value =
            serde_json::from_str(text).map_err(|cause| errors::not_a_call(text, &cause.to_string()))?;
        let (Some(tool), Some(given)) = (call["name"].as_str(), call["arguments"].as_object()) else {
            return Err(errors::not_a_call(text, "no `name` and `arguments`").into());
        };
        let request = loaded.set.request(&Call { tool: tool.to_owned(), arguments: given.clone() })?;
        output.json(&json!({
            "method": request.method,
            "url": request.url,
            "headers": request.headers,
            "body": request.body,
        }))?;
    }
    Ok(Exit::Done)
}
