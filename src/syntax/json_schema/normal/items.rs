//! Merges the assertions of several schemas on arrays: the schemas of their items, and how many items satisfy each
//! `contains`.

use super::empty::surely_empty;
use super::normalizer::Normalizer;
use super::shape::{ArrayShape, ItemClass, ItemRun};
use crate::error::Result;
use crate::syntax::json_schema::errors;
use crate::syntax::json_schema::model::assertion::{ArrayPart, Contains};
use crate::syntax::json_schema::model::schema::Schema;
use crate::syntax::json_schema::model::schema_id::{Part, SchemaId};
use crate::syntax::json_schema::values::counts::Counts;
use smallvec::SmallVec;
use std::rc::Rc;

/// Greatest number of different `contains` of one array whose items may satisfy any set of them.
const FEW_CONTAINS: usize = 4;
/// Greatest number of different `contains` of one array: [`ItemClass::hits`] has a bit for each.
const MAX_CONTAINS: usize = u32::BITS as usize;
/// Greatest number of classes of items at one index if there are more than [`FEW_CONTAINS`].
const MAX_CLASSES: usize = 64;

/// A set of `contains`, as bits, with the schemas of the items that satisfy exactly these.
type Class = (u32, Vec<SchemaId>);

/// Returns the shape of arrays that satisfy some schemas.
///
/// # Errors
/// Negated `uniqueItems`; too many `contains`, or classes of items; no work left.
pub(super) fn array<'a>(
    n: &mut Normalizer<'a>,
    ids: &[SchemaId],
    bases: &[Rc<Schema<'a>>],
) -> Result<ArrayShape> {
    let pointer = || bases.first().map_or("", |base| base.pointer);
    // the indices at which the schemas of items may change
    let (mut starts, mut longest) = (Vec::new(), 0);
    let (mut count, mut is_repeated, mut unique) = (Counts::default(), false, None);
    let mut contains: SmallVec<[Contains; FEW_CONTAINS]> = SmallVec::new();
    for (&id, base) in ids.iter().zip(bases) {
        let ArrayPart {
            prefix,
            // handled below with the prefix, by index
            items: _,
            at,
            count: own_count,
            contains: own_contains,
            unique: own_unique,
            repeated,
        } = &*base.array;
        longest = longest.max(prefix.len());
        starts.extend(at.iter().flat_map(|(place, _)| [*place, place + 1]));
        count = count.intersection(own_count);
        contains.extend(own_contains.iter().filter(|contains| !contains.count.is_free()).copied());
        unique = unique.or(own_unique.then_some(id));
        is_repeated |= repeated;
    }
    if is_repeated {
        return Err(errors::negated_unique_items(pointer()));
    }
    if contains.len() > MAX_CONTAINS {
        return Err(errors::too_many_contains(pointer(), FEW_CONTAINS, MAX_CLASSES));
    }
    starts.extend(contains.iter().map(|contains| contains.from));
    n.spend(starts.len() + longest)?;
    starts.extend(0..=longest);
    starts.sort_unstable();
    starts.dedup();
    let most = if contains.len() > FEW_CONTAINS { MAX_CLASSES } else { 1 << contains.len() };
    n.spend(starts.len().saturating_mul(bases.len() * most))?;
    let mut items = Vec::with_capacity(starts.len());
    for from in starts {
        let classes = classes(n, from, bases, &contains)?;
        items.push(ItemRun { from, classes });
    }
    let contains = contains.iter().map(|contains| contains.count).collect();
    Ok(ArrayShape { items, count, contains, unique })
}

/// Returns the classes of the item at an index. With many `contains`, sets of them that no item satisfies are
/// dropped after each one, so that those which exclude each other have few classes.
fn classes<'a>(
    n: &mut Normalizer<'a>,
    index: usize,
    bases: &[Rc<Schema<'a>>],
    contains: &[Contains],
) -> Result<SmallVec<[ItemClass; 1]>> {
    let own = bases.iter().flat_map(|base| base.array.item(index)).collect();
    let mut classes: Vec<Class> = vec![(0, own)];
    for (place, &Contains { schema, from, count: _ }) in contains.iter().enumerate() {
        if from > index {
            continue;
        }
        let fails = n.schemas.negations.get(&schema).copied();
        let mut satisfying = classes.clone();
        satisfying.iter_mut().for_each(|(hits, schemas)| {
            *hits |= 1 << place;
            schemas.push(schema);
        });
        classes.iter_mut().for_each(|(_, schemas)| schemas.extend(fails));
        classes.append(&mut satisfying);
        if contains.len() <= FEW_CONTAINS {
            continue;
        }
        let mut possible = Vec::with_capacity(classes.len());
        for (hits, schemas) in classes {
            let parts: Vec<Part> = schemas.iter().copied().map(Part::whole).collect();
            if !surely_empty(&n.schemas, &parts)? {
                possible.push((hits, schemas));
            }
        }
        classes = possible;
        if classes.len() > MAX_CLASSES {
            let pointer = bases.first().map_or("", |base| base.pointer);
            return Err(errors::too_many_contains(pointer, FEW_CONTAINS, MAX_CLASSES));
        }
    }
    let mut all = SmallVec::new();
    for (hits, schemas) in classes {
        let value = n.whole(schemas);
        if !n.is_never(value) || contains.is_empty() {
            all.push(ItemClass { value, hits });
        }
    }
    Ok(all)
}
