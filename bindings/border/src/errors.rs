//! Errors that arise in the conversion between Rust and Python.

use grammata::diagnostic::did_you_mean;
use grammata::limits::LimitKind;
use grammata::{Diagnostic, Error, ErrorKind};
use std::fmt::Display;

/// An error of kind [`ErrorKind::Usage`]: the caller used the library wrongly.
pub fn usage(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Usage, diagnostic)
}

grammata_base::errors! {
    pub Usage;

    /// `python/option`: an argument of a method is not one of the allowed values.
    choice(name: &'static str, found: &str, allowed: &str) = "python/option", "`{name}` has no such value"
        found(found) allowed(allowed.to_owned()) help("help() of the method has the meaning of each value");
}

grammata_base::errors! {
    pub(crate) Usage;

    limits(cause: &impl Display) = "python/limits", "invalid limits"
        cause(cause)
        allowed("a dict from names of limits to numbers, such as {{\"cache_bytes\": 1 << 28}}")
        help("docs/security.md lists the limits");

    /// `python/not-json`: an object that JSON cannot write. `what` names it.
    not_json(what: &'static str, cause: &impl Display) = "python/not-json", "{what} cannot be written as JSON"
        cause(cause)
        allowed("None, bool, int, float, str, list and dict with names that are str")
        help("convert other values first");
}

/// `python/limits`: no limit has this name.
pub(crate) fn unknown_limit(name: &str) -> Error {
    let names: Vec<&str> = LimitKind::ALL.iter().map(|kind| kind.name()).collect();
    usage(
        Diagnostic::new("python/limits", "unknown limit")
            .found(name)
            .allowed(names.join(", "))
            .help(did_you_mean(name, names, "docs/security.md lists the limits")),
    )
}
