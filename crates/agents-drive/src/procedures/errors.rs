//! The errors of the driver and of simulations.

use grammata::diagnostic::{Diagnostic, Place, did_you_mean_field, excerpt};
use grammata::error::{Error, ErrorKind};

/// Returns the error for a result of an API that is not an object, has a value that the procedure does not allow, or is
/// an error that the procedure does not catch.
pub(super) fn result(api: &str, found: &str, allowed: &str) -> Error {
    let message = format!("the result of `{}` is not what its response allows", excerpt(api));
    let diagnostic = Diagnostic::new("procedure/result", message)
        .found(excerpt(found))
        .allowed(allowed)
        .help("let the API return one of these, or widen the schema of the slot");
    Error::new(ErrorKind::Rejected, diagnostic)
}

/// Returns the error for a turn in which `count` acts were refused.
pub(super) fn refusals(count: usize) -> Error {
    let diagnostic = Diagnostic::new("procedure/refusals", "the controllers refused every act of a turn")
        .found(format!("{count} refusals"))
        .allowed("an act that they accept within that number of tries")
        .help("bound the tries of a turn (`Controllers::most_tries`), or use a mask");
    Error::new(ErrorKind::Rejected, diagnostic)
}

/// Returns the error for a simulation that cannot be read.
pub(super) fn simulation(cause: &serde_json::Error) -> Error {
    let diagnostic = Diagnostic::new("procedure/simulation", "the simulation cannot be read")
        .at(Place::LineColumn { line: cause.line().max(1), column: cause.column().max(1) })
        .cause(cause)
        .help(did_you_mean_field(&cause.to_string(), "correct it there"));
    Error::new(ErrorKind::Usage, diagnostic)
}

/// Returns the error for a template of a prompt that cannot be read or rendered.
pub(super) fn template(found: String, place: Place) -> Error {
    let diagnostic = Diagnostic::new("procedure/template", "the prompt of a step cannot be written")
        .at(place)
        .cause(found)
        .help("correct the template there, or leave it out: the default one has all that a prompt may have");
    Error::new(ErrorKind::Usage, diagnostic)
}

/// Returns the error for a run without a procedure.
pub(super) fn no_workflow() -> Error {
    let diagnostic = Diagnostic::new("procedure/none", "a session needs a procedure").help("give one");
    Error::new(ErrorKind::Usage, diagnostic)
}
