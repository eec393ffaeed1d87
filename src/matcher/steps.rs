//! Steps and masks of a matcher: known results are read without a lock, others are computed under the engine's lock.

use super::matcher::{Locked, Matcher};
use super::open_parts::Parts;
use super::path::{Destination, Path};
use super::promises::Promises;
use super::{errors, explored, keys};
use crate::automaton::Facts;
use crate::error::{Error, Result};
use crate::mask::{CompiledGrammar, NameEnds, TokenMask};
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
    /// Writes the mask of the tokens that may come next. Token `i` is bit `i % 32` of word `i / 32`. Words beyond the
    /// vocabulary's are cleared. After the end of the text the mask is empty.
    ///
    /// # Errors
    /// `mask/buffer-too-short` if `words` has fewer than `width().div_ceil(32)` words, for the width of the vocabulary;
    /// `limit/exceeded` if a limit such as `cache_bytes`, `lockstep_search` or `mask_work` is exceeded. After an error
    /// all words are 0, so that no token of an earlier mask stays allowed.
    pub fn fill_mask(&mut self, words: &mut [u32]) -> Result<()> {
        let filled = self.with_mask(|mask| mask.write_to(words)).flatten();
        if filled.is_err() {
            words.fill(0);
        }
        filled
    }

    /// Calls `look` with the mask of the tokens that may come next. A known mask is borrowed: this avoids copying it,
    /// and changing its reference count, for which threads that use one grammar would contend.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `cache_bytes`, `lockstep_search` or `mask_work` is exceeded. `look` is then
    /// not called.
    pub fn with_mask<R>(&mut self, mut look: impl FnMut(&TokenMask) -> R) -> Result<R> {
        let free = self.path.key_state().is_outside() && !keys::holds_two_names(&self.compiled);
        if !self.path.has_ended() && free && !self.is_bounded() && !self.exchanges_ends() {
            if let Some(mask) = explored::mask(&self.compiled, &self.path) {
                return Ok(look(mask));
            }
            let snapshot = self.compiled.snapshot();
            if let Some(mask) = snapshot.mask(self.path.at()) {
                return Ok(look(mask));
            }
        }
        Ok(look(&*self.mask()?))
    }

    /// The mask of the tokens that may come next; empty after the end of the text. The mask is shared with other
    /// matchers, not copied, unless names read so far, given end tokens or bounds of parts change it.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `cache_bytes`, `lockstep_search` or `mask_work` is exceeded.
    pub fn mask(&mut self) -> Result<Arc<TokenMask>> {
        if self.path.has_ended() {
            let width = self.compiled.vocabulary().width();
            return Ok(Arc::new(TokenMask::sparse(Vec::new(), width)));
        }
        if self.is_bounded()
            && let Some(mask) = self.bounded_mask()?
        {
            let mask = self.without_repeated_keys(mask)?;
            return self.with_given_ends(mask);
        }
        let known = explored::mask(&self.compiled, &self.path).map(Arc::clone);
        let known = known.or_else(|| self.compiled.snapshot().mask(self.path.at()).map(Arc::clone));
        let mask = match known {
            Some(mask) => mask,
            None => self.with_lock(|Locked { compiled, cache, .. }, configuration| {
                cache.mask(compiled.automaton(), compiled.index(), configuration)
            })?,
        };
        let mask = self.without_repeated_keys(mask)?;
        self.with_given_ends(mask)
    }

    /// Whether the mask of the configuration is stored, ignoring names read so far and given end tokens. False if
    /// bounds of parts may matter.
    pub(super) fn knows_mask(&self) -> bool {
        !self.is_bounded()
            && (explored::mask(&self.compiled, &self.path).is_some()
                || self.compiled.snapshot().mask(self.path.at()).is_some())
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
        match self.try_accept(token)? {
            true => Ok(()),
            false => Err(self.refusal(token)?),
        }
    }

    /// Whether token edges leave the configuration: a token terminal may come next. False after the end.
    pub(super) fn has_token_edges(&mut self) -> Result<bool> {
        Ok(!self.path.has_ended() && self.facts()?.has_tokens)
    }

    /// Accepts a token if token edges take it, ignoring bounds of parts. Returns whether token edges took it.
    pub(super) fn takes_by_id(&mut self, token: TokenId) -> Result<bool> {
        if !self.has_token_edges()? {
            return Ok(false);
        }
        let mut ahead = self.fork();
        let took = ahead.with_lock(|locked, at| locked.accept_token(at, token))? && ahead.path.came_by_id();
        if took {
            *self = ahead;
        }
        Ok(took)
    }

    /// Accepts bytes, as one step. The bytes may end in the middle of a character.
    ///
    /// # Errors
    /// `matcher/rejected`, with the place and what was expected there, if no completion begins with the bytes;
    /// `matcher/part-bound` if a part could not end within its bound; `matcher/ended` after the end; `limit/exceeded`
    /// if a limit such as `mask_work` or `cache_bytes` is exceeded. After an error the matcher has not moved.
    pub fn accept_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        match self.try_accept_bytes(bytes)? {
            true => Ok(()),
            false => Err(self.refusal_of_text(bytes)?),
        }
    }

    /// Accepts bytes as one step if they are allowed, without updating the completions carried along. Returns whether
    /// they were accepted.
    pub(super) fn step_over(&mut self, bytes: &[u8]) -> Result<bool> {
        match self.is_bounded() && !self.path.has_ended() {
            true => self.step_bounded(Some(bytes), None, |matcher| matcher.step_over_unbounded(bytes)),
            false => self.step_over_unbounded(bytes),
        }
    }

    /// Like `step_over`, ignoring bounds of parts.
    pub(super) fn step_over_unbounded(&mut self, bytes: &[u8]) -> Result<bool> {
        Ok(!self.path.has_ended()
            && (accept_known(&self.compiled, &mut self.path, bytes)
                || self.with_lock(|locked, at| locked.accept(at, bytes))?))
    }

    /// The error of rejected bytes: `matcher/part-bound` if the bound of a part is the reason, otherwise
    /// `matcher/ended` after the end of the text, otherwise `matcher/rejected`.
    fn refusal_of_text(&mut self, bytes: &[u8]) -> Result<Error> {
        if let Some(error) = self.refusal_of_part(|matcher| matcher.try_accept_bytes(bytes))? {
            return Ok(error);
        }
        self.refusal_by_grammar(bytes)
    }

    /// Explains why bytes are rejected: after the end of the text, or by the grammar.
    fn refusal_by_grammar(&mut self, bytes: &[u8]) -> Result<Error> {
        match self.path.has_ended() {
            true => Ok(errors::after_end(self.byte_count())),
            false => Ok(errors::rejected(&self.explain(bytes)?)),
        }
    }

    /// The error of a token that [`try_accept`](Matcher::try_accept) has rejected at this place.
    fn refusal(&mut self, token: TokenId) -> Result<Error> {
        if let Some(error) = self.refusal_of_part(|matcher| matcher.try_accept(token))? {
            return Ok(error);
        }
        let vocabulary = Arc::clone(self.compiled.vocabulary());
        if self.compiled.is_end(token) {
            return self.refusal_by_grammar(b"");
        }
        if self.compiled.automaton().has_terminals() && self.has_token_edges()? {
            return Ok(errors::rejected_token(&vocabulary, token, &self.explain_token(token)?));
        }
        match vocabulary.bytes(token) {
            Some(bytes) => {
                if let Some(error) = self.refusal_of_part(|matcher| matcher.try_accept_bytes(bytes))? {
                    return Ok(error);
                }
                match self.path.has_ended() {
                    true => Ok(errors::after_end(self.byte_count())),
                    false => Ok(errors::rejected_token(&vocabulary, token, &self.explain(bytes)?)),
                }
            }
            None => Ok(errors::not_text(&vocabulary, token, self.byte_count())),
        }
    }

    /// Undoes the last `steps` steps. An end-of-sequence token counts as a step.
    ///
    /// # Errors
    /// `matcher/rollback-too-far` if fewer steps were accepted; the matcher has then not moved.
    pub fn rollback(&mut self, steps: usize) -> Result<()> {
        if steps > self.steps() {
            return Err(errors::rollback_too_far(steps, self.steps()));
        }
        self.path.pop(steps);
        self.promises.rolled_back(self.path.step_count());
        self.parts.rolled_back(self.path.step_count());
        Ok(())
    }

    /// An independent matcher with the same accepted steps. The cost does not grow with the text: earlier steps are
    /// shared, and only the most recent ones are copied.
    pub fn fork(&self) -> Matcher {
        self.clone()
    }

    /// Forgets all steps and returns to the beginning of the text.
    pub fn reset(&mut self) {
        self.path = self.path.emptied();
        self.promises = Promises::default();
        self.parts = Parts::default();
    }

    /// Whether the text so far is a word of the language, so that it may end here.
    pub fn is_accepting(&self) -> bool {
        self.bounded_end().map_or_else(|| self.path.at().is_accepting(), |(may_end, _)| may_end)
    }

    /// Whether the text has ended, or is a word that cannot be extended.
    pub fn is_finished(&self) -> bool {
        self.path.has_ended()
            || self.bounded_end().map_or_else(|| self.path.at().is_final(), |(_, is_last)| is_last)
    }

    /// The facts about the configuration after the last step, from the mask file, the published tables or the engine.
    pub(super) fn facts(&mut self) -> Result<Facts> {
        if let Some(facts) = explored::facts(&self.compiled, &self.path) {
            return Ok(facts);
        }
        let snapshot = self.compiled.snapshot();
        match snapshot.facts(self.path.at()) {
            Some(facts) => Ok(facts),
            None => self.with_lock(|locked, at| Ok(locked.cache.tables.transitions().facts(at))),
        }
    }
}

/// Follows bytes from the end of a path without the engine's lock, ignoring names read so far. Returns `None` if the
/// result is not known. Otherwise returns the destination, which is `None` if the bytes are not allowed, and the
/// indices of the bytes that end names.
pub(super) fn known_run(
    compiled: &CompiledGrammar,
    path: &Path,
    bytes: &[u8],
) -> Option<(Option<Destination>, NameEnds)> {
    if let Some(run) = explored::run(compiled, path, bytes) {
        return Some(run);
    }
    let snapshot = compiled.snapshot();
    let (end, names) = snapshot.run(compiled.automaton(), path.at(), bytes)?;
    let reached = (!end.is_dead()).then(|| Destination { at: end, base: snapshot.base_state(end) });
    Some((reached, names))
}

/// Accepts bytes as one step if their destination is known without the engine's lock. If the result is false, the
/// engine may still accept the bytes.
pub(super) fn accept_known(compiled: &CompiledGrammar, path: &mut Path, bytes: &[u8]) -> bool {
    if path.has_ended() {
        return false;
    }
    let Some((Some(end), names)) = known_run(compiled, path, bytes) else { return false };
    let key_state = path.key_state();
    let key_state = match key_state.is_outside() && names.is_empty() {
        true => Some(key_state),
        false => keys::place_after(compiled, path, bytes, &names),
    };
    if let Some(key_state) = key_state {
        path.push(bytes, end, key_state);
    }
    key_state.is_some()
}
