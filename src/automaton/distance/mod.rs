//! The distance of a configuration from a word: lower and upper bounds on the length of a completion, and the search
//! for a shortest one.
//!
//! - `program.rs` computes, for each state of a block, the least length to the return of its callable, by Knuth's
//!   generalisation of Dijkstra's algorithm ("A generalization of Dijkstra's algorithm", 1977).
//! - `estimate.rs` adds up what the frames of a stack still require: rounds of counted loops, required members, items.
//! - `search.rs` is A* (Hart, Nilsson and Raphael 1968) over configurations, with lower bounds as estimates.

pub(in crate::automaton) mod bounds;
mod estimate;
pub(in crate::automaton) mod lists;
pub(in crate::automaton) mod measure;
pub(in crate::automaton) mod program;
pub(in crate::automaton) mod search;
