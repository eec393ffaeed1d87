//! Data structures that several modules share.

pub(crate) mod append_vec;
pub(crate) mod interner;
pub(crate) mod slices;
pub(crate) mod string_set;
