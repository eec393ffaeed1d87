//! Token ids and counts: numbers of JavaScript that must be whole. A conversion that wraps would take 2³² for token 0.

use crate::errors;
use grammata::{Result, TokenId};
use js_sys::{Array, Reflect, Uint32Array};
use wasm_bindgen::{JsCast, JsValue};

fn whole(number: f64) -> Option<u32> {
    // every `u32` is exact in an `f64`
    let fits = number >= 0.0 && number <= f64::from(u32::MAX) && number.fract() == 0.0;
    fits.then_some(number as u32)
}

/// A token id.
///
/// # Errors
/// `js/token-range`.
pub(crate) fn token(number: f64) -> Result<TokenId> {
    whole(number).map(TokenId::new).ok_or_else(|| errors::token_range(number))
}

/// The count `name`, or its default if it is not given.
///
/// # Errors
/// `js/number`.
pub(crate) fn count(name: &'static str, given: Option<f64>, default: u32) -> Result<usize> {
    let Some(number) = given else { return Ok(default as usize) };
    whole(number).map(|count| count as usize).ok_or_else(|| errors::number(name, number))
}

/// The ids of an array of numbers, or of a Uint32Array.
///
/// # Errors
/// `js/tokens`: another value; `js/token-range`.
pub(crate) fn tokens(value: &JsValue) -> Result<Vec<TokenId>> {
    if let Some(ids) = value.dyn_ref::<Uint32Array>() {
        return Ok(ids.to_vec().into_iter().map(TokenId::new).collect());
    }
    let Some(list) = value.dyn_ref::<Array>() else { return Err(errors::tokens("another value")) };
    let ids = (0..list.length()).map(|index| {
        let number = Reflect::get_u32(list, index).ok().and_then(|id| id.as_f64());
        token(number.ok_or_else(|| errors::tokens("an array with other values than numbers"))?)
    });
    ids.collect()
}

#[cfg(test)]
mod tests {
    use super::{count, token};

    #[test]
    fn only_whole_numbers_in_range_are_ids() {
        for (number, id) in [(0.0, 0), (-0.0, 0), (7.0, 7), (4_294_967_295.0, u32::MAX)] {
            assert_eq!(token(number).unwrap().get(), id);
        }
        for number in [-1.0, 0.5, 4_294_967_296.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = token(number).unwrap_err();
            assert_eq!(error.code(), "js/token-range", "{number}");
            assert_eq!(error.diagnostic().found_text(), Some(number.to_string().as_str()));
        }
    }

    #[test]
    fn counts_have_defaults() {
        assert_eq!(count("steps", None, 1).unwrap(), 1);
        assert_eq!(count("steps", Some(3.0), 1).unwrap(), 3);
        assert_eq!(count("steps", Some(-3.0), 1).unwrap_err().code(), "js/number");
    }
}
