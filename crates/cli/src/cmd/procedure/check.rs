//! `grammata procedure check`: runs the static checks.

use super::{folder_of, format, located};
use crate::args::limits::LimitArgs;
use crate::args::source;
use crate::io::messages;
use crate::io::output::{Exit, Failure, Output};
use grammata_agents::procedures::{self, NodeKind, Report, Severity};
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

/// Errors, warnings and notes go to standard error. The exit code is 2 if a procedure has errors, and 4 if a limit kept one
/// from being checked whole.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Procedures: files, or `-` for YAML on standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    limits: LimitArgs,
}

/// The report on a procedure. Its findings are among the diagnostics.
#[derive(Serialize)]
struct FileReport<'a> {
    file: &'a str,
    valid: bool,
    states: Option<usize>,
    edges: Option<usize>,
    safe: Option<usize>,
    /// Maximum number of acts of the agent in a turn. Null if there is no bound, or it is not known.
    turn_acts: Option<usize>,
    session_acts: Option<usize>,
    /// Whether all parts were checked, without reaching a limit.
    checked_whole: bool,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.limits.get();
    let mut exit = Exit::Done;
    if output.is_json() {
        output.list("procedures")?;
    }
    for file in &arguments.files {
        let text = source::text(file, &limits)?;
        let report = procedures::check_in(&text, format(file), folder_of(file), &limits)
            .map_err(|error| error.in_file(&source::name_of(file)))?;
        let diagnostics = report.findings.iter().map(|finding| finding.diagnostic.clone()).collect();
        let diagnostics = located(diagnostics, file, &text);
        let findings: Vec<_> =
            report.findings.iter().map(|finding| finding.severity).zip(diagnostics).collect();
        let name = source::name_of(file);
        if output.is_json() {
            output.item(&FileReport {
                file: &name,
                valid: report.procedure.is_some(),
                states: report.size.map(|size| size.states),
                edges: report.size.map(|size| size.edges),
                safe: report.size.map(|size| size.safe),
                turn_acts: report.bounds.map(|bounds| bounds.turn),
                session_acts: report.bounds.map(|bounds| bounds.session),
                checked_whole: report.unchecked.is_none(),
            })?;
        } else {
            writeln!(output, "{name}: {}", summary(&report))?;
            output.flush()?;
        }
        for (severity, diagnostic) in &findings {
            messages::finding(word(*severity), diagnostic);
        }
        if let Some(error) = &report.unchecked {
            messages::error(&error.clone().in_file(&name));
            exit = if exit == Exit::Done { Exit::Limit } else { exit };
        }
        if report.procedure.is_none() {
            exit = Exit::Unusable;
        }
    }
    Ok(exit)
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// Summarises a procedure, or counts its errors.
fn summary(report: &Report) -> String {
    let Some(procedure) = &report.procedure else {
        let errors = report.findings.iter().filter(|finding| finding.severity == Severity::Error);
        return crate::io::text::counted(errors.count(), "error");
    };
    let apis = procedure.nodes().iter().filter(|node| node.kind == NodeKind::Api).count();
    let parts = [
        crate::io::text::counted(apis, "API"),
        crate::io::text::counted(procedure.nodes().len() - apis, "answer"),
        crate::io::text::counted(procedure.slots().len(), "slot"),
    ];
    let mut text = parts.join(", ");
    if let Some(size) = report.size {
        text.push_str(&format!("; {} states, {} edges", size.states, size.edges));
    }
    if let Some(bounds) = report.bounds {
        text.push_str(&format!("; at most {} acts a turn, {} a session", bounds.turn, bounds.session));
    }
    text
}
