//! The table of all conjunctions that the root of a schema needs, each in its normal form.
//!
//! A conjunction is turned into a [`Shape`] by merging the assertions on each type; the schemas of members and items
//! form conjunctions again.

use super::conjunction::{ConjunctionId, Parts, Sets};
use super::normalizer::Normalizer;
use super::shape::Shape;
use super::unfold::{Unfolded, unfold};
use super::{combine, conditional, merge, some_members, validate};
use crate::error::Result;
use crate::limits::{LimitKind, Limits};
use crate::syntax::json_schema::errors;
use crate::syntax::json_schema::model::assertion::TypeSet;
use crate::syntax::json_schema::model::schema::{Schema, Schemas};
use crate::syntax::json_schema::model::schema_id::{Part, SchemaId};
use crate::syntax::json_schema::values::json::Value;
use crate::syntax::json_schema::values::pointer::shown;
use bumpalo::Bump;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::rc::Rc;

/// All conjunctions that the root needs, with their shapes. The first one is that of the root.
pub(in crate::syntax::json_schema) struct Conjunctions<'a> {
    pub(in crate::syntax::json_schema) schemas: Schemas<'a>,
    sets: Sets,
    shapes: Vec<Shape<'a>>,
    /// Whether some schema distinguishes notations of numbers.
    pub(in crate::syntax::json_schema) has_notations: bool,
}

impl<'a> Conjunctions<'a> {
    /// Computes the conjunctions of the root schema and their shapes.
    ///
    /// # Errors
    /// Combinations that cannot be merged; too many conjunctions; no work left.
    pub(in crate::syntax::json_schema) fn of(
        schemas: Schemas<'a>,
        arena: &'a Bump,
        limits: &Limits,
    ) -> Result<Self> {
        let root = schemas.root();
        let mut n = Normalizer::new(schemas, arena, limits);
        let mut shapes = Vec::with_capacity(n.schemas.len() + 4);
        let mut size = 0;
        n.whole([root]);
        while shapes.len() < n.sets.len() {
            let parts = Parts::from_slice(n.sets.get(ConjunctionId(shapes.len() as u32)));
            let shape = shape(&mut n, &parts).map_err(|error| placed(&n.schemas, error, &parts))?;
            n.schemas.check(n.schemas.get(root).pointer)?;
            size += 1 + shape.children().count();
            if size > limits.grammar_nodes {
                let found = format!("{} combinations of schemas", n.sets.len());
                let error = Limits::exceeded(LimitKind::GrammarNodes, limits.grammar_nodes, found);
                return Err(placed(&n.schemas, error, &parts));
            }
            shapes.push(shape);
        }
        let Normalizer { schemas, sets, has_notations, .. } = n;
        Ok(Conjunctions { schemas, sets, shapes, has_notations })
    }

    pub(in crate::syntax::json_schema) fn len(&self) -> usize {
        self.shapes.len()
    }

    pub(in crate::syntax::json_schema) fn root(&self) -> ConjunctionId {
        ConjunctionId(0)
    }

    pub(in crate::syntax::json_schema) fn ids(
        &self,
    ) -> impl DoubleEndedIterator<Item = ConjunctionId> + use<> {
        (0..self.shapes.len() as u32).map(ConjunctionId)
    }

    pub(in crate::syntax::json_schema) fn shape_of(&self, id: ConjunctionId) -> &Shape<'a> {
        &self.shapes[id.index()]
    }

    /// Returns the schemas of a conjunction, in the order in which they were read or made.
    pub(in crate::syntax::json_schema) fn schemas_of(
        &self,
        id: ConjunctionId,
    ) -> impl Iterator<Item = &Schema<'a>> {
        self.sets.get(id).iter().map(|part| &**self.schemas.get(part.schema))
    }

    /// Returns the schemas whose own assertions hold in a conjunction, with references followed.
    pub(in crate::syntax::json_schema) fn unfolded(
        &self,
        id: ConjunctionId,
    ) -> impl Iterator<Item = &Schema<'a>> {
        let Unfolded { bases, choices: _, steps: _ } = unfold(&self.schemas, self.sets.get(id));
        bases.into_iter().map(|id| &**self.schemas.get(id))
    }

    /// Returns the pointer of the first schema of a conjunction; `""` if it has no schemas.
    pub(in crate::syntax::json_schema) fn pointer(&self, id: ConjunctionId) -> &'a str {
        self.schemas_of(id).next().map_or("", |schema| schema.pointer)
    }

    /// Whether the conjunction is a single schema that was read from a document, other than `false`.
    pub(in crate::syntax::json_schema) fn is_written(&self, id: ConjunctionId) -> bool {
        match self.sets.get(id) {
            [Part { schema, own: false }] => {
                let schema = self.schemas.get(*schema);
                schema.is_written && schema.types != TypeSet::NONE
            }
            _ => false,
        }
    }

    /// Returns the pointers of the schemas, at most three, as the name of a rule. Several conjunctions may have one
    /// name.
    pub(in crate::syntax::json_schema) fn name(&self, id: ConjunctionId) -> String {
        let parts = self.sets.get(id);
        let part = |part: &Part| {
            let schema = self.schemas.get(part.schema);
            shown(schema.pointer)
        };
        match parts.len() {
            0 => "any".into(),
            1..=3 => {
                let mut names: Vec<String> = parts.iter().map(part).collect();
                names.dedup();
                names.join(" & ")
            }
            more => format!("{} & {} more", part(&parts[0]), more - 1),
        }
    }
}

/// Returns the error with the place of the first part, unless it already has one.
fn placed(schemas: &Schemas<'_>, error: crate::Error, parts: &[Part]) -> crate::Error {
    errors::placed(error, parts.first().map_or("", |part| schemas.get(part.schema).pointer))
}

/// Returns the normal form of some schemas that hold together.
fn shape<'a>(n: &mut Normalizer<'a>, parts: &[Part]) -> Result<Shape<'a>> {
    let Unfolded { bases, mut choices, steps } = unfold(&n.schemas, parts);
    n.spend(steps)?;
    let schemas: SmallVec<[Rc<Schema<'a>>; 4]> =
        bases.iter().map(|&id| Rc::clone(n.schemas.get(id))).collect();
    let lists = || schemas.iter().flat_map(|schema| &schema.values);
    if let Some(shortest) = lists().min_by_key(|list| list.values.len()) {
        let mut values = Vec::new();
        n.spend(shortest.values.len().saturating_mul(parts.len()))?;
        let spellings: Vec<&'a Value<'a>> =
            shortest.values.iter().flat_map(|value| n.spellings(value)).collect();
        for value in spellings {
            if validate::satisfies(&n.schemas, parts, value)? {
                values.push(value);
            }
        }
        return Ok(Shape::Values(values));
    }
    let (members, resolved) = some_members::some_members(n, &bases, &schemas)?;
    choices.extend(members);
    let resolved: FxHashSet<SchemaId> = resolved.into_iter().collect();
    let left = bases.iter().filter(|id| !resolved.contains(id));
    let own: Parts = left.map(|&schema| Part { schema, own: true }).collect();
    let combinations = match choices.len() {
        0 => None,
        // excluded alternatives are found when their own shapes are computed
        1 => choices.pop().map(|one| one.into_iter().map(|alternative| vec![alternative]).collect()),
        _ => {
            let budget = &mut n.budget;
            match combine::combinations(&n.schemas, &own, choices.clone(), budget)? {
                Some(combinations) => combinations,
                None => return conditional::apart(n, &own, choices),
            }
        }
    };
    match combinations {
        None => Ok(Shape::Typed(merge::typed(n, &bases, &schemas)?)),
        Some(combinations) => Ok(n.union(&own, combinations)),
    }
}
