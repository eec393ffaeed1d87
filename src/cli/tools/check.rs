//! `grammata tools check`: what is wrong with tools.

use super::SetArgs;
use crate::cli::output::{Exit, Failure, Output};
use crate::cli::text::counted;
use crate::cli::{messages, report};
use crate::tools::Severity;
use serde_json::json;
use std::io::Write;

/// Errors and warnings go to standard error, each with its place. The exit code is 2 if a tool cannot be called or a document
/// has an error.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    set: SetArgs,
    /// Write one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let loaded = arguments.set.load()?;
    let findings = loaded.set.findings();
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    let tools = loaded.set.tools();
    let callable = loaded.set.callable().count();
    let name_of = |tool: Option<usize>| Some(tools.get(tool?)?.name.clone());
    if arguments.json {
        let findings = findings.iter().map(|finding| {
            let diagnostic = loaded.located(finding.document, &finding.diagnostic);
            let mut object = report::json_diagnostic(&report::translated(&diagnostic));
            object["severity"] = json!(word(finding.severity));
            object["tool"] = json!(name_of(finding.tool));
            object
        });
        output.json(&json!({
            "tools": tools.len(),
            "callable": callable,
            "findings": findings.collect::<Vec<_>>(),
        }))?;
    } else {
        let (all, warnings) = (counted(tools.len(), "tool"), counted(findings.len() - errors, "warning"));
        writeln!(
            output,
            "{all}, {} not callable; {}, {warnings}",
            tools.len() - callable,
            counted(errors, "error")
        )?;
        output.flush()?;
        for finding in findings {
            let diagnostic = loaded.located(finding.document, &finding.diagnostic);
            messages::finding(word(finding.severity), &diagnostic);
        }
    }
    Ok(if errors == 0 { Exit::Done } else { Exit::Unusable })
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}
