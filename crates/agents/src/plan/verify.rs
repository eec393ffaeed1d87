//! Whether a plan is one of the spec's; if not, its first wrong step, and what was feasible there.

use super::automaton::PlanAutomaton;
use super::errors;
use super::read::{ReadPlan, ReadStep};
use super::step::{Plan, Step};
use grammata::error::Result;
use grammata::syntax::automaton_spec::{Direction, Spec};
use grammata::transitions::{Word, WordVerdict, verify, verify_reversed};

/// States that are followed at a time.
const MOST_STATES: usize = 200_000;

/// What was found out about a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is a plan of the spec.
    Valid(Plan),
    /// It is none.
    Wrong {
        /// The first wrong step, counted from 0 in the order in which the plan is carried out: no plan begins with the
        /// steps up to it. It is the number of steps if the plan is only not finished.
        step: usize,
        /// The actions that may stand there instead, in the spec's order.
        feasible: Vec<usize>,
        /// Whether the plan might end before that step.
        may_end: bool,
    },
}

impl PlanAutomaton {
    /// Checks a plan. `implied` are actions that the plan need not name.
    ///
    /// # Errors
    /// `plan/budget-exhausted` if a spec that plans backwards has too many states; limits.
    pub fn verify(&mut self, plan: &ReadPlan, implied: &[usize]) -> Result<Verdict> {
        let word = PlanWord::new(plan, self.spec(), implied);
        let mut verdict = verify(self, &word, MOST_STATES)?;
        // the first step carried out is the last of the word
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

/// A plan as it is written, as a word of the spec.
pub(super) struct PlanWord<'a> {
    plan: &'a ReadPlan,
    /// The places of the steps in the order of the spec's words.
    order: Vec<usize>,
    /// Actions that need not be named.
    implied: &'a [usize],
}

impl<'a> PlanWord<'a> {
    pub(super) fn new(plan: &'a ReadPlan, spec: &Spec, implied: &'a [usize]) -> PlanWord<'a> {
        PlanWord { plan, order: plan.in_word_order(spec), implied }
    }

    /// The step at a place of the word.
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
