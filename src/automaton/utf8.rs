//! Classes of characters as automata over their UTF-8 bytes.

use super::lower::Lowering;
use super::state::{State, StateId};
use crate::grammar::{CharClass, ExprId};
use regex_syntax::utf8::Utf8Sequences;
use rustc_hash::FxHashMap;

/// The ranges of bytes that follow each other.
type Sequence = Vec<(u8, u8)>;

/// Classes of more byte sequences beyond ASCII than this share one copy of them.
const INLINE_SEQUENCES: usize = 12;

/// States by the suffixes that they read and what follows, so that classes which differ in ASCII only share them.
pub(super) type SuffixStates = FxHashMap<(Vec<Sequence>, StateId), StateId>;

impl Lowering<'_> {
    /// The state before one character of `class`.
    pub(super) fn class(&mut self, id: ExprId, class: &CharClass, next: StateId) -> StateId {
        let mut sequences: Vec<Sequence> = Vec::new();
        for &(low, high) in class.ranges() {
            for sequence in Utf8Sequences::new(low, high) {
                sequences.push(sequence.as_slice().iter().map(|range| (range.start, range.end)).collect());
            }
        }
        let ascii = sequences.partition_point(|sequence| sequence.len() == 1);
        if sequences.len() - ascii <= INLINE_SEQUENCES {
            return self.byte_sequences(&sequences, next);
        }
        let (ascii, others) = sequences.split_at(ascii);
        let mut targets = Vec::new();
        if !ascii.is_empty() {
            targets.push(self.byte_sequences(ascii, next));
        }
        if !others.is_empty() {
            let start = match self.kept.class_tails.get(&id) {
                Some(&start) => start,
                None => {
                    let start = self.open_callable();
                    let built = self.byte_sequences(others, StateId::ACCEPT);
                    self.fill_split(start, &[built]);
                    self.kept.class_tails.insert(id, start);
                    start
                }
            };
            targets.push(self.add_state(State::Call { start, to_return: next }));
        }
        self.split(&targets)
    }

    /// A tree over the first ranges, which are sorted and either equal or disjoint; equal sets of suffixes share a state.
    /// Four levels at most.
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
