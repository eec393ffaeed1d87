//! Completions: the fewest bytes and tokens that lead from a configuration to a word.
//!
//! A completion in bytes and token terminals is found by A* over configurations. Its shortest tokenisation is an upper
//! bound on the tokens; its bytes divided by the longest token are a lower bound. If the two differ, a search over
//! tokens looks for a shorter completion, within `Limits::completion_search`. The result depends only on the
//! configuration, the effort and the limits, not on earlier queries, so a promised completion is found again after the
//! tables were dropped. The one exception: nothing is found once all searches of a mask have used up their work, or
//! where a search reaches another limit.

mod fewer;
mod kept;
mod levels;
mod spell;
pub(in crate::mask) mod ways;

use super::distance::Distance;
use super::terminals::Terminals;
use crate::automaton::{
    Automaton, Cache, Completion, ConfigurationId, Estimates, Found, Lazy, Measure, StackSetId, Sufficient,
};
use crate::collections::heap::map_bytes;
use crate::error::Result;
use crate::grammar::ByteSet;
use crate::limits::{LimitKind, Limits};
use crate::token_index::TokenIndex;
use crate::vocabulary::{TokenId, Vocabulary};
use crate::work::Budget;
use fewer::Fewer;
pub(crate) use kept::KeptMask;
pub(in crate::mask) use kept::KeptMasks;
pub(crate) use levels::{Level, Levels};
use rustc_hash::{FxHashMap, FxHashSet};
pub(in crate::mask) use spell::spelled;
use std::collections::VecDeque;
use std::sync::Arc;
use ways::{Along, Ways};

/// The result of a computation that only serves a budget: `None` if it has reached a limit. The limit `cache_bytes`
/// stays an error, because the tables are then dropped and the computation is repeated.
pub(crate) fn unless_limited<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Err(error) if error.limit().is_some_and(|limit| limit != LimitKind::CacheBytes) => Ok(None),
        result => result.map(Some),
    }
}

/// How hard to search for a completion of few tokens. The first two efforts spell a completion that is short in bytes;
/// the others search for one of fewer tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Effort {
    /// No search over tokens. A short search finds the completion.
    Quick,
    /// No search over tokens; the completion has the fewest bytes, unless the search for it reached its limit.
    Spelled,
    /// Searches over tokens along completions that are short in bytes.
    Short,
    /// Searches over tokens along all paths.
    All,
}

impl Effort {
    /// All efforts, the least first.
    pub(crate) const ALL: [Effort; 4] = [Effort::Quick, Effort::Spelled, Effort::Short, Effort::All];
}

/// The maximum numbers of places that a quick search examines for the shortest completion, and then for any completion.
const QUICK: (usize, usize) = (128, 1024);

/// The most places within an item that are examined for letters to another item than the earlier ones.
const PLACES_IN_ITEM: usize = 1 << 10;

/// The known completions of a configuration, regardless of the names read.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// The distance to a word in bytes.
    pub(crate) bytes: Distance,
    /// A lower bound on the distance in tokens.
    pub(crate) least_tokens: usize,
    /// Completions in tokens, by the effort that found them; each has fewer tokens than the earlier ones.
    found: [Option<Arc<[TokenId]>>; 4],
    effort: Effort,
    /// By effort, the number of places examined up to it.
    searched: [usize; 4],
    /// Whether no completion in tokens exists.
    unreachable: bool,
}

impl Known {
    /// The state before any search: only a lower bound on the tokens is known.
    fn unknown(least_tokens: usize) -> Known {
        Known {
            bytes: Distance::Unknown,
            least_tokens,
            found: [None, None, None, None],
            effort: Effort::Quick,
            searched: [0; 4],
            unreachable: false,
        }
    }

    /// The completions found with at most this effort, the one with the fewest tokens first.
    pub(crate) fn completions(&self, effort: Effort) -> impl Iterator<Item = &Arc<[TokenId]>> {
        self.found[..=effort as usize].iter().rev().flatten()
    }

    /// The distance to a word in tokens if the given completion is used.
    pub(crate) fn distance(&self, completion: Option<&[TokenId]>) -> Distance {
        match completion.map(<[TokenId]>::len) {
            Some(tokens) if tokens <= self.least_tokens => Distance::Exact(tokens),
            Some(tokens) => Distance::AtMost(tokens),
            None if self.unreachable => Distance::Unreachable,
            None => Distance::Unknown,
        }
    }
}

/// Where a way to a word begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BeginOfWay {
    /// Whether it is a way of forgetful configurations.
    forgets: bool,
    at: ConfigurationId,
}

/// The vocabulary in which completions are spelled, and the token terminals resolved in it.
#[derive(Clone, Copy)]
pub(in crate::mask) struct With<'a> {
    pub(in crate::mask) index: &'a TokenIndex,
    pub(in crate::mask) terminals: &'a Terminals,
}

/// The known completions of the configurations of one generation of tables.
#[derive(Debug, Default)]
pub(crate) struct Completions {
    estimates: Estimates,
    /// Upper bounds on the letters of completions, from the grammar's [`Sufficient`]; `None` until first needed.
    sufficient: Option<Estimates>,
    ways: Ways,
    /// The ways of configurations that stand for others, which remember items.
    forgetful_ways: Ways,
    /// The levels of configurations; `None` where they are not known for all tokens.
    levels: FxHashMap<ConfigurationId, Option<Box<Levels>>>,
    known: FxHashMap<ConfigurationId, Known>,
    /// The bounds of configurations whose open items may become earlier ones.
    to_another_item: FxHashMap<ConfigurationId, Option<u32>>,
    /// The number of places that searches examined, including searches whose results were cached: it depends only on
    /// the queries.
    pub(in crate::mask) searched: usize,
    /// The remaining work of the searches of the current mask; `None` before its first search.
    work: Option<Budget>,
    bytes: usize,
}

impl Completions {
    /// Forgets everything about the dropped tables. The counts of searched places and the remaining work stay.
    pub(in crate::mask) fn forget_tables(&mut self) {
        self.estimates.forget_tables();
        self.sufficient.iter_mut().for_each(Estimates::forget_tables);
        self.ways = Ways::default();
        self.forgetful_ways = Ways::default();
        self.levels = FxHashMap::default();
        self.known = FxHashMap::default();
        self.to_another_item = FxHashMap::default();
        self.bytes = 0;
    }

    /// Bytes on the heap.
    pub(in crate::mask) fn memory_usage(&self) -> usize {
        self.bytes
            + self.estimates.memory_usage()
            + self.sufficient.as_ref().map_or(0, Estimates::memory_usage)
            + self.ways.memory_usage()
            + self.forgetful_ways.memory_usage()
            + map_bytes(&self.levels)
            + map_bytes(&self.known)
            + map_bytes(&self.to_another_item)
    }

    /// The number of configurations searched, and, among those searched with [`Effort::All`], the numbers of those with
    /// only an upper bound and of those with an unknown distance.
    pub(in crate::mask) fn counts(&self) -> (usize, usize, usize) {
        let best =
            |known: &Known| known.distance(known.completions(Effort::All).next().map(|tokens| &**tokens));
        let searched = || self.known.values().filter(|known| known.effort == Effort::All);
        let count = |of: fn(Distance) -> bool| searched().filter(|known| of(best(known))).count();
        let at_most = count(|distance| matches!(distance, Distance::AtMost(_)));
        (self.known.len(), at_most, count(|distance| distance == Distance::Unknown))
    }

    /// Gives the searches their full budget of work again. The budget is per mask.
    pub(in crate::mask) fn renew_work(&mut self) {
        self.work = None;
    }

    /// Swaps a mask's work budget with the work budget of its searches. The rest of the searches' budget is kept for
    /// later searches.
    pub(in crate::mask) fn exchange_work(&mut self, limits: &Limits, tables: &mut Cache) {
        let work = self.work.get_or_insert_with(|| Budget::of_searches(limits));
        std::mem::swap(work, &mut tables.work);
    }

    /// The known completions of a configuration for some effort, computed at the first visit. If a limit is reached,
    /// such as the budget of work of the mask's searches, nothing is found.
    pub(in crate::mask) fn of(
        &mut self,
        (automaton, tables): (&Automaton, &mut Cache),
        with: With<'_>,
        id: ConfigurationId,
        effort: Effort,
    ) -> Result<Known> {
        if let Some(known) = self.known.get(&id).filter(|known| known.effort >= effort) {
            self.searched += known.searched[effort as usize];
            return Ok(known.clone());
        }
        self.exchange_work(automaton.limits(), tables);
        let found = self.find_out(&mut Lazy::new(automaton, tables), with, id, effort);
        self.exchange_work(automaton.limits(), tables);
        let Some(known) = unless_limited(found)? else {
            let bytes = self.estimates.of(&Lazy::new(automaton, tables), id)? as usize;
            return Ok(Known::unknown(Completions::least_tokens(with, bytes)));
        };
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
        let mut known = self.known.get(&id).cloned();
        let start = self.searched;
        let before = known.as_ref().map_or(0, |known| known.searched[known.effort as usize]);
        for next in Effort::ALL.into_iter().filter(|next| *next <= effort) {
            if known.as_ref().is_some_and(|known| known.effort >= next) {
                continue;
            }
            let mut better = match (known.take(), next) {
                (None, _) => self.in_bytes(lazy, with, id, Effort::Quick)?,
                (Some(known), Effort::Spelled)
                    if !matches!(known.bytes, Distance::Exact(_)) && !known.unreachable =>
                {
                    let found = self.in_bytes(lazy, with, id, Effort::Spelled)?;
                    let [quick, ..] = known.found;
                    let [_, spelled, ..] = found.found;
                    let spelled = spelled
                        .filter(|tokens| quick.as_ref().is_none_or(|quick| tokens.len() < quick.len()));
                    Known { found: [quick, spelled, None, None], ..found }
                }
                (Some(known), _) => known,
            };
            better.effort = next;
            if next >= Effort::Short {
                self.refine(lazy, with, id, &mut better)?;
            }
            better.searched[next as usize..].fill(before + self.searched - start);
            known = Some(better);
        }
        // earlier efforts counted their places then; a stored result counts them again
        self.searched += before;
        Ok(known.unwrap_or_else(|| Known::unknown(0)))
    }

    fn least_tokens(with: With<'_>, bytes: usize) -> usize {
        let longest = (with.index.vocabulary().longest() as usize).max(1);
        bytes.div_ceil(longest)
    }

    /// Searches for a completion in bytes, with the limits of `effort` (quick or spelled), and spells it with the
    /// fewest tokens.
    fn in_bytes(
        &mut self,
        lazy: &mut Lazy<'_>,
        with: With<'_>,
        id: ConfigurationId,
        effort: Effort,
    ) -> Result<Known> {
        let index = with.index;
        let limit = lazy.automaton.limits().completion_search;
        let all = (limit, limit.saturating_mul(2));
        let limit = match effort {
            Effort::Quick => (QUICK.0.min(all.0), QUICK.1.min(all.1)),
            _ => all,
        };
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
        let mut known = Known {
            bytes,
            unreachable: bytes == Distance::Unreachable,
            ..Known::unknown(
                Completions::least_tokens(with, least_bytes).max(usize::from(!lazy.is_accepting(id))),
            )
        };
        known.found[effort as usize] = tokens.map(Arc::from);
        Ok(known)
    }

    /// Searches for fewer tokens with the effort of `known`, and updates `known`.
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
            // other paths were not searched
            _ if !is_complete => {}
            Fewer::None => match most {
                Some(most) => known.least_tokens = most,
                None => known.unreachable = true,
            },
            Fewer::GaveUp(least) => known.least_tokens = known.least_tokens.max(least),
        }
        Ok(())
    }

    /// The upper bounds on completions, created at the first call.
    pub(in crate::mask) fn sufficient(&mut self, with: &Arc<Sufficient>) -> &mut Estimates {
        self.sufficient.get_or_insert_with(|| Estimates::new(Measure::AtMost(Arc::clone(with))))
    }

    /// Takes the levels of a configuration out, to be used and [put back](Completions::keep_levels). The inner `None`
    /// means that they are not known for all tokens.
    pub(in crate::mask) fn take_levels(&mut self, id: ConfigurationId) -> Option<Option<Box<Levels>>> {
        let levels = self.levels.remove(&id)?;
        self.bytes -= levels.as_ref().map_or(0, |levels| levels.memory_usage());
        Some(levels)
    }

    pub(in crate::mask) fn keep_levels(&mut self, id: ConfigurationId, levels: Option<Box<Levels>>) {
        self.bytes += levels.as_ref().map_or(0, |levels| levels.memory_usage());
        self.levels.insert(id, levels);
    }

    /// The upper bounds on the letters of completions, and the ways along them: those of forgetful configurations if
    /// `forgets` is set.
    fn along<'a>(
        &'a mut self,
        forgets: bool,
        with: &'a Arc<Sufficient>,
        vocabulary: &'a Vocabulary,
    ) -> (&'a mut Ways, Along<'a>) {
        let new = || Estimates::new(Measure::AtMost(Arc::clone(with)));
        let bounds = self.sufficient.get_or_insert_with(new);
        let ways = if forgets { &mut self.forgetful_ways } else { &mut self.ways };
        (ways, Along { forgets, bounds, letters: &with.letters.bytes, vocabulary })
    }

    /// An upper bound on the tokens that lead from a configuration to a word, regardless of the names read; `None` if
    /// none is known. Unless it is 0, some token leads to a configuration with a lower bound.
    ///
    /// It is that of the way of the configuration ([`Ways::tokens`]) or, inside of lists of different items, that of its
    /// forgetful form if this is less. While an open item may become an earlier one, letters to where it cannot are
    /// counted instead.
    pub(in crate::mask) fn potential(
        &mut self,
        lazy: &mut Lazy<'_>,
        with: &Arc<Sufficient>,
        vocabulary: &Vocabulary,
        id: ConfigurationId,
    ) -> Result<Option<u32>> {
        let (ways, along) = self.along(false, with, vocabulary);
        let exact = ways.tokens(lazy, along, id)?;
        if lazy.is_accepting(id) || !lazy.remembers_items(id) {
            return Ok(exact);
        }
        let other = match lazy.watches_of(id).is_empty() {
            true => {
                let forgetful = lazy.forgetful(id)?;
                self.forgetful_potential(lazy, with, vocabulary, forgetful)?
            }
            false => match self.to_another_item.get(&id) {
                Some(&known) => known,
                None => {
                    let found = self.tokens_to_another_item(lazy, with, vocabulary, id)?;
                    self.to_another_item.insert(id, found);
                    found
                }
            },
        };
        Ok(exact.into_iter().chain(other).min())
    }

    /// The [`potential`](Completions::potential) of a configuration that stands for others, which remember items.
    pub(in crate::mask) fn forgetful_potential(
        &mut self,
        lazy: &mut Lazy<'_>,
        with: &Arc<Sufficient>,
        vocabulary: &Vocabulary,
        id: ConfigurationId,
    ) -> Result<Option<u32>> {
        if lazy.is_doubtful(id) || lazy.may_become_unknown(id) {
            return Ok(None);
        }
        let (ways, along) = self.along(true, with, vocabulary);
        ways.tokens(lazy, along, id)
    }

    /// The [`potential`](Completions::potential) of a configuration whose open items may become earlier ones: breadth
    /// first over letters, to the first place where they cannot. Neither the letters nor the way from there have a name,
    /// which might have to differ from others.
    fn tokens_to_another_item(
        &mut self,
        lazy: &mut Lazy<'_>,
        with: &Arc<Sufficient>,
        vocabulary: &Vocabulary,
        from: ConfigurationId,
    ) -> Result<Option<u32>> {
        let mut seen = FxHashSet::from_iter([from]);
        let mut open = VecDeque::from([(from, 0)]);
        while let Some((at, read)) = open.pop_front() {
            for byte in lazy.candidate_bytes(at).intersection(&with.letters.bytes).iter() {
                lazy.work.spend(1)?;
                let next = lazy.step(at, byte)?;
                if !next.is_ordinary() || lazy.transitions().is_named(next) {
                    continue;
                }
                if lazy.is_accepting(next) || lazy.watches_of(next).is_empty() {
                    let tokens = self.potential(lazy, with, vocabulary, next)?;
                    let begin = self.begin_of_way(lazy, next)?;
                    if let Some(tokens) = tokens.filter(|_| self.has_no_name(lazy, begin)) {
                        return Ok(Some(tokens.saturating_add(read + 1)));
                    }
                } else if seen.len() < PLACES_IN_ITEM && seen.insert(next) {
                    open.push_back((next, read + 1));
                }
            }
        }
        Ok(None)
    }

    /// Where the way with the fewest tokens from a configuration begins, after its potential was computed.
    pub(in crate::mask) fn begin_of_way(
        &self,
        lazy: &mut Lazy<'_>,
        id: ConfigurationId,
    ) -> Result<BeginOfWay> {
        let exact = BeginOfWay { forgets: false, at: id };
        if lazy.is_accepting(id) || !lazy.remembers_items(id) || !lazy.watches_of(id).is_empty() {
            return Ok(exact);
        }
        let at = lazy.forgetful(id)?;
        let known = (self.ways.tokens_known(id), self.forgetful_ways.tokens_known(at));
        Ok(match known {
            (Some(tokens), Some(less)) if tokens <= less => exact,
            (_, Some(_)) => BeginOfWay { forgets: true, at },
            _ => exact,
        })
    }

    /// Whether a way was followed to a word, and no name ends on it; always true in grammars without names.
    fn has_no_name(&self, lazy: &Lazy<'_>, begin: BeginOfWay) -> bool {
        !lazy.automaton.has_names() || self.ways_of(begin).has_no_name(lazy, begin.at)
    }

    fn ways_of(&self, begin: BeginOfWay) -> &Ways {
        if begin.forgets { &self.forgetful_ways } else { &self.ways }
    }

    /// An upper bound on the tokens that lead from a configuration of a residual to its return, if the way leads to
    /// nothing but the return: see [`Ways::ends`].
    pub(in crate::mask) fn bound_of_residual(
        &mut self,
        lazy: &mut Lazy<'_>,
        with: &Arc<Sufficient>,
        vocabulary: &Vocabulary,
        id: ConfigurationId,
    ) -> Result<Option<u32>> {
        let (ways, along) = self.along(false, with, vocabulary);
        let bound = ways.tokens(lazy, along, id)?;
        Ok(bound.filter(|_| self.ways.ends(lazy, id)))
    }

    /// The tokens of a way, if it was followed: see [`Ways::spelled`].
    pub(in crate::mask) fn way(&self, begin: BeginOfWay, vocabulary: &Vocabulary) -> Option<Vec<TokenId>> {
        self.ways_of(begin).spelled(begin.at, vocabulary)
    }

    /// The letters of a way, as far as it was followed.
    pub(in crate::mask) fn letters_of_way(&self, begin: BeginOfWay) -> impl Iterator<Item = u8> + '_ {
        self.ways_of(begin).letters(begin.at)
    }

    /// An upper bound on the letters that lead from a configuration to a word; `None` if none is known.
    pub(in crate::mask) fn letters(
        &mut self,
        lazy: &Lazy<'_>,
        with: &Arc<Sufficient>,
        id: ConfigurationId,
    ) -> Result<Option<u32>> {
        Ok(Some(self.sufficient(with).of(lazy, id)?).filter(|&letters| letters < u32::MAX))
    }

    /// As [`letters`](Completions::letters), from the return to a set of stacks.
    pub(in crate::mask) fn letters_of_stacks(
        &mut self,
        lazy: &Lazy<'_>,
        with: &Arc<Sufficient>,
        stacks: StackSetId,
    ) -> Result<Option<u32>> {
        Ok(Some(self.sufficient(with).of_stacks(lazy, stacks)?).filter(|&letters| letters < u32::MAX))
    }

    /// A lower bound on the bytes that lead from a configuration to a word.
    ///
    /// # Errors
    /// `limit/exceeded` if the budget of work, such as `mask_work`, is spent.
    pub(in crate::mask) fn estimate(&mut self, lazy: &Lazy<'_>, id: ConfigurationId) -> Result<usize> {
        Ok(self.estimates.of(lazy, id)? as usize)
    }
}
