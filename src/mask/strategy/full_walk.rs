//! A walk over all tokens, or over those below a node, however long it takes. It always applies. Other strategies are
//! measured against it and must give the same result.

use super::task::{Needs, Outcome, Strategy, Task};
use crate::error::Result;
use crate::mask::walk::Walk;
use crate::mask::walk::collected::{Collected, NodeBudget, TrieScope};
use crate::token_index::loops::TrieId;

/// The row of [`STRATEGIES`](super::STRATEGIES).
pub(super) const STRATEGY: Strategy =
    Strategy { name: "full-walk", needs: Needs::Nothing, is_budgeted: false, try_compute };

/// The tokens of the task's scope that its configuration allows. The budget is ignored.
pub(super) fn try_compute(walk: &mut Walk<'_>, task: &Task<'_>, _: NodeBudget) -> Result<Outcome> {
    let found = collect(walk, task)?;
    Ok(Outcome::of(found, walk))
}

/// Collects the tokens of the task's scope that its configuration allows, by a walk without a budget.
pub(in crate::mask) fn collect(walk: &mut Walk<'_>, task: &Task<'_>) -> Result<Collected> {
    let mut out = Collected::new(task.target, NodeBudget::UNLIMITED);
    match task.scope {
        TrieScope::ALL => walk.run(TrieId::ALL, task.configuration, |_| true, &mut out)?,
        TrieScope { trie, node } => walk.run_from(trie, node, task.configuration, &mut out)?,
    }
    Ok(out)
}
