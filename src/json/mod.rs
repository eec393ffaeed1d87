//! JSON texts (RFC 8259): strings, values, their comparison and their borders, for the automaton, its registers, masks
//! and events.

pub(crate) mod comparison;
pub(crate) mod reader;
pub(crate) mod string;
pub(crate) mod value;
