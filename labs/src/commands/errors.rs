//! The errors of the labs program's arguments and files.

use grammata::diagnostic::did_you_mean;

grammata_base::errors! {
    pub(super) Usage;

    /// The error that similarities are needed, but no sentence encoder is named.
    needs_embedder() = "cli/needs-embedder", "similarities of texts need a sentence encoder"
        help("name its folder with `--embedder FOLDER`; `cargo xtask setup` makes .models/minilm");

    /// The error of an unknown name of an arm.
    no_such_arm<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) =
        "cli/no-such-arm", "unknown arm"
        found(name)
        allowed(known.clone().collect::<Vec<_>>().join(", "))
        help(did_you_mean(name, known, "name one of these"));

    /// The error of a task whose name cannot be a file name.
    task_name(name: &str) = "cli/task-name", "a task of a session cannot name a file"
        found(grammata::diagnostic::excerpt(name))
        allowed("letters, digits, `_`, `-` and blanks")
        help("name the task as its procedure's file, without `.yaml`");

    /// The error of a file whose entry of this number is not a task of tools.
    #[cfg(feature = "ort")]
    not_tasks(number: usize, cause: &str) = "cli/not-tasks", "the entry is not a task of tools"
        found("task {number}")
        cause(cause)
        allowed("`question` with `tool` or `answer`; `query` and `solution`; a question of BFCL with its ground truth")
        help("docs/tools.md shows the forms");

    /// The error of several seeds for a greedy run.
    #[cfg(feature = "ort")]
    seeds_alike(count: u64) = "cli/seeds-alike", "at temperature 0 all seeds have the same outputs"
        found("{count} seeds")
        allowed("one seed, or a temperature above 0")
        help("give `--temperature`, as 0.5, or leave `--seeds` out");

    /// The error of an arm that cannot write turns of the requested format.
    #[cfg(feature = "ort")]
    no_arm(arm: &str, format: &str) = "cli/no-arm", "this arm does not write this format"
        found("{arm} in {format}")
        allowed("`free` and `full` in all; `published` in react; `free+retry` in all but toolken; `name` and `structure` in json, react, python; `full+exact` in json, react, python, relation")
        help("leave the arm out, or choose another format");

    /// The error that no request is left to measure with.
    no_requests() = "cli/no-requests", "no request is left to measure with"
        allowed("requests that need at most k tools, all in this catalogue")
        help("name a file with `--requests FILE`, and choose a `--where` that keeps some of its requests");

    /// The error that two runs have no request in common.
    other_units(found: usize, expected: usize) =
        "cli/other-requests", "the two runs have no request in common"
        found("{found} requests")
        allowed("some of the {expected} requests of this run")
        help("compare runs over the same requests");
}
