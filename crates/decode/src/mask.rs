//! Masks over logits: one bit per token, 32 bits per word.

use super::errors;
use grammata::error::Result;

/// Iterates over the logits in chunks of 32 (the last may be shorter): the index of the chunk, its word of the mask,
/// and its logits. Without a mask every token is allowed; tokens past the end of the mask are not. Bits without a logit
/// are cleared, and chunks without an allowed token are skipped.
pub(super) fn allowed_chunks<'a>(
    logits: &'a [f32],
    mask: Option<&'a [u32]>,
) -> impl Iterator<Item = (usize, u32, &'a [f32])> + 'a {
    logits.chunks(32).enumerate().filter_map(move |(index, chunk)| {
        let word = mask.map_or(u32::MAX, |mask| mask.get(index).copied().unwrap_or(0));
        let exist = u32::MAX >> (32 - chunk.len());
        (word & exist != 0).then_some((index, word & exist, chunk))
    })
}

/// Returns whether `mask` allows a token; false past the end of the mask.
pub(super) fn allows(mask: &[u32], token: u32) -> bool {
    mask.get(token as usize / 32).is_some_and(|word| word >> (token % 32) & 1 != 0)
}

/// Iterates over the indices of the set bits of a word, in ascending order.
pub(super) fn bits(mut word: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros() as usize);
        word &= word.wrapping_sub(1);
        bit
    })
}

/// Returns the `count` (at least 1) allowed tokens with the greatest logits, and their logits: by falling logit, then
/// rising id. Tokens whose logits are NaN or minus infinity are left out, so there may be fewer than `count`.
///
/// # Errors
/// No token with a logit is allowed (`decode/empty-mask`), or the logits of all allowed tokens are NaN or minus
/// infinity (`decode/no-candidate`).
pub(super) fn top(logits: &[f32], mask: Option<&[u32]>, count: usize) -> Result<Vec<(u32, f32)>> {
    let mut best: Vec<(u32, f32)> = Vec::with_capacity(count);
    let mut any = false;
    for (index, word, chunk) in allowed_chunks(logits, mask) {
        any = true;
        for bit in bits(word) {
            let logit = chunk.get(bit).copied().unwrap_or(f32::NAN);
            // a comparison with NaN is false, so NaN is left out
            let least = best.last().filter(|_| best.len() >= count).map_or(f32::NEG_INFINITY, |&(_, l)| l);
            if logit > least {
                best.truncate(count.saturating_sub(1));
                let at = best.partition_point(|&(_, other)| other >= logit);
                best.insert(at, ((index * 32 + bit) as u32, logit));
            }
        }
    }
    match best.is_empty() {
        false => Ok(best),
        true if any => Err(errors::no_candidate()),
        true => Err(errors::empty_mask()),
    }
}

/// Returns the only token that `mask` allows; `None` if it allows several.
///
/// # Errors
/// `decode/empty-mask`: the mask allows no token.
pub(super) fn only(mask: &[u32]) -> Result<Option<u32>> {
    let mut words = mask.iter().enumerate().filter(|&(_, &word)| word != 0);
    let Some((index, word)) = words.next() else { return Err(errors::empty_mask()) };
    let alone = word.is_power_of_two() && words.next().is_none();
    Ok(alone.then(|| index as u32 * 32 + word.trailing_zeros()))
}
