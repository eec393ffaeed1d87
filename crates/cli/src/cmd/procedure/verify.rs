//! `grammata procedure verify`: checks a recorded conversation.

use super::stream::{self, ViolationReport};
use super::{FileArgs, ModeName};
use crate::args::source;
use crate::io::messages;
use crate::io::output::{Exit, Failure, Output};
use crate::io::text::counted;
use grammata_agents::procedures::{self, Event};
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

/// A trace has one JSON list on each line: ["user", TEXT], ["say", ANSWER], ["free", TEXT], ["call", API, {SLOT:
/// VALUE}], ["result", {SLOT: VALUE}] or ["result", {"error": TEXT}], ["slot", NAME, VALUE] (the user decided). The
/// exit code is 1 if a call or an answer breaks the procedure. With `--stream` lines are judged as they come, and a
/// line may also be a whole session: a list of events, or {"id": TEXT, "events": [EVENTS]}.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    file: FileArgs,
    /// The trace: a file, or `-` for standard input
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
    /// How much of the procedure binds the agent
    #[arg(long, value_enum, default_value_t = ModeName::Guarded)]
    mode: ModeName,
    /// Do not judge the arguments of calls
    #[arg(long)]
    no_arguments: bool,
    /// Conditions on missing decisions are open: for traces without the decisions of users
    #[arg(long)]
    open_decisions: bool,
    /// Arguments may have values that nobody said
    #[arg(long)]
    no_provenance: bool,
    /// Judge each line when it comes, and write its verdict at once
    #[arg(long, conflicts_with = "feedback")]
    stream: bool,
    /// Also write the open nodes after the trace, and why the others are not open
    #[arg(long)]
    feedback: bool,
}

/// The report on a conversation.
#[derive(Serialize)]
struct Report {
    /// Whether no step breaks the procedure.
    valid: bool,
    /// Number of calls and answers that were judged.
    steps: usize,
    /// Whether a closing answer was said when it was allowed.
    complete: bool,
    violations: Vec<ViolationReport>,
    /// Says which nodes are open after the trace, and why the others are not. Null without `--feedback`.
    feedback: Option<String>,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let mut procedure = arguments.file.read()?;
    if arguments.open_decisions {
        procedure.open_decisions();
    }
    if arguments.no_provenance {
        procedure.open_sources();
    }
    let limits = arguments.file.limits.get();
    if arguments.stream {
        let judged = stream::Judged {
            procedure: &procedure,
            mode: arguments.mode.into(),
            arguments: !arguments.no_arguments,
            limits: &limits,
        };
        return judged.lines(&arguments.trace, output);
    }
    let bytes = source::read(&arguments.trace, limits.source_bytes)?;
    let (bytes, cut) = procedures::split_cut_line(&bytes);
    if !cut.is_empty() {
        messages::note(&format!(
            "the last line of the trace was cut off ({} bytes), and is left out",
            cut.len()
        ));
    }
    let text = source::text_of(&arguments.trace, bytes)?;
    let trace: Vec<Event> = procedures::read_trace(&text, &limits)
        .map_err(|error| error.in_file(&source::name_of(&arguments.trace)))?;
    let (verdict, session) =
        procedures::verify(&procedure, arguments.mode.into(), &trace, !arguments.no_arguments);
    let exit = if verdict.violations.is_empty() { Exit::Done } else { Exit::Rejected };
    if output.is_json() {
        output.report(&Report {
            valid: verdict.violations.is_empty(),
            steps: verdict.steps,
            complete: verdict.is_complete,
            violations: verdict.violations.iter().map(ViolationReport::of).collect(),
            feedback: arguments.feedback.then(|| session.feedback()),
        })?;
        return Ok(exit);
    }
    let steps = counted(verdict.steps, "step");
    match verdict.violations.len() {
        0 if verdict.is_complete => writeln!(output, "valid: {steps}, complete")?,
        0 => writeln!(output, "valid: {steps}")?,
        wrong => writeln!(output, "wrong: {wrong} of {steps}")?,
    }
    for violation in &verdict.violations {
        writeln!(output, "  event {}: {}: {}", violation.event + 1, violation.node, violation.obstacle)?;
    }
    if arguments.feedback {
        write!(output, "{}", session.feedback())?;
    }
    Ok(exit)
}
