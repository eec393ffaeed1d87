//! Ids of schemas.

/// Index of a schema in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct SchemaId(pub(super) u32);

/// A schema in a conjunction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Part {
    pub(super) schema: SchemaId,
    /// Whether only its own assertions are meant, without `$ref`, `allOf` and `anyOf`, which are handled elsewhere.
    pub(super) own: bool,
}

impl Part {
    pub(super) fn whole(schema: SchemaId) -> Part {
        Part { schema, own: false }
    }
}
