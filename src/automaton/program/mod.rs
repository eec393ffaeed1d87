//! The pushdown automaton as data: states, blocks of states, key tries, classes of bytes.

pub(in crate::automaton) mod automaton;
pub(in crate::automaton) mod block;
pub(in crate::automaton) mod byte_classes;
pub(in crate::automaton) mod deferred;
pub(in crate::automaton) mod ids;
pub(in crate::automaton) mod interval;
pub(in crate::automaton) mod key_trie;
pub(in crate::automaton) mod letter;
pub(in crate::automaton) mod registers;
pub(in crate::automaton) mod state;
