//! One step of many sequences.

use super::errors;
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

/// What a batch asks of one matcher: a row for its place, and one for each token of a draft.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowRequest<'a> {
    /// The first row; the others come after it.
    pub first: usize,
    /// The draft, whose tokens the host has proposed and not accepted; empty without speculation.
    pub draft: &'a [TokenId],
    /// How many tokens are still to come; `None` for masks without a budget.
    pub budget: Option<usize>,
}

impl RowRequest<'_> {
    /// How many rows are written.
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

/// Writes the rows that are asked for: request `i` is that of matcher `i`, and row `n` begins at `words[n * row_words]`. Rows that
/// nothing asks for are left as they are. The result of each matcher is how many tokens of its draft are allowed one after the other;
/// one that fails does not stop the others, and its rows are all 0.
///
/// The work is spread over rayon's current pool as that of [`fill_masks`]; the caller does up to four matchers alone.
///
/// # Errors
/// Per matcher those of [`Matcher::fill_mask`] and [`Matcher::fill_draft_masks`], with a budget those of
/// [`Matcher::fill_mask_within`]; `serve/rows` if its rows are not all in `words`, or if one of them belongs to a request whose first row
/// comes before its own (of equal ones, to the one before it in the list): then nothing of it is written. There is a result for each matcher that there is a request for.
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
    // what is left of `words`, and how many rows come before it
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

/// Accepts one token in each matcher, over rayon's current pool. There is a result for each matcher that there is a
/// token for; one that fails does not stop the others, and stays where it was.
///
/// # Errors
/// Per matcher those of [`Matcher::accept_token`].
pub fn accept_tokens<M: AsMut<Matcher> + Send>(matchers: &mut [M], tokens: &[TokenId]) -> Vec<Result<()>> {
    let work = matchers.par_iter_mut().zip(tokens).with_min_len(TOGETHER);
    work.map(|(matcher, &token)| matcher.as_mut().accept_token(token)).collect()
}
