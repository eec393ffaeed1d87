//! JSON values, numbers, counts and pointers: what schemas are written with.

pub(super) mod counts;
pub(super) mod decimal;
pub(super) mod json;
pub(super) mod pointer;
pub(super) mod quote;
