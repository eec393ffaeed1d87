//! Searches: from choice to choice to a finished plan.
//!
//! A search is a file here, and a row of [`STRATEGIES`]. What all of them share, the choices at a place and how a policy is
//! asked, is [`Problem`]; so the same spec and the same policy run under each.

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
    /// Searches. An [`Outcome`] without a plan says that there is none.
    ///
    /// # Errors
    /// What the policy and the templates report; `plan/budget-exhausted` if a bound of [`SearchOptions`] ended the search
    /// before the answer was known; limits.
    fn run(&self, problem: &mut Problem<'_>) -> Result<Outcome>;
}

/// Makes a search of its name; `width` is for those that keep a number of unfinished plans.
pub type Make = fn(width: usize) -> Box<dyn Search>;

/// All searches by name, each with what it does.
pub const STRATEGIES: [(&str, &str, Make); 5] = [
    ("greedy", "offers what leads to finished plans and keeps each choice", |_| Box::new(Greedy)),
    ("backtracking", "offers all that is allowed and goes back at dead ends", |_| Box::new(Backtracking)),
    ("best-first", "the most probable plan of all by the policy's scores", |_| Box::new(BestFirst)),
    ("beam", "the most probable plan among those that stay in a beam", |width| Box::new(Beam { width })),
    ("a-star", "the plan of the least cost and, at equal cost, of the best scores", |_| Box::new(AStar)),
];

/// The search of a name.
pub fn strategy(name: &str, width: usize) -> Option<Box<dyn Search>> {
    STRATEGIES.iter().find(|(known, ..)| *known == name).map(|(.., make)| make(width))
}

/// Bounds of a search, and what it keeps.
#[derive(Clone, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
#[non_exhaustive]
pub struct SearchOptions {
    /// After this many steps only what finishes the plan in the fewest steps is offered, so that languages without a
    /// longest plan end as well. Default: 100.
    pub max_free_steps: usize,
    /// Questions that may be asked. Default: 10,000.
    pub max_questions: usize,
    /// Whether what was tried is kept. Default: false.
    pub trace: bool,
}

impl Default for SearchOptions {
    fn default() -> SearchOptions {
        SearchOptions { max_free_steps: 100, max_questions: 10_000, trace: false }
    }
}

grammata_base::setters!(SearchOptions { max_free_steps: usize, max_questions: usize, trace: bool });

impl SearchOptions {
    /// Steps of an unfinished plan, at most: four times [`max_free_steps`](SearchOptions::max_free_steps), so that
    /// backtracking ends.
    fn max_steps(&self) -> usize {
        self.max_free_steps.saturating_mul(4).max(16)
    }
}

/// What happened in a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A step was taken.
    Took {
        /// Steps of the plan before it.
        depth: usize,
        /// The step.
        step: Step,
        /// Choices there were.
        choices: usize,
    },
    /// There was no choice left: the last step was taken back.
    WentBack {
        /// Steps that are left.
        depth: usize,
    },
}

/// The outcome of a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The plan; `None` says that there is none.
    pub plan: Option<Plan>,
    /// The natural logarithm of the plan's probability, the sum of the scores of its choices, where the search asks for
    /// scores or the policy knows them; at most 0.
    pub score: Option<f64>,
    /// Questions asked.
    pub questions: usize,
    /// Steps taken back.
    pub backtracks: usize,
    /// The decisions that made the plan, in their order.
    pub decisions: Vec<Decision>,
    /// What was tried, if it was to be kept.
    pub trace: Vec<Event>,
}
