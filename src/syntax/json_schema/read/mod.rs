//! Reading: from the text of a schema to the table of schemas.
//!
//! - `source`: text to a JSON value; `other` refuses documents that are not schemas.
//! - `policies`: the options that a schema sets itself.
//! - `draft`, `keyword`: which keywords a schema may have.
//! - `resources`, `uri`, `scope`: what references may name.
//! - `reader`: the state of reading. `refs` and `keywords` fill it: the schemas inside a schema get ids, and are read
//!   later.
//!
//! Only schemas that the root reaches are read. Reading is a worklist over locations, so neither nesting nor chains of
//! `$ref` recurse.

mod draft;
mod keyword;
mod keywords;
pub(super) mod other;
pub(super) mod policies;
mod reader;
mod refs;
mod resources;
mod scope;
pub(super) mod source;
mod uri;

use super::errors;
use super::model::assertion::TypeSet;
use super::model::schema::{Schema, Schemas};
use super::options::Options;
use super::summary::Summary;
use super::values::json::Value;
use crate::diagnostic::Diagnostic;
use crate::error::Result;
use crate::work::Budget;
use bumpalo::Bump;
use draft::Draft;
use reader::Reader;
use rustc_hash::{FxBuildHasher, FxHashSet};
use source::Source;
use std::rc::Rc;

/// Reads all schemas that the root reaches.
///
/// # Errors
/// Those of reading a keyword; something that is not a schema; too many dynamic scopes.
pub(super) fn schemas<'a>(
    source: Source<'a>,
    arena: &'a Bump,
    options: &'a Options,
    warnings: &mut Vec<Diagnostic>,
    work: &Rc<Budget>,
) -> Result<(Schemas<'a>, Summary)> {
    let mut reader = Reader::new(source, arena, options, warnings, work)?;
    let mut schemas = Schemas::new(&options.limits, work);
    let mut seen = FxHashSet::with_capacity_and_hasher(14, FxBuildHasher);
    while let Some(location) = reader.location(schemas.len()) {
        reader.check(location.pointer)?;
        let mut schema = match location.value {
            Value::Bool(true) => Schema::new(location.pointer),
            Value::Bool(false) => {
                Schema { types: TypeSet::NONE, is_bare: false, ..Schema::new(location.pointer) }
            }
            Value::Object(map) => keywords::read(&mut reader, &location, map)?,
            other => return Err(errors::not_a_schema(location.pointer, other)),
        };
        // only the first scope of a schema counts as written
        schema.is_written = seen.insert(std::ptr::from_ref(location.value));
        schemas.push(schema);
    }
    reader.check("")?;
    reader.count_places();
    let summary = Summary {
        draft: Draft::of(source.value).name(),
        keywords: reader.keywords.iter().map(|(text, word)| (word.text(text), word.count)).collect(),
        schemas: schemas.len(),
        ..Summary::default()
    };
    Ok((schemas, summary))
}
