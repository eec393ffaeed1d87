//! Plans: words of an automaton over actions instead of bytes.
//!
//! A plan spec is an automaton spec ([`Spec`](crate::syntax::automaton_spec::Spec)) whose symbols are actions. It is
//! lowered over action codes to the same automaton that makes masks ([`PlanAutomaton`]), and registers beside the
//! configuration hold how often actions came and what they require.

mod automaton;
mod chooser;
mod completion;
mod count;
mod enumerate;
mod errors;
mod graph;
mod interactive;
mod lookahead;
mod model;
mod nearest;
mod policy;
mod question;
mod ranked;
mod read;
mod registers;
mod sample;
mod search;
mod tasks;
pub mod travel;
mod tree;
mod verify;
mod walk;

pub use automaton::{PlanAutomaton, PlanState, Position};
pub use chooser::{Chooser, FirstChooser, RandomChooser, ScriptedChooser, WorstChooser};
pub use completion::Least;
pub use enumerate::Plans;
pub use graph::PlanGraph;
pub use interactive::InteractiveChooser;
pub use lookahead::Outlook;
pub use model::{Asking, Encode, ModelChooser, ModelUse, answers};
pub use nearest::{Edit, Nearest};
pub use policy::{Decision, Episode, Recorder, policy_rows};
pub use question::{Choice, Question, Questions};
pub use ranked::{RankOptions, Ranked, likeliest};
pub use read::{ReadPlan, ReadStep};
pub use sample::PlanSampler;
pub use search::{Event, Outcome, SearchOptions, search};
pub use tasks::{Modalities, modalities};
pub use tree::{tree_dot, tree_text, works_on};
pub use verify::Verdict;
pub use walk::{Offer, Plan, Step, Walk};
