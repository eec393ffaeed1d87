//! Known properties of configurations.

pub(crate) mod configuration;
#[path = "../../../../src/automaton/run/transitions.rs"]
pub(crate) mod transitions;
