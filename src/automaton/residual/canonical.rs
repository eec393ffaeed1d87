//! Shapes of configurations: what may follow, written down without the ids of the grammar that it is of.
//!
//! A configuration is written as its states with their stacks, then each state as what it reads and where it leads, states
//! by the order in which they are met. Two configurations of one shape do the same until they return, be they of two
//! grammars: the inside of a string, a number, a date. (Two that do the same may have different shapes.)

use crate::automaton::Automaton;
use crate::automaton::program::state::{State, StateId};
use crate::automaton::run::cache::{ConfigurationId, Tables};
use crate::automaton::run::stack_set::{Frame, StackId};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// Longer shapes are not written: few are met again.
const MOST_WORDS: usize = 1024;

/// Where writing so much was in vain, it is not tried again.
const IN_VAIN: usize = 128;

/// What a configuration may do until it returns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Shape(Box<[u32]>);

impl Shape {
    /// Bytes on the heap.
    pub(crate) fn memory_usage(&self) -> usize {
        self.0.len() * 4
    }
}

/// A shape, and the locksteps of the grammar that it is of.
#[derive(Clone, Debug)]
pub(crate) struct Shaped {
    pub(crate) shape: Shape,
    locksteps: SmallVec<[u32; 2]>,
}

/// A shape in the making.
#[derive(Debug, Default)]
pub(in crate::automaton) struct Draft {
    words: Vec<u32>,
    met: Met,
    locksteps: SmallVec<[u32; 2]>,
    /// First states of configurations whose shapes were begun in vain.
    in_vain: FxHashSet<StateId>,
}

/// The states met, in that order, and a table of where they are.
#[derive(Debug, Default)]
struct Met {
    states: Vec<StateId>,
    /// Per slot: 0, or one more than the place of a state. There are twice as many as states are met at most.
    slots: Vec<u16>,
    /// The slots in use.
    used: Vec<u16>,
}

impl Met {
    const SLOTS: usize = 2 * MOST_WORDS.next_power_of_two();

    fn clear(&mut self) {
        self.states.clear();
        self.slots.resize(Met::SLOTS, 0);
        self.used.drain(..).for_each(|slot| self.slots[usize::from(slot)] = 0);
    }

    /// One more than the place of a state, which is added if it is new and there is room.
    fn number(&mut self, state: StateId) -> Option<u32> {
        // Fibonacci hashing: Knuth, The Art of Computer Programming 3, section 6.4
        let mut slot = (state.0.wrapping_mul(0x9E37_79B9) >> 16) as usize % Met::SLOTS;
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
                _ => slot = (slot + 1) % Met::SLOTS,
            }
        }
    }
}

struct Writer<'a> {
    automaton: &'a Automaton,
    tables: &'a Tables,
    draft: Draft,
}

impl Tables {
    /// The shape of a configuration; `None` if it is large, or has to do with the members or items of a list.
    pub(crate) fn shape(&mut self, automaton: &Automaton, id: ConfigurationId) -> Option<Shaped> {
        let first = self.states(id).next()?;
        if self.draft.in_vain.contains(&first) {
            return None;
        }
        let mut draft = std::mem::take(&mut self.draft);
        draft.locksteps.clear();
        draft.words.clear();
        draft.met.clear();
        let mut writer = Writer { automaton, tables: self, draft };
        let written = writer.write(id);
        self.draft = writer.draft;
        if written.is_none() && self.draft.words.len() > IN_VAIN {
            self.draft.in_vain.insert(first);
        }
        let (words, locksteps) = (&self.draft.words, &self.draft.locksteps);
        written.map(|()| Shaped { shape: Shape(words.as_slice().into()), locksteps: locksteps.clone() })
    }

    /// The most bytes that it took to complete what runs in lockstep in a shape.
    pub(crate) fn reach_of(&self, shaped: &Shaped) -> u32 {
        shaped.locksteps.iter().map(|&l| self.tuples.reach(l)).max().unwrap_or(0)
    }

    /// Says that it may take so many bytes to complete what runs in lockstep in a shape: another grammar has found out.
    pub(crate) fn raise_reach(&mut self, shaped: &Shaped, bytes: u32) {
        shaped.locksteps.iter().for_each(|&l| self.tuples.raise_reach(l, bytes));
    }
}

impl Writer<'_> {
    fn write(&mut self, id: ConfigurationId) -> Option<()> {
        self.configuration(id)?;
        let mut written = 0;
        while let Some(&state) = self.draft.met.states.get(written) {
            written += 1;
            self.write_state(state)?;
        }
        Some(())
    }

    fn put(&mut self, word: u32) {
        self.draft.words.push(word);
    }

    /// Whether there is room for more.
    fn has_room(&self) -> Option<()> {
        (self.draft.words.len() < MOST_WORDS).then_some(())
    }

    /// Writes the kind of what follows, with how many parts it has or a byte.
    fn put_kind(&mut self, kind: u32, more: u32) {
        self.put(kind << 24 | more);
    }

    /// Writes which state comes next.
    fn refer(&mut self, state: StateId) -> Option<()> {
        let number = self.number(state)?;
        self.put(number);
        Some(())
    }

    /// The number of a state: 0 for the accepting one.
    fn number(&mut self, state: StateId) -> Option<u32> {
        let state = self.automaton.single(state);
        let state = match self.automaton.state(state) {
            State::Later(part) => self.automaton.lowered(part)?,
            _ => state,
        };
        if state == StateId::ACCEPT { Some(0) } else { self.draft.met.number(state) }
    }

    fn configuration(&mut self, id: ConfigurationId) -> Option<()> {
        let tables = self.tables;
        if id == ConfigurationId::UNSURE || tables.remembers(id) {
            return None;
        }
        let items = tables.items(id);
        self.put_kind(1 + u32::from(tables.is_accepting(id)), items.len() as u32);
        items.iter().try_for_each(|item| {
            self.refer(item.state)?;
            self.stacks(item.stack)
        })
    }

    /// Writes the frames of rounds and locksteps that a part keeps.
    fn stacks(&mut self, stack: StackId) -> Option<()> {
        self.has_room()?;
        let frames = self.tables.stacks.frames(stack);
        self.put(frames.len() as u32);
        frames.iter().try_for_each(|frame| {
            if frame.to_return == Frame::BOTTOM {
                self.put(u32::MAX);
                return Some(());
            }
            self.refer(frame.to_return)?;
            match self.automaton.state(frame.to_return) {
                State::MembersReturn(_) | State::MembersBetween(_) | State::DistinctReturn(_) => return None,
                State::Lockstep(_) => {
                    let tuple = self.tables.tuples.get(frame.value);
                    tuple.iter().try_for_each(|&operand| self.configuration(operand))?;
                }
                State::LoopReturn(_) => {
                    let set = self.tables.stacks.rounds.get(frame.value);
                    (set.len() < MOST_WORDS).then_some(())?;
                    self.put(set.len() as u32);
                    set.iter()
                        .flat_map(|interval| [interval.low, interval.high])
                        .for_each(|end| self.put(end));
                }
                _ => self.put(frame.value),
            }
            self.stacks(frame.below)
        })
    }

    fn write_state(&mut self, state: StateId) -> Option<()> {
        self.has_room()?;
        let automaton = self.automaton;
        match automaton.state(state) {
            // these are not met
            State::Accept | State::Later(_) => None,
            State::Byte { byte, next } => {
                self.put_kind(3, u32::from(byte));
                self.refer(next)
            }
            State::ByteOr { byte, next, otherwise } => {
                self.put_kind(4, u32::from(byte));
                self.refer(next)?;
                self.refer(otherwise)
            }
            State::Bytes { first, len } => {
                self.put_kind(5, len);
                // next to each other many lead to the same state
                let mut last = None;
                automaton.edges(first, len).iter().try_for_each(|edge| {
                    self.put(u32::from(edge.low) << 8 | u32::from(edge.high));
                    match last {
                        Some((next, _)) if next == edge.next => {}
                        _ => last = Some((edge.next, self.number(edge.next)?)),
                    }
                    last.map(|(_, number)| self.put(number))
                })
            }
            State::Split { first, len } => {
                self.put_kind(6, len);
                automaton.splits(first, len).iter().try_for_each(|&next| self.refer(next))
            }
            State::Named { next } => {
                self.put_kind(7, 0);
                self.refer(next)
            }
            State::Call { start, to_return } => {
                self.put_kind(8, 0);
                self.refer(start)?;
                self.refer(to_return)
            }
            State::LoopAgain(l) => self.write_loop(9, l),
            State::LoopReturn(l) => self.write_loop(10, l),
            State::MembersEnter(_)
            | State::MembersReturn(_)
            | State::MembersNext(_)
            | State::MembersBetween(_)
            | State::Key { .. }
            | State::DistinctEnter(_)
            | State::DistinctReturn(_)
            | State::DistinctNext(_) => None,
            State::Lockstep(l) => self.write_lockstep(11, l),
            State::LockstepEnter(l) => self.write_lockstep(12, l),
        }
    }

    fn write_lockstep(&mut self, kind: u32, l: u32) -> Option<()> {
        self.draft.locksteps.push(l);
        let lockstep = self.automaton.lockstep(l);
        self.put_kind(kind, lockstep.operands.len() as u32);
        self.put(u32::from(lockstep.complement));
        for operand in &lockstep.operands {
            self.put(u32::from(operand.nullable) << 1 | u32::from(operand.start.is_some()));
            operand.start.map_or(Some(()), |start| self.refer(start))?;
        }
        self.refer(lockstep.exit)?;
        self.refer(lockstep.state)
    }

    fn write_loop(&mut self, kind: u32, l: u32) -> Option<()> {
        let counted = self.automaton.counted_loop(l);
        self.put_kind(kind, u32::from(counted.max.is_some()));
        self.put(counted.bytes);
        self.put(counted.min);
        self.put(counted.max.unwrap_or(0));
        self.refer(counted.body)?;
        self.refer(counted.exit)?;
        self.refer(counted.to_return)?;
        self.refer(counted.after_first)
    }
}
