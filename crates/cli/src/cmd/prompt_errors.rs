//! The errors of files of prompts.

use crate::io::errors::usage;
use grammata::diagnostic::{Diagnostic, Place};
use grammata::error::Error;
use grammata::syntax::Notation;

/// Creates a diagnostic at the start of a line of a file of prompts.
fn of_prompt_line(code: &'static str, message: &str, line: usize) -> Diagnostic {
    Diagnostic::new(code, message).at(Place::LineColumn { line, column: 1 })
}

pub(crate) fn prompt_line(line: usize, cause: &serde_json::Error) -> Error {
    let place = Place::LineColumn { line, column: cause.column().max(1) };
    usage(
        Diagnostic::new("cli/prompt-line", "a line of the prompts cannot be read")
            .at(place)
            .cause(cause)
            .allowed("a JSON object with `prompt` or `messages`, and options of `generate`")
            .help(r#"for instance: {"prompt": "Name a city.", "temperature": 0.8, "n": 3}"#),
    )
}

pub(crate) fn prompt_or_messages(line: usize) -> Error {
    usage(
        of_prompt_line("cli/prompt-line", "a line of the prompts needs one prompt", line)
            .allowed("either `prompt` or `messages`")
            .help(r#"for instance: {"messages": [{"role": "user", "content": "Name a city."}]}"#),
    )
}

pub(crate) fn prompt_grammars(line: usize) -> Error {
    usage(
        of_prompt_line("cli/prompt-line", "a line of the prompts has two grammars", line)
            .allowed("`grammar`, `schema`, or neither")
            .help("leave one of them out"),
    )
}

pub(crate) fn prompt_kind(line: usize, found: &str) -> Error {
    usage(
        of_prompt_line("cli/prompt-line", "a line of the prompts has a grammar of an unknown kind", line)
            .found(found)
            .allowed(Notation::ALL.map(Notation::id).join(", "))
            .help(r#"for instance: "grammar": {"kind": "regex", "text": "yes|no"}"#),
    )
}

pub(crate) fn prompt_outputs(line: usize, found: u64) -> Error {
    usage(
        of_prompt_line("cli/prompt-line", "a line of the prompts asks for too many or no outputs", line)
            .found(found.to_string())
            .allowed(format!("1 to {} outputs", crate::cmd::generate::MOST_OUTPUTS))
            .help("set `n` to the number of outputs, or write the prompt into several lines"),
    )
}

pub(crate) fn prompt_timeout(line: usize, found: f64) -> Error {
    usage(
        of_prompt_line("cli/prompt-line", "a line of the prompts has an invalid time", line)
            .found(found.to_string())
            .allowed("a number of seconds, 0 or more")
            .help("correct `timeout_seconds`, or leave it out"),
    )
}
