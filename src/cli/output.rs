//! Standard output, and how a command ends.

use crate::error::{Error, ErrorKind};
use serde_json::Value;
use std::io::{self, BufWriter, Stdout, Write};
use std::process::ExitCode;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// All went well.
    Done,
    /// A text is not in the grammar.
    Rejected,
    /// The arguments or an input cannot be used.
    Unusable,
    /// A generation was cut.
    #[cfg_attr(not(feature = "ort"), allow(dead_code))] // only a model's generation is cut
    Cut,
    /// Nobody reads the output: what a shell reports of a program that the signal SIGPIPE ended.
    Closed,
}

impl Exit {
    /// How an error ends the program.
    pub(super) fn of(error: &Error) -> Exit {
        if error.kind() == ErrorKind::Rejected { Exit::Rejected } else { Exit::Unusable }
    }

    fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Rejected => 1,
            Exit::Unusable => 2,
            Exit::Cut => 3,
            Exit::Closed => 141,
        }
    }

    /// Ends the process at once.
    #[cfg(feature = "ort")]
    pub(super) fn exit(self) -> ! {
        std::process::exit(i32::from(self.code()))
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
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
