//! The front ends: each turns the text of one language into a [`Grammar`](crate::grammar::Grammar). They
//! know nothing of each other and nothing of tokens.

pub mod gbnf;
pub mod regex;
