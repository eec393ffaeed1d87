//! The errors of policies that ask, and of environments.

use grammata::diagnostic::{Diagnostic, Place, did_you_mean_field, excerpt};
use grammata::error::{Error, ErrorKind};
use std::time::Duration;

fn model(found: String, help: &str) -> Error {
    let diagnostic =
        Diagnostic::new("plan/model", "the language model gave no answer").found(found).help(help);
    Error::new(ErrorKind::Model, diagnostic)
}

pub(super) fn context_full(tokens: usize, context: usize) -> Error {
    let diagnostic = Diagnostic::new("plan/model", "the question and its answer do not fit in the model's context")
        .found(format!("{tokens} tokens"))
        .allowed(format!("{context} tokens, the context of the model"))
        .help("shorten the task, the texts of the actions or the template `progress`, or take a model with a longer context");
    Error::new(ErrorKind::Model, diagnostic)
}

pub(super) fn no_choice_answered(answer: &str) -> Error {
    model(
        format!("the answer `{}`, which is none of the choices", excerpt(answer)),
        "this is a fault of the grammar of answers: report it",
    )
}

pub(super) fn no_token_for(answer: &str) -> Error {
    let found = format!("no tokens that spell the answer `{}`", excerpt(answer));
    model(found, "check that the tokenizer is the model's: digits, commas and spaces need tokens")
}

pub(super) fn terminal(cause: &std::io::Error) -> Error {
    let diagnostic = Diagnostic::new("plan/terminal", "the questions cannot be asked")
        .cause(cause)
        .help("check where input comes from and output goes");
    Error::new(ErrorKind::Io, diagnostic)
}

pub(super) fn quit(question: usize) -> Error {
    let diagnostic = Diagnostic::new("plan/quit", format!("ended at question {question} with `quit`"))
        .help("there is no plan; start again to answer otherwise");
    Error::new(ErrorKind::Rejected, diagnostic)
}

pub(super) fn arguments_too_long(tokens: usize) -> Error {
    model(
        format!("arguments of more than {tokens} tokens, or a context that is full"),
        "bound the texts and lists of the schema (`maxLength`, `maxItems`), or shorten the task",
    )
}

pub(super) fn failed(action: &str, cause: impl std::fmt::Display, help: &str) -> Error {
    let message = format!("the environment could not carry out `{}`", excerpt(action));
    Error::new(ErrorKind::Io, Diagnostic::new("environment/failed", message).cause(cause).help(help))
}

pub(super) fn command_failed(action: &str, found: impl std::fmt::Display) -> Error {
    let message = format!("the environment could not carry out `{}`", excerpt(action));
    let diagnostic = Diagnostic::new("environment/failed", message)
        .found(found.to_string())
        .allowed("exit code 0, and one JSON object of `outcome`, `facts` and `data`, or nothing")
        .help("run the command by hand with the step as JSON on its standard input");
    Error::new(ErrorKind::Io, diagnostic)
}

pub(super) fn timeout(action: &str, deadline: Option<Duration>) -> Error {
    let message = format!("the environment did not carry out `{}` in time", excerpt(action));
    let mut diagnostic = Diagnostic::new("environment/timeout", message)
        .found("no answer")
        .help("the plan stays as it was: try the step again, allow more time, or take another step");
    if let Some(deadline) = deadline {
        diagnostic = diagnostic.allowed(format!("{} s", deadline.as_secs_f64()));
    }
    Error::new(ErrorKind::Io, diagnostic)
}

/// Returns the error for mock answers with invalid content.
pub(super) fn bad_mock(found: impl AsRef<str>, allowed: String, help: String, place: String) -> Error {
    let diagnostic =
        Diagnostic::new("environment/mock", "the answers of the mock environment cannot be used")
            .at(Place::Pointer(place))
            .found(found)
            .allowed(allowed)
            .help(help);
    Error::new(ErrorKind::Grammar, diagnostic)
}

/// Returns the error for mock answers that are not valid TOML or lack the expected form.
pub(super) fn unreadable_mock(text: &str, cause: &toml::de::Error) -> Error {
    let place = Place::in_text(text, cause.span().map_or(0, |span| span.start));
    let diagnostic =
        Diagnostic::new("environment/mock", "the answers of the mock environment are not TOML of their form")
            .at(place)
            .cause(cause.message())
            .allowed(
                "for each action `[[ID]]` tables with `when`, `outcome`, `facts`, `data`, `fail`, `timeout`",
            )
            .help(did_you_mean_field(cause.message(), "correct it there"));
    Error::new(ErrorKind::Grammar, diagnostic)
}
