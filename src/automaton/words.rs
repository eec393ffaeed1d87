//! The words of a language: how many there are, and what they are.
//!
//! Both run over configurations, which are deterministic, so each word is met once however many
//! derivations it has, and which are never dead, so no path is followed in vain.

use super::names::{NameTables, Place};
use super::{Automaton, ConfigurationId, StateId, Tables};
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind, Result};
use num_bigint::BigUint;
use rustc_hash::FxHashMap;
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
/// `automaton/words-undecided` if the tables fill up (`cache_bytes`) before the answer is known: the
/// language is too large, or infinite through nesting inside of an intersection; other limits.
pub fn count(automaton: &Automaton) -> Result<Count> {
    let count = count_of(&mut Walk::new(automaton)?)?;
    if count == Count::Infinite || !automaton.has_names() {
        // names that came twice are no reason for a language to be infinite: lists end where there are no more names
        return Ok(count);
    }
    count_of(&mut Walk::new(automaton)?.following_names())
}

/// Counts the words from a start state on, the empty one left out.
pub(super) fn count_from(automaton: &Automaton, start: StateId) -> Result<Count> {
    let mut walk = Walk::new(automaton)?;
    walk.start.configuration = walk.tables.start_of(automaton, Some(start), false)?;
    count_of(&mut walk)
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
/// Limits; see [`count`].
pub fn enumerate(automaton: &Automaton) -> Result<Words<'_>> {
    let finite = match count(automaton) {
        Ok(count) => count != Count::Infinite,
        // too large to count is no reason not to begin
        Err(error) if error.code() == UNDECIDED => false,
        Err(error) => return Err(error),
    };
    let walk = Walk::new(automaton)?.following_names();
    Ok(Words {
        walk,
        length: if finite { None } else { Some(0) },
        path: Vec::new(),
        word: Vec::new(),
        reaches: FxHashMap::default(),
        started: false,
        failed: false,
    })
}

const UNDECIDED: &str = "automaton/words-undecided";

/// Tables of one's own, and what is asked of them here.
struct Walk<'a> {
    automaton: &'a Automaton,
    tables: Tables,
    names: NameTables,
    start: Position,
    /// How many bytes each class has.
    class_sizes: Vec<u32>,
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
        let start = Position { configuration: tables.start(automaton)?, names: Place::OUTSIDE };
        let mut class_sizes = vec![0; automaton.class_count()];
        (0..=255).for_each(|byte| class_sizes[automaton.class_of(byte)] += 1);
        Ok(Walk { automaton, tables, names: NameTables::default(), start, class_sizes })
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
        self.tables.step(self.automaton, at, byte).map_err(|error| match error.kind() {
            ErrorKind::Limit if error.diagnostic().message().contains("cache_bytes") => undecided(error),
            _ => error,
        })
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

fn undecided(cause: Error) -> Error {
    let found = cause.diagnostic().found_text().unwrap_or_default().to_string();
    Error::new(
        ErrorKind::Limit,
        Diagnostic::new(UNDECIDED, "whether the language is finite was not found out")
            .found(found)
            .allowed("languages with a finite number of configurations, within the limit `cache_bytes`")
            .help(
                "nesting without bound makes a language infinite; bound it, or raise `Limits::cache_bytes`",
            ),
    )
}

/// The words of a language; made by [`enumerate`].
pub struct Words<'a> {
    walk: Walk<'a>,
    /// The length that is being enumerated; `None` for a finite language, whose words come in one pass.
    length: Option<usize>,
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
                match &mut self.length {
                    None if self.started => return Ok(None),
                    Some(length) if self.started => *length += 1,
                    _ => {}
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
        let wanted = match self.length {
            None => true,
            Some(length) => self.reaches(position.configuration, length - self.word.len())?,
        };
        if !wanted {
            return Ok(None);
        }
        let ends = self.length.is_none_or(|length| length == self.word.len());
        let accepting = self.walk.tables.is_accepting(position.configuration);
        let done = self.length == Some(self.word.len());
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
                self.reaches.insert((at, left), true);
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
                    self.reaches.insert((at, left), false);
                    result = false;
                    stack.pop();
                }
            }
        }
        Ok(result)
    }
}

impl Iterator for Words<'_> {
    type Item = Result<Vec<u8>>;

    fn next(&mut self) -> Option<Result<Vec<u8>>> {
        if self.failed {
            return None;
        }
        let word = self.advance().transpose();
        self.failed = matches!(word, Some(Err(_)));
        word
    }
}
