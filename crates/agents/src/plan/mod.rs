//! Plans: words of an automaton over actions instead of bytes.
//!
//! A plan spec is an automaton spec ([`Spec`](grammata::syntax::automaton_spec::Spec)) whose symbols are actions. It is
//! lowered over action codes to the same automaton that makes masks ([`PlanAutomaton`]), and registers that accompany
//! the configuration count actions and check their requirements.

mod any_order;
mod arguments;
mod automaton;
mod completion;
mod conflict;
mod count;
mod decision;
mod enumerate;
pub mod environment;
mod episodes;
mod errors;
mod graph;
mod lookahead;
mod partial;
mod planner;
pub mod policy;
mod question;
mod read;
mod registers;
mod repair;
mod sample;
pub mod search;
mod states;
mod step;
mod subsets;
mod tree;
mod verify;

pub use arguments::{ArgumentChecker, WrongArguments};
pub use automaton::{PlanAutomaton, Position};
pub use completion::Objective;
pub use conflict::{Conflict, Conflicts};
pub use decision::Decision;
pub use enumerate::Plans;
pub use environment::{Environment, Observation, observed_outcome, step_json};
pub use episodes::{Episode, policy_rows};
pub use grammata::transitions::Completable;
pub use graph::PlanGraph;
pub use partial::{PartialPlan, Successor};
pub use planner::{Next, Planner};
pub use policy::Policy;
pub use question::{AnswerForm, Choice, Question, Questions, Wording};
pub use read::{ReadPlan, ReadStep};
pub use repair::{Edit, Repair};
pub use sample::PlanSampler;
pub use search::{Event, Outcome, Problem, Search, SearchOptions};
pub use states::{ActionLabel, PlanState};
pub use step::{Plan, Step};
pub use tree::{dataflow, tree_dot, tree_text};
pub use verify::Verdict;
