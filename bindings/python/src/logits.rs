//! Applies masks to logits.

use crate::buffer::{Elements, View, with_view};
use crate::errors::{self, Raise};
use pyo3::prelude::*;

/// Sets the logits of tokens that a mask forbids to minus infinity, in place. `logits` is one row of 32-bit floats.
/// Logits beyond the vocabulary's width are forbidden too.
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
    with_view(mask, |mask| {
        // copied, as both may be the same memory, which only one view may use
        let words = mask.with_words(py, |words| words.to_vec());
        let fits = logits.with_floats(py, |logits| {
            let fits = logits.len().div_ceil(32) <= words.len();
            if fits {
                apply(logits, &words);
            }
            fits
        });
        match fits {
            true => Ok(()),
            false => {
                Err(errors::rows("more logits than the mask has bits", "one row of logits".into())).raise(py)
            }
        }
    })
}

fn apply(logits: &mut [f32], words: &[u32]) {
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
