//! Records of residuals: the tokens that a residual allows regardless of its stack. A record is computed at the first
//! visit, by the first strategy that applies, and stored.

use super::Work;
use super::record::ResidualTokens;
use super::unique::{ForgetfulMask, Indifferent};
use crate::automaton::ConfigurationId;
use crate::collections::heap::{map_bytes, table_bytes};
use crate::error::Result;
use crate::mask::cache::shape_cache::OfShape;
use crate::mask::partition::TokenPartition;
use crate::mask::strategy::task::{Outcome, Task};
use crate::mask::strategy::{self, StrategySet, delta};
use crate::mask::token_set::TokenSet;
use crate::mask::tuning::WARMED_CONFIGURATIONS;
use crate::mask::walk::Walk;
use crate::mask::walk::collected::{Limit, Target, TrieScope};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The key of a record: the residual and the tokens it covers.
pub(super) type ResidualKey = (ConfigurationId, TrieScope);

/// The record of a residual in one grammar.
#[derive(Clone, Debug)]
pub(super) struct ResidualMask {
    /// The residual whose record this record is a difference to; `None` if the record is not a difference.
    pub(super) base: Option<ConfigurationId>,
    pub(super) facts: Arc<ResidualTokens>,
}

/// The result of looking up or computing a record.
pub(super) enum Lookup<T> {
    Found(T),
    /// The residual has no record: it returns without a further byte or nearly everywhere, or some tokens depend on the
    /// history.
    Unrecorded,
    /// The allowed strategies would need too much work.
    TooCostly,
}

/// The records computed so far.
#[derive(Debug, Default)]
pub(in crate::mask) struct ResidualMasks {
    /// The records; `None` for residuals without a record.
    of: FxHashMap<ResidualKey, Option<ResidualMask>>,
    /// The masks of forgetful configurations, which replace those that remember items.
    forgetful: FxHashMap<ConfigurationId, Arc<ForgetfulMask>>,
    /// Subtrees of the trie whose tokens do not depend on the items read.
    indifferent: FxHashSet<Indifferent>,
    /// The partitions of residuals, for masks within budgets; `None` for residuals without one.
    partitions: FxHashMap<ConfigurationId, Option<Arc<TokenPartition>>>,
    bytes: usize,
}

impl ResidualMasks {
    /// Bytes on the heap.
    pub(in crate::mask) fn memory_usage(&self) -> usize {
        self.bytes
            + map_bytes(&self.of)
            + map_bytes(&self.forgetful)
            + map_bytes(&self.partitions)
            + table_bytes::<Indifferent>(self.indifferent.capacity())
    }

    pub(super) fn is_indifferent(&self, subtree: &Indifferent) -> bool {
        self.indifferent.contains(subtree)
    }

    pub(super) fn keep_indifferent(&mut self, subtrees: impl Iterator<Item = Indifferent>) {
        self.indifferent.extend(subtrees);
    }

    /// The partition of a residual, if it is known in this grammar. The inner `None` means that the residual has none.
    pub(in crate::mask) fn partition(&self, of: ConfigurationId) -> Option<Option<Arc<TokenPartition>>> {
        self.partitions.get(&of).cloned()
    }

    pub(in crate::mask) fn keep_partition(
        &mut self,
        of: ConfigurationId,
        found: Option<Arc<TokenPartition>>,
    ) {
        self.bytes += found.as_ref().map_or(0, |found| found.memory_usage());
        self.partitions.insert(of, found);
    }

    pub(super) fn forgetful(&self, configuration: ConfigurationId) -> Option<Arc<ForgetfulMask>> {
        self.forgetful.get(&configuration).cloned()
    }

    pub(super) fn keep_forgetful(&mut self, configuration: ConfigurationId, forgetful: Arc<ForgetfulMask>) {
        self.bytes += forgetful.memory_usage();
        self.forgetful.insert(configuration, forgetful);
    }
}

impl Work<'_> {
    /// The record of a residual, computed at the first visit. If it is computed now, it may be a difference to another
    /// record only if `lean` is set. A record that is known already may be a difference in any case.
    pub(super) fn record(
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
        let shared = canonical
            .as_ref()
            .and_then(|canonical| self.shared.records.get(&(canonical.form.clone(), scope)));
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
                    self.shared.records.insert((canonical.form, scope), facts);
                }
                record
            }
        };
        self.records.bytes += record.as_ref().map_or(0, |record| record.facts.memory_usage());
        self.records.of.insert(of, record.clone());
        Ok(record.map_or(Lookup::Unrecorded, Lookup::Found))
    }

    /// The base of a residual, for a record that another grammar has computed.
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

    /// Computes the record of a residual, with its base if it is a difference.
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
                    // entered strings may have been widened too far, so the attempt is repeated
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

    /// Steps through nearby configurations, so that the next walk is less likely to be interrupted by longer
    /// completions.
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

    /// The base of a residual, if the base allows most tokens.
    fn base(
        &mut self,
        configuration: ConfigurationId,
        strategies: StrategySet,
    ) -> Result<Lookup<ConfigurationId>> {
        let base = delta::base(&mut self.walk, configuration)?;
        let Some(base) = base else { return Ok(Lookup::Unrecorded) };
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
}
