//! The errors of models that are asked by chat.

use grammata::diagnostic::{Diagnostic, excerpt};
use grammata::error::{Error, ErrorKind};
use std::time::Duration;

/// Returns the error for two answers in a row that are not allowed.
pub(super) fn refused(answer: &str, reason: &str) -> Error {
    let found = if answer.trim().is_empty() { "an empty answer" } else { answer };
    let diagnostic = Diagnostic::new("chat/refused", "the model's answer was refused twice")
        .found(found)
        .cause(reason)
        .allowed("an answer that the question offers")
        .help("use a stronger model, or a form that its server enforces (`--endpoint-dialect`)");
    Error::new(ErrorKind::Model, diagnostic)
}

/// Returns the error for a command that failed, wrote too much, or whose answer is not UTF-8.
pub(super) fn command(command: &str, found: &str) -> Error {
    let message = format!("the command `{}` gave no answer", excerpt(command));
    let diagnostic = Diagnostic::new("chat/command", message)
        .found(found)
        .allowed("exit code 0, and an answer as UTF-8")
        .help("run the command by hand with a question as JSON on its standard input");
    Error::new(ErrorKind::Io, diagnostic)
}

/// Returns the error for a command that did not answer in time.
pub(super) fn timeout(command: &str, deadline: Duration) -> Error {
    let message = format!("the command `{}` did not answer in time", excerpt(command));
    let diagnostic = Diagnostic::new("chat/command", message)
        .found("no answer")
        .allowed(format!("{} s", deadline.as_secs_f64()))
        .help("allow more time, or let the command answer faster");
    Error::new(ErrorKind::Io, diagnostic)
}
