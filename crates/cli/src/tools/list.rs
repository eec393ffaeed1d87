//! `grammata tools list`: what a model may call.

use super::{Loaded, SetArgs};
use crate::output::{Exit, Failure, Output};
use crate::text::counted;
use grammata_agents::tools::{Binding, Tool};
use serde_json::{Value, json};
use std::io::Write;

/// Writes one line for each tool: its name and arguments (`?`: may be left out), or why it cannot be called.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    set: SetArgs,
    /// Write the numbers of tools alone
    #[arg(long)]
    count: bool,
    /// Write one JSON object for each tool
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let loaded = arguments.set.load()?;
    if arguments.count {
        count(&loaded, output)?;
        return Ok(Exit::Done);
    }
    for tool in loaded.set.tools() {
        if arguments.json {
            output.json(&to_json(tool))?;
        } else {
            writeln!(output, "{}", line(tool))?;
        }
    }
    Ok(Exit::Done)
}

fn count(loaded: &Loaded, output: &mut Output) -> std::io::Result<()> {
    let tools = loaded.set.tools();
    let refused: Vec<&Tool> = tools.iter().filter(|tool| tool.refusal.is_some()).collect();
    writeln!(output, "{}, {} not callable", counted(tools.len(), "tool"), refused.len())?;
    for tool in refused {
        writeln!(output, "{}", line(tool))?;
    }
    Ok(())
}

/// A tool on one line.
fn line(tool: &Tool) -> String {
    match &tool.refusal {
        Some(reason) => {
            let detail = reason.cause_text().or(reason.found_text()).unwrap_or_default();
            format!("{}: not callable: {} ({detail}) at {}", tool.name, reason.message(), reason.place())
        }
        None => format!("{}({})", tool.name, members(&tool.arguments.value()).join(", ")),
    }
}

/// The members of the arguments, those that may be left out with a question mark.
fn members(schema: &Value) -> Vec<String> {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &String| required.is_some_and(|names| names.iter().any(|other| other == name));
    let properties = schema.get("properties").and_then(Value::as_object);
    let names = properties.into_iter().flat_map(|properties| properties.keys());
    names.map(|name| if is_required(name) { name.clone() } else { format!("{name}?") }).collect()
}

fn to_json(tool: &Tool) -> Value {
    let request = match &tool.binding {
        Binding::Host => Value::Null,
        Binding::Http(http) => json!({"method": http.method, "path": http.path, "server": http.server}),
    };
    json!({
        "name": tool.name,
        "description": tool.description,
        "label": tool.label,
        "place": tool.place.to_string(),
        "arguments": tool.arguments.value(),
        "request": request,
        "refusal": tool.refusal.as_ref().map(|reason| reason.message()),
    })
}
