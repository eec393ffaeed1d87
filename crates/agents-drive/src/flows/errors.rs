//! The errors of planning with a model.

use grammata::diagnostic::{Diagnostic, Place, excerpt};
use grammata::error::{Error, ErrorKind};

pub(super) fn no_similarity(first: &str, second: &str) -> Error {
    let diagnostic = Diagnostic::new("flow/similarity", "the similarity of two texts is not a number")
        .found(format!("{} and {}", excerpt(first), excerpt(second)))
        .allowed("a number, for cosines from -1 to 1")
        .help("check the embedder that computes it");
    Error::new(ErrorKind::Model, diagnostic)
}

pub(super) fn template(found: String, place: Place) -> Error {
    let diagnostic = Diagnostic::new("flow/template", "the prompt cannot be written")
        .at(place)
        .cause(found)
        .help("make the domain smaller: the prompt has all its APIs");
    Error::new(ErrorKind::Grammar, diagnostic)
}
