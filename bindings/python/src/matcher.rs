//! Matchers: one sequence under a grammar.

use crate::arguments::{Bytes, DraftToken, Token, draft_ids, ids};
use crate::buffer;
use crate::compiler::CompiledGrammar;
use crate::errors::{self, Raise};
use crate::explanation::{distance, explanation};
use crate::mask::TokenMask;
use grammata::matcher::DraftTree;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Mutex, TryLockError};

/// One sequence under a compiled grammar. Its methods give the interpreter's lock back; a second call while one runs, which only
/// another thread can make, raises UsageError.
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
/// rejected at byte 2: found `b`; expected `a` (rule `root`); or the end
#[pyclass(frozen, module = "grammata")]
pub(crate) struct Matcher {
    /// `None` while a batch has it.
    matcher: Mutex<Option<grammata::Matcher>>,
}

impl Matcher {
    pub(crate) fn new(matcher: grammata::Matcher) -> Matcher {
        Matcher { matcher: Mutex::new(Some(matcher)) }
    }

    /// Runs `work` on the matcher; `None` if another call does.
    fn locked<R>(&self, work: impl FnOnce(&mut Option<grammata::Matcher>) -> R) -> Option<R> {
        match self.matcher.try_lock() {
            Ok(mut matcher) => Some(work(&mut matcher)),
            // a panic of the engine leaves the matcher where it was, and tables are built again
            Err(TryLockError::Poisoned(poisoned)) => Some(work(&mut poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The matcher for a batch, which has to put it back.
    pub(crate) fn take(&self) -> Option<grammata::Matcher> {
        self.locked(Option::take).flatten()
    }

    pub(crate) fn put_back(&self, matcher: grammata::Matcher) {
        self.locked(|slot| *slot = Some(matcher));
    }

    /// Runs `work` without the interpreter's lock.
    fn run<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut grammata::Matcher) -> grammata::Result<R> + Send,
    ) -> PyResult<R> {
        py.detach(|| self.try_run(work)).raise(py)
    }

    fn try_run<R>(
        &self,
        work: impl FnOnce(&mut grammata::Matcher) -> grammata::Result<R>,
    ) -> grammata::Result<R> {
        let ran = self.locked(|matcher| matcher.as_mut().map(work)).flatten();
        ran.unwrap_or_else(|| Err(errors::matcher_in_use()))
    }

    /// What takes no time.
    fn ask<R>(&self, py: Python<'_>, ask: impl FnOnce(&grammata::Matcher) -> R) -> PyResult<R> {
        self.try_run(|matcher| Ok(ask(matcher))).raise(py)
    }
}

#[pymethods]
impl Matcher {
    /// The grammar, without the warnings of its front end.
    #[getter]
    fn compiled(&self, py: Python<'_>) -> PyResult<CompiledGrammar> {
        self.ask(py, |matcher| CompiledGrammar::of(matcher.compiled().without_end_tokens()))
    }

    /// The tokens that end the text: the vocabulary's end-of-sequence tokens, or those that were given.
    #[getter]
    fn end_tokens(&self, py: Python<'_>) -> PyResult<Vec<u32>> {
        self.ask(py, |matcher| matcher.compiled().end_tokens().iter().map(|token| token.get()).collect())
    }

    /// The bytes accepted so far.
    #[getter]
    fn bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.ask(py, grammata::Matcher::bytes)?))
    }

    /// How many bytes were accepted so far.
    #[getter]
    fn byte_count(&self, py: Python<'_>) -> PyResult<usize> {
        self.ask(py, grammata::Matcher::byte_count)
    }

    /// How many steps (tokens or texts) were accepted so far and can be rolled back.
    #[getter]
    fn steps(&self, py: Python<'_>) -> PyResult<usize> {
        self.ask(py, grammata::Matcher::steps)
    }

    /// Accepts a token. Raises RejectedError if the mask does not allow it (the matcher stays where it was); LimitError.
    #[pyo3(signature = (token, /))]
    fn accept_token(&self, py: Python<'_>, token: Token) -> PyResult<()> {
        self.run(py, |matcher| matcher.accept_token(token.0))
    }

    /// Accepts bytes, or the UTF-8 of a text, as one step. Raises RejectedError with what was expected; LimitError.
    #[pyo3(signature = (text, /))]
    fn accept_bytes(&self, py: Python<'_>, text: Bytes) -> PyResult<()> {
        let bytes = text.as_ref();
        self.run(py, |matcher| matcher.accept_bytes(bytes))
    }

    /// Accepts a token if the mask allows it, and says whether it does. A refusal costs no more than an acceptance, and leaves the
    /// matcher where it was. Raises LimitError.
    #[pyo3(signature = (token, /))]
    fn try_accept(&self, py: Python<'_>, token: Token) -> PyResult<bool> {
        self.run(py, |matcher| matcher.try_accept(token.0))
    }

    /// Accepts bytes, or the UTF-8 of a text, as one step if a word goes on so, and says whether one does. Raises LimitError.
    #[pyo3(signature = (text, /))]
    fn try_accept_bytes(&self, py: Python<'_>, text: Bytes) -> PyResult<bool> {
        let bytes = text.as_ref();
        self.run(py, |matcher| matcher.try_accept_bytes(bytes))
    }

    /// Accepts tokens up to the first one that is not allowed, as of a draft of speculative decoding, and says how many these are.
    /// Raises LimitError; the matcher then stays where it was before the first token.
    #[pyo3(signature = (tokens, /))]
    fn accept_tokens(&self, py: Python<'_>, tokens: Vec<Token>) -> PyResult<usize> {
        let tokens = ids(tokens);
        self.run(py, |matcher| matcher.accept_tokens(&tokens))
    }

    /// How many of some tokens may come one after the other; the matcher stays where it is. Raises LimitError.
    #[pyo3(signature = (tokens, /))]
    fn validate_tokens(&self, py: Python<'_>, tokens: Vec<Token>) -> PyResult<usize> {
        let tokens = ids(tokens);
        self.run(py, |matcher| matcher.validate_tokens(&tokens))
    }

    /// Takes back the last steps. Raises UsageError if there were fewer.
    #[pyo3(signature = (steps=1, /))]
    fn rollback(&self, py: Python<'_>, steps: usize) -> PyResult<()> {
        self.run(py, |matcher| matcher.rollback(steps))
    }

    /// A matcher of its own at the same place. What was accepted so far is shared, not copied.
    fn fork(&self, py: Python<'_>) -> PyResult<Matcher> {
        self.ask(py, |matcher| Matcher::new(matcher.fork()))
    }

    /// As `fork`.
    fn __copy__(&self, py: Python<'_>) -> PyResult<Matcher> {
        self.fork(py)
    }

    /// Back to the beginning.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        self.run(py, |matcher| {
            matcher.reset();
            Ok(())
        })
    }

    /// The mask of the tokens that may come next, shared, not copied. Raises LimitError.
    fn mask(&self, py: Python<'_>) -> PyResult<TokenMask> {
        self.run(py, grammata::Matcher::mask).map(TokenMask)
    }

    /// The tokens after which a complete text is known within `budget` tokens, this one among them. The end-of-sequence token is not
    /// counted. Raises RejectedError if none is known; LimitError.
    #[pyo3(signature = (budget, /))]
    fn mask_within(&self, py: Python<'_>, budget: usize) -> PyResult<TokenMask> {
        self.run(py, |matcher| matcher.mask_within(budget)).map(TokenMask)
    }

    /// Writes the mask into memory: bit `i % 32` of word `i // 32` for token `i`, words in the machine's byte order. Words past the
    /// mask are cleared. With `row`, the memory has two dimensions and the mask is written to this row.
    ///
    /// The memory is a `MaskBuffer`, a NumPy array of 32-bit integers, a bytearray, a torch tensor on the CPU, or another buffer or
    /// DLPack object. It is not copied. Raises UsageError if it is too short, read-only, of other elements or elsewhere; LimitError. What
    /// was to be written is then all 0.
    #[pyo3(signature = (buffer, /, *, row=None))]
    fn fill_mask(&self, buffer: &Bound<'_, PyAny>, row: Option<usize>) -> PyResult<()> {
        buffer::fill(buffer, row, |words| self.try_run(|matcher| matcher.fill_mask(words)))
    }

    /// Writes the mask within a budget as `fill_mask` does. Raises RejectedError if no complete text is known within it.
    #[pyo3(signature = (budget, buffer, /, *, row=None))]
    fn fill_mask_within(&self, budget: usize, buffer: &Bound<'_, PyAny>, row: Option<usize>) -> PyResult<()> {
        buffer::fill(buffer, row, |words| self.try_run(|matcher| matcher.fill_mask_within(budget, words)))
    }

    /// Writes a mask for each place of a draft into a row of its own: row `row + i` is the mask after the first `i` tokens, so that
    /// there is a row more than there are tokens. Returns how many tokens are allowed one after the other; the rows behind them are all
    /// 0. A token outside of the vocabulary, such as -1, is one that is not allowed. The matcher stays where it is.
    ///
    /// With `budget`, the masks are those of `mask_within`: `budget` tokens are still to come at this place, and one fewer after each
    /// token of the draft.
    ///
    /// Of an array of two dimensions, a row is a row; of one dimension, an equal part. Raises UsageError if there are too few rows,
    /// or they are too short; RejectedError if no complete text is known within the budget; LimitError. All rows are then 0.
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

    /// Writes a mask for each node of a tree of draft tokens into a row of its own. Node 0 is the root, which stands for this place:
    /// its token is not read. `first_child[n]` is the first child of node `n`, `next_sibling[n]` the next child of the same parent, and
    /// -1 stands for none: the arrays `retrieve_next_token`, `retrieve_next_sibling` and `draft_tokens` of SGLang and XGrammar.
    ///
    /// Returns for each node whether the tokens from the root to it are allowed one after the other; rows of the others are all 0. The
    /// row of node `n` is `row + n`; buffer and budget are as of `fill_draft_masks`. The matcher stays where it is. Raises UsageError,
    /// also if the links make no tree; RejectedError, LimitError.
    #[pyo3(signature = (first_child, next_sibling, tokens, buffer, /, *, budget=None, row=0))]
    #[allow(clippy::too_many_arguments)] // three of them are one tree
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

    /// Whether a token may come next: what the mask says of it, without a mask. Raises LimitError.
    #[pyo3(signature = (token, /))]
    fn may_come(&self, py: Python<'_>, token: Token) -> PyResult<bool> {
        self.run(py, |matcher| matcher.may_come(token.0))
    }

    /// Whether a word goes on with these bytes; nothing is accepted. Raises LimitError.
    #[pyo3(signature = (text, /))]
    fn may_continue(&self, py: Python<'_>, text: Bytes) -> PyResult<bool> {
        let bytes = text.as_ref();
        self.run(py, |matcher| matcher.may_continue(bytes))
    }

    /// Whether a token is in the mask within a budget.
    #[pyo3(signature = (token, budget, /))]
    fn may_come_within(&self, py: Python<'_>, token: Token, budget: usize) -> PyResult<bool> {
        self.run(py, |matcher| matcher.may_come_within(token.0, budget))
    }

    /// Raises RejectedError with the least budget that is known to do, if no complete text is known within this one.
    #[pyo3(signature = (budget, /))]
    fn check_budget(&self, py: Python<'_>, budget: usize) -> PyResult<()> {
        self.run(py, |matcher| matcher.check_budget(budget))
    }

    /// Whether the next mask is read from the mask file that the grammar was loaded from, and nothing is computed.
    fn is_explored(&self, py: Python<'_>) -> PyResult<bool> {
        self.ask(py, grammata::Matcher::is_explored)
    }

    /// Whether the text so far is a word of the language, so that it may end here.
    fn is_accepting(&self, py: Python<'_>) -> PyResult<bool> {
        self.run(py, |matcher| Ok(matcher.is_accepting()))
    }

    /// Whether the text has ended, or is a word that nothing can be added to.
    fn is_finished(&self, py: Python<'_>) -> PyResult<bool> {
        self.run(py, |matcher| Ok(matcher.is_finished()))
    }

    /// The longest byte string that every completion begins with, 65,536 bytes at most.
    fn forced_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.run(py, grammata::Matcher::forced_bytes)?))
    }

    /// Tokens that spell the beginning of the forced bytes, as far as they leave a model no choice. They are not accepted.
    fn forced_tokens(&self, py: Python<'_>) -> PyResult<Vec<u32>> {
        let tokens = self.run(py, grammata::Matcher::forced_tokens)?;
        Ok(tokens.into_iter().map(|token| token.get()).collect())
    }

    /// The bytes that may come next, rising.
    fn allowed_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let allowed = self.run(py, grammata::Matcher::allowed_bytes)?;
        Ok(PyBytes::new(py, &allowed.iter().collect::<Vec<u8>>()))
    }

    /// How the grammar takes a text after what was accepted so far. The matcher does not move.
    #[pyo3(signature = (text, /))]
    fn explain<'py>(&self, py: Python<'py>, text: Bytes) -> PyResult<Bound<'py, PyAny>> {
        let bytes = text.as_ref();
        explanation(py, &self.run(py, |matcher| matcher.explain(bytes))?)
    }

    /// How the grammar takes a token; see `explain`.
    #[pyo3(signature = (token, /))]
    fn explain_token<'py>(&self, py: Python<'py>, token: Token) -> PyResult<Bound<'py, PyAny>> {
        explanation(py, &self.run(py, |matcher| matcher.explain_token(token.0))?)
    }

    /// How few tokens lead to a complete text, the end-of-sequence token not counted.
    fn distance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        distance(py, self.run(py, grammata::Matcher::distance)?)
    }

    /// How few bytes lead to a complete text, whether tokens spell them or not.
    fn distance_in_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        distance(py, self.run(py, grammata::Matcher::distance_in_bytes)?)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (steps, bytes) = self.ask(py, |matcher| (matcher.steps(), matcher.byte_count()))?;
        Ok(format!("<grammata.Matcher: {steps} steps, {bytes} bytes>"))
    }
}
