//! The front ends: each turns the text of one notation into a [`Grammar`](crate::grammar::Grammar). They
//! know nothing of each other and nothing of tokens.

pub mod automaton_spec;
pub mod gbnf;
pub mod regex;
