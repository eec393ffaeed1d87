//! Keys of JSON objects, none of which an object has twice: followed beside configurations.

pub(crate) mod exhaustion;
pub(crate) mod tracker;
