//! Conjunctions: sets of schemas that one value must satisfy together, and the shapes that they come to.
//!
//! `$ref`, `allOf`, and keywords beside `anyOf` all say that several schemas hold of the same value. A
//! conjunction is the set of them. It is turned into a [`Shape`] by putting the assertions of each type
//! together; the schemas of members and items are conjunctions again. Since there are finitely many schemas
//! there are finitely many sets, so recursive schemas close over themselves, whatever they are merged with.

use super::errors;
use super::numbers;
use super::schema::{Counts, NumberRange, Schema, SchemaId, Schemas, TypeSet};
use super::string_test::StringTest;
use super::validate::Validator;
use crate::error::Result;
use crate::limits::Limits;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

/// Combinations of alternatives of several `anyOf` that hold together.
const MAX_COMBINATIONS: usize = 4096;

/// A schema in a conjunction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Part {
    pub(super) schema: SchemaId,
    /// Only its own assertions, without `$ref`, `allOf` and `anyOf`, which are taken care of elsewhere.
    pub(super) own: bool,
}

/// The place of a conjunction in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ConjunctionId(u32);

impl ConjunctionId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a conjunction comes to.
#[derive(Debug)]
pub(super) enum Shape<'a> {
    /// One of these values.
    Values(Vec<&'a Value>),
    /// One of these conjunctions.
    Union(Vec<ConjunctionId>),
    /// A value of one of the types, as the type's part says.
    Typed(Box<Typed<'a>>),
}

/// A shape type by type.
#[derive(Debug)]
pub(super) struct Typed<'a> {
    pub(super) types: TypeSet,
    pub(super) number: NumberRange,
    pub(super) length: Counts,
    /// Patterns and formats, with the schemas they stand in.
    pub(super) tests: Vec<(SchemaId, StringTest<'a>)>,
    pub(super) array: Option<ArrayShape>,
    pub(super) object: Option<ObjectShape<'a>>,
}

#[derive(Debug)]
pub(super) struct ArrayShape {
    pub(super) prefix: Vec<ConjunctionId>,
    pub(super) rest: ConjunctionId,
    pub(super) count: Counts,
}

#[derive(Debug)]
pub(super) struct ObjectShape<'a> {
    pub(super) members: Vec<MemberShape<'a>>,
    pub(super) additional: ConjunctionId,
}

#[derive(Debug)]
pub(super) struct MemberShape<'a> {
    pub(super) name: &'a str,
    pub(super) value: ConjunctionId,
    pub(super) required: bool,
}

impl Shape<'_> {
    /// The conjunctions that the shape refers to.
    pub(super) fn children(&self) -> Vec<ConjunctionId> {
        match self {
            Shape::Values(_) => Vec::new(),
            Shape::Union(list) => list.clone(),
            Shape::Typed(typed) => {
                let arrays = typed.array.iter().flat_map(|a| a.prefix.iter().copied().chain([a.rest]));
                let objects =
                    typed.object.iter().flat_map(|o| o.members.iter().map(|m| m.value).chain([o.additional]));
                arrays.chain(objects).collect()
            }
        }
    }
}

/// All conjunctions that the root's needs, with their shapes. The root's is the first.
pub(super) struct Conjunctions<'s, 'a> {
    pub(super) schemas: &'s Schemas<'a>,
    parts: Vec<Box<[Part]>>,
    ids: FxHashMap<Box<[Part]>, ConjunctionId>,
    shapes: Vec<Shape<'a>>,
}

impl<'s, 'a> Conjunctions<'s, 'a> {
    /// The conjunctions of the root schema.
    ///
    /// # Errors
    /// Combinations that cannot be merged; too many conjunctions.
    pub(super) fn of(schemas: &'s Schemas<'a>, limits: &'s Limits) -> Result<Self> {
        let mut all =
            Conjunctions { schemas, parts: Vec::new(), ids: FxHashMap::default(), shapes: Vec::new() };
        let mut validator = Validator::new(schemas, limits);
        let mut size = 0;
        all.intern([Part { schema: schemas.root(), own: false }]);
        while let Some(parts) = all.parts.get(all.shapes.len()).cloned() {
            let shape = all.shape(&parts, &mut validator)?;
            size += 1 + shape.children().len();
            if size > limits.grammar_nodes {
                let found = format!("{} combinations of schemas", all.parts.len());
                return Err(Limits::exceeded("grammar_nodes", limits.grammar_nodes, found));
            }
            all.shapes.push(shape);
        }
        Ok(all)
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
        self.parts[id.index()].iter().map(|part| self.schemas.get(part.schema))
    }

    /// The schemas whose own assertions hold in a conjunction, references followed.
    pub(super) fn unfolded(&self, id: ConjunctionId) -> impl Iterator<Item = &Schema<'a>> {
        let (bases, _) = unfold(self.schemas, &self.parts[id.index()]);
        bases.into_iter().map(|id| self.schemas.get(id))
    }

    /// The pointer of the first schema of a conjunction; that of no schema is `""`.
    pub(super) fn pointer(&self, id: ConjunctionId) -> &str {
        self.schemas_of(id).next().map_or("", |schema| schema.pointer.as_str())
    }

    /// Whether the conjunction is one schema that stands in the document, other than `false`.
    pub(super) fn is_written(&self, id: ConjunctionId) -> bool {
        match &self.parts[id.index()][..] {
            [Part { schema, own: false }] => self.schemas.get(*schema).types != TypeSet::NONE,
            _ => false,
        }
    }

    /// A name that no other conjunction has.
    pub(super) fn name(&self, id: ConjunctionId) -> String {
        let parts = &self.parts[id.index()];
        let shown = |part: &Part| {
            let own = if part.own { " (own)" } else { "" };
            format!("#{}{own}", self.schemas.get(part.schema).pointer)
        };
        match parts.len() {
            0 => "any".into(),
            1..=3 => parts.iter().map(shown).collect::<Vec<_>>().join(" & "),
            more => format!("{} & {} more ({})", shown(&parts[0]), more - 1, id.0),
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
        let mut parts: Vec<Part> = parts.into_iter().filter_map(meant).collect();
        parts.sort_unstable();
        parts.dedup();
        let parts: Box<[Part]> = parts.into();
        let next = ConjunctionId(self.parts.len() as u32);
        *self.ids.entry(parts).or_insert_with_key(|parts| {
            self.parts.push(parts.clone());
            next
        })
    }

    /// The conjunction of whole schemas.
    fn whole(&mut self, schemas: impl IntoIterator<Item = SchemaId>) -> ConjunctionId {
        self.intern(schemas.into_iter().map(|schema| Part { schema, own: false }))
    }

    fn shape(&mut self, parts: &[Part], validator: &mut Validator<'s, 'a>) -> Result<Shape<'a>> {
        let schemas = self.schemas;
        let (bases, choices) = unfold(schemas, parts);
        let lists = || bases.iter().flat_map(|&id| &schemas.get(id).values);
        if let Some(shortest) = lists().min_by_key(|list| list.values.len()) {
            let mut values = Vec::new();
            for &value in &shortest.values {
                if validator.satisfies(parts, value)? {
                    values.push(value);
                }
            }
            return Ok(Shape::Values(values));
        }
        match choices.as_slice() {
            [] => Ok(Shape::Typed(Box::new(self.typed(&bases)))),
            choices => self.union(&bases, choices),
        }
    }

    /// Distributes the bases into every combination of one alternative of each choice.
    fn union(&mut self, bases: &[SchemaId], choices: &[&[SchemaId]]) -> Result<Shape<'a>> {
        let pointer = || bases.first().map_or("", |&id| self.schemas.get(id).pointer.as_str());
        let mut combinations: Vec<Vec<SchemaId>> = vec![Vec::new()];
        for alternatives in choices {
            if combinations.len().saturating_mul(alternatives.len()) > MAX_COMBINATIONS {
                return Err(errors::too_many_alternatives(pointer(), MAX_COMBINATIONS));
            }
            combinations = combinations
                .iter()
                .flat_map(|chosen| {
                    alternatives.iter().map(|&alternative| {
                        let mut chosen = chosen.clone();
                        chosen.push(alternative);
                        chosen
                    })
                })
                .collect();
        }
        let bases: Vec<Part> = bases.iter().map(|&schema| Part { schema, own: true }).collect();
        let mut seen = FxHashSet::default();
        let mut list = Vec::new();
        for chosen in combinations {
            let chosen = chosen.into_iter().map(|schema| Part { schema, own: false });
            let id = self.intern(bases.iter().copied().chain(chosen));
            if seen.insert(id) {
                list.push(id);
            }
        }
        Ok(Shape::Union(list))
    }

    fn typed(&mut self, bases: &[SchemaId]) -> Typed<'a> {
        let schemas = self.schemas;
        let mut typed = Typed {
            types: TypeSet::ALL,
            number: NumberRange::default(),
            length: Counts::default(),
            tests: Vec::new(),
            array: None,
            object: None,
        };
        let mut count = Counts::default();
        for &id in bases {
            let schema = schemas.get(id);
            typed.types = typed.types.intersection(schema.types);
            typed.number = numbers::intersection(&typed.number, &schema.number);
            typed.length = typed.length.intersection(&schema.string.length);
            count = count.intersection(&schema.array.count);
            for &test in &schema.string.tests {
                if !typed.tests.iter().any(|(_, known)| *known == test) {
                    typed.tests.push((id, test));
                }
            }
        }
        let bases: Vec<&Schema<'a>> = bases.iter().map(|&id| schemas.get(id)).collect();
        if typed.types.contains(TypeSet::ARRAY) {
            typed.array = Some(self.array(&bases, count));
        }
        if typed.types.contains(TypeSet::OBJECT) {
            typed.object = Some(self.object(&bases));
        }
        typed
    }

    fn array(&mut self, bases: &[&Schema<'a>], count: Counts) -> ArrayShape {
        let length = bases.iter().map(|schema| schema.array.prefix.len()).max().unwrap_or(0);
        let prefix = (0..length)
            .map(|index| self.whole(bases.iter().filter_map(|schema| schema.array.item(index))))
            .collect();
        let rest = self.whole(bases.iter().filter_map(|schema| schema.array.items));
        ArrayShape { prefix, rest, count }
    }

    fn object(&mut self, bases: &[&Schema<'a>]) -> ObjectShape<'a> {
        let required: FxHashSet<&str> =
            bases.iter().flat_map(|schema| schema.object.required.iter().copied()).collect();
        let declared = bases.iter().flat_map(|schema| schema.object.properties.iter().map(|(name, _)| *name));
        let undeclared = bases.iter().flat_map(|schema| schema.object.required.iter().copied());
        let mut seen = FxHashSet::default();
        let names: Vec<&str> = declared.chain(undeclared).filter(|name| seen.insert(*name)).collect();
        let members = names
            .into_iter()
            .map(|name| MemberShape {
                name,
                value: self.whole(bases.iter().filter_map(|schema| schema.object.member(name))),
                required: required.contains(name),
            })
            .collect();
        let additional = self.whole(bases.iter().filter_map(|schema| schema.object.additional));
        ObjectShape { members, additional }
    }
}

/// Follows `$ref` and `allOf`: the schemas whose own assertions hold, and the lists of which one holds each.
fn unfold<'s>(schemas: &'s Schemas<'_>, parts: &[Part]) -> (Vec<SchemaId>, Vec<&'s [SchemaId]>) {
    let (mut bases, mut choices) = (Vec::new(), Vec::new());
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
            choices.extend(schema.any_of.iter().map(Vec::as_slice));
            stack.extend(schema.conjuncts.iter().rev().map(|&schema| Part { schema, own: false }));
        }
    }
    (bases, choices)
}
