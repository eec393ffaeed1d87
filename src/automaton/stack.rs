//! Interned sets of stacks.
//!
//! A [`StackId`] names a *set* of stacks as a sorted list of frames, each with the set of stacks below it;
//! no two frames of a list have the same return state and value. That makes the representation canonical:
//! it is the minimal deterministic acyclic automaton of the set, read from the top, hash-consed. Equal sets
//! have equal ids, and union, the only operation beside push and pop, keeps it so.

use super::state::StateId;
use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// Values from here on are registers of lists whose items must differ; counts and ids never come so far, as texts do
/// not.
pub(super) const REGISTER: u32 = 1 << 31;

/// Those from here on are registers of lists between two items, the others of lists inside an item.
pub(super) const BETWEEN: u32 = 3 << 30;

/// The value of a list's frame inside an item of which nothing is known: it takes the tape to know what its bytes lead to.
/// Counts and ids that lists have do not come so far.
pub(super) const DOUBTFUL: u32 = 1 << 30;

/// The same inside an item after which it takes the tape to know.
pub(super) const UNSURE: u32 = DOUBTFUL + 1;

/// Whether a frame's value is a register.
pub(super) fn is_register(value: u32) -> bool {
    value >= REGISTER
}

/// Registers in a stack.
#[derive(Clone, Copy, Debug, Default)]
struct Registers {
    any: bool,
    /// Of lists inside an item.
    inside: bool,
    /// Not one, but the value [`DOUBTFUL`].
    doubtful: bool,
    /// Not one, but the value [`UNSURE`].
    unsure: bool,
}

/// The id of a set of stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct StackId(u32);

/// One frame on top, and the stacks below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Frame {
    /// Where to return to; [`Frame::BOTTOM`] marks the empty stack.
    pub(crate) to_return: StateId,
    /// A register: a count, a set of seen members, a tuple of configurations; 0 for plain calls.
    pub(crate) value: u32,
    /// The stacks below.
    pub(crate) below: StackId,
}

impl Frame {
    /// The return state of the empty stack.
    pub(crate) const BOTTOM: StateId = StateId(u32::MAX);

    fn key(&self) -> (StateId, u32) {
        (self.to_return, self.value)
    }
}

/// The table of sets of stacks.
#[derive(Debug)]
pub(crate) struct Stacks {
    frames: Vec<Frame>,
    /// Per id: the end of its frames; they begin where those of the id before end.
    ends: Vec<u32>,
    ids: HashTable<u32>,
    unions: FxHashMap<(StackId, StackId), StackId>,
    /// Per id: the registers of its frames and those below.
    registers: Vec<Registers>,
    /// Frames interned since that was last asked for: the measure of the work of unions.
    interned: usize,
}

fn hash(frames: &[Frame]) -> u64 {
    let mut hasher = FxHasher::default();
    frames.hash(&mut hasher);
    hasher.finish()
}

impl Stacks {
    /// The set that holds the empty stack alone.
    pub(crate) const EMPTY_STACK: StackId = StackId(0);

    pub(crate) fn new() -> Stacks {
        let mut stacks = Stacks {
            frames: Vec::with_capacity(16),
            ends: Vec::with_capacity(16),
            ids: HashTable::with_capacity(14),
            unions: FxHashMap::default(),
            registers: Vec::with_capacity(16),
            interned: 0,
        };
        stacks.intern(&[Frame { to_return: Frame::BOTTOM, value: 0, below: StackId(0) }]);
        stacks
    }

    /// The frames on top, sorted by return state and value.
    pub(crate) fn frames(&self, id: StackId) -> &[Frame] {
        let start = if id.0 == 0 { 0 } else { self.ends[id.0 as usize - 1] as usize };
        &self.frames[start..self.ends[id.0 as usize] as usize]
    }

    /// Whether a frame has a register.
    pub(super) fn has_register(&self, id: StackId) -> bool {
        self.registers[id.0 as usize].any
    }

    /// Whether a frame has the register of a list inside an item.
    pub(super) fn is_inside(&self, id: StackId) -> bool {
        self.registers[id.0 as usize].inside
    }

    /// Whether a frame is [`DOUBTFUL`].
    pub(super) fn is_doubtful(&self, id: StackId) -> bool {
        self.registers[id.0 as usize].doubtful
    }

    /// Whether a frame is [`UNSURE`].
    pub(super) fn is_unsure(&self, id: StackId) -> bool {
        self.registers[id.0 as usize].unsure
    }

    /// How many frames are on top.
    pub(crate) fn frame_count(&self, id: StackId) -> usize {
        self.frames(id).len()
    }

    /// One frame by its place.
    pub(crate) fn frame(&self, id: StackId, place: usize) -> Frame {
        self.frames(id)[place]
    }

    /// The set of the given frames, which are sorted and have distinct keys.
    pub(crate) fn intern(&mut self, frames: &[Frame]) -> StackId {
        let hash = hash(frames);
        let (all, ends) = (&self.frames, &self.ends);
        let get = |id: u32| {
            let start = if id == 0 { 0 } else { ends[id as usize - 1] as usize };
            &all[start..ends[id as usize] as usize]
        };
        if let Some(&id) = self.ids.find(hash, |&id| get(id) == frames) {
            return StackId(id);
        }
        let id = self.ends.len() as u32;
        let mut registers = Registers::default();
        for frame in frames.iter().filter(|frame| frame.to_return != Frame::BOTTOM) {
            let below = self.registers[frame.below.0 as usize];
            registers.any |= is_register(frame.value) || below.any;
            registers.inside |= (REGISTER..BETWEEN).contains(&frame.value) || below.inside;
            registers.doubtful |= frame.value == DOUBTFUL || below.doubtful;
            registers.unsure |= frame.value == UNSURE || below.unsure;
        }
        self.registers.push(registers);
        self.interned += frames.len();
        self.frames.extend_from_slice(frames);
        self.ends.push(self.frames.len() as u32);
        let (all, ends) = (&self.frames, &self.ends);
        self.ids.insert_unique(hash, id, |&id| {
            let start = if id == 0 { 0 } else { ends[id as usize - 1] as usize };
            self::hash(&all[start..ends[id as usize] as usize])
        });
        StackId(id)
    }

    /// How many frames have been interned since this was last called.
    pub(super) fn take_interned(&mut self) -> usize {
        std::mem::take(&mut self.interned)
    }

    /// Pushes one frame on all stacks of a set.
    pub(crate) fn push(&mut self, to_return: StateId, value: u32, below: StackId) -> StackId {
        self.intern(&[Frame { to_return, value, below }])
    }

    /// The union of two sets. Without recursion: stacks are as deep as the text nests.
    pub(crate) fn union(&mut self, a: StackId, b: StackId) -> StackId {
        struct Merge {
            pair: (StackId, StackId),
            left: usize,
            right: usize,
            merged: Vec<Frame>,
        }
        let begin = |a: StackId, b: StackId| Merge {
            pair: (a.min(b), a.max(b)),
            left: 0,
            right: 0,
            merged: Vec::new(),
        };
        if a == b {
            return a;
        }
        let mut open = vec![begin(a, b)];
        let mut done: Option<StackId> = None;
        while let Some(merge) = open.last_mut() {
            if let Some(below) = done.take() {
                // the union of the stacks below two frames with the same key
                let frame = self.frame(merge.pair.0, merge.left);
                merge.merged.push(Frame { below, ..frame });
                merge.left += 1;
                merge.right += 1;
            } else if let Some(&known) = self.unions.get(&merge.pair) {
                done = Some(known);
                open.pop();
                continue;
            }
            let mut below = None;
            loop {
                let left = self.frames(merge.pair.0).get(merge.left).copied();
                let right = self.frames(merge.pair.1).get(merge.right).copied();
                let next = match (left, right) {
                    (Some(l), Some(r)) if l.key() == r.key() => {
                        if l.below != r.below {
                            below = Some((l.below, r.below));
                            break;
                        }
                        merge.left += 1;
                        merge.right += 1;
                        l
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
                    (None, None) => break,
                };
                merge.merged.push(next);
            }
            match below {
                Some((a, b)) => open.push(begin(a, b)),
                None => {
                    let (pair, merged) = (merge.pair, std::mem::take(&mut merge.merged));
                    let id = self.intern(&merged);
                    self.unions.insert(pair, id);
                    done = Some(id);
                    open.pop();
                }
            }
        }
        done.unwrap_or(a)
    }

    /// Bytes on the heap.
    pub(crate) fn memory_usage(&self) -> usize {
        self.frames.capacity() * size_of::<Frame>()
            + self.ends.capacity() * 4
            + self.registers.capacity() * size_of::<Registers>()
            + self.ids.capacity() * 5
            + self.unions.capacity() * 13
    }
}
