//! Applies masks to logits.

use crate::buffer::{Elements, View, with_view};
use crate::errors::{self, Raise};
use pyo3::prelude::*;

/// Sets the logits of tokens that a mask forbids to minus infinity, in place. `logits` are 32-bit floats: one row, or
/// an array of two dimensions with a row for each row of `mask`.
///
/// A row of logits must be as long as the vocabulary: raises UsageError if it has more logits than the mask has bits,
/// or so few that a whole word of the mask has no logit. Logits beyond the vocabulary's width are forbidden too.
///
/// >>> import array, grammata
/// >>> logits = array.array("f", [1.0, 2.0, 3.0])
/// >>> grammata.mask_logits(logits, array.array("I", [0b101]))
/// >>> list(logits)
/// [1.0, -inf, 3.0]
#[pyfunction]
#[pyo3(signature = (logits, mask, /))]
pub(crate) fn mask_logits(logits: &Bound<'_, PyAny>, mask: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = logits.py();
    let mut logits = View::new(logits, Elements::Floats)?;
    // memory of one dimension is one row
    let rows = |view: &View| view.rows().map_or(1, |(rows, _)| rows);
    with_view(mask, |mask| {
        let of_masks = rows(mask);
        // copied, as both may be the same memory, which only one view may use
        let words = mask.with_words(py, |words| words.to_vec());
        let of_logits = rows(&logits);
        logits.with_floats(py, |logits| apply(logits, of_logits, &words, of_masks)).raise(py)
    })
}

/// Applies the rows of masks to as many rows of logits.
///
/// # Errors
/// `python/rows` if the numbers of rows differ; `python/width` if the lengths of rows do not fit.
fn apply(logits: &mut [f32], of_logits: usize, words: &[u32], of_masks: usize) -> grammata::Result<()> {
    if of_logits != of_masks {
        return Err(errors::rows_of_logits(of_logits, of_masks));
    }
    let rows = of_logits.max(1);
    let (width, length) = (logits.len() / rows, words.len() / rows);
    let needed = width.div_ceil(32);
    if needed > length {
        return Err(errors::more_logits(width, 32 * length));
    }
    if needed < length {
        return Err(errors::fewer_logits(width, length));
    }
    if width > 0 {
        let rows = logits.chunks_exact_mut(width).zip(words.chunks_exact(length));
        rows.for_each(|(logits, words)| apply_row(logits, words));
    }
    Ok(())
}

fn apply_row(logits: &mut [f32], words: &[u32]) {
    for (chunk, &word) in logits.chunks_mut(32).zip(words) {
        match word {
            0 => chunk.fill(f32::NEG_INFINITY),
            u32::MAX => {}
            _ => {
                let bits = chunk.iter_mut().enumerate().filter(|(bit, _)| word >> bit & 1 == 0);
                bits.for_each(|(_, logit)| *logit = f32::NEG_INFINITY);
            }
        }
    }
}
