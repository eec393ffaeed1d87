//! Conjunctions: sets of schemas that one value must satisfy together.
//!
//! `$ref`, `allOf`, and keywords next to `anyOf` all say that several schemas hold of the same value. A conjunction is
//! the set of these schemas. Since there are finitely many schemas, there are finitely many sets. So recursive schemas
//! close over themselves, whatever they are merged with.

use crate::collections::interner::SliceInterner;
use crate::syntax::json_schema::model::schema::Schemas;
use crate::syntax::json_schema::model::schema_id::Part;
use smallvec::SmallVec;

/// The schemas of a conjunction; usually one.
pub(super) type Parts = SmallVec<[Part; 2]>;

/// Index of a conjunction in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::syntax::json_schema) struct ConjunctionId(pub(super) u32);

impl ConjunctionId {
    pub(in crate::syntax::json_schema) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The conjunctions that have an id, with their schemas.
pub(super) struct Sets(SliceInterner<Part>);

impl Sets {
    pub(super) fn with_capacity(count: usize) -> Sets {
        Sets(SliceInterner::with_capacity(count))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the schemas of a conjunction, in the order in which they were read or made.
    pub(super) fn get(&self, id: ConjunctionId) -> &[Part] {
        self.0.get(id.0)
    }

    /// Returns the conjunction of some schemas.
    pub(super) fn intern(
        &mut self,
        schemas: &Schemas<'_>,
        parts: impl IntoIterator<Item = Part>,
    ) -> ConjunctionId {
        // references count as their targets, so that equal conjunctions are recognised
        let meant = |part: Part| {
            let schema = if part.own { part.schema } else { schemas.meaning(part.schema) };
            let says = schemas.get(schema);
            let nothing = says.is_bare && !says.is_compound();
            (!nothing).then_some(Part { schema, own: part.own && says.is_compound() })
        };
        let mut parts: Parts = parts.into_iter().filter_map(meant).collect();
        parts.sort_unstable();
        parts.dedup();
        ConjunctionId(self.0.intern(&parts))
    }
}
