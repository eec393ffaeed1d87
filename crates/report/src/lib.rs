//! Evaluation of decoders and agents: statistics, journals of resumable runs, reports.
//!
//! An experiment compares *arms* (ways to decode) on the same *units* (requests, queries, sessions). Each pair of an
//! arm and a unit adds one record to a [`Journal`], a file of JSON lines, so that an interrupted run can be resumed. A
//! [`Report`] presents tables, plots and transcripts as Markdown or HTML.

mod errors;
mod journal;
mod markup;
mod plot;
mod report;
pub mod statistics;

pub use journal::Journal;
pub use plot::{Bar, Plot};
pub use report::{Report, Table, Transcript, Turn};
