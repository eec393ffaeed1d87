//! Completions: how few bytes and tokens lead from a configuration to a word.
//!
//! A completion in bytes and tokens of token terminals is searched for by A* over configurations; its shortest tokenisation bounds the tokens from above,
//! the bytes over the longest token from below. Where the two differ, a search over tokens looks for a shorter one, within
//! `Limits::completion_search`. What is found depends on the configuration and the limits alone, not on what was asked
//! before: so what was promised is found again after the tables were dropped.

mod fewer;
mod kept;
mod spell;

use super::terminals::Terminals;
use crate::automaton::{Automaton, Cache, Completion, ConfigurationId, Estimates, Found, Lazy};
use crate::error::Result;
use crate::grammar::ByteSet;
use crate::token_index::TokenIndex;
use crate::vocabulary::TokenId;
use crate::work::Budget;
use fewer::Fewer;
pub(crate) use kept::Groups;
use kept::Kept;
use rustc_hash::FxHashMap;
pub(in crate::mask) use spell::spelled;
use std::fmt;
use std::sync::Arc;

/// How many tokens, or bytes, lead from a text to a complete one. The end-of-sequence token is not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Distance {
    /// This many, and no fewer.
    Exact(usize),
    /// This many are known to do; whether fewer would, is not.
    AtMost(usize),
    /// None do: the vocabulary cannot spell any completion.
    Unreachable,
    /// None were found within the limits.
    Unknown,
}

impl Distance {
    /// The number that is known to do.
    pub fn known(self) -> Option<usize> {
        match self {
            Distance::Exact(number) | Distance::AtMost(number) => Some(number),
            Distance::Unreachable | Distance::Unknown => None,
        }
    }
}

impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Distance::Exact(number) => write!(f, "{number}"),
            Distance::AtMost(number) => write!(f, "at most {number}"),
            Distance::Unreachable => f.write_str("unreachable"),
            Distance::Unknown => f.write_str("unknown"),
        }
    }
}

/// How hard fewer tokens are searched for than those that a least completion in bytes is spelled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Effort {
    /// Not at all.
    Spelled,
    /// Along the ways of completions that are short in bytes.
    Short,
    /// Along all ways.
    All,
}

/// What is known of the completions of a configuration, whatever names came.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// Bytes to a word.
    pub(crate) bytes: Distance,
    /// At least this many tokens.
    pub(crate) least_tokens: usize,
    /// Completions in tokens, by the effort that found them; each has fewer tokens than those before it.
    found: [Option<Arc<[TokenId]>>; 3],
    effort: Effort,
    /// That there is no completion in tokens.
    unreachable: bool,
}

impl Known {
    /// The completions that are found with some effort, the one of the fewest tokens first.
    pub(crate) fn completions(&self, effort: Effort) -> impl Iterator<Item = &Arc<[TokenId]>> {
        self.found[..=effort as usize].iter().rev().flatten()
    }

    /// Tokens to a word, if one of the completions is to be taken.
    pub(crate) fn distance(&self, completion: Option<&[TokenId]>) -> Distance {
        match completion.map(<[TokenId]>::len) {
            Some(tokens) if tokens <= self.least_tokens => Distance::Exact(tokens),
            Some(tokens) => Distance::AtMost(tokens),
            None if self.unreachable => Distance::Unreachable,
            None => Distance::Unknown,
        }
    }
}

/// The vocabulary that completions are spelled in, and what the token terminals are in it.
#[derive(Clone, Copy)]
pub(in crate::mask) struct With<'a> {
    pub(in crate::mask) index: &'a TokenIndex,
    pub(in crate::mask) terminals: &'a Terminals,
}

/// What is known of completions, of the configurations of one generation of tables.
#[derive(Debug, Default)]
pub(crate) struct Completions {
    estimates: Estimates,
    known: FxHashMap<ConfigurationId, Known>,
    pub(in crate::mask) kept: Kept,
    /// Places that searches have examined.
    pub(in crate::mask) searched: usize,
    bytes: usize,
}

impl Completions {
    /// Forgets what was of the tables that were dropped.
    pub(in crate::mask) fn forget_tables(&mut self) {
        self.estimates.forget_tables();
        self.known = FxHashMap::default();
        self.kept = Kept::default();
        self.bytes = 0;
    }

    /// Bytes on the heap.
    pub(in crate::mask) fn memory_usage(&self) -> usize {
        self.bytes
            + self.estimates.memory_usage()
            + self.known.capacity() * (size_of::<(ConfigurationId, Known)>() + 1)
            + self.kept.memory_usage()
    }

    /// How many distances are known, how many of them as upper bounds only, and how many not at all.
    pub(in crate::mask) fn counts(&self) -> (usize, usize, usize) {
        let best =
            |known: &Known| known.distance(known.completions(Effort::All).next().map(|tokens| &**tokens));
        let searched = || self.known.values().filter(|known| known.effort == Effort::All);
        let count = |of: fn(Distance) -> bool| searched().filter(|known| of(best(known))).count();
        let at_most = count(|distance| matches!(distance, Distance::AtMost(_)));
        (self.known.len(), at_most, count(|distance| distance == Distance::Unknown))
    }

    /// What is known of a configuration with some effort, found out on the first visit.
    ///
    /// # Errors
    /// Limits.
    pub(in crate::mask) fn of(
        &mut self,
        (automaton, tables): (&Automaton, &mut Cache),
        with: With<'_>,
        id: ConfigurationId,
        effort: Effort,
    ) -> Result<Known> {
        if let Some(known) = self.known.get(&id).filter(|known| known.effort >= effort) {
            return Ok(known.clone());
        }
        // what is found must not depend on the work that was done before
        let before = std::mem::replace(&mut tables.work, Budget::of_mask(automaton.limits()));
        let found = self.find_out(&mut Lazy::new(automaton, tables), with, id, effort);
        tables.work = before;
        let known = found?;
        let bytes = |known: &Known| -> usize {
            known.completions(Effort::All).map(|tokens| 16 + size_of_val(&**tokens)).sum()
        };
        self.bytes += bytes(&known);
        let old = self.known.insert(id, known.clone());
        self.bytes -= old.as_ref().map_or(0, bytes);
        Ok(known)
    }

    fn find_out(
        &mut self,
        lazy: &mut Lazy<'_>,
        with: With<'_>,
        id: ConfigurationId,
        effort: Effort,
    ) -> Result<Known> {
        let mut known = match self.known.get(&id) {
            Some(known) => known.clone(),
            None => self.in_bytes(lazy, with, id)?,
        };
        for next in [Effort::Short, Effort::All].into_iter().filter(|next| *next <= effort) {
            if known.effort < next {
                known.effort = next;
                self.refine(lazy, with, id, &mut known)?;
            }
        }
        Ok(known)
    }

    /// Finds a completion in bytes, and spells it.
    fn in_bytes(&mut self, lazy: &mut Lazy<'_>, with: With<'_>, id: ConfigurationId) -> Result<Known> {
        let index = with.index;
        let limit = lazy.automaton.limits().completion_search;
        let estimate = self.estimates.of(lazy, id)? as usize;
        let found = lazy.completion(&mut self.estimates, id, &ByteSet::FULL, limit, &mut self.searched)?;
        let (bytes, mut completion) = match found {
            Found::Completion(Completion { letters, bytes, is_least: true }) => {
                (Distance::Exact(bytes), Some(letters))
            }
            Found::Completion(Completion { letters, bytes, is_least: false }) => {
                (Distance::AtMost(bytes), Some(letters))
            }
            Found::Nothing => (Distance::Unreachable, None),
            Found::GaveUp => (Distance::Unknown, None),
        };
        let mut tokens = completion.take().and_then(|letters| spelled(with, &letters));
        if tokens.is_none() && bytes.known().is_some() {
            let missing = index.vocabulary().missing_bytes();
            let usable: ByteSet = (0..=u8::MAX).filter(|&byte| !missing[usize::from(byte)]).collect();
            if let Found::Completion(completion) =
                lazy.completion(&mut self.estimates, id, &usable, limit, &mut self.searched)?
            {
                tokens = spelled(with, &completion.letters);
            }
        }
        let least_bytes = match bytes {
            Distance::Exact(least) => least,
            _ => estimate,
        };
        let longest = (index.vocabulary().longest() as usize).max(1);
        Ok(Known {
            bytes,
            least_tokens: least_bytes.div_ceil(longest).max(usize::from(!lazy.is_accepting(id))),
            found: [tokens.map(Arc::from), None, None],
            effort: Effort::Spelled,
            unreachable: bytes == Distance::Unreachable,
        })
    }

    /// Searches for fewer tokens with the effort that is said to have been made.
    fn refine(
        &mut self,
        lazy: &mut Lazy<'_>,
        with: With<'_>,
        id: ConfigurationId,
        known: &mut Known,
    ) -> Result<()> {
        let effort = known.effort;
        let most = known.completions(effort).next().map(|tokens| tokens.len());
        if known.unreachable || most.is_some_and(|most| most <= known.least_tokens) {
            return Ok(());
        }
        let limits = (most, lazy.automaton.limits().completion_search);
        let searched = &mut self.searched;
        let found = fewer::search(lazy, &mut self.estimates, with, (id, effort), limits, searched)?;
        let is_complete = effort == Effort::All;
        match found {
            Fewer::Tokens(tokens) => {
                if is_complete {
                    known.least_tokens = tokens.len();
                }
                known.found[effort as usize] = Some(tokens.into());
            }
            // there are other ways
            _ if !is_complete => {}
            Fewer::None => match most {
                Some(most) => known.least_tokens = most,
                None => known.unreachable = true,
            },
            Fewer::GaveUp(least) => known.least_tokens = known.least_tokens.max(least),
        }
        Ok(())
    }

    /// At least this many bytes lead from a configuration to a word.
    ///
    /// # Errors
    /// Limits.
    pub(in crate::mask) fn estimate(&mut self, lazy: &Lazy<'_>, id: ConfigurationId) -> Result<usize> {
        Ok(self.estimates.of(lazy, id)? as usize)
    }
}
