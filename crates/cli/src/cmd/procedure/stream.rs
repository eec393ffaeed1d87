//! `grammata procedure verify --stream`: judges conversations line by line.

use crate::args::source;
use crate::io::lines::Lines;
use crate::io::output::{Exit, Failure, Output};
use crate::io::text::{counted, quoted};
use grammata::error::Result;
use grammata::limits::{LimitKind, Limits};
use grammata_agents::procedures::{Event, Mode, Procedure, TraceLine, Verification, Violation};
use serde::Serialize;
use std::io::Write;
use std::path::Path;

/// How conversations are judged.
pub(super) struct Judged<'p> {
    pub(super) procedure: &'p Procedure,
    pub(super) mode: Mode,
    /// Whether arguments of calls are judged too.
    pub(super) arguments: bool,
    pub(super) limits: &'p Limits,
}

/// The verdict on a session, in JSON.
#[derive(Serialize)]
struct SessionReport<'a> {
    id: Option<&'a str>,
    line: usize,
    valid: bool,
    steps: usize,
    complete: bool,
    violations: Vec<ViolationReport>,
}

/// The verdict on a step of a session whose events are lines of their own, in JSON.
#[derive(Serialize)]
struct EventReport {
    /// The number of the line, from 1.
    line: usize,
    valid: bool,
    /// Null if the step is valid.
    violation: Option<ViolationReport>,
}

/// A step that breaks the procedure, in JSON.
#[derive(Serialize)]
pub(super) struct ViolationReport {
    /// The number of the event in its session, from 1.
    event: usize,
    /// The name of the API or answer.
    node: String,
    /// The kind of the reason, in one word.
    reason: &'static str,
    /// The reason in words.
    text: String,
}

impl ViolationReport {
    pub(super) fn of(violation: &Violation) -> ViolationReport {
        ViolationReport {
            event: violation.event + 1,
            node: violation.node.clone(),
            reason: violation.obstacle.code(),
            text: violation.obstacle.to_string(),
        }
    }
}

/// A session whose events are lines of their own, with the bytes of these lines so far and the number of the first.
struct Going<'p> {
    verification: Verification<'p>,
    bytes: usize,
    line: usize,
}

impl<'p> Judged<'p> {
    /// Judges each line of a file or of standard input when it is read. Only the current session is in memory.
    pub(super) fn lines(&self, path: &Path, output: &mut Output) -> Result<Exit, Failure> {
        let name = source::name_of(path);
        let mut lines = Lines::open(path, self.limits)?;
        let mut going: Option<Going<'p>> = None;
        let mut exit = Exit::Done;
        if output.is_json() {
            output.list("sessions")?;
        }
        while let Some((number, text)) = lines.next()? {
            match TraceLine::read(&text, number).map_err(|error| error.in_file(&name))? {
                TraceLine::Session { id, events } => {
                    self.close(going.take(), output)?;
                    let mut verification = self.begin();
                    let wrong: Vec<Violation> =
                        events.iter().filter_map(|event| verification.take(event)).collect();
                    exit = if wrong.is_empty() { exit } else { Exit::Rejected };
                    session(id.as_deref(), number, &verification, &wrong, output)?;
                }
                TraceLine::Event(event) => {
                    let first = || Going { verification: self.begin(), bytes: 0, line: number };
                    let going = going.get_or_insert_with(first);
                    going.bytes = going.bytes.saturating_add(text.len());
                    if going.bytes > self.limits.source_bytes {
                        let found = format!("more events at line {number}");
                        let most = self.limits.source_bytes;
                        return Err(Limits::exceeded(LimitKind::SourceBytes, most, found)
                            .in_file(&name)
                            .into());
                    }
                    if self.event(&event, number, &mut going.verification, output)? {
                        exit = Exit::Rejected;
                    }
                }
            }
            output.flush()?;
        }
        self.close(going, output)?;
        Ok(exit)
    }

    fn begin(&self) -> Verification<'p> {
        Verification::new(self.procedure, self.mode, self.arguments)
    }

    /// Judges an event of the current session. Returns whether it is wrong.
    fn event(
        &self,
        event: &Event,
        line: usize,
        verification: &mut Verification<'p>,
        output: &mut Output,
    ) -> Result<bool, Failure> {
        let before = verification.steps();
        let violation = verification.take(event);
        if output.is_json() {
            let is_step = verification.steps() > before;
            if is_step {
                let wrong = violation.as_ref().map(ViolationReport::of);
                output.item(&EventReport { line, valid: wrong.is_none(), violation: wrong })?;
            }
        } else if let Some(violation) = &violation {
            writeln!(output, "line {line}: wrong: {}: {}", violation.node, violation.obstacle)?;
        } else if verification.steps() > before {
            writeln!(output, "line {line}: valid")?;
        }
        Ok(violation.is_some())
    }

    /// Writes the verdict on a session whose events were lines of their own, if there is one. JSON output has no such
    /// verdict.
    fn close(&self, going: Option<Going<'p>>, output: &mut Output) -> Result<(), Failure> {
        let Some(Going { verification, line, .. }) = going else { return Ok(()) };
        if output.is_json() {
            return Ok(());
        }
        let (steps, wrong) = (counted(verification.steps(), "step"), verification.wrong());
        match wrong {
            0 if verification.session().is_complete() => {
                writeln!(output, "session from line {line}: valid: {steps}, complete")?
            }
            0 => writeln!(output, "session from line {line}: valid: {steps}")?,
            wrong => writeln!(output, "session from line {line}: wrong: {wrong} of {steps}")?,
        }
        Ok(())
    }
}

/// Writes the verdict on a session that is one line of the input: one line in text output, an item in JSON output.
fn session(
    id: Option<&str>,
    line: usize,
    verification: &Verification<'_>,
    wrong: &[Violation],
    output: &mut Output,
) -> Result<(), Failure> {
    let complete = verification.session().is_complete();
    if output.is_json() {
        output.item(&SessionReport {
            id,
            line,
            valid: wrong.is_empty(),
            steps: verification.steps(),
            complete,
            violations: wrong.iter().map(ViolationReport::of).collect(),
        })?;
        return Ok(());
    }
    let name = id.map_or_else(|| format!("line {line}"), |id| quoted(id.as_bytes()));
    let steps = counted(verification.steps(), "step");
    match wrong {
        [] => writeln!(output, "{name}: valid: {steps}{}", if complete { ", complete" } else { "" })?,
        all => {
            let reasons = all.iter().map(|violation| {
                format!("event {}: {}: {}", violation.event + 1, violation.node, violation.obstacle)
            });
            let reasons = reasons.collect::<Vec<_>>().join("; ");
            writeln!(output, "{name}: wrong: {} of {steps}: {reasons}", all.len())?;
        }
    }
    Ok(())
}
