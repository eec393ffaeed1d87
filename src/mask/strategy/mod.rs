//! Strategies: ways to compute the tokens of a residual, or of a whole configuration. All of them give the same bits.
//!
//! [`STRATEGIES`] is the policy: the first strategy that applies is used. A strategy is a file with a `try_compute`,
//! and a row in this table. Each attempt collects into a new [`Collected`](super::walk::collected::Collected), so a
//! strategy that gives up leaves nothing behind. The walks of a strategy sweep at most the nodes of its [`NodeBudget`].

pub(in crate::mask) mod class_trie;
mod closed_set;
pub(in crate::mask) mod delta;
pub(in crate::mask) mod full_walk;
mod invariant_core;
pub(in crate::mask) mod loop_language;
mod short_walk;
pub(in crate::mask) mod task;

use super::walk::Walk;
use super::walk::collected::{Limit, NodeBudget, TrieScope};
use crate::automaton::ConfigurationId;
use crate::error::Result;
use crate::grammar::ByteSet;
use crate::mask::tuning::NODES_PER_BUDGET;
use crate::token_index::loops::LoopLanguage;
use std::ops::Range;
use task::{InLoop, Needs, Outcome, Strategy, Task};

/// The strategies in the order in which they are tried; the last one always applies. Adjacent strategies for loops are
/// tried as a group for one loop language after the other: languages with more characters come first and leave less to
/// walk.
const STRATEGIES: &[Strategy] = &[
    delta::STRATEGY,
    loop_language::STRATEGY,
    invariant_core::STRATEGY,
    closed_set::STRATEGY,
    short_walk::STRATEGY,
    class_trie::STRATEGY,
    full_walk::STRATEGY,
];

/// A strategy, by its index in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::mask) struct StrategyId(usize);

impl StrategyId {
    /// The walk over all tokens, which always applies.
    pub(in crate::mask) const FULL_WALK: StrategyId = StrategyId(STRATEGIES.len() - 1);
}

/// A set of strategies: bit `i` belongs to row `i` of [`STRATEGIES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::mask) struct StrategySet(u32);

impl StrategySet {
    pub(in crate::mask) const ALL: StrategySet = StrategySet((1 << STRATEGIES.len()) - 1);

    /// The strategies with the given names, and the full walk for everything that they do not apply to.
    #[cfg(feature = "testing")]
    pub(in crate::mask) fn named(names: &[&str]) -> StrategySet {
        let named = (0..STRATEGIES.len()).filter(|&at| names.contains(&STRATEGIES[at].name));
        StrategySet(named.fold(1 << StrategyId::FULL_WALK.0, |all, at| all | 1 << at))
    }

    pub(in crate::mask) fn contains(self, strategy: StrategyId) -> bool {
        self.0 >> strategy.0 & 1 == 1
    }

    /// Whether a strategy of the set needs the record of a base.
    pub(in crate::mask) fn need_a_base(self) -> bool {
        (0..STRATEGIES.len()).any(|at| self.contains(StrategyId(at)) && STRATEGIES[at].needs == Needs::Base)
    }

    pub(in crate::mask) fn without(self, strategy: StrategyId) -> StrategySet {
        StrategySet(self.0 & !(1 << strategy.0))
    }
}

/// How often each strategy computed the tokens of a residual, or of a configuration as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StrategyCounts([u64; STRATEGIES.len()]);

impl StrategyCounts {
    /// The names of the strategies with their counts, in the order in which they are tried.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        STRATEGIES.iter().map(|strategy| strategy.name).zip(self.0)
    }

    /// Increments the count of a strategy.
    pub(in crate::mask) fn add(&mut self, strategy: StrategyId) {
        self.0[strategy.0] += 1;
    }
}

/// Serialised as an object from names of strategies to their counts.
#[cfg(feature = "serde")]
impl serde::Serialize for StrategyCounts {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// Computes all tokens with the first strategy of a set that applies. Returns the strategy and its outcome. The outcome
/// is `NotApplicable` only if the set lacks the full walk and no strategy applies. For tokens below a node, the full
/// walk is used whatever the set contains.
pub(in crate::mask) fn compute(
    walk: &mut Walk<'_>,
    task: &Task<'_>,
    strategies: StrategySet,
) -> Result<(StrategyId, Outcome)> {
    if task.scope != TrieScope::ALL {
        // below a node, walking is the shortest method
        return Ok((StrategyId::FULL_WALK, full_walk::try_compute(walk, task, NodeBudget::UNLIMITED)?));
    }
    // an attempt that was begun before has spent the budget
    let mut budget = match task.begun {
        Some(_) => NodeBudget::SPENT,
        None => {
            let nodes = 1 + walk.vocabulary.trie().node_count() / NODES_PER_BUDGET;
            NodeBudget::new(nodes as u32, strategies.contains(StrategyId::FULL_WALK))
        }
    };
    let mut next = 0;
    for group in STRATEGIES.chunk_by(|a, b| a.needs == Needs::Loop && b.needs == Needs::Loop) {
        let ids = next..next + group.len();
        next = ids.end;
        let found = match group[0].needs {
            Needs::Loop => first_of_loops(walk, task, (ids, strategies), &mut budget)?,
            _ => first_of(walk, task, (ids, strategies), &mut budget)?,
        };
        if let Some(found) = found {
            return Ok(found);
        }
    }
    Ok((StrategyId::FULL_WALK, Outcome::NotApplicable))
}

/// The outcome of the first strategy of a group that applies, trying one loop language after the other; `None` if none
/// applies to any language. Each of these strategies needs every character of the loop to be possible, so languages
/// with an impossible first byte are skipped.
fn first_of_loops(
    walk: &mut Walk<'_>,
    task: &Task<'_>,
    (group, strategies): (Range<usize>, StrategySet),
    budget: &mut NodeBudget,
) -> Result<Option<(StrategyId, Outcome)>> {
    if !group.clone().any(|at| strategies.contains(StrategyId(at))) {
        return Ok(None);
    }
    let possible = possible_bytes(walk, task)?;
    for language in &walk.index.loops().languages {
        if budget.is_spent() || !possible.contains(language.probe) || !is_possible(language, &possible) {
            continue;
        }
        let after = walk.step(task.configuration, language.probe)?;
        if after == ConfigurationId::DEAD {
            continue;
        }
        let task = Task { in_loop: Some(InLoop { language, after }), ..*task };
        let found = first_of(walk, &task, (group.clone(), strategies), budget)?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// Whether each byte that begins a character of a loop is possible.
fn is_possible(language: &LoopLanguage, possible: &ByteSet) -> bool {
    let mut first = language.transitions.iter().filter(|transition| transition.from == 0);
    first.all(|transition| ByteSet::range(transition.low, transition.high).is_subset(possible))
}

/// The bytes that are possible next, without ASCII characters that a product forbids. Candidates are exact for most
/// configurations, but those of a product are all bytes.
fn possible_bytes(walk: &mut Walk<'_>, task: &Task<'_>) -> Result<ByteSet> {
    if task.candidates != ByteSet::FULL || walk.lazy.is_history_dependent(task.configuration) {
        return Ok(task.candidates);
    }
    let mut possible = ByteSet::range(0x80, u8::MAX);
    let mut byte = Some(0);
    while let Some(low) = byte.filter(u8::is_ascii) {
        let (next, high) = walk.lazy.step_run(task.configuration, low)?;
        if next != ConfigurationId::DEAD {
            possible.insert_range(low, high);
        }
        byte = high.checked_add(1);
    }
    Ok(possible)
}

/// The outcome of the first strategy of a group that applies within the budget; `None` if none does.
fn first_of(
    walk: &mut Walk<'_>,
    task: &Task<'_>,
    (group, strategies): (Range<usize>, StrategySet),
    budget: &mut NodeBudget,
) -> Result<Option<(StrategyId, Outcome)>> {
    for strategy in group.map(StrategyId).filter(|&strategy| strategies.contains(strategy)) {
        let Strategy { is_budgeted, try_compute, .. } = STRATEGIES[strategy.0];
        let own = if is_budgeted { *budget } else { NodeBudget::UNLIMITED };
        if own.is_spent() {
            continue;
        }
        match try_compute(walk, task, own)? {
            Outcome::NotApplicable => {}
            // the strategies that share the budget have nothing left
            Outcome::Limit(Limit::Work) => *budget = NodeBudget::SPENT,
            outcome => return Ok(Some((strategy, outcome))),
        }
    }
    Ok(None)
}
