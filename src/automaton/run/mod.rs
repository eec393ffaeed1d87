//! Running the automaton: configurations, the lazily filled step function between them, and the interned sets of stacks
//! in them.

pub(in crate::automaton) mod byte_runs;
pub(in crate::automaton) mod cache;
pub(in crate::automaton) mod closure;
pub(in crate::automaton) mod closure_memo;
pub(in crate::automaton) mod configuration;
pub(in crate::automaton) mod frame_value;
pub(in crate::automaton) mod lazy;
pub(in crate::automaton) mod parts;
pub(in crate::automaton) mod round_sets;
pub(in crate::automaton) mod stack_set;
pub(in crate::automaton) mod step;
pub(in crate::automaton) mod token_step;
pub(in crate::automaton) mod transitions;
pub(in crate::automaton) mod work_list;
