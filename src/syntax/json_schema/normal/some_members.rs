//! Members of undeclared names that an object must have: those that fail a schema of further members, for example.

use super::members::{declared_names, listed_names};
use super::normalizer::Normalizer;
use super::shape::{RestShape, Test};
use super::unfold::unfold;
use super::validate;
use crate::error::Result;
use crate::syntax::json_schema::errors;
use crate::syntax::json_schema::model::assertion::{NameClass, ObjectPart, SomeMember, TypeSet};
use crate::syntax::json_schema::model::schema::Schema;
use crate::syntax::json_schema::model::schema_id::{Part, SchemaId};
use crate::syntax::json_schema::strings::string_test::StringTest;
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// Greatest number of members of undeclared names that one object may be required to have.
const MAX_SOME: usize = 5;

/// Members of undeclared names that are present at most once each, by class of names.
type Ones<'a> = Vec<Vec<RestShape<'a>>>;

/// Returns entries for the required members of undeclared names. For each non-empty set of these, one entry
/// describes a member that is all of them at once; the entries are numbered from `place` on. Also returns, for each
/// required member, the entries that satisfy it.
pub(super) fn ones<'a>(
    n: &mut Normalizer<'a>,
    some: &[(SchemaId, SomeMember<'a>)],
    rest: &[RestShape<'a>],
    place: usize,
) -> Result<(Ones<'a>, Vec<Vec<u32>>)> {
    if some.len() > MAX_SOME {
        let pointer = n.schemas.get(some[0].0).pointer;
        return Err(errors::too_many_members(pointer, MAX_SOME));
    }
    let others = rest.iter().map(|class| 1 + class.others.len() + class.tests.len()).sum::<usize>();
    n.spend(others << some.len())?;
    let mut ones = vec![rest.to_vec()];
    for (id, some) in some {
        for before in 0..ones.len() {
            let mut classes = Vec::with_capacity(ones[before].len());
            for class in ones[before].clone() {
                classes.extend(with_some(n, class, (*id, some))?);
            }
            ones.push(classes);
        }
    }
    let entries = |at: usize| (1..ones.len()).filter(move |set| set >> at & 1 == 1);
    let entries = |at: usize| entries(at).map(|set| (place + set - 1) as u32).collect();
    let entries = (0..some.len()).map(entries).collect();
    ones.remove(0);
    for classes in &mut ones {
        classes.retain(|class| !n.is_never(class.value));
    }
    Ok((ones, entries))
}

/// Restricts a class to the members that satisfy a requirement; `None` if there is surely no such member.
///
/// # Errors
/// No work left.
fn with_some<'a>(
    n: &mut Normalizer<'a>,
    mut class: RestShape<'a>,
    (id, some): (SchemaId, &SomeMember<'a>),
) -> Result<Option<RestShape<'a>>> {
    let SomeMember { names, value: own_value, other_than } = some;
    let RestShape { tests, others, strings, value } = &mut class;
    // the shape of a conjunction is computed once it has an id, even if no member needs it
    if n.excludes(*value, *own_value)? {
        return Ok(None);
    }
    others.extend(other_than);
    match *names {
        NameClass::Matching(pattern) => {
            tests.push(Test { schema: id, test: StringTest::Pattern(pattern), holds: true });
        }
        NameClass::Satisfying(names) => {
            let string = n.schemas.of_types(TypeSet::STRING);
            let all = strings.unwrap_or_else(|| n.whole([string]));
            *strings = Some(n.with(all, [names]));
        }
        NameClass::AdditionalTo(schema) => {
            let object = &n.schemas.get(schema).object;
            others.extend(object.properties.names());
            tests.extend(object.patterns.iter().map(|&(pattern, _)| Test {
                schema,
                test: StringTest::Pattern(pattern),
                holds: false,
            }));
        }
    }
    tests.dedup();
    n.spend(tests.len().saturating_mul(tests.len()))?;
    if n.memo.beginnings.exclude_each_other(tests, &n.schemas.listed) {
        return Ok(None);
    }
    others.sort_unstable();
    others.dedup();
    *value = n.with(*value, [*own_value]);
    Ok(Some(class))
}

/// For each "there is such a member" among the schemas, returns the declared members that satisfy it, as
/// alternatives, with one more alternative for an undeclared member. Also returns the schemas for which this was
/// done.
pub(super) fn some_members<'a>(
    n: &mut Normalizer<'a>,
    ids: &[SchemaId],
    bases: &[Rc<Schema<'a>>],
) -> Result<(Vec<Vec<SchemaId>>, Vec<SchemaId>)> {
    let (mut choices, mut resolved) = (Vec::new(), Vec::new());
    if bases.iter().all(|base| base.object.some.is_empty()) {
        return Ok((choices, resolved));
    }
    let names_schemas: Vec<SchemaId> = bases.iter().filter_map(|base| base.object.names).collect();
    let listed = listed_names(n, &names_schemas)?;
    // names that `propertyNames` admits, if a pattern lists them
    let admitted = names_schemas.iter().find_map(|&id| names_of_class(n, NameClass::Satisfying(id)));
    let mut declared = declared_names(bases);
    declared.extend(listed.iter().flatten());
    let mut is_closed = listed.is_some();
    for base in bases {
        // `declared` has the names of properties and required members; the others admit no further names
        let ObjectPart { properties: _, required: _, patterns, additional, count: _, names: _, some: _ } =
            &*base.object;
        let is_never = |id| n.schemas.get(id).types == TypeSet::NONE;
        if !additional.is_some_and(is_never) {
            continue;
        }
        // without additional members, the names are those of the patterns, if these list them
        let patterns = patterns.iter().map(|(pattern, _)| StringTest::Pattern(pattern));
        let names = patterns.map(|test| n.strings_of(test)).collect::<Option<Vec<_>>>();
        is_closed |= names.is_some();
        declared.extend(names.into_iter().flatten().flatten());
    }
    for (&id, base) in ids.iter().zip(bases) {
        for some in &base.object.some {
            let mut alternatives = Vec::new();
            let names = names_of_class(n, some.names).or_else(|| admitted.clone());
            let is_closed = is_closed || names.is_some();
            let mut seen = FxHashSet::default();
            n.spend(declared.len() + names.as_ref().map_or(0, Vec::len))?;
            let names = declared.iter().copied().chain(names.into_iter().flatten());
            for name in names.filter(|name| seen.insert(*name) && !some.other_than.contains(name)) {
                if validate::is_of_class(&n.schemas, base, some, name)? {
                    alternatives.push(n.required_member(base.pointer, name, some.value));
                }
            }
            if is_closed || !alternatives.is_empty() {
                if !is_closed {
                    alternatives.push(n.undeclared_member(id, &declared));
                }
                choices.push(alternatives);
                resolved.push(id);
            }
        }
    }
    Ok((choices, resolved))
}

/// Returns all names of a class, if its schema or pattern lists them. Some of them may not be in the class.
fn names_of_class<'a>(n: &mut Normalizer<'a>, class: NameClass<'a>) -> Option<Vec<&'a str>> {
    match class {
        NameClass::AdditionalTo(_) => None,
        NameClass::Matching(pattern) => n.strings_of(StringTest::Pattern(pattern)),
        NameClass::Satisfying(names) => {
            let bases = unfold(&n.schemas, &[Part::whole(names)]).bases;
            for id in bases {
                let schema = Rc::clone(n.schemas.get(id));
                if let Some(list) = schema.values.first() {
                    return Some(list.values.iter().filter_map(|value| value.as_str()).collect());
                }
                if schema.string.length.max == Some(0) {
                    return Some(vec![""]);
                }
                for &(test, _) in schema.string.tests.iter().filter(|(_, holds)| *holds) {
                    if let Some(strings) = n.strings_of(test) {
                        return Some(strings);
                    }
                }
            }
            None
        }
    }
}
