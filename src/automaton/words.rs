//! The words of a language: how many there are, and what they are.
//!
//! Both run over configurations, which are deterministic, so each word is met once however many
//! derivations it has, and which are never dead, so no path is followed in vain.

use super::names::{NameTables, Place};
use super::{Automaton, ConfigurationId, StateId, Tables};
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::Limits;
use crate::work::Budget;
use num_bigint::BigUint;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt;

/// How many words a language has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Count {
    /// Exactly so many.
    Finite(BigUint),
    /// Without end.
    Infinite,
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Count::Finite(count) => count.fmt(f),
            Count::Infinite => f.write_str("infinite"),
        }
    }
}

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
    let count = count_of(&mut Walk::new(automaton)?)?;
    if count == Count::Infinite || !automaton.has_names() {
        // names that came twice are no reason for a language to be infinite: lists end where there are no more names
        return Ok(count);
    }
    count_of(&mut Walk::new(automaton)?.following_names())
}

/// Counts the words from a start state on, the empty one left out. The work is taken from a budget.
pub(super) fn count_from(automaton: &Automaton, start: StateId, budget: &Budget) -> Result<Count> {
    let mut walk = Walk::new(automaton)?;
    walk.tables.work = budget.clone();
    walk.start.configuration = walk.tables.start_of(automaton, Some(start), false)?;
    let count = count_of(&mut walk);
    budget.settle(&walk.tables.work);
    count
}

fn count_of(walk: &mut Walk<'_>) -> Result<Count> {
    // per configuration: `None` while it is being counted
    let mut counts: FxHashMap<Position, Option<BigUint>> = FxHashMap::default();
    let mut path = vec![walk.open(walk.start)?];
    counts.insert(walk.start, None);
    while let Some(top) = path.last_mut() {
        match top.next.pop() {
            None => {
                let (done, total) = (top.position, std::mem::take(&mut top.total));
                walk.hold(total.bits() as usize / 8)?;
                path.pop();
                if let Some(parent) = path.last_mut() {
                    parent.total += &total * parent.weight;
                }
                counts.insert(done, Some(total));
            }
            Some((next, bytes)) => match counts.get(&next) {
                Some(Some(known)) => top.total += known * bytes,
                Some(None) => return Ok(Count::Infinite),
                None => {
                    top.weight = bytes;
                    // stacks grow along the path: to look now and then is enough
                    if path.len().is_power_of_two() && walk.tables.nests_in_itself(next.configuration) {
                        return Ok(Count::Infinite);
                    }
                    counts.insert(next, None);
                    walk.hold(size_of::<Open>() + size_of::<(Position, Option<BigUint>)>())?;
                    path.push(walk.open(next)?);
                }
            },
        }
    }
    let total = counts.remove(&walk.start).flatten();
    Ok(Count::Finite(total.unwrap_or_default()))
}

/// The words of an automaton's language: a finite language's in the order of their bytes, an infinite one's
/// by length, then by bytes.
///
/// # Errors
/// Limits. The words themselves may be errors of the limits `words_work` (from one word
/// to the next), `cache_bytes` and `lockstep_search`.
pub fn enumerate(automaton: &Automaton) -> Result<Words<'_>> {
    let finite = match count_within_limits(automaton) {
        Ok(count) => count != Count::Infinite,
        // too large to count is no reason not to begin
        Err(error) if error.kind() == ErrorKind::Limit => false,
        Err(error) => return Err(error),
    };
    let walk = Walk::new(automaton)?.following_names();
    Ok(Words {
        walk,
        is_finite: finite,
        length: 0,
        path: Vec::new(),
        word: Vec::new(),
        reaches: FxHashMap::default(),
        started: false,
        failed: false,
    })
}

/// Tables of one's own, and what is asked of them here.
struct Walk<'a> {
    automaton: &'a Automaton,
    tables: Tables,
    names: NameTables,
    start: Position,
    /// How many bytes each class has.
    class_sizes: Vec<u32>,
    /// Bytes of what is kept besides the tables.
    held: usize,
}

/// A configuration, and which names came, if they are followed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Position {
    configuration: ConfigurationId,
    names: Place,
}

/// A position on the path, and its successors that are still to be followed.
struct Open {
    position: Position,
    /// Successors with the number of bytes that lead there, last first.
    next: Vec<(Position, u32)>,
    total: BigUint,
    weight: u32,
}

impl<'a> Walk<'a> {
    fn new(automaton: &'a Automaton) -> Result<Walk<'a>> {
        let mut tables = Tables::new();
        tables.work = Budget::of_words(automaton.limits());
        let start = Position { configuration: tables.start(automaton)?, names: Place::OUTSIDE };
        let mut class_sizes = vec![0; automaton.class_count()];
        (0..=255).for_each(|byte| class_sizes[automaton.class_of(byte)] += 1);
        Ok(Walk { automaton, tables, names: NameTables::default(), start, class_sizes, held: 0 })
    }

    /// The same, but words are left out in which an object has a name twice.
    fn following_names(mut self) -> Walk<'a> {
        if self.automaton.has_names() {
            self.start.names = Place::START;
        }
        self
    }

    /// The position after a byte, if a word may go on so.
    fn step(&mut self, at: Position, byte: u8) -> Result<Option<Position>> {
        let configuration = self.step_alone(at.configuration, byte)?;
        if configuration == ConfigurationId::DEAD {
            return Ok(None);
        }
        let named = self.tables.successors().is_named(configuration);
        let names = self.names.advance(at.names, byte, named, |_| false);
        Ok(names.map(|names| Position { configuration, names }))
    }

    fn step_alone(&mut self, at: ConfigurationId, byte: u8) -> Result<ConfigurationId> {
        self.tables.work.spend(1)?;
        self.tables.step(self.automaton, at, byte)
    }

    /// Counts bytes that are kept from now on; with the tables they are bounded by `cache_bytes`.
    fn hold(&mut self, bytes: usize) -> Result<()> {
        let before = self.held / HELD;
        self.held += bytes;
        let limit = self.automaton.limits().cache_bytes;
        if self.held / HELD != before && self.held + self.tables.memory_usage() > limit {
            let found = format!("{} bytes of words and tables", self.held + self.tables.memory_usage());
            return Err(Limits::exceeded("cache_bytes", limit, found));
        }
        Ok(())
    }

    /// The length of the shortest word.
    fn shortest(&mut self) -> Result<usize> {
        let mut seen = FxHashSet::default();
        let (mut length, mut level) = (0, vec![self.start.configuration]);
        seen.insert(self.start.configuration);
        while !level.is_empty() && !level.iter().any(|&at| self.tables.is_accepting(at)) {
            let mut next = Vec::new();
            for at in level {
                let remembers = self.tables.remembers(at);
                for &byte in self.automaton.distinguished(remembers) {
                    let after = self.step_alone(at, byte)?;
                    if after != ConfigurationId::DEAD && seen.insert(after) {
                        next.push(after);
                    }
                }
            }
            self.hold(next.len() * size_of::<ConfigurationId>() * 2)?;
            (length, level) = (length + 1, next);
        }
        Ok(length)
    }

    fn open(&mut self, position: Position) -> Result<Open> {
        let mut next: Vec<(Position, u32)> = Vec::new();
        let one_by_one = self.tables.remembers(position.configuration) || !position.names.is_outside();
        for &byte in self.automaton.distinguished(one_by_one).iter().rev() {
            let Some(after) = self.step(position, byte)? else { continue };
            let size = if one_by_one { 1 } else { self.class_sizes[self.automaton.class_of(byte)] };
            match next.iter_mut().find(|(known, _)| *known == after) {
                Some((_, bytes)) => *bytes += size,
                None => next.push((after, size)),
            }
        }
        let total = u32::from(self.tables.is_accepting(position.configuration)).into();
        Ok(Open { position, next, total, weight: 0 })
    }
}

/// Memory is looked at each time so many more bytes are held.
const HELD: usize = 1 << 16;

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
    walk: Walk<'a>,
    /// Whether all words come in one pass; else they come by length.
    is_finite: bool,
    /// The length that is being enumerated.
    length: usize,
    /// Positions on the way to the current word, each with the next byte to try.
    path: Vec<(Position, u16)>,
    word: Vec<u8>,
    /// Whether a word is exactly so many bytes away.
    reaches: FxHashMap<(ConfigurationId, usize), bool>,
    started: bool,
    failed: bool,
}

impl Words<'_> {
    fn advance(&mut self) -> Result<Option<Vec<u8>>> {
        loop {
            if self.path.is_empty() {
                match (self.is_finite, self.started) {
                    (true, true) => return Ok(None),
                    (true, false) => {}
                    (false, true) => self.length += 1,
                    (false, false) => self.length = self.walk.shortest()?,
                }
                self.started = true;
                if let Some(word) = self.enter(self.walk.start)? {
                    return Ok(Some(word));
                }
                continue;
            }
            let Some((position, next)) = self.path.last_mut() else { continue };
            let Ok(byte) = u8::try_from(*next) else {
                self.path.pop();
                self.word.pop();
                continue;
            };
            *next += 1;
            let position = *position;
            let Some(after) = self.walk.step(position, byte)? else { continue };
            self.word.push(byte);
            let depth = self.path.len();
            let word = self.enter(after)?;
            if self.path.len() == depth {
                // not entered: no word of the wanted length lies there
                self.word.pop();
            }
            if word.is_some() {
                return Ok(word);
            }
        }
    }

    /// Goes to a position, if a wanted word lies there; gives the word that ends there.
    fn enter(&mut self, position: Position) -> Result<Option<Vec<u8>>> {
        if !self.is_finite && !self.reaches(position.configuration, self.length - self.word.len())? {
            return Ok(None);
        }
        let done = !self.is_finite && self.length == self.word.len();
        let ends = self.is_finite || done;
        let accepting = self.walk.tables.is_accepting(position.configuration);
        self.path.push((position, if done { 256 } else { 0 }));
        Ok((ends && accepting).then(|| self.word.clone()))
    }

    /// Whether some word is exactly `distance` bytes away, whichever names came. An explicit stack: distances are word lengths.
    fn reaches(&mut self, configuration: ConfigurationId, distance: usize) -> Result<bool> {
        let mut stack = vec![(configuration, distance, 0usize)];
        let mut result = false;
        while let Some(&mut (at, left, ref mut class)) = stack.last_mut() {
            if left == 0 {
                result = self.walk.tables.is_accepting(at);
                stack.pop();
                continue;
            }
            if *class == 0 {
                if let Some(&known) = self.reaches.get(&(at, left)) {
                    result = known;
                    stack.pop();
                    continue;
                }
            } else if result {
                self.remember(at, left, true)?;
                stack.pop();
                continue;
            }
            let remembers = self.walk.tables.remembers(at);
            match self.walk.automaton.distinguished(remembers).get(*class) {
                Some(&byte) => {
                    *class += 1;
                    result = false;
                    let after = self.walk.step_alone(at, byte)?;
                    if after != ConfigurationId::DEAD {
                        stack.push((after, left - 1, 0));
                    }
                }
                None => {
                    self.remember(at, left, false)?;
                    result = false;
                    stack.pop();
                }
            }
        }
        Ok(result)
    }

    fn remember(&mut self, at: ConfigurationId, left: usize, reaches: bool) -> Result<()> {
        self.reaches.insert((at, left), reaches);
        // an entry, its place in the index, and room to grow
        self.walk.hold(2 * size_of::<(ConfigurationId, usize, bool)>())
    }
}

impl Iterator for Words<'_> {
    type Item = Result<Vec<u8>>;

    fn next(&mut self) -> Option<Result<Vec<u8>>> {
        if self.failed {
            return None;
        }
        self.walk.tables.work = Budget::of_words(self.walk.automaton.limits());
        let word = self.advance().transpose();
        self.failed = matches!(word, Some(Err(_)));
        word
    }
}
