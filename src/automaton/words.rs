//! The words of a language: how many there are, and what they are.
//!
//! Configurations are deterministic, so each word is met once however many derivations it has, and never dead, so no path is
//! followed in vain. As a [transition system](crate::transitions) they have classes of bytes for labels.

use super::names::{NameTables, Place};
use super::{Automaton, ConfigurationId, StateId, Tables};
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind, Result};
use crate::grammar::ByteSet;
use crate::limits::Limits;
use crate::transitions::{Counts, Letters, List, Transition, TransitionSystem, shortest};
use crate::work::Budget;
use num_bigint::BigUint;
use rand::{Rng, RngCore};

pub use crate::transitions::Count;

/// Counts the words of an automaton's language, exactly. A language is infinite if a configuration can come
/// again, or if something nests in itself.
///
/// # Errors
/// `automaton/words-undecided` if a limit (`words_work`, `cache_bytes`, `lockstep_search`) is reached before the answer is
/// known: the language is too large, or infinite through nesting inside of an intersection.
pub fn count(automaton: &Automaton) -> Result<Count> {
    count_within_limits(automaton).map_err(|error| match error.kind() {
        ErrorKind::Limit => undecided(&error),
        _ => error,
    })
}

fn count_within_limits(automaton: &Automaton) -> Result<Count> {
    let count = count_words(&mut Configurations::new(automaton)?)?;
    if count == Count::Infinite || !automaton.has_names() {
        // names that came twice are no reason for a language to be infinite: lists end where there are no more names
        return Ok(count);
    }
    count_words(&mut Configurations::new(automaton)?.following_names())
}

/// Counts the words from a start state on, the empty one left out. The work is taken from a budget.
pub(super) fn count_from(automaton: &Automaton, start: StateId, budget: &Budget) -> Result<Count> {
    let mut configurations = Configurations::new(automaton)?;
    configurations.tables.work = budget.clone();
    configurations.start.configuration = configurations.tables.start_of(automaton, Some(start), false)?;
    let count = count_words(&mut configurations);
    budget.settle(&configurations.tables.work);
    count
}

fn count_words(configurations: &mut Configurations<'_>) -> Result<Count> {
    let start = configurations.start();
    Counts::default().count(configurations, &start)
}

/// The words of an automaton's language: a finite language's in the order of their bytes, an infinite one's
/// by length, then by bytes.
///
/// # Errors
/// Limits. The words themselves may be errors of the limits `words_work` (from one word
/// to the next), `cache_bytes` and `lockstep_search`.
pub fn enumerate(automaton: &Automaton) -> Result<Words<'_>> {
    let is_finite = match count_within_limits(automaton) {
        Ok(count) => count != Count::Infinite,
        // too large to count is no reason not to begin
        Err(error) if error.kind() == ErrorKind::Limit => false,
        Err(error) => return Err(error),
    };
    let configurations = Configurations::new(automaton)?.following_names();
    Ok(Words { configurations, list: is_finite.then(List::depth_first), has_failed: false })
}

/// The configurations of an automaton, in tables of their own.
struct Configurations<'a> {
    automaton: &'a Automaton,
    tables: Tables,
    names: NameTables,
    start: Position,
    /// The bytes of each class.
    classes: Vec<ByteSet>,
}

/// A configuration, and which names of objects came, if they are followed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Position {
    configuration: ConfigurationId,
    names: Place,
}

impl<'a> Configurations<'a> {
    fn new(automaton: &'a Automaton) -> Result<Configurations<'a>> {
        let mut tables = Tables::new();
        tables.work = Budget::of_words(automaton.limits());
        let start = Position { configuration: tables.start(automaton)?, names: Place::OUTSIDE };
        let mut classes = vec![ByteSet::EMPTY; automaton.class_count()];
        (0..=255).for_each(|byte| classes[automaton.class_of(byte)].insert(byte));
        Ok(Configurations { automaton, tables, names: NameTables::default(), start, classes })
    }

    /// The same, but words are left out in which an object has a name twice.
    fn following_names(mut self) -> Configurations<'a> {
        if self.automaton.has_names() {
            self.start.names = Place::START;
        }
        self
    }

    /// The position after a byte, if a word may go on so.
    fn step(&mut self, at: Position, byte: u8) -> Result<Option<Position>> {
        self.tables.work.spend(1)?;
        let configuration = self.tables.step(self.automaton, at.configuration, byte)?;
        if configuration == ConfigurationId::DEAD {
            return Ok(None);
        }
        let named = self.tables.successors().is_named(configuration);
        let names = self.names.advance(at.names, byte, named, |_| false);
        Ok(names.map(|names| Position { configuration, names }))
    }

    /// The length of a shortest word, whichever names came.
    fn shortest(&mut self) -> Result<Option<usize>> {
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

    fn successors(&mut self, at: &Position, into: &mut Vec<Transition<Position, ByteSet>>) -> Result<()> {
        let first = into.len();
        let one_by_one = self.tables.remembers(at.configuration) || !at.names.is_outside();
        let automaton = self.automaton;
        for &byte in automaton.distinguished(one_by_one) {
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
        Position { names: Place::OUTSIDE, ..*at }
    }
}

fn undecided(cause: &Error) -> Error {
    let diagnostic = cause.diagnostic();
    let found =
        [Some(diagnostic.message()), diagnostic.found_text()].into_iter().flatten().collect::<Vec<_>>();
    Error::new(
        ErrorKind::Limit,
        Diagnostic::new("automaton/words-undecided", "whether the language is finite was not found out")
            .found(found.join(": "))
            .allowed("languages with a finite number of configurations, within the limits")
            .help(
                "nesting without bound makes a language infinite; bound it, or bound repeats more narrowly",
            ),
    )
}

/// The words of a language; made by [`enumerate`].
pub struct Words<'a> {
    configurations: Configurations<'a>,
    /// `None` before the length of a shortest word of an infinite language is known.
    list: Option<List<Configurations<'a>>>,
    has_failed: bool,
}

impl Words<'_> {
    fn advance(&mut self) -> Result<Option<Vec<u8>>> {
        if self.list.is_none() {
            let Some(length) = self.configurations.shortest()? else { return Ok(None) };
            self.list = Some(List::by_length(length));
        }
        match &mut self.list {
            Some(list) => list.next(&mut self.configurations),
            None => Ok(None),
        }
    }
}

impl Iterator for Words<'_> {
    type Item = Result<Vec<u8>>;

    fn next(&mut self) -> Option<Result<Vec<u8>>> {
        if self.has_failed {
            return None;
        }
        self.configurations.tables.work = Budget::of_words(self.configurations.automaton.limits());
        let word = self.advance().transpose();
        self.has_failed = matches!(word, Some(Err(_)));
        word
    }
}
