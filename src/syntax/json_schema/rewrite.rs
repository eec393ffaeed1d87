//! `oneOf`, `not`, `if` and dependencies, rewritten to conjunctions and `anyOf` over made schemas.
//!
//! Negations are pushed to the leaves: the negation of a schema is the `anyOf` of the ways in which one of its
//! assertions fails (L. Attouche et al., *Witness Generation for JSON Schema*, PVLDB 15(13), 2022, section 5).
//! Each is made once, and the negation of a negation is the schema itself, so that there are at most as many
//! as there are schemas, recursive ones included.

use super::assertion::{
    ArrayPart, Contains, NameClass, ObjectPart, SomeMember, StringPart, TypeSet, ValueList, equality_key,
};
use super::conjunction::Part;
use super::counts::Counts;
use super::empty::surely_empty_within;
use super::schema::{Applied, Schema, Schemas};
use super::schema_id::SchemaId;
use super::{errors, numbers};
use crate::error::Result;
use crate::syntax::json_schema::json::{Map, Value};
use crate::work::Budget;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Rewrites all schemas of the table.
///
/// # Errors
/// There is no work left.
pub(super) fn rewrite(schemas: &mut Schemas<'_>, work: &Budget) -> Result<()> {
    let mut maker = Maker { schemas, pending: Vec::new(), work };
    for id in maker.schemas.ids() {
        let schema = Rc::clone(maker.schemas.get(id));
        for applied in &schema.applied {
            maker.apply(id, applied)?;
        }
        // `merge` needs the negation of what is counted, for the items that are not
        let ArrayPart { prefix: _, items: _, count: _, contains, unique: _, repeated: _ } = &*schema.array;
        for &Contains { schema, from: _, count: _ } in contains {
            maker.negation(schema);
        }
    }
    while let Some(id) = maker.pending.pop() {
        maker.negate(id)?;
    }
    Ok(())
}

struct Maker<'m, 'a> {
    schemas: &'m mut Schemas<'a>,
    /// Schemas whose negations have ids, and are still to be filled in.
    pending: Vec<SchemaId>,
    work: &'m Budget,
}

impl<'a> Maker<'_, 'a> {
    fn spend(&self, steps: usize, pointer: &str) -> Result<()> {
        self.work.spend(steps).map_err(|error| errors::placed(error, pointer))
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

    /// Each of the schemas, without those of the others that it does not exclude by itself.
    fn one_of(&mut self, pointer: &'a str, list: &[SchemaId]) -> Result<Vec<SchemaId>> {
        let mut alternatives = Vec::with_capacity(list.len());
        let mut fuel = u32::MAX;
        let mut others: Vec<Vec<SchemaId>> = vec![Vec::new(); list.len()];
        let is_distinct = self.distinct_values(list);
        let all: Vec<usize> = (0..list.len()).collect();
        let rest: Vec<usize> = all.iter().copied().filter(|&i| !is_distinct[i]).collect();
        for (i, &a) in list.iter().enumerate() {
            let partners = if is_distinct[i] { &rest } else { &all };
            for &j in &partners[partners.partition_point(|&j| j <= i)..] {
                let b = list[j];
                let both = [Part::whole(a), Part::whole(b)];
                let excluded = surely_empty_within(self.schemas, &both, &mut fuel, self.work);
                if !excluded.map_err(|error| errors::placed(error, pointer))? {
                    others[i].push(b);
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

    /// For each schema, whether it lists values (`enum`, `const`) none of which another one lists: of two such schemas no
    /// value satisfies both. Lists of constants are long, and need no question for each pair.
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

    /// What has no member of a name (or is no object).
    fn absent(&mut self, pointer: &'a str, name: &'a str) -> SchemaId {
        let never = self.schemas.never();
        let mut absent = Schema { is_bare: false, ..Schema::made(pointer) };
        absent.object.properties.declare(name, never);
        self.schemas.push(absent)
    }

    /// The schema of the values that do not satisfy `id`.
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

    /// The ways in which an assertion of the schema itself fails.
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
            // rewritten to conjuncts and alternatives before
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
        // what is of a type that the schema excludes fails by its type
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
            // a member that must be there and satisfy a schema fails in one way, as one that does not satisfy it
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
        let &ArrayPart { ref prefix, items, count, ref contains, unique, repeated } = array;
        // only made schemas ask for equal items, and those are negated as what they were made from
        debug_assert!(!repeated);
        let mut ways: Vec<ArrayPart> =
            count.complement().map(|count| ArrayPart { count, ..ArrayPart::default() }).collect();
        for (index, &item) in prefix.iter().enumerate() {
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

    /// There is an item at `index`, and it fails.
    fn item_failing(&mut self, index: usize, item: SchemaId) -> ArrayPart {
        let mut prefix = vec![self.schemas.always(); index];
        prefix.push(self.negation(item));
        ArrayPart { prefix, count: Counts::at_least(index as u32 + 1), ..ArrayPart::default() }
    }

    /// The members of undeclared names, or wrong names, by which an object fails.
    fn some_failing(&mut self, object: &ObjectPart<'a>, id: SchemaId) -> Vec<SomeMember<'a>> {
        // `failures` handles declared names and the number of members
        let &ObjectPart { properties: _, required: _, ref patterns, additional, count: _, names, ref some } =
            object;
        // only made schemas ask for some member, and those are negated as what they were made from
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

    /// An object without a member.
    fn required_failing(&mut self, pointer: &'a str, name: &'a str) -> SchemaId {
        let mut failing = Schema::of_types(pointer, TypeSet::OBJECT);
        failing.object.properties.declare(name, self.schemas.never());
        let mut holding = Schema { is_bare: false, ..Schema::made(pointer) };
        holding.object.required.push(name);
        self.opposites(failing, holding)
    }

    /// An object without a member, or one that fails its schema.
    fn required_member_failing(&mut self, pointer: &'a str, name: &'a str, value: SchemaId) -> SchemaId {
        let mut failing = Schema::of_types(pointer, TypeSet::OBJECT);
        failing.object.properties.declare(name, self.negation(value));
        let mut holding = Schema { is_bare: false, ..Schema::made(pointer) };
        holding.object.required.push(name);
        holding.object.properties.declare(name, value);
        self.opposites(failing, holding)
    }

    /// An object with a member that fails its schema.
    fn member_failing(&mut self, pointer: &'a str, name: &'a str, value: SchemaId) -> SchemaId {
        let mut failing = Schema::of_types(pointer, TypeSet::OBJECT);
        failing.object.required.push(name);
        failing.object.properties.declare(name, self.negation(value));
        let mut holding = Schema { is_bare: false, ..Schema::made(pointer) };
        holding.object.properties.declare(name, value);
        self.opposites(failing, holding)
    }

    /// Two schemas that are each other's negation; the first one's id.
    fn opposites(&mut self, one: Schema<'a>, other: Schema<'a>) -> SchemaId {
        let (one, other) = (self.schemas.push(one), self.schemas.push(other));
        self.schemas.negations.insert(one, other);
        self.schemas.negations.insert(other, one);
        one
    }

    /// The schema of what is none of the values.
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
