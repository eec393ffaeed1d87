//! Standard output, and how a command ends.

use crate::io::messages;
use crate::io::screen::Screen;
use clap::ValueEnum;
use grammata::diagnostic::write_visible_json;
use grammata::error::{Error, ErrorKind};
use serde::Serialize;
use std::io::{self, BufWriter, Stdout, Write};
use std::time::Duration;

/// The exit codes of the program, the same for all commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Success.
    Done = 0,
    /// A text, a prefix, a token, a plan or an answer of an API is not allowed, or files differ.
    Rejected = 1,
    /// The arguments or an input cannot be used.
    Unusable = 2,
    /// A text, a plan or a session is incomplete.
    Cut = 3,
    /// A limit was exceeded.
    Limit = 4,
    /// Standard output was closed. Shells report this code for a program that the signal SIGPIPE ended.
    Closed = 141,
}

/// The documentation of the exit codes: the code, a short and a long description.
const MEANINGS: [(Exit, &str, &str); 6] = [
    (Exit::Done, "done", "done: every text is accepted, the output is complete, nothing differs"),
    (
        Exit::Rejected,
        "rejected or different",
        "rejected or different: a text, a plan, a call, an answer of an API, a file",
    ),
    (Exit::Unusable, "unusable input", "unusable: the arguments, a file, a grammar, a model or a command"),
    (
        Exit::Cut,
        "incomplete",
        "incomplete: a generated text, a plan or a session ended early, by a limit or by its user",
    ),
    (
        Exit::Limit,
        "too expensive",
        "too expensive: a limit on the cost of the input was exceeded (`--set-limit`)",
    ),
    (Exit::Closed, "closed", "closed: standard output was closed before everything was written"),
];

/// Returns the list of exit codes for a long help text.
pub(crate) fn exit_codes() -> String {
    let lines = MEANINGS.iter().map(|(exit, _, meaning)| format!("  {:<4} {meaning}", exit.code()));
    std::iter::once("Exit codes:".to_owned()).chain(lines).collect::<Vec<_>>().join("\n")
}

/// Returns the line of exit codes for a short help text.
pub(crate) fn exit_codes_in_short() -> String {
    let codes = MEANINGS.iter().map(|(exit, words, _)| format!("{} {words}", exit.code()));
    format!("Exit codes: {}", codes.collect::<Vec<_>>().join(", "))
}

impl Exit {
    /// Returns the exit code for an error.
    pub(crate) fn of(error: &Error) -> Exit {
        match error.kind() {
            ErrorKind::Rejected => Exit::Rejected,
            ErrorKind::Limit => Exit::Limit,
            _ => Exit::Unusable,
        }
    }

    pub(crate) fn code(self) -> u8 {
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

/// The form of results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// For people
    #[default]
    Text,
    /// One JSON object on one line, with the diagnostics and the exit code
    Json,
}

/// The version of the JSON objects. It is raised when a member is renamed, removed or changes its meaning.
const VERSION: u32 = 1;

/// Standard output, buffered: text for people, or one JSON object. On a terminal, control characters are
/// [escaped](Screen). In JSON they are escaped everywhere.
///
/// The object has the members `version` and `command`, then those of the command's report, then `diagnostics`,
/// `diagnostics_truncated` and `exit_code`. It is completed even if the command fails.
#[derive(Debug)]
pub struct Output {
    writer: Screen<BufWriter<Stdout>>,
    format: OutputFormat,
    command: String,
    open: Open,
}

/// The JSON value that is partly written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    Nothing,
    Object,
    /// A list, a member of the object.
    List {
        is_empty: bool,
    },
}

impl Output {
    /// Creates the output of a command, named by its path, such as `plan count`.
    pub(crate) fn stdout(format: OutputFormat, command: &str) -> Output {
        let writer = Screen::stdout();
        Output { writer, format, command: command.to_owned(), open: Open::Nothing }
    }

    /// Returns whether the command must write JSON: it then uses [`report`](Output::report), [`list`](Output::list),
    /// [`item`](Output::item) and `document`, and writes no text.
    pub fn is_json(&self) -> bool {
        self.format == OutputFormat::Json
    }

    /// Adds the members of a report to the object. The report must serialise to a structure or a map; anything else is
    /// ignored.
    pub fn report(&mut self, report: &impl Serialize) -> io::Result<()> {
        let value = serde_json::to_value(report)?;
        for (name, value) in value.as_object().into_iter().flatten() {
            self.member(name, value)?;
        }
        Ok(())
    }

    /// Writes a document in JSON: alone in text output, or as a member of the object.
    pub(crate) fn document(&mut self, name: &str, document: &impl Serialize) -> io::Result<()> {
        if self.is_json() {
            return self.member(name, document);
        }
        write_visible_json(&mut self.writer, document)?;
        self.writer.write_all(b"\n")
    }

    /// Begins a list as a member of the object. The next member ends it.
    pub fn list(&mut self, name: &str) -> io::Result<()> {
        self.name(name)?;
        self.writer.write_all(b"[")?;
        self.open = Open::List { is_empty: true };
        Ok(())
    }

    /// Adds an item to the open list.
    pub fn item(&mut self, item: &impl Serialize) -> io::Result<()> {
        if self.open == (Open::List { is_empty: false }) {
            self.writer.write_all(b",")?;
        }
        self.open = Open::List { is_empty: false };
        Ok(write_visible_json(&mut self.writer, item)?)
    }

    /// Completes the object, and flushes.
    pub(crate) fn finish(&mut self, exit: Exit) -> io::Result<()> {
        if self.is_json() {
            let (diagnostics, truncated) = messages::collected();
            self.member("diagnostics", &diagnostics)?;
            self.member("diagnostics_truncated", &truncated)?;
            self.member("exit_code", &exit.code())?;
            self.writer.write_all(b"}\n")?;
        }
        self.flush()
    }

    fn member(&mut self, name: &str, value: &impl Serialize) -> io::Result<()> {
        self.name(name)?;
        Ok(write_visible_json(&mut self.writer, value)?)
    }

    /// Closes an open list, and writes the name of the next member.
    fn name(&mut self, name: &str) -> io::Result<()> {
        match self.open {
            Open::Nothing => {
                write!(self.writer, "{{\"version\":{VERSION},\"command\":")?;
                write_visible_json(&mut self.writer, &self.command)?;
            }
            Open::Object => {}
            Open::List { .. } => self.writer.write_all(b"]")?,
        }
        self.open = Open::Object;
        self.writer.write_all(b",")?;
        write_visible_json(&mut self.writer, &name)?;
        self.writer.write_all(b":")
    }
}

/// Converts a time to seconds, for a member of a report whose name ends in `seconds`.
pub fn seconds(time: Duration) -> f64 {
    time.as_secs_f64()
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        debug_assert!(!self.is_json(), "text in JSON: {:?}", String::from_utf8_lossy(bytes));
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}
