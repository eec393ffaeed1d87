//! `grammata tools check`: checks documents of tools.

use super::{Loaded, SetArgs};
use crate::io::messages;
use crate::io::output::{Exit, Failure, Output};
use crate::io::text::counted;
use grammata::diagnostic::Diagnostic;
use grammata_agents::tools::{Finding, Severity};
use serde::Serialize;
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
}

/// The numbers of tools and findings. The findings are among the diagnostics.
#[derive(Serialize)]
struct Report {
    tools: usize,
    callable: usize,
    errors: usize,
    warnings: usize,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let loaded = arguments.set.load()?;
    let mut findings: Vec<&Finding> = loaded.set.findings().iter().collect();
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    let tools = loaded.set.tools();
    let callable = loaded.set.callable().count();
    let found = findings.len();
    let located = located(&loaded, &findings);
    for (finding, diagnostic) in findings.iter().zip(&located) {
        messages::collect(word(finding.severity), diagnostic);
    }
    if output.is_json() {
        let warnings = found - errors;
        output.report(&Report { tools: tools.len(), callable, errors, warnings })?;
    } else {
        let (all, warnings) = (counted(tools.len(), "tool"), counted(found - errors, "warning"));
        let refused = tools.len() - callable;
        writeln!(output, "{all}, {refused} not callable; {}, {warnings}", counted(errors, "error"))?;
        output.flush()?;
    }
    let mut shown: Vec<_> = findings.drain(..).zip(&located).collect();
    if arguments.limit > 0 && found > arguments.limit {
        shown.sort_by_key(|(finding, _)| finding.severity);
        shown.truncate(arguments.limit);
    }
    for (finding, diagnostic) in &shown {
        messages::show(word(finding.severity), diagnostic);
    }
    if found > shown.len() {
        let more = counted(found - shown.len(), "finding");
        messages::note(&format!("{more} not shown; `--limit 0` shows all"));
    }
    Ok(if errors == 0 { Exit::Done } else { Exit::Unusable })
}

/// Returns the diagnostics of findings, with their files and lines.
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
