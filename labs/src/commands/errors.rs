//! The errors of the labs program's arguments and files.

use grammata::diagnostic::{Diagnostic, did_you_mean};
use grammata::error::{Error, ErrorKind};

fn usage(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Usage, diagnostic)
}

/// The error that similarities are needed, but no sentence encoder is named.
pub(super) fn needs_embedder() -> Error {
    Error::new(
        ErrorKind::Usage,
        Diagnostic::new("cli/needs-embedder", "similarities of texts need a sentence encoder")
            .help("name its folder with `--embedder FOLDER`; `cargo xtask setup` makes .models/minilm"),
    )
}

/// The error of an unknown name of an arm.
pub(super) fn no_such_arm<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> Error {
    usage(
        Diagnostic::new("cli/no-such-arm", "unknown arm")
            .found(name)
            .allowed(known.clone().collect::<Vec<_>>().join(", "))
            .help(did_you_mean(name, known, "name one of these")),
    )
}

/// The error of a task whose name cannot be a file name.
pub(super) fn task_name(name: &str) -> Error {
    usage(
        Diagnostic::new("cli/task-name", "a task of a session cannot name a file")
            .found(grammata::diagnostic::excerpt(name))
            .allowed("letters, digits, `_`, `-` and blanks")
            .help("name the task as its procedure's file, without `.yaml`"),
    )
}

/// The error of a file whose entry of this number is not a task of tools.
#[cfg(feature = "ort")]
pub(super) fn not_tasks(number: usize, cause: &str) -> Error {
    usage(
        Diagnostic::new("cli/not-tasks", "the entry is not a task of tools")
            .found(format!("task {number}"))
            .cause(cause)
            .allowed("`question` with `tool` or `answer`; `query` and `solution`; a question of BFCL with its ground truth")
            .help("docs/tools.md shows the forms"),
    )
}

/// The error of several seeds for a greedy run.
#[cfg(feature = "ort")]
pub(super) fn seeds_alike(count: u64) -> Error {
    usage(
        Diagnostic::new("cli/seeds-alike", "at temperature 0 all seeds have the same outputs")
            .found(format!("{count} seeds"))
            .allowed("one seed, or a temperature above 0")
            .help("give `--temperature`, as 0.5, or leave `--seeds` out"),
    )
}

/// The error of an arm that cannot write turns of the requested format.
#[cfg(feature = "ort")]
pub(super) fn no_arm(arm: &str, format: &str) -> Error {
    usage(
        Diagnostic::new("cli/no-arm", "this arm does not write this format")
            .found(format!("{arm} in {format}"))
            .allowed("`free` and `full` in all; `published` in react; `free+retry` in all but toolken; `name` and `structure` in json, react, python; `full+exact` in json, react, python, relation")
            .help("leave the arm out, or choose another format"),
    )
}

/// The error that no request is left to measure with.
pub(super) fn no_requests() -> Error {
    usage(
        Diagnostic::new("cli/no-requests", "no request is left to measure with")
            .allowed("requests that need at most k tools, all in this catalogue")
            .help(
                "name a file with `--requests FILE`, and choose a `--where` that keeps some of its requests",
            ),
    )
}

/// The error that two runs have no request in common.
pub(super) fn other_units(found: usize, expected: usize) -> Error {
    usage(
        Diagnostic::new("cli/other-requests", "the two runs have no request in common")
            .found(format!("{found} requests"))
            .allowed(format!("some of the {expected} requests of this run"))
            .help("compare runs over the same requests"),
    )
}
