//! The front ends: each reads one notation and builds a [`Grammar`](crate::grammar::Grammar).

pub mod automaton_spec;
