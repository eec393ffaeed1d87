//! Enumeration of all plans.

use super::automaton::PlanAutomaton;
use super::step::Plan;
use grammata::error::Result;
use grammata::transitions::List;

/// The plans of an automaton: in the order of the spec's actions if there are finitely many, otherwise by length first.
pub struct Plans<'a> {
    plans: &'a mut PlanAutomaton,
    list: List<PlanAutomaton>,
    has_failed: bool,
}

impl PlanAutomaton {
    /// Iterates over all plans. For a set-valued action, smaller sets come first.
    ///
    /// # Errors
    /// `plan/budget-exhausted`; limits. The iterator ends after its first error.
    pub fn plans(&mut self) -> Result<Plans<'_>> {
        let list = match self.is_infinite()? {
            false => List::depth_first(),
            true => {
                let fewest = self.fewest_steps(self.start().state)?.unwrap_or(0);
                List::by_length(usize::try_from(fewest).unwrap_or(usize::MAX))
            }
        };
        Ok(Plans { plans: self, list, has_failed: false })
    }
}

impl Iterator for Plans<'_> {
    type Item = Result<Plan>;

    fn next(&mut self) -> Option<Result<Plan>> {
        if self.has_failed {
            return None;
        }
        let steps = self.list.next(self.plans).transpose();
        self.has_failed = matches!(steps, Some(Err(_)));
        Some(steps?.map(|steps| Plan { steps }))
    }
}
