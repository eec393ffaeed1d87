//! Merges the assertions of several schemas, type by type.

use super::conjunction::{Bases, ConjunctionId, Conjunctions, unfold};
use super::cubes::{self, Cube, Outcomes};
use super::shape::{MemberShape, ObjectShape, RestShape, Test, Typed};
use super::{exclusive, matching, validate};
use crate::error::Result;
use crate::syntax::json_schema::errors;
use crate::syntax::json_schema::model::assertion::{
    NameClass, NameSet, ObjectPart, SomeMember, StringPart, TypeSet,
};
use crate::syntax::json_schema::model::numbers;
use crate::syntax::json_schema::model::schema::Schema;
use crate::syntax::json_schema::model::schema_id::{Part, SchemaId};
use crate::syntax::json_schema::strings::listed;
use crate::syntax::json_schema::strings::string_test::StringTest;
use crate::syntax::json_schema::values::counts::Counts;
use crate::syntax::json_schema::values::json::Value;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::rc::Rc;

/// Greatest number of patterns whose strings are listed as names.
const MAX_LISTED: usize = 256;
/// Greatest number of schemas that are all examined for each member; with more, an index is used.
const FEW_BASES: usize = 16;
/// Steps of work to copy a divisor.
const DIVISOR_WORK: usize = 8;
/// Greatest number of members of undeclared names that one object may be required to have.
const MAX_SOME: usize = 5;

/// Members of undeclared names that are present at most once each, by class of names.
type Ones<'a> = Vec<Vec<RestShape<'a>>>;

impl<'a> Conjunctions<'a> {
    /// Returns the shape of schemas without alternatives.
    pub(in crate::syntax::json_schema) fn typed(
        &mut self,
        ids: &[SchemaId],
        bases: &[Rc<Schema<'a>>],
    ) -> Result<Typed<'a>> {
        let mut joined = Typed::default();
        let Typed { types, number, length, tests, excluded, array, object } = &mut joined;
        for (&schema, base) in ids.iter().zip(bases) {
            let Schema {
                pointer: _,
                types: own_types,
                number: own_number,
                string,
                // handled below, if the types include arrays and objects
                array: _,
                object: _,
                // schemas that list values have the shape `Values`
                values: _,
                excluded: own_excluded,
                // `unfold` has followed these: `bases` are the schemas that they reach
                conjuncts: _,
                any_of: _,
                unevaluated: _,
                applied: _,
                is_bare: _,
                is_written: _,
            } = &**base;
            *types = types.intersection(*own_types);
            if let Some(own) = own_number.said() {
                self.work.spend(DIVISOR_WORK * (number.divisors() + own.divisors()))?;
                **number = match number.said() {
                    Some(others) => numbers::intersection(others, own),
                    None => own.clone(),
                };
            }
            let StringPart { length: own_length, tests: own_tests } = &**string;
            *length = length.intersection(own_length);
            self.work.spend(own_tests.len() + own_excluded.len())?;
            tests.extend(own_tests.iter().map(|&(test, holds)| Test { schema, test, holds }));
            excluded.extend(own_excluded);
        }
        each_once(tests);
        if types.contains(TypeSet::ARRAY) {
            *array = Some(Box::new(self.array(ids, bases)?));
        }
        if types.contains(TypeSet::OBJECT) {
            *object = Some(Box::new(match bases.iter().all(|base| base.object.some.is_empty()) {
                true => self.object(ids, bases)?,
                false => self.conditional_object(ids, bases, Vec::new())?,
            }));
        }
        Ok(joined)
    }

    fn object(&mut self, ids: &[SchemaId], bases: &[Rc<Schema<'a>>]) -> Result<ObjectShape<'a>> {
        let mut required = NameSet::default();
        let (mut names_schemas, mut count) = (Vec::new(), Counts::default());
        for base in bases {
            let ObjectPart {
                // handled by `declared_names`, `schemas_of_member` and `rest`
                properties: _,
                patterns: _,
                additional: _,
                required: own_required,
                count: own_count,
                names,
                // `conditional_object` handles these
                some: _,
            } = &*base.object;
            own_required.iter().for_each(|name| {
                required.insert(name);
            });
            names_schemas.extend(names);
            count = count.intersection(own_count);
        }
        let listed = self.listed_names(&names_schemas)?;
        let patterns: FxHashSet<&str> =
            bases.iter().flat_map(|base| &base.object.patterns).map(|p| p.0).collect();
        if listed.is_none() && patterns.len() > Outcomes::BITS as usize {
            return Err(errors::too_many_patterns(bases[0].pointer, exclusive::MOST));
        }
        let mut names = declared_names(bases);
        if let Some(listed) = &listed {
            let mut seen: FxHashSet<&str> = names.iter().copied().collect();
            names.extend(listed.iter().filter(|name| seen.insert(name)));
        }
        self.work.spend(names.len().saturating_mul(bases.len().min(FEW_BASES)))?;
        let speaking = (bases.len() > FEW_BASES).then(|| Speaking::of(bases));
        let mut members = Vec::with_capacity(names.len());
        for name in names {
            let some = speaking.as_ref().map(|speaking| speaking.about(name));
            let mut schemas = self.schemas_of_member(some.as_deref().unwrap_or(bases), name)?;
            if !self.name_satisfies(&names_schemas, name)? {
                schemas.push(self.schemas.never());
            }
            members.push(MemberShape { name, value: self.whole(schemas), required: required.contains(name) });
        }
        let rest =
            if listed.is_some() { Vec::new() } else { self.rest(ids, bases, &names_schemas, &members)? };
        let (ones, conditions) = Default::default();
        Ok(ObjectShape { members, rest, ones, conditions, count })
    }

    /// Returns the schemas that the value of a member must satisfy.
    pub(in crate::syntax::json_schema) fn schemas_of_member(
        &mut self,
        bases: &[Rc<Schema<'a>>],
        name: &str,
    ) -> Result<Bases> {
        let mut schemas = Bases::new();
        for base in bases {
            // the others do not restrict the value of a present member
            let ObjectPart { properties, required: _, patterns, additional, count: _, names: _, some: _ } =
                &*base.object;
            let before = schemas.len();
            self.work.spend(patterns.len())?;
            schemas.extend(properties.get(name));
            for &(pattern, schema) in patterns {
                if validate::passes(&self.schemas, base, StringTest::Pattern(pattern), name)? {
                    schemas.push(schema);
                }
            }
            if schemas.len() == before {
                schemas.extend(*additional);
            }
        }
        Ok(schemas)
    }

    pub(in crate::syntax::json_schema) fn name_satisfies(
        &mut self,
        names: &[SchemaId],
        name: &str,
    ) -> Result<bool> {
        if names.is_empty() {
            return Ok(true);
        }
        let parts: Vec<Part> = names.iter().copied().map(Part::whole).collect();
        validate::satisfies(&self.schemas, &parts, &Value::from(name))
    }

    /// Returns the possible names, if the schemas of `propertyNames` list them.
    pub(in crate::syntax::json_schema) fn listed_names(
        &mut self,
        names: &[SchemaId],
    ) -> Result<Option<Vec<&'a str>>> {
        if names.is_empty() {
            return Ok(None);
        }
        let parts: Vec<Part> = names.iter().copied().map(Part::whole).collect();
        let bases = unfold(&self.schemas, &parts).bases;
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

    /// Returns the classes of undeclared names. A class has only the tests needed to distinguish what the values must
    /// satisfy.
    pub(in crate::syntax::json_schema) fn rest(
        &mut self,
        ids: &[SchemaId],
        bases: &[Rc<Schema<'a>>],
        names_schemas: &[SchemaId],
        members: &[MemberShape<'a>],
    ) -> Result<Vec<RestShape<'a>>> {
        let mut tests: Vec<Test<'a>> = Vec::new();
        for (&schema, base) in ids.iter().zip(bases) {
            self.work.spend(base.object.patterns.len())?;
            for &(pattern, _) in &base.object.patterns {
                let test = StringTest::Pattern(pattern);
                // with more of them there are too many combinations, see `cubes`
                if tests.len() <= Outcomes::BITS as usize && !tests.iter().any(|known| known.test == test) {
                    tests.push(Test { schema, test, holds: true });
                }
            }
        }
        let cubes = match tests.is_empty() {
            true => {
                let value = self.whole(bases.iter().filter_map(|base| base.object.additional));
                vec![(Cube::ALL, value)]
            }
            false => self.cubes(bases, &tests)?,
        };
        let mut rest = Vec::new();
        self.work.spend(cubes.len().saturating_mul(1 + tests.len() + members.len()))?;
        for (cube, value) in cubes {
            if self.is_never(value) {
                continue;
            }
            let cared = tests.iter().enumerate().filter(|(at, _)| cube.care >> at & 1 == 1);
            let passing = cared.map(|(at, test)| Test { holds: cube.holds >> at & 1 == 1, ..*test });
            let passing: Vec<Test<'a>> = passing.collect();
            // without tests, all members with a possible name are added
            let mut others = Vec::with_capacity(if passing.is_empty() { members.len() } else { 0 });
            for member in members {
                let mut passes = self.name_satisfies(names_schemas, member.name)?;
                for test in &passing {
                    let schema = self.schemas.get(test.schema);
                    passes = passes
                        && validate::passes(&self.schemas, schema, test.test, member.name)? == test.holds;
                }
                if passes {
                    others.push(member.name);
                }
            }
            let strings = (!names_schemas.is_empty()).then(|| {
                let string = self.schemas.of_types(TypeSet::STRING);
                self.whole(names_schemas.iter().copied().chain([string]))
            });
            rest.push(RestShape { tests: passing, others, strings, value });
        }
        Ok(rest)
    }

    /// Returns what the values of undeclared members must satisfy, by the outcomes of the tests that make a difference.
    fn cubes(&mut self, bases: &[Rc<Schema<'a>>], tests: &[Test<'a>]) -> Result<Vec<(Cube, ConjunctionId)>> {
        let patterns: Vec<&'a str> = tests.iter().map(|test| test.test.value()).collect();
        let combinations = match self.beginnings.combinations(&patterns, &self.schemas.listed) {
            Some(combinations) => Some(combinations),
            None => matching::sets(&patterns, &self.work)?,
        };
        let Some(combinations) = combinations else {
            let pointer = bases.first().map_or("", |base| base.pointer);
            return Err(errors::too_many_patterns(pointer, exclusive::MOST));
        };
        let own = bases.iter().map(|base| 1 + base.object.patterns.len()).sum::<usize>();
        self.work.spend(combinations.len().saturating_mul(own))?;
        // for each set of matching patterns, what the value must satisfy
        let mut values = Vec::with_capacity(combinations.len());
        for matching in combinations {
            let mut schemas = Bases::new();
            for base in bases {
                // undeclared names are not among the properties; the others do not restrict values
                let ObjectPart {
                    properties: _,
                    required: _,
                    patterns: own,
                    additional,
                    count: _,
                    names: _,
                    some: _,
                } = &*base.object;
                let before = schemas.len();
                let holds = |pattern: &str| {
                    let at = patterns.iter().position(|&known| known == pattern);
                    at.is_some_and(|at| matching >> at & 1 == 1)
                };
                schemas.extend(own.iter().filter(|(p, _)| holds(p)).map(|(_, schema)| *schema));
                if schemas.len() == before {
                    schemas.extend(*additional);
                }
            }
            values.push((matching, self.whole(schemas)));
        }
        Ok(cubes::cover(&values, tests.len()))
    }

    /// Returns entries for the required members of undeclared names. For each non-empty set of these, one entry
    /// describes a member that is all of them at once; the entries are numbered from `place` on. Also returns, for each
    /// required member, the entries that satisfy it.
    pub(in crate::syntax::json_schema) fn ones(
        &mut self,
        some: &[(SchemaId, SomeMember<'a>)],
        rest: &[RestShape<'a>],
        place: usize,
    ) -> Result<(Ones<'a>, Vec<Vec<u32>>)> {
        if some.len() > MAX_SOME {
            let pointer = self.schemas.get(some[0].0).pointer;
            return Err(errors::too_many_members(pointer, MAX_SOME));
        }
        let others = rest.iter().map(|class| 1 + class.others.len() + class.tests.len()).sum::<usize>();
        self.work.spend(others << some.len())?;
        let mut ones = vec![rest.to_vec()];
        for (id, some) in some {
            for before in 0..ones.len() {
                let mut classes = Vec::with_capacity(ones[before].len());
                for class in ones[before].clone() {
                    classes.extend(self.with_some(class, (*id, some))?);
                }
                ones.push(classes);
            }
        }
        let entries = |at: usize| (1..ones.len()).filter(move |set| set >> at & 1 == 1);
        let entries = |at: usize| entries(at).map(|set| (place + set - 1) as u32).collect();
        let entries = (0..some.len()).map(entries).collect();
        ones.remove(0);
        for classes in &mut ones {
            classes.retain(|class| !self.is_never(class.value));
        }
        Ok((ones, entries))
    }

    /// Restricts a class to the members that satisfy a requirement; `None` if there is surely no such member.
    ///
    /// # Errors
    /// No work left.
    fn with_some(
        &mut self,
        mut class: RestShape<'a>,
        (id, some): (SchemaId, &SomeMember<'a>),
    ) -> Result<Option<RestShape<'a>>> {
        let SomeMember { names, value: own_value, other_than } = some;
        let RestShape { tests, others, strings, value } = &mut class;
        // the shape of a conjunction is computed once it has an id, even if no member needs it
        if self.excludes(*value, *own_value)? {
            return Ok(None);
        }
        others.extend(other_than);
        match *names {
            NameClass::Matching(pattern) => {
                tests.push(Test { schema: id, test: StringTest::Pattern(pattern), holds: true });
            }
            NameClass::Satisfying(names) => {
                let string = self.schemas.of_types(TypeSet::STRING);
                let all = strings.unwrap_or_else(|| self.whole([string]));
                *strings = Some(self.with(all, [names]));
            }
            NameClass::AdditionalTo(schema) => {
                let object = &self.schemas.get(schema).object;
                others.extend(object.properties.names());
                tests.extend(object.patterns.iter().map(|&(pattern, _)| Test {
                    schema,
                    test: StringTest::Pattern(pattern),
                    holds: false,
                }));
            }
        }
        tests.dedup();
        self.work.spend(tests.len().saturating_mul(tests.len()))?;
        if self.beginnings.exclude_each_other(tests, &self.schemas.listed) {
            return Ok(None);
        }
        others.sort_unstable();
        others.dedup();
        *value = self.with(*value, [*own_value]);
        Ok(Some(class))
    }

    /// For each "there is such a member" among the schemas, returns the declared members that satisfy it, as
    /// alternatives, with one more alternative for an undeclared member. Also returns the schemas for which this was
    /// done.
    pub(in crate::syntax::json_schema) fn some_members(
        &mut self,
        ids: &[SchemaId],
        bases: &[Rc<Schema<'a>>],
    ) -> Result<(Vec<Vec<SchemaId>>, Vec<SchemaId>)> {
        let (mut choices, mut resolved) = (Vec::new(), Vec::new());
        if bases.iter().all(|base| base.object.some.is_empty()) {
            return Ok((choices, resolved));
        }
        let names_schemas: Vec<SchemaId> = bases.iter().filter_map(|base| base.object.names).collect();
        let listed = self.listed_names(&names_schemas)?;
        // names that `propertyNames` admits, if a pattern lists them
        let admitted = names_schemas.iter().find_map(|&id| self.names_of_class(NameClass::Satisfying(id)));
        let mut declared = declared_names(bases);
        declared.extend(listed.iter().flatten());
        let mut is_closed = listed.is_some();
        for base in bases {
            // `declared` has the names of properties and required members; the others admit no further names
            let ObjectPart { properties: _, required: _, patterns, additional, count: _, names: _, some: _ } =
                &*base.object;
            let is_never = |id| self.schemas.get(id).types == TypeSet::NONE;
            if !additional.is_some_and(is_never) {
                continue;
            }
            // without additional members, the names are those of the patterns, if these list them
            let patterns = patterns.iter().map(|(pattern, _)| StringTest::Pattern(pattern));
            let names = patterns.map(|test| self.strings_of(test)).collect::<Option<Vec<_>>>();
            is_closed |= names.is_some();
            declared.extend(names.into_iter().flatten().flatten());
        }
        for (&id, base) in ids.iter().zip(bases) {
            for some in &base.object.some {
                let mut alternatives = Vec::new();
                let names = self.names_of_class(some.names).or_else(|| admitted.clone());
                let is_closed = is_closed || names.is_some();
                let mut seen = FxHashSet::default();
                self.work.spend(declared.len() + names.as_ref().map_or(0, Vec::len))?;
                let names = declared.iter().copied().chain(names.into_iter().flatten());
                for name in names.filter(|name| seen.insert(*name) && !some.other_than.contains(name)) {
                    if validate::is_of_class(&self.schemas, base, some, name)? {
                        alternatives.push(self.required_member(base.pointer, name, some.value));
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

    /// Returns all names of a class, if its schema or pattern lists them. Some of them may not be in the class.
    fn names_of_class(&mut self, class: NameClass<'a>) -> Option<Vec<&'a str>> {
        match class {
            NameClass::AdditionalTo(_) => None,
            NameClass::Matching(pattern) => self.strings_of(StringTest::Pattern(pattern)),
            NameClass::Satisfying(names) => {
                let bases = unfold(&self.schemas, &[Part::whole(names)]).bases;
                for id in bases {
                    let schema = Rc::clone(self.schemas.get(id));
                    if let Some(list) = schema.values.first() {
                        return Some(list.values.iter().filter_map(|value| value.as_str()).collect());
                    }
                    if schema.string.length.max == Some(0) {
                        return Some(vec![""]);
                    }
                    for &(test, _) in schema.string.tests.iter().filter(|(_, holds)| *holds) {
                        if let Some(strings) = self.strings_of(test) {
                            return Some(strings);
                        }
                    }
                }
                None
            }
        }
    }

    /// Returns all strings that pass a test, if it lists them.
    fn strings_of(&mut self, test: StringTest<'a>) -> Option<Vec<&'a str>> {
        if let Some(known) = self.strings.get(&test) {
            return known.clone();
        }
        let listed = self.schemas.listed.by(test).filter(|_| self.strings.len() < MAX_LISTED);
        let arena = self.arena;
        let kept =
            |listed: listed::Strings| listed.iter().map(|text| &*arena.alloc_str(text)).collect::<Vec<_>>();
        let strings = listed.map(kept);
        self.strings.insert(test, strings.clone());
        strings
    }

    /// Returns a variant of a schema that requires some member: the member has none of the declared names.
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

    /// Returns the schema of objects that have a member of this name, with a value that satisfies a schema.
    fn required_member(&mut self, pointer: &'a str, name: &'a str, value: SchemaId) -> SchemaId {
        if let Some(&known) = self.required_members.get(&(name, value)) {
            return known;
        }
        let mut schema = Schema::of_types(pointer, TypeSet::OBJECT);
        schema.object.properties.declare(name, value);
        schema.object.required.push(name);
        let made = self.schemas.push(schema);
        self.required_members.insert((name, value), made);
        made
    }
}

/// Index of many schemas by the members that they restrict.
struct Speaking<'b, 'a> {
    bases: &'b [Rc<Schema<'a>>],
    /// Indices of the schemas that may restrict any member.
    of_all: Vec<usize>,
    /// Indices of the other schemas, by the names that they declare.
    of_name: FxHashMap<&'a str, Vec<usize>>,
}

impl<'b, 'a> Speaking<'b, 'a> {
    fn of(bases: &'b [Rc<Schema<'a>>]) -> Speaking<'b, 'a> {
        let (mut of_all, mut of_name) = (Vec::new(), FxHashMap::<&'a str, Vec<usize>>::default());
        for (place, base) in bases.iter().enumerate() {
            // the same as in `schemas_of_member`
            let ObjectPart { properties, required: _, patterns, additional, count: _, names: _, some: _ } =
                &*base.object;
            if additional.is_some() || !patterns.is_empty() {
                of_all.push(place);
            } else {
                properties.names().for_each(|name| of_name.entry(name).or_default().push(place));
            }
        }
        Speaking { bases, of_all, of_name }
    }

    fn about(&self, name: &str) -> Vec<Rc<Schema<'a>>> {
        let named = self.of_name.get(name).into_iter().flatten();
        self.of_all.iter().chain(named).map(|&place| Rc::clone(&self.bases[place])).collect()
    }
}

/// Drops repeated tests.
fn each_once(tests: &mut Vec<Test<'_>>) {
    if tests.len() > 1 {
        let mut seen = FxHashSet::default();
        tests.retain(|test| seen.insert((test.test, test.holds)));
    }
}

/// Returns the names that the schemas mention, without duplicates: first properties, then names that are only required.
pub(in crate::syntax::json_schema) fn declared_names<'a>(bases: &[Rc<Schema<'a>>]) -> Vec<&'a str> {
    if let [base] = bases
        && base.object.required.iter().all(|name| base.object.properties.contains(name))
    {
        return base.object.properties.names().collect();
    }
    let declared = bases.iter().flat_map(|base| base.object.properties.names());
    let undeclared = bases.iter().flat_map(|base| base.object.required.iter().copied());
    let count = bases.iter().map(|base| base.object.properties.list().len()).sum();
    let mut seen = FxHashSet::with_capacity_and_hasher(count, FxBuildHasher);
    let mut names = Vec::with_capacity(count);
    names.extend(declared.chain(undeclared).filter(|name| seen.insert(*name)));
    names
}
