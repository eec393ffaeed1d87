//! Ids of schemas.

/// Index of a schema in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct SchemaId(pub(super) u32);
