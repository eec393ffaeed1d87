//! References: `$ref`, `$dynamicRef` and `$recursiveRef`.

use super::reader::{Location, Reader};
use super::resources::{Found, RECURSIVE, ResourceId};
use super::uri;
use crate::error::Result;
use crate::syntax::json_schema::errors;
use crate::syntax::json_schema::model::schema_id::SchemaId;
use crate::syntax::json_schema::values::pointer::{join, percent_decode};

/// The keywords that are references.
pub(super) const KEYWORDS: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Returns the schema that a reference in the schema at `from` names.
///
/// # Errors
/// The reference names a document that was not given, or points to nothing.
pub(super) fn target<'a>(
    reader: &mut Reader<'a, '_>,
    from: &Location<'a>,
    keyword: &str,
    reference: &str,
) -> Result<SchemaId> {
    let place = join(from.pointer, keyword);
    // the resource that the draft of the document knows, before one that a later draft would know
    if let Some(outer) = reader.resources.get(from.resource).outer
        && let Ok(found) = found(reader, from, outer, (&place, keyword, reference))
    {
        return Ok(found);
    }
    found(reader, from, from.resource, (&place, keyword, reference))
}

/// Returns the schema that a reference names if it is resolved against a resource.
fn found<'a>(
    reader: &mut Reader<'a, '_>,
    from: &Location<'a>,
    base: ResourceId,
    (place, keyword, reference): (&str, &str, &str),
) -> Result<SchemaId> {
    let (uri, fragment) = uri::split(reference);
    let resource = resource(reader, base, place, uri)?;
    let dangling = || errors::dangling_reference(place, keyword, reference);
    let fragment = percent_decode(fragment).ok_or_else(dangling)?;
    let found = if fragment.is_empty() {
        Some(reader.resources.root_of(resource))
    } else if fragment.starts_with('/') {
        reader.resources.at_pointer(resource, &fragment)
    } else {
        reader.resources.at_anchor(resource, &fragment)
    };
    let found = found.ok_or_else(dangling)?;
    let name = match keyword {
        "$dynamicRef" if !fragment.starts_with('/') && !fragment.is_empty() => Some(&*fragment),
        "$recursiveRef" => Some(RECURSIVE),
        _ => None,
    };
    let found = name.and_then(|name| outermost(reader, from, &found, name)).unwrap_or(found);
    // the pointer was copied
    reader.spend(found.pointer.len() / 64, place)?;
    Ok(reader.enter(from, found))
}

/// Returns the resource that a reference names before its `#`, resolved against the resource `base`.
fn resource(
    reader: &mut Reader<'_, '_>,
    base: ResourceId,
    place: &str,
    reference: &str,
) -> Result<ResourceId> {
    if reference.is_empty() {
        return Ok(base);
    }
    reader.spend((reader.resources.get(base).uri.len() + reference.len()) / 64, place)?;
    let uri = uri::resolve(&reader.resources.get(base).uri, reference);
    match reader.resources.named(&uri) {
        Some(known) => Ok(known),
        None => reader.fetch(place, &uri),
    }
}

/// If the schema found has a dynamic anchor, returns the outermost schema in the dynamic scope with the same anchor.
fn outermost<'a>(
    reader: &Reader<'a, '_>,
    from: &Location<'a>,
    found: &Found<'a>,
    name: &str,
) -> Option<Found<'a>> {
    let is_dynamic = reader.resources.get(found.resource).dynamic_anchors.contains(&name);
    let first = reader.scopes.first(from.scope, name).filter(|_| is_dynamic)?;
    match name {
        RECURSIVE => Some(reader.resources.root_of(first)),
        name => reader.resources.at_anchor(first, name),
    }
}
