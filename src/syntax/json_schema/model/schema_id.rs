//! Ids of schemas.

/// Index of a schema in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::syntax::json_schema) struct SchemaId(pub(in crate::syntax::json_schema) u32);

/// A schema in a conjunction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::syntax::json_schema) struct Part {
    pub(in crate::syntax::json_schema) schema: SchemaId,
    /// Whether only its own assertions are meant, without `$ref`, `allOf` and `anyOf`, which are handled elsewhere.
    pub(in crate::syntax::json_schema) own: bool,
}

impl Part {
    pub(in crate::syntax::json_schema) fn whole(schema: SchemaId) -> Part {
        Part { schema, own: false }
    }
}
