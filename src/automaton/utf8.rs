//! Classes of characters as automata over their UTF-8 bytes.

use super::lower::Lowering;
use super::state::{State, StateId};
use crate::grammar::{CharClass, ExprId};
use regex_syntax::utf8::Utf8Sequences;
use rustc_hash::FxHashMap;

/// The ranges of bytes that follow each other.
type Sequence = Vec<(u8, u8)>;

/// Classes of more byte sequences than this share one copy of what is not ASCII.
const INLINE_SEQUENCES: usize = 12;

impl Lowering<'_> {
    /// The state before one character of `class`.
    pub(super) fn class(&mut self, id: ExprId, class: &CharClass, next: StateId) -> StateId {
        let mut sequences: Vec<Sequence> = Vec::new();
        for &(low, high) in class.ranges() {
            for sequence in Utf8Sequences::new(low, high) {
                sequences.push(sequence.as_slice().iter().map(|range| (range.start, range.end)).collect());
            }
        }
        if sequences.len() <= INLINE_SEQUENCES {
            return self.byte_sequences(&sequences, next);
        }
        let ascii = sequences.partition_point(|sequence| sequence.len() == 1);
        let (ascii, others) = sequences.split_at(ascii);
        let mut targets = Vec::new();
        if !ascii.is_empty() {
            targets.push(self.byte_sequences(ascii, next));
        }
        if !others.is_empty() {
            let start = match self.class_tails.get(&id) {
                Some(&start) => start,
                None => {
                    let start = self.open_callable();
                    let built = self.byte_sequences(others, StateId::ACCEPT);
                    self.fill_split(start, &[built]);
                    self.class_tails.insert(id, start);
                    start
                }
            };
            targets.push(self.add_state(State::Call { start, to_return: next }));
        }
        self.split(&targets)
    }

    fn byte_sequences(&mut self, sequences: &[Sequence], next: StateId) -> StateId {
        let suffixes: Vec<&[(u8, u8)]> = sequences.iter().map(Vec::as_slice).collect();
        self.byte_tree(&suffixes, next, &mut FxHashMap::default())
    }

    /// A tree over the first ranges, which are sorted and either equal or disjoint; equal sets of suffixes
    /// share a state. Four levels at most.
    fn byte_tree<'s>(
        &mut self,
        suffixes: &[&'s [(u8, u8)]],
        next: StateId,
        known: &mut FxHashMap<Vec<&'s [(u8, u8)]>, StateId>,
    ) -> StateId {
        if let Some(&state) = known.get(suffixes) {
            return state;
        }
        let mut edges: Vec<(u8, u8, StateId)> = Vec::new();
        for group in suffixes.chunk_by(|a, b| a.first() == b.first()) {
            let Some(&(low, high)) = group.first().and_then(|suffix| suffix.first()) else { continue };
            let after: Vec<&[(u8, u8)]> = group.iter().map(|s| &s[1..]).filter(|s| !s.is_empty()).collect();
            let target = if after.is_empty() { next } else { self.byte_tree(&after, next, known) };
            match edges.last_mut() {
                Some((_, end, same)) if *same == target && *end + 1 == low => *end = high,
                _ => edges.push((low, high, target)),
            }
        }
        let state = self.byte_ranges(&edges);
        known.insert(suffixes.to_vec(), state);
        state
    }
}
