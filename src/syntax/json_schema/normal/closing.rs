//! Implements [`Undeclared::Refused`](crate::syntax::json_schema::options::Undeclared): closes objects that declare members, and arrays that
//! declare items one by one, unless the schema describes further ones.
//!
//! Each value is closed separately. It may have what all schemas that hold of it declare together, so `allOf` of two
//! objects has the members of both. If the schema of a value is nothing but a choice of several, each of these is
//! closed separately. Conditions and negations are tests and stay unchanged.

use crate::error::Result;
use crate::syntax::json_schema::model::assertion::{ArrayPart, ObjectPart};
use crate::syntax::json_schema::model::schema::{Applied, Schema, Schemas};
use crate::syntax::json_schema::model::schema_id::SchemaId;
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// Closes all values that the root reaches.
///
/// # Errors
/// The work budget is exhausted.
pub(in crate::syntax::json_schema) fn close(schemas: &mut Schemas<'_>) -> Result<()> {
    let referred_to = shared(schemas);
    let mut open = vec![schemas.root()];
    let mut seen: FxHashSet<SchemaId> = open.iter().copied().collect();
    while let Some(id) = open.pop() {
        let schema = Rc::clone(schemas.get(id));
        let mut next = alone(&schema, &referred_to);
        if next.is_empty() {
            let holding = holding(schemas, id)?;
            close_one(schemas, id, &holding);
            for schema in &holding {
                values(schemas.get(*schema), &mut next);
            }
        }
        open.extend(next.into_iter().filter(|&id| seen.insert(id)));
    }
    Ok(())
}

/// Returns the schemas that hold together with others.
fn shared(schemas: &Schemas<'_>) -> FxHashSet<SchemaId> {
    let mut all = FxHashSet::default();
    for id in schemas.ids() {
        let schema = schemas.get(id);
        if !is_reference(schema) {
            all.extend(schema.conjuncts.iter().copied());
        }
    }
    all
}

fn is_reference(schema: &Schema<'_>) -> bool {
    schema.is_bare && schema.conjuncts.len() == 1 && schema.any_of.is_empty() && schema.applied.is_empty()
}

/// Returns the parts of a schema that is nothing but a reference or a choice; empty for all others, and if a part also
/// holds together with others.
fn alone(schema: &Schema<'_>, shared: &FxHashSet<SchemaId>) -> Vec<SchemaId> {
    if !schema.is_bare {
        return Vec::new();
    }
    match (&schema.conjuncts[..], &schema.any_of[..], &schema.applied[..]) {
        ([one], [], []) if !shared.contains(one) => vec![*one],
        ([], [list], []) | ([], [], [Applied::OneOf(list)])
            if !list.iter().any(|one| shared.contains(one)) =>
        {
            list.clone()
        }
        _ => Vec::new(),
    }
}

/// Returns the schemas that may hold of the same value, including `id`.
///
/// # Errors
/// The work budget is exhausted: the schemas that hold of many values may be the same.
fn holding(schemas: &Schemas<'_>, id: SchemaId) -> Result<Vec<SchemaId>> {
    let (mut open, mut all) = (vec![id], Vec::new());
    let mut seen = FxHashSet::default();
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        all.push(id);
        let schema = schemas.get(id);
        schemas.work.spend(1 + schema.in_place().count() + schema.object.properties.list().len())?;
        open.extend(schema.in_place());
        for applied in &schema.applied {
            match applied {
                Applied::OneOf(list) => open.extend(list),
                Applied::If { condition: _, then, otherwise } => {
                    open.extend(then.iter().chain(otherwise));
                }
                Applied::DependentSchema(_, dependent) => open.push(*dependent),
                Applied::Not(_)
                | Applied::DependentRequired(_, _)
                | Applied::Types { types: _, integers: _, schemas: _, holds: _ } => {}
            }
        }
    }
    Ok(all)
}

fn close_one(schemas: &mut Schemas<'_>, id: SchemaId, holding: &[SchemaId]) {
    let any = |test: fn(&Schema<'_>) -> bool| holding.iter().any(|&id| test(schemas.get(id)));
    let opens = any(|schema| {
        schema.object.additional.is_some()
            || schema.unevaluated.properties.is_some()
            || schema.object.names.is_some()
    });
    let members = any(|schema| schema.unevaluated.declares_members) && !opens;
    let opens = any(|schema| schema.array.items.is_some() || schema.unevaluated.items.is_some());
    let items = any(|schema| !schema.array.prefix.is_empty()) && !opens;
    if !members && !items {
        return;
    }
    let never = schemas.never();
    let schema = schemas.change(id);
    match holding {
        [_] => {
            schema.is_bare = false;
            schema.object.additional = members.then_some(never).or(schema.object.additional);
            schema.array.items = items.then_some(never).or(schema.array.items);
        }
        _ => {
            schema.unevaluated.properties = members.then_some(never).or(schema.unevaluated.properties);
            schema.unevaluated.items = items.then_some(never).or(schema.unevaluated.items);
        }
    }
}

/// Adds the schemas of members and items.
fn values(schema: &Schema<'_>, all: &mut Vec<SchemaId>) {
    // `propertyNames` and `contains` are tests
    let ObjectPart { properties, required: _, patterns, additional, count: _, names: _, some: _ } =
        &*schema.object;
    all.extend(properties.list().iter().map(|(_, value)| *value));
    all.extend(patterns.iter().map(|(_, value)| *value));
    all.extend(additional);
    // negations are made later
    let ArrayPart { prefix, items, at: _, count: _, contains: _, unique: _, repeated: _ } = &*schema.array;
    all.extend(prefix.iter().chain(items));
    all.extend(schema.unevaluated.properties.iter().chain(&schema.unevaluated.items));
}
