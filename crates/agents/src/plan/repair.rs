//! The plan of a spec nearest to a given one: with the fewest steps inserted, deleted or substituted.

use super::automaton::PlanAutomaton;
use super::errors;
use super::read::ReadPlan;
use super::step::{Plan, Step};
use super::verify::PlanWord;
use grammata::error::Result;
use grammata::syntax::automaton_spec::Direction;
use grammata::transitions::{Alignment, Repaired, repair};

/// One difference between a given plan and the nearest plan of the spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// The step is unchanged.
    Keep(Step),
    /// The given step is replaced.
    Substitute {
        /// The step as it was written.
        given: String,
        /// The step that replaces it.
        step: Step,
    },
    /// A step that was missing.
    Insert(Step),
    /// The given step is deleted.
    Delete(String),
}

/// The nearest plan and its differences from the given one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// A plan of the spec.
    pub plan: Plan,
    /// The edit distance: the number of steps inserted, deleted and substituted.
    pub edits: usize,
    /// All steps of both plans, in order of execution.
    pub differences: Vec<Edit>,
}

impl PlanAutomaton {
    /// Finds the plan of the spec with the fewest edits from a given plan; if several are equally near, the first
    /// found.
    ///
    /// # Errors
    /// `plan/none` if there is no plan; `plan/budget-exhausted` after a quarter of
    /// [`Limits::plan_states`](grammata::Limits::plan_states) partial alignments, each of which takes several times the
    /// memory of a state; limits.
    pub fn repair(&mut self, plan: &ReadPlan) -> Result<Repair> {
        let word = PlanWord::new(plan, self.spec(), &[]);
        let most = self.limits().plan_states / 4;
        let (edits, alignment) = match repair(self, &word, most)? {
            Repaired::Word { edits, alignment } => (edits, alignment),
            Repaired::Empty => return Err(errors::no_plan()),
            Repaired::Exhausted => return Err(errors::exhausted_nearest(most)),
        };
        let written = |place: usize| word.step(place).map(|step| step.written.clone()).unwrap_or_default();
        let edit = |column| match column {
            Alignment::Keep(step) => Edit::Keep(step),
            Alignment::Substitute { given, letter } => {
                Edit::Substitute { given: written(given), step: letter }
            }
            Alignment::Insert(step) => Edit::Insert(step),
            Alignment::Delete(place) => Edit::Delete(written(place)),
        };
        let mut differences: Vec<Edit> = alignment.into_iter().map(edit).collect();
        let steps = differences.iter().filter_map(|edit| match edit {
            Edit::Keep(step) | Edit::Substitute { step, .. } | Edit::Insert(step) => Some(step.clone()),
            Edit::Delete(_) => None,
        });
        let plan = Plan { steps: steps.collect() };
        if self.spec().direction() == Direction::Backward {
            differences.reverse();
        }
        Ok(Repair { plan, edits, differences })
    }
}
