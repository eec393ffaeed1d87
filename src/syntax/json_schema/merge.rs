//! The assertions of several schemas put together, type by type.

use super::assertion::{Counts, NameClass, SomeMember, TypeSet};
use super::conjunction::{Conjunctions, Part};
use super::errors;
use super::numbers::{self, NumberRange};
use super::schema::{Schema, SchemaId};
use super::shape::{ArrayShape, ItemClass, MemberShape, ObjectShape, RestShape, Test, Typed};
use super::string_test::StringTest;
use crate::error::Result;
use crate::syntax::json_schema::json::Value;
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// Different `contains` that one array may have.
const MAX_CONTAINS: usize = 4;
/// Different `patternProperties` that one object may have with different schemas.
const MAX_PATTERNS: usize = 8;

impl<'a> Conjunctions<'a> {
    /// The shape of schemas that leave no choice.
    pub(super) fn typed(&mut self, ids: &[SchemaId], bases: &[Rc<Schema<'a>>]) -> Result<Typed<'a>> {
        let mut typed = Typed::default();
        let mut number = NumberRange::default();
        for (&schema, base) in ids.iter().zip(bases) {
            typed.types = typed.types.intersection(base.types);
            number = numbers::intersection(&number, &base.number);
            typed.length = typed.length.intersection(&base.string.length);
            typed.excluded.extend(&base.excluded);
            for &(test, holds) in &base.string.tests {
                if !typed.tests.iter().any(|known| known.test == test && known.holds == holds) {
                    typed.tests.push(Test { schema, test, holds });
                }
            }
        }
        typed.number = number;
        if typed.types.contains(TypeSet::ARRAY) {
            typed.array = Some(self.array(ids, bases)?);
        }
        if typed.types.contains(TypeSet::OBJECT) {
            typed.object = Some(self.object(ids, bases)?);
        }
        Ok(typed)
    }

    fn array(&mut self, ids: &[SchemaId], bases: &[Rc<Schema<'a>>]) -> Result<ArrayShape> {
        let pointer = || bases.first().map_or("", |base| base.pointer.as_str());
        if bases.iter().any(|base| base.array.repeated) {
            return Err(errors::unsupported_combination(pointer(), "`not`", "`uniqueItems`"));
        }
        let contains: Vec<_> = bases
            .iter()
            .flat_map(|base| &base.array.contains)
            .filter(|c| !c.count.is_free())
            .copied()
            .collect();
        if contains.len() > MAX_CONTAINS {
            return Err(errors::unsupported_combination(
                pointer(),
                "more than four `contains`",
                "each other",
            ));
        }
        let longest = bases.iter().map(|base| base.array.prefix.len()).max().unwrap_or(0);
        let from = contains.iter().map(|contains| contains.from).max().unwrap_or(0);
        let mut items = Vec::new();
        for index in 0..=longest.max(from) {
            let mut classes = Vec::new();
            for hits in 0..1u32 << contains.len() {
                let applies = |place: usize| contains[place].from <= index;
                if (0..contains.len()).any(|place| hits >> place & 1 == 1 && !applies(place)) {
                    continue;
                }
                let counted = (0..contains.len()).filter(|&place| applies(place)).filter_map(|place| {
                    let schema = contains[place].schema;
                    if hits >> place & 1 == 1 {
                        Some(schema)
                    } else {
                        self.schemas.negations.get(&schema).copied()
                    }
                });
                let schemas: Vec<SchemaId> =
                    bases.iter().filter_map(|base| base.array.item(index)).chain(counted).collect();
                let value = self.whole(schemas);
                if !self.is_never(value) || contains.is_empty() {
                    classes.push(ItemClass { value, hits });
                }
            }
            items.push(classes);
        }
        Ok(ArrayShape {
            items,
            count: bases.iter().fold(Counts::default(), |all, base| all.intersection(&base.array.count)),
            contains: contains.iter().map(|contains| contains.count).collect(),
            unique: ids.iter().zip(bases).find(|(_, base)| base.array.unique).map(|(&id, _)| id),
        })
    }

    fn object(&mut self, ids: &[SchemaId], bases: &[Rc<Schema<'a>>]) -> Result<ObjectShape<'a>> {
        let required: FxHashSet<&str> =
            bases.iter().flat_map(|base| base.object.required.iter().copied()).collect();
        let names_schemas: Vec<SchemaId> = bases.iter().filter_map(|base| base.object.names).collect();
        let listed = self.listed_names(&names_schemas)?;
        let mut seen = FxHashSet::default();
        let declared = declared_names(bases);
        let names = declared.into_iter().chain(listed.iter().flatten().copied());
        let mut members = Vec::new();
        for name in names.filter(|name| seen.insert(*name)) {
            let mut schemas = self.schemas_of_member(bases, name)?;
            if !self.name_satisfies(&names_schemas, name)? {
                schemas.push(self.schemas.never());
            }
            members.push(MemberShape { name, value: self.whole(schemas), required: required.contains(name) });
        }
        let rest =
            if listed.is_some() { Vec::new() } else { self.rest(ids, bases, &names_schemas, &members)? };
        let one = self.one_undeclared(ids, bases, &rest)?;
        let count = bases.iter().fold(Counts::default(), |all, base| all.intersection(&base.object.count));
        Ok(ObjectShape { members, rest, one, count })
    }

    /// What the member of a name must satisfy.
    fn schemas_of_member(&mut self, bases: &[Rc<Schema<'a>>], name: &str) -> Result<Vec<SchemaId>> {
        let mut schemas = Vec::new();
        for base in bases {
            let before = schemas.len();
            schemas.extend(base.object.by_name.get(name));
            for &(pattern, schema) in &base.object.patterns {
                if self.validator.passes(base, StringTest::Pattern(pattern), name)? {
                    schemas.push(schema);
                }
            }
            if schemas.len() == before {
                schemas.extend(base.object.additional);
            }
        }
        Ok(schemas)
    }

    fn name_satisfies(&mut self, names: &[SchemaId], name: &str) -> Result<bool> {
        let parts: Vec<Part> = names.iter().copied().map(Part::whole).collect();
        self.validator.satisfies(&self.schemas, &parts, &Value::from(name))
    }

    /// If the schemas of names list them, the names that are possible.
    fn listed_names(&mut self, names: &[SchemaId]) -> Result<Option<Vec<&'a str>>> {
        let parts: Vec<Part> = names.iter().copied().map(Part::whole).collect();
        let (bases, _) = super::conjunction::unfold(&self.schemas, &parts);
        let lists: Vec<&'a Value<'a>> = match bases.iter().find_map(|&id| self.schemas.get(id).values.first())
        {
            Some(list) => list.values.clone(),
            None => return Ok(None),
        };
        let mut listed = Vec::new();
        for name in lists.into_iter().filter_map(Value::as_str) {
            if self.name_satisfies(names, name)? {
                listed.push(name);
            }
        }
        Ok(Some(listed))
    }

    /// Classes of names that are not declared: by the patterns that match them, as few tests as tell apart
    /// what their values must be.
    fn rest(
        &mut self,
        ids: &[SchemaId],
        bases: &[Rc<Schema<'a>>],
        names_schemas: &[SchemaId],
        members: &[MemberShape<'a>],
    ) -> Result<Vec<RestShape<'a>>> {
        let mut tests: Vec<Test<'a>> = Vec::new();
        for (&schema, base) in ids.iter().zip(bases) {
            for &(pattern, _) in &base.object.patterns {
                let test = StringTest::Pattern(pattern);
                if !tests.iter().any(|known| known.test == test) {
                    tests.push(Test { schema, test, holds: true });
                }
            }
        }
        if tests.len() > MAX_PATTERNS {
            let pointer = bases.first().map_or("", |base| base.pointer.as_str());
            return Err(errors::too_many_patterns(pointer, MAX_PATTERNS));
        }
        // for every set of matching patterns, what holds of the value
        let mut values = Vec::with_capacity(1 << tests.len());
        for matching in 0..1usize << tests.len() {
            let mut schemas = Vec::new();
            for base in bases {
                let before = schemas.len();
                let holds = |pattern: &str| {
                    let test = StringTest::Pattern(pattern);
                    tests
                        .iter()
                        .position(|known| known.test == test)
                        .is_some_and(|at| matching >> at & 1 == 1)
                };
                schemas
                    .extend(base.object.patterns.iter().filter(|(p, _)| holds(p)).map(|(_, schema)| *schema));
                if schemas.len() == before {
                    schemas.extend(base.object.additional);
                }
            }
            values.push(self.whole(schemas));
        }
        let cubes = super::cubes::cover(&values, tests.len());
        let mut rest = Vec::new();
        for (cube, value) in cubes {
            if self.is_never(value) {
                continue;
            }
            let cared = tests.iter().enumerate().filter(|(at, _)| cube.care >> at & 1 == 1);
            let passing = cared.map(|(at, test)| Test { holds: cube.holds >> at & 1 == 1, ..*test });
            let passing: Vec<Test<'a>> = passing.collect();
            let mut others = Vec::new();
            for member in members {
                let mut passes = self.name_satisfies(names_schemas, member.name)?;
                for test in &passing {
                    let schema = self.schemas.get(test.schema);
                    passes = passes && self.validator.passes(schema, test.test, member.name)? == test.holds;
                }
                if passes {
                    others.push(member.name);
                }
            }
            let strings = (!names_schemas.is_empty()).then(|| {
                let string = self.schemas.strings();
                self.whole(names_schemas.iter().copied().chain([string]))
            });
            rest.push(RestShape { tests: passing, others, strings, value });
        }
        Ok(rest)
    }

    /// The member of an undeclared name that there must be, if there must be one. Where there must be several, they
    /// are one that is all of them.
    fn one_undeclared(
        &mut self,
        ids: &[SchemaId],
        bases: &[Rc<Schema<'a>>],
        rest: &[RestShape<'a>],
    ) -> Result<Option<Vec<RestShape<'a>>>> {
        let some: Vec<(SchemaId, SomeMember<'a>)> = ids
            .iter()
            .zip(bases)
            .flat_map(|(&id, base)| base.object.some.iter().map(move |some| (id, some.clone())))
            .collect();
        let Some((first, _)) = some.first() else { return Ok(None) };
        if some.len() > 1 {
            self.narrowed.push(errors::narrowed(&self.schemas.get(*first).pointer));
        }
        let mut classes = rest.to_vec();
        for (id, some) in some {
            for class in &mut classes {
                class.value = self.with(class.value, [some.value]);
                class.others.extend(&some.other_than);
                match some.names {
                    NameClass::Matching(pattern) => {
                        let test = Test { schema: id, test: StringTest::Pattern(pattern), holds: true };
                        class.tests.push(test);
                    }
                    NameClass::Satisfying(names) => {
                        let string = self.schemas.strings();
                        let all = class.strings.unwrap_or_else(|| self.whole([string]));
                        class.strings = Some(self.with(all, [names]));
                    }
                    NameClass::AdditionalTo(schema) => {
                        let object = self.schemas.get(schema).object.clone();
                        class.others.extend(object.properties.iter().map(|(name, _)| *name));
                        class.tests.extend(object.patterns.iter().map(|&(pattern, _)| Test {
                            schema,
                            test: StringTest::Pattern(pattern),
                            holds: false,
                        }));
                    }
                }
                class.tests.dedup();
                class.others.sort_unstable();
                class.others.dedup();
            }
        }
        Ok(Some(classes))
    }

    /// For every "there is a member" among the schemas, the declared members that it may be, as alternatives beside
    /// that it is none of these; and the schemas for which that was done.
    pub(super) fn some_members(
        &mut self,
        ids: &[SchemaId],
        bases: &[Rc<Schema<'a>>],
    ) -> Result<(Vec<Vec<SchemaId>>, Vec<SchemaId>)> {
        let (mut choices, mut resolved) = (Vec::new(), Vec::new());
        if bases.iter().all(|base| base.object.some.is_empty()) {
            return Ok((choices, resolved));
        }
        let declared = declared_names(bases);
        let is_never = |id| self.schemas.get(id).types == TypeSet::NONE;
        let is_closed = |base: &Rc<Schema<'a>>| {
            base.object.patterns.is_empty() && base.object.additional.is_some_and(is_never)
        };
        let is_closed = bases.iter().any(is_closed);
        for (&id, base) in ids.iter().zip(bases) {
            for some in &base.object.some {
                let mut alternatives = Vec::new();
                for &name in declared.iter().filter(|name| !some.other_than.contains(name)) {
                    if self.validator.is_of_class(&self.schemas, base, some, name)? {
                        alternatives.push(self.required_member(&base.pointer, name, some.value));
                    }
                }
                if is_closed || !alternatives.is_empty() {
                    if !is_closed {
                        alternatives.push(self.undeclared_member(id, &declared));
                    }
                    choices.push(alternatives);
                    resolved.push(id);
                }
            }
        }
        Ok((choices, resolved))
    }

    /// A schema that asks for some member, made to ask for one of yet another name.
    fn undeclared_member(&mut self, id: SchemaId, declared: &[&'a str]) -> SchemaId {
        let key = (id, declared.to_vec());
        if let Some(&known) = self.undeclared.get(&key) {
            return known;
        }
        let mut schema = Schema::clone(self.schemas.get(id));
        for some in &mut schema.object.some {
            let new = declared.iter().filter(|name| !some.other_than.contains(name));
            let new: Vec<&'a str> = new.copied().collect();
            some.other_than.extend(new);
        }
        let made = self.schemas.push(schema);
        self.undeclared.insert(key, made);
        made
    }

    /// The schema of the objects that have a member of a name with a value of a schema.
    fn required_member(&mut self, pointer: &str, name: &'a str, value: SchemaId) -> SchemaId {
        if let Some(&known) = self.required_members.get(&(name, value)) {
            return known;
        }
        let mut schema = Schema::of_types(pointer, TypeSet::OBJECT);
        schema.object.declare(name, value);
        schema.object.required.push(name);
        let made = self.schemas.push(schema);
        self.required_members.insert((name, value), made);
        made
    }
}

/// The names that the schemas speak of, each once: first properties, then names that are only required.
fn declared_names<'a>(bases: &[Rc<Schema<'a>>]) -> Vec<&'a str> {
    let declared = bases.iter().flat_map(|base| base.object.properties.iter().map(|(name, _)| *name));
    let undeclared = bases.iter().flat_map(|base| base.object.required.iter().copied());
    let mut seen = FxHashSet::default();
    declared.chain(undeclared).filter(|name| seen.insert(*name)).collect()
}
