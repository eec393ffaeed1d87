//! A walk over all tokens that may be short: it is given up when its budget is spent.

use super::task::{Needs, Outcome, Strategy, Task};
use crate::error::Result;
use crate::mask::walk::Walk;
use crate::mask::walk::collected::{Collected, NodeBudget};
use crate::token_index::loops::TrieId;

/// The row of [`STRATEGIES`](super::STRATEGIES).
pub(super) const STRATEGY: Strategy =
    Strategy { name: "short-walk", needs: Needs::Nothing, is_budgeted: true, try_compute };

/// The tokens of a configuration, unless the walk takes more nodes than the budget has.
pub(super) fn try_compute(walk: &mut Walk<'_>, task: &Task<'_>, budget: NodeBudget) -> Result<Outcome> {
    let mut out = Collected::new(task.target, budget);
    walk.run(TrieId::ALL, task.configuration, |_| true, &mut out)?;
    Ok(Outcome::of(out, walk))
}
