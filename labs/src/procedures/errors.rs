//! The errors of recorded sessions.

grammata_base::errors! {
    pub(super) Usage;

    /// The error of a line that is not a recorded session.
    recorded(line: usize, cause: &str) = "procedure/recorded", "a line is not a recorded session"
        at(grammata::Place::LineColumn { line, column: 1 })
        cause(cause)
        allowed("a JSON object with `id`, `kind`, `tasks` and `events`, which are those of a trace")
        help("docs/procedures.md has the form of events");

    /// The error that no workflow is given for a session.
    no_workflow() = "procedure/none", "a session needs a procedure" help("give one");
}
