//! `grammata tools check`: what is wrong with tools.

use super::{Loaded, SetArgs};
use crate::output::{Exit, Failure, Output};
use crate::text::counted;
use crate::{messages, report};
use grammata::diagnostic::Diagnostic;
use grammata_agents::tools::{Finding, Severity};
use serde_json::json;
use std::io::Write;

/// Errors and warnings go to standard error, each with its place. The exit code is 2 if a tool cannot be called or a document
/// has an error.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    set: SetArgs,
    /// The most findings that are shown, errors before warnings; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Write one JSON object, with all findings
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let loaded = arguments.set.load()?;
    let mut findings: Vec<&Finding> = loaded.set.findings().iter().collect();
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    let tools = loaded.set.tools();
    let callable = loaded.set.callable().count();
    let name_of = |tool: Option<usize>| Some(tools.get(tool?)?.name.clone());
    if arguments.json {
        let findings = findings.iter().zip(located(&loaded, &findings)).map(|(finding, diagnostic)| {
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
        let (all, found) = (counted(tools.len(), "tool"), findings.len());
        let warnings = counted(found - errors, "warning");
        writeln!(
            output,
            "{all}, {} not callable; {}, {warnings}",
            tools.len() - callable,
            counted(errors, "error")
        )?;
        output.flush()?;
        if arguments.limit > 0 && found > arguments.limit {
            findings.sort_by_key(|finding| finding.severity);
            findings.truncate(arguments.limit);
        }
        for (finding, diagnostic) in findings.iter().zip(located(&loaded, &findings)) {
            messages::finding(word(finding.severity), &diagnostic);
        }
        if found > findings.len() {
            let more = counted(found - findings.len(), "finding");
            messages::note(&format!("{more} not shown; `--limit 0` shows all"));
        }
    }
    Ok(if errors == 0 { Exit::Done } else { Exit::Unusable })
}

/// What the findings say, with the files and lines.
fn located(loaded: &Loaded, findings: &[&Finding]) -> Vec<Diagnostic> {
    let all: Vec<_> = findings.iter().map(|finding| (finding.document, &finding.diagnostic)).collect();
    loaded.located(&all)
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}
