//! From a file to a checked procedure: reading, static checks, checks of the automaton, and the formatter.

pub(super) mod checks;
pub(super) mod format;
pub(super) mod outcomes;
pub(super) mod read;
pub(super) mod report;

pub use format::{format, format_in};
pub use report::{Report, check, check_in};
