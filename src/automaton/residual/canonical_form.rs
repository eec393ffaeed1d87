//! Canonical forms of configurations, and the scratch memory in which they are written.

use crate::automaton::program::ids::StateId;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// Longer shapes are not written: few are met again.
pub(in crate::automaton) const MOST_WORDS: usize = 1024;

/// What a configuration may do until it returns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CanonicalForm(pub(in crate::automaton) Box<[u32]>);

impl CanonicalForm {
    /// Bytes on the heap.
    pub(crate) fn memory_usage(&self) -> usize {
        self.0.len() * 4
    }
}

/// A shape, and the products of the grammar that it is of.
#[derive(Clone, Debug)]
pub(crate) struct Canonical {
    pub(crate) form: CanonicalForm,
    pub(in crate::automaton) products: SmallVec<[u32; 2]>,
}

/// A shape in the making.
#[derive(Debug, Default)]
pub(in crate::automaton) struct CanonicalScratch {
    pub(in crate::automaton) words: Vec<u32>,
    pub(in crate::automaton) met: StateNumbering,
    pub(in crate::automaton) products: SmallVec<[u32; 2]>,
    /// First states of configurations whose shapes were begun in vain.
    pub(in crate::automaton) in_vain: FxHashSet<StateId>,
}

/// The states met, in that order, and a table of where they are.
#[derive(Debug, Default)]
pub(in crate::automaton) struct StateNumbering {
    pub(in crate::automaton) states: Vec<StateId>,
    /// Per slot: 0, or one more than the place of a state. There are twice as many as states are met at most.
    slots: Vec<u16>,
    /// The slots in use.
    used: Vec<u16>,
}

impl StateNumbering {
    const SLOTS: usize = 2 * MOST_WORDS.next_power_of_two();

    pub(in crate::automaton) fn clear(&mut self) {
        self.states.clear();
        self.slots.resize(StateNumbering::SLOTS, 0);
        self.used.drain(..).for_each(|slot| self.slots[usize::from(slot)] = 0);
    }

    /// One more than the place of a state, which is added if it is new and there is room.
    pub(in crate::automaton) fn number(&mut self, state: StateId) -> Option<u32> {
        // Fibonacci hashing: Knuth, The Art of Computer Programming 3, section 6.4
        let mut slot = (state.0.wrapping_mul(0x9E37_79B9) >> 16) as usize % StateNumbering::SLOTS;
        loop {
            match self.slots[slot] {
                0 if self.states.len() >= MOST_WORDS => return None,
                0 => {
                    self.states.push(state);
                    self.slots[slot] = self.states.len() as u16;
                    self.used.push(slot as u16);
                    return Some(self.states.len() as u32);
                }
                number if self.states[usize::from(number) - 1] == state => return Some(u32::from(number)),
                _ => slot = (slot + 1) % StateNumbering::SLOTS,
            }
        }
    }
}
