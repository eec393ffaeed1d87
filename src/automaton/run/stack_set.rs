//! Interned sets of stacks.
//!
//! A [`StackSetId`] names a *set* of stacks as a sorted list of frames, each with the set of stacks below it. No two
//! frames of a list have the same return address and value. So the representation is canonical: it is the minimal
//! deterministic acyclic automaton of the set, read from the top, hash-consed. Equal sets have equal ids. Union, the
//! only operation in addition to push and pop, preserves these properties.
//!
//! The value of a counted loop's frame is itself a set, of numbers of rounds (`round_sets.rs`). The frames of one loop
//! in a list have disjoint sets and different stacks below, like the edges of a minimal deterministic automaton that
//! are labelled with sets of letters.

use super::configuration::{Frame, StackSetId};
use super::frame_value::FrameValue;
use super::round_sets::{RoundSets, Span, Spans, overlay};
use crate::automaton::program::ids::StateId;
use crate::automaton::program::interval::{Interval, Intervals};
use crate::collections::heap::map_bytes;
use crate::collections::interner::SliceInterner;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Which values of lists of unique items occur in a set of stacks.
#[derive(Clone, Copy, Debug, Default)]
struct Remembered {
    any: bool,
    /// Values of lists with an open item.
    inside: bool,
    /// The value [`FrameValue::DOUBTFUL`], which records no items.
    doubtful: bool,
    /// The value [`FrameValue::UNKNOWN`], which records no items.
    unknown: bool,
}

/// The table of sets of stacks.
#[derive(Debug)]
pub(crate) struct StackSets {
    sets: SliceInterner<Frame>,
    unions: FxHashMap<(StackSetId, StackSetId), StackSetId>,
    /// The table of the values of the frames of counted loops.
    pub(in crate::automaton) rounds: RoundSets,
    /// Per id, which values of unique items occur in its top frames and in the frames below them.
    remembered: Vec<Remembered>,
    /// The number of frames interned since [`take_interned`](StackSets::take_interned): the measure of the work of
    /// unions.
    interned: usize,
}

/// Pairs of sets whose unions are missing.
type Pairs = SmallVec<[(StackSetId, StackSetId); 2]>;

/// A union of two lists of frames under construction.
struct Merge {
    pair: (StackSetId, StackSetId),
    /// The number of merged frames of the first set.
    left: usize,
    /// The number of merged frames of the second set.
    right: usize,
    merged: Vec<Frame>,
}

impl Merge {
    fn of((a, b): (StackSetId, StackSetId)) -> Merge {
        Merge { pair: (a.min(b), a.max(b)), left: 0, right: 0, merged: Vec::new() }
    }
}

impl StackSets {
    /// The set that contains only the empty stack.
    pub(crate) const EMPTY_STACK: StackSetId = StackSetId(0);

    pub(crate) fn new() -> StackSets {
        let mut stacks = StackSets {
            sets: SliceInterner::with_capacity(16),
            unions: FxHashMap::default(),
            rounds: RoundSets::default(),
            remembered: Vec::with_capacity(16),
            interned: 0,
        };
        stacks.intern(&[Frame { to_return: Frame::BOTTOM, value: FrameValue::NONE, below: StackSetId(0) }]);
        stacks
    }

    /// The top frames of a set, sorted by return address and value.
    pub(crate) fn frames(&self, id: StackSetId) -> &[Frame] {
        self.sets.get(id.0)
    }

    /// Whether some frame of some stack records the items of a list.
    pub(in crate::automaton) fn remembers_items(&self, id: StackSetId) -> bool {
        self.remembered[id.0 as usize].any
    }

    /// Whether some frame of some stack records the items of a list with an open item.
    pub(in crate::automaton) fn is_inside(&self, id: StackSetId) -> bool {
        self.remembered[id.0 as usize].inside
    }

    /// Whether some frame of some stack has the value [`FrameValue::DOUBTFUL`].
    pub(in crate::automaton) fn is_doubtful(&self, id: StackSetId) -> bool {
        self.remembered[id.0 as usize].doubtful
    }

    /// Whether some frame of some stack has the value [`FrameValue::UNKNOWN`].
    pub(in crate::automaton) fn is_unknown(&self, id: StackSetId) -> bool {
        self.remembered[id.0 as usize].unknown
    }

    /// The number of top frames.
    pub(crate) fn frame_count(&self, id: StackSetId) -> usize {
        self.frames(id).len()
    }

    /// A top frame, by index.
    pub(crate) fn frame(&self, id: StackSetId, place: usize) -> Frame {
        self.frames(id)[place]
    }

    /// The set of the given frames, which must be sorted and have distinct keys.
    pub(crate) fn intern(&mut self, frames: &[Frame]) -> StackSetId {
        let id = self.sets.intern(frames);
        if (id as usize) < self.remembered.len() {
            return StackSetId(id);
        }
        let mut remembered = Remembered::default();
        for frame in frames.iter().filter(|frame| frame.to_return != Frame::BOTTOM) {
            let below = self.remembered[frame.below.0 as usize];
            remembered.any |= frame.value.seen_items().is_some() || below.any;
            remembered.inside |= frame.value.is_inside() || below.inside;
            remembered.doubtful |= frame.value == FrameValue::DOUBTFUL || below.doubtful;
            remembered.unknown |= frame.value == FrameValue::UNKNOWN || below.unknown;
        }
        self.remembered.push(remembered);
        self.interned += frames.len();
        StackSetId(id)
    }

    /// The number of frames interned since [`take_interned`](StackSets::take_interned) was last called.
    pub(in crate::automaton) fn interned(&self) -> usize {
        self.interned
    }

    /// The union of at least one set. All frames are merged in one pass: set by set, `n` sets of one frame would create
    /// intermediate sets of about `n * n / 2` frames in total.
    pub(in crate::automaton) fn union_all(&mut self, sets: &[StackSetId]) -> StackSetId {
        if let &[one] = sets {
            return one;
        }
        let mut frames: Vec<Frame> = sets.iter().flat_map(|&set| self.frames(set)).copied().collect();
        frames.sort_unstable_by_key(|frame| (frame.key(), frame.below));
        frames.dedup();
        self.interned += frames.len();
        let mut merged: Vec<Frame> = Vec::with_capacity(frames.len());
        for group in frames.chunk_by(|a, b| a.to_return == b.to_return) {
            if group[0].value.is_rounds() {
                let united = self.union_of_rounds(group);
                merged.extend_from_slice(self.frames(united));
                continue;
            }
            for &frame in group {
                match merged.last_mut() {
                    Some(last) if last.key() == frame.key() => {
                        last.below = self.union(last.below, frame.below);
                    }
                    _ => merged.push(frame),
                }
            }
        }
        self.intern(&merged)
    }

    /// The set of some frames of one counted loop, whose sets of rounds may overlap. The frames are united in pairs,
    /// and then the results in pairs, until one set is left.
    fn union_of_rounds(&mut self, frames: &[Frame]) -> StackSetId {
        let mut sets: Vec<StackSetId> = frames.iter().map(|&frame| self.intern(&[frame])).collect();
        while sets.len() > 1 {
            let united = sets.chunks(2).map(|pair| match *pair {
                [one, other] => self.union(one, other),
                _ => pair[0],
            });
            sets = united.collect();
        }
        sets[0]
    }

    /// Returns and resets the number of interned frames.
    pub(in crate::automaton) fn take_interned(&mut self) -> usize {
        std::mem::take(&mut self.interned)
    }

    /// Pushes a frame on all stacks of a set.
    pub(crate) fn push(&mut self, to_return: StateId, value: FrameValue, below: StackSetId) -> StackSetId {
        self.intern(&[Frame { to_return, value, below }])
    }

    /// The union of two sets. Not recursive, because stacks are as deep as the text nests.
    pub(crate) fn union(&mut self, a: StackSetId, b: StackSetId) -> StackSetId {
        if let Some(known) = self.known_union(a, b) {
            return known;
        }
        let mut united = a;
        let mut open = vec![Merge::of((a, b))];
        let mut missing = Pairs::new();
        while let Some(merge) = open.last_mut() {
            self.merge(merge, &mut missing);
            if missing.is_empty() {
                united = self.intern(&merge.merged);
                self.unions.insert(merge.pair, united);
                open.pop();
            } else {
                open.extend(missing.drain(..).map(Merge::of));
            }
        }
        united
    }

    fn known_union(&self, a: StackSetId, b: StackSetId) -> Option<StackSetId> {
        if a == b { Some(a) } else { self.unions.get(&(a.min(b), a.max(b))).copied() }
    }

    /// Continues a merge until it is finished, or until unions of stacks below are missing, which are then added to
    /// `missing`.
    fn merge(&mut self, merge: &mut Merge, missing: &mut Pairs) {
        loop {
            let left = self.frames(merge.pair.0).get(merge.left).copied();
            let right = self.frames(merge.pair.1).get(merge.right).copied();
            let next = match (left, right) {
                (Some(l), Some(r)) if l.to_return == r.to_return && l.value.is_rounds() => {
                    self.merge_rounds(merge, l.to_return, missing);
                    if missing.is_empty() {
                        continue;
                    }
                    return;
                }
                (Some(l), Some(r)) if l.key() == r.key() => {
                    let Some(below) = self.known_union(l.below, r.below) else {
                        return missing.push((l.below, r.below));
                    };
                    merge.left += 1;
                    merge.right += 1;
                    Frame { below, ..l }
                }
                (Some(l), Some(r)) if l.key() > r.key() => {
                    merge.right += 1;
                    r
                }
                (Some(l), _) => {
                    merge.left += 1;
                    l
                }
                (None, Some(r)) => {
                    merge.right += 1;
                    r
                }
                (None, None) => return,
            };
            merge.merged.push(next);
        }
    }

    /// Merges the frames of one counted loop. If unions of stacks below are missing, merges nothing and adds them to
    /// `missing`.
    fn merge_rounds(&mut self, merge: &mut Merge, to_return: StateId, missing: &mut Pairs) {
        let (left, lefts) = self.spans(&self.frames(merge.pair.0)[merge.left..], to_return);
        let (right, rights) = self.spans(&self.frames(merge.pair.1)[merge.right..], to_return);
        let mut all = overlay(&left, &right, |a, b| {
            self.known_union(a, b).unwrap_or_else(|| {
                missing.push((a.min(b), a.max(b)));
                a
            })
        });
        if !missing.is_empty() {
            missing.sort_unstable();
            return missing.dedup();
        }
        all.sort_unstable_by_key(|span| (span.below, span.rounds.low));
        let first = merge.merged.len();
        for spans in all.chunk_by(|a, b| a.below == b.below) {
            let mut intervals = Intervals::new();
            spans.iter().for_each(|span| span.rounds.append_to(&mut intervals));
            let value = FrameValue::of_rounds(self.rounds.intern(&intervals));
            merge.merged.push(Frame { to_return, value, below: spans[0].below });
        }
        merge.merged[first..].sort_unstable_by_key(|frame| frame.value);
        merge.left += lefts;
        merge.right += rights;
    }

    /// The spans of the leading frames that return to `to_return`, sorted by their first numbers, and the number of
    /// these frames.
    fn spans(&self, frames: &[Frame], to_return: StateId) -> (Spans, usize) {
        let mut spans = Spans::new();
        let count = frames.iter().take_while(|frame| frame.to_return == to_return).count();
        for frame in &frames[..count] {
            let span = |rounds: Interval| Span { rounds, below: frame.below };
            spans.extend(self.rounds.get(frame.value.rounds()).into_iter().map(span));
        }
        spans.sort_unstable_by_key(|span| span.rounds.low);
        (spans, count)
    }

    /// Bytes on the heap.
    pub(crate) fn memory_usage(&self) -> usize {
        self.sets.memory_usage()
            + self.remembered.capacity() * size_of::<Remembered>()
            + map_bytes(&self.unions)
            + self.rounds.memory_usage()
    }
}
