//! Masks for drafts of speculative decoding.

use crate::error::GrammataError;
use crate::failure::{GrammataStatus, Result};
use crate::matcher::GrammataMatcher;
use crate::raw::{Call, run};
use engine::matcher::DraftTree;
use engine::{Matcher, TokenId};

/// Writes `count + 1` masks for a draft of `count` tokens. The first is that of the current place; row `i`, which
/// begins at `words[i * row_words]`, is the mask after the first `i` tokens. `*allowed` is the length of the longest
/// allowed prefix of the draft. Later rows are all 0, as are all rows if a mask cannot be computed. A token outside the
/// vocabulary is not allowed. The matcher does not move.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_fill_draft_masks(
    matcher: *mut GrammataMatcher,
    tokens: *const u32,
    count: usize,
    words: *mut u32,
    words_length: usize,
    row_words: usize,
    allowed: *mut usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        fill_draft(
            &call,
            matcher,
            (tokens, count),
            (words, words_length),
            allowed,
            |matcher, tokens, words| matcher.fill_draft_masks(tokens, words, row_words),
        )
    })
}

/// Like `grammata_matcher_fill_draft_masks`, with masks within a budget: `budget` tokens are still to come at this
/// place, and one fewer after each token of the draft. GRAMMATA_STATUS_REJECTED if no complete text is known within the
/// budget.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_fill_draft_masks_within(
    matcher: *mut GrammataMatcher,
    tokens: *const u32,
    count: usize,
    budget: usize,
    words: *mut u32,
    words_length: usize,
    row_words: usize,
    allowed: *mut usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        fill_draft(
            &call,
            matcher,
            (tokens, count),
            (words, words_length),
            allowed,
            |matcher, tokens, words| matcher.fill_draft_masks_within(tokens, budget, words, row_words),
        )
    })
}

/// Writes a mask for each of the `count` nodes of a tree of draft tokens: that of node `n` begins at `words[n *
/// row_words]`. Node 0 is the root and represents the current place; `tokens[0]` is not read. `first_child[n]` is the
/// first child of node `n`, `next_sibling[n]` the next child of the same parent, and -1 means none. SGLang and XGrammar
/// call these arrays and the tokens `retrieve_next_token`, `retrieve_next_sibling` and `draft_tokens`.
///
/// `reached` may be NULL; otherwise it has room for `count` answers: whether the tokens from the root to a node are
/// allowed in sequence. Rows of other nodes are all 0, as are all rows if the links are wrong or a mask cannot be
/// computed. GRAMMATA_STATUS_USAGE if the links do not form a tree. The matcher does not move.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_fill_tree_masks(
    matcher: *mut GrammataMatcher,
    first_child: *const i64,
    next_sibling: *const i64,
    tokens: *const i64,
    count: usize,
    words: *mut u32,
    words_length: usize,
    row_words: usize,
    reached: *mut bool,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        // first, so that no row keeps an earlier mask
        let words = call.list_mut(words, words_length, "words")?;
        words.fill(0);
        let mut matcher = GrammataMatcher::acquire(&call, matcher)?;
        let tree = || -> Result<DraftTree> {
            let first_child = call.list(first_child, count, "first_child")?;
            let next_sibling = call.list(next_sibling, count, "next_sibling")?;
            DraftTree::new(first_child, next_sibling, call.list(tokens, count, "tokens")?)
        };
        // as bytes, since C need not have initialized them
        let answers: &mut [u8] = match reached.is_null() {
            true => &mut [],
            false => call.list_mut(reached.cast(), count, "reached")?,
        };
        let found = matcher.matcher().fill_tree_masks(&tree()?, words, row_words)?;
        answers.iter_mut().zip(found).for_each(|(answer, found)| *answer = u8::from(found));
        Ok(())
    })
}

/// Converts the tokens and words of a draft from pointers and lengths, and sets `*allowed` to the result of `fill`.
fn fill_draft(
    call: &Call,
    matcher: *mut GrammataMatcher,
    (tokens, count): (*const u32, usize),
    (words, words_length): (*mut u32, usize),
    allowed: *mut usize,
    fill: impl FnOnce(&mut Matcher, &[TokenId], &mut [u32]) -> engine::Result<usize>,
) -> Result<()> {
    call.set(allowed, 0, "allowed")?;
    // first, so that no row keeps an earlier mask
    let words = call.list_mut(words, words_length, "words")?;
    words.fill(0);
    let mut matcher = GrammataMatcher::acquire(call, matcher)?;
    let tokens = call.list(tokens, count, "tokens")?.iter().map(|&id| TokenId::new(id));
    let tokens: Vec<TokenId> = tokens.collect();
    call.set(allowed, fill(matcher.matcher(), &tokens, words)?, "allowed")
}
