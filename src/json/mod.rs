//! The text of JSON (RFC 8259), as the automaton, its registers and masks need it.

pub(crate) mod comparison;
pub(crate) mod string;
pub(crate) mod value;
