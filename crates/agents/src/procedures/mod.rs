//! Procedures: workflows in PDL (FlowAgent's procedure description language), and the automaton of what an agent may do next.
//!
//! A procedure declares slots, APIs and answers (*nodes*, each with *preconditions*), and a text that calls them in Python-like
//! blocks with prose anywhere. From the file to a verdict on a session:
//!
//! - [`Procedure::read`] reads a file; [`check`] also runs the static checks, among them those that need the automaton;
//! - [`Automaton`] has states over finitely many cells of values, made as they are visited, and [`Supervisor`] the part of it
//!   that neither results nor decisions can block; both are [transition systems](grammata::transitions);
//! - [`Session`] follows one conversation with its values: which nodes may come, and why others may not;
//! - [`verify`](fn@verify) judges a recorded conversation.
//!
//! The source of PDL is the paper on FlowAgent (workflow agents with compliance and flexibility); how a text is read where paper and code leave it
//! open is in `docs/procedures.md`.

mod act;
pub mod agent;
mod arguments;
mod automaton;
mod checks;
mod claims;
mod conversation;
mod declarations;
mod errors;
mod evaluation;
mod fill;
mod flow;
mod format;
mod graph;
mod guards;
mod marks;
mod meaning;
mod obstacle;
mod outcomes;
mod pdl;
mod procedure;
mod read;
mod registers;
mod rules;
mod session;
mod spec;
mod status;
mod step;
mod supervisor;
mod trace;
mod value;
mod walk;
mod words;

pub use crate::document::Format;
pub use act::Act;
pub use arguments::{Argument, Arguments, Origin};
pub use automaton::{Automaton, Letter, Outcome, StateId};
pub use conversation::{Conversation, FREE_REPLIES, Offering, Resolved, Texts, Workflow};
pub use declarations::{Node, NodeKind, Slot, Source, normal};
pub use errors::{Finding, Severity};
pub use format::format;
pub use graph::ProcedureGraph;
pub use obstacle::Obstacle;
pub use procedure::Procedure;
pub use rules::Mode;
pub use session::{Session, Values};
pub use status::Status;
pub use step::{Offer, StepFormat, StepOptions, Text, step_grammar};
pub use supervisor::{Size, Supervisor};
pub use trace::{Event, Verdict, Violation, follow, read_trace, verify};
pub use value::{Literal, Scalar};
pub use walk::{Walk, WalkOptions, random_walk};

use grammata::diagnostic::Place;
use grammata::error::{Error, ErrorKind, Result};
use grammata::limits::Limits;

/// What the static checks say of a file.
#[derive(Debug)]
pub struct Report {
    /// All findings, in the order of their places.
    pub findings: Vec<Finding>,
    /// The procedure, if the file has no errors.
    pub procedure: Option<Procedure>,
    /// The size of the automaton in the mode `guarded`, the numbers of calls aside.
    pub size: Option<Size>,
    /// The limit that kept the automaton from being checked.
    pub unchecked: Option<Error>,
}

/// Reads a procedure and runs all static checks. Errors of the file are findings.
///
/// # Errors
/// The limits `source_bytes`, `procedure_nodes` and `compile_work`, if the file cannot be read within them.
pub fn check(text: &str, format: Format, limits: &Limits) -> Result<Report> {
    let mut findings = errors::Findings::default();
    let procedure = read::read(text, format, limits, &mut findings)?;
    let mut report = Report { findings: Vec::new(), procedure: None, size: None, unchecked: None };
    if let Some(procedure) = procedure.filter(|_| !findings.has_errors()) {
        match outcomes::check(&procedure, limits, &mut findings) {
            Ok(size) => report.size = Some(size),
            Err(error) if error.kind() == ErrorKind::Limit => report.unchecked = Some(error),
            Err(error) => return Err(error),
        }
        report.procedure = Some(procedure).filter(|_| !findings.has_errors());
    }
    report.findings = findings.0;
    report.findings.sort_by_key(|finding| match finding.diagnostic.place() {
        Place::LineColumn { line, column } => (*line, *column),
        _ => (0, 0),
    });
    Ok(report)
}
