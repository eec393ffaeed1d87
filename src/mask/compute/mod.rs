//! The mask of a configuration, assembled from the records of its residuals.
//!
//! The steps to a mask, in the order of the calls: 1. [`MaskCache::mask`](super::cache::mask_cache::MaskCache::mask)
//! looks the mask up, or publishes the result of [`mask`]. 2. [`mask`] adds the tokens of token edges and the
//! end-of-sequence tokens to those of [`Work::allowed`]. 3. [`Work::allowed`] chooses a method. A configuration that
//! remembers items is computed from one that does not (`unique.rs`), a narrow one by a walk along its few possible
//! bytes, and any other from its residuals. 4. [`Work::by_residuals`] decomposes the configuration, and [`Work::unite`]
//! unites the tokens of its residuals. 5. [`Work::residual_tokens`] takes the record of a residual, and continues the
//! walk from the nodes where the residual returns before a token has ended. These walks are short: after a string few
//! bytes are possible. 6. [`Work::record`] (`records.rs`) looks up the record in this grammar or in the shape cache
//! that grammars share, or computes it with the first strategy that applies (`strategy/mod.rs`). Each strategy walks
//! (`walk`) as little as possible.

pub(in crate::mask) mod record;
pub(in crate::mask) mod records;
pub(in crate::mask) mod unique;

use super::cache::shared::Shared;
use super::strategy::task::{Outcome, Task};
use super::strategy::{self, StrategyCounts, StrategyId, StrategySet, class_trie, full_walk};
use super::terminals::Terminals;
use super::token_mask::TokenMask;
use super::token_set::{Removed, ScratchBits, TokenSet};
use super::walk::Walk;
use super::walk::collected::{Collected, EnteredString, NodeBudget, Target, TrieScope};
use crate::automaton::{ConfigurationId, Lazy, Residual};
use crate::error::Result;
use crate::mask::tuning::STRING_BYTES;
use crate::token_index::TokenIndex;
use crate::token_index::loops::TrieId;
use records::{Lookup, ResidualMask, ResidualMasks};
use std::sync::Arc;

/// The data, in addition to the automaton, that the masks of one grammar are computed from.
pub(super) struct Resources<'a> {
    pub(super) records: &'a mut ResidualMasks,
    pub(super) shared: &'a Shared,
    pub(super) terminals: &'a Terminals,
    pub(super) marks: &'a mut ScratchBits,
    pub(super) strategies: StrategySet,
    pub(super) counts: &'a mut StrategyCounts,
}

/// The mask of a configuration: every token whose bytes lead to a configuration that is not dead, the tokens of its
/// token edges, and the end-of-sequence tokens if the configuration accepts.
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
    shared: &'a Shared,
    pub(super) marks: &'a mut ScratchBits,
    strategies: StrategySet,
    counts: &'a mut StrategyCounts,
}

impl Work<'_> {
    /// The tokens whose bytes a configuration allows, without those of token edges and end-of-sequence tokens.
    pub(super) fn allowed(&mut self, configuration: ConfigurationId) -> Result<Collected> {
        let nothing = Collected::new(Target::Whole, NodeBudget::UNLIMITED);
        if self.walk.lazy.remembers_items(configuration) {
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
            // completions proved longer than assumed, so counts may have been widened too far: repeat
            if self.walk.lazy.radius_epoch() == before {
                return Ok(allowed);
            }
        }
    }

    /// The tokens of a configuration, united from its residuals.
    fn by_residuals(&mut self, configuration: ConfigurationId) -> Result<Collected> {
        let index = self.walk.index;
        let residuals = self.walk.lazy.decompose(configuration, index.vocabulary().longest());
        let mut allowed = None;
        // if only long tokens can reach a bound, examine the long ones separately
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

    /// The union of the tokens of residuals; `None` if a residual has no record or would need too much work. `whole` is
    /// the configuration with exactly these residuals, if there is one.
    fn unite(
        &mut self,
        residuals: &[Residual],
        scope: TrieScope,
        target: Target,
        whole: Option<ConfigurationId>,
    ) -> Result<Option<Collected>> {
        let mut allowed = Collected::new(target, NodeBudget::UNLIMITED);
        // tests that force a set of strategies must not use another method
        let whole = whole.filter(|_| self.strategies == StrategySet::ALL);
        for &residual in residuals {
            // once most tokens are known to be allowed, examine only the others instead of walking all again
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

    /// All tokens of a configuration, given some that are known; `None` if too many others would have to be read, or if
    /// they depend on the history.
    fn complete(&mut self, configuration: ConfigurationId, known: &TokenSet) -> Result<Option<Collected>> {
        let mut allowed = class_trie::complete(&mut self.walk, configuration, known)?;
        if let Some(allowed) = &mut allowed {
            self.resolve_entered(allowed)?;
        }
        Ok(allowed)
    }

    /// Adds the tokens below the nodes where strings may begin.
    pub(super) fn resolve_entered(&mut self, out: &mut Collected) -> Result<()> {
        if out.entered.is_empty() {
            return Ok(());
        }
        while let Some(EnteredString { scope, configuration }) = out.entered.pop() {
            match self.below(scope, configuration, out.target)? {
                Some(more) => out.merge(more),
                None => self.walk.run_from(scope.trie, scope.node, configuration, out)?,
            }
        }
        Ok(())
    }

    /// The tokens below a node that reaches a configuration, from the residuals of the configuration; `None` if this
    /// does not pay off.
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

    /// The tokens that a residual allows with its stack.
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

    /// The tokens of a configuration that is not decomposed.
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
