//! The mask of a configuration, put together from its parts.
//!
//! For each part of a configuration (see [`Tables::parts`]) there is a [`Record`]: the tokens that the part
//! allows whatever is below it, and the places where it returns before a token has ended. The record is made
//! once for all configurations that have the part. What a configuration adds is a walk from those places on,
//! which is short: after a string few bytes may come.

pub(in crate::mask) mod unique;

use super::cache::shape_cache::Shared;
use super::strategy::class_trie;
use super::strategy::delta;
use super::strategy::delta::{Difference, Removed};
use super::strategy::loop_language;
use super::token_mask::TokenMask;
use super::token_set::{Allowed, Marks};
use super::walk::{Return, Walk};
use crate::automaton::{Automaton, ConfigurationId, Part, Tables};
use crate::error::Result;
use crate::token_index::loops::TrieId;
use crate::vocabulary::Vocabulary;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use unique::{Blind, Indifferent};

/// Some tokens: those below a node of a trie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Spot {
    trie: TrieId,
    node: u32,
}

impl Spot {
    /// All tokens.
    const ALL: Spot = Spot { trie: TrieId::ALL, node: 0 };
}

/// Of what a record is: a part, and the tokens that it is about.
type RecordOf = (ConfigurationId, Spot);

/// So many configurations are looked at to see how long completions are.
const MOST_EXPLORED: usize = 64;

/// Where so many bytes may come, there may be a string.
const WIDE: usize = 32;

/// Walks through more than this part of all nodes are given up where there may be a shorter way.
const LONG_WALK: usize = 48;

/// What is known of a part.
#[derive(Clone, Debug)]
pub(super) struct Record {
    /// The part that it is nearly the same as.
    base: Option<ConfigurationId>,
    facts: Arc<Facts>,
}

/// What is known of a part, in whichever grammar it is.
#[derive(Debug)]
pub(super) struct Facts {
    /// The tokens allowed whatever is below, or how they differ from those of another part.
    tokens: Tokens,
    /// Where it returns before a token has ended.
    returns: Vec<Return>,
    /// It took at most so many bytes to complete what runs in lockstep.
    reach: u32,
}

#[derive(Debug)]
enum Tokens {
    Whole(Allowed),
    Near(Difference),
}

/// The records made so far.
#[derive(Debug, Default)]
pub(super) struct Records {
    /// `None` for parts that may return nearly everywhere.
    of: FxHashMap<RecordOf, Option<Record>>,
    /// Of the configurations that stand in for those that remember items.
    blind: FxHashMap<ConfigurationId, Arc<Blind>>,
    /// Subtrees of the trie where what came makes no difference.
    indifferent: FxHashSet<Indifferent>,
    bytes: usize,
}

impl Records {
    /// Bytes on the heap.
    pub(super) fn memory_usage(&self) -> usize {
        self.bytes
            + self.of.capacity() * (size_of::<(RecordOf, Option<Record>)>() + 1)
            + self.blind.capacity() * (size_of::<(ConfigurationId, Arc<Blind>)>() + 1)
            + self.indifferent.capacity() * (size_of::<Indifferent>() + 1)
    }

    pub(super) fn is_indifferent(&self, subtree: &Indifferent) -> bool {
        self.indifferent.contains(subtree)
    }

    pub(super) fn keep_indifferent(&mut self, subtrees: impl Iterator<Item = Indifferent>) {
        self.indifferent.extend(subtrees);
    }

    pub(super) fn blind(&self, configuration: ConfigurationId) -> Option<Arc<Blind>> {
        self.blind.get(&configuration).cloned()
    }

    pub(super) fn keep_blind(&mut self, configuration: ConfigurationId, blind: Arc<Blind>) {
        self.bytes += blind.memory_usage();
        self.blind.insert(configuration, blind);
    }
}

impl Facts {
    pub(super) fn memory_usage(&self) -> usize {
        let tokens = match &self.tokens {
            Tokens::Whole(allowed) => allowed.memory_usage(),
            Tokens::Near(difference) => difference.removed.memory_usage() + difference.added.memory_usage(),
        };
        size_of::<Facts>() + tokens + self.returns.len() * size_of::<Return>()
    }
}

/// The mask of a configuration: every token whose bytes lead to a configuration that is not dead, and the
/// end-of-sequence tokens if the configuration accepts.
pub(super) fn mask(
    tables: &mut Tables,
    records: &mut Records,
    shared: &Shared,
    automaton: &Automaton,
    vocabulary: &Vocabulary,
    configuration: ConfigurationId,
    marks: &mut Marks,
) -> Result<TokenMask> {
    let successors = Arc::clone(tables.successors());
    let walk = Walk::new(tables, &successors, automaton, vocabulary);
    let mut work = Work { walk, records, shared, marks, spares_walks: false, spared: false };
    let mut allowed = work.allowed(configuration)?;
    if tables.is_accepting(configuration) {
        allowed.extend(vocabulary.eos());
    }
    Ok(allowed.finish(vocabulary.width(), marks))
}

pub(super) struct Work<'a> {
    pub(super) walk: Walk<'a>,
    pub(super) records: &'a mut Records,
    shared: &'a Shared,
    pub(super) marks: &'a mut Marks,
    /// Whether records are not made that take a walk over all tokens, and whether one was not.
    spares_walks: bool,
    spared: bool,
}

impl Work<'_> {
    pub(super) fn allowed(&mut self, configuration: ConfigurationId) -> Result<Allowed> {
        if self.walk.tables.has_register(configuration) {
            return self.remembering(configuration);
        }
        if self.walk.tables.is_narrow(self.walk.automaton, configuration) {
            let mut allowed = Allowed::default();
            self.walk.run(TrieId::ALL, configuration, |_| true, &mut allowed)?;
            self.settle(&mut allowed)?;
            return Ok(allowed);
        }
        loop {
            let before = self.walk.tables.reaches();
            let allowed = self.by_parts(configuration)?;
            // where completions are longer than was thought, bounds may have been nearer
            if self.walk.tables.reaches() == before {
                return Ok(allowed);
            }
        }
    }

    /// The tokens of a configuration, from those of its parts.
    fn by_parts(&mut self, configuration: ConfigurationId) -> Result<Allowed> {
        let (automaton, vocabulary) = (self.walk.automaton, self.walk.vocabulary);
        let parts = self.walk.tables.parts(automaton, configuration, vocabulary.longest());
        let mut allowed = None;
        // where a bound is near for long tokens only, those are looked at by themselves
        for lengths in vocabulary.loops().lengths.iter().filter(|_| parts.told_apart) {
            let of_short = self.walk.tables.parts(automaton, configuration, lengths.bytes);
            if !of_short.told_apart {
                let short = self.unite(&of_short, Spot::ALL, Some(configuration))?;
                let long = self.unite(&parts, Spot { trie: lengths.long, node: 0 }, None)?;
                allowed = short.zip(long).map(|(mut short, long)| {
                    short.keep(&lengths.short);
                    short.unite(long);
                    short
                });
                break;
            }
        }
        if allowed.is_none() {
            allowed = self.unite(&parts, Spot::ALL, Some(configuration))?;
        }
        match allowed {
            Some(allowed) => Ok(allowed),
            None => self.tokens(configuration),
        }
    }

    /// The tokens that parts allow, those of `whole` if that is given; `None` if one has no record.
    fn unite(
        &mut self,
        parts: &[Part],
        spot: Spot,
        whole: Option<ConfigurationId>,
    ) -> Result<Option<Allowed>> {
        let mut allowed = Allowed::default();
        for &part in parts {
            // where most tokens are allowed already, the others are looked at rather than all again
            let whole = whole.filter(|_| allowed.is_wide());
            let outer = std::mem::replace(&mut self.spares_walks, whole.is_some());
            let more = self.part(part, spot);
            self.spares_walks = outer;
            let spared = std::mem::take(&mut self.spared);
            match (more?, whole) {
                (Some(more), _) => allowed.unite(more),
                (None, Some(whole)) if spared => return self.complete(whole, &allowed),
                (None, _) => return Ok(None),
            }
        }
        Ok(Some(allowed))
    }

    /// All tokens of a configuration, of which some are known.
    fn complete(&mut self, configuration: ConfigurationId, known: &Allowed) -> Result<Option<Allowed>> {
        let mut allowed = class_trie::complete(&mut self.walk, configuration, known)?;
        if let Some(allowed) = &mut allowed {
            self.settle(allowed)?;
        }
        Ok(allowed)
    }

    /// Adds what follows where strings may begin.
    pub(super) fn settle(&mut self, allowed: &mut Allowed) -> Result<()> {
        while let Some((trie, node, configuration)) = self.walk.entered.pop() {
            match self.below(Spot { trie, node }, configuration)? {
                Some(more) => allowed.unite(more),
                None => self.walk.run_from(trie, node, configuration, allowed)?,
            }
        }
        Ok(())
    }

    /// The tokens below a node at which a configuration is come to, from those of its parts; `None` if that is not worth
    /// while.
    fn below(&mut self, spot: Spot, configuration: ConfigurationId) -> Result<Option<Allowed>> {
        let Walk { tables, automaton, vocabulary, .. } = &mut self.walk;
        if tables.remembers(configuration)
            || tables.may_become_unsure(configuration)
            || tables.is_accepting(configuration)
            || tables.candidate_bytes(automaton, configuration).len() < WIDE
        {
            return Ok(None);
        }
        let parts = tables.parts(automaton, configuration, vocabulary.longest());
        if parts.told_apart {
            return Ok(None);
        }
        let others = std::mem::take(&mut self.walk.entered);
        let tokens = self.unite(&parts, spot, None);
        self.walk.entered = others;
        tokens
    }

    /// The tokens that a part allows where it stands; `None` if it has no record.
    fn part(&mut self, part: Part, spot: Spot) -> Result<Option<Allowed>> {
        let Some(record) = self.record((part.configuration, spot), spot == Spot::ALL)? else {
            return Ok(None);
        };
        let mut allowed = match (&record.facts.tokens, record.base) {
            (Tokens::Whole(allowed), _) => allowed.clone(),
            (Tokens::Near(difference), base) => {
                let base = base.map(|configuration| Part { configuration, ..part });
                let base = base.map_or(Ok(None), |base| self.part(base, spot));
                let Some(mut allowed) = base? else { return Ok(None) };
                match &difference.removed {
                    Removed::Few(tokens) => {
                        allowed.remove(tokens, self.walk.vocabulary.width(), self.marks);
                    }
                    Removed::AllBut(kept) => allowed.keep(kept),
                }
                allowed.unite(difference.added.clone());
                allowed
            }
        };
        if let Some(below) = part.below {
            let returned = self.walk.tables.returned(self.walk.automaton, below)?;
            if returned == ConfigurationId::UNSURE {
                for place in &record.facts.returns {
                    self.walk.leave_unsure(place.trie, place.node);
                }
            }
            let candidates = self.walk.tables.candidate_bytes(self.walk.automaton, returned);
            for place in record.facts.returns.iter().filter(|place| candidates.contains(place.byte)) {
                let next = self.walk.step(returned, place.byte)?;
                self.walk.run_below(place.trie, place.node, next, &mut allowed)?;
            }
            if self.walk.tables.is_accepting(returned) {
                self.walk.returns_at(&record.facts.returns);
            }
        } else {
            self.walk.returns_at(&record.facts.returns);
        }
        self.settle(&mut allowed)?;
        Ok(Some(allowed))
    }

    /// The record of a part, made at the first visit. Unless it may `lean` on another's it is whole.
    fn record(&mut self, of: RecordOf, lean: bool) -> Result<Option<Record>> {
        if let Some(known) = self.records.of.get(&of) {
            return Ok(known.clone());
        }
        let (configuration, spot) = of;
        let record = match self.walk.tables.shape(self.walk.automaton, configuration) {
            None => {
                let record = self.new_record(of, lean)?;
                if self.spared {
                    return Ok(None);
                }
                record.map(|(base, facts)| (base, Arc::new(facts)))
            }
            Some(shaped) => match self.shared.get(&(shaped.shape.clone(), spot)) {
                Some(None) => None,
                Some(Some(facts)) => {
                    self.walk.tables.raise_reach(&shaped, facts.reach);
                    Some((self.base_of(configuration, &facts)?, facts))
                }
                None => {
                    let record = self.new_record(of, lean)?;
                    if self.spared {
                        return Ok(None);
                    }
                    let reach = self.walk.tables.reach_of(&shaped);
                    let record = record.map(|(base, facts)| (base, Arc::new(Facts { reach, ..facts })));
                    let facts = record.as_ref().map(|record| Arc::clone(&record.1));
                    self.shared.insert((shaped.shape, spot), facts);
                    record
                }
            },
        };
        let record = record.map(|(base, facts)| Record { base, facts });
        self.records.bytes += record.as_ref().map_or(0, |record| record.facts.memory_usage());
        self.records.of.insert(of, record.clone());
        Ok(record)
    }

    /// The part that a part is nearly the same as, given what another grammar has found out.
    fn base_of(&mut self, configuration: ConfigurationId, facts: &Facts) -> Result<Option<ConfigurationId>> {
        match &facts.tokens {
            Tokens::Whole(_) => Ok(None),
            Tokens::Near(_) => delta::base(&mut self.walk, configuration),
        }
    }

    fn new_record(
        &mut self,
        (configuration, spot): RecordOf,
        lean: bool,
    ) -> Result<Option<(Option<ConfigurationId>, Facts)>> {
        if self.walk.tables.is_accepting(configuration) {
            return Ok(None);
        }
        let base = if lean { self.base(configuration)? } else { None };
        // the record may be made in the middle of another
        let outer = (self.walk.returns.take(), std::mem::take(&mut self.walk.entered));
        let (unsure, reaches) = (self.walk.unsure.len(), self.walk.reaches);
        let tokens = loop {
            let before = self.walk.tables.reaches();
            self.walk.returns = Some(Vec::new());
            self.walk.reaches = Some(before);
            let tokens = self.tokens_at(configuration, spot, base);
            // as with the mask: strings in it may have been nearer to their bounds
            if tokens.is_err() || self.walk.tables.reaches() == before {
                break tokens;
            }
            if let Err(error) = self.explore(configuration) {
                break Err(error);
            }
        };
        self.walk.reaches = reaches;
        let everywhere = self.walk.returns_everywhere();
        let returns = std::mem::replace(&mut self.walk.returns, outer.0).unwrap_or_default();
        self.walk.entered = outer.1;
        let Some(mut tokens) = tokens? else { return Ok(None) };
        if everywhere || self.walk.unsure.len() > unsure {
            return Ok(None);
        }
        if let Tokens::Whole(allowed) = &mut tokens {
            allowed.settle(self.walk.vocabulary.width());
        }
        Ok(Some((base, Facts { tokens, returns, reach: 0 })))
    }

    /// Steps through what is near: the next walk is then less likely to be cut short by longer completions.
    fn explore(&mut self, configuration: ConfigurationId) -> Result<()> {
        let Walk { tables, automaton, .. } = &mut self.walk;
        if tables.remembers(configuration) {
            return Ok(());
        }
        let mut seen = FxHashSet::from_iter([configuration]);
        let mut order = vec![configuration];
        let mut done = 0;
        while let Some(&at) = order.get(done).filter(|_| order.len() < MOST_EXPLORED) {
            done += 1;
            for next in tables.after_any(automaton, at)? {
                if next > ConfigurationId::UNSURE && seen.insert(next) {
                    order.push(next);
                }
            }
        }
        Ok(())
    }

    /// What a record holds; `None` if that is not to be found out.
    fn tokens_at(
        &mut self,
        configuration: ConfigurationId,
        spot: Spot,
        base: Option<ConfigurationId>,
    ) -> Result<Option<Tokens>> {
        if let Some(base) = base {
            let mut difference = delta::compute(&mut self.walk, configuration, base)?;
            self.settle(&mut difference.added)?;
            return Ok(Some(Tokens::Near(difference)));
        }
        if spot == Spot::ALL && self.spares_walks {
            let known = self.tokens_without_walk(configuration)?;
            self.spared |= known.is_none();
            return Ok(known.map(Tokens::Whole));
        }
        if spot == Spot::ALL {
            return Ok(Some(Tokens::Whole(self.tokens(configuration)?)));
        }
        let mut allowed = Allowed::default();
        self.walk.run_from(spot.trie, spot.node, configuration, &mut allowed)?;
        self.settle(&mut allowed)?;
        Ok(Some(Tokens::Whole(allowed)))
    }

    /// The part that a part is nearly the same as.
    fn base(&mut self, configuration: ConfigurationId) -> Result<Option<ConfigurationId>> {
        let Some(base) = delta::base(&mut self.walk, configuration)? else { return Ok(None) };
        let record = self.record((base, Spot::ALL), false)?;
        let wide = record
            .is_some_and(|record| matches!(&record.facts.tokens, Tokens::Whole(whole) if whole.is_wide()));
        Ok(wide.then_some(base))
    }

    /// The tokens of a configuration as a whole.
    fn tokens(&mut self, configuration: ConfigurationId) -> Result<Allowed> {
        if let Some(allowed) = self.tokens_without_walk(configuration)? {
            return Ok(allowed);
        }
        let mut allowed = Allowed::default();
        self.walk.run(TrieId::ALL, configuration, |_| true, &mut allowed)?;
        self.settle(&mut allowed)?;
        Ok(allowed)
    }

    /// The same, unless it takes a long walk.
    fn tokens_without_walk(&mut self, configuration: ConfigurationId) -> Result<Option<Allowed>> {
        let candidates = self.walk.tables.candidate_bytes(self.walk.automaton, configuration);
        let walk_all = |walk: &mut Walk<'_>| {
            if let Some(allowed) = loop_language::compute(walk, configuration, &candidates)? {
                return Ok(allowed);
            }
            let mut allowed = Allowed::default();
            walk.run(TrieId::ALL, configuration, |_| true, &mut allowed)?;
            Ok(allowed)
        };
        let known = match class_trie::is_begun(&self.walk, configuration) {
            true => None,
            false => self.given_up(walk_all)?,
        };
        let mut allowed = match known {
            Some(allowed) => Some(allowed),
            None => class_trie::compute(&mut self.walk, configuration, &candidates)?,
        };
        if let Some(allowed) = &mut allowed {
            self.settle(allowed)?;
        }
        Ok(allowed)
    }

    /// Computes something by walks that are given up if they become long: then it is as if they had not been begun.
    fn given_up(
        &mut self,
        compute: impl FnOnce(&mut Walk<'_>) -> Result<Allowed>,
    ) -> Result<Option<Allowed>> {
        let walk = &mut self.walk;
        let (returns, unsure) = (walk.returns.as_ref().map_or(0, Vec::len), walk.unsure.len());
        walk.limit(1 + (walk.vocabulary.trie().node_count() / LONG_WALK) as u32, !self.spares_walks);
        let allowed = compute(walk);
        let is_long = walk.is_long();
        walk.limit(u32::MAX, false);
        if is_long {
            walk.unsure.truncate(unsure);
            if let Some(places) = &mut walk.returns {
                places.truncate(returns);
            }
        }
        Ok(Some(allowed?).filter(|_| !is_long))
    }
}
