//! The table of schemas, with the assertions of each by type.
//!
//! The first schemas are those of the documents. The passes add *made* schemas: negations, and what `oneOf`, `if` and
//! dependencies are rewritten to ([`rewrite`](crate::syntax::json_schema::normal::rewrite)). Made schemas have the same form as written ones, so
//! later passes know only conjunctions, `anyOf` and assertions on values.

use super::assertion::{ArrayPart, ObjectPart, StringPart, TypeSet, ValueList};
use super::empty_answers::EmptyAnswers;
use super::numbers::NumberRange;
use super::schema_id::SchemaId;
use super::seldom::Seldom;
use crate::error::Result;
use crate::limits::Limits;
use crate::syntax::json_schema::errors;
use crate::syntax::json_schema::strings::listed::Listed;
use crate::syntax::json_schema::strings::test_outcomes::TestOutcomes;
use crate::syntax::json_schema::values::json::Value;
use crate::work::Budget;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A schema: a value satisfies it if all of its assertions hold.
#[derive(Clone, Debug)]
pub(in crate::syntax::json_schema) struct Schema<'a> {
    pub(in crate::syntax::json_schema) pointer: &'a str,
    pub(in crate::syntax::json_schema) types: TypeSet,
    pub(in crate::syntax::json_schema) number: Seldom<NumberRange>,
    pub(in crate::syntax::json_schema) string: Seldom<StringPart<'a>>,
    pub(in crate::syntax::json_schema) array: Seldom<ArrayPart>,
    pub(in crate::syntax::json_schema) object: Seldom<ObjectPart<'a>>,
    /// `enum` and `const`: the value is in every list.
    pub(in crate::syntax::json_schema) values: Vec<ValueList<'a>>,
    /// Strings and numbers that the value must not equal.
    pub(in crate::syntax::json_schema) excluded: Vec<&'a Value<'a>>,
    /// `$ref` and `allOf`: schemas that also hold of the value.
    pub(in crate::syntax::json_schema) conjuncts: Vec<SchemaId>,
    /// `anyOf`: of each list, at least one schema holds.
    pub(in crate::syntax::json_schema) any_of: Vec<Vec<SchemaId>>,
    /// Rewritten first, while it is known which other keywords apply.
    pub(in crate::syntax::json_schema) unevaluated: Unevaluated,
    /// Keywords that `rewrite` expresses by `conjuncts` and `any_of`.
    pub(in crate::syntax::json_schema) applied: Vec<Applied<'a>>,
    /// Whether the schema has nothing but `conjuncts`, `any_of`, `unevaluated` and `applied`.
    pub(in crate::syntax::json_schema) is_bare: bool,
    /// Whether the schema is read from a document. A schema with several dynamic scopes is written in the first one
    /// only.
    pub(in crate::syntax::json_schema) is_written: bool,
}

/// `unevaluatedProperties` and `unevaluatedItems`: schemas of the members and items that no other schema of the same
/// value evaluates.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::syntax::json_schema) struct Unevaluated {
    pub(in crate::syntax::json_schema) properties: Option<SchemaId>,
    pub(in crate::syntax::json_schema) items: Option<SchemaId>,
    /// Whether `contains` evaluates the items that satisfy it.
    pub(in crate::syntax::json_schema) after_contains: bool,
    /// Whether the schema has `properties`, even if empty, or a non-empty `patternProperties`.
    pub(in crate::syntax::json_schema) declares_members: bool,
}

/// A keyword that applies schemas to the same value, but not simply all of them or any of them.
#[derive(Clone, Debug)]
pub(in crate::syntax::json_schema) enum Applied<'a> {
    OneOf(Vec<SchemaId>),
    Not(SchemaId),
    If {
        condition: SchemaId,
        then: Option<SchemaId>,
        otherwise: Option<SchemaId>,
    },
    DependentSchema(&'a str, SchemaId),
    DependentRequired(&'a str, Vec<&'a str>),
    /// `type` with schemas, and `disallow`, both of draft 3. If `holds`, at least one of the types and schemas holds;
    /// otherwise none does.
    Types {
        types: TypeSet,
        integers: Option<Box<NumberRange>>,
        schemas: Vec<SchemaId>,
        holds: bool,
    },
}

impl<'a> Schema<'a> {
    /// Returns a written schema that admits every value.
    pub(in crate::syntax::json_schema) fn new(pointer: &'a str) -> Self {
        Schema {
            pointer,
            types: TypeSet::ALL,
            number: Seldom::default(),
            string: Seldom::default(),
            array: Seldom::default(),
            object: Seldom::default(),
            values: Vec::new(),
            excluded: Vec::new(),
            conjuncts: Vec::new(),
            any_of: Vec::new(),
            unevaluated: Unevaluated::default(),
            applied: Vec::new(),
            is_bare: true,
            is_written: true,
        }
    }

    /// Returns a made schema that admits every value.
    pub(in crate::syntax::json_schema) fn made(pointer: &'a str) -> Self {
        Schema { is_written: false, ..Schema::new(pointer) }
    }

    /// Returns a made schema that admits exactly the values of some types.
    pub(in crate::syntax::json_schema) fn of_types(pointer: &'a str, types: TypeSet) -> Self {
        Schema { types, is_bare: false, ..Schema::made(pointer) }
    }

    /// Returns the target if the schema is nothing but a reference.
    fn refers_to(&self) -> Option<SchemaId> {
        match self.conjuncts[..] {
            [one] if self.is_bare && self.any_of.is_empty() => Some(one),
            _ => None,
        }
    }

    /// Whether the schema has `$ref`, `allOf` or `anyOf` in addition to its own assertions.
    pub(in crate::syntax::json_schema) fn is_compound(&self) -> bool {
        !self.conjuncts.is_empty() || !self.any_of.is_empty()
    }

    /// Returns the schemas of `$ref`, `allOf` and `anyOf`, which apply to the same value.
    pub(in crate::syntax::json_schema) fn in_place(&self) -> impl Iterator<Item = SchemaId> + '_ {
        let Schema {
            conjuncts,
            any_of,
            // rewritten to the two above
            unevaluated: _,
            applied: _,
            // these apply no schema to the same value
            pointer: _,
            types: _,
            number: _,
            string: _,
            array: _,
            object: _,
            values: _,
            excluded: _,
            is_bare: _,
            is_written: _,
        } = self;
        conjuncts.iter().chain(any_of.iter().flatten()).copied()
    }
}

/// All schemas that the root reaches, and the made ones; the root is the first.
pub(in crate::syntax::json_schema) struct Schemas<'a> {
    list: Vec<Rc<Schema<'a>>>,
    /// For each schema, the end of the chain of references that begins with it. A schema that is not merely a reference
    /// maps to itself, and so does every schema until [`find_meanings`](Schemas::find_meanings) runs.
    meanings: Vec<SchemaId>,
    /// From a schema to its negation. Most entries also have their inverse.
    pub(in crate::syntax::json_schema) negations: FxHashMap<SchemaId, SchemaId>,
    /// Cache of the strings that patterns list.
    pub(in crate::syntax::json_schema) listed: Listed<'a>,
    /// Cache of the outcomes of tests of names and listed strings.
    pub(in crate::syntax::json_schema) outcomes: TestOutcomes<'a>,
    /// Cache of the conjunctions that surely no value satisfies.
    pub(in crate::syntax::json_schema) empty_answers: EmptyAnswers,
    /// Remaining work of the compilation.
    pub(in crate::syntax::json_schema) work: Rc<Budget>,
    limits: Limits,
    always: Option<SchemaId>,
    never: Option<SchemaId>,
    typed: FxHashMap<TypeSet, SchemaId>,
}

impl<'a> Schemas<'a> {
    pub(in crate::syntax::json_schema) fn new(limits: &Limits, work: &Rc<Budget>) -> Self {
        Schemas {
            // most documents have no more
            list: Vec::with_capacity(16),
            meanings: Vec::with_capacity(16),
            negations: FxHashMap::default(),
            listed: Listed::default(),
            outcomes: TestOutcomes::new(limits.clone()),
            empty_answers: EmptyAnswers::default(),
            work: Rc::clone(work),
            limits: limits.clone(),
            always: None,
            never: None,
            typed: FxHashMap::default(),
        }
    }

    /// Returns the greatest number of schemas. Each takes as much memory as some expressions of a grammar.
    pub(in crate::syntax::json_schema) fn most(limits: &Limits) -> usize {
        limits.grammar_nodes / 4
    }

    /// Adds a schema. Beyond the limit nothing is added, and [`check`](Schemas::check) fails.
    pub(in crate::syntax::json_schema) fn push(&mut self, schema: Schema<'a>) -> SchemaId {
        if self.list.len() > Schemas::most(&self.limits) {
            return SchemaId(0);
        }
        let id = SchemaId(self.list.len() as u32);
        self.list.push(Rc::new(schema));
        self.meanings.push(id);
        id
    }

    /// Checks that there are not too many schemas.
    ///
    /// # Errors
    /// There are more than [`most`](Schemas::most).
    pub(in crate::syntax::json_schema) fn check(&self, pointer: &str) -> Result<()> {
        match self.list.len() > Schemas::most(&self.limits) {
            true => Err(errors::too_many_schemas(pointer, &self.limits)),
            false => Ok(()),
        }
    }

    /// Returns the schema of an id of this table.
    pub(in crate::syntax::json_schema) fn get(&self, id: SchemaId) -> &Rc<Schema<'a>> {
        &self.list[id.0 as usize]
    }

    /// Returns the schema of an id for modification.
    pub(in crate::syntax::json_schema) fn change(&mut self, id: SchemaId) -> &mut Schema<'a> {
        self.empty_answers.clear();
        Rc::make_mut(&mut self.list[id.0 as usize])
    }

    pub(in crate::syntax::json_schema) fn len(&self) -> usize {
        self.list.len()
    }

    pub(in crate::syntax::json_schema) fn root(&self) -> SchemaId {
        SchemaId(0)
    }

    /// Returns the schema `true`.
    pub(in crate::syntax::json_schema) fn always(&mut self) -> SchemaId {
        match self.always {
            Some(id) => id,
            None => {
                let id = self.push(Schema::made(""));
                *self.always.insert(id)
            }
        }
    }

    /// Returns the schema `false`.
    pub(in crate::syntax::json_schema) fn never(&mut self) -> SchemaId {
        match self.never {
            Some(id) => id,
            None => {
                let id = self.push(Schema::of_types("", TypeSet::NONE));
                *self.never.insert(id)
            }
        }
    }

    /// Returns the schema of the values of some types.
    pub(in crate::syntax::json_schema) fn of_types(&mut self, types: TypeSet) -> SchemaId {
        match self.typed.get(&types) {
            Some(&id) => id,
            None => {
                let id = self.push(Schema::of_types("", types));
                self.typed.insert(types, id);
                id
            }
        }
    }

    /// Returns a new schema that admits exactly one value.
    pub(in crate::syntax::json_schema) fn constant(
        &mut self,
        pointer: &'a str,
        value: &'a Value<'a>,
    ) -> SchemaId {
        let values = vec![ValueList::new(vec![value])];
        self.push(Schema { values, is_bare: false, ..Schema::made(pointer) })
    }

    /// Returns the meaning of `id`: the end of the chain of references that begins with it.
    pub(in crate::syntax::json_schema) fn meaning(&self, id: SchemaId) -> SchemaId {
        self.meanings[id.0 as usize]
    }

    pub(in crate::syntax::json_schema) fn ids(&self) -> impl Iterator<Item = SchemaId> + use<> {
        (0..self.list.len() as u32).map(SchemaId)
    }

    /// Fills in the meanings, following each reference once. There must be no cycles.
    pub(in crate::syntax::json_schema) fn find_meanings(&mut self) {
        self.empty_answers.clear();
        let mut done = vec![false; self.list.len()];
        for start in self.ids() {
            let mut chain = Vec::new();
            let mut at = start;
            while let Some(next) = self.get(at).refers_to().filter(|_| !done[at.0 as usize]) {
                chain.push(at);
                at = next;
            }
            let end = self.meaning(at);
            for link in chain {
                done[link.0 as usize] = true;
                self.meanings[link.0 as usize] = end;
            }
        }
        // the negation of a reference is also the negation of its target
        let negations: Vec<(SchemaId, SchemaId)> =
            self.negations.iter().map(|(&id, &not)| (id, not)).collect();
        for (id, not) in negations {
            self.negations.entry(self.meanings[id.0 as usize]).or_insert(not);
        }
    }
}
