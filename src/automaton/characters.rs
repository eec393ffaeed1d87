//! Steps by whole characters: whoever asks where all characters of a kind lead need not make the configurations in
//! between, nor ask twice where characters move all states alike.

use super::Automaton;
use super::closure::Item;
use super::lockstep::Tuple;
use super::runs::{Configurations, Run};
use super::stack::StackId;
use super::state::{State, StateId};
use super::table::{ConfigurationId, Tables};
use crate::error::Result;
use crate::grammar::ByteSet;
use regex_syntax::utf8::Utf8Sequence;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// Where characters lead in more ways than this, they are told apart byte by byte.
const MOST_MOVES: usize = 16;

/// Some states, in the order of items.
type States = SmallVec<[StateId; 8]>;

/// Where each of some states leads, if anywhere.
type Moves = SmallVec<[Option<StateId>; 8]>;

/// How many groups of characters beyond ASCII are told apart.
const GROUPS: usize = 4;

/// Groups of characters beyond ASCII, as they are spelled in UTF-8.
pub(crate) type Groups = &'static [Vec<Utf8Sequence>; GROUPS];

/// What characters beyond ASCII lead to: each once, and per group, as bits, which ones its characters lead to.
#[derive(Clone, Debug)]
pub(crate) struct After<T> {
    pub(crate) all: SmallVec<[T; 2]>,
    of: [u16; GROUPS],
}

impl<T> After<T> {
    /// What all characters lead to.
    fn one(value: T) -> After<T> {
        After { all: smallvec![value], of: [1; GROUPS] }
    }

    fn varies(&self) -> bool {
        self.all.len() > 1
    }

    /// What the characters of a group lead to.
    pub(crate) fn of_group(&self, group: usize) -> impl Iterator<Item = &T> {
        let bits = self.of[group];
        self.all.iter().enumerate().filter(move |(place, _)| bits >> place & 1 == 1).map(|(_, value)| value)
    }

    /// What two things lead to together; `None` if both vary: it takes the characters to know what goes together.
    fn with<U, V>(&self, other: &After<U>, mut both: impl FnMut(&T, &U) -> V) -> Option<After<V>> {
        if self.varies() && other.varies() {
            return None;
        }
        let of = if self.varies() { self.of } else { other.of };
        let all = self.all.iter().flat_map(|one| other.all.iter().map(move |other| (one, other)));
        Some(After { all: all.map(|(one, other)| both(one, other)).collect(), of })
    }
}

/// In which ways characters beyond ASCII move states. `None` if there are too many, or it takes more than these states to
/// know.
type Ways = Option<Arc<After<Moves>>>;

/// The ways that are known. States have the same ones in all groupings that are looked for at one address.
#[derive(Debug, Default)]
pub(super) struct BeyondAscii {
    ways: FxHashMap<(States, usize), Ways>,
    /// Where they lead from operands of locksteps, in a grouping.
    of_operands: FxHashMap<(ConfigurationId, usize), Option<After<ConfigurationId>>>,
}

impl BeyondAscii {
    /// Bytes on the heap.
    pub(super) fn memory_usage(&self) -> usize {
        let operand = size_of::<(ConfigurationId, usize, Option<After<ConfigurationId>>)>();
        self.ways.capacity() * (size_of::<(States, usize, Ways)>() + 1)
            + self.of_operands.capacity() * (operand + 1)
    }
}

/// A configuration's items: those that a byte moves to one state each, and the locksteps.
struct Parted {
    plain: SmallVec<[Item; 8]>,
    locksteps: SmallVec<[(u32, StackId); 2]>,
}

/// A lockstep after a character: which one, the tuple that is come to, and the stacks below.
type Stepped = SmallVec<[(u32, u32, StackId); 2]>;

impl Tables {
    /// The configurations after ASCII characters, the dead one among them, each once.
    pub(crate) fn after_ascii(
        &mut self,
        automaton: &Automaton,
        id: ConfigurationId,
        ranges: &[(u8, u8)],
    ) -> Result<Configurations> {
        let mut after = Configurations::new();
        for &range in ranges {
            for next in self.after_range(automaton, id, range)? {
                add(&mut after, next);
            }
        }
        Ok(after)
    }

    /// The configurations after characters beyond ASCII, the dead one among them. `None` if it takes all bytes to tell.
    pub(crate) fn after_beyond_ascii(
        &mut self,
        automaton: &Automaton,
        id: ConfigurationId,
        groups: Groups,
    ) -> Result<Option<After<ConfigurationId>>> {
        let parted = if self.remembers(id) { None } else { self.parted(automaton, id) };
        let Some(Parted { plain, locksteps }) = parted else { return Ok(None) };
        let Some(ways) = self.ways_beyond_ascii(automaton, &plain, groups) else { return Ok(None) };
        let mut stepped = After::one(Stepped::new());
        for &(l, stack) in &locksteps {
            for place in 0..self.stacks.frame_count(stack) {
                let frame = self.stacks.frame(stack, place);
                let tuples = self.tuples_beyond_ascii(automaton, l, frame.value, groups)?;
                let step = |stepped: &Stepped, tuple: &Option<u32>| {
                    let step = tuple.map(|tuple| (l, tuple, frame.below));
                    stepped.iter().copied().chain(step).collect()
                };
                let Some(both) = tuples.and_then(|tuples| stepped.with(&tuples, step)) else {
                    return Ok(None);
                };
                stepped = both;
            }
        }
        let mut failed = Ok(());
        let moved = |moves: &Moves, stepped: &Stepped| {
            self.moved(automaton, &plain, moves, stepped).unwrap_or_else(|error| {
                failed = Err(error);
                ConfigurationId::DEAD
            })
        };
        let after = ways.with(&stepped, moved);
        failed.map(|()| after)
    }

    /// The tuples of a lockstep after characters beyond ASCII, `None` among them if an operand is dead then and decides
    /// alone. `None` if it takes all bytes to tell.
    fn tuples_beyond_ascii(
        &mut self,
        automaton: &Automaton,
        l: u32,
        tuple: u32,
        groups: Groups,
    ) -> Result<Option<After<Option<u32>>>> {
        let mut tuples = After::one(Tuple::new());
        for operand in Tuple::from_slice(self.tuples.get(tuple)) {
            let after = self.operand_beyond_ascii(automaton, operand, groups)?;
            if let Some([next]) = after.as_ref().map(|after| &after.all[..]) {
                tuples.all.iter_mut().for_each(|tuple| tuple.push(*next));
                continue;
            }
            let add = |tuple: &Tuple, &next: &ConfigurationId| tuple.iter().copied().chain([next]).collect();
            let Some(both) = after.and_then(|after| tuples.with(&after, add)) else { return Ok(None) };
            tuples = both;
        }
        let complement = automaton.lockstep(l).complement;
        let intern = |tuple: Tuple| {
            let goes_on = complement || !tuple.contains(&ConfigurationId::DEAD);
            goes_on.then(|| self.tuples.intern(&tuple))
        };
        Ok(Some(After { all: tuples.all.into_iter().map(intern).collect(), of: tuples.of }))
    }

    /// The configurations of an operand after characters beyond ASCII: many tuples have it.
    fn operand_beyond_ascii(
        &mut self,
        automaton: &Automaton,
        operand: ConfigurationId,
        groups: Groups,
    ) -> Result<Option<After<ConfigurationId>>> {
        let key = (operand, groups.as_ptr().addr());
        if let Some(known) = self.beyond_ascii.of_operands.get(&key) {
            return Ok(known.clone());
        }
        let after = self.after_beyond_ascii(automaton, operand, groups)?;
        self.beyond_ascii.of_operands.insert(key, after.clone());
        Ok(after)
    }

    /// The items of a configuration, by kind; `None` if a key may go on with a character beyond ASCII.
    fn parted(&self, automaton: &Automaton, id: ConfigurationId) -> Option<Parted> {
        let mut parted = Parted { plain: SmallVec::new(), locksteps: SmallVec::new() };
        for &item in self.items(id) {
            match automaton.state(item.state) {
                plain if is_plain(plain) => parted.plain.push(item),
                State::Lockstep(l) => parted.locksteps.push((l, item.stack)),
                State::Key { members, node } => {
                    if automaton.keys(members).edges(node).any(|edge| !edge.0.is_ascii()) {
                        return None;
                    }
                }
                _ => return None,
            }
        }
        Some(parted)
    }

    /// The configuration after items have moved.
    fn moved(
        &mut self,
        automaton: &Automaton,
        items: &[Item],
        moves: &Moves,
        stepped: &Stepped,
    ) -> Result<ConfigurationId> {
        self.check_memory(automaton)?;
        self.make(automaton, |tables, closure| {
            for (item, next) in items.iter().zip(moves) {
                if let &Some(next) = next {
                    tables.add(closure, next, item.stack);
                }
            }
            for &(l, tuple, below) in stepped {
                tables.come_to_tuple(automaton, closure, (l, tuple), below)?;
            }
            if tables.memory.is_used() {
                closure.doubt(&tables.stacks);
            }
            Ok(())
        })
    }

    /// The ways in which characters beyond ASCII move items.
    fn ways_beyond_ascii(&mut self, automaton: &Automaton, items: &[Item], groups: Groups) -> Ways {
        // mostly none or one of the states tells such characters apart
        let mut ways = Some(After::one(Moves::new()));
        for item in items {
            let of_state = self.ways_of(automaton, States::from_slice(&[item.state]), groups)?;
            let add = |moves: &Moves, next: &Moves| moves.iter().chain(next).copied().collect();
            ways = ways.and_then(|ways| ways.with(&of_state, add));
        }
        match ways {
            Some(ways) => Some(Arc::new(ways)),
            None => self.ways_of(automaton, items.iter().map(|item| item.state).collect(), groups),
        }
    }

    fn ways_of(&mut self, automaton: &Automaton, states: States, groups: Groups) -> Ways {
        let of = (states, groups.as_ptr().addr());
        if let Some(known) = self.beyond_ascii.ways.get(&of) {
            return known.clone();
        }
        let ways = ways_beyond_ascii(automaton, &of.0, groups).map(Arc::new);
        self.beyond_ascii.ways.insert(of, ways.clone());
        ways
    }
}

/// Whether a byte moves a state to one other or to none.
fn is_plain(state: State) -> bool {
    matches!(state, State::Byte { .. } | State::ByteOr { .. } | State::Bytes { .. })
}

fn add(all: &mut Configurations, next: ConfigurationId) {
    if !all.contains(&next) {
        all.push(next);
    }
}

fn ways_beyond_ascii(automaton: &Automaton, states: &States, groups: Groups) -> Option<After<Moves>> {
    if states.iter().all(|&state| automaton.wanted_bytes(state).iter().all(|byte| byte.is_ascii())) {
        return Some(After::one(states.iter().map(|_| None).collect()));
    }
    let mut after = After { all: SmallVec::new(), of: [0; GROUPS] };
    for (group, of) in groups.iter().zip(&mut after.of) {
        for moves in ways_of_group(automaton, states, group)? {
            let place = after.all.iter().position(|known| *known == moves).unwrap_or_else(|| {
                after.all.push(moves);
                after.all.len() - 1
            });
            *of |= 1_u16.checked_shl(place as u32)?;
        }
    }
    Some(after)
}

/// The bytes that may follow one in well-formed UTF-8 (Unicode Standard, table 3-7), where they are the second ones of a
/// character or come later.
fn continuations(first: u8, second: bool) -> (u8, u8) {
    match first {
        0xE0 if second => (0xA0, 0xBF),
        0xED if second => (0x80, 0x9F),
        0xF0 if second => (0x90, 0xBF),
        0xF4 if second => (0x80, 0x8F),
        _ => (0x80, 0xBF),
    }
}

/// The ways in which the characters of a group move states.
fn ways_of_group(automaton: &Automaton, states: &States, group: &[Utf8Sequence]) -> Option<Vec<Moves>> {
    let start: Moves = states.iter().copied().map(Some).collect();
    let mut ways = Vec::new();
    for sequence in group {
        let mut bytes = sequence.as_slice().iter().map(|range| (range.start, range.end));
        let Some(first) = bytes.next() else { continue };
        let mut at = Vec::new();
        move_all(automaton, &start, first, &mut at);
        for (place, range) in bytes.enumerate() {
            let well_formed = continuations(first.0, place == 0);
            let others = ByteSet::range(well_formed.0, well_formed.1).complement();
            let is_within = |&state: &StateId| {
                is_plain(automaton.state(state))
                    && automaton.wanted_bytes(state).intersection(&others).is_empty()
            };
            if at.len() > MOST_MOVES || !at.iter().flatten().flatten().all(is_within) {
                return None;
            }
            let mut next = Vec::new();
            at.iter().for_each(|moves| move_all(automaton, moves, range, &mut next));
            at = next;
        }
        at.retain(|moves| !ways.contains(moves));
        ways.append(&mut at);
    }
    Some(ways)
}

/// Adds each way in which bytes from one to another move states, unless it is known.
fn move_all(automaton: &Automaton, states: &Moves, (low, high): (u8, u8), ways: &mut Vec<Moves>) {
    let mut byte = Some(low);
    while let Some(low) = byte.filter(|&low| low <= high) {
        let mut run = Run::around(low);
        let follow = |state: &Option<StateId>| run.follow(automaton, automaton.state((*state)?));
        let moves: Moves = states.iter().map(follow).collect();
        if !ways.contains(&moves) {
            ways.push(moves);
        }
        byte = run.bounds().1.checked_add(1);
    }
}
