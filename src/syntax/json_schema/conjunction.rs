//! Conjunctions: sets of schemas that one value must satisfy together.
//!
//! `$ref`, `allOf`, and keywords beside `anyOf` all say that several schemas hold of the same value. A
//! conjunction is the set of them. It is turned into a [`Shape`] by putting the assertions of each type
//! together; the schemas of members and items are conjunctions again. Since there are finitely many schemas
//! there are finitely many sets, so recursive schemas close over themselves, whatever they are merged with.

use super::assertion::TypeSet;
use super::combine;
use super::errors;
use super::exclusive::Beginnings;
use super::numbers::Notation;
use super::pointer::shown;
use super::schema::{Schema, Schemas};
use super::schema_id::SchemaId;
use super::shape::Shape;
use super::string_test::StringTest;
use super::validate::Validator;
use crate::collections::interner::SliceInterner;
use crate::error::Result;
use crate::limits::{LimitKind, Limits};
use crate::syntax::json_schema::json::Value;
use crate::work::Budget;
use bumpalo::Bump;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use std::rc::Rc;

/// A schema in a conjunction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Part {
    pub(super) schema: SchemaId,
    /// Only its own assertions, without `$ref`, `allOf` and `anyOf`, which are taken care of elsewhere.
    pub(super) own: bool,
}

impl Part {
    pub(super) fn whole(schema: SchemaId) -> Part {
        Part { schema, own: false }
    }
}

/// The schemas of a conjunction, mostly one.
type Parts = SmallVec<[Part; 2]>;

/// The schemas whose own assertions hold, mostly one.
pub(super) type Bases = SmallVec<[SchemaId; 4]>;

/// The place of a conjunction in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ConjunctionId(u32);

impl ConjunctionId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// All conjunctions that the root's needs, with their shapes. The root's is the first.
pub(super) struct Conjunctions<'a> {
    pub(super) schemas: Schemas<'a>,
    pub(super) validator: Validator<'a>,
    parts: SliceInterner<Part>,
    shapes: Vec<Shape<'a>>,
    /// Made schemas that require a member and restrict it, by its name and value.
    pub(super) required_members: FxHashMap<(&'a str, SchemaId), SchemaId>,
    /// Made schemas that require some member, by what they were made from and the names that it does not have.
    pub(super) undeclared: FxHashMap<(SchemaId, Vec<&'a str>), SchemaId>,
    /// Made schemas that say nothing but that one of some alternatives holds.
    pub(super) choices: FxHashMap<Vec<SchemaId>, SchemaId>,
    /// What tests list, kept as long as the document.
    pub(super) strings: FxHashMap<StringTest<'a>, Option<Vec<&'a str>>>,
    /// How the words of patterns begin.
    pub(super) beginnings: Beginnings<'a>,
    pub(super) arena: &'a Bump,
    pub(super) limits: Limits,
    /// What is left for finding combinations of alternatives.
    pub(super) budget: u32,
    /// The work that is left for the compilation.
    pub(super) work: Budget,
    /// Whether some schema tells notations of numbers apart.
    pub(super) has_notations: bool,
}

impl<'a> Conjunctions<'a> {
    /// The conjunctions of the root schema.
    ///
    /// # Errors
    /// Combinations that cannot be merged; too many conjunctions.
    pub(super) fn of(schemas: Schemas<'a>, arena: &'a Bump, limits: &Limits, work: Budget) -> Result<Self> {
        let (root, count) = (schemas.root(), schemas.len());
        let is_of_notation = |id| schemas.get(id).number.said().is_some_and(|n| n.notation != Notation::Any);
        let has_notations = schemas.ids().any(is_of_notation);
        let mut all = Conjunctions {
            schemas,
            validator: Validator::new(limits.clone()),
            // mostly there are a few more than schemas
            parts: SliceInterner::with_capacity(count + 4),
            shapes: Vec::with_capacity(count + 4),
            required_members: FxHashMap::default(),
            undeclared: FxHashMap::default(),
            choices: FxHashMap::default(),
            strings: FxHashMap::default(),
            beginnings: Beginnings::default(),
            arena,
            limits: limits.clone(),
            budget: combine::BUDGET,
            work,
            has_notations,
        };
        let mut size = 0;
        all.intern([Part::whole(root)]);
        while all.shapes.len() < all.parts.len() {
            let parts = Parts::from_slice(all.parts.get(all.shapes.len() as u32));
            let shape = all.shape(&parts).map_err(|error| all.placed(error, &parts))?;
            size += 1 + shape.children().count();
            if size > limits.grammar_nodes {
                let found = format!("{} combinations of schemas", all.parts.len());
                let error = Limits::exceeded(LimitKind::GrammarNodes, limits.grammar_nodes, found);
                return Err(all.placed(error, &parts));
            }
            all.shapes.push(shape);
        }
        Ok(all)
    }

    /// A limit that was exceeded for some parts, at the place of the first one.
    fn placed(&self, error: crate::Error, parts: &[Part]) -> crate::Error {
        errors::placed(error, parts.first().map_or("", |part| self.schemas.get(part.schema).pointer))
    }

    pub(super) fn len(&self) -> usize {
        self.shapes.len()
    }

    pub(super) fn root(&self) -> ConjunctionId {
        ConjunctionId(0)
    }

    pub(super) fn ids(&self) -> impl DoubleEndedIterator<Item = ConjunctionId> + use<> {
        (0..self.shapes.len() as u32).map(ConjunctionId)
    }

    pub(super) fn shape_of(&self, id: ConjunctionId) -> &Shape<'a> {
        &self.shapes[id.index()]
    }

    /// The schemas of a conjunction, in the order of their reading.
    pub(super) fn schemas_of(&self, id: ConjunctionId) -> impl Iterator<Item = &Schema<'a>> {
        self.parts.get(id.0).iter().map(|part| &**self.schemas.get(part.schema))
    }

    /// The schemas whose own assertions hold in a conjunction, references followed.
    pub(super) fn unfolded(&self, id: ConjunctionId) -> impl Iterator<Item = &Schema<'a>> {
        let (bases, _) = unfold(&self.schemas, self.parts.get(id.0));
        bases.into_iter().map(|id| &**self.schemas.get(id))
    }

    /// The pointer of the first schema of a conjunction; that of no schema is `""`.
    pub(super) fn pointer(&self, id: ConjunctionId) -> &'a str {
        self.schemas_of(id).next().map_or("", |schema| schema.pointer)
    }

    /// Whether the conjunction is one schema that stands in the document, other than `false`.
    pub(super) fn is_written(&self, id: ConjunctionId) -> bool {
        match self.parts.get(id.0) {
            [Part { schema, own: false }] => {
                let schema = self.schemas.get(*schema);
                schema.is_written && schema.types != TypeSet::NONE
            }
            _ => false,
        }
    }

    /// Whether one of the schemas is `false`.
    pub(super) fn is_never(&self, id: ConjunctionId) -> bool {
        self.parts.get(id.0).iter().any(|part| self.schemas.get(part.schema).types == TypeSet::NONE)
    }

    /// A name that no other conjunction has.
    pub(super) fn name(&self, id: ConjunctionId) -> String {
        let parts = self.parts.get(id.0);
        let part = |part: &Part| {
            let schema = self.schemas.get(part.schema);
            let made = if schema.is_written { String::new() } else { format!(" ({})", part.schema.0) };
            let own = if part.own { " (own)" } else { "" };
            format!("{}{made}{own}", shown(schema.pointer))
        };
        match parts.len() {
            0 => "any".into(),
            1..=3 => parts.iter().map(part).collect::<Vec<_>>().join(" & "),
            more => format!("{} & {} more ({})", part(&parts[0]), more - 1, id.0),
        }
    }

    fn intern(&mut self, parts: impl IntoIterator<Item = Part>) -> ConjunctionId {
        // references count as what they mean, so that equal conjunctions are found to be equal
        let meant = |part: Part| {
            let schema = if part.own { part.schema } else { self.schemas.meaning(part.schema) };
            let says = self.schemas.get(schema);
            let nothing = says.is_bare && !says.is_compound();
            (!nothing).then_some(Part { schema, own: part.own && says.is_compound() })
        };
        let mut parts: Parts = parts.into_iter().filter_map(meant).collect();
        parts.sort_unstable();
        parts.dedup();
        ConjunctionId(self.parts.intern(&parts))
    }

    /// A conjunction with more schemas.
    pub(super) fn with(
        &mut self,
        id: ConjunctionId,
        schemas: impl IntoIterator<Item = SchemaId>,
    ) -> ConjunctionId {
        let parts = Parts::from_slice(self.parts.get(id.0));
        self.intern(parts.into_iter().chain(schemas.into_iter().map(Part::whole)))
    }

    /// The conjunction of whole schemas.
    pub(super) fn whole(&mut self, schemas: impl IntoIterator<Item = SchemaId>) -> ConjunctionId {
        self.intern(schemas.into_iter().map(Part::whole))
    }

    fn shape(&mut self, parts: &[Part]) -> Result<Shape<'a>> {
        let (bases, mut choices) = unfold(&self.schemas, parts);
        self.work.spend(parts.len() + bases.len() + choices.len())?;
        let schemas: SmallVec<[Rc<Schema<'a>>; 4]> =
            bases.iter().map(|&id| Rc::clone(self.schemas.get(id))).collect();
        let lists = || schemas.iter().flat_map(|schema| &schema.values);
        if let Some(shortest) = lists().min_by_key(|list| list.values.len()) {
            let mut values = Vec::new();
            self.work.spend(shortest.values.len().saturating_mul(parts.len()))?;
            let spellings: Vec<&'a Value<'a>> =
                shortest.values.iter().flat_map(|value| self.spellings(value)).collect();
            for value in spellings {
                if self.validator.satisfies(&self.schemas, parts, value)? {
                    values.push(value);
                }
            }
            return Ok(Shape::Values(values));
        }
        let (members, resolved) = self.some_members(&bases, &schemas)?;
        choices.extend(members);
        let left = bases.iter().filter(|id| !resolved.contains(id));
        let own: Parts = left.map(|&schema| Part { schema, own: true }).collect();
        let combinations = match choices.len() {
            0 => None,
            // what is excluded here is found when its own shape is made
            1 => choices.pop().map(|one| one.into_iter().map(|alternative| vec![alternative]).collect()),
            _ => {
                let (budget, work) = (&mut self.budget, &self.work);
                match combine::combinations(&self.schemas, &own, choices.clone(), budget, work)? {
                    Some(combinations) => combinations,
                    None => return self.apart(&own, choices),
                }
            }
        };
        match combinations {
            None => Ok(Shape::Typed(self.typed(&bases, &schemas)?)),
            Some(combinations) => Ok(self.union(&own, combinations)),
        }
    }

    /// A listed value in the notations between which schemas distinguish, if they do: an integer with a point and without.
    fn spellings(&self, value: &'a Value<'a>) -> SmallVec<[&'a Value<'a>; 2]> {
        if !self.has_notations {
            return smallvec![value];
        }
        let arena = self.arena;
        let digits = &*arena.alloc(value.in_digits(arena));
        match digits {
            Value::Number(number) if !number.to_string().contains(['.', 'e', 'E']) => {
                let source = value.to_string();
                let is_marked = source.contains(['.', 'e', 'E']);
                let marked = if is_marked { source } else { format!("{number}.0") };
                smallvec![digits, &*arena.alloc(Value::number(arena.alloc_str(&marked)))]
            }
            _ => smallvec![digits],
        }
    }

    /// One of several sets of schemas, beside some parts.
    pub(super) fn union(&mut self, own: &[Part], combinations: Vec<Vec<SchemaId>>) -> Shape<'a> {
        let mut seen = FxHashSet::default();
        let mut list = Vec::new();
        for chosen in combinations {
            let id = self.intern(own.iter().copied().chain(chosen.into_iter().map(Part::whole)));
            if seen.insert(id) {
                list.push(id);
            }
        }
        Shape::Union(list)
    }
}

/// Follows `$ref` and `allOf`: the schemas whose own assertions hold, and the lists of which one holds each.
pub(super) fn unfold(schemas: &Schemas<'_>, parts: &[Part]) -> (Bases, Vec<Vec<SchemaId>>) {
    if let &[Part { schema: id, own }] = parts {
        let schema = schemas.get(id);
        if own || schema.conjuncts.is_empty() {
            let bases = if schema.is_bare { Bases::new() } else { smallvec![id] };
            return (bases, if own { Vec::new() } else { schema.any_of.clone() });
        }
    }
    let (mut bases, mut choices) = (Bases::new(), Vec::new());
    let mut own_seen = FxHashSet::default();
    let mut seen = FxHashSet::default();
    // a stack, filled in reverse, keeps the order of the document
    let mut stack: Vec<Part> = parts.iter().rev().copied().collect();
    while let Some(part) = stack.pop() {
        let schema = schemas.get(part.schema);
        if !schema.is_bare && own_seen.insert(part.schema) {
            bases.push(part.schema);
        }
        if !part.own && seen.insert(part.schema) {
            choices.extend(schema.any_of.iter().cloned());
            stack.extend(schema.conjuncts.iter().rev().map(|&schema| Part::whole(schema)));
        }
    }
    (bases, choices)
}
