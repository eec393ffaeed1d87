//! Standard output, and how a command ends.

use grammata::error::{Error, ErrorKind};
use serde_json::Value;
use std::io::{self, BufWriter, Stdout, Write};

/// How the program ends: the exit codes, the same for all commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All went well.
    Done = 0,
    /// A text, a prefix, a token, a plan or an answer of an API is not allowed.
    Rejected = 1,
    /// The arguments or an input cannot be used.
    Unusable = 2,
    /// A text, a plan or a session is not whole.
    Cut = 3,
    /// A limit was exceeded.
    Limit = 4,
    /// Nobody reads the output: what a shell reports of a program that the signal SIGPIPE ended.
    Closed = 141,
}

/// The exit codes as they are documented.
const MEANINGS: [(Exit, &str); 6] = [
    (Exit::Done, "done: every text is accepted, the generated text is whole"),
    (Exit::Rejected, "a text, a prefix, a token, a plan or what an API answers is rejected"),
    (
        Exit::Unusable,
        "the arguments, a file, the grammar, the tokenizer, the model or a command cannot be used",
    ),
    (
        Exit::Cut,
        "the generated text, the plan or the session is not whole: a limit was reached, or it was left",
    ),
    (Exit::Limit, "a limit on what input may cost was exceeded (`--set-limit`)"),
    (Exit::Closed, "standard output was closed before everything was written"),
];

/// The exit codes for the end of a help text.
pub fn exit_codes() -> String {
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
pub enum Failure {
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

/// A member of a JSON object.
pub(super) type Member<'a> = (&'a str, Value);

/// Standard output, buffered.
#[derive(Debug)]
pub struct Output {
    writer: BufWriter<Stdout>,
    open: Open,
}

/// The JSON value that is partly written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    Nothing,
    Object,
    /// A list, the last member of an object.
    List {
        is_empty: bool,
    },
}

impl Output {
    pub(super) fn stdout() -> Output {
        Output { writer: BufWriter::new(io::stdout()), open: Open::Nothing }
    }

    /// Writes one JSON value and a line end.
    pub fn json(&mut self, value: &Value) -> io::Result<()> {
        serde_json::to_writer(&mut self.writer, value)?;
        self.writer.write_all(b"\n")
    }

    /// Begins a JSON object with these members, at least one. [`end`](Output::end) closes it, also where the command fails.
    pub(super) fn begin(&mut self, members: &[Member<'_>]) -> io::Result<()> {
        self.writer.write_all(b"{")?;
        self.members(members)?;
        self.open = Open::Object;
        Ok(())
    }

    /// Begins a list, a member of the object that was begun.
    pub(super) fn begin_list(&mut self, name: &str) -> io::Result<()> {
        self.writer.write_all(b",")?;
        serde_json::to_writer(&mut self.writer, name)?;
        self.writer.write_all(b":[")?;
        self.open = Open::List { is_empty: true };
        Ok(())
    }

    /// Writes an item of the list that was begun.
    pub(super) fn item(&mut self, item: &Value) -> io::Result<()> {
        if self.open == (Open::List { is_empty: false }) {
            self.writer.write_all(b",")?;
        }
        self.open = Open::List { is_empty: false };
        Ok(serde_json::to_writer(&mut self.writer, item)?)
    }

    /// Writes the last members of the object that was begun; where none was, an object of these members.
    pub(super) fn end(&mut self, members: &[Member<'_>]) -> io::Result<()> {
        self.writer.write_all(match self.open {
            Open::Nothing => b"{",
            Open::Object => b",",
            Open::List { .. } => b"],",
        })?;
        self.open = Open::Nothing;
        self.members(members)?;
        self.writer.write_all(b"}\n")
    }

    /// Writes members of an object, with commas between them.
    fn members(&mut self, members: &[Member<'_>]) -> io::Result<()> {
        for (place, (name, value)) in members.iter().enumerate() {
            if place > 0 {
                self.writer.write_all(b",")?;
            }
            serde_json::to_writer(&mut self.writer, name)?;
            self.writer.write_all(b":")?;
            serde_json::to_writer(&mut self.writer, value)?;
        }
        Ok(())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}
