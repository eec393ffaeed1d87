//! Rewrites `oneOf`, `not`, `if`, dependencies and draft 3's schemas in `type` to conjunctions and `anyOf` of made
//! schemas.
//!
//! Negations are pushed to the leaves: the negation of a schema is the `anyOf` of the ways in which one of its
//! assertions fails (L. Attouche et al., *Witness Generation for JSON Schema*, PVLDB 15(13), 2022, section 5). Each
//! negation is built once, and the negation of a negation is the schema itself. So there are at most as many negations
//! as schemas, even for recursive schemas.

use super::empty::surely_empty_within;
use crate::error::Result;
use crate::syntax::json_schema::errors;
use crate::syntax::json_schema::model::assertion::{
    ArrayPart, Contains, NameClass, ObjectPart, SomeMember, StringPart, TypeSet, ValueList, equality_key,
};
use crate::syntax::json_schema::model::numbers;
use crate::syntax::json_schema::model::schema::{Applied, Schema, Schemas};
use crate::syntax::json_schema::model::schema_id::{Part, SchemaId};
use crate::syntax::json_schema::values::counts::Counts;
use crate::syntax::json_schema::values::json::{Map, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Greatest number of alternatives of alternatives that are compared with those of another schema, and their greatest
/// depth.
const MAX_LEAVES: usize = 1024;
const MAX_LEAF_DEPTH: usize = 64;
/// Greatest number of pairs of alternatives of alternatives that are compared for two schemas.
const MAX_PAIRS: usize = 1 << 14;

/// Rewrites all schemas of the table.
///
/// # Errors
/// The work budget is exhausted.
pub(in crate::syntax::json_schema) fn rewrite(schemas: &mut Schemas<'_>) -> Result<()> {
    let applied = vec![false; schemas.len()];
    let mut maker = Maker { schemas, applied, pending: Vec::new() };
    for id in maker.schemas.ids() {
        let schema = Rc::clone(maker.schemas.get(id));
        maker.apply_with_inner(id)?;
        maker.schemas.check(schema.pointer)?;
        // `merge` needs the negation of the counted schema, for the items that do not satisfy it
        let ArrayPart { prefix: _, items: _, at: _, count: _, contains, unique: _, repeated: _ } =
            &*schema.array;
        for &Contains { schema, from: _, count: _ } in contains {
            maker.negation(schema);
        }
    }
    while let Some(id) = maker.pending.pop() {
        maker.negate(id)?;
        maker.schemas.check(maker.schemas.get(id).pointer)?;
    }
    maker.schemas.check("")
}

/// How a schema is visited when applied keywords are rewritten.
#[derive(Clone, Copy, PartialEq)]
enum Visit {
    /// By itself.
    Own,
    /// As an alternative of a `oneOf`, or a schema that holds with one.
    Alternative,
    /// Again, after those inside it.
    Last,
}

struct Maker<'m, 'a> {
    schemas: &'m mut Schemas<'a>,
    /// For each schema of the documents, whether its applied keywords are rewritten.
    applied: Vec<bool>,
    /// Schemas whose negations have ids but no content yet.
    pending: Vec<SchemaId>,
}

impl<'a> Maker<'_, 'a> {
    fn spend(&self, steps: usize, pointer: &str) -> Result<()> {
        self.schemas.work.spend(steps).map_err(|error| errors::placed(error, pointer))
    }

    /// Rewrites the applied keywords of a schema, after those of the alternatives of its `oneOf`: whether two
    /// alternatives exclude each other depends on their own alternatives.
    fn apply_with_inner(&mut self, id: SchemaId) -> Result<()> {
        let mut open = vec![(id, Visit::Own)];
        let mut seen = FxHashSet::default();
        while let Some((id, visit)) = open.pop() {
            let schema = Rc::clone(self.schemas.get(id));
            if visit == Visit::Last {
                for applied in &schema.applied {
                    self.apply(id, applied)?;
                }
                continue;
            }
            // made schemas have no applied keywords
            match self.applied.get_mut(id.0 as usize) {
                Some(applied) if !*applied && !schema.applied.is_empty() => {
                    *applied = true;
                    open.push((id, Visit::Last));
                }
                _ if visit == Visit::Alternative && seen.insert(id) => {}
                _ => continue,
            }
            if visit == Visit::Alternative {
                open.extend(schema.conjuncts.iter().rev().map(|&one| (one, Visit::Alternative)));
            }
            for applied in &schema.applied {
                if let Applied::OneOf(list) = applied {
                    open.extend(list.iter().rev().map(|&one| (one, Visit::Alternative)));
                }
            }
        }
        Ok(())
    }

    fn apply(&mut self, id: SchemaId, applied: &Applied<'a>) -> Result<()> {
        let pointer = self.schemas.get(id).pointer;
        let alternatives = match applied {
            Applied::Not(schema) => vec![self.negation(*schema)],
            Applied::OneOf(list) => self.one_of(pointer, list)?,
            Applied::Types { types, integers, schemas, holds } => {
                let mut all = schemas.clone();
                if *types != TypeSet::NONE {
                    let number = integers.as_deref().cloned().map(Into::into).unwrap_or_default();
                    let of_types = Schema { number, ..Schema::of_types(pointer, *types) };
                    all.push(self.schemas.push(of_types));
                }
                if !holds {
                    let none = all.into_iter().map(|one| self.negation(one)).collect();
                    all = vec![self.all(pointer, none)];
                }
                all
            }
            &Applied::If { condition, then, otherwise } => {
                let fails = self.negation(condition);
                let holds = then.map_or(condition, |then| self.all(pointer, vec![condition, then]));
                let fails = otherwise.map_or(fails, |otherwise| self.all(pointer, vec![fails, otherwise]));
                vec![holds, fails]
            }
            &Applied::DependentSchema(name, schema) => {
                let mut present = Schema::of_types(pointer, TypeSet::OBJECT);
                present.object.required.push(name);
                present.conjuncts.push(schema);
                vec![self.absent(pointer, name), self.schemas.push(present)]
            }
            Applied::DependentRequired(name, others) => {
                let mut present = Schema::of_types(pointer, TypeSet::OBJECT);
                present.object.required.push(name);
                present.object.required.extend(others.iter().filter(|other| *other != name));
                vec![self.absent(pointer, name), self.schemas.push(present)]
            }
        };
        let schema = self.schemas.change(id);
        match alternatives[..] {
            [one] => schema.conjuncts.push(one),
            _ => schema.any_of.push(alternatives),
        }
        Ok(())
    }

    /// Returns the alternatives of `oneOf`: each schema together with the negations of the others, except those others
    /// that it surely excludes anyway.
    fn one_of(&mut self, pointer: &'a str, list: &[SchemaId]) -> Result<Vec<SchemaId>> {
        let mut alternatives = Vec::with_capacity(list.len());
        let mut fuel = u32::MAX;
        let mut others: Vec<Vec<SchemaId>> = vec![Vec::new(); list.len()];
        let is_distinct = self.distinct_values(list);
        let all: Vec<usize> = (0..list.len()).collect();
        let rest: Vec<usize> = all.iter().copied().filter(|&i| !is_distinct[i]).collect();
        let leaves = list.iter().map(|&one| self.leaves(one)).collect::<Result<Vec<_>>>();
        let leaves = leaves.map_err(|error| errors::placed(error, pointer))?;
        for (i, &a) in list.iter().enumerate() {
            let partners = if is_distinct[i] { &rest } else { &all };
            for &j in &partners[partners.partition_point(|&j| j <= i)..] {
                let both = [Part::whole(a), Part::whole(list[j])];
                let excluded = match surely_empty_within(self.schemas, &both, &mut fuel) {
                    Ok(false) => self.exclude(&leaves[i], &leaves[j], &mut fuel),
                    known => known,
                };
                if !excluded.map_err(|error| errors::placed(error, pointer))? {
                    others[i].push(list[j]);
                    others[j].push(a);
                }
            }
        }
        for (&one, others) in list.iter().zip(others) {
            self.spend(1 + others.len(), pointer)?;
            alternatives.push(if others.is_empty() {
                one
            } else {
                let others = others.into_iter().map(|other| self.negation(other));
                let parts = [one].into_iter().chain(others).collect();
                self.all(pointer, parts)
            });
        }
        Ok(alternatives)
    }

    /// Returns the alternatives of a schema that is nothing but alternatives, their own alternatives, and so on: sets
    /// of schemas that hold together. A schema that is more than that is its only alternative, and so is one with too
    /// many.
    fn leaves(&self, root: SchemaId) -> Result<Vec<Vec<Part>>> {
        let whole = || vec![vec![Part::whole(root)]];
        let (mut leaves, mut open) = (Vec::new(), vec![(Vec::new(), root, 0)]);
        while let Some((mut with, id, depth)) = open.pop() {
            let schema = self.schemas.get(id);
            self.schemas.work.spend(1 + with.len() + schema.conjuncts.len())?;
            match (&schema.any_of[..], &schema.conjuncts[..]) {
                // a reference
                ([], &[one]) if depth < MAX_LEAF_DEPTH => {
                    with.extend((!schema.is_bare).then_some(Part { schema: id, own: true }));
                    open.push((with, one, depth + 1));
                }
                ([alternatives], conjuncts) if depth < MAX_LEAF_DEPTH => {
                    with.extend((!schema.is_bare).then_some(Part { schema: id, own: true }));
                    with.extend(conjuncts.iter().copied().map(Part::whole));
                    self.schemas.work.spend(alternatives.len().saturating_mul(1 + with.len()))?;
                    open.extend(alternatives.iter().map(|&one| (with.clone(), one, depth + 1)));
                }
                _ => {
                    with.push(Part::whole(id));
                    leaves.push(with);
                }
            }
            if leaves.len() + open.len() > MAX_LEAVES {
                return Ok(whole());
            }
        }
        // in the order of the document
        leaves.reverse();
        Ok(leaves)
    }

    /// Whether each leaf of one schema surely excludes each leaf of another. The schemas as a whole are examined
    /// before.
    fn exclude(&self, some: &[Vec<Part>], others: &[Vec<Part>], fuel: &mut u32) -> Result<bool> {
        let whole = |leaves: &[Vec<Part>]| leaves.len() == 1;
        if whole(some) && whole(others) || some.len().saturating_mul(others.len()) > MAX_PAIRS {
            return Ok(false);
        }
        for one in some {
            for other in others {
                let both: Vec<Part> = one.iter().chain(other).copied().collect();
                if !surely_empty_within(self.schemas, &both, fuel)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// For each schema, whether it lists values (`enum`, `const`) and no other schema lists any of them. No value
    /// satisfies two such schemas. This saves a check for each pair in long lists of constants.
    fn distinct_values(&self, list: &[SchemaId]) -> Vec<bool> {
        let mut lister: FxHashMap<String, usize> = FxHashMap::default();
        let mut is_distinct = vec![false; list.len()];
        for (i, &id) in list.iter().enumerate() {
            let Some(listed) = self.schemas.get(id).values.first() else { continue };
            is_distinct[i] = true;
            for value in &listed.values {
                let first = *lister.entry(equality_key(value)).or_insert(i);
                if first != i {
                    is_distinct[i] = false;
                    is_distinct[first] = false;
                }
            }
        }
        is_distinct
    }

    fn all(&mut self, pointer: &'a str, conjuncts: Vec<SchemaId>) -> SchemaId {
        self.schemas.push(Schema { conjuncts, ..Schema::made(pointer) })
    }

    /// Returns the schema of values that are not objects, or objects without a member of this name.
    fn absent(&mut self, pointer: &'a str, name: &'a str) -> SchemaId {
        let never = self.schemas.never();
        let mut absent = Schema { is_bare: false, ..Schema::made(pointer) };
        absent.object.properties.declare(name, never);
        self.schemas.push(absent)
    }

    /// Returns the schema of the values that do not satisfy `id`.
    fn negation(&mut self, id: SchemaId) -> SchemaId {
        if let Some(&known) = self.schemas.negations.get(&id) {
            return known;
        }
        if self.schemas.get(id).types == TypeSet::NONE {
            let always = self.schemas.always();
            self.schemas.negations.insert(id, always);
            return always;
        }
        let pointer = self.schemas.get(id).pointer;
        let made = self.schemas.push(Schema::made(pointer));
        self.schemas.negations.insert(id, made);
        self.schemas.negations.insert(made, id);
        self.pending.push(id);
        made
    }

    /// Fills in the negation of `id`.
    fn negate(&mut self, id: SchemaId) -> Result<()> {
        let schema = Rc::clone(self.schemas.get(id));
        let applied = schema.any_of.iter().map(Vec::len).sum::<usize>();
        self.spend(1 + schema.conjuncts.len() + applied, schema.pointer)?;
        let mut ways = self.failures(&schema, id);
        ways.extend(schema.conjuncts.iter().map(|&conjunct| self.negation(conjunct)));
        for alternatives in &schema.any_of {
            let all = alternatives.iter().map(|&alternative| self.negation(alternative)).collect();
            ways.push(self.all(schema.pointer, all));
        }
        let negation = self.negation(id);
        let negation = self.schemas.change(negation);
        match ways[..] {
            [] => {
                negation.types = TypeSet::NONE;
                negation.is_bare = false;
            }
            [one] => negation.conjuncts.push(one),
            _ => negation.any_of.push(ways),
        }
        Ok(())
    }

    /// Returns the ways in which an assertion of the schema itself fails.
    fn failures(&mut self, schema: &Schema<'a>, id: SchemaId) -> Vec<SchemaId> {
        let Schema {
            pointer,
            types,
            number,
            string,
            array,
            object,
            values,
            excluded,
            // the caller negates these
            conjuncts: _,
            any_of: _,
            // already rewritten to conjuncts and alternatives
            unevaluated: _,
            applied: _,
            // not assertions
            is_bare: _,
            is_written: _,
        } = schema;
        let (pointer, types) = (*pointer, *types);
        let typed = |types| Schema::of_types(pointer, types);
        let mut ways = Vec::new();
        for number in numbers::failures(number) {
            ways.push(Schema { number: number.into(), ..typed(TypeSet::NUMBER) });
        }
        let StringPart { length, tests } = &**string;
        for length in length.complement() {
            let string = StringPart { length, ..StringPart::default() };
            ways.push(Schema { string: string.into(), ..typed(TypeSet::STRING) });
        }
        for &(test, holds) in tests {
            let string = StringPart { tests: vec![(test, !holds)], ..StringPart::default() };
            ways.push(Schema { string: string.into(), ..typed(TypeSet::STRING) });
        }
        let arrays = self.array_failures(array);
        ways.extend(arrays.into_iter().map(|array| Schema { array: array.into(), ..typed(TypeSet::ARRAY) }));
        for some in self.some_failing(object, id) {
            let object = ObjectPart { some: vec![some], ..ObjectPart::default() };
            ways.push(Schema { object: object.into(), ..typed(TypeSet::OBJECT) });
        }
        // `some_failing` handles the others
        let ObjectPart { properties, required, patterns: _, additional: _, count, names: _, some: _ } =
            &**object;
        for count in count.complement() {
            let object = ObjectPart { count, ..ObjectPart::default() };
            ways.push(Schema { object: object.into(), ..typed(TypeSet::OBJECT) });
        }
        // a value of an excluded type fails by its type
        ways.retain(|way| types.contains(way.types));
        if types != TypeSet::ALL {
            ways.push(typed(TypeSet::ALL.without(types)));
        }
        if !excluded.is_empty() {
            let values = vec![ValueList::new(excluded.clone())];
            ways.push(Schema { values, ..typed(TypeSet::ALL) });
        }
        let mut ways: Vec<SchemaId> = ways.into_iter().map(|way| self.schemas.push(way)).collect();
        if types.contains(TypeSet::OBJECT) {
            // a required member with a schema fails in one way only: it is absent or does not satisfy the schema
            let alone = required.iter().filter(|name| !properties.contains(name));
            ways.extend(alone.map(|&name| self.required_failing(pointer, name)));
            let required: FxHashSet<&str> = required.iter().copied().collect();
            for &(name, value) in properties.list() {
                ways.push(match required.contains(name) {
                    true => self.required_member_failing(pointer, name, value),
                    false => self.member_failing(pointer, name, value),
                });
            }
        }
        for list in values {
            ways.push(self.exclusion(pointer, &list.values));
        }
        ways
    }

    fn array_failures(&mut self, array: &ArrayPart) -> Vec<ArrayPart> {
        let &ArrayPart { ref prefix, items, at, count, ref contains, unique, repeated } = array;
        // only negations of `uniqueItems` require equal items, and their own negations are known already
        debug_assert!(!repeated);
        let mut ways: Vec<ArrayPart> =
            count.complement().map(|count| ArrayPart { count, ..ArrayPart::default() }).collect();
        for (index, item) in prefix.iter().copied().enumerate().chain(at) {
            ways.push(self.item_failing(index, item));
        }
        if let Some(items) = items {
            let contains =
                Contains { schema: self.negation(items), from: prefix.len(), count: Counts::at_least(1) };
            ways.push(ArrayPart { contains: vec![contains], ..ArrayPart::default() });
        }
        for &Contains { schema, from, count } in contains {
            for count in count.complement() {
                let contains = Contains { schema, from, count };
                ways.push(ArrayPart { contains: vec![contains], ..ArrayPart::default() });
            }
        }
        if unique {
            ways.push(ArrayPart { repeated: true, ..ArrayPart::default() });
        }
        ways
    }

    /// Returns the arrays whose item at `index` exists and does not satisfy `item`.
    fn item_failing(&mut self, index: usize, item: SchemaId) -> ArrayPart {
        let at = Some((index, self.negation(item)));
        ArrayPart { at, count: Counts::at_least(index as u32 + 1), ..ArrayPart::default() }
    }

    /// Returns the members by which an object fails `patternProperties`, `additionalProperties` or `propertyNames`.
    fn some_failing(&mut self, object: &ObjectPart<'a>, id: SchemaId) -> Vec<SomeMember<'a>> {
        // `failures` handles declared names and the number of members
        let &ObjectPart { properties: _, required: _, ref patterns, additional, count: _, names, ref some } =
            object;
        // only made schemas require some member, and their negations are the schemas that they were made from
        debug_assert!(some.is_empty());
        let mut failing = Vec::new();
        for &(pattern, value) in patterns {
            failing.push((NameClass::Matching(pattern), self.negation(value)));
        }
        if let Some(additional) = additional {
            failing.push((NameClass::AdditionalTo(id), self.negation(additional)));
        }
        if let Some(names) = names {
            failing.push((NameClass::Satisfying(self.negation(names)), self.schemas.always()));
        }
        let member = |(names, value)| SomeMember { names, value, other_than: Vec::new() };
        failing.into_iter().map(member).collect()
    }

    /// Returns the schema of objects without a member.
    fn required_failing(&mut self, pointer: &'a str, name: &'a str) -> SchemaId {
        let mut failing = Schema::of_types(pointer, TypeSet::OBJECT);
        failing.object.properties.declare(name, self.schemas.never());
        let mut holding = Schema { is_bare: false, ..Schema::made(pointer) };
        holding.object.required.push(name);
        self.opposites(failing, holding)
    }

    /// Returns the schema of objects without a member, or with one that does not satisfy its schema.
    fn required_member_failing(&mut self, pointer: &'a str, name: &'a str, value: SchemaId) -> SchemaId {
        let mut failing = Schema::of_types(pointer, TypeSet::OBJECT);
        failing.object.properties.declare(name, self.negation(value));
        let mut holding = Schema { is_bare: false, ..Schema::made(pointer) };
        holding.object.required.push(name);
        holding.object.properties.declare(name, value);
        self.opposites(failing, holding)
    }

    /// Returns the schema of objects with a member that does not satisfy its schema.
    fn member_failing(&mut self, pointer: &'a str, name: &'a str, value: SchemaId) -> SchemaId {
        let mut failing = Schema::of_types(pointer, TypeSet::OBJECT);
        failing.object.required.push(name);
        failing.object.properties.declare(name, self.negation(value));
        let mut holding = Schema { is_bare: false, ..Schema::made(pointer) };
        holding.object.properties.declare(name, value);
        self.opposites(failing, holding)
    }

    /// Adds two schemas that are each other's negation. Returns the id of the first.
    fn opposites(&mut self, one: Schema<'a>, other: Schema<'a>) -> SchemaId {
        let (one, other) = (self.schemas.push(one), self.schemas.push(other));
        self.schemas.negations.insert(one, other);
        self.schemas.negations.insert(other, one);
        one
    }

    /// Returns the schema of everything except these values.
    fn exclusion(&mut self, pointer: &'a str, values: &[&'a Value<'a>]) -> SchemaId {
        let mut none = Schema::of_types(pointer, TypeSet::ALL);
        for &value in values {
            match value {
                Value::Null | Value::Bool(_) => none.types = none.types.without(TypeSet::of(value)),
                Value::Number(_) | Value::String(_) => none.excluded.push(value),
                Value::Array(list) => none.conjuncts.push(self.other_array(pointer, list)),
                Value::Object(map) => none.conjuncts.push(self.other_object(pointer, map)),
            }
        }
        self.schemas.push(none)
    }

    fn other_array(&mut self, pointer: &'a str, list: &'a [Value<'a>]) -> SchemaId {
        let count = Counts::exactly(u32::try_from(list.len()).unwrap_or(u32::MAX));
        let mut ways = vec![Schema::of_types(pointer, TypeSet::ALL.without(TypeSet::ARRAY))];
        let of =
            |array: ArrayPart| Schema { array: array.into(), ..Schema::of_types(pointer, TypeSet::ARRAY) };
        ways.extend(count.complement().map(|count| of(ArrayPart { count, ..ArrayPart::default() })));
        for (index, value) in list.iter().enumerate() {
            let constant = self.schemas.constant(pointer, value);
            ways.push(of(self.item_failing(index, constant)));
        }
        self.any(pointer, ways)
    }

    fn other_object(&mut self, pointer: &'a str, map: &'a Map<'a>) -> SchemaId {
        let mut closed = Schema::of_types(pointer, TypeSet::OBJECT);
        for (name, value) in map {
            let constant = self.schemas.constant(pointer, value);
            closed.object.properties.declare(name, constant);
            closed.object.required.push(name);
        }
        closed.object.additional = Some(self.schemas.never());
        let closed = self.schemas.push(closed);
        self.negation(closed)
    }

    fn any(&mut self, pointer: &'a str, ways: Vec<Schema<'a>>) -> SchemaId {
        let ways = ways.into_iter().map(|way| self.schemas.push(way)).collect();
        self.schemas.push(Schema { any_of: vec![ways], ..Schema::made(pointer) })
    }
}
