//! The state of making normal forms: the schemas and conjunctions so far, and answers that are kept.

use super::combine;
use super::conjunction::{ConjunctionId, Parts, Sets};
use super::empty::surely_empty;
use super::exclusive::Beginnings;
use super::shape::Shape;
use crate::error::Result;
use crate::limits::Limits;
use crate::syntax::json_schema::model::assertion::TypeSet;
use crate::syntax::json_schema::model::numbers::Notation;
use crate::syntax::json_schema::model::schema::{Schema, Schemas};
use crate::syntax::json_schema::model::schema_id::{Part, SchemaId};
use crate::syntax::json_schema::strings::listed;
use crate::syntax::json_schema::strings::string_test::StringTest;
use crate::syntax::json_schema::values::json::Value;
use bumpalo::Bump;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

/// Greatest number of patterns whose strings are listed as names.
const MAX_LISTED: usize = 256;

/// What makes normal forms: schemas and conjunctions, to which the merging of schemas adds more.
pub(super) struct Normalizer<'a> {
    pub(super) schemas: Schemas<'a>,
    pub(super) sets: Sets,
    pub(super) memo: Memo<'a>,
    pub(super) limits: Limits,
    /// Remaining budget for finding combinations of alternatives, in conjunctions examined.
    pub(super) budget: u32,
    /// Whether some schema distinguishes notations of numbers.
    pub(super) has_notations: bool,
    arena: &'a Bump,
}

/// Made schemas and answers, by what they were made from.
#[derive(Default)]
pub(super) struct Memo<'a> {
    /// Prefixes of the words of patterns.
    pub(super) beginnings: Beginnings<'a>,
    /// The strings that tests list, stored in the arena; `None` for tests that list none.
    strings: FxHashMap<StringTest<'a>, Option<Vec<&'a str>>>,
    /// Schemas that require a member and restrict it, by its name and value.
    required_members: FxHashMap<(&'a str, SchemaId), SchemaId>,
    /// Schemas that require some member, by the schema they were made from and the names that do not count.
    undeclared: FxHashMap<(SchemaId, Vec<&'a str>), SchemaId>,
    /// Schemas that only say that one of some alternatives holds.
    choices: FxHashMap<Vec<SchemaId>, SchemaId>,
}

impl<'a> Normalizer<'a> {
    /// Begins without conjunctions.
    pub(super) fn new(schemas: Schemas<'a>, arena: &'a Bump, limits: &Limits) -> Self {
        let is_of_notation = |id| schemas.get(id).number.said().is_some_and(|n| n.notation != Notation::Any);
        let has_notations = schemas.ids().any(is_of_notation);
        // usually there are a few more than schemas
        let sets = Sets::with_capacity(schemas.len() + 4);
        let (memo, limits, budget) = (Memo::default(), limits.clone(), combine::BUDGET);
        Normalizer { schemas, sets, memo, limits, budget, arena, has_notations }
    }

    /// Spends work of the compilation.
    ///
    /// # Errors
    /// No work left.
    pub(super) fn spend(&self, steps: usize) -> Result<()> {
        self.schemas.work.spend(steps)
    }

    fn intern(&mut self, parts: impl IntoIterator<Item = Part>) -> ConjunctionId {
        self.sets.intern(&self.schemas, parts)
    }

    /// Returns the conjunction of some schemas with all their keywords.
    pub(super) fn whole(&mut self, schemas: impl IntoIterator<Item = SchemaId>) -> ConjunctionId {
        self.intern(schemas.into_iter().map(Part::whole))
    }

    /// Returns a conjunction with additional schemas.
    pub(super) fn with(
        &mut self,
        id: ConjunctionId,
        schemas: impl IntoIterator<Item = SchemaId>,
    ) -> ConjunctionId {
        let parts = Parts::from_slice(self.sets.get(id));
        self.intern(parts.into_iter().chain(schemas.into_iter().map(Part::whole)))
    }

    /// Whether surely no value of a conjunction satisfies another schema.
    ///
    /// # Errors
    /// No work left.
    pub(super) fn excludes(&self, id: ConjunctionId, schema: SchemaId) -> Result<bool> {
        let parts = self.sets.get(id).iter().copied().chain([Part::whole(schema)]);
        surely_empty(&self.schemas, &parts.collect::<Vec<_>>())
    }

    /// Whether one of the schemas is `false`.
    pub(super) fn is_never(&self, id: ConjunctionId) -> bool {
        self.sets.get(id).iter().any(|part| self.schemas.get(part.schema).types == TypeSet::NONE)
    }

    /// Returns the union of several sets of schemas, each together with some parts.
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

    /// Returns a listed value in the notations that schemas distinguish, if any: an integer without and with a point.
    pub(super) fn spellings(&self, value: &'a Value<'a>) -> SmallVec<[&'a Value<'a>; 2]> {
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

    /// Returns the schema that only says that one of the alternatives holds.
    pub(super) fn choice(&mut self, alternatives: Vec<SchemaId>) -> SchemaId {
        if let Some(&known) = self.memo.choices.get(&alternatives) {
            return known;
        }
        let made = self.schemas.push(Schema { any_of: vec![alternatives.clone()], ..Schema::made("") });
        self.memo.choices.insert(alternatives, made);
        made
    }

    /// Returns all strings that pass a test, if it lists them.
    pub(super) fn strings_of(&mut self, test: StringTest<'a>) -> Option<Vec<&'a str>> {
        if let Some(known) = self.memo.strings.get(&test) {
            return known.clone();
        }
        let listed = self.schemas.listed.by(test).filter(|_| self.memo.strings.len() < MAX_LISTED);
        let arena = self.arena;
        let kept =
            |listed: listed::Strings| listed.iter().map(|text| &*arena.alloc_str(text)).collect::<Vec<_>>();
        let strings = listed.map(kept);
        self.memo.strings.insert(test, strings.clone());
        strings
    }

    /// Returns a variant of a schema that requires some member: the member has none of the declared names.
    pub(super) fn undeclared_member(&mut self, id: SchemaId, declared: &[&'a str]) -> SchemaId {
        let key = (id, declared.to_vec());
        if let Some(&known) = self.memo.undeclared.get(&key) {
            return known;
        }
        let mut schema = Schema::clone(self.schemas.get(id));
        for some in &mut schema.object.some {
            let new = declared.iter().filter(|name| !some.other_than.contains(name));
            let new: Vec<&'a str> = new.copied().collect();
            some.other_than.extend(new);
        }
        let made = self.schemas.push(schema);
        self.memo.undeclared.insert(key, made);
        made
    }

    /// Returns the schema of objects that have a member of this name, with a value that satisfies a schema.
    pub(super) fn required_member(&mut self, pointer: &'a str, name: &'a str, value: SchemaId) -> SchemaId {
        if let Some(&known) = self.memo.required_members.get(&(name, value)) {
            return known;
        }
        let mut schema = Schema::of_types(pointer, TypeSet::OBJECT);
        schema.object.properties.declare(name, value);
        schema.object.required.push(name);
        let made = self.schemas.push(schema);
        self.memo.required_members.insert((name, value), made);
        made
    }
}
