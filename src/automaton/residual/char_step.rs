//! Steps by whole characters. To find where all characters of a group lead, no intermediate configurations are created,
//! and characters that move all states alike are stepped once.

use super::char_partition::{BlockSet, CharPartition, Images, StateMap, StateMaps, States};
use crate::automaton::program::automaton::Automaton;
use crate::automaton::program::ids::StateId;
use crate::automaton::program::registers::RegisterKind;
use crate::automaton::program::state::State;
use crate::automaton::register::product_states::ProductState;
use crate::automaton::run::byte_runs::{ByteRun, Configurations};
use crate::automaton::run::configuration::{ConfigurationId, Item, StackSetId};
use crate::automaton::run::frame_value::ProductStateId;
use crate::automaton::run::lazy::Lazy;
use crate::automaton::tuning::MOST_MOVES;
use crate::error::Result;
use crate::grammar::ByteSet;
use regex_syntax::utf8::Utf8Sequence;
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// The items of a configuration by kind: the items that each byte moves to at most one state, and the products.
struct Parted {
    plain: SmallVec<[Item; 8]>,
    products: SmallVec<[(u32, StackSetId); 2]>,
    /// The groups with characters that items of other kinds may read.
    unknown: BlockSet,
}

/// Products after a character: the id of each, the product state reached, and the stacks below.
type Stepped = SmallVec<[(u32, ProductStateId, StackSetId); 2]>;

impl Lazy<'_> {
    /// The configurations after the ASCII characters in `ranges`, without duplicates, possibly including the dead one.
    pub(crate) fn after_ascii(&mut self, id: ConfigurationId, ranges: &[(u8, u8)]) -> Result<Configurations> {
        let mut after = Configurations::new();
        for &range in ranges {
            for next in self.after_range(id, range)? {
                if !after.contains(&next) {
                    after.push(next);
                }
            }
        }
        Ok(after)
    }

    /// The configurations after the characters of groups, possibly including the dead one.
    pub(crate) fn after_characters(
        &mut self,
        id: ConfigurationId,
        groups: &'static CharPartition,
    ) -> Result<Images<ConfigurationId>> {
        if self.is_history_dependent(id) {
            return Ok(Images { all: SmallVec::new(), unknown: groups.all() });
        }
        let Parted { plain, products, unknown } = self.parted(id, groups);
        let ways = self.ways(&plain, groups);
        let mut stepped = Images { unknown, ..Images::one(Stepped::new(), groups.all()) };
        for &(l, stack) in &products {
            for place in 0..self.stacks.frame_count(stack) {
                let frame = self.stacks.frame(stack, place);
                let tuples = self.product_images(l, frame.value.product_state(), groups)?;
                stepped = stepped.extended(&tuples, |stepped, tuple| {
                    stepped.extend(tuple.map(|tuple| (l, tuple, frame.below)));
                });
            }
        }
        let mut failed = Ok(());
        let moved = |moves: &StateMap, stepped: &Stepped| {
            self.moved(&plain, moves, stepped).unwrap_or_else(|error| {
                failed = Err(error);
                ConfigurationId::DEAD
            })
        };
        let after = ways.with(&stepped, moved);
        failed.map(|()| after)
    }

    /// The product states of a product after characters; `None` replaces all product states in which an operand is dead
    /// and decides alone.
    fn product_images(
        &mut self,
        l: u32,
        tuple: ProductStateId,
        groups: &'static CharPartition,
    ) -> Result<Images<Option<ProductStateId>>> {
        let automaton = self.automaton;
        let mut tuples = Images::one(ProductState::new(), groups.all());
        for operand in ProductState::from_slice(self.products.get(tuple)) {
            let after = self.operand_after(operand, groups)?;
            tuples = tuples.extended(&after, |tuple, &next| tuple.push(next));
        }
        let complement = automaton.product(l).complement;
        let mut after = Images { all: SmallVec::new(), unknown: tuples.unknown };
        for (tuple, of) in tuples.all {
            let goes_on = complement || !tuple.contains(&ConfigurationId::DEAD);
            after.add(goes_on.then(|| self.products.intern(&tuple)), of);
        }
        Ok(after)
    }

    /// The configurations of a product's operand after one character of each of the groups. Cached, since many product
    /// states share operands.
    fn operand_after(
        &mut self,
        operand: ConfigurationId,
        groups: &'static CharPartition,
    ) -> Result<Images<ConfigurationId>> {
        let key = (operand, groups.partition_id());
        if let Some(known) = self.char_steps.of_operands.get(&key) {
            return Ok(known.clone());
        }
        let after = self.after_characters(operand, groups)?;
        self.char_steps.of_operands.insert(key, after.clone());
        Ok(after)
    }

    /// The items of a configuration, divided by kind.
    fn parted(&self, id: ConfigurationId, groups: &CharPartition) -> Parted {
        let automaton = self.automaton;
        let mut parted = Parted { plain: SmallVec::new(), products: SmallVec::new(), unknown: 0 };
        for &item in self.items(id) {
            match automaton.state(item.state) {
                plain if is_plain(plain) => parted.plain.push(item),
                State::Register { kind: RegisterKind::Product, record, .. } => {
                    parted.products.push((record, item.stack));
                }
                // a character that such a state, in a key for example, does not read leads nowhere
                State::Register { .. } => {
                    parted.unknown |= groups.begun_by(automaton.wanted_bytes(item.state).iter());
                }
                _ => parted.unknown = groups.all(),
            }
        }
        parted
    }

    /// The configuration after `items` were moved to the states in `moves` and products reached the states in
    /// `stepped`.
    fn moved(&mut self, items: &[Item], moves: &StateMap, stepped: &Stepped) -> Result<ConfigurationId> {
        self.check_memory()?;
        self.make(|lazy, closure| {
            for (item, next) in items.iter().zip(moves) {
                if let &Some(next) = next {
                    lazy.add(closure, next, item.stack);
                }
            }
            for &(l, tuple, below) in stepped {
                lazy.reach_product_state(closure, (l, tuple), below)?;
            }
            if lazy.memory.is_used() {
                closure.doubt(&lazy.stacks);
            }
            Ok(())
        })
    }

    /// The ways in which characters move items, each with the groups that have such a character.
    fn ways(&mut self, items: &[Item], groups: &'static CharPartition) -> Images<StateMap> {
        let automaton = self.automaton;
        let mut ways = Images { all: SmallVec::new(), unknown: 0 };
        if groups.ascii != 0 {
            let start = items.iter().map(|item| Some(item.state)).collect();
            each_move(automaton, &start, (0, 0x7F), |moves, (low, high)| {
                let of_run = groups.begun_by(low..=high);
                if of_run != 0 && ways.all.len() <= MOST_MOVES {
                    ways.add(moves, of_run);
                }
            });
            if ways.all.len() > MOST_MOVES {
                ways = Images { all: SmallVec::new(), unknown: groups.ascii };
            }
        }
        if groups.beyond == 0 {
            return ways;
        }
        // usually at most one of the states distinguishes the characters of a group
        let mut beyond = Images::one(StateMap::new(), groups.beyond);
        for item in items {
            let of_state = self.ways_beyond_ascii(smallvec![item.state], groups);
            beyond = beyond.extended(&of_state, |moves, next| moves.extend_from_slice(next));
        }
        if beyond.unknown != 0 && items.len() > 1 {
            let states = items.iter().map(|item| item.state).collect();
            beyond = Images::clone(&self.ways_beyond_ascii(states, groups));
        }
        beyond.all.into_iter().for_each(|(moves, of)| ways.add(moves, of));
        Images { unknown: ways.unknown | beyond.unknown, ..ways }
    }

    fn ways_beyond_ascii(&mut self, states: States, groups: &'static CharPartition) -> StateMaps {
        let automaton = self.automaton;
        let of = (states, groups.partition_id());
        if let Some(known) = self.char_steps.ways.get(&of) {
            return Arc::clone(known);
        }
        let ways = Arc::new(new_ways_beyond_ascii(automaton, &of.0, groups));
        self.char_steps.ways.insert(of, Arc::clone(&ways));
        ways
    }
}

/// Whether each byte moves a state to at most one state, without a register.
fn is_plain(state: State) -> bool {
    matches!(state, State::Byte { .. } | State::ByteOr { .. } | State::Bytes { .. } | State::Token { .. })
}

fn new_ways_beyond_ascii(automaton: &Automaton, states: &States, groups: &CharPartition) -> Images<StateMap> {
    let mut after = Images { all: SmallVec::new(), unknown: 0 };
    let mut bytes = ByteSet::EMPTY;
    states.iter().for_each(|&state| automaton.add_wanted_bytes(state, &mut bytes));
    let wanted = groups.begun_by(bytes.iter().filter(|byte| !byte.is_ascii()));
    if wanted != groups.beyond {
        after.add(states.iter().map(|_| None).collect(), groups.beyond & !wanted);
    }
    for (place, group) in groups.spelled.iter().enumerate().filter(|(place, _)| wanted >> place & 1 == 1) {
        match ways_of_group(automaton, states, group) {
            Some(ways) => ways.into_iter().for_each(|moves| after.add(moves, 1 << place)),
            None => after.unknown |= 1 << place,
        }
    }
    after
}

/// The bytes that may follow a first byte in well-formed UTF-8 (Unicode Standard, table 3-7), as the second byte of the
/// character or a later one.
fn continuations(first: u8, second: bool) -> (u8, u8) {
    match first {
        0xE0 if second => (0xA0, 0xBF),
        0xED if second => (0x80, 0x9F),
        0xF0 if second => (0x90, 0xBF),
        0xF4 if second => (0x80, 0x8F),
        _ => (0x80, 0xBF),
    }
}

/// The ways in which the characters of a group beyond ASCII move states. `None` if there are too many, if a byte may
/// move a state to several others, or if a state reads bytes that are not well-formed UTF-8.
fn ways_of_group(automaton: &Automaton, states: &States, group: &[Utf8Sequence]) -> Option<Vec<StateMap>> {
    let start: StateMap = states.iter().copied().map(Some).collect();
    let mut ways = Vec::new();
    for sequence in group.iter().filter(|sequence| sequence.len() > 1) {
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

/// Adds each way in which a range of bytes moves states, without duplicates.
fn move_all(automaton: &Automaton, states: &StateMap, bytes: (u8, u8), ways: &mut Vec<StateMap>) {
    each_move(automaton, states, bytes, |moves, _| {
        if !ways.contains(&moves) {
            ways.push(moves);
        }
    });
}

/// Calls `add` with the way in which bytes move states, for each run of bytes that move all of them alike.
fn each_move(
    automaton: &Automaton,
    states: &StateMap,
    (low, high): (u8, u8),
    mut add: impl FnMut(StateMap, (u8, u8)),
) {
    let mut byte = Some(low);
    while let Some(low) = byte.filter(|&low| low <= high) {
        let mut run = ByteRun::around(low);
        let follow = |state: &Option<StateId>| run.follow(automaton, automaton.state((*state)?));
        let moves: StateMap = states.iter().map(follow).collect();
        let last = run.bounds().1.min(high);
        add(moves, (low, last));
        byte = last.checked_add(1);
    }
}
