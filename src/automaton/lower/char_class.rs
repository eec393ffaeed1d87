//! Classes of characters as automata over their UTF-8 bytes.

use super::Lowering;
use crate::automaton::program::ids::StateId;
use crate::automaton::program::state::State;
use crate::automaton::tuning::INLINE_SEQUENCES;
use crate::grammar::{CharClass, ExprId};
use regex_syntax::utf8::Utf8Sequences;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A sequence of ranges of bytes, both ends included: the UTF-8 encodings of some characters.
type Sequence = Vec<(u8, u8)>;

/// States by the suffixes that they read and their continuation, so that classes which differ only in ASCII characters
/// share states.
pub(in crate::automaton) type SuffixStates = FxHashMap<(Vec<Sequence>, StateId), StateId>;

impl Lowering<'_> {
    /// The state before one character of `class`.
    pub(in crate::automaton) fn class(&mut self, id: ExprId, class: &CharClass, next: StateId) -> StateId {
        if let Some(&tail) = self.kept.class_tails.get(&id) {
            return self.class_with_tail(&ascii_sequences(class), tail, next);
        }
        let mut sequences: Vec<Sequence> = Vec::new();
        for &(low, high) in class.ranges() {
            for sequence in Utf8Sequences::new(low, high) {
                sequences.push(sequence.as_slice().iter().map(|range| (range.start, range.end)).collect());
            }
        }
        let ascii = sequences.partition_point(|sequence| sequence.len() == 1);
        let (ascii, others) = sequences.split_at(ascii);
        if others.len() <= INLINE_SEQUENCES {
            return self.byte_sequences(&sequences, next);
        }
        let tail = self.open_callable();
        let built = self.byte_sequences(others, StateId::ACCEPT);
        self.fill_split(tail, &[built]);
        self.kept.class_tails.insert(id, tail);
        self.class_with_tail(ascii, tail, next)
    }

    /// A state that reads one of the sequences `ascii`, or a character beyond ASCII by a call of `tail`.
    fn class_with_tail(&mut self, ascii: &[Sequence], tail: StateId, next: StateId) -> StateId {
        let mut targets: SmallVec<[StateId; 2]> = SmallVec::new();
        if !ascii.is_empty() {
            targets.push(self.byte_sequences(ascii, next));
        }
        targets.push(self.add_state(State::Call { start: tail, to_return: next }));
        self.split(&targets)
    }

    /// A state that reads one of `suffixes`: a tree over their first ranges, which are sorted and either equal or
    /// disjoint. Equal sets of suffixes share a state. The tree has at most four levels.
    fn byte_sequences(&mut self, suffixes: &[Sequence], next: StateId) -> StateId {
        let mut edges: Vec<(u8, u8, StateId)> = Vec::new();
        for group in suffixes.chunk_by(|a, b| a.first() == b.first()) {
            let Some(&(low, high)) = group.first().and_then(|suffix| suffix.first()) else { continue };
            let after: Vec<Sequence> =
                group.iter().map(|s| s[1..].to_vec()).filter(|s| !s.is_empty()).collect();
            let target = if after.is_empty() { next } else { self.suffix_state(after, next) };
            match edges.last_mut() {
                Some((_, end, same)) if *same == target && *end + 1 == low => *end = high,
                _ => edges.push((low, high, target)),
            }
        }
        self.byte_ranges(&edges)
    }

    fn suffix_state(&mut self, suffixes: Vec<Sequence>, next: StateId) -> StateId {
        let key = (suffixes, next);
        if let Some(&state) = self.suffix_states.get(&key) {
            return state;
        }
        let state = self.byte_sequences(&key.0, next);
        self.suffix_states.insert(key, state);
        state
    }
}

/// The ASCII parts of the ranges of a class, as sequences of one byte.
fn ascii_sequences(class: &CharClass) -> Vec<Sequence> {
    let ascii = class.ranges().iter().take_while(|(low, _)| low.is_ascii());
    ascii
        .map(|&(low, high)| vec![(low as u8, u8::try_from(high).map_or(0x7F, |high| high.min(0x7F)))])
        .collect()
}
