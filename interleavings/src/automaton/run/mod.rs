//! What is known of configurations.

pub(crate) mod cache;
#[path = "../../../../src/automaton/run/transitions.rs"]
pub(crate) mod transitions;
