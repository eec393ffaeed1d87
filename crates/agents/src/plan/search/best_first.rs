//! Best-first search: the most probable plan.

use super::open::{Decisions, Open};
use super::{Outcome, Problem, Search};
use grammata::error::Result;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Extends the most probable unfinished plan. Scores are at most 0, so the first finished plan taken from the queue is
/// the most probable of all plans that the bounds of [`SearchOptions`](super::SearchOptions) leave. The elements of
/// sets are chosen by the policy and not scored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BestFirst;

impl Search for BestFirst {
    fn run(&self, problem: &mut Problem<'_>) -> Result<Outcome> {
        cheapest_first(problem, |_, open| Ok(Priority { cost: 0, score: open.score }))
    }
}

/// The order of unfinished plans: least cost first, then greatest score first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Priority {
    pub(super) cost: u64,
    pub(super) score: f64,
}

/// A plan in the queue; among equals, the earlier one comes first.
struct Entry {
    priority: Priority,
    number: Reverse<usize>,
    open: Open,
}

impl Ord for Entry {
    fn cmp(&self, other: &Entry) -> Ordering {
        let by_cost = other.priority.cost.cmp(&self.priority.cost);
        let by_score = self.priority.score.total_cmp(&other.priority.score);
        by_cost.then(by_score).then(self.number.cmp(&other.number))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

/// Repeatedly extends the plan with the best priority, until that plan is finished. The result is optimal if no
/// extension has a better priority than the plan that it extends.
pub(super) fn cheapest_first(
    problem: &mut Problem<'_>,
    mut priority: impl FnMut(&mut Problem<'_>, &Open) -> Result<Priority>,
) -> Result<Outcome> {
    let mut decisions = Decisions::default();
    let mut queue: BinaryHeap<Entry> = BinaryHeap::new();
    let mut expanded = vec![Open::start(problem)];
    let mut number = 0;
    loop {
        for open in expanded {
            let priority = priority(problem, &open)?;
            queue.push(Entry { priority, number: Reverse(number), open });
            number += 1;
        }
        let Some(Entry { open, .. }) = queue.pop() else {
            return Ok(Open::outcome(None, problem, &decisions));
        };
        if open.is_finished {
            return Ok(Open::outcome(Some(open), problem, &decisions));
        }
        expanded = open.expand(problem, &mut decisions)?;
    }
}
