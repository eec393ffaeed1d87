//! Masks by brute force: the [recogniser](super::earley) reads the bytes of each token separately.

use super::earley::{Recogniser, State};
use super::token_sets::TokenSets;

/// The mask of `state`: bit `id` is set if the bytes of token `id` keep the state viable, or if `id` is an end of
/// sequence and the state accepts. Other tokens without bytes (special ones, padding) are not allowed. `width` is the
/// number of 32-bit words. `None` if the recogniser cannot decide.
pub fn brute_mask(
    recogniser: &Recogniser<'_>,
    state: &State,
    vocabulary: &[Option<Vec<u8>>],
    eos: &[u32],
    width: usize,
) -> Option<Vec<u32>> {
    brute_mask_with(recogniser, state, (vocabulary, &TokenSets::default()), eos, width)
}

/// Like [`brute_mask`] for a grammar with token terminals, given their tokens: a token is also allowed if a terminal
/// that contains it may come next.
pub fn brute_mask_with(
    recogniser: &Recogniser<'_>,
    state: &State,
    (vocabulary, sets): (&[Option<Vec<u8>>], &TokenSets),
    eos: &[u32],
    width: usize,
) -> Option<Vec<u32>> {
    let terminals = recogniser.viable_terminals(state);
    let mut mask = vec![0; width];
    let padding = std::iter::repeat(&None);
    for (id, token) in (0..width as u32 * 32).zip(vocabulary.iter().chain(padding)) {
        let allowed = match token {
            _ if terminals.iter().any(|&terminal| sets.has(terminal, id)) => true,
            _ if eos.contains(&id) => recogniser.is_accepting(state),
            None => false,
            Some(bytes) => {
                let mut after = state.clone();
                bytes.iter().for_each(|&byte| recogniser.advance(&mut after, byte));
                recogniser.is_viable(&after)?
            }
        };
        if allowed {
            mask[id as usize / 32] |= 1 << (id % 32);
        }
    }
    Some(mask)
}
