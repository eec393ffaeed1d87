//! The data of a mask file as the base of a grammar's tables; everything else is computed lazily.
//!
//! Places in the file and configurations of the engine are different things: a [`BaseState`] is a number in the file,
//! not the id of a configuration. A matcher stores a place, a configuration, or both. If the configuration is needed
//! but not stored, the matcher recomputes it from the bytes of its text.

use super::token_mask::TokenMask;
use crate::automaton::Facts;
use crate::mask_file::{Form, MaskFile, Next, START, slots};
use crate::vocabulary::TokenId;
use smallvec::SmallVec;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// The indices of the bytes of a text that end names of objects.
pub(crate) type NameEnds = SmallVec<[usize; 2]>;

/// A place in a mask file, or [`NONE`](BaseState::NONE).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BaseState(u32);

impl BaseState {
    /// No place: outside of the explored part, or without a mask file.
    pub(crate) const NONE: BaseState = BaseState(u32::MAX);

    /// The number in the file; `None` for [`NONE`](BaseState::NONE).
    pub(crate) fn id(self) -> Option<u32> {
        Some(self.0).filter(|_| self != BaseState::NONE)
    }

    /// The place with a number in the file.
    pub(crate) fn of(id: u32) -> BaseState {
        BaseState(id)
    }
}

/// No further mask is decoded once the decoded masks exceed this many bytes per byte of the file. A forged file may
/// repeat the same long mask; a valid file with only the smallest masks needs twelve.
const DECODED_A_BYTE: usize = 16;

/// A mask file in use. Each mask is decoded at its first use.
#[derive(Debug)]
pub(crate) struct Base {
    file: Arc<MaskFile>,
    masks: Box<[OnceLock<Option<Arc<TokenMask>>>]>,
    /// Bytes of the decoded masks.
    decoded: AtomicUsize,
}

impl Base {
    pub(super) fn new(file: Arc<MaskFile>) -> Base {
        let masks = slots(file.mask_count(), file.len());
        Base { file, masks, decoded: AtomicUsize::new(0) }
    }

    pub(crate) fn file(&self) -> &Arc<MaskFile> {
        &self.file
    }

    /// The place before the first byte; [`BaseState::NONE`] if the file has no places.
    pub(crate) fn start(&self) -> BaseState {
        if self.file.state_count() == 0 { BaseState::NONE } else { BaseState(START) }
    }

    /// The facts about a place; `None` outside of the explored part.
    #[inline]
    pub(crate) fn facts(&self, at: BaseState) -> Option<Facts> {
        let state = self.file.state(at.id()?)?;
        Some(Facts {
            is_accepting: state.is_accepting(),
            is_final: state.is_final(),
            has_tokens: state.has_tokens(),
        })
    }

    /// The place after some bytes, and the indices of the bytes that end names. The place is `None` if the text cannot
    /// continue with the bytes. Returns `None` if some step was not explored.
    pub(crate) fn run(&self, at: BaseState, bytes: &[u8]) -> Option<(Option<BaseState>, NameEnds)> {
        // loads the record of the last place now, so that the next query about it hits the CPU's cache
        let mut state = self.file.state(at.id()?)?;
        let (mut id, mut ends) = (at.0, NameEnds::new());
        for (place, &byte) in bytes.iter().enumerate() {
            match self.file.after_byte(state, byte)? {
                Next::Dead => return Some((None, ends)),
                Next::State(next) => (id, state) = (next, self.file.state(next)?),
            }
            if state.is_named() {
                ends.push(place);
            }
        }
        Some((Some(BaseState(id)), ends))
    }

    /// The place after a token given by its id, following its bytes and token edges together; `None` if the token is
    /// not allowed or was not explored.
    pub(crate) fn after_token(&self, at: BaseState, token: TokenId) -> Option<BaseState> {
        let state = self.file.state(at.id()?)?;
        match self.file.after_token(state, token.get())? {
            Next::State(next) => Some(BaseState(next)),
            Next::Dead => None,
        }
    }

    /// Whether the mask of a place is in the file.
    pub(crate) fn has_mask(&self, at: BaseState) -> bool {
        let state = at.id().and_then(|id| self.file.state(id));
        state.is_some_and(|state| state.mask().is_some())
    }

    /// The mask of a place; `None` if the file has none, if its data is invalid, or if [`DECODED_A_BYTE`] was exceeded.
    #[inline]
    pub(crate) fn mask(&self, at: BaseState) -> Option<&Arc<TokenMask>> {
        let id = self.file.state(at.id()?)?.mask()?;
        self.masks.get(id as usize)?.get_or_init(|| self.decode(id)).as_ref()
    }

    #[cold]
    fn decode(&self, id: u32) -> Option<Arc<TokenMask>> {
        if self.decoded.load(Ordering::Relaxed) > self.file.len().saturating_mul(DECODED_A_BYTE) {
            return None;
        }
        let width = self.file.width();
        let mask = match self.file.mask(id)? {
            Form::List(ids) => TokenMask::sparse(ids.read(width)?, width),
            Form::AllBut(ids) => TokenMask::near(self.file.all_words(), ids.read(width)?, Vec::new(), width),
            Form::Near { words, removed, added } => {
                let words = self.file.words(words)?;
                let (removed, added) = (removed.read(width)?, added.read(width)?);
                let has = |&id: &u32| words[id as usize / 32] >> (id % 32) & 1 == 1;
                if !removed.iter().all(has) || added.iter().any(has) {
                    return None;
                }
                TokenMask::near(words, removed, added, width)
            }
        };
        self.decoded.fetch_add(mask.memory_usage() + size_of::<TokenMask>() + 16, Ordering::Relaxed);
        Some(Arc::new(mask))
    }

    /// Bytes on the heap. A mapped file is not counted.
    pub(super) fn memory_usage(&self) -> usize {
        self.file.owned_bytes() + size_of_val(&*self.masks) + self.decoded.load(Ordering::Relaxed)
    }
}
