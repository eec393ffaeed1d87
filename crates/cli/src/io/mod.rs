//! What the program reads and writes, whatever the command.
//!
//! - `output` is standard output (results); `messages` is standard error (errors, warnings, notes, progress);
//! - `screen` keeps control characters from terminals;
//! - `text` shows bytes and places, `words` words of grammars;
//! - `errors` creates the program's own errors, most with codes `cli/…`; `report`
//!   translates errors of the library to the names of command-line options.

pub mod errors;
pub(crate) mod lines;
pub mod messages;
pub mod output;
pub(crate) mod paths;
pub(crate) mod report;
pub(crate) mod screen;
pub mod text;
pub(crate) mod words;
