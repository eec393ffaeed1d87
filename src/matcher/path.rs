//! The accepted steps of a matcher: a persistent list.
//!
//! The steps are stored in chunks, each of which refers to the previous one. Full chunks are immutable and shared by
//! forks, so a fork copies at most one chunk, however long the text is.

use crate::automaton::keys::tracker::{KeyState, KeyTracker};
use crate::error::Result;
use crate::mask::{BaseState, CompiledGrammar, Located, MaskCache};
use crate::mask_file::errors::disagrees;
use crate::vocabulary::TokenId;
use crate::work::Budget;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A chunk with at least this many steps is full.
const STEPS: usize = 64;

/// A chunk with at least this many bytes is full. A single step may have more.
const BYTES: usize = 1 << 12;

/// The accepted text and the configurations it led to.
#[derive(Clone, Debug)]
pub(super) struct Path {
    /// The configuration and the place in the mask file before the first step.
    start: Destination,
    /// The last chunk. It is empty before the first step and directly after a full chunk, and may be empty after a
    /// rollback.
    last: Chunk,
    /// The sets of names that the key states of the steps refer to. Forks share them. Names are only added, until a
    /// rebuild replaces all sets.
    names: Arc<Mutex<KeyTracker>>,
}

/// An accepted token or byte string.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// Number of bytes of the path up to and including this step.
    end: usize,
    /// The configuration after the step, if the engine computed it.
    at: Located,
    /// The place in a mask file after the step. It stays valid when tables are dropped.
    base: BaseState,
    /// The state of the key tracker after the step: which names open objects already have.
    key_state: KeyState,
    way: Way,
    /// Whether the text ends with this step.
    is_end: bool,
}

/// The destination of a step: the configuration, which is unknown if the engine did not compute it, and the place in
/// the mask file, or [`BaseState::NONE`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Destination {
    pub(super) at: Located,
    pub(super) base: BaseState,
}

/// How a step was read, which is needed to repeat it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// By its bytes. Also used for an end-of-sequence token that token edges did not take.
    Bytes,
    /// Along token edges, not as text.
    Token(TokenId),
    /// By its bytes and along token edges.
    Both(TokenId),
}

impl Way {
    /// Whether the bytes were read as text.
    pub(super) fn is_text(self) -> bool {
        !matches!(self, Way::Token(_))
    }

    /// The token, if token edges took it.
    pub(super) fn token(self) -> Option<TokenId> {
        match self {
            Way::Bytes => None,
            Way::Token(token) | Way::Both(token) => Some(token),
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Chunk {
    before: Option<Arc<Chunk>>,
    /// Number of steps in all chunks before this one.
    steps_before: usize,
    /// Number of bytes in all chunks before this one.
    bytes_before: usize,
    steps: Vec<Step>,
    bytes: Vec<u8>,
}

/// Chunks are dropped in a loop: recursion could overflow the stack.
impl Drop for Chunk {
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(mut chunk) = next.and_then(Arc::into_inner) {
            next = chunk.before.take();
        }
    }
}

impl Chunk {
    fn after(chunk: Chunk) -> Chunk {
        let (steps, bytes) = (chunk.steps_before + chunk.steps.len(), chunk.bytes_before + chunk.bytes.len());
        Chunk {
            steps_before: steps,
            bytes_before: bytes,
            before: Some(Arc::new(chunk)),
            steps: Vec::with_capacity(STEPS),
            bytes: Vec::new(),
        }
    }

    fn is_full(&self) -> bool {
        self.steps.len() >= STEPS || self.bytes.len() >= BYTES
    }

    /// The steps of the chunk, each with its bytes.
    fn iter(&self) -> impl Iterator<Item = (&Step, &[u8])> {
        let starts = std::iter::once(self.bytes_before).chain(self.steps.iter().map(|step| step.end));
        let bytes =
            move |start: usize, end: usize| &self.bytes[start - self.bytes_before..end - self.bytes_before];
        self.steps.iter().zip(starts).map(move |(step, start)| (step, bytes(start, step.end)))
    }
}

impl Path {
    pub(super) fn new(start: Destination) -> Path {
        Path { start, last: Chunk::default(), names: Arc::default() }
    }

    /// An empty path from the same start, with new sets of names.
    pub(super) fn emptied(&self) -> Path {
        Path::new(self.start)
    }

    fn last_step(&self) -> Option<&Step> {
        self.last.steps.last().or_else(|| self.last.before.as_ref()?.steps.last())
    }

    /// Appends a step read by its bytes.
    pub(super) fn push(&mut self, bytes: &[u8], at: Destination, key_state: KeyState) {
        self.last.bytes.extend_from_slice(bytes);
        self.push_step(at, key_state, Way::Bytes, false);
    }

    /// Appends a token that token edges have taken, with its bytes. `is_end` says that the text ends with it.
    pub(super) fn push_token(
        &mut self,
        bytes: &[u8],
        at: Destination,
        key_state: KeyState,
        way: Way,
        is_end: bool,
    ) {
        self.last.bytes.extend_from_slice(bytes);
        self.push_step(at, key_state, way, is_end);
    }

    /// Appends an end-of-sequence token. The configuration, the place in the mask file and the key state do not change.
    pub(super) fn push_end(&mut self) {
        let at = Destination { at: self.at(), base: self.base() };
        self.push_step(at, self.key_state(), Way::Bytes, true);
    }

    fn push_step(
        &mut self,
        Destination { at, base }: Destination,
        key_state: KeyState,
        way: Way,
        is_end: bool,
    ) {
        let end = self.byte_count();
        self.last.steps.push(Step { end, at, base, key_state, way, is_end });
        if self.last.is_full() {
            self.last = Chunk::after(std::mem::take(&mut self.last));
        }
    }

    /// Removes the last `count` steps, or all if there are fewer.
    pub(super) fn pop(&mut self, mut count: usize) {
        while count > 0 {
            if self.last.steps.is_empty() {
                let Some(before) = self.last.before.take() else { return };
                self.last = Arc::unwrap_or_clone(before);
            }
            let popped = count.min(self.last.steps.len());
            self.last.steps.truncate(self.last.steps.len() - popped);
            let end = self.last.steps.last().map_or(self.last.bytes_before, |step| step.end);
            self.last.bytes.truncate(end - self.last.bytes_before);
            count -= popped;
        }
    }

    pub(super) fn step_count(&self) -> usize {
        self.last.steps_before + self.last.steps.len()
    }

    pub(super) fn byte_count(&self) -> usize {
        self.last.bytes_before + self.last.bytes.len()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.last_step().is_some_and(|step| step.is_end)
    }

    /// Whether token edges took the last step. False if there is no step.
    pub(super) fn came_by_id(&self) -> bool {
        self.last_step().is_some_and(|step| step.way.token().is_some())
    }

    /// The state of the key tracker after the last step: which names open objects already have.
    #[inline]
    pub(super) fn key_state(&self) -> KeyState {
        self.last_step().map_or(KeyState::OUTSIDE, |step| step.key_state)
    }

    /// The place in the mask file after the last step.
    #[inline]
    pub(super) fn base(&self) -> BaseState {
        self.last_step().map_or(self.start.base, |step| step.base)
    }

    /// The configuration after the last step: an id of any generation of the tables, or unknown.
    #[inline]
    pub(super) fn at(&self) -> Located {
        self.last_step().map_or(self.start.at, |step| step.at)
    }

    /// The configuration after the last step, in the engine's tables. If it is not there, all steps after the last one
    /// with a known configuration are repeated along their bytes and token edges.
    pub(super) fn find(&mut self, compiled: &CompiledGrammar, cache: &mut MaskCache) -> Result<Located> {
        match self.at() {
            at if cache.has(at) => Ok(at),
            _ => self.find_again(compiled, cache),
        }
    }

    #[cold]
    fn find_again(&mut self, compiled: &CompiledGrammar, cache: &mut MaskCache) -> Result<Located> {
        let unknown = self.unknown_steps(cache);
        let work = Budget::of_steps(compiled.automaton().limits(), unknown);
        let work = std::mem::replace(&mut cache.tables.work, work);
        let found = self.made_again(compiled, cache, unknown);
        cache.tables.work = work;
        let (path, at) = found?;
        *self = path;
        Ok(at)
    }

    /// The number of steps at the end of the path whose configurations are not in the engine's tables.
    fn unknown_steps(&self, cache: &MaskCache) -> usize {
        let backwards = std::iter::successors(Some(&self.last), |chunk| chunk.before.as_deref());
        let steps = backwards.flat_map(|chunk| chunk.steps.iter().rev());
        steps.take_while(|step| !cache.has(step.at)).count()
    }

    fn made_again(
        &self,
        compiled: &CompiledGrammar,
        cache: &mut MaskCache,
        unknown: usize,
    ) -> Result<(Path, Located)> {
        let automaton = compiled.automaton();
        let start = cache.start(automaton)?;
        let known = self.step_count() - unknown;
        let mut path = Path { start: Destination { at: start, ..self.start }, ..self.clone() };
        path.pop(unknown);
        let mut at = path.at();
        let chunks = self.chunks().into_iter().filter(|chunk| chunk.steps_before + chunk.steps.len() > known);
        for chunk in chunks {
            for (step, bytes) in chunk.iter().skip(known.saturating_sub(chunk.steps_before)) {
                let mut by_bytes = None;
                if step.way.is_text() {
                    by_bytes = Some(bytes.iter().try_fold(at, |at, &byte| cache.step(automaton, at, byte))?);
                }
                at = along(step.way, at, by_bytes, |at, token| {
                    cache.step_token(automaton, at, by_bytes, token)
                })?;
                if at.is_dead() {
                    return Err(disagrees("it allows a text that is not a prefix of a word"));
                }
                path.last.bytes.extend_from_slice(bytes);
                path.push_step(Destination { at, base: step.base }, step.key_state, step.way, step.is_end);
            }
        }
        Ok((path, at))
    }

    /// The same text with other configurations and key states, as returned by `rewrite` for the key state, bytes and
    /// way of each step in turn.
    pub(super) fn rewritten(
        &self,
        start: Located,
        mut rewrite: impl FnMut(KeyState, &[u8], Way) -> Result<(Located, KeyState)>,
    ) -> Result<Path> {
        let start = Destination { at: start, ..self.start };
        let mut path = Path { names: Arc::clone(&self.names), ..Path::new(start) };
        for chunk in self.chunks() {
            for (step, bytes) in chunk.iter() {
                let (at, key_state) = rewrite(step.key_state, bytes, step.way)?;
                path.last.bytes.extend_from_slice(bytes);
                path.push_step(Destination { at, base: step.base }, key_state, step.way, step.is_end);
            }
        }
        Ok(path)
    }

    /// The bytes of each step after the first `known`, and how the step was read.
    pub(super) fn steps_after(&self, known: usize) -> Vec<(Vec<u8>, Way)> {
        let chunks = self.chunks().into_iter().filter(|chunk| chunk.steps_before + chunk.steps.len() > known);
        let steps = chunks.flat_map(|chunk| chunk.iter().skip(known.saturating_sub(chunk.steps_before)));
        steps.map(|(step, bytes)| (bytes.to_vec(), step.way)).collect()
    }

    /// The chunks, the first one first.
    fn chunks(&self) -> Vec<&Chunk> {
        let mut chunks: Vec<&Chunk> =
            std::iter::successors(Some(&self.last), |chunk| chunk.before.as_deref()).collect();
        chunks.reverse();
        chunks
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let chunks = self.chunks();
        let mut bytes = Vec::with_capacity(self.byte_count());
        chunks.iter().for_each(|chunk| bytes.extend_from_slice(&chunk.bytes));
        bytes
    }

    /// The bytes of all steps, the last byte first.
    pub(super) fn backwards(&self) -> impl Iterator<Item = u8> {
        let chunks = std::iter::successors(Some(&self.last), |chunk| chunk.before.as_deref());
        chunks.flat_map(|chunk| chunk.bytes.iter().rev().copied())
    }

    /// The sets of names, shared with forks.
    pub(super) fn names(&self) -> Arc<Mutex<KeyTracker>> {
        Arc::clone(&self.names)
    }

    /// Replaces the sets of names. The new sets are not shared with existing forks.
    pub(super) fn set_names(&mut self, names: KeyTracker) {
        self.names = Arc::new(Mutex::new(names));
    }
}

/// The destination of a repeated step from `at`: the result of its token edges, otherwise that of its bytes, otherwise
/// `at`.
pub(super) fn along(
    way: Way,
    at: Located,
    by_bytes: Option<Located>,
    step: impl FnOnce(Located, TokenId) -> Result<Option<Located>>,
) -> Result<Located> {
    let taken = way.token().map_or(Ok(None), |token| step(at, token))?;
    Ok(taken.or(by_bytes).unwrap_or(at))
}

/// Locks sets of names, also after another thread has panicked with the lock: every change is either complete or not
/// begun, so the sets stay usable.
pub(super) fn lock(names: &Mutex<KeyTracker>) -> MutexGuard<'_, KeyTracker> {
    names.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nowhere() -> Destination {
        Destination { at: Located::unknown(false, false), base: BaseState::NONE }
    }

    fn grown(path: &mut Path, steps: std::ops::Range<usize>) {
        steps.for_each(|step| path.push(step.to_string().as_bytes(), nowhere(), KeyState::OUTSIDE));
    }

    fn text(steps: impl Iterator<Item = usize>) -> Vec<u8> {
        steps.flat_map(|step| step.to_string().into_bytes()).collect()
    }

    #[test]
    fn forks_share_what_came_before_and_steps_are_taken_back_across_chunks() {
        let mut path = Path::new(nowhere());
        grown(&mut path, 0..1000);
        for back in [0, 1, 39, 40, 41, 63, 64, 65, 500, 1000] {
            let mut fork = path.clone();
            fork.pop(back);
            assert_eq!((fork.step_count(), fork.bytes()), (1000 - back, text(0..1000 - back)));
            grown(&mut fork, 5000..5100);
            let expected = text((0..1000 - back).chain(5000..5100));
            assert_eq!(fork.byte_count(), expected.len());
            assert!(fork.backwards().eq(expected.iter().rev().copied()), "{back} steps back");
            assert_eq!(path.bytes(), text(0..1000));
        }
    }

    #[test]
    fn a_long_path_is_dropped_without_deep_recursion() {
        let mut path = Path::new(nowhere());
        (0..2_000_000).for_each(|_| path.push(b"", nowhere(), KeyState::OUTSIDE));
        let fork = path.clone();
        drop(path);
        assert_eq!(fork.step_count(), 2_000_000);
    }
}
