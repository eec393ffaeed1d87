//! The errors of models that are asked by chat.

use grammata::diagnostic::excerpt;
use std::time::Duration;

grammata_base::errors! {
    pub(super) Io;

    /// Returns the error for two answers in a row that are not allowed.
    refused(answer: &str, reason: &str) = Model "chat/refused", "the model's answer was refused twice"
        found(if answer.trim().is_empty() { "an empty answer" } else { answer })
        cause(reason)
        allowed("an answer that the question offers")
        help("use a stronger model, or a form that its server enforces (`--endpoint-dialect`)");

    /// Returns the error for a command that failed, wrote too much, or whose answer is not UTF-8.
    command(command: &str, found: &str) =
        "chat/command", ("the command `{}` gave no answer", excerpt(command))
        found(found)
        allowed("exit code 0, and an answer as UTF-8")
        help("run the command by hand with a question as JSON on its standard input");

    /// Returns the error for a command that did not answer in time.
    timeout(command: &str, deadline: Duration) =
        "chat/command", ("the command `{}` did not answer in time", excerpt(command))
        found("no answer")
        allowed("{} s", deadline.as_secs_f64())
        help("allow more time, or let the command answer faster");
}
