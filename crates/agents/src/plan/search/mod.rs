//! Search strategies that find a plan with the choices of a policy.
//!
//! Each search is a file in this folder and a row of [`STRATEGIES`]. All searches use [`Problem`], which computes the
//! choices at a position and asks the policy, so each search runs with the same spec and policy.

mod a_star;
mod beam;
mod best_first;
mod depth_first;
mod open;
mod problem;

pub use a_star::AStar;
pub use beam::Beam;
pub use best_first::BestFirst;
pub use depth_first::{Backtracking, Greedy};
pub use problem::{Chosen, Offered, Problem, Scored};

use super::decision::Decision;
use super::step::{Plan, Step};
use grammata::error::Result;

/// Finds a plan with the help of a policy.
pub trait Search {
    /// Runs the search. An [`Outcome`] without a plan means that there is no plan.
    ///
    /// # Errors
    /// Those of the policy and the templates; `plan/budget-exhausted` if a bound of [`SearchOptions`] ended the search
    /// before the answer was known, or if a [`Beam`] dropped plans and all that it kept end in dead ends; limits.
    fn run(&self, problem: &mut Problem<'_>) -> Result<Outcome>;
}

/// Creates a search; `width` is used by searches that keep a bounded number of unfinished plans.
pub type Make = fn(width: usize) -> Box<dyn Search>;

/// All searches: name, description and constructor.
pub const STRATEGIES: [(&str, &str, Make); 5] = [
    ("greedy", "offers only choices that lead to finished plans, and keeps each choice", |_| {
        Box::new(Greedy)
    }),
    ("backtracking", "offers all that is allowed and goes back at dead ends", |_| Box::new(Backtracking)),
    ("best-first", "the most probable plan of all by the policy's scores", |_| Box::new(BestFirst)),
    ("beam", "the most probable plan among those that stay in a beam", |width| Box::new(Beam { width })),
    ("a-star", "the plan of the least cost and, at equal cost, of the best scores", |_| Box::new(AStar)),
];

/// Returns the search with the name; `None` if no search has it.
pub fn strategy(name: &str, width: usize) -> Option<Box<dyn Search>> {
    STRATEGIES.iter().find(|(known, ..)| *known == name).map(|(.., make)| make(width))
}

grammata_base::options! {
    /// Bounds of a search, and whether it keeps a trace.
    #[derive(Clone, Debug)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
    #[non_exhaustive]
    pub struct SearchOptions {
        /// After this many steps, only the end of the plan and choices that reduce the fewest remaining steps are
        /// offered, if that number is known, so that a search ends even if plans have unbounded length. With `max_cost`
        /// the least remaining cost is reduced instead, and at equal cost the steps. Default: 100.
        pub max_free_steps: usize = 100,
        /// The maximum number of questions to the policy. Default: 10,000.
        pub max_questions: usize = 10_000,
        /// Whether the search keeps a trace of its steps. Default: false.
        pub trace: bool,
    }
}

impl SearchOptions {
    /// Returns the maximum number of steps of an unfinished plan: four times
    /// [`max_free_steps`](SearchOptions::max_free_steps), but at least 16. The maximum makes backtracking end.
    fn max_steps(&self) -> usize {
        self.max_free_steps.saturating_mul(4).max(16)
    }
}

/// An event of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A step was appended.
    Took {
        /// The number of steps before the event.
        depth: usize,
        /// The step.
        step: Step,
        /// The number of choices offered.
        choices: usize,
    },
    /// No choice was left, so the last step was removed.
    WentBack {
        /// The number of steps that remain.
        depth: usize,
    },
}

/// The outcome of a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The plan; `None` means that there is none.
    pub plan: Option<Plan>,
    /// The natural logarithm of the plan's probability: the sum of the scores of its choices, at most 0. Present if the
    /// search asks for scores or the policy knows them.
    pub score: Option<f64>,
    /// The number of questions asked.
    pub questions: usize,
    /// The number of steps removed by backtracking.
    pub backtracks: usize,
    /// The decisions that led to the plan, in order.
    pub decisions: Vec<Decision>,
    /// The trace, if it was kept.
    pub trace: Vec<Event>,
}
