//! The list that one thread extends while others read it.

#[path = "../../../src/collections/append_vec.rs"]
pub(crate) mod append_vec;
