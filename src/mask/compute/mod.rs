//! The mask of a configuration, put together from the records of its residuals.
//!
//! The way to a mask, in the order in which the functions call each other:
//! 1. [`MaskCache::mask`](super::cache::mask_cache::MaskCache::mask) looks it up, and publishes what [`mask`] returns.
//! 2. [`mask`] adds the tokens of token edges and the end-of-sequence tokens to those of [`Work::allowed`].
//! 3. [`Work::allowed`] decides: a configuration that remembers items is computed from one that does not (`unique.rs`), a
//!    narrow one by a walk along the few bytes that may come, any other from its residuals.
//! 4. [`Work::by_residuals`] takes the configuration apart, and [`Work::unite`] unites what its residuals allow.
//! 5. [`Work::residual_tokens`] takes the record of a residual, and walks on from where that returns before a token has ended,
//!    which is short: after a string few bytes may come.
//! 6. [`Work::record`] (`records.rs`) finds the record, in this grammar or in the shape cache that grammars share, or makes it:
//!    by the first strategy that applies (`strategy/mod.rs`), each of which walks (`walk`) as little as it can.

pub(in crate::mask) mod record;
pub(in crate::mask) mod records;
pub(in crate::mask) mod unique;

use super::cache::shape_cache::ShapeCache;
use super::strategy::task::{Outcome, Task};
use super::strategy::{self, StrategyCounts, StrategyId, StrategySet, class_trie, full_walk};
use super::terminals::Terminals;
use super::token_mask::TokenMask;
use super::token_set::{Removed, ScratchBits, TokenSet};
use super::walk::Walk;
use super::walk::collected::{Collected, EnteredString, NodeBudget, Target, TrieScope};
use crate::attribution::{self, Cause};
use crate::automaton::{ConfigurationId, Decomposition, Lazy, Residual};
use crate::error::Result;
use crate::mask::tuning::STRING_BYTES;
use crate::token_index::TokenIndex;
use crate::token_index::loops::TrieId;
use records::{Lookup, ResidualMask, ResidualMasks};
use std::sync::Arc;

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
    let _scope = attribution::enter(Cause::Assemble);
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
        if self.walk.lazy.remembers_items(configuration) {
            let _scope = attribution::enter(Cause::Unique);
            return Ok(nothing.with(self.remembering(configuration)?));
        }
        if self.walk.lazy.is_narrow(configuration) {
            let _scope = attribution::enter(Cause::Narrow);
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

    fn decomposed(&mut self, configuration: ConfigurationId, horizon: u32) -> Decomposition {
        let _scope = attribution::enter(Cause::Decompose);
        self.walk.lazy.decompose(configuration, horizon)
    }

    /// The tokens of a configuration, from those of its parts.
    fn by_residuals(&mut self, configuration: ConfigurationId) -> Result<Collected> {
        let index = self.walk.index;
        let residuals = self.decomposed(configuration, index.vocabulary().longest());
        let mut allowed = None;
        // where a bound is near for long tokens only, those are examined by themselves
        for lengths in index.loops().lengths.iter().filter(|_| residuals.depends_on_count) {
            let of_short = self.decomposed(configuration, lengths.bytes);
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
        let scope = attribution::enter(Cause::ClassTrie);
        let mut allowed = class_trie::complete(&mut self.walk, configuration, known)?;
        drop(scope);
        if let Some(allowed) = &mut allowed {
            self.resolve_entered(allowed)?;
        }
        Ok(allowed)
    }

    /// Adds what follows where strings may begin.
    pub(super) fn resolve_entered(&mut self, out: &mut Collected) -> Result<()> {
        if out.entered.is_empty() {
            return Ok(());
        }
        let _scope = attribution::enter(Cause::EnteredStrings);
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
            let _scope = attribution::enter(Cause::Continuations);
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

    /// The tokens of a configuration that is not taken apart.
    fn as_a_whole(&mut self, configuration: ConfigurationId) -> Result<Collected> {
        let task = Task::new(&self.walk, configuration, Target::Whole, TrieScope::ALL);
        let (strategy, mut found) = match strategy::compute(&mut self.walk, &task, self.strategies)? {
            (strategy, Outcome::Done(found)) => (strategy, found),
            _ => {
                let _scope = attribution::enter(Cause::FullWalk);
                (StrategyId::FULL_WALK, full_walk::collect(&mut self.walk, &task)?)
            }
        };
        self.counts.add(strategy);
        self.resolve_entered(&mut found)?;
        Ok(found)
    }
}
