//! Normal forms: from the table of schemas to conjunctions with a shape each.

pub(super) mod closing;
pub(super) mod combine;
pub(super) mod conditional;
pub(super) mod conjunction;
pub(super) mod cubes;
pub(super) mod empty;
pub(super) mod exclusive;
pub(super) mod items;
pub(super) mod matching;
pub(super) mod merge;
pub(super) mod rewrite;
pub(super) mod satisfiable;
pub(super) mod shape;
pub(super) mod unevaluated;
pub(super) mod validate;
