//! The steps of a matcher and its masks: what is known is read without a lock, and what is not is found out.

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
    /// A matcher at the beginning of a text.
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
    /// Writes the mask of the tokens that may come next: bit `i % 32` of word `i / 32` for token `i`. Words
    /// past the vocabulary's are cleared. After an end-of-sequence token nothing may come.
    ///
    /// # Errors
    /// `mask/buffer-too-short`; limits `cache_bytes`, `lockstep_search` and `mask_work`. Then all words are 0, so that no
    /// token of an earlier mask stays allowed.
    pub fn fill_mask(&mut self, words: &mut [u32]) -> Result<()> {
        let filled = self.with_mask(|mask| mask.write_to(words)).flatten();
        if filled.is_err() {
            words.fill(0);
        }
        filled
    }

    /// Looks at the mask of the tokens that may come next where it lies. That neither copies it nor counts a reference,
    /// over which threads on one grammar would wait for each other.
    ///
    /// # Errors
    /// Limits `cache_bytes`, `lockstep_search` and `mask_work`.
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

    /// The mask of the tokens that may come next, shared, not copied.
    ///
    /// # Errors
    /// Limits `cache_bytes`, `lockstep_search` and `mask_work`.
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

    /// Accepts a token: ordinary ones by their bytes, those of token terminals by their ids, both ways at once where both lead
    /// on, and end-of-sequence ones where the text is a word. A token terminal that has an end-of-sequence token takes it; the
    /// sequence has then ended if the text is a word.
    ///
    /// # Errors
    /// `matcher/rejected` with what was expected, if the mask does not allow it (the matcher stays where it
    /// was); limits.
    pub fn accept_token(&mut self, token: TokenId) -> Result<()> {
        match self.try_accept(token)? {
            true => Ok(()),
            false => Err(self.refusal(token)?),
        }
    }

    /// Whether token edges lead on from here.
    pub(super) fn has_token_edges(&mut self) -> Result<bool> {
        Ok(!self.path.has_ended() && self.facts()?.has_tokens)
    }

    /// Whether token edges take a token; if so, it is accepted.
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

    /// Accepts bytes, as one step.
    ///
    /// # Errors
    /// `matcher/rejected` with the place and what was expected there, if no word goes on so (the matcher
    /// stays where it was); limits.
    pub fn accept_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        match self.try_accept_bytes(bytes)? {
            true => Ok(()),
            false => Err(self.refusal_of_text(bytes)?),
        }
    }

    /// Whether bytes were accepted as a step.
    pub(super) fn step_over(&mut self, bytes: &[u8]) -> Result<bool> {
        match self.is_bounded() && !self.path.has_ended() {
            true => self.step_bounded(Some(bytes), None, |matcher| matcher.step_over_unbounded(bytes)),
            false => self.step_over_unbounded(bytes),
        }
    }

    /// The same where no bounds of parts are regarded.
    pub(super) fn step_over_unbounded(&mut self, bytes: &[u8]) -> Result<bool> {
        Ok(!self.path.has_ended()
            && (accept_known(&self.compiled, &mut self.path, bytes)
                || self.with_lock(|locked, at| locked.accept(at, bytes))?))
    }

    /// The error of bytes that were not accepted.
    fn refusal_of_text(&mut self, bytes: &[u8]) -> Result<Error> {
        if let Some(error) = self.refusal_of_part(|matcher| matcher.try_accept_bytes(bytes))? {
            return Ok(error);
        }
        match self.path.has_ended() {
            true => Ok(errors::after_end(self.byte_count())),
            false => Ok(errors::rejected(&self.explain(bytes)?)),
        }
    }

    /// The error of a token that was not accepted.
    fn refusal(&mut self, token: TokenId) -> Result<Error> {
        if let Some(error) = self.refusal_of_part(|matcher| matcher.try_accept(token))? {
            return Ok(error);
        }
        let vocabulary = Arc::clone(self.compiled.vocabulary());
        if self.compiled.is_end(token) {
            return self.refusal_of_text(b"");
        }
        if self.compiled.automaton().has_terminals() && self.has_token_edges()? {
            return Ok(errors::rejected_token(&vocabulary, token, &self.explain_token(token)?));
        }
        match vocabulary.bytes(token) {
            Some(bytes) => self.refusal_of_text(bytes),
            None => Ok(errors::not_text(&vocabulary, token, self.byte_count())),
        }
    }

    /// Takes back the last `steps` steps.
    ///
    /// # Errors
    /// `matcher/rollback-too-far` if there were fewer.
    pub fn rollback(&mut self, steps: usize) -> Result<()> {
        if steps > self.steps() {
            return Err(errors::rollback_too_far(steps, self.steps()));
        }
        self.path.pop(steps);
        self.promises.rolled_back(self.path.step_count());
        self.parts.rolled_back(self.path.step_count());
        Ok(())
    }

    /// A matcher of its own at the same place. What was accepted so far is shared, not copied.
    pub fn fork(&self) -> Matcher {
        self.clone()
    }

    /// Back to the beginning.
    pub fn reset(&mut self) {
        self.path = self.path.emptied();
        self.promises = Promises::default();
        self.parts = Parts::default();
    }

    /// Whether the text so far is a word of the language, so that it may end here.
    pub fn is_accepting(&self) -> bool {
        self.bounded_end().map_or_else(|| self.path.at().is_accepting(), |(may_end, _)| may_end)
    }

    /// Whether the text has ended, or is a word that nothing can be added to.
    pub fn is_finished(&self) -> bool {
        self.path.has_ended()
            || self.bounded_end().map_or_else(|| self.path.at().is_final(), |(_, is_last)| is_last)
    }

    /// What is true of where the matcher is.
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

/// Where bytes lead, nowhere included, if it is known; and the places of the bytes with which names end.
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

/// Accepts bytes if it is known where they lead, in which case nothing but reading is shared with other threads. Where they
/// are not accepted, they may still be.
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
