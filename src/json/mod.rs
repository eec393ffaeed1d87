//! JSON texts (RFC 8259): strings, values and their comparison, for the automaton, its registers and masks.

pub(crate) mod comparison;
pub(crate) mod string;
pub(crate) mod value;
