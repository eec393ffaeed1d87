//! The language of an automaton: its configurations as a transition system, its words, and a drawing.

mod configurations;
pub mod graph;
pub mod words;
