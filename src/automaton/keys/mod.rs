//! Keys of JSON objects, tracked separately from configurations: no object has a key twice.

pub(crate) mod exhaustion;
pub(crate) mod tracker;
