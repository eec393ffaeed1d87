//! The language of an automaton: its configurations as a transition system, its words, and a drawing.

#[cfg(feature = "testing")]
#[doc(hidden)]
pub mod anatomy;
mod configurations;
pub mod graph;
pub mod samples;
pub mod words;
