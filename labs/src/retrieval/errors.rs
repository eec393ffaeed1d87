//! The errors of evaluating retrieval and of training data.

use grammata::diagnostic::excerpt;
use std::path::Path;

grammata_base::errors! {
    pub(super) Usage;

    /// The error of a request that needs no tool, or has an empty group of tools.
    nothing_relevant() = "retrieval/nothing-relevant", "a list cannot be judged if no tool is needed"
        allowed("at least one tool, and no empty group of tools")
        help("leave requests without tools out of the measurement");

    /// The error of a tool that occurs twice in a list.
    twice(tool: usize, list: &str) = "retrieval/tool-twice", "a tool is in {list} twice"
        found("tool {tool}") allowed("each tool once") help("leave out all but its first place");

    /// The error that more tools are needed than a list has places.
    more_relevant_than_places(relevant: usize, k: usize) =
        "retrieval/k", "more tools are needed than the list may have"
        found("{relevant} needed tools")
        allowed("at most k = {k}")
        help("judge longer lists, or leave the request out");

    /// The error of a training request in the test set.
    training_in_test(id: &str) = "retrieval/training-in-test", "a request of the test is a training request"
        found(excerpt(id))
        allowed("requests whose ids and texts are in one of the two")
        help("leave it out of the training requests or out of the test");

    /// The error of a folder with training data of a run with other settings.
    other_run(path: &Path) = "retrieval/other-run", "the folder holds drafts of a run with other settings"
        in_file(path.display().to_string())
        allowed("the same requests, model, retriever and settings as when it was begun")
        help("write to a new folder, or repeat the settings of its manifest.json");

    /// The error of a line that is not a draft.
    draft_line(path: &Path, cause: &serde_json::Error) =
        Grammar "retrieval/draft-line", "a line is not a draft"
        in_file(path.display().to_string())
        cause(cause)
        allowed("lines as they were written")
        help("remove the folder and draw the drafts again");
}
