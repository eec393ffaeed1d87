//! Customer-care flows after FLAP (Roy et al. 2024, arXiv 2403.05766): APIs, steps that are carried out by APIs, and
//! flows of steps that serve an intent.
//!
//! A [`FlowDomain`] is read from TOML. [`FlowAutomaton`] accepts its plans at a level of strictness. It is a
//! [`TransitionSystem`](grammata::transitions::TransitionSystem), so the algorithms for these apply. [`FlowLookahead`]
//! counts the plans from a state on. [`grammar`] builds the grammar of the texts of plans, with or without thoughts,
//! for a [`Compiler`](grammata::Compiler); [`parse`] reads such texts. [`spec`] writes the automaton as a plan spec.
//!
//! Writing plans with a model is the subject of `grammata-agents-drive`.

mod automaton;
mod budget;
mod check;
mod completions;
mod domain;
mod entries;
mod errors;
mod follow;
mod letters;
mod lookahead;
mod merge;
mod options;
mod parse;
mod picture;
mod places;
mod program;
mod spec;
mod text;
mod written;

pub use automaton::{Feasible, FlowAutomaton, FlowCall, FlowState};
pub use budget::WithinBudget;
pub use domain::{Api, Entry, Flow, FlowDomain, FlowOrder, Input, Outcome, Rounds, Step};
pub use errors::{unknown_api, unknown_flow};
pub use letters::prelude_texts;
pub use lookahead::{Ahead, FeasibleCall, FlowLookahead, Lookahead};
pub use merge::Names;
pub use options::{FlowOptions, Level, MOST_CALLS, Within};
pub use parse::{Brackets, ParsedPlan, WrittenCall, decided_calls, parse, parse_with};
pub use picture::FlowPicture;
pub use spec::spec;
pub use text::{THOUGHT_CHARS, Thoughts, grammar};
