//! The configurations of an automaton as a transition system, whose labels are sets of bytes.

use crate::automaton::keys::tracker::{KeyState, KeyTracker};
use crate::automaton::{Automaton, Cache, ConfigurationId, Lazy};
use crate::error::Result;
use crate::grammar::ByteSet;
use crate::limits::Limits;
use crate::transitions::{Letters, Transition, TransitionSystem, shortest};
use num_bigint::BigUint;
use rand::{Rng, RngCore};

/// The configurations of an automaton, in tables of their own.
pub(in crate::automaton) struct Configurations<'a> {
    pub(in crate::automaton) automaton: &'a Automaton,
    pub(in crate::automaton) tables: Cache,
    names: KeyTracker,
    pub(in crate::automaton) start: Position,
    /// The bytes of each class.
    classes: Vec<ByteSet>,
}

/// A configuration, and which names of objects came, if they are followed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::automaton) struct Position {
    pub(in crate::automaton) configuration: ConfigurationId,
    names: KeyState,
}

impl<'a> Configurations<'a> {
    /// Without a budget of work.
    pub(in crate::automaton) fn new(automaton: &'a Automaton) -> Result<Configurations<'a>> {
        let mut tables = Cache::new();
        let start =
            Position { configuration: Lazy::new(automaton, &mut tables).start()?, names: KeyState::OUTSIDE };
        let mut classes = vec![ByteSet::EMPTY; automaton.class_count()];
        (0..=255).for_each(|byte| classes[automaton.class_of(byte)].insert(byte));
        Ok(Configurations { automaton, tables, names: KeyTracker::default(), start, classes })
    }

    /// The same, but words are left out in which an object has a name twice.
    pub(in crate::automaton) fn following_names(mut self) -> Configurations<'a> {
        if self.automaton.has_names() {
            self.start.names = KeyState::START;
        }
        self
    }

    /// The position after a byte, if a word may go on so.
    fn step(&mut self, at: Position, byte: u8) -> Result<Option<Position>> {
        self.tables.work.spend(1)?;
        let configuration = Lazy::new(self.automaton, &mut self.tables).step(at.configuration, byte)?;
        if configuration == ConfigurationId::DEAD {
            return Ok(None);
        }
        let named = self.tables.transitions().is_named(configuration);
        let names = self.names.advance(at.names, byte, named, |_| false);
        Ok(names.map(|names| Position { configuration, names }))
    }

    /// The length of a shortest word, whichever names came.
    pub(in crate::automaton) fn shortest(&mut self) -> Result<Option<usize>> {
        let start = self.start;
        self.start = self.relaxed(&start);
        let length = shortest(self);
        self.start = start;
        length
    }
}

impl TransitionSystem for Configurations<'_> {
    type State = Position;
    type Label = ByteSet;

    fn start(&self) -> Position {
        self.start
    }

    /// By the last of their bytes.
    fn successors(&mut self, at: &Position, into: &mut Vec<Transition<Position, ByteSet>>) -> Result<()> {
        let first = into.len();
        let one_by_one = self.tables.is_history_dependent(at.configuration) || !at.names.is_outside();
        let automaton = self.automaton;
        for &byte in automaton.alphabet(one_by_one).iter().rev() {
            let Some(to) = self.step(*at, byte)? else { continue };
            let bytes = match one_by_one {
                true => ByteSet::range(byte, byte),
                false => self.classes[automaton.class_of(byte)],
            };
            match into[first..].iter_mut().find(|known| known.to == to) {
                Some(known) => known.label = known.label.union(&bytes),
                None => into.push(Transition { label: bytes, to }),
            }
        }
        // the quote that ends a string so comes before the characters that do not: paths stay short
        into[first..].reverse();
        Ok(())
    }

    fn is_accepting(&self, at: &Position) -> bool {
        self.tables.is_accepting(at.configuration)
    }

    fn times(&self, bytes: &ByteSet, count: &BigUint) -> BigUint {
        count * bytes.len()
    }

    fn is_pumpable(&self, at: &Position) -> bool {
        self.tables.nests_in_itself(at.configuration)
    }

    fn charge(&mut self, held: usize) -> Result<()> {
        let (limit, all) = (self.automaton.limits().cache_bytes, held + self.tables.memory_usage());
        match all > limit {
            true => Err(Limits::exceeded("cache_bytes", limit, format!("{all} bytes of words and tables"))),
            false => Ok(()),
        }
    }
}

impl Letters for Configurations<'_> {
    type Letter = u8;
    /// The first and the last of consecutive bytes.
    type Choice = (u8, u8);
    type Used = ();

    fn choices(&self, bytes: &ByteSet, _used: &(), into: &mut Vec<(u8, u8)>) {
        into.extend(bytes.ranges());
    }

    fn use_up(&self, _range: &(u8, u8), _used: &mut ()) {}

    fn size(&self, &(first, last): &(u8, u8)) -> BigUint {
        (u32::from(last) - u32::from(first) + 1).into()
    }

    fn first(&self, &(first, _): &(u8, u8)) -> u8 {
        first
    }

    fn next(&self, &(_, last): &(u8, u8), &byte: &u8) -> Option<u8> {
        (byte < last).then(|| byte + 1)
    }

    fn draw<R: RngCore>(&self, &(first, last): &(u8, u8), random: &mut R) -> u8 {
        random.random_range(first..=last)
    }

    fn relaxed(&self, at: &Position) -> Position {
        Position { names: KeyState::OUTSIDE, ..*at }
    }
}
