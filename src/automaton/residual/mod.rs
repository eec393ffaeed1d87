//! The views of configurations that masks need: residuals, widened counters, canonical forms, steps by characters.

pub(in crate::automaton) mod canonical;
pub(in crate::automaton) mod canonical_form;
pub(in crate::automaton) mod char_partition;
pub(in crate::automaton) mod char_step;
pub(in crate::automaton) mod decompose;
pub(in crate::automaton) mod kept;
pub(in crate::automaton) mod may_return;
