//! The errors of vectors.

use grammata_base::diagnostic::{Diagnostic, Place};
use grammata_base::error::{Error, ErrorKind};

fn model(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Model, diagnostic)
}

/// Returns the place of a text: the JSON Pointer of `index` in the list of texts.
fn text_place(index: usize) -> Place {
    Place::Pointer(format!("/{index}"))
}

/// A vector whose dimension is not the expected one.
pub(super) fn dimension(text: usize, found: usize, expected: usize) -> Error {
    model(
        Diagnostic::new("decode/embedding-dimension", "an embedding has another dimension")
            .at(text_place(text))
            .found(format!("{found} coordinates"))
            .allowed(format!("{expected} coordinates"))
            .help("the vectors of one matrix are those of one embedder"),
    )
}

/// A vector that cannot be normalised: its norm is 0 or not finite.
pub(super) fn no_direction(text: usize, norm: f64) -> Error {
    model(
        Diagnostic::new("decode/embedding-not-finite", "an embedding is zero or not finite")
            .at(text_place(text))
            .found(format!("a vector of norm {norm}"))
            .allowed("finite coordinates that are not all 0")
            .help("the model's numbers overflowed (16-bit floats?), or its weights are damaged"),
    )
}

/// A vector that should have unit length and does not.
pub(super) fn not_unit(text: usize, norm: f64) -> Error {
    model(
        Diagnostic::new("decode/embedding-norm", "a vector does not have unit length")
            .at(text_place(text))
            .found(format!("a norm of {norm}"))
            .allowed("a norm of 1")
            .help("normalise vectors before they are stored: the file has been changed, or is not of an embedder"),
    )
}
