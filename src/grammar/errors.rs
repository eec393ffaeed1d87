//! The errors of the grammar room.

use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};

fn error(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Grammar, diagnostic)
}

pub(super) fn undefined_rule(name: &str) -> Error {
    error(
        Diagnostic::new("grammar/undefined-rule", format!("the rule `{name}` has no definition"))
            .at(Place::Rule(name.into()))
            .help("define it with `GrammarBuilder::define`"),
    )
}

pub(super) fn crossed_bounds(min: u32, max: u32) -> Error {
    error(
        Diagnostic::new("grammar/crossed-bounds", "a repeat has its bounds crossed")
            .found(format!("at least {min}, at most {max}"))
            .allowed("a minimum that is not above the maximum")
            .help("swap the bounds"),
    )
}

pub(super) fn invariant(name: &'static str, what: &str, place: Place) -> Error {
    error(
        Diagnostic::new("grammar/invariant", format!("invariant {name} does not hold: {what}"))
            .at(place)
            .help("build grammars with `GrammarBuilder`; if you did, this is a defect of the front end"),
    )
}

pub(super) fn unsound_word_graph() -> Error {
    invariant("G8", super::verify::UNSOUND_GRAPH, Place::Whole)
}
