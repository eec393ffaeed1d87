//! Registers: what the frames of member lists, intersections, complements and lists of unique items remember.

pub(in crate::automaton) mod conditions;
pub(in crate::automaton) mod members;
pub(in crate::automaton) mod product;
pub(in crate::automaton) mod product_search;
pub(in crate::automaton) mod product_states;
pub(in crate::automaton) mod seen_sets;
pub(in crate::automaton) mod unique;
