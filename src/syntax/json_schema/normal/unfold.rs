//! Follows references and `allOf` from a set of schemas to the assertions that hold, and to the choices left open.

use crate::syntax::json_schema::model::schema::Schemas;
use crate::syntax::json_schema::model::schema_id::{Part, SchemaId};
use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};

/// The schemas whose own assertions hold; usually one.
pub(super) type Bases = SmallVec<[SchemaId; 4]>;

/// What [`unfold`] finds.
pub(super) struct Unfolded {
    /// The schemas whose own assertions hold.
    pub(super) bases: Bases,
    /// Lists of alternatives, of each of which at least one holds.
    pub(super) choices: Vec<Vec<SchemaId>>,
    /// Steps of work: schemas visited and alternatives copied.
    pub(super) steps: usize,
}

/// Follows `$ref` and `allOf`.
pub(super) fn unfold(schemas: &Schemas<'_>, parts: &[Part]) -> Unfolded {
    if let &[Part { schema: id, own }] = parts {
        let schema = schemas.get(id);
        if own || schema.conjuncts.is_empty() {
            let bases = if schema.is_bare { Bases::new() } else { smallvec![id] };
            let choices = if own { Vec::new() } else { schema.any_of.clone() };
            return Unfolded { steps: steps(2, &choices), bases, choices };
        }
    }
    let (mut bases, mut choices) = (Bases::new(), Vec::new());
    let mut own_seen = FxHashSet::default();
    let mut seen = FxHashSet::default();
    let mut visited = 0;
    // filled in reverse, the stack keeps the order of the document
    let mut stack: Vec<Part> = parts.iter().rev().copied().collect();
    while let Some(part) = stack.pop() {
        visited += 1;
        let schema = schemas.get(part.schema);
        if !schema.is_bare && own_seen.insert(part.schema) {
            bases.push(part.schema);
        }
        if !part.own && seen.insert(part.schema) {
            choices.extend(schema.any_of.iter().cloned());
            stack.extend(schema.conjuncts.iter().rev().map(|&schema| Part::whole(schema)));
        }
    }
    Unfolded { steps: steps(visited + bases.len(), &choices), bases, choices }
}

fn steps(visited: usize, choices: &[Vec<SchemaId>]) -> usize {
    visited + choices.iter().map(|alternatives| 1 + alternatives.len() / 8).sum::<usize>()
}
