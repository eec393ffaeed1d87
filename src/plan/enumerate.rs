//! All plans, one after the other.

use super::automaton::PlanAutomaton;
use super::lookahead::Completable;
use super::partial::{PartialPlan, Plan, Step, Successor};
use crate::error::Result;
use crate::syntax::automaton_spec::SymbolSet;

/// The plans of an automaton: in the order of the spec's actions where there is an end of them, else by length first.
#[derive(Debug)]
pub struct Plans<'a> {
    plans: &'a mut PlanAutomaton,
    walk: PartialPlan,
    /// Per step and the next, what is still to be tried, last first.
    open: Vec<Vec<Open>>,
    /// The length that is being listed, where there is no end.
    length: Option<usize>,
    failed: bool,
}

#[derive(Debug)]
enum Open {
    /// The plan ends here.
    End,
    /// A step, and where it leads.
    Step(Step, Successor),
}

impl PlanAutomaton {
    /// All plans. Of a set-valued action, the smaller sets first.
    ///
    /// # Errors
    /// `plan/budget-exhausted`; limits. The iterator ends after its first error.
    pub fn plans(&mut self) -> Result<Plans<'_>> {
        let length = self.is_infinite()?.then_some(0);
        let walk = PartialPlan::new(self);
        let mut plans = Plans { plans: self, walk, open: Vec::new(), length, failed: false };
        plans.enter()?;
        Ok(plans)
    }
}

impl Plans<'_> {
    fn enter(&mut self) -> Result<()> {
        let state = self.walk.position().state;
        let left = self.length.map(|length| length - self.walk.len());
        let mut open = Vec::new();
        if left != Some(0) {
            for successor in self.plans.live_successors(&self.walk)?.into_iter().rev() {
                // a completion that fits into what is left
                if let Some(left) = left
                    && self
                        .plans
                        .fewest_steps(successor.to.state)?
                        .is_some_and(|fewest| fewest > left as u64 - 1)
                {
                    continue;
                }
                let first = Step::least(self.plans.spec(), successor.action).with_outcome(successor.outcome);
                open.push(Open::Step(first, successor));
            }
        }
        if self.plans.is_complete(state) && left.is_none_or(|left| left == 0) {
            open.push(Open::End);
        }
        self.open.push(open);
        Ok(())
    }

    /// The way to take an action after this one: sets by size, those of one size in the order of their elements.
    fn after(&self, step: &Step) -> Option<Step> {
        let set = self.set(step.action)?;
        let (n, mut elements) = (set.of.len(), step.elements.clone());
        let size = elements.len();
        match (0..size).rev().find(|&place| elements[place] + size - place < n) {
            Some(place) => {
                let from = elements[place] + 1;
                elements[place..].iter_mut().zip(from..).for_each(|(element, next)| *element = next);
            }
            None if size < set.max => elements = (0..=size).collect(),
            None => return None,
        }
        Some(Step { elements, ..step.clone() })
    }

    fn set(&self, action: usize) -> Option<&SymbolSet> {
        self.plans.spec().symbols().get(action)?.set.as_ref()
    }

    fn advance(&mut self) -> Result<Option<Plan>> {
        loop {
            let Some(open) = self.open.last_mut() else {
                let Some(length) = &mut self.length else { return Ok(None) };
                *length += 1;
                if self.plans.completable(self.plans.start())? == Completable::No {
                    return Ok(None);
                }
                self.enter()?;
                continue;
            };
            match open.pop() {
                None => {
                    self.open.pop();
                    self.walk.pop();
                }
                Some(Open::End) => return Ok(Some(self.walk.plan().clone())),
                Some(Open::Step(step, successor)) => {
                    if let Some(next) = self.after(&step)
                        && let Some(open) = self.open.last_mut()
                    {
                        open.push(Open::Step(next, successor));
                    }
                    self.walk.push(step, successor.to);
                    self.enter()?;
                }
            }
        }
    }
}

impl Iterator for Plans<'_> {
    type Item = Result<Plan>;

    fn next(&mut self) -> Option<Result<Plan>> {
        if self.failed {
            return None;
        }
        let plan = self.advance().transpose();
        self.failed = matches!(plan, Some(Err(_)));
        plan
    }
}
