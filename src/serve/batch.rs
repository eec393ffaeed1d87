//! One step of many sequences: masks and accepted tokens of a batch.

use super::errors;
use crate::error::Result;
use crate::matcher::{Constraint, Matcher};
use crate::vocabulary::TokenId;
use rayon::prelude::*;

/// The least number of sequences per task of a thread: filling a known mask is cheaper than handing it to another
/// thread.
const TOGETHER: usize = 4;

/// Writes the mask of each matcher into its own row: the row of matcher `i` begins at `words[i * row_words]`.
/// `row_words` must be at least [`Vocabulary::mask_words`](crate::Vocabulary::mask_words). The result of each matcher
/// is that of [`Matcher::fill_mask`]; a matcher that fails does not stop the others, and its row is all 0.
///
/// The work is spread over rayon's current pool: the global pool, or that of a
/// [`ThreadPool::install`](rayon::ThreadPool::install) around the call. The matchers may belong to one grammar or to
/// many.
///
/// # Errors
/// Per matcher those of [`Matcher::fill_mask`]; `mask/buffer-too-short` also if `words` ends before the mask in the row
/// does.
pub fn fill_masks<M: AsMut<Matcher> + Send>(
    matchers: &mut [M],
    words: &mut [u32],
    row_words: usize,
) -> Vec<Result<()>> {
    let words = if row_words == 0 { &mut [] } else { words };
    let mut rows: Vec<&mut [u32]> = words.chunks_mut(row_words.max(1)).collect();
    rows.resize_with(matchers.len(), Default::default);
    let work = matchers.par_iter_mut().zip(rows).with_min_len(TOGETHER);
    work.map(|(matcher, row)| matcher.as_mut().fill_mask(row)).collect()
}

/// The rows that a batch fills for one matcher: one for its current place, and one for each token of a draft.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowRequest<'a> {
    /// Index of the first row. The rows after the tokens of the draft follow it.
    pub first: usize,
    /// The draft: tokens that were proposed but not accepted; empty without speculation.
    pub draft: &'a [TokenId],
    /// The number of tokens that may still come from the current place; `None` for masks without a budget.
    pub budget: Option<usize>,
}

impl RowRequest<'_> {
    /// The number of rows that are written for the request.
    fn rows(&self) -> usize {
        self.draft.len() + 1
    }

    fn fill(&self, matcher: &mut Matcher, words: &mut [u32], row_words: usize) -> Result<usize> {
        match (self.budget, self.draft.is_empty()) {
            (None, true) => matcher.fill_mask(words).map(|()| 0),
            (Some(budget), true) => matcher.fill_mask_within(budget, words).map(|()| 0),
            (None, false) => matcher.fill_draft_masks(self.draft, words, row_words),
            (Some(budget), false) => matcher.fill_draft_masks_within(self.draft, budget, words, row_words),
        }
    }
}

/// Writes the requested rows: request `i` is that of matcher `i`, and row `n` begins at `words[n * row_words]`. Rows
/// without a request stay unchanged. The result of each matcher is the length of the longest allowed prefix of its
/// draft. A matcher that fails does not stop the others, and its rows are all 0, except after `serve/rows`. There is
/// one result per pair of a matcher and a request; matchers or requests without a counterpart are ignored.
///
/// The work is spread over rayon's current pool, as in [`fill_masks`]; the calling thread does up to four matchers
/// alone.
///
/// # Errors
/// Per matcher those of [`Matcher::fill_mask`] and [`Matcher::fill_draft_masks`], with a budget also those of
/// [`Matcher::fill_mask_within`]. `serve/rows` if its rows are not all in `words`, or if one of them belongs to a
/// request with a smaller first row (with equal first rows, to an earlier request): then none of its rows is written.
pub fn fill_rows<M: AsMut<Matcher> + Send>(
    matchers: &mut [M],
    requests: &[RowRequest<'_>],
    words: &mut [u32],
    row_words: usize,
) -> Vec<Result<usize>> {
    let count = matchers.len().min(requests.len());
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|&place| requests[place].first);
    let mut slices: Vec<Result<&mut [u32]>> = requests[..count]
        .iter()
        .map(|request| Err(errors::rows(request.first, request.rows(), words.len(), row_words)))
        .collect();
    // the rest of `words`, and the number of rows before it
    let (mut rest, mut before) = (words, 0);
    for place in order {
        let request = &requests[place];
        let room = || {
            let skip = request.first.checked_sub(before)?.checked_mul(row_words)?;
            let length = request.rows().checked_mul(row_words)?;
            (skip.checked_add(length)? <= rest.len()).then_some((skip, length))
        };
        let Some((skip, length)) = room() else { continue };
        let (slice, behind) = std::mem::take(&mut rest)[skip..].split_at_mut(length);
        (slices[place], rest, before) = (Ok(slice), behind, request.first + request.rows());
    }
    let fill = |((matcher, request), slice): ((&mut M, &RowRequest<'_>), Result<&mut [u32]>)| {
        request.fill(matcher.as_mut(), slice?, row_words)
    };
    let (matchers, requests) = (&mut matchers[..count], &requests[..count]);
    if count <= TOGETHER {
        return matchers.iter_mut().zip(requests).zip(slices).map(fill).collect();
    }
    matchers.par_iter_mut().zip(requests).zip(slices).with_min_len(TOGETHER).map(fill).collect()
}

/// Accepts one token in each matcher, over rayon's current pool. There is one result per pair of a matcher and a token;
/// a matcher that fails does not stop the others, and does not move.
///
/// # Errors
/// Per matcher those of [`Matcher::accept_token`].
pub fn accept_tokens<M: Constraint>(matchers: &mut [M], tokens: &[TokenId]) -> Vec<Result<()>> {
    let work = matchers.par_iter_mut().zip(tokens).with_min_len(TOGETHER);
    work.map(|(matcher, &token)| matcher.accept_token(token.get())).collect()
}
