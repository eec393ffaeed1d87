//! The errors of plans.

use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;

pub(super) fn too_many_states(limit: usize) -> Error {
    Limits::exceeded("plan_states", limit, "more states of plans")
}

pub(super) fn undecided(cause: &Error) -> Error {
    let diagnostic = Diagnostic::new("plan/undecided", "how many plans there are was not found out")
        .found(cause.diagnostic().message())
        .allowed("specs whose plans have a finite number of states, within `Limits::plan_states`")
        .help("limit how often actions may come, or raise the limit");
    Error::new(ErrorKind::Limit, diagnostic)
}

pub(super) fn undecided_infinite() -> Error {
    let diagnostic = Diagnostic::new("plan/undecided", "whether there is an end of plans was not found out")
        .help("limit how often actions may come");
    Error::new(ErrorKind::Limit, diagnostic)
}
