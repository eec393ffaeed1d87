//! The table of schemas that reading fills and the passes rewrite, with the assertions on each type.

pub(super) mod assertion;
pub(super) mod empty_answers;
pub(super) mod numbers;
pub(super) mod schema;
pub(super) mod schema_id;
pub(super) mod seldom;
