//! The mask of a configuration, put together from its parts.
//!
//! For each part of a configuration (see [`Cache::parts`]) there is a [`ResidualMask`]: the tokens that the part
//! allows whatever is below it, and the places where it returns before a token has ended. The record is made
//! once for all configurations that have the part. What a configuration adds is a walk from those places on,
//! which is short: after a string few bytes may come.

pub(in crate::mask) mod record;
pub(in crate::mask) mod unique;

use super::cache::shape_cache::ShapeCache;
use super::strategy::task::{Outcome, Task};
use super::strategy::{self, StrategyCounts, StrategyId, StrategySet, class_trie, delta, full_walk};
use super::terminals::Terminals;
use super::token_mask::TokenMask;
use super::token_set::{Removed, ScratchBits, TokenSet};
use super::walk::Walk;
use super::walk::collected::{Collected, EnteredString, Limit, NodeBudget, Target, TrieScope};
use crate::automaton::{ConfigurationId, Lazy, Residual};
use crate::error::Result;
use crate::mask::tuning::{STRING_BYTES, WARMED_CONFIGURATIONS};
use crate::token_index::TokenIndex;
use crate::token_index::loops::TrieId;
use record::ResidualTokens;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use unique::{ForgetfulMask, Indifferent};

/// Of what a record is: a part, and the tokens that it is about.
type ResidualKey = (ConfigurationId, TrieScope);

/// What is known of a part.
#[derive(Clone, Debug)]
pub(super) struct ResidualMask {
    /// The part that it is nearly the same as.
    base: Option<ConfigurationId>,
    facts: Arc<ResidualTokens>,
}

/// What there is to say of a part.
enum Lookup<T> {
    Found(T),
    /// It has no record: it may return nearly everywhere, or it takes a history to know of tokens.
    Unrecorded,
    /// It takes more work than the strategies in question may do.
    TooCostly,
}

/// The records made so far.
#[derive(Debug, Default)]
pub(super) struct ResidualMasks {
    /// `None` for parts that may return nearly everywhere.
    of: FxHashMap<ResidualKey, Option<ResidualMask>>,
    /// Of the configurations that stand in for those that remember items.
    forgetful: FxHashMap<ConfigurationId, Arc<ForgetfulMask>>,
    /// Subtrees of the trie where what came makes no difference.
    indifferent: FxHashSet<Indifferent>,
    bytes: usize,
}

impl ResidualMasks {
    /// Bytes on the heap.
    pub(super) fn memory_usage(&self) -> usize {
        self.bytes
            + self.of.capacity() * (size_of::<(ResidualKey, Option<ResidualMask>)>() + 1)
            + self.forgetful.capacity() * (size_of::<(ConfigurationId, Arc<ForgetfulMask>)>() + 1)
            + self.indifferent.capacity() * (size_of::<Indifferent>() + 1)
    }

    pub(super) fn is_indifferent(&self, subtree: &Indifferent) -> bool {
        self.indifferent.contains(subtree)
    }

    pub(super) fn keep_indifferent(&mut self, subtrees: impl Iterator<Item = Indifferent>) {
        self.indifferent.extend(subtrees);
    }

    pub(super) fn forgetful(&self, configuration: ConfigurationId) -> Option<Arc<ForgetfulMask>> {
        self.forgetful.get(&configuration).cloned()
    }

    pub(super) fn keep_forgetful(&mut self, configuration: ConfigurationId, forgetful: Arc<ForgetfulMask>) {
        self.bytes += forgetful.memory_usage();
        self.forgetful.insert(configuration, forgetful);
    }
}

/// What masks of one grammar are computed with, beside its automaton.
pub(super) struct Resources<'a> {
    pub(super) records: &'a mut ResidualMasks,
    pub(super) shared: &'a ShapeCache,
    pub(super) terminals: &'a Terminals,
    pub(super) marks: &'a mut ScratchBits,
    pub(super) strategies: StrategySet,
    pub(super) counts: &'a mut StrategyCounts,
}

/// The mask of a configuration: every token whose bytes lead to a configuration that is not dead, those of its token edges,
/// and the end-of-sequence tokens if the configuration accepts.
pub(super) fn mask(
    lazy: Lazy<'_>,
    index: &TokenIndex,
    configuration: ConfigurationId,
    resources: Resources<'_>,
) -> Result<TokenMask> {
    let transitions = Arc::clone(lazy.transitions());
    let walk = Walk::new(Lazy::new(lazy.automaton, &mut *lazy.cache), &transitions, index);
    let Resources { records, shared, terminals, marks, strategies, counts } = resources;
    let mut work = Work { walk, records, shared, marks, strategies, counts };
    let mut allowed = work.allowed(configuration)?.tokens;
    let mut token_edges = lazy.terminals(configuration);
    token_edges.sort_unstable();
    token_edges.dedup();
    for terminal in token_edges {
        lazy.work.spend(index.vocabulary().mask_words())?;
        terminals.add_to(terminal, &mut allowed);
    }
    if lazy.is_accepting(configuration) {
        allowed.extend(index.vocabulary().eos());
    }
    Ok(allowed.finish(index.vocabulary().width(), marks))
}

pub(super) struct Work<'a> {
    pub(super) walk: Walk<'a>,
    pub(super) records: &'a mut ResidualMasks,
    shared: &'a ShapeCache,
    pub(super) marks: &'a mut ScratchBits,
    strategies: StrategySet,
    counts: &'a mut StrategyCounts,
}

impl Work<'_> {
    /// The tokens of a configuration.
    pub(super) fn allowed(&mut self, configuration: ConfigurationId) -> Result<Collected> {
        let nothing = Collected::new(Target::Whole, NodeBudget::UNLIMITED);
        if self.walk.lazy.has_register(configuration) {
            return Ok(nothing.with(self.remembering(configuration)?));
        }
        if self.walk.lazy.is_narrow(configuration) {
            let mut allowed = nothing;
            self.walk.run(TrieId::ALL, configuration, |_| true, &mut allowed)?;
            self.resolve_entered(&mut allowed)?;
            return Ok(allowed);
        }
        loop {
            let before = self.walk.lazy.radius_epoch();
            let allowed = self.by_residuals(configuration)?;
            // where completions are longer than was thought, bounds may have been nearer
            if self.walk.lazy.radius_epoch() == before {
                return Ok(allowed);
            }
        }
    }

    /// The tokens of a configuration, from those of its parts.
    fn by_residuals(&mut self, configuration: ConfigurationId) -> Result<Collected> {
        let index = self.walk.index;
        let residuals = self.walk.lazy.decompose(configuration, index.vocabulary().longest());
        let mut allowed = None;
        // where a bound is near for long tokens only, those are examined by themselves
        for lengths in index.loops().lengths.iter().filter(|_| residuals.depends_on_count) {
            let of_short = self.walk.lazy.decompose(configuration, lengths.bytes);
            if !of_short.depends_on_count {
                let long = TrieScope { trie: lengths.long, node: 0 };
                let short = self.unite(&of_short, TrieScope::ALL, Target::Whole, Some(configuration))?;
                let long = self.unite(&residuals, long, Target::Whole, None)?;
                allowed = short.zip(long).map(|(mut short, long)| {
                    short.tokens.keep(&lengths.short);
                    short.merge(long);
                    short
                });
                break;
            }
        }
        if allowed.is_none() {
            allowed = self.unite(&residuals, TrieScope::ALL, Target::Whole, Some(configuration))?;
        }
        match allowed {
            Some(allowed) => Ok(allowed),
            None => self.as_a_whole(configuration),
        }
    }

    /// The tokens that parts allow, those of `whole` if that is given; `None` if one has no record.
    fn unite(
        &mut self,
        residuals: &[Residual],
        scope: TrieScope,
        target: Target,
        whole: Option<ConfigurationId>,
    ) -> Result<Option<Collected>> {
        let mut allowed = Collected::new(target, NodeBudget::UNLIMITED);
        // a set that is forced leaves nothing to other ways
        let whole = whole.filter(|_| self.strategies == StrategySet::ALL);
        for &residual in residuals {
            // where most tokens are allowed already, the others are examined rather than all again
            let whole = whole.filter(|_| allowed.tokens.has_base());
            let strategies = match whole {
                Some(_) => self.strategies.without(StrategyId::FULL_WALK),
                None => self.strategies,
            };
            match (self.residual_tokens(residual, scope, target, strategies)?, whole) {
                (Lookup::Found(more), _) => allowed.merge(more),
                (Lookup::TooCostly, Some(whole)) => return self.complete(whole, &allowed.tokens),
                _ => return Ok(None),
            }
        }
        Ok(Some(allowed))
    }

    /// All tokens of a configuration, of which some are known.
    fn complete(&mut self, configuration: ConfigurationId, known: &TokenSet) -> Result<Option<Collected>> {
        let mut allowed = class_trie::complete(&mut self.walk, configuration, known)?;
        if let Some(allowed) = &mut allowed {
            self.resolve_entered(allowed)?;
        }
        Ok(allowed)
    }

    /// Adds what follows where strings may begin.
    pub(super) fn resolve_entered(&mut self, out: &mut Collected) -> Result<()> {
        while let Some(EnteredString { scope, configuration }) = out.entered.pop() {
            match self.below(scope, configuration, out.target)? {
                Some(more) => out.merge(more),
                None => self.walk.run_from(scope.trie, scope.node, configuration, out)?,
            }
        }
        Ok(())
    }

    /// The tokens below a node at which a configuration is reached, from those of its parts; `None` if that is not worth
    /// while.
    fn below(
        &mut self,
        scope: TrieScope,
        configuration: ConfigurationId,
        target: Target,
    ) -> Result<Option<Collected>> {
        let Walk { lazy, vocabulary, .. } = &mut self.walk;
        if lazy.is_history_dependent(configuration)
            || lazy.may_become_unknown(configuration)
            || lazy.is_accepting(configuration)
            || lazy.candidate_bytes(configuration).len() < STRING_BYTES
        {
            return Ok(None);
        }
        let residuals = lazy.decompose(configuration, vocabulary.longest());
        if residuals.depends_on_count {
            return Ok(None);
        }
        self.unite(&residuals, scope, target, None)
    }

    /// The tokens that a part allows where it stands.
    fn residual_tokens(
        &mut self,
        residual: Residual,
        scope: TrieScope,
        target: Target,
        strategies: StrategySet,
    ) -> Result<Lookup<Collected>> {
        let all = scope == TrieScope::ALL;
        let ResidualMask { base, facts } =
            match self.record((residual.configuration, scope), all, strategies)? {
                Lookup::Found(record) => record,
                Lookup::Unrecorded => return Ok(Lookup::Unrecorded),
                Lookup::TooCostly => return Ok(Lookup::TooCostly),
            };
        let mut out = match (&facts.removed, base) {
            (None, _) => Collected::new(target, NodeBudget::UNLIMITED).with(facts.tokens.clone()),
            (Some(_), None) => return Ok(Lookup::Unrecorded),
            (Some(removed), Some(base)) => {
                let base = Residual { configuration: base, ..residual };
                let mut out = match self.residual_tokens(base, scope, target, strategies)? {
                    Lookup::Found(of_base) => of_base,
                    none => return Ok(none),
                };
                match removed {
                    Removed::Few(tokens) => {
                        out.tokens.remove(tokens, self.walk.vocabulary.width(), self.marks);
                    }
                    Removed::AllBut(kept) => out.tokens.keep(kept),
                }
                out.tokens.unite(facts.tokens.clone());
                out
            }
        };
        if let Some(below) = residual.returns_to {
            let returned = self.walk.lazy.returned(below)?;
            if returned == ConfigurationId::UNKNOWN {
                for place in &facts.continuations {
                    out.leave_unknown(self.walk.index.trie_of(place.trie), place.node);
                }
            }
            let candidates = self.walk.lazy.candidate_bytes(returned);
            for place in facts.continuations.iter().filter(|place| candidates.contains(place.byte)) {
                let next = self.walk.step(returned, place.byte)?;
                self.walk.run_below(place.trie, place.node, next, &mut out)?;
            }
            if self.walk.lazy.is_accepting(returned) {
                out.continue_at(&facts.continuations);
            }
        } else {
            out.continue_at(&facts.continuations);
        }
        self.resolve_entered(&mut out)?;
        Ok(Lookup::Found(out))
    }

    /// The record of a part, made at the first visit. Unless it may `lean` on another's it is whole.
    fn record(
        &mut self,
        of: ResidualKey,
        lean: bool,
        strategies: StrategySet,
    ) -> Result<Lookup<ResidualMask>> {
        if let Some(known) = self.records.of.get(&of) {
            return Ok(known.clone().map_or(Lookup::Unrecorded, Lookup::Found));
        }
        let (configuration, scope) = of;
        let canonical = self.walk.lazy.canonical_form(configuration);
        let shared =
            canonical.as_ref().and_then(|canonical| self.shared.get(&(canonical.form.clone(), scope)));
        let record = match (shared, canonical) {
            (Some(None), _) => None,
            (Some(Some(facts)), canonical) => {
                if let Some(canonical) = canonical {
                    self.walk.lazy.raise_completion_radius(&canonical, facts.completion_radius);
                }
                Some(ResidualMask { base: self.base_of(configuration, &facts)?, facts })
            }
            (None, canonical) => {
                let mut record = match self.new_record(of, lean, strategies)? {
                    Lookup::Found(record) => Some(record),
                    Lookup::Unrecorded => None,
                    Lookup::TooCostly => return Ok(Lookup::TooCostly),
                };
                if let (Some(canonical), Some((_, facts))) = (&canonical, &mut record) {
                    facts.completion_radius = self.walk.lazy.completion_radius_of(canonical);
                }
                let record = record.map(|(base, facts)| ResidualMask { base, facts: Arc::new(facts) });
                if let Some(canonical) = canonical {
                    let facts = record.as_ref().map(|record| Arc::clone(&record.facts));
                    self.shared.insert((canonical.form, scope), facts);
                }
                record
            }
        };
        self.records.bytes += record.as_ref().map_or(0, |record| record.facts.memory_usage());
        self.records.of.insert(of, record.clone());
        Ok(record.map_or(Lookup::Unrecorded, Lookup::Found))
    }

    /// The part that a part is nearly the same as, given what another grammar has found out.
    fn base_of(
        &mut self,
        configuration: ConfigurationId,
        facts: &ResidualTokens,
    ) -> Result<Option<ConfigurationId>> {
        match &facts.removed {
            None => Ok(None),
            Some(_) => delta::base(&mut self.walk, configuration),
        }
    }

    /// Makes the record of a part, with the part that it is nearly the same as.
    fn new_record(
        &mut self,
        (configuration, scope): ResidualKey,
        lean: bool,
        strategies: StrategySet,
    ) -> Result<Lookup<(Option<ConfigurationId>, ResidualTokens)>> {
        if self.walk.lazy.is_accepting(configuration) {
            return Ok(Lookup::Unrecorded);
        }
        let base = match lean && strategies.need_a_base() {
            true => match self.base(configuration, strategies)? {
                Lookup::Found(base) => Some(base),
                Lookup::Unrecorded => None,
                Lookup::TooCostly => return Ok(Lookup::TooCostly),
            },
            false => None,
        };
        let mut begun: Option<TokenSet> = None;
        loop {
            let target = Target::Residual { radius_epoch: self.walk.lazy.radius_epoch() };
            let task = Task::new(&self.walk, configuration, target, scope).given(base, begun.as_ref());
            let (strategy, outcome) = strategy::compute(&mut self.walk, &task, strategies)?;
            let found = match outcome {
                Outcome::Done(found) => Some((None, found)),
                Outcome::Relative(removed, found) => Some((Some(removed), found)),
                Outcome::NotApplicable | Outcome::Limit(Limit::Work) => return Ok(Lookup::TooCostly),
                Outcome::Limit(Limit::Returns) => return Ok(Lookup::Unrecorded),
                Outcome::Limit(Limit::Stale) => {
                    begun = None;
                    None
                }
                Outcome::Begun(tokens) => {
                    begun = Some(tokens);
                    None
                }
            };
            if let Some((removed, mut found)) = found {
                self.resolve_entered(&mut found)?;
                match found.limit(&self.walk.lazy) {
                    // as with the mask: strings in it may have been nearer to their bounds
                    Some(Limit::Stale) => begun = None,
                    Some(_) => return Ok(Lookup::Unrecorded),
                    None if !found.unknown.is_empty() => return Ok(Lookup::Unrecorded),
                    None => {
                        self.counts.add(strategy);
                        let base = base.filter(|_| removed.is_some());
                        let (mut tokens, continuations) = found.into_parts();
                        if removed.is_none() {
                            tokens.compact(self.walk.vocabulary.width());
                        }
                        let facts = ResidualTokens { removed, tokens, continuations, completion_radius: 0 };
                        return Ok(Lookup::Found((base, facts)));
                    }
                }
            }
            self.warm_completion_radius(configuration)?;
        }
    }

    /// Steps through what is near: the next walk is then less likely to be cut short by longer completions.
    fn warm_completion_radius(&mut self, configuration: ConfigurationId) -> Result<()> {
        let Walk { lazy, .. } = &mut self.walk;
        if lazy.is_history_dependent(configuration) {
            return Ok(());
        }
        let mut seen = FxHashSet::from_iter([configuration]);
        let mut order = vec![configuration];
        let mut done = 0;
        while let Some(&at) = order.get(done).filter(|_| order.len() < WARMED_CONFIGURATIONS) {
            done += 1;
            for next in lazy.after_any(at)? {
                if next.is_ordinary() && seen.insert(next) {
                    order.push(next);
                }
            }
        }
        Ok(())
    }

    /// The part that a part is nearly the same as, if it allows most tokens.
    fn base(
        &mut self,
        configuration: ConfigurationId,
        strategies: StrategySet,
    ) -> Result<Lookup<ConfigurationId>> {
        let Some(base) = delta::base(&mut self.walk, configuration)? else { return Ok(Lookup::Unrecorded) };
        Ok(match self.record((base, TrieScope::ALL), false, strategies)? {
            Lookup::Found(ResidualMask { facts, .. })
                if facts.removed.is_none() && facts.tokens.has_base() =>
            {
                Lookup::Found(base)
            }
            Lookup::TooCostly => Lookup::TooCostly,
            _ => Lookup::Unrecorded,
        })
    }

    /// The tokens of a configuration that is not taken apart.
    fn as_a_whole(&mut self, configuration: ConfigurationId) -> Result<Collected> {
        let task = Task::new(&self.walk, configuration, Target::Whole, TrieScope::ALL);
        let (strategy, mut found) = match strategy::compute(&mut self.walk, &task, self.strategies)? {
            (strategy, Outcome::Done(found)) => (strategy, found),
            _ => (StrategyId::FULL_WALK, full_walk::collect(&mut self.walk, &task)?),
        };
        self.counts.add(strategy);
        self.resolve_entered(&mut found)?;
        Ok(found)
    }
}
