//! Verification of a plan: whether the plan is one of the spec, and if not, its first wrong step and the feasible
//! actions there.

use super::automaton::PlanAutomaton;
use super::errors;
use super::read::{ReadPlan, ReadStep};
use super::step::{Plan, Step};
use grammata::error::Result;
use grammata::syntax::automaton_spec::{Direction, Spec};
use grammata::transitions::{Word, WordVerdict, verify, verify_reversed};

/// The maximum number of states followed at the same time.
const MOST_STATES: usize = 200_000;

/// The result of verifying a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A plan of the spec.
    Valid(Plan),
    /// Not a plan of the spec.
    Wrong {
        /// The first wrong step, counted from 0 in order of execution: no plan begins with the steps up to and
        /// including it. Equal to the number of steps if the plan is merely unfinished.
        step: usize,
        /// The actions allowed there instead, in the spec's order.
        feasible: Vec<usize>,
        /// Whether the plan may end before that step.
        may_end: bool,
    },
}

impl PlanAutomaton {
    /// Verifies a plan. `implied` are actions that the plan may omit.
    ///
    /// # Errors
    /// `plan/budget-exhausted` if more than 200,000 states are followed at the same time or, for a wrong plan of a spec
    /// that plans backwards, are reachable; limits.
    pub fn verify(&mut self, plan: &ReadPlan, implied: &[usize]) -> Result<Verdict> {
        let word = PlanWord::new(plan, self.spec(), implied);
        let mut verdict = verify(self, &word, MOST_STATES)?;
        // in backward plans, the first executed step is the last of the word
        if self.spec().direction() == Direction::Backward && !matches!(verdict, WordVerdict::Accepted(_)) {
            verdict = verify_reversed(self, &word, MOST_STATES)?;
        }
        match verdict {
            WordVerdict::Accepted(steps) => Ok(Verdict::Valid(Plan { steps })),
            WordVerdict::Exhausted => Err(errors::exhausted_verdict()),
            WordVerdict::Wrong { place, feasible, may_end } => {
                let mut feasible: Vec<usize> = feasible.into_iter().map(|(action, _)| action).collect();
                feasible.dedup();
                Ok(Verdict::Wrong { step: place, feasible, may_end })
            }
        }
    }
}

/// A written plan as a word of the spec.
pub(super) struct PlanWord<'a> {
    plan: &'a ReadPlan,
    /// The indices of the steps in the order of the spec's words.
    order: Vec<usize>,
    /// Actions that the plan may omit.
    implied: &'a [usize],
}

impl<'a> PlanWord<'a> {
    pub(super) fn new(plan: &'a ReadPlan, spec: &Spec, implied: &'a [usize]) -> PlanWord<'a> {
        PlanWord { plan, order: plan.in_word_order(spec), implied }
    }

    /// Returns the step at a place of the word; `None` after the last step.
    pub(super) fn step(&self, place: usize) -> Option<&'a ReadStep> {
        self.plan.steps.get(*self.order.get(place)?)
    }
}

impl Word<PlanAutomaton> for PlanWord<'_> {
    fn len(&self) -> usize {
        self.order.len()
    }

    fn readings(&self, plans: &PlanAutomaton, place: usize, choice: &(usize, Option<usize>)) -> Vec<Step> {
        let meanings = self.step(place).into_iter().flat_map(|step| &step.meanings);
        let meant = meanings.filter(|step| (step.action, step.outcome) == *choice && plans.takes(step));
        meant.cloned().collect()
    }

    fn implied(&self, plans: &PlanAutomaton, &(action, outcome): &(usize, Option<usize>)) -> Option<Step> {
        let step = Step::of(action);
        (outcome.is_none() && self.implied.contains(&action) && plans.takes(&step)).then_some(step)
    }
}
