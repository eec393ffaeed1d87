//! Standard output, and how a command ends.

use crate::error::{Error, ErrorKind};
use serde_json::Value;
use std::io::{self, BufWriter, Stdout, Write};

/// How the program ends: the exit codes, the same for all commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// All went well.
    Done = 0,
    /// A text, a prefix, a token or a plan is not in the grammar.
    Rejected = 1,
    /// The arguments or an input cannot be used.
    Unusable = 2,
    /// A generation was cut.
    #[cfg_attr(not(feature = "ort"), allow(dead_code))] // only a model's generation is cut
    Cut = 3,
    /// A limit was exceeded.
    Limit = 4,
    /// Nobody reads the output: what a shell reports of a program that the signal SIGPIPE ended.
    Closed = 141,
}

/// The exit codes as they are documented.
const MEANINGS: [(Exit, &str); 6] = [
    (Exit::Done, "done: every text is accepted, the generated text is whole"),
    (Exit::Rejected, "a text, a prefix, a token or a plan is rejected by the grammar"),
    (Exit::Unusable, "the arguments, a file, the grammar, the tokenizer or the model cannot be used"),
    (Exit::Cut, "the generated text was cut by the limit on tokens, or the model's context"),
    (Exit::Limit, "a limit on what input may cost was exceeded (`--set-limit`)"),
    (Exit::Closed, "standard output was closed before everything was written"),
];

/// The exit codes for the end of a help text.
pub(super) fn exit_codes() -> String {
    let lines = MEANINGS.iter().map(|(exit, meaning)| format!("  {:<4} {meaning}", exit.code()));
    std::iter::once("Exit codes:".to_owned()).chain(lines).collect::<Vec<_>>().join("\n")
}

impl Exit {
    /// How an error ends the program.
    pub(super) fn of(error: &Error) -> Exit {
        match error.kind() {
            ErrorKind::Rejected => Exit::Rejected,
            ErrorKind::Limit => Exit::Limit,
            _ => Exit::Unusable,
        }
    }

    pub(super) fn code(self) -> u8 {
        self as u8
    }
}

/// Why a command stopped.
#[derive(Debug)]
pub(super) enum Failure {
    /// An error to report.
    Error(Error),
    /// Standard output cannot be written.
    Output(io::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Error(error)
    }
}

impl From<io::Error> for Failure {
    fn from(cause: io::Error) -> Failure {
        Failure::Output(cause)
    }
}

/// Standard output, buffered.
#[derive(Debug)]
pub(super) struct Output(BufWriter<Stdout>);

impl Output {
    pub(super) fn stdout() -> Output {
        Output(BufWriter::new(io::stdout()))
    }

    /// Writes one JSON value and a line end.
    pub(super) fn json(&mut self, value: &Value) -> io::Result<()> {
        serde_json::to_writer(&mut self.0, value)?;
        self.0.write_all(b"\n")
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
