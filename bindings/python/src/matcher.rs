//! Matchers: one sequence under a grammar.

use crate::arguments::{Bytes, DraftToken, Token, draft_ids, ids};
use crate::buffer::{self, Free};
use crate::compiler::CompiledGrammar;
use crate::errors::{self, Raise};
use crate::events;
use crate::explanation::{distance, explanation};
use crate::mask::TokenMask;
use grammata::matcher::{DraftTree, EventMatcher};
use grammata_python_border::forking::detach;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One sequence under a compiled grammar. Its methods release the interpreter's lock, except for cheap
/// queries. A call from another thread while one is running raises UsageError.
///
/// >>> import grammata
/// >>> vocabulary = grammata.Vocabulary.from_tokens(["a", "b", "ab", None], specials={"<end>": 3}, eos=3)
/// >>> matcher = grammata.Compiler(vocabulary).compile_regex("(ab)+").matcher()
/// >>> mask = bytearray(4 * vocabulary.mask_words)
/// >>> matcher.fill_mask(mask)
/// >>> bin(int.from_bytes(mask, "little"))
/// '0b101'
/// >>> matcher.accept_token(2)
/// >>> matcher.mask().ids()
/// [0, 2, 3]
/// >>> print(matcher.explain("b"))
/// rejected at byte 2: found `b`; expected "ab" (rule `root`); or the end
#[pyclass(frozen, module = "grammata")]
pub(crate) struct Matcher {
    /// Whether a call or a batch is using the matcher. Only who has set it may touch `matcher`, so a call that is
    /// refused changes nothing, and putting a matcher back never meets another call.
    is_busy: AtomicBool,
    /// `None` while a batch holds the matcher. The lock is never contended.
    matcher: Mutex<Option<EventMatcher>>,
}

impl Matcher {
    pub(crate) fn new(matcher: impl Into<EventMatcher>) -> Matcher {
        Matcher { is_busy: AtomicBool::new(false), matcher: Mutex::new(Some(matcher.into())) }
    }

    /// The place of the matcher. The caller must have set `is_busy`.
    fn slot(&self) -> MutexGuard<'_, Option<EventMatcher>> {
        // a panic of the engine leaves the matcher where it was, and tables are built again
        self.matcher.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks the matcher as used. Returns whether it was free.
    fn seize(&self) -> bool {
        !self.is_busy.swap(true, Ordering::Acquire)
    }

    /// Takes the matcher for a batch, which must put it back. Returns `None` if another call or batch has it.
    pub(crate) fn take(&self) -> Option<EventMatcher> {
        if !self.seize() {
            return None;
        }
        self.slot().take()
    }

    /// Puts back the matcher that [`take`](Matcher::take) has returned.
    pub(crate) fn put_back(&self, matcher: EventMatcher) {
        *self.slot() = Some(matcher);
        self.is_busy.store(false, Ordering::Release);
    }

    /// Runs `work`, which does not move the matcher, without the interpreter's lock.
    fn run<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut grammata::Matcher) -> grammata::Result<R> + Send,
    ) -> PyResult<R> {
        self.walk(py, |matcher| work(matcher.matcher()))
    }

    /// Runs `work`, which may move the matcher, without the interpreter's lock.
    fn walk<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut EventMatcher) -> grammata::Result<R> + Send,
    ) -> PyResult<R> {
        detach(py, || self.try_walk(work)).raise(py)
    }

    fn try_run<R>(
        &self,
        work: impl FnOnce(&mut grammata::Matcher) -> grammata::Result<R>,
    ) -> grammata::Result<R> {
        self.try_walk(|matcher| work(matcher.matcher()))
    }

    fn try_walk<R>(
        &self,
        work: impl FnOnce(&mut EventMatcher) -> grammata::Result<R>,
    ) -> grammata::Result<R> {
        if !self.seize() {
            return Err(errors::matcher_in_use());
        }
        let _free = Free(&self.is_busy);
        self.slot().as_mut().map_or_else(|| Err(errors::matcher_in_use()), work)
    }

    /// Runs a query that is too cheap to release the interpreter's lock for.
    fn ask<R>(&self, py: Python<'_>, ask: impl FnOnce(&grammata::Matcher) -> R) -> PyResult<R> {
        self.try_run(|matcher| Ok(ask(matcher))).raise(py)
    }
}

#[pymethods]
impl Matcher {
    /// The grammar, without warnings of its front end.
    #[getter]
    fn compiled(&self, py: Python<'_>) -> PyResult<CompiledGrammar> {
        self.ask(py, |matcher| CompiledGrammar::of(matcher.compiled().without_end_tokens()))
    }

    /// The tokens that end the text: the vocabulary's end-of-sequence tokens, or the `end_tokens` passed to
    /// `CompiledGrammar.matcher`.
    #[getter]
    fn end_tokens(&self, py: Python<'_>) -> PyResult<Vec<u32>> {
        self.ask(py, |matcher| matcher.compiled().end_tokens().iter().map(|token| token.get()).collect())
    }

    /// The bytes accepted so far.
    #[getter]
    fn bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.ask(py, grammata::Matcher::bytes)?))
    }

    /// The number of bytes accepted so far.
    #[getter]
    fn byte_count(&self, py: Python<'_>) -> PyResult<usize> {
        self.ask(py, grammata::Matcher::byte_count)
    }

    /// The number of steps (tokens or texts) accepted so far, which can be rolled back.
    #[getter]
    fn steps(&self, py: Python<'_>) -> PyResult<usize> {
        self.ask(py, grammata::Matcher::steps)
    }

    /// Accepts a token. Raises RejectedError if the mask does not allow it (the matcher does not move); LimitError.
    #[pyo3(signature = (token, /))]
    fn accept_token(&self, py: Python<'_>, token: Token) -> PyResult<()> {
        self.walk(py, |matcher| matcher.accept_token(token.0))
    }

    /// Accepts bytes, or the UTF-8 of a text, as one step. Raises RejectedError with what was expected; LimitError.
    #[pyo3(signature = (text, /))]
    fn accept_bytes(&self, py: Python<'_>, text: Bytes) -> PyResult<()> {
        let bytes = text.as_ref();
        self.walk(py, |matcher| matcher.accept_bytes(bytes))
    }

    /// Accepts a token if the mask allows it, and returns whether it does. A rejected token costs no more than an
    /// accepted one, and the matcher does not move. Raises LimitError.
    #[pyo3(signature = (token, /))]
    fn try_accept(&self, py: Python<'_>, token: Token) -> PyResult<bool> {
        self.walk(py, |matcher| matcher.try_accept(token.0))
    }

    /// Accepts bytes, or the UTF-8 of a text, as one step if some completion begins with them, and returns whether one
    /// does. Raises LimitError.
    #[pyo3(signature = (text, /))]
    fn try_accept_bytes(&self, py: Python<'_>, text: Bytes) -> PyResult<bool> {
        let bytes = text.as_ref();
        self.walk(py, |matcher| matcher.try_accept_bytes(bytes))
    }

    /// Accepts the longest allowed prefix of a list of tokens, such as a draft of speculative decoding, and returns its
    /// length. Raises LimitError; the matcher is then where it was before the first token.
    #[pyo3(signature = (tokens, /))]
    fn accept_tokens(&self, py: Python<'_>, tokens: Vec<Token>) -> PyResult<usize> {
        let tokens = ids(tokens);
        self.walk(py, |matcher| matcher.accept_tokens(&tokens))
    }

    /// The length of the longest prefix of the tokens that is allowed; the matcher does not move. Raises LimitError.
    #[pyo3(signature = (tokens, /))]
    fn validate_tokens(&self, py: Python<'_>, tokens: Vec<Token>) -> PyResult<usize> {
        let tokens = ids(tokens);
        self.run(py, |matcher| matcher.validate_tokens(&tokens))
    }

    /// Undoes the last `steps` steps. Raises UsageError if there are fewer.
    #[pyo3(signature = (steps=1, /))]
    fn rollback(&self, py: Python<'_>, steps: usize) -> PyResult<()> {
        self.walk(py, |matcher| matcher.rollback(steps))
    }

    /// An independent matcher at the same place. It shares the accepted prefix instead of copying it.
    fn fork(&self, py: Python<'_>) -> PyResult<Matcher> {
        self.try_walk(|matcher| Ok(Matcher::new(matcher.fork()))).raise(py)
    }

    /// The beginnings and ends of JSON values in the accepted steps that were not returned before, in the order of the
    /// text, as a list of `Event`. A rollback takes events back: those of the steps that replace the undone ones are
    /// new again. A fork has returned what its matcher had. Raises UsageError if the matcher reports no events
    /// (`CompiledGrammar.matcher(events="json")`).
    fn new_events<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let has_events = self.try_walk(|matcher| Ok(matcher.has_events())).raise(py)?;
        if !has_events {
            return Err(errors::no_events()).raise(py);
        }
        let found =
            self.try_walk(|matcher| Ok(matcher.new_events().map(events::Plain::of).collect())).raise(py)?;
        events::list(py, found)
    }

    /// Same as `fork`.
    fn __copy__(&self, py: Python<'_>) -> PyResult<Matcher> {
        self.fork(py)
    }

    /// Returns to the beginning of the text.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        self.walk(py, |matcher| {
            matcher.reset();
            Ok(())
        })
    }

    /// The mask of the tokens that may come next. It is shared, not copied. Raises LimitError.
    fn mask(&self, py: Python<'_>) -> PyResult<TokenMask> {
        self.run(py, grammata::Matcher::mask).map(TokenMask)
    }

    /// The mask of the tokens after which a complete text is known to be reachable within `budget` tokens, including
    /// this token. The end-of-sequence token does not count. Raises RejectedError if no such text is known; LimitError.
    #[pyo3(signature = (budget, /))]
    fn mask_within(&self, py: Python<'_>, budget: usize) -> PyResult<TokenMask> {
        self.run(py, |matcher| matcher.mask_within(budget)).map(TokenMask)
    }

    /// Writes the mask into memory. Token `i` is bit `i % 32` of word `i // 32`; words are in the machine's byte order.
    /// Words beyond the mask are cleared. With `row`, the memory has two dimensions and the mask is written to this
    /// row.
    ///
    /// The memory is a `MaskBuffer`, a NumPy array of 32-bit integers, a bytearray, a torch tensor on the CPU, or
    /// another buffer or DLPack object. It is not copied. Raises UsageError if it is too short, read-only, not on the
    /// host, or has other elements; LimitError. If it is too short or the mask cannot be computed, its words are then
    /// all 0.
    #[pyo3(signature = (buffer, /, *, row=None))]
    fn fill_mask(&self, buffer: &Bound<'_, PyAny>, row: Option<usize>) -> PyResult<()> {
        buffer::fill(buffer, row, |words| self.try_run(|matcher| matcher.fill_mask(words)))
    }

    /// Writes the mask within a budget as `fill_mask` does. Raises RejectedError if no complete text is known within
    /// it.
    #[pyo3(signature = (budget, buffer, /, *, row=None))]
    fn fill_mask_within(&self, budget: usize, buffer: &Bound<'_, PyAny>, row: Option<usize>) -> PyResult<()> {
        buffer::fill(buffer, row, |words| self.try_run(|matcher| matcher.fill_mask_within(budget, words)))
    }

    /// Writes a mask for each place of a draft into its own row: row `row + i` is the mask after the first `i` tokens,
    /// so there is one more row than tokens. Returns the length of the longest allowed prefix of the draft; later rows
    /// are all 0. A token outside the vocabulary, such as -1, is not allowed. The matcher does not move.
    ///
    /// With `budget`, the masks are those of `mask_within`: `budget` tokens are still to come at this place, and one
    /// fewer after each token of the draft.
    ///
    /// In a two-dimensional array the rows are its rows; in a one-dimensional array they are equal parts. Raises
    /// UsageError if there are too few rows, or they are too short; RejectedError if no complete text is known within
    /// the budget; LimitError. All rows are then 0, unless the buffer or the matcher cannot be used at all.
    #[pyo3(signature = (tokens, buffer, /, *, budget=None, row=0))]
    fn fill_draft_masks(
        &self,
        tokens: Vec<DraftToken>,
        buffer: &Bound<'_, PyAny>,
        budget: Option<usize>,
        row: usize,
    ) -> PyResult<usize> {
        let draft = draft_ids(tokens);
        buffer::fill_rows(buffer, row, draft.len() + 1, |words, length| {
            self.try_run(|matcher| match budget {
                None => matcher.fill_draft_masks(&draft, words, length),
                Some(budget) => matcher.fill_draft_masks_within(&draft, budget, words, length),
            })
        })
    }

    /// Writes a mask for each node of a tree of draft tokens into its own row. Node 0 is the root and represents the
    /// current place: its token is not read. `first_child[n]` is the first child of node `n`, `next_sibling[n]` the
    /// next child of the same parent, and -1 means none. SGLang and XGrammar call these arrays and the tokens
    /// `retrieve_next_token`, `retrieve_next_sibling` and `draft_tokens`.
    ///
    /// Returns for each node whether the tokens from the root to it are allowed in sequence; rows of the other nodes
    /// are all 0. The row of node `n` is `row + n`; buffer and budget are as for `fill_draft_masks`. The matcher does
    /// not move. Raises UsageError, also if the links do not form a tree; RejectedError, LimitError.
    #[pyo3(signature = (first_child, next_sibling, tokens, buffer, /, *, budget=None, row=0))]
    #[allow(clippy::too_many_arguments)] // three of them describe one tree
    fn fill_tree_masks(
        &self,
        py: Python<'_>,
        first_child: Vec<i64>,
        next_sibling: Vec<i64>,
        tokens: Vec<DraftToken>,
        buffer: &Bound<'_, PyAny>,
        budget: Option<usize>,
        row: usize,
    ) -> PyResult<Vec<bool>> {
        let tokens: Vec<i64> = tokens.into_iter().map(|token| token.0).collect();
        let tree = DraftTree::new(&first_child, &next_sibling, &tokens).raise(py)?;
        buffer::fill_rows(buffer, row, tree.len(), |words, length| {
            self.try_run(|matcher| match budget {
                None => matcher.fill_tree_masks(&tree, words, length),
                Some(budget) => matcher.fill_tree_masks_within(&tree, budget, words, length),
            })
        })
    }

    /// Whether a token may come next: its bit of the mask, without computing the mask. Raises LimitError.
    #[pyo3(signature = (token, /))]
    fn is_token_allowed(&self, py: Python<'_>, token: Token) -> PyResult<bool> {
        self.run(py, |matcher| matcher.is_token_allowed(token.0))
    }

    /// Whether some completion begins with these bytes; nothing is accepted. Raises LimitError.
    #[pyo3(signature = (text, /))]
    fn accepts_prefix(&self, py: Python<'_>, text: Bytes) -> PyResult<bool> {
        let bytes = text.as_ref();
        self.run(py, |matcher| matcher.accepts_prefix(bytes))
    }

    /// Whether a token is in the mask within a budget; see `mask_within`.
    #[pyo3(signature = (token, budget, /))]
    fn is_token_allowed_within(&self, py: Python<'_>, token: Token, budget: usize) -> PyResult<bool> {
        self.run(py, |matcher| matcher.is_token_allowed_within(token.0, budget))
    }

    /// Raises RejectedError with the smallest budget known to suffice, if no complete text is known within `budget`.
    #[pyo3(signature = (budget, /))]
    fn check_budget(&self, py: Python<'_>, budget: usize) -> PyResult<()> {
        self.run(py, |matcher| matcher.check_budget(budget))
    }

    /// Whether the next mask is read from the mask file that the grammar was loaded from, so that nothing is computed.
    fn is_explored(&self, py: Python<'_>) -> PyResult<bool> {
        self.ask(py, grammata::Matcher::is_explored)
    }

    /// Whether the text so far is a word of the language, so that it may end here.
    fn is_accepting(&self, py: Python<'_>) -> PyResult<bool> {
        self.run(py, |matcher| Ok(matcher.is_accepting()))
    }

    /// Whether the text has ended, or is a word that cannot be extended.
    fn is_finished(&self, py: Python<'_>) -> PyResult<bool> {
        self.run(py, |matcher| Ok(matcher.is_finished()))
    }

    /// The longest byte string that every completion begins with, at most 65,536 bytes. It is empty if the text may
    /// end, if more than one byte may come next, if a token of a token terminal may, or if a part bounded in tokens is
    /// open or may follow. Raises LimitError.
    fn forced_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.run(py, grammata::Matcher::forced_bytes)?))
    }

    /// Tokens that leave the model no choice: they spell a prefix of the forced bytes, or are the only tokens of token
    /// terminals that may come. The list ends where a longer token might reach beyond the forced bytes. The tokens are
    /// not accepted. Raises LimitError.
    fn forced_tokens(&self, py: Python<'_>) -> PyResult<Vec<u32>> {
        let tokens = self.run(py, grammata::Matcher::forced_tokens)?;
        Ok(tokens.into_iter().map(|token| token.get()).collect())
    }

    /// Tokens that spell a prefix of the forced bytes, each the longest that fits, without the last of them if a longer
    /// token of the vocabulary begins with it: the rule of XGrammar. The tokens are not accepted. Raises LimitError.
    fn greedy_forced_tokens(&self, py: Python<'_>) -> PyResult<Vec<u32>> {
        let tokens = self.run(py, grammata::Matcher::greedy_forced_tokens)?;
        Ok(tokens.into_iter().map(|token| token.get()).collect())
    }

    /// The bytes that may come next, in ascending order.
    fn allowed_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let allowed = self.run(py, grammata::Matcher::allowed_bytes)?;
        Ok(PyBytes::new(py, &allowed.iter().collect::<Vec<u8>>()))
    }

    /// Explains how the grammar reads a text after the bytes accepted so far. The matcher does not move.
    #[pyo3(signature = (text, /))]
    fn explain<'py>(&self, py: Python<'py>, text: Bytes) -> PyResult<Bound<'py, PyAny>> {
        let bytes = text.as_ref();
        explanation(py, &self.run(py, |matcher| matcher.explain(bytes))?)
    }

    /// Explains how the grammar reads a token; see `explain`.
    #[pyo3(signature = (token, /))]
    fn explain_token<'py>(&self, py: Python<'py>, token: Token) -> PyResult<Bound<'py, PyAny>> {
        explanation(py, &self.run(py, |matcher| matcher.explain_token(token.0))?)
    }

    /// The smallest number of tokens that lead to a complete text, or an upper bound, as the kind of the `Distance`
    /// says. The end-of-sequence token does not count.
    fn distance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        distance(py, self.run(py, grammata::Matcher::distance)?)
    }

    /// The smallest number of bytes that lead to a complete text, or an upper bound, as the kind of the `Distance`
    /// says. It does not matter whether tokens spell these bytes.
    fn distance_in_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        distance(py, self.run(py, grammata::Matcher::distance_in_bytes)?)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (steps, bytes) = self.ask(py, |matcher| (matcher.steps(), matcher.byte_count()))?;
        Ok(format!("<grammata.Matcher: {steps} steps, {bytes} bytes>"))
    }
}
