//! Masks by brute force: each token's bytes alone are read by the [recogniser](super::earley).

use super::earley::{Recogniser, State};

/// The mask of `state`: bit `id` is set if the bytes of token `id` keep the state viable, or if `id` is an
/// end of sequence and the state accepts. Tokens without bytes (special ones, padding) are not allowed
/// otherwise. `width` is the number of 32-bit words. `None` if the recogniser cannot tell.
pub fn brute_mask(
    recogniser: &Recogniser<'_>,
    state: &State,
    vocabulary: &[Option<Vec<u8>>],
    eos: &[u32],
    width: usize,
) -> Option<Vec<u32>> {
    let mut mask = vec![0; width];
    for (id, token) in (0u32..).zip(vocabulary) {
        let allowed = match token {
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
