//! Data structures that several modules share.

pub(crate) mod append_vec;
pub(crate) mod best_first;
pub(crate) mod heap;
pub(crate) mod interner;
pub(crate) mod string_set;
