//! The table of schemas: each with its assertions by family.
//!
//! The first ones are those of the document. Others are made: negations, and what `oneOf`, `if` and dependencies
//! come to ([`rewrite`](super::rewrite)). Made schemas are no different from written ones, so that everything
//! after knows conjunctions, `anyOf` and assertions of values alone.

use super::assertion::{ArrayPart, ObjectPart, StringPart, TypeSet, ValueList};
use super::listed::Listed;
use super::numbers::NumberRange;
use super::schema_id::SchemaId;
use super::seldom::Seldom;
use crate::syntax::json_schema::json::Value;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// One schema: all of its assertions hold together.
#[derive(Clone, Debug)]
pub(super) struct Schema<'a> {
    pub(super) pointer: &'a str,
    pub(super) types: TypeSet,
    pub(super) number: Seldom<NumberRange>,
    pub(super) string: Seldom<StringPart<'a>>,
    pub(super) array: Seldom<ArrayPart>,
    pub(super) object: Seldom<ObjectPart<'a>>,
    /// `enum` and `const`: the value is in every list.
    pub(super) values: Vec<ValueList<'a>>,
    /// Strings and numbers that the value is not.
    pub(super) excluded: Vec<&'a Value<'a>>,
    /// `$ref` and `allOf`: schemas of the same value that hold as well.
    pub(super) conjuncts: Vec<SchemaId>,
    /// `anyOf`: in each list, one holds.
    pub(super) any_of: Vec<Vec<SchemaId>>,
    /// To be rewritten first, while it is known what else applies.
    pub(super) unevaluated: Unevaluated,
    /// What is still to be rewritten to the two above.
    pub(super) applied: Vec<Applied<'a>>,
    /// Whether the schema says nothing beside `conjuncts`, `any_of` and `applied`.
    pub(super) is_bare: bool,
    /// Whether the schema stands in the document.
    pub(super) is_written: bool,
}

/// Schemas of the members and items that no other schema of the same value evaluates.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unevaluated {
    pub(super) properties: Option<SchemaId>,
    pub(super) items: Option<SchemaId>,
    /// Whether `contains` evaluates the items that it finds.
    pub(super) after_contains: bool,
    /// Whether members are declared, be it none.
    pub(super) declares_members: bool,
}

/// A keyword that applies schemas to the same value in another way than all of them or any of them.
#[derive(Clone, Debug)]
pub(super) enum Applied<'a> {
    OneOf(Vec<SchemaId>),
    Not(SchemaId),
    If {
        condition: SchemaId,
        then: Option<SchemaId>,
        otherwise: Option<SchemaId>,
    },
    DependentSchema(&'a str, SchemaId),
    DependentRequired(&'a str, Vec<&'a str>),
    /// `type` with schemas, and `disallow`, both of draft 3: one of all that is listed holds, or none does.
    Types {
        types: TypeSet,
        integers: Option<Box<NumberRange>>,
        schemas: Vec<SchemaId>,
        holds: bool,
    },
}

impl<'a> Schema<'a> {
    /// The schema that admits everything.
    pub(super) fn new(pointer: &'a str) -> Self {
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

    /// A schema to be made, which says nothing yet.
    pub(super) fn made(pointer: &'a str) -> Self {
        Schema { is_written: false, ..Schema::new(pointer) }
    }

    /// A schema to be made that admits the values of some types.
    pub(super) fn of_types(pointer: &'a str, types: TypeSet) -> Self {
        Schema { types, is_bare: false, ..Schema::made(pointer) }
    }

    /// The only schema that this one consists of, if it is nothing but a reference.
    fn refers_to(&self) -> Option<SchemaId> {
        match self.conjuncts[..] {
            [one] if self.is_bare && self.any_of.is_empty() => Some(one),
            _ => None,
        }
    }

    /// Whether `$ref`, `allOf` or `anyOf` add something to the schema's own assertions.
    pub(super) fn is_compound(&self) -> bool {
        !self.conjuncts.is_empty() || !self.any_of.is_empty()
    }

    /// The schemas that apply to the same value.
    pub(super) fn in_place(&self) -> impl Iterator<Item = SchemaId> + '_ {
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

/// All schemas that the root reaches; the root is the first.
#[derive(Debug)]
pub(super) struct Schemas<'a> {
    list: Vec<Rc<Schema<'a>>>,
    /// For each schema that is nothing but a reference, its target; for others, themselves.
    meanings: Vec<SchemaId>,
    /// Both ways.
    pub(super) negations: FxHashMap<SchemaId, SchemaId>,
    /// What patterns list.
    pub(super) listed: Listed<'a>,
    always: Option<SchemaId>,
    never: Option<SchemaId>,
    typed: FxHashMap<TypeSet, SchemaId>,
}

impl Default for Schemas<'_> {
    fn default() -> Self {
        Schemas {
            // most documents have no more
            list: Vec::with_capacity(16),
            meanings: Vec::with_capacity(16),
            negations: FxHashMap::default(),
            listed: Listed::default(),
            always: None,
            never: None,
            typed: FxHashMap::default(),
        }
    }
}

impl<'a> Schemas<'a> {
    pub(super) fn push(&mut self, schema: Schema<'a>) -> SchemaId {
        let id = SchemaId(self.list.len() as u32);
        self.list.push(Rc::new(schema));
        self.meanings.push(id);
        id
    }

    /// The schema of an id. Ids come from this table only.
    pub(super) fn get(&self, id: SchemaId) -> &Rc<Schema<'a>> {
        &self.list[id.0 as usize]
    }

    /// The schema of an id, to be changed.
    pub(super) fn change(&mut self, id: SchemaId) -> &mut Schema<'a> {
        Rc::make_mut(&mut self.list[id.0 as usize])
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn root(&self) -> SchemaId {
        SchemaId(0)
    }

    /// The schema `true`.
    pub(super) fn always(&mut self) -> SchemaId {
        match self.always {
            Some(id) => id,
            None => {
                let id = self.push(Schema::made(""));
                *self.always.insert(id)
            }
        }
    }

    /// The schema `false`.
    pub(super) fn never(&mut self) -> SchemaId {
        match self.never {
            Some(id) => id,
            None => {
                let id = self.push(Schema::of_types("", TypeSet::NONE));
                *self.never.insert(id)
            }
        }
    }

    /// The schema of the values of some types.
    pub(super) fn of_types(&mut self, types: TypeSet) -> SchemaId {
        match self.typed.get(&types) {
            Some(&id) => id,
            None => {
                let id = self.push(Schema::of_types("", types));
                self.typed.insert(types, id);
                id
            }
        }
    }

    /// The schema of exactly one value.
    pub(super) fn constant(&mut self, pointer: &'a str, value: &'a Value<'a>) -> SchemaId {
        let values = vec![ValueList::new(vec![value])];
        self.push(Schema { values, is_bare: false, ..Schema::made(pointer) })
    }

    /// The schema that `id` means: the end of the chain of references that it starts.
    pub(super) fn meaning(&self, id: SchemaId) -> SchemaId {
        self.meanings[id.0 as usize]
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = SchemaId> + use<> {
        (0..self.list.len() as u32).map(SchemaId)
    }

    /// Fills in the meanings; there are no cycles. Every link of a chain is followed once.
    pub(super) fn find_meanings(&mut self) {
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
        // what negates a reference negates what it means
        let negations: Vec<(SchemaId, SchemaId)> =
            self.negations.iter().map(|(&id, &not)| (id, not)).collect();
        for (id, not) in negations {
            self.negations.entry(self.meanings[id.0 as usize]).or_insert(not);
        }
    }
}
