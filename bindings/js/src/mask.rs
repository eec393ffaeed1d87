//! Masks as words of JavaScript.

use crate::border::{JsResult, Raise};
use crate::bytes::kind;
use crate::errors;
use grammata::Result;
use js_sys::Uint32Array;
use std::cell::RefCell;
use wasm_bindgen::{JsCast, JsValue};

thread_local! {
    /// Where masks are written before they are copied to memory of JavaScript.
    static WORDS: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

/// Runs `fill` on `count` words and passes them on.
fn with_words<R>(
    count: usize,
    fill: impl FnOnce(&mut [u32]) -> Result<()>,
    pass: impl FnOnce(&[u32]) -> R,
) -> Result<R> {
    // taken out, so that nothing is borrowed while code of JavaScript runs
    let mut words = WORDS.take();
    words.resize(count, 0);
    let filled = fill(&mut words);
    let passed = filled.map(|()| pass(&words));
    WORDS.set(words);
    passed
}

/// A new array of the `count` words that `fill` writes.
pub(crate) fn array(count: usize, fill: impl FnOnce(&mut [u32]) -> Result<()>) -> Result<Uint32Array> {
    with_words(count, fill, |words| Uint32Array::from(words))
}

/// Writes the `count` words of a mask into a Uint32Array; words beyond them become 0, and all do if there is an error.
pub(crate) fn fill(
    target: &JsValue,
    count: usize,
    fill: impl FnOnce(&mut [u32]) -> Result<()>,
) -> JsResult<()> {
    let Some(target) = target.dyn_ref::<Uint32Array>() else {
        return Err(errors::words(&kind(target))).raise();
    };
    let length = target.length();
    // a shorter one is refused by the engine, with both lengths
    let written = count.min(length as usize);
    let begin = u32::try_from(written).unwrap_or(u32::MAX);
    let done = with_words(written, fill, |words| {
        if begin == length {
            target.copy_from(words);
        } else {
            target.subarray(0, begin).copy_from(words);
            target.fill(0, begin, length);
        }
    });
    // memory that was transferred has the length 0, and methods of its array throw
    if done.is_err() && length > 0 {
        target.fill(0, 0, length);
    }
    done.raise()
}

#[cfg(test)]
mod tests {
    use super::with_words;

    #[test]
    fn words_are_used_again_and_kept_after_an_error() {
        let fill = |word: u32| {
            move |words: &mut [u32]| {
                words.fill(word);
                Ok(())
            }
        };
        assert_eq!(with_words(3, fill(7), <[u32]>::to_vec).unwrap(), [7, 7, 7]);
        assert!(with_words(2, |_| Err(crate::errors::no_events()), <[u32]>::to_vec).is_err());
        assert_eq!(with_words(4, fill(1), <[u32]>::to_vec).unwrap(), [1, 1, 1, 1]);
        // within a call, as if one filled while another is passed on
        let nested = with_words(1, fill(2), |outer| {
            let inner = with_words(2, fill(3), <[u32]>::to_vec).unwrap();
            (outer.to_vec(), inner)
        });
        assert_eq!(nested.unwrap(), (vec![2], vec![3, 3]));
    }
}
