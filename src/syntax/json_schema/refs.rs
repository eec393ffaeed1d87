//! `$ref`: resolving it within the document, and finding references that lead nowhere but to themselves.

use super::draft::Draft;
use super::errors;
use super::pointer::{join, percent_decode, resolve};
use super::reader::{Location, Reader};
use super::schema::{SchemaId, Schemas};
use crate::error::Result;
use serde_json::Value;

/// The identifier that a schema gives itself, if it does.
fn identifier(draft: Draft, schema: &Value) -> Option<&str> {
    let own = schema.get("$id").or_else(|| schema.get("id").filter(|_| draft.has_plain_id()));
    own.and_then(Value::as_str)
}

/// The location, made the root of its own resource if it has an identifier that is more than a fragment.
pub(super) fn rebase(draft: Draft, location: Location<'_>) -> Location<'_> {
    match identifier(draft, location.value) {
        Some(id) if !id.starts_with('#') && !id.is_empty() => {
            Location { resource: location.value, resource_pointer: location.pointer.clone(), ..location }
        }
        _ => location,
    }
}

/// The schema that a `$ref` at `from` names.
///
/// # Errors
/// A reference to another document or to an anchor, and one that points to nothing.
pub(super) fn target<'a>(
    reader: &mut Reader<'a, '_>,
    from: &Location<'a>,
    reference: &str,
) -> Result<SchemaId> {
    let place = join(&from.pointer, "$ref");
    let (uri, fragment) = reference.split_once('#').unwrap_or((reference, ""));
    let own = |schema| identifier(reader.draft, schema).map(|id| id.trim_end_matches('#'));
    let (resource, base) = if uri.is_empty() || own(from.resource) == Some(uri) {
        (from.resource, from.resource_pointer.as_str())
    } else if own(reader.root) == Some(uri) {
        (reader.root, "")
    } else {
        return Err(errors::remote_reference(&place, reference));
    };
    let Some(pointer) = percent_decode(fragment) else {
        return Err(errors::dangling_reference(&place, reference));
    };
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return Err(errors::anchor_reference(&place, reference));
    }
    let Some((value, path)) = resolve(resource, &pointer) else {
        return Err(errors::dangling_reference(&place, reference));
    };
    let location =
        Location { value, pointer: format!("{base}{path}"), resource, resource_pointer: base.to_owned() };
    let location = rebase(reader.draft, location);
    Ok(reader.intern(location))
}

/// Refuses schemas that apply themselves to the same value again (`{"$ref": "#"}` at the root, or through
/// `anyOf` and `allOf`): the standard gives them no meaning.
pub(super) fn check_cycles(schemas: &Schemas<'_>) -> Result<()> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let in_place = |id: SchemaId| schemas.get(id).in_place().collect::<Vec<_>>();
    let mut marks = vec![Mark::New; schemas.ids().count()];
    for start in schemas.ids() {
        if marks[start.0 as usize] != Mark::New {
            continue;
        }
        marks[start.0 as usize] = Mark::Open;
        let mut path = vec![(start, in_place(start))];
        while let Some((id, next)) = path.last_mut() {
            let id = *id;
            let Some(child) = next.pop() else {
                marks[id.0 as usize] = Mark::Done;
                path.pop();
                continue;
            };
            match marks[child.0 as usize] {
                Mark::Done => {}
                Mark::New => {
                    marks[child.0 as usize] = Mark::Open;
                    path.push((child, in_place(child)));
                }
                Mark::Open => {
                    let from = path.iter().position(|(id, _)| *id == child).unwrap_or(0);
                    let mut cycle: Vec<&str> =
                        path[from..].iter().map(|(id, _)| schemas.get(*id).pointer.as_str()).collect();
                    cycle.push(&schemas.get(child).pointer);
                    cycle.dedup();
                    if cycle.len() == 1 {
                        cycle.push(cycle[0]);
                    }
                    return Err(errors::cyclic_reference(&cycle));
                }
            }
        }
    }
    Ok(())
}
