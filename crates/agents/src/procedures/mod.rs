//! Procedures: workflows in PDL (FlowAgent's procedure description language), and the automaton of the steps that an
//! agent may take next.
//!
//! A procedure declares slots, *nodes* (APIs and answers, which may have *preconditions*), and a text that calls the
//! nodes in Python-like blocks with prose anywhere. From the file to a verdict on a session:
//!
//! - [`Procedure::read`] reads a file and reports its errors; [`check`](fn@check) also reports warnings and notes, and
//!   runs the checks that need the automaton if the file has no errors;
//! - [`Automaton`] has states over finitely many cells of values, constructed on demand. [`Supervisor`] is its part
//!   that neither results nor decisions can block. Both are [transition systems](grammata::transitions);
//! - [`Session`] follows one conversation with its values: which nodes are open, and why others are not;
//! - [`verify`](fn@verify) judges a recorded conversation.
//!
//! The source of PDL is the paper on FlowAgent (workflow agents with compliance and flexibility). `docs/procedures.md`
//! says how texts are read in cases that paper and code leave open.

// each folder imports only from those before it: language, semantics, automaton, check, export, conversation, record
mod automaton;
mod check;
mod conversation;
mod export;
mod language;
mod record;
mod semantics;

pub use crate::document::Format;
pub use automaton::{Automaton, Bounds, Letter, Mode, Outcome, Size, StateId, Supervisor};
pub use check::{Report, check, check_in, format, format_in};
pub use conversation::{
    Act, Argument, Arguments, Conversation, FREE_REPLIES, Obstacle, Offer, Offering, Origin, Resolved,
    Session, StepFormat, StepOptions, Text, Texts, Turns, Values, Workflow, object_act, object_schema,
    one_line, pieces, spoken, step_grammar, step_text,
};
pub use export::{ProcedureGraph, scaffold};
pub use language::{
    ApiTool, Finding, Literal, Node, NodeKind, Scalar, Severity, Slot, Source, Status, normal,
};
pub use record::{
    Event, TraceLine, Verdict, Verification, Violation, Walk, WalkOptions, follow, random_walk, read_trace,
    split_cut_line, verify,
};
pub use semantics::{Procedure, word_error};
