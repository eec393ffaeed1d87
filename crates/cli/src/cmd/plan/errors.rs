//! The errors that only `grammata plan` reports.

use grammata::diagnostic::{Diagnostic, Place, excerpt};
use grammata::error::{Error, ErrorKind};
use grammata::syntax::Notation;
use grammata::syntax::automaton_spec::Parameter;
use std::path::Path;

fn usage(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Usage, diagnostic)
}

pub(super) fn not_a_spec(file: &Path, kind: Notation) -> Error {
    usage(
        Diagnostic::new("cli/not-a-spec", "plans are made from automaton specs only")
            .found(format!("`{}`, a {kind}", file.display()))
            .allowed("TOML or JSON with a member `kind`: `dfa`, `nfa`, `pda` or `cfg`")
            .help("`grammata count` and `grammata enumerate` read grammars of every kind"),
    )
}

pub(super) fn unset_parameters(parameters: &[Parameter]) -> Diagnostic {
    let values: Vec<String> =
        parameters.iter().map(|parameter| format!("{}={}", parameter.name, parameter.value)).collect();
    Diagnostic::new(
        "cli/unset-parameters",
        "the task does not change the spec, whose parameters have their defaults",
    )
    .found(excerpt(&values.join(", ")))
    .help("set what the task needs with `--param NAME=VALUE`, or one default to say that it is meant")
}

pub(super) fn unknown_completion() -> Error {
    let diagnostic =
        Diagnostic::new("plan/budget-exhausted", "no plan was found before the search was stopped")
            .help("limit how often actions may occur, or list plans in their order (`--limit N`)");
    Error::new(ErrorKind::Limit, diagnostic)
}

pub(super) fn plan_line(line: usize, found: &str, cause: Option<&serde_json::Error>) -> Error {
    let diagnostic = Diagnostic::new("cli/plan-line", "a line of the stream is no plan")
        .at(Place::LineColumn { line, column: cause.map_or(1, |cause| cause.column().max(1)) })
        .found(excerpt(found))
        .allowed("a JSON list of steps, or `{\"id\": TEXT, \"plan\": [STEPS]}`")
        .help("write each plan on a line of its own");
    usage(match cause {
        Some(cause) => diagnostic.cause(cause),
        None => diagnostic,
    })
}

pub(super) fn bad_task(file: &Path, line: usize, cause: &serde_json::Error) -> Error {
    usage(
        Diagnostic::new("cli/bad-task", "a task cannot be read")
            .in_file(file.display().to_string())
            .at(Place::LineColumn { line, column: cause.column().max(1) })
            .cause(cause)
            .allowed("a description, or `{\"task\": TEXT, \"parameters\": {NAME: VALUE}}`, one a line")
            .help("write what is to be planned as a text, or as such an object"),
    )
}
