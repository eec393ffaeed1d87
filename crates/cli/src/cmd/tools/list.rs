//! `grammata tools list`: lists the tools that a model may call.

use super::{Loaded, SetArgs};
use crate::io::errors;
use crate::io::output::{Exit, Failure, Output};
use crate::io::report::DiagnosticReport;
use crate::io::text::counted;
use grammata_agents::tools::{Binding, Tool};
use serde::Serialize;
use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;

/// Writes one line for each tool: its name and arguments (`?`: may be left out), or why it cannot be called.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    set: SetArgs,
    /// Write only the numbers of tools
    #[arg(long)]
    count: bool,
    /// Also write the list of the MCP server to FILE, a document of tools
    #[arg(long, value_name = "FILE", conflicts_with = "files")]
    save: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let loaded = arguments.set.load()?;
    if let (Some(path), [text]) = (&arguments.save, loaded.texts.as_slice()) {
        std::fs::write(path, text).map_err(|cause| errors::io(path, &cause))?;
    }
    if output.is_json() {
        let refused = loaded.set.tools().iter().filter(|tool| tool.refusal.is_some()).count();
        let callable = loaded.set.tools().len() - refused;
        output.report(&CountReport { callable, not_callable: refused })?;
        output.list("tools")?;
    } else if arguments.count {
        count(&loaded, output)?;
        return Ok(Exit::Done);
    }
    for tool in loaded.set.tools() {
        if output.is_json() {
            if !arguments.count || tool.refusal.is_some() {
                output.item(&ToolReport::new(tool))?;
            }
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

/// Formats a tool on one line.
fn line(tool: &Tool) -> String {
    match &tool.refusal {
        Some(reason) => {
            let detail = reason.cause_text().or(reason.found_text()).unwrap_or_default();
            format!("{}: not callable: {} ({detail}) at {}", tool.name, reason.message(), reason.place())
        }
        None => format!("{}({})", tool.name, members(&tool.arguments.value()).join(", ")),
    }
}

/// Returns the names of arguments. Optional ones have a question mark.
fn members(schema: &Value) -> Vec<String> {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &String| required.is_some_and(|names| names.iter().any(|other| other == name));
    let properties = schema.get("properties").and_then(Value::as_object);
    let names = properties.into_iter().flat_map(|properties| properties.keys());
    names.map(|name| if is_required(name) { name.clone() } else { format!("{name}?") }).collect()
}

/// The numbers of tools: the head of the report. The member `tools` follows.
#[derive(Serialize)]
struct CountReport {
    callable: usize,
    not_callable: usize,
}

/// A tool in JSON.
#[derive(Serialize)]
struct ToolReport<'a> {
    name: &'a str,
    description: &'a str,
    label: &'a str,
    place: String,
    /// The JSON Schema of its arguments.
    arguments: Value,
    /// Null for a tool that the host executes.
    request: Option<RequestReport<'a>>,
    /// The reason why the tool cannot be called. Null if it can.
    refusal: Option<DiagnosticReport>,
}

/// The HTTP request of a tool.
#[derive(Serialize)]
struct RequestReport<'a> {
    method: &'a str,
    path: &'a str,
    server: Option<&'a str>,
}

impl ToolReport<'_> {
    fn new(tool: &Tool) -> ToolReport<'_> {
        let request = match &tool.binding {
            Binding::Host => None,
            Binding::Http(http) => {
                Some(RequestReport { method: &http.method, path: &http.path, server: http.server.as_deref() })
            }
        };
        ToolReport {
            name: &tool.name,
            description: &tool.description,
            label: &tool.label,
            place: tool.place.to_string(),
            arguments: tool.arguments.value(),
            request,
            refusal: tool.refusal.as_ref().map(|reason| DiagnosticReport::new("error", reason)),
        }
    }
}
