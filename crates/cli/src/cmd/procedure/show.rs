//! `grammata procedure show`: shows the declarations of a procedure, and what may come first.

use super::{FileArgs, ModeName};
use crate::io::output::{Exit, Failure, Output};
use grammata_agents::procedures::{Node, NodeKind, Session};
use serde::Serialize;
use std::io::Write;

/// Lists slots, APIs and answers with what they require, and what may come at the start.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    file: FileArgs,
    /// How much of the procedure binds the agent
    #[arg(long, value_enum, default_value_t = ModeName::Guarded)]
    mode: ModeName,
}

/// The declarations of a procedure, in JSON.
#[derive(Serialize)]
struct Report<'a> {
    name: &'a str,
    description: &'a str,
    nodes: Vec<NodeReport<'a>>,
    /// Says which acts are possible at the start, and why the others are not.
    feedback: String,
}

/// An API or an answer, in JSON.
#[derive(Serialize)]
struct NodeReport<'a> {
    name: &'a str,
    kind: &'static str,
    request: &'a [String],
    response: &'a [String],
    required: &'a [String],
    has_effect: bool,
    max_calls: Option<u32>,
}

impl NodeReport<'_> {
    fn new(node: &Node) -> NodeReport<'_> {
        NodeReport {
            name: &node.name,
            kind: match node.kind {
                NodeKind::Api => "api",
                NodeKind::Inform => "inform",
                NodeKind::Request => "request",
                NodeKind::Courtesy => "courtesy",
                NodeKind::OutOfWorkflow => "out-of-workflow",
            },
            request: &node.request,
            response: &node.response,
            required: &node.required,
            has_effect: node.writes,
            max_calls: node.max_calls,
        }
    }
}

fn line(node: &Node) -> String {
    let mut text = format!("  {}", node.name);
    if node.kind == NodeKind::Api {
        text.push_str(&format!("({}) -> {}", node.request.join(", "), node.response.join(", ")));
    }
    if !node.required.is_empty() {
        text.push_str(&format!("  requires {}", node.required.join(", ")));
    }
    if node.writes {
        text.push_str("  has an effect");
    }
    if let Some(most) = node.max_calls {
        text.push_str(&format!("  at most {most} calls"));
    }
    text.trim_end().to_owned()
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let procedure = arguments.file.read()?;
    if output.is_json() {
        output.report(&Report {
            name: procedure.name(),
            description: procedure.description(),
            nodes: procedure.nodes().iter().map(NodeReport::new).collect(),
            feedback: Session::new(&procedure, arguments.mode.into()).feedback(),
        })?;
        return Ok(Exit::Done);
    }
    writeln!(output, "{}: {}", procedure.name(), procedure.description())?;
    let kinds = [
        ("APIs", NodeKind::Api),
        ("informs", NodeKind::Inform),
        ("requests", NodeKind::Request),
        ("courtesies", NodeKind::Courtesy),
        ("replies out of the workflow", NodeKind::OutOfWorkflow),
    ];
    for (title, kind) in kinds {
        let nodes: Vec<&Node> = procedure.nodes().iter().filter(|node| node.kind == kind).collect();
        if !nodes.is_empty() {
            writeln!(output, "{title}:")?;
        }
        for node in nodes {
            writeln!(output, "{}", line(node))?;
        }
    }
    write!(output, "{}", Session::new(&procedure, arguments.mode.into()).feedback())?;
    Ok(Exit::Done)
}
