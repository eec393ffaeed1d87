//! Customer-care flows after FLAP (Roy et al. 2024, arXiv 2403.05766): APIs, steps that are carried out by APIs, and flows of
//! steps that serve an intent.
//!
//! A [`FlowDomain`] is read from TOML. [`FlowAutomaton`] is the language of its plans at a level of strictness, a
//! [`TransitionSystem`](crate::transitions::TransitionSystem) under the algorithms that other automata have;
//! [`FlowLookahead`] says what lies ahead of a state; [`metrics`] are the paper's measures of a plan against a gold one.
//! [`spec`] writes the automaton as a plan spec for all that reads specs.

mod automaton;
mod check;
mod domain;
mod entries;
mod errors;
mod follow;
mod lookahead;
pub mod metrics;
mod places;
mod program;
mod spec;
mod written;

pub use automaton::{FlowAutomaton, FlowCall, FlowOptions, FlowState, Level, Within};
pub use domain::{Api, Entry, Flow, FlowDomain, FlowOrder, Input, Rounds, Step};
pub use lookahead::{Ahead, FeasibleCall, FlowLookahead, Lookahead};
pub use spec::spec;
