//! The configurations of an automaton as a transition system. The labels of the system are sets of letters: bytes, and
//! token terminals, each of which is one letter regardless of its tokens.

use crate::automaton::keys::tracker::{KeyState, KeyTracker};
use crate::automaton::program::automaton::Automaton;
use crate::automaton::program::ids::TerminalId;
use crate::automaton::program::letter::Letter;
use crate::automaton::run::cache::Cache;
use crate::automaton::run::configuration::ConfigurationId;
use crate::automaton::run::lazy::Lazy;
use crate::error::Result;
use crate::grammar::ByteSet;
use crate::limits::{LimitKind, Limits};
use crate::transitions::{Letters, Transition, TransitionSystem, WEIGHT, shortest};
use num_bigint::BigUint;
use rand::{Rng, RngCore};
use smallvec::SmallVec;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::automaton) struct LetterSet {
    pub(in crate::automaton) bytes: ByteSet,
    /// The token terminals, without duplicates.
    pub(in crate::automaton) terminals: SmallVec<[TerminalId; 2]>,
}

/// A range of consecutive bytes, or a token terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::automaton) enum LetterRange {
    /// The first and the last of consecutive bytes.
    Bytes(u8, u8),
    Token(TerminalId),
}

/// The configurations of an automaton as a transition system with its own tables.
pub(in crate::automaton) struct Configurations<'a> {
    pub(in crate::automaton) automaton: &'a Automaton,
    pub(in crate::automaton) tables: Cache,
    names: KeyTracker,
    pub(in crate::automaton) start: Position,
    /// The bytes of each class.
    classes: Vec<ByteSet>,
}

/// A configuration, and the recorded names of objects, if they are tracked.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::automaton) struct Position {
    pub(in crate::automaton) configuration: ConfigurationId,
    names: KeyState,
}

impl<'a> Configurations<'a> {
    /// Creates the system without a budget of work. Names of objects are not compared; see
    /// [`following_names`](Configurations::following_names).
    pub(in crate::automaton) fn new(automaton: &'a Automaton) -> Result<Configurations<'a>> {
        let mut tables = Cache::new();
        let start =
            Position { configuration: Lazy::new(automaton, &mut tables).start()?, names: KeyState::OUTSIDE };
        let mut classes = vec![ByteSet::EMPTY; automaton.class_count()];
        (0..=255).for_each(|byte| classes[automaton.class_of(byte)].insert(byte));
        Ok(Configurations { automaton, tables, names: KeyTracker::default(), start, classes })
    }

    /// Excludes the words in which an object has a name twice.
    pub(in crate::automaton) fn following_names(mut self) -> Configurations<'a> {
        if self.automaton.has_names() {
            self.start.names = KeyState::START;
        }
        self
    }

    /// The position after a byte; `None` if no word continues with the byte.
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

    /// The position after a token of a terminal; `None` if the terminal is not allowed.
    fn step_token(&mut self, at: Position, terminal: TerminalId) -> Result<Option<Position>> {
        self.tables.work.spend(1)?;
        let next = Lazy::new(self.automaton, &mut self.tables).step_token(
            at.configuration,
            ConfigurationId::DEAD,
            |other| other == terminal,
        )?;
        // no object with tracked names is open where a token terminal is allowed
        let names = if at.names.is_outside() { KeyState::OUTSIDE } else { KeyState::START };
        Ok(next.map(|configuration| Position { configuration, names }))
    }

    /// The length of a shortest word, regardless of names; `None` if there is no word.
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
    type Label = LetterSet;

    fn start(&self) -> Position {
        self.start
    }

    /// Transitions are ordered by the last of their bytes; transitions of token terminals alone come last.
    fn successors(&mut self, at: &Position, into: &mut Vec<Transition<Position, LetterSet>>) -> Result<()> {
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
                Some(known) => known.label.bytes = known.label.bytes.union(&bytes),
                None => into.push(Transition { label: LetterSet { bytes, terminals: SmallVec::new() }, to }),
            }
        }
        // so the quote that ends a string comes before other characters, which keeps paths short
        into[first..].reverse();
        if automaton.has_terminals() {
            let mut terminals = Lazy::new(automaton, &mut self.tables).terminals(at.configuration);
            terminals.sort_unstable();
            terminals.dedup();
            for terminal in terminals {
                let Some(to) = self.step_token(*at, terminal)? else { continue };
                match into[first..].iter_mut().find(|known| known.to == to) {
                    Some(known) => known.label.terminals.push(terminal),
                    None => {
                        let terminals = SmallVec::from_elem(terminal, 1);
                        into.push(Transition { label: LetterSet { bytes: ByteSet::EMPTY, terminals }, to });
                    }
                }
            }
        }
        Ok(())
    }

    fn is_accepting(&self, at: &Position) -> bool {
        self.tables.is_accepting(at.configuration)
    }

    fn times(&self, letters: &LetterSet, count: &BigUint) -> BigUint {
        count * (letters.bytes.len() + letters.terminals.len())
    }

    fn is_pumpable(&self, at: &Position) -> bool {
        self.tables.nests_in_itself(at.configuration)
    }

    fn charge(&mut self, held: usize) -> Result<()> {
        let (limit, all) = (self.automaton.limits().cache_bytes, held + self.tables.memory_usage());
        match all > limit {
            true => Err(Limits::exceeded(
                LimitKind::CacheBytes,
                limit,
                format!("{all} bytes of words and tables"),
            )),
            false => Ok(()),
        }
    }
}

impl Letters for Configurations<'_> {
    type Letter = Letter;
    type Choice = LetterRange;
    type Used = ();

    fn choices(&self, letters: &LetterSet, _used: &(), into: &mut Vec<LetterRange>) {
        into.extend(letters.bytes.ranges().map(|(first, last)| LetterRange::Bytes(first, last)));
        into.extend(letters.terminals.iter().copied().map(LetterRange::Token));
    }

    fn use_up(&self, _range: &LetterRange, _used: &mut ()) {}

    fn size(&self, range: &LetterRange) -> BigUint {
        match *range {
            LetterRange::Bytes(first, last) => (u32::from(last) - u32::from(first) + 1).into(),
            LetterRange::Token(_) => 1u32.into(),
        }
    }

    fn first(&self, range: &LetterRange) -> Letter {
        match *range {
            LetterRange::Bytes(first, _) => Letter::Byte(first),
            LetterRange::Token(terminal) => Letter::Token(terminal),
        }
    }

    fn next(&self, range: &LetterRange, letter: &Letter) -> Option<Letter> {
        match (*range, *letter) {
            (LetterRange::Bytes(_, last), Letter::Byte(byte)) if byte < last => Some(Letter::Byte(byte + 1)),
            _ => None,
        }
    }

    fn draw<R: RngCore>(&self, range: &LetterRange, random: &mut R) -> Letter {
        match *range {
            LetterRange::Bytes(first, last) => Letter::Byte(random.random_range(first..=last)),
            LetterRange::Token(terminal) => Letter::Token(terminal),
        }
    }

    /// Bytes beyond ASCII begin many sets of characters, of which a text rarely needs one.
    fn weight(&self, letters: &LetterSet) -> u32 {
        let is_ascii = letters.bytes.iter().next().is_some_and(|byte| byte.is_ascii());
        if is_ascii || !letters.terminals.is_empty() { WEIGHT } else { 1 }
    }

    /// What closes strings, arrays and objects comes first, since it leads to short words. What opens them comes after
    /// other letters; white space, of which there may be much, and characters beyond ASCII come last.
    fn rank(&self, letters: &LetterSet) -> u8 {
        let has = |byte| letters.bytes.contains(byte);
        match letters.bytes.iter().next() {
            _ if b"\"]})".iter().any(|&byte| has(byte)) => 0,
            Some(byte) if b"([{<".contains(&byte) => 2,
            Some(byte) if byte.is_ascii_graphic() => 1,
            None => 1,
            Some(byte) if byte.is_ascii() => 3,
            Some(_) => 4,
        }
    }

    fn relaxed(&self, at: &Position) -> Position {
        Position { names: KeyState::OUTSIDE, ..*at }
    }
}
