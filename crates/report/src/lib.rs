//! Evaluation of decoders and agents: statistics, journals of runs that can be resumed, reports.
//!
//! An experiment compares *arms* (ways to decode) over the same *units* (requests, queries, sessions). Each pair of an arm
//! and a unit leaves one record in a [`Journal`], a file of JSON lines, so that a run that was interrupted goes on where it
//! stopped. A [`Report`] presents tables, plots and transcripts as Markdown or HTML.

mod errors;
mod journal;
mod markup;
mod plot;
mod report;
pub mod statistics;

pub use journal::Journal;
pub use plot::{Bar, Plot};
pub use report::{Report, Table, Transcript, Turn};
