//! Reads a schema document into the table of schemas.
//!
//! Only what the root can reach is read. Reading is a worklist over locations, so neither nesting nor chains of
//! `$ref` recurse.

use super::assertion::TypeSet;
use super::draft::Draft;
use super::options::Formats;
use super::pointer::join;
use super::schema::{Schema, SchemaId, Schemas};
use super::{errors, keywords, refs};
use crate::diagnostic::Diagnostic;
use crate::error::Result;
use rustc_hash::FxHashMap;
use serde_json::Value;

/// Where a schema stands.
#[derive(Clone, Debug)]
pub(super) struct Location<'a> {
    pub(super) value: &'a Value,
    pub(super) pointer: String,
    /// The root of the schema resource (the nearest `$id`) against which local references resolve.
    pub(super) resource: &'a Value,
    pub(super) resource_pointer: String,
}

/// Reads a document into [`Schemas`].
pub(super) struct Reader<'a, 'w> {
    pub(super) root: &'a Value,
    pub(super) draft: Draft,
    pub(super) formats: Formats,
    locations: Vec<Location<'a>>,
    /// One id a place in the document, however it is reached.
    ids: FxHashMap<*const Value, SchemaId>,
    warnings: &'w mut Vec<Diagnostic>,
}

impl<'a> Reader<'a, '_> {
    /// The id of the schema at a place; it is read later.
    pub(super) fn intern(&mut self, location: Location<'a>) -> SchemaId {
        *self.ids.entry(std::ptr::from_ref(location.value)).or_insert_with(|| {
            self.locations.push(location);
            SchemaId(self.locations.len() as u32 - 1)
        })
    }

    /// The id of a schema inside that at `parent`, at `parent`'s pointer with `path` after it.
    pub(super) fn child(&mut self, parent: &Location<'a>, path: &[&str], value: &'a Value) -> SchemaId {
        let pointer = path.iter().fold(parent.pointer.clone(), |pointer, token| join(&pointer, token));
        let (resource, resource_pointer) = (parent.resource, parent.resource_pointer.clone());
        self.intern(refs::rebase(self.draft, Location { value, pointer, resource, resource_pointer }))
    }

    pub(super) fn warn(&mut self, warning: Diagnostic) {
        self.warnings.push(warning);
    }
}

/// Reads everything that the root reaches.
pub(super) fn read<'a>(
    root: &'a Value,
    formats: Formats,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Schemas<'a>> {
    let draft = Draft::of(root);
    let mut reader =
        Reader { root, draft, formats, locations: Vec::new(), ids: FxHashMap::default(), warnings };
    reader.intern(Location {
        value: root,
        pointer: String::new(),
        resource: root,
        resource_pointer: String::new(),
    });
    let mut schemas = Schemas::default();
    while let Some(location) = reader.locations.get(schemas.len()).cloned() {
        let schema = match location.value {
            Value::Bool(true) => Schema::new(location.pointer),
            Value::Bool(false) => {
                Schema { types: TypeSet::NONE, is_bare: false, ..Schema::new(location.pointer) }
            }
            Value::Object(map) => keywords::read(&mut reader, &location, map)?,
            other => return Err(errors::not_a_schema(&location.pointer, other)),
        };
        schemas.push(schema);
    }
    Ok(schemas)
}
