//! Merges the assertions of several schemas on objects: the members of declared names, and the classes of other names.

use super::conjunction::ConjunctionId;
use super::cubes::{self, Cube, Outcomes};
use super::normalizer::Normalizer;
use super::shape::{MemberShape, ObjectShape, RestShape, Test};
use super::unfold::{Bases, unfold};
use super::{exclusive, matching, validate};
use crate::error::Result;
use crate::syntax::json_schema::errors;
use crate::syntax::json_schema::model::assertion::{NameSet, ObjectPart, TypeSet};
use crate::syntax::json_schema::model::schema::Schema;
use crate::syntax::json_schema::model::schema_id::{Part, SchemaId};
use crate::syntax::json_schema::strings::string_test::StringTest;
use crate::syntax::json_schema::values::counts::Counts;
use crate::syntax::json_schema::values::json::Value;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::rc::Rc;

/// Greatest number of schemas that are all examined for each member; with more, an index is used.
const FEW_BASES: usize = 16;

/// Returns the shape of objects that satisfy schemas without conditions on their members.
pub(super) fn object<'a>(
    n: &mut Normalizer<'a>,
    ids: &[SchemaId],
    bases: &[Rc<Schema<'a>>],
) -> Result<ObjectShape<'a>> {
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
    let listed = listed_names(n, &names_schemas)?;
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
    n.spend(names.len().saturating_mul(bases.len().min(FEW_BASES)))?;
    let speaking = (bases.len() > FEW_BASES).then(|| Speaking::of(bases));
    let mut members = Vec::with_capacity(names.len());
    for name in names {
        let some = speaking.as_ref().map(|speaking| speaking.about(name));
        let mut schemas = schemas_of_member(n, some.as_deref().unwrap_or(bases), name)?;
        if !name_satisfies(n, &names_schemas, name)? {
            schemas.push(n.schemas.never());
        }
        members.push(MemberShape { name, value: n.whole(schemas), required: required.contains(name) });
    }
    let rest = if listed.is_some() { Vec::new() } else { rest(n, ids, bases, &names_schemas, &members)? };
    let (ones, conditions) = Default::default();
    Ok(ObjectShape { members, rest, ones, conditions, count })
}

/// Returns the schemas that the value of a member must satisfy.
pub(super) fn schemas_of_member<'a>(
    n: &Normalizer<'a>,
    bases: &[Rc<Schema<'a>>],
    name: &str,
) -> Result<Bases> {
    let mut schemas = Bases::new();
    for base in bases {
        // the others do not restrict the value of a present member
        let ObjectPart { properties, required: _, patterns, additional, count: _, names: _, some: _ } =
            &*base.object;
        let before = schemas.len();
        n.spend(patterns.len())?;
        schemas.extend(properties.get(name));
        for &(pattern, schema) in patterns {
            if validate::passes(&n.schemas, base, StringTest::Pattern(pattern), name)? {
                schemas.push(schema);
            }
        }
        if schemas.len() == before {
            schemas.extend(*additional);
        }
    }
    Ok(schemas)
}

pub(super) fn name_satisfies(n: &Normalizer<'_>, names: &[SchemaId], name: &str) -> Result<bool> {
    if names.is_empty() {
        return Ok(true);
    }
    let parts: Vec<Part> = names.iter().copied().map(Part::whole).collect();
    validate::satisfies(&n.schemas, &parts, &Value::from(name))
}

/// Returns the possible names, if the schemas of `propertyNames` list them.
pub(super) fn listed_names<'a>(n: &Normalizer<'a>, names: &[SchemaId]) -> Result<Option<Vec<&'a str>>> {
    if names.is_empty() {
        return Ok(None);
    }
    let parts: Vec<Part> = names.iter().copied().map(Part::whole).collect();
    let bases = unfold(&n.schemas, &parts).bases;
    let lists: Vec<&'a Value<'a>> = match bases.iter().find_map(|&id| n.schemas.get(id).values.first()) {
        Some(list) => list.values.clone(),
        None => return Ok(None),
    };
    let mut listed = Vec::new();
    for name in lists.into_iter().filter_map(Value::as_str) {
        if name_satisfies(n, names, name)? {
            listed.push(name);
        }
    }
    Ok(Some(listed))
}

/// Returns the classes of undeclared names. A class has only the tests needed to distinguish what the values must
/// satisfy.
pub(super) fn rest<'a>(
    n: &mut Normalizer<'a>,
    ids: &[SchemaId],
    bases: &[Rc<Schema<'a>>],
    names_schemas: &[SchemaId],
    members: &[MemberShape<'a>],
) -> Result<Vec<RestShape<'a>>> {
    let mut tests: Vec<Test<'a>> = Vec::new();
    for (&schema, base) in ids.iter().zip(bases) {
        n.spend(base.object.patterns.len())?;
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
            let value = n.whole(bases.iter().filter_map(|base| base.object.additional));
            vec![(Cube::ALL, value)]
        }
        false => cubes(n, bases, &tests)?,
    };
    let mut rest = Vec::new();
    n.spend(cubes.len().saturating_mul(1 + tests.len() + members.len()))?;
    for (cube, value) in cubes {
        if n.is_never(value) {
            continue;
        }
        let cared = tests.iter().enumerate().filter(|(at, _)| cube.care >> at & 1 == 1);
        let passing = cared.map(|(at, test)| Test { holds: cube.holds >> at & 1 == 1, ..*test });
        let passing: Vec<Test<'a>> = passing.collect();
        // without tests, all members with a possible name are added
        let mut others = Vec::with_capacity(if passing.is_empty() { members.len() } else { 0 });
        for member in members {
            let mut passes = name_satisfies(n, names_schemas, member.name)?;
            for test in &passing {
                let schema = n.schemas.get(test.schema);
                passes =
                    passes && validate::passes(&n.schemas, schema, test.test, member.name)? == test.holds;
            }
            if passes {
                others.push(member.name);
            }
        }
        let strings = (!names_schemas.is_empty()).then(|| {
            let string = n.schemas.of_types(TypeSet::STRING);
            n.whole(names_schemas.iter().copied().chain([string]))
        });
        rest.push(RestShape { tests: passing, others, strings, value });
    }
    Ok(rest)
}

/// Returns what the values of undeclared members must satisfy, by the outcomes of the tests that make a difference.
fn cubes<'a>(
    n: &mut Normalizer<'a>,
    bases: &[Rc<Schema<'a>>],
    tests: &[Test<'a>],
) -> Result<Vec<(Cube, ConjunctionId)>> {
    let patterns: Vec<&'a str> = tests.iter().map(|test| test.test.value()).collect();
    let combinations = match n.memo.beginnings.combinations(&patterns, &n.schemas.listed) {
        Some(combinations) => Some(combinations),
        None => matching::sets(&patterns, &n.schemas.work)?,
    };
    let Some(combinations) = combinations else {
        let pointer = bases.first().map_or("", |base| base.pointer);
        return Err(errors::too_many_patterns(pointer, exclusive::MOST));
    };
    let own = bases.iter().map(|base| 1 + base.object.patterns.len()).sum::<usize>();
    n.spend(combinations.len().saturating_mul(own))?;
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
        values.push((matching, n.whole(schemas)));
    }
    Ok(cubes::cover(&values, tests.len()))
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

/// Returns the names that the schemas mention, without duplicates: first properties, then names that are only required.
pub(super) fn declared_names<'a>(bases: &[Rc<Schema<'a>>]) -> Vec<&'a str> {
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
