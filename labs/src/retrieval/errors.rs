//! The errors of evaluating retrieval and of training data.

use grammata::diagnostic::{Diagnostic, excerpt};
use grammata::error::{Error, ErrorKind};
use std::path::Path;

fn usage(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Usage, diagnostic)
}

fn data(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Grammar, diagnostic)
}

/// The error of a request that needs no tool, or has an empty group of tools.
pub(super) fn nothing_relevant() -> Error {
    usage(
        Diagnostic::new("retrieval/nothing-relevant", "a list cannot be judged if no tool is needed")
            .allowed("at least one tool, and no empty group of tools")
            .help("leave requests without tools out of the measurement"),
    )
}

/// The error of a tool that occurs twice in a list.
pub(super) fn twice(tool: usize, list: &str) -> Error {
    usage(
        Diagnostic::new("retrieval/tool-twice", format!("a tool is in {list} twice"))
            .found(format!("tool {tool}"))
            .allowed("each tool once")
            .help("leave out all but its first place"),
    )
}

/// The error that more tools are needed than a list has places.
pub(super) fn more_relevant_than_places(relevant: usize, k: usize) -> Error {
    usage(
        Diagnostic::new("retrieval/k", "more tools are needed than the list may have")
            .found(format!("{relevant} needed tools"))
            .allowed(format!("at most k = {k}"))
            .help("judge longer lists, or leave the request out"),
    )
}

/// The error of a training request in the test set.
pub(super) fn training_in_test(id: &str) -> Error {
    usage(
        Diagnostic::new("retrieval/training-in-test", "a request of the test is a training request")
            .found(excerpt(id))
            .allowed("requests whose ids and texts are in one of the two")
            .help("leave it out of the training requests or out of the test"),
    )
}

/// The error of a folder with training data of a run with other settings.
pub(super) fn other_run(path: &Path) -> Error {
    usage(
        Diagnostic::new("retrieval/other-run", "the folder holds drafts of a run with other settings")
            .in_file(path.display().to_string())
            .allowed("the same requests, model, retriever and settings as when it was begun")
            .help("write to a new folder, or repeat the settings of its manifest.json"),
    )
}

/// The error of a line that is not a draft.
pub(super) fn draft_line(path: &Path, cause: &serde_json::Error) -> Error {
    data(
        Diagnostic::new("retrieval/draft-line", "a line is not a draft")
            .in_file(path.display().to_string())
            .cause(cause)
            .allowed("lines as they were written")
            .help("remove the folder and draw the drafts again"),
    )
}
