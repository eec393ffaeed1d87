//! Customer-care flows after FLAP (Roy et al. 2024, arXiv 2403.05766): APIs, steps that are carried out by APIs, and flows of
//! steps that serve an intent.
//!
//! A [`FlowDomain`] is read from TOML. [`FlowAutomaton`] is the language of its plans at one of six levels of strictness, a
//! [`TransitionSystem`](crate::transitions::TransitionSystem) under the algorithms that other automata have; [`metrics`] are
//! the paper's measures of a plan against a gold one. [`spec`] writes the automaton as a plan spec for all that reads specs.

mod automaton;
mod check;
mod domain;
mod errors;
pub mod metrics;
mod spec;

pub use automaton::{FlowAutomaton, FlowOptions, FlowState, Level, Within};
pub use domain::{Api, Flow, FlowDomain, Input, Step};
pub use spec::spec;
