//! Masks for drafts of speculative decoding.

use crate::error::GrammataError;
use crate::failure::{GrammataStatus, Result};
use crate::matcher::GrammataMatcher;
use crate::raw::Call;
use engine::matcher::DraftTree;
use engine::{Matcher, TokenId};

/// Writes `count + 1` masks for a draft of `count` tokens: the first is that of this place, row `i`, which begins at
/// `words[i * row_words]`, that after the first `i` tokens. `*allowed` is how many tokens are allowed one after the other; rows behind
/// them are all 0, as are all rows if the call fails. A token outside of the vocabulary is one that is not allowed. The matcher
/// stays where it is.
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
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
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

/// The same with masks within a budget: `budget` tokens are still to come at this place, and one fewer after each token of the
/// draft. GRAMMATA_STATUS_REJECTED if no complete text is known within the budget.
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
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
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

/// Writes a mask for each of the `count` nodes of a tree of draft tokens: that of node `n` begins at `words[n * row_words]`. Node 0 is
/// the root, which stands for this place; `tokens[0]` is not read. `first_child[n]` is the first child of node `n`, `next_sibling[n]`
/// the next child of the same parent, and -1 stands for none. These are the arrays `retrieve_next_token`, `retrieve_next_sibling` and
/// `draft_tokens` of SGLang and XGrammar.
///
/// `reached` may be NULL; else it has room for `count` answers: whether the tokens from the root to a node are allowed one after the
/// other. Rows of other nodes are all 0, as are all rows if the call fails. GRAMMATA_STATUS_USAGE if the links make no tree. The
/// matcher stays where it is.
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
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        let mut matcher = GrammataMatcher::acquire(&call, matcher)?;
        let words = call.list_mut(words, words_length, "words")?;
        words.fill(0);
        let tree = || -> Result<DraftTree> {
            let first_child = call.list(first_child, count, "first_child")?;
            let next_sibling = call.list(next_sibling, count, "next_sibling")?;
            Ok(DraftTree::new(first_child, next_sibling, call.list(tokens, count, "tokens")?)?)
        };
        // as bytes: C need not have initialized them
        let answers: &mut [u8] = match reached.is_null() {
            true => &mut [],
            false => call.list_mut(reached.cast(), count, "reached")?,
        };
        let found = matcher.fill_tree_masks(&tree()?, words, row_words)?;
        answers.iter_mut().zip(found).for_each(|(answer, found)| *answer = u8::from(found));
        Ok(())
    })
}

/// Reads the tokens and the words of a draft, which are given as pointers with lengths, and sets how many tokens `fill` allows.
fn fill_draft(
    call: &Call,
    matcher: *mut GrammataMatcher,
    (tokens, count): (*const u32, usize),
    (words, words_length): (*mut u32, usize),
    allowed: *mut usize,
    fill: impl FnOnce(&mut Matcher, &[TokenId], &mut [u32]) -> engine::Result<usize>,
) -> Result<()> {
    call.set(allowed, 0, "allowed")?;
    let mut matcher = GrammataMatcher::acquire(call, matcher)?;
    let tokens = call.list(tokens, count, "tokens")?.iter().map(|&id| TokenId::new(id));
    let tokens: Vec<TokenId> = tokens.collect();
    let words = call.list_mut(words, words_length, "words")?;
    call.set(allowed, fill(&mut matcher, &tokens, words)?, "allowed")
}
