//! The methods of a matcher, each by the module that does the work.

use super::explanation::Explanation;
use super::open_parts::Parts;
use super::path::Path;
use super::promises::Promises;
use super::state::{self, Matcher};
use super::{DraftTree, budget, draft_tree, explain, explored, forced, masks, refusals, steps, within};
use crate::error::Result;
use crate::grammar::ByteSet;
use crate::mask::{CompiledGrammar, Distance, TokenMask};
use crate::vocabulary::TokenId;
use std::sync::Arc;

impl CompiledGrammar {
    /// Creates a matcher at the beginning of a text. It shares the tables and masks of the grammar.
    pub fn matcher(&self) -> Matcher {
        Matcher {
            compiled: self.clone(),
            path: Path::new(explored::start(self)),
            promises: Promises::default(),
            parts: Parts::default(),
        }
    }
}

impl Matcher {
    /// The compiled grammar that decides which tokens and bytes this matcher accepts.
    pub fn compiled(&self) -> &CompiledGrammar {
        &self.compiled
    }

    /// The bytes of all accepted steps, copied into one vector.
    pub fn bytes(&self) -> Vec<u8> {
        self.path.bytes()
    }

    /// The number of bytes accepted so far.
    pub fn byte_count(&self) -> usize {
        self.path.byte_count()
    }

    /// The number of steps accepted so far, which can be rolled back. A step is a token, including an end-of-sequence
    /// token, or a byte string.
    pub fn steps(&self) -> usize {
        self.path.step_count()
    }

    /// An independent matcher with the same accepted steps. The cost does not grow with the text: earlier steps are
    /// shared, and only the most recent ones are copied.
    pub fn fork(&self) -> Matcher {
        self.clone()
    }

    /// Writes the mask of the tokens that may come next. Token `i` is bit `i % 32` of word `i / 32`. Words beyond the
    /// vocabulary's are cleared. After the end of the text the mask is empty.
    ///
    /// # Errors
    /// `mask/buffer-too-short` if `words` has fewer than `width().div_ceil(32)` words, for the width of the vocabulary;
    /// `limit/exceeded` if a limit such as `cache_bytes`, `lockstep_search` or `mask_work` is exceeded. After an error
    /// all words are 0, so that no token of an earlier mask stays allowed.
    pub fn fill_mask(&mut self, words: &mut [u32]) -> Result<()> {
        masks::fill_mask(self, words)
    }

    /// Calls `look` with the mask of the tokens that may come next. A known mask is borrowed: this avoids copying it,
    /// and changing its reference count, for which threads that use one grammar would contend.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `cache_bytes`, `lockstep_search` or `mask_work` is exceeded. `look` is then
    /// not called.
    pub fn with_mask<R>(&mut self, look: impl FnMut(&TokenMask) -> R) -> Result<R> {
        masks::with_mask(self, look)
    }

    /// The mask of the tokens that may come next; empty after the end of the text. The mask is shared with other
    /// matchers, not copied, unless names read so far, given end tokens or bounds of parts change it.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `cache_bytes`, `lockstep_search` or `mask_work` is exceeded.
    pub fn mask(&mut self) -> Result<Arc<TokenMask>> {
        masks::mask(self)
    }

    /// Accepts a token: an ordinary token by its bytes, a token of a token terminal by its id, both ways if both are
    /// possible, and an end-of-sequence token if the text is a word. A token terminal that contains an end-of-sequence
    /// token takes it; the sequence has ended if the text is a word after this token.
    ///
    /// # Errors
    /// If the mask does not allow the token:
    /// - `matcher/part-bound` if a part could not end within its bound;
    /// - `matcher/not-text` if the token has no bytes, is not an end-of-sequence token, and no token terminal may come
    ///   next;
    /// - `matcher/ended` for any other token after the end;
    /// - otherwise `matcher/rejected`, with what was expected.
    ///
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded. After an error the matcher has not
    /// moved.
    pub fn accept_token(&mut self, token: TokenId) -> Result<()> {
        refusals::accept_token(self, token)
    }

    /// Accepts bytes, as one step. The bytes may end in the middle of a character.
    ///
    /// # Errors
    /// `matcher/rejected`, with the place and what was expected there, if no completion begins with the bytes;
    /// `matcher/part-bound` if a part could not end within its bound; `matcher/ended` after the end; `limit/exceeded`
    /// if a limit such as `mask_work` or `cache_bytes` is exceeded. After an error the matcher has not moved.
    pub fn accept_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        refusals::accept_bytes(self, bytes)
    }

    /// Accepts a token if the mask allows it, and returns whether the mask does. A rejected token costs no more than an
    /// accepted one; [`accept_token`](Matcher::accept_token) explains a rejection.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded. The matcher has then not moved.
    pub fn try_accept(&mut self, token: TokenId) -> Result<bool> {
        steps::try_accept(self, token)
    }

    /// Accepts the longest allowed prefix of `tokens` and returns its length.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded. The matcher is then where it was
    /// before the first token.
    pub fn accept_tokens(&mut self, tokens: &[TokenId]) -> Result<usize> {
        steps::accept_tokens(self, tokens)
    }

    /// The length of the longest prefix of `tokens` that is allowed. The matcher does not move.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded.
    pub fn validate_tokens(&self, tokens: &[TokenId]) -> Result<usize> {
        steps::validate_tokens(self, tokens)
    }

    /// Whether the text so far, continued with these bytes, can be completed to a word. False after the end. Nothing is
    /// accepted.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded.
    pub fn accepts_prefix(&mut self, bytes: &[u8]) -> Result<bool> {
        steps::accepts_prefix(self, bytes)
    }

    /// Accepts bytes as one step if some completion of the text begins with them, and returns whether one does. The
    /// result is false after the end.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded.
    pub fn try_accept_bytes(&mut self, bytes: &[u8]) -> Result<bool> {
        steps::try_accept_bytes(self, bytes)
    }

    /// Undoes the last `steps` steps. An end-of-sequence token counts as a step.
    ///
    /// # Errors
    /// `matcher/rollback-too-far` if fewer steps were accepted; the matcher has then not moved.
    pub fn rollback(&mut self, steps: usize) -> Result<()> {
        steps::rollback(self, steps)
    }

    /// Forgets all steps and returns to the beginning of the text.
    pub fn reset(&mut self) {
        steps::reset(self)
    }

    /// Whether a token may come next: its bit of the mask, without computing the mask.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded.
    pub fn is_token_allowed(&mut self, token: TokenId) -> Result<bool> {
        steps::is_token_allowed(self, token)
    }

    /// Whether the text so far is a word of the language, so that it may end here.
    pub fn is_accepting(&self) -> bool {
        state::is_accepting(self)
    }

    /// Whether the text has ended, or is a word that cannot be extended.
    pub fn is_finished(&self) -> bool {
        state::is_finished(self)
    }

    /// The mask of the tokens that may come next if at most `budget` tokens are still to come, including the next one
    /// and without the end-of-sequence token: the tokens after which a completion of at most `budget - 1` tokens is
    /// known, and the end-of-sequence tokens if the text may end here. With a budget of 0 only the latter are allowed.
    /// A token is missing if only a completion other than the known one is short enough.
    ///
    /// If a mask is returned, then after each of its tokens there is a mask for a budget smaller by one, so the text
    /// can always be completed within the budget. The mask is empty after the end, and after a word within whose budget
    /// no more tokens fit if token terminals take every end-of-sequence token, and nowhere else. A completion is not
    /// known if the search for it reaches a limit.
    ///
    /// # Errors
    /// `matcher/budget` if no completion of at most `budget` tokens is known; `limit/exceeded` if the mask without a
    /// budget exceeds a limit such as `mask_work` or `cache_bytes`.
    pub fn mask_within(&mut self, budget: usize) -> Result<Arc<TokenMask>> {
        within::mask_within(self, budget)
    }

    /// A budget at and above which the [mask within a budget](Matcher::mask_within) equals the mask without a budget
    /// here. It is an upper bound: smaller budgets may suffice. `None` if the grammar does not show one, or if bounds
    /// of parts may matter; 0 after the end.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded.
    pub fn ample_budget(&mut self) -> Result<Option<usize>> {
        within::ample_budget(self)
    }

    /// Writes the [mask within a budget](Matcher::mask_within) as [`fill_mask`](Matcher::fill_mask) does. After an
    /// error all words are 0.
    ///
    /// # Errors
    /// `matcher/budget` if no completion of at most `budget` tokens is known; `mask/buffer-too-short` if `words` is too
    /// short for the mask; `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded.
    pub fn fill_mask_within(&mut self, budget: usize, words: &mut [u32]) -> Result<()> {
        within::fill_mask_within(self, budget, words)
    }

    /// Checks that a completion of at most `budget` tokens is known; the end-of-sequence token does not count. After
    /// the end every budget suffices.
    ///
    /// # Errors
    /// `matcher/budget` if none is known; the error names the smallest budget known to suffice, if there is one.
    /// `limit/exceeded` if finding the place of the text again exceeds a limit such as `cache_bytes`.
    pub fn check_budget(&mut self, budget: usize) -> Result<()> {
        within::check_budget(self, budget)
    }

    /// Whether a token may come next [within a budget](Matcher::mask_within), for the cost of one completion after this
    /// token. The tokens of the last mask within the budget may come. A decoder may sample from the plain mask, call
    /// this with the token, and sample from the mask within the budget only if the result is false. Unless a search
    /// reached its limit, its texts have the same distribution as if it had sampled from the mask within the budget
    /// directly (rejection sampling).
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded.
    pub fn is_token_allowed_within(&mut self, token: TokenId, budget: usize) -> Result<bool> {
        within::is_token_allowed_within(self, token, budget)
    }

    /// The upper bound on the tokens of a completion by which masks within budgets decide, for tests that compare it with
    /// exhaustive search. `None` if none is known.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded.
    #[cfg(feature = "testing")]
    #[doc(hidden)]
    pub fn potential(&mut self) -> Result<Option<usize>> {
        within::potential(self)
    }

    /// The smallest number of tokens that lead to a complete text. The end-of-sequence token does not count. The
    /// distance is 0 after the end.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded.
    pub fn distance(&mut self) -> Result<Distance> {
        budget::distance(self)
    }

    /// The smallest number of bytes that lead to a complete text, whether tokens of the vocabulary spell them or not.
    /// The distance is 0 after the end.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded.
    pub fn distance_in_bytes(&mut self) -> Result<Distance> {
        budget::distance_in_bytes(self)
    }

    /// Writes a mask for each node of a draft tree. The row of node `n` begins at `words[n * row_words]` and has the
    /// tokens that may follow the tokens from the root to the node; the root's row is the mask of the current place.
    /// Returns for each node whether its tokens are allowed in sequence. The matcher does not move.
    ///
    /// A node whose token is not allowed is not reached, nor are the nodes below it: their rows are all 0. The row of
    /// an end token that ends the text is all 0, too. If the model turns the logits of such a row into probabilities,
    /// replace the row first; nothing sampled from it is ever accepted.
    ///
    /// # Errors
    /// `matcher/draft-rows` if there are fewer than `tree.len() * row_words` words; `mask/buffer-too-short` if a row is
    /// shorter than a mask; those of [`fill_mask`](Matcher::fill_mask). After an error all rows are 0.
    pub fn fill_tree_masks(
        &mut self,
        tree: &DraftTree,
        words: &mut [u32],
        row_words: usize,
    ) -> Result<Vec<bool>> {
        draft_tree::fill_tree_masks(self, tree, words, row_words)
    }

    /// Like [`fill_tree_masks`](Matcher::fill_tree_masks), with masks [within a budget](Matcher::mask_within): `budget`
    /// tokens are still to come at this place, and one fewer after each token of the draft; the end-of-sequence token
    /// does not count. A node whose token is not in its parent's row is not reached. After the tokens from the root to
    /// a reached node are accepted, there is a mask within the rest of the budget.
    ///
    /// # Errors
    /// Those of [`fill_tree_masks`](Matcher::fill_tree_masks); `matcher/budget` if no completion within the budget is
    /// known at the current place.
    pub fn fill_tree_masks_within(
        &mut self,
        tree: &DraftTree,
        budget: usize,
        words: &mut [u32],
        row_words: usize,
    ) -> Result<Vec<bool>> {
        draft_tree::fill_tree_masks_within(self, tree, budget, words, row_words)
    }

    /// Writes `draft.len() + 1` masks for a draft: row 0 is the mask of this place, row `i` the mask after the first
    /// `i` tokens. Returns the length of the longest allowed prefix of the draft. The matcher does not move.
    ///
    /// Rows after the first token that is not allowed are all 0.
    ///
    /// # Errors
    /// Those of [`fill_tree_masks`](Matcher::fill_tree_masks).
    pub fn fill_draft_masks(
        &mut self,
        draft: &[TokenId],
        words: &mut [u32],
        row_words: usize,
    ) -> Result<usize> {
        draft_tree::fill_draft_masks(self, draft, words, row_words)
    }

    /// Like [`fill_draft_masks`](Matcher::fill_draft_masks), with masks [within a
    /// budget](Matcher::fill_tree_masks_within).
    ///
    /// # Errors
    /// Those of [`fill_tree_masks_within`](Matcher::fill_tree_masks_within).
    pub fn fill_draft_masks_within(
        &mut self,
        draft: &[TokenId],
        budget: usize,
        words: &mut [u32],
        row_words: usize,
    ) -> Result<usize> {
        draft_tree::fill_draft_masks_within(self, draft, budget, words, row_words)
    }

    /// The longest byte string (at most 65,536 bytes) that every completion begins with. It is empty if the text may
    /// end or has ended, if more than one byte or a token of a token terminal may come next, or if a part [bounded in
    /// tokens](crate::grammar::GrammarBuilder::max_tokens) is open or may follow.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded.
    pub fn forced_bytes(&mut self) -> Result<Vec<u8>> {
        forced::forced_bytes(self)
    }

    /// Tokens that spell a prefix of the [forced bytes](Matcher::forced_bytes), each the longest that fits, and tokens
    /// of token terminals if nothing else may come. If a longer token might reach beyond the forced bytes, the list
    /// ends before it, so that the model is free to choose its preferred tokenisation. The list may also end early to
    /// bound the work, and is empty if a part bounded in tokens is open or may follow. The tokens are not accepted.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded.
    pub fn forced_tokens(&mut self) -> Result<Vec<TokenId>> {
        forced::forced_tokens(self)
    }

    /// Tokens that spell a prefix of the [forced bytes](Matcher::forced_bytes), each the longest that fits, without the
    /// last of them if a longer token of the vocabulary begins with it. Unlike
    /// [`forced_tokens`](Matcher::forced_tokens), the rule depends on the vocabulary alone and not on what may follow,
    /// and tokens of token terminals are not included. XGrammar has the same rule. End tokens are neither included nor
    /// longer tokens. The tokens are not accepted.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded.
    pub fn greedy_forced_tokens(&mut self) -> Result<Vec<TokenId>> {
        forced::greedy_forced_tokens(self)
    }

    /// Whether the next mask is not known yet and is likely to allow several tokens: two different bytes may come next.
    /// Computing such a mask may take long. It can be computed while a language model runs, because no token is forced.
    /// False after the end.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded.
    pub fn mask_takes_work(&mut self) -> Result<bool> {
        forced::mask_takes_work(self)
    }

    /// The bytes that may come next, ignoring bounds of parts in tokens. Empty after the end.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded.
    pub fn allowed_bytes(&mut self) -> Result<ByteSet> {
        forced::allowed_bytes(self)
    }

    /// Explains how the grammar reads `bytes` after the bytes accepted so far, ignoring bounds of parts in tokens. The
    /// matcher does not move.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded.
    pub fn explain(&mut self, bytes: &[u8]) -> Result<Explanation> {
        explain::explain(self, bytes)
    }

    /// Explains how the grammar reads a token; see [`explain`](Matcher::explain). A token that a token terminal allows
    /// is explained as accepted. Any other token without bytes is explained as if the text ended here.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded.
    pub fn explain_token(&mut self, token: TokenId) -> Result<Explanation> {
        explain::explain_token(self, token)
    }

    /// Whether the next mask is read from a [mask file](crate::mask_file) without the engine. False if the place was
    /// not explored, if bounds of parts may matter, or if the engine is needed to exclude names that an object already
    /// has. After the end, where the mask is empty, a place counts as explored.
    pub fn is_explored(&self) -> bool {
        explored::is_explored(self)
    }

    /// Whether the text so far requires remembering what mask files do not store: first names of objects, then items of
    /// a list whose items must differ. Benches count such steps separately.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded.
    #[cfg(feature = "testing")]
    #[doc(hidden)]
    pub fn remembers(&mut self) -> Result<(bool, bool)> {
        explored::remembers(self)
    }
}
