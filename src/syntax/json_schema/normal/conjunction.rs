//! Conjunctions: sets of schemas that one value must satisfy together.
//!
//! `$ref`, `allOf`, and keywords next to `anyOf` all say that several schemas hold of the same value. A conjunction is
//! the set of these schemas. It is turned into a [`Shape`] by merging the assertions on each type; the schemas of
//! members and items form conjunctions again. Since there are finitely many schemas, there are finitely many sets. So
//! recursive schemas close over themselves, whatever they are merged with.

use super::empty::surely_empty;
use super::exclusive::Beginnings;
use super::shape::Shape;
use super::{combine, validate};
use crate::collections::interner::SliceInterner;
use crate::error::Result;
use crate::limits::{LimitKind, Limits};
use crate::syntax::json_schema::errors;
use crate::syntax::json_schema::model::assertion::TypeSet;
use crate::syntax::json_schema::model::numbers::Notation;
use crate::syntax::json_schema::model::schema::{Schema, Schemas};
use crate::syntax::json_schema::model::schema_id::{Part, SchemaId};
use crate::syntax::json_schema::strings::string_test::StringTest;
use crate::syntax::json_schema::values::json::Value;
use crate::syntax::json_schema::values::pointer::shown;
use crate::work::Budget;
use bumpalo::Bump;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use std::rc::Rc;

/// The schemas of a conjunction; usually one.
type Parts = SmallVec<[Part; 2]>;

/// The schemas whose own assertions hold; usually one.
pub(in crate::syntax::json_schema) type Bases = SmallVec<[SchemaId; 4]>;

/// Index of a conjunction in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::syntax::json_schema) struct ConjunctionId(u32);

impl ConjunctionId {
    pub(in crate::syntax::json_schema) fn index(self) -> usize {
        self.0 as usize
    }
}

/// All conjunctions that the root needs, with their shapes. The first one is that of the root.
pub(in crate::syntax::json_schema) struct Conjunctions<'a> {
    pub(in crate::syntax::json_schema) schemas: Schemas<'a>,
    parts: SliceInterner<Part>,
    shapes: Vec<Shape<'a>>,
    /// Made schemas that require a member and restrict it, by its name and value.
    pub(in crate::syntax::json_schema) required_members: FxHashMap<(&'a str, SchemaId), SchemaId>,
    /// Made schemas that require some member, by the schema they were made from and the names that do not count.
    pub(in crate::syntax::json_schema) undeclared: FxHashMap<(SchemaId, Vec<&'a str>), SchemaId>,
    /// Made schemas that only say that one of some alternatives holds.
    pub(in crate::syntax::json_schema) choices: FxHashMap<Vec<SchemaId>, SchemaId>,
    /// The strings that tests list, stored in the arena; `None` for tests that list none.
    pub(in crate::syntax::json_schema) strings: FxHashMap<StringTest<'a>, Option<Vec<&'a str>>>,
    /// Cache of the prefixes of the words of patterns.
    pub(in crate::syntax::json_schema) beginnings: Beginnings<'a>,
    pub(in crate::syntax::json_schema) arena: &'a Bump,
    pub(in crate::syntax::json_schema) limits: Limits,
    /// Remaining budget for finding combinations of alternatives, in conjunctions examined.
    pub(in crate::syntax::json_schema) budget: u32,
    /// Remaining work of the compilation.
    pub(in crate::syntax::json_schema) work: Rc<Budget>,
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
        let work = Rc::clone(&schemas.work);
        let (root, count) = (schemas.root(), schemas.len());
        let is_of_notation = |id| schemas.get(id).number.said().is_some_and(|n| n.notation != Notation::Any);
        let has_notations = schemas.ids().any(is_of_notation);
        let mut all = Conjunctions {
            schemas,
            // usually there are a few more than schemas
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
            all.schemas.check(all.schemas.get(root).pointer)?;
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

    /// Returns the error with the place of the first part, unless it already has one.
    fn placed(&self, error: crate::Error, parts: &[Part]) -> crate::Error {
        errors::placed(error, parts.first().map_or("", |part| self.schemas.get(part.schema).pointer))
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
        self.parts.get(id.0).iter().map(|part| &**self.schemas.get(part.schema))
    }

    /// Returns the schemas whose own assertions hold in a conjunction, with references followed.
    pub(in crate::syntax::json_schema) fn unfolded(
        &self,
        id: ConjunctionId,
    ) -> impl Iterator<Item = &Schema<'a>> {
        let Unfolded { bases, choices: _, steps: _ } = unfold(&self.schemas, self.parts.get(id.0));
        bases.into_iter().map(|id| &**self.schemas.get(id))
    }

    /// Returns the pointer of the first schema of a conjunction; `""` if it has no schemas.
    pub(in crate::syntax::json_schema) fn pointer(&self, id: ConjunctionId) -> &'a str {
        self.schemas_of(id).next().map_or("", |schema| schema.pointer)
    }

    /// Whether the conjunction is a single schema that was read from a document, other than `false`.
    pub(in crate::syntax::json_schema) fn is_written(&self, id: ConjunctionId) -> bool {
        match self.parts.get(id.0) {
            [Part { schema, own: false }] => {
                let schema = self.schemas.get(*schema);
                schema.is_written && schema.types != TypeSet::NONE
            }
            _ => false,
        }
    }

    /// Whether one of the schemas is `false`.
    pub(in crate::syntax::json_schema) fn is_never(&self, id: ConjunctionId) -> bool {
        self.parts.get(id.0).iter().any(|part| self.schemas.get(part.schema).types == TypeSet::NONE)
    }

    /// Returns the pointers of the schemas, at most three, as the name of a rule. Several conjunctions may have one
    /// name.
    pub(in crate::syntax::json_schema) fn name(&self, id: ConjunctionId) -> String {
        let parts = self.parts.get(id.0);
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

    fn intern(&mut self, parts: impl IntoIterator<Item = Part>) -> ConjunctionId {
        // references count as their targets, so that equal conjunctions are recognised
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

    /// Returns a conjunction with additional schemas.
    pub(in crate::syntax::json_schema) fn with(
        &mut self,
        id: ConjunctionId,
        schemas: impl IntoIterator<Item = SchemaId>,
    ) -> ConjunctionId {
        let parts = Parts::from_slice(self.parts.get(id.0));
        self.intern(parts.into_iter().chain(schemas.into_iter().map(Part::whole)))
    }

    /// Whether surely no value of a conjunction satisfies another schema.
    ///
    /// # Errors
    /// No work left.
    pub(in crate::syntax::json_schema) fn excludes(
        &self,
        id: ConjunctionId,
        schema: SchemaId,
    ) -> Result<bool> {
        let parts = self.parts.get(id.0).iter().copied().chain([Part::whole(schema)]);
        surely_empty(&self.schemas, &parts.collect::<Vec<_>>())
    }

    /// Returns the conjunction of some schemas with all their keywords.
    pub(in crate::syntax::json_schema) fn whole(
        &mut self,
        schemas: impl IntoIterator<Item = SchemaId>,
    ) -> ConjunctionId {
        self.intern(schemas.into_iter().map(Part::whole))
    }

    fn shape(&mut self, parts: &[Part]) -> Result<Shape<'a>> {
        let Unfolded { bases, mut choices, steps } = unfold(&self.schemas, parts);
        self.work.spend(steps)?;
        let schemas: SmallVec<[Rc<Schema<'a>>; 4]> =
            bases.iter().map(|&id| Rc::clone(self.schemas.get(id))).collect();
        let lists = || schemas.iter().flat_map(|schema| &schema.values);
        if let Some(shortest) = lists().min_by_key(|list| list.values.len()) {
            let mut values = Vec::new();
            self.work.spend(shortest.values.len().saturating_mul(parts.len()))?;
            let spellings: Vec<&'a Value<'a>> =
                shortest.values.iter().flat_map(|value| self.spellings(value)).collect();
            for value in spellings {
                if validate::satisfies(&self.schemas, parts, value)? {
                    values.push(value);
                }
            }
            return Ok(Shape::Values(values));
        }
        let (members, resolved) = self.some_members(&bases, &schemas)?;
        choices.extend(members);
        let resolved: FxHashSet<SchemaId> = resolved.into_iter().collect();
        let left = bases.iter().filter(|id| !resolved.contains(id));
        let own: Parts = left.map(|&schema| Part { schema, own: true }).collect();
        let combinations = match choices.len() {
            0 => None,
            // excluded alternatives are found when their own shapes are computed
            1 => choices.pop().map(|one| one.into_iter().map(|alternative| vec![alternative]).collect()),
            _ => {
                let budget = &mut self.budget;
                match combine::combinations(&self.schemas, &own, choices.clone(), budget)? {
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

    /// Returns a listed value in the notations that schemas distinguish, if any: an integer without and with a point.
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

    /// Returns the union of several sets of schemas, each together with some parts.
    pub(in crate::syntax::json_schema) fn union(
        &mut self,
        own: &[Part],
        combinations: Vec<Vec<SchemaId>>,
    ) -> Shape<'a> {
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

/// What [`unfold`] finds.
pub(in crate::syntax::json_schema) struct Unfolded {
    /// The schemas whose own assertions hold.
    pub(in crate::syntax::json_schema) bases: Bases,
    /// Lists of alternatives, of each of which at least one holds.
    pub(in crate::syntax::json_schema) choices: Vec<Vec<SchemaId>>,
    /// Steps of work: schemas visited and alternatives copied.
    pub(in crate::syntax::json_schema) steps: usize,
}

/// Follows `$ref` and `allOf`.
pub(in crate::syntax::json_schema) fn unfold(schemas: &Schemas<'_>, parts: &[Part]) -> Unfolded {
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
