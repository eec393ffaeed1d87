//! Facts about the text of JSON (RFC 8259) that the automaton, its registers and masks share.

pub(crate) mod comparison;
pub(crate) mod string;
pub(crate) mod value;
