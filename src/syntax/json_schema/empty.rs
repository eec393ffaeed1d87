//! A quick check whether schemas exclude each other: sound, not complete. It finds what distinguishes alternatives in
//! practice: types, listed values, and required members and items that exclude each other.

use super::assertion::{ArrayPart, Contains, ObjectPart, StringPart, TypeSet};
use super::conjunction::{Part, unfold};
use super::counts::Counts;
use super::numbers;
use super::schema::{Schema, Schemas};
use super::schema_id::SchemaId;
use crate::error::Result;
use crate::work::Budget;
use rustc_hash::{FxHashMap, FxHashSet};

/// Greatest depth of members, items and alternatives that a check visits.
const DEPTH: u32 = 5;
/// Greatest number of schemas that are all examined for each required member; with more, an index is used.
const FEW_BASES: usize = 24;
/// Greatest number of conjunctions that a check visits.
const FUEL: u32 = 300;
/// Steps of work for each visited conjunction, in addition to one for each of its schemas and alternatives.
const VISIT: usize = 8;

/// Whether surely no value satisfies all parts. False if this is not known.
pub(super) fn surely_empty(schemas: &Schemas<'_>, parts: &[Part]) -> bool {
    Question { schemas, fuel: FUEL, steps: 0 }.is_empty(parts, DEPTH)
}

/// Like [`surely_empty`], but visits at most `fuel` conjunctions and subtracts them from it, and spends `work`.
///
/// # Errors
/// The work budget is exhausted.
pub(super) fn surely_empty_within(
    schemas: &Schemas<'_>,
    parts: &[Part],
    fuel: &mut u32,
    work: &Budget,
) -> Result<bool> {
    let mut question = Question { schemas, fuel: FUEL.min(*fuel), steps: 0 };
    let before = question.fuel;
    let answer = question.is_empty(parts, DEPTH);
    *fuel -= before - question.fuel;
    work.spend(question.steps)?;
    Ok(answer)
}

struct Question<'s, 'a> {
    schemas: &'s Schemas<'a>,
    fuel: u32,
    /// Number of steps of work: schemas and alternatives visited.
    steps: usize,
}

impl<'a> Question<'_, 'a> {
    fn is_empty(&mut self, parts: &[Part], depth: u32) -> bool {
        if let [one] = parts {
            // contradictions within one written schema are found elsewhere
            return self.schemas.get(self.schemas.meaning(one.schema)).types == TypeSet::NONE;
        }
        if depth == 0 || self.fuel == 0 || parts.is_empty() {
            return false;
        }
        self.fuel -= 1;
        let schemas = self.schemas;
        let whole: FxHashSet<SchemaId> =
            parts.iter().filter(|part| !part.own).map(|part| schemas.meaning(part.schema)).collect();
        if whole.iter().any(|id| schemas.negations.get(id).is_some_and(|not| whole.contains(not))) {
            return true;
        }
        let (bases, choices) = unfold(schemas, parts);
        let alternatives = choices.iter().map(Vec::len).sum::<usize>();
        self.steps += VISIT + parts.len() + bases.len() + alternatives;
        let assertions: Vec<&Schema<'a>> = bases.iter().map(|&id| &**schemas.get(id)).collect();
        if self.types(&assertions, depth) == TypeSet::NONE {
            return true;
        }
        choices.iter().any(|alternatives| {
            alternatives.iter().all(|&alternative| {
                let own = bases.iter().map(|&schema| Part { schema, own: true });
                let with: Vec<Part> = own.chain([Part::whole(alternative)]).collect();
                self.is_empty(&with, depth - 1)
            })
        })
    }

    /// Returns the types that may have a value.
    fn types(&mut self, bases: &[&Schema<'a>], depth: u32) -> TypeSet {
        let mut types = TypeSet::ALL;
        for base in bases {
            let Schema {
                pointer: _,
                types: own,
                // checked below, for the types that are left
                number: _,
                string: _,
                array: _,
                object: _,
                values: _,
                excluded: _,
                // the caller follows these
                conjuncts: _,
                any_of: _,
                // rewritten to the two above, or not checked
                unevaluated: _,
                applied: _,
                is_bare: _,
                is_written: _,
            } = base;
            types = types.intersection(*own);
        }
        let mut lists = bases.iter().flat_map(|base| &base.values);
        if let Some(first) = lists.next() {
            let rest: Vec<_> = lists.collect();
            let possible = first.values.iter().filter(|value| {
                rest.iter().all(|list| list.contains(value))
                    && !bases.iter().any(|base| base.excluded.contains(value))
                    && value.as_str().is_none_or(|text| self.is_listed(bases, text))
            });
            let listed = possible.fold(TypeSet::NONE, |listed, value| listed.union(TypeSet::of(value)));
            types = types.intersection(listed);
        }
        if types.contains(TypeSet::NUMBER) {
            let parts = bases.iter().map(|base| &base.number);
            let range = parts.fold(Default::default(), |all, range| numbers::intersection(&all, range));
            if numbers::is_empty(&range) {
                types = types.without(TypeSet::NUMBER);
            }
        }
        if types.contains(TypeSet::STRING) && self.no_strings(bases) {
            types = types.without(TypeSet::STRING);
        }
        if types.contains(TypeSet::ARRAY) && self.no_arrays(bases, depth) {
            types = types.without(TypeSet::ARRAY);
        }
        if types.contains(TypeSet::OBJECT) && self.no_objects(bases, depth) {
            types = types.without(TypeSet::OBJECT);
        }
        types
    }

    /// Whether the tests that list strings leave a string.
    fn is_listed(&self, bases: &[&Schema<'a>], text: &str) -> bool {
        bases.iter().flat_map(|base| &base.string.tests).all(|&(test, holds)| {
            let listed = self.schemas.listed.by(test);
            listed.is_none_or(|listed| listed.iter().any(|other| **other == *text) == holds)
        })
    }

    /// Whether the lengths or the tests of strings contradict each other.
    fn no_strings(&self, bases: &[&Schema<'a>]) -> bool {
        let mut length = Counts::default();
        for base in bases {
            let StringPart { length: own, tests: _ } = &*base.string;
            length = length.intersection(own);
        }
        length.is_crossed() || contradictory_tests(bases) || self.none_is_listed(bases)
    }

    /// Whether a pattern lists strings, and excluded values and other patterns leave none of them.
    fn none_is_listed(&self, bases: &[&Schema<'a>]) -> bool {
        let is_excluded = |text: &str| {
            let mut excluded = bases.iter().flat_map(|base| &base.excluded);
            excluded.any(|value| value.as_str() == Some(text))
        };
        let positive = bases.iter().flat_map(|base| &base.string.tests).filter(|(_, holds)| *holds);
        let listed = positive.filter_map(|&(test, _)| self.schemas.listed.by(test)).next();
        listed.is_some_and(|all| all.iter().all(|text| is_excluded(text) || !self.is_listed(bases, text)))
    }

    /// Whether the counts of items contradict each other, one of the required first items has no value, or no item can
    /// satisfy `contains`.
    fn no_arrays(&mut self, bases: &[&Schema<'a>], depth: u32) -> bool {
        let (mut longest, mut count) = (0, Counts::default());
        for base in bases {
            // this does not check whether items are different
            let ArrayPart { prefix, items: _, count: own, contains: _, unique: _, repeated: _ } =
                &*base.array;
            longest = longest.max(prefix.len());
            count = count.intersection(own);
        }
        if count.is_crossed() {
            return true;
        }
        for &Contains { schema, from, count } in bases.iter().flat_map(|base| &base.array.contains) {
            if count.min == 0 {
                continue;
            }
            let is_after = |base: &&&Schema<'a>| base.array.prefix.len() <= from;
            let items = bases.iter().filter(is_after).filter_map(|base| base.array.items);
            let parts: Vec<Part> = items.chain([schema]).map(Part::whole).collect();
            if self.is_empty(&parts, depth - 1) {
                return true;
            }
        }
        (0..longest.max(1).min(count.min as usize)).any(|index| {
            let parts: Vec<Part> =
                bases.iter().filter_map(|base| base.array.item(index)).map(Part::whole).collect();
            self.is_empty(&parts, depth - 1)
        })
    }

    /// Whether the counts of members contradict each other, or a required member has no value.
    fn no_objects(&mut self, bases: &[&Schema<'a>], depth: u32) -> bool {
        let (mut asked, mut count) = (0, Counts::default());
        for base in bases {
            let ObjectPart {
                // checked below, for the required members
                properties: _,
                patterns: _,
                additional: _,
                required,
                count: own,
                // this does not check names and undeclared members
                names: _,
                some: _,
            } = &*base.object;
            asked += required.len();
            count = count.intersection(own);
        }
        if count.is_crossed() {
            return true;
        }
        let mut seen = FxHashSet::default();
        self.steps += asked;
        let required = bases.iter().flat_map(|base| base.object.required.iter().copied());
        let mut required = required.filter(|name| seen.insert(*name));
        if bases.len() > FEW_BASES {
            self.steps += bases.iter().map(|base| base.object.properties.list().len()).sum::<usize>();
            let values = MemberValues::of(bases);
            return required.any(|name| self.is_empty(&values.parts(bases, name), depth - 1));
        }
        required.any(|name| {
            let member = |base: &&Schema<'a>| {
                // if there are patterns, one may match the name; the others do not restrict the value of a present
                // member
                let ObjectPart { properties, required: _, patterns, additional, count: _, names: _, some: _ } =
                    &*base.object;
                properties.get(name).or(additional.filter(|_| patterns.is_empty()))
            };
            let parts: Vec<Part> = bases.iter().filter_map(member).map(Part::whole).collect();
            self.is_empty(&parts, depth - 1)
        })
    }
}

/// Index of the schemas of members, so that not all of many schemas are examined for each name.
struct MemberValues<'a> {
    /// For schemas without restriction on undeclared members: the index of the schema, and the schema of the member.
    declared: FxHashMap<&'a str, Vec<(usize, SchemaId)>>,
    /// For the other schemas: the index of the schema, and the schema of undeclared members.
    additional: Vec<(usize, SchemaId)>,
}

impl<'a> MemberValues<'a> {
    fn of(bases: &[&Schema<'a>]) -> MemberValues<'a> {
        let mut values = MemberValues { declared: FxHashMap::default(), additional: Vec::new() };
        for (place, base) in bases.iter().enumerate() {
            // the same as for few schemas, in `no_objects`
            let ObjectPart { properties, required: _, patterns, additional, count: _, names: _, some: _ } =
                &*base.object;
            if let Some(additional) = additional.filter(|_| patterns.is_empty()) {
                values.additional.push((place, additional));
                continue;
            }
            for &(name, value) in properties.list() {
                values.declared.entry(name).or_default().push((place, value));
            }
        }
        values
    }

    /// Returns the schemas of a member, in the order of the schemas that have them.
    fn parts(&self, bases: &[&Schema<'a>], name: &str) -> Vec<Part> {
        let mut found = self.declared.get(name).cloned().unwrap_or_default();
        let additional = self.additional.iter();
        found.extend(additional.map(|&(place, additional)| {
            (place, bases[place].object.properties.get(name).unwrap_or(additional))
        }));
        found.sort_unstable_by_key(|&(place, _)| place);
        found.into_iter().map(|(_, schema)| Part::whole(schema)).collect()
    }
}

/// Whether a test must both be passed and be failed.
fn contradictory_tests(bases: &[&Schema<'_>]) -> bool {
    if bases.iter().map(|base| base.string.tests.len()).sum::<usize>() < 2 {
        return false;
    }
    let mut known = FxHashMap::default();
    let mut tests = bases.iter().flat_map(|base| &base.string.tests);
    tests.any(|&(test, holds)| *known.entry(test).or_insert(holds) != holds)
}
