//! One step of many sequences.

use crate::error::Result;
use crate::matcher::Matcher;
use crate::vocabulary::TokenId;
use rayon::prelude::*;

/// Sequences that one thread takes at a time: a known mask takes less than handing it to another thread.
const TOGETHER: usize = 4;

/// Writes the mask of each matcher into a row of its own: that of matcher `i` begins at `words[i * row_words]`. A row
/// has at least [`Vocabulary::mask_words`](crate::Vocabulary::mask_words) words. The result of each matcher is that of
/// [`Matcher::fill_mask`]; one that fails does not stop the others, and its row is all 0.
///
/// The work is spread over rayon's current pool: the global one, or that of a
/// [`ThreadPool::install`](rayon::ThreadPool::install) around the call. The matchers may belong to one grammar or to many.
///
/// # Errors
/// Per matcher those of [`Matcher::fill_mask`]; `mask/buffer-too-short` where `words` ends before the row does.
pub fn fill_masks<M: AsMut<Matcher> + Send>(
    matchers: &mut [M],
    words: &mut [u32],
    row_words: usize,
) -> Vec<Result<()>> {
    let mut rows: Vec<&mut [u32]> = words.chunks_mut(row_words.max(1)).collect();
    rows.resize_with(matchers.len(), Default::default);
    let work = matchers.par_iter_mut().zip(rows).with_min_len(TOGETHER);
    work.map(|(matcher, row)| matcher.as_mut().fill_mask(row)).collect()
}

/// Accepts one token in each matcher, over rayon's current pool. There is a result for each matcher that there is a
/// token for; one that fails does not stop the others, and stays where it was.
///
/// # Errors
/// Per matcher those of [`Matcher::accept_token`].
pub fn accept_tokens<M: AsMut<Matcher> + Send>(matchers: &mut [M], tokens: &[TokenId]) -> Vec<Result<()>> {
    let work = matchers.par_iter_mut().zip(tokens).with_min_len(TOGETHER);
    work.map(|(matcher, &token)| matcher.as_mut().accept_token(token)).collect()
}
