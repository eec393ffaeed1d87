//! A quick check whether schemas exclude each other: sound, not complete. It finds what distinguishes alternatives in
//! practice: types, listed values, and required members and items that exclude each other.

use super::unfold::{Unfolded, unfold};
use crate::error::Result;
use crate::syntax::json_schema::model::assertion::{ArrayPart, Contains, ObjectPart, StringPart, TypeSet};
use crate::syntax::json_schema::model::empty_answers::Answer;
use crate::syntax::json_schema::model::numbers;
use crate::syntax::json_schema::model::schema::{Schema, Schemas};
use crate::syntax::json_schema::model::schema_id::{Part, SchemaId};
use crate::syntax::json_schema::strings::string_test::StringTest;
use crate::syntax::json_schema::values::counts::Counts;
use crate::syntax::json_schema::values::json::Value;
use rustc_hash::{FxHashMap, FxHashSet};

/// Greatest depth of members, items and alternatives that a check visits.
const DEPTH: u32 = 5;
/// Greatest number of schemas that are all examined for each required member; with more, an index is used.
const FEW_BASES: usize = 24;
/// Greatest number of conjunctions that a check visits.
const FUEL: u32 = 300;
/// Greatest number of divisors and non-divisors of numbers that a check looks at.
const MAX_DIVISORS: usize = 64;
/// Greatest number of pairs of a listed and an excluded value that a check compares.
const MAX_EXCLUDED: usize = 1 << 18;
/// Steps of work for each visited conjunction, in addition to one for each of its schemas and alternatives.
const VISIT: usize = 8;

/// Whether surely no value satisfies all parts. False if this is not known.
pub(super) fn surely_empty(schemas: &Schemas<'_>, parts: &[Part]) -> Result<bool> {
    surely_empty_within(schemas, parts, &mut FUEL.clone())
}

/// Like [`surely_empty`], but visits at most `fuel` conjunctions and subtracts them from it.
pub(super) fn surely_empty_within(schemas: &Schemas<'_>, parts: &[Part], fuel: &mut u32) -> Result<bool> {
    let mut question = Question { schemas, fuel: FUEL.min(*fuel), steps: 0 };
    let before = question.fuel;
    let answer = question.is_empty(parts, DEPTH);
    *fuel -= before - question.fuel;
    schemas.work.spend(question.steps)?;
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
        self.steps += parts.len();
        let (id, known) = self.schemas.empty_answers.get(parts, depth, self.fuel);
        if let Some(Answer { is_empty, fuel }) = known {
            self.fuel -= fuel;
            return is_empty;
        }
        let before = self.fuel;
        let is_empty = self.examine(parts, depth);
        if self.fuel > 0 {
            let answer = Answer { is_empty, fuel: before - self.fuel };
            self.schemas.empty_answers.insert(id, parts, depth, answer);
        }
        is_empty
    }

    /// Answers [`is_empty`](Question::is_empty) for several parts, without the cache.
    fn examine(&mut self, parts: &[Part], depth: u32) -> bool {
        self.fuel -= 1;
        let schemas = self.schemas;
        let whole: FxHashSet<SchemaId> =
            parts.iter().filter(|part| !part.own).map(|part| schemas.meaning(part.schema)).collect();
        if whole.iter().any(|id| schemas.negations.get(id).is_some_and(|not| whole.contains(not))) {
            return true;
        }
        let Unfolded { bases, choices, steps } = unfold(schemas, parts);
        let alternatives = choices.iter().map(Vec::len).sum::<usize>();
        self.steps += VISIT + steps + alternatives;
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
            let excluded = bases.iter().map(|base| base.excluded.len()).sum::<usize>();
            let pairs = first.values.len().saturating_mul(excluded);
            let excludes = |value: &Value<'_>| {
                let mut excluded = bases.iter().flat_map(|base| &base.excluded);
                pairs <= MAX_EXCLUDED && excluded.any(|other| other.is_same_scalar(value))
            };
            self.steps += first.values.len() * (1 + rest.len()) + pairs.min(MAX_EXCLUDED);
            let possible = first.values.iter().filter(|value| {
                rest.iter().all(|list| list.contains(value))
                    && !excludes(value)
                    && value.as_str().is_none_or(|text| self.is_listed(bases, text))
            });
            let listed = possible.fold(TypeSet::NONE, |listed, value| listed.union(TypeSet::of(value)));
            types = types.intersection(listed);
        }
        let divisors = bases.iter().map(|base| base.number.divisors()).sum::<usize>();
        if types.contains(TypeSet::NUMBER) && divisors <= MAX_DIVISORS {
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
        let (mut longest, mut places, mut count) = (0, Vec::new(), Counts::default());
        for base in bases {
            // this does not check whether items are different
            let ArrayPart { prefix, items: _, at, count: own, contains: _, unique: _, repeated: _ } =
                &*base.array;
            longest = longest.max(prefix.len());
            places.extend(at.map(|(place, _)| place));
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
        let needed = count.min as usize;
        let places =
            (0..longest.max(1).min(needed)).chain(places.into_iter().filter(|&place| place < needed));
        for place in places {
            self.steps += bases.len();
            let items = bases.iter().flat_map(|base| base.array.item(place));
            let parts: Vec<Part> = items.map(Part::whole).collect();
            if self.is_empty(&parts, depth - 1) {
                return true;
            }
            if self.fuel == 0 {
                break;
            }
        }
        false
    }

    /// Whether the counts of members contradict each other, or a required member has no value.
    fn no_objects(&mut self, bases: &[&Schema<'a>], depth: u32) -> bool {
        let (mut asked, mut count, mut names) = (0, Counts::default(), Vec::new());
        for base in bases {
            let ObjectPart {
                // checked below, for the required members
                properties: _,
                patterns: _,
                additional: _,
                required,
                count: own,
                names: own_names,
                // this does not check undeclared members
                some: _,
            } = &*base.object;
            asked += required.len();
            count = count.intersection(own);
            names.extend(own_names.map(Part::whole));
        }
        if count.is_crossed() {
            return true;
        }
        self.steps += asked;
        let mut seen = FxHashSet::default();
        let required = bases.iter().flat_map(|base| base.object.required.iter().copied());
        let required: Vec<&'a str> = required.filter(|name| seen.insert(*name)).collect();
        if count.max.is_some_and(|max| required.len() > max as usize) {
            return true;
        }
        let names = unfold(self.schemas, &names);
        self.steps += names.steps;
        let values = (bases.len() > FEW_BASES).then(|| {
            self.steps += bases.iter().map(|base| base.object.properties.list().len()).sum::<usize>();
            MemberValues::of(bases)
        });
        for name in required {
            self.steps += names.bases.len();
            if names.bases.iter().any(|&id| !self.may_be_name(id, name)) {
                return true;
            }
            let mut parts = Vec::new();
            match &values {
                Some(values) => values.of_member(name).for_each(|place| {
                    self.member(bases[place], name, &mut parts);
                }),
                None => bases.iter().for_each(|base| self.member(base, name, &mut parts)),
            }
            if self.is_empty(&parts, depth - 1) {
                return true;
            }
        }
        false
    }

    /// Adds the schemas that a schema has for the value of a member, if it is present.
    fn member(&mut self, base: &Schema<'a>, name: &'a str, parts: &mut Vec<Part>) {
        // the others do not restrict the value of a present member
        let ObjectPart { properties, required: _, patterns, additional, count: _, names: _, some: _ } =
            &*base.object;
        let declared = properties.get(name);
        let mut additional = additional.filter(|_| declared.is_none());
        parts.extend(declared.map(Part::whole));
        self.steps += patterns.len();
        for &(pattern, schema) in patterns {
            match self.passes(base, StringTest::Pattern(pattern), name) {
                Some(false) => continue,
                Some(true) => parts.push(Part::whole(schema)),
                None => {}
            }
            additional = None;
        }
        parts.extend(additional.map(Part::whole));
    }

    /// Whether a schema of `propertyNames`, without the schemas it refers to, may admit a name.
    fn may_be_name(&self, id: SchemaId, name: &'a str) -> bool {
        let schema = &**self.schemas.get(id);
        let StringPart { length, tests } = &*schema.string;
        let name = &Value::from(name);
        let text = name.as_str().unwrap_or_default();
        schema.types.contains(TypeSet::STRING)
            && length.contains(text.chars().count())
            && schema.values.iter().all(|list| list.contains(name))
            && !schema.excluded.iter().any(|excluded| excluded.is_same_scalar(name))
            && tests.iter().all(|&(test, holds)| self.passes(schema, test, text) != Some(!holds))
    }

    /// Whether a text passes a test; `None` if this is not known. An invalid pattern is reported elsewhere.
    fn passes(&self, schema: &Schema<'a>, test: StringTest<'a>, text: &str) -> Option<bool> {
        self.schemas.outcomes.of(test, text, schema.pointer, &self.schemas.work).ok().flatten()
    }
}

/// Index of the schemas that restrict members, so that not all of many schemas are examined for each name.
struct MemberValues<'a> {
    /// For schemas without restriction on undeclared members: their indices, by the names that they declare.
    declared: FxHashMap<&'a str, Vec<usize>>,
    /// The indices of the other schemas.
    additional: Vec<usize>,
}

impl<'a> MemberValues<'a> {
    fn of(bases: &[&Schema<'a>]) -> MemberValues<'a> {
        let mut values = MemberValues { declared: FxHashMap::default(), additional: Vec::new() };
        for (place, base) in bases.iter().enumerate() {
            // the same as in `member`
            let ObjectPart { properties, required: _, patterns, additional, count: _, names: _, some: _ } =
                &*base.object;
            if additional.is_some() || !patterns.is_empty() {
                values.additional.push(place);
                continue;
            }
            for name in properties.names() {
                values.declared.entry(name).or_default().push(place);
            }
        }
        values
    }

    /// Returns the indices of the schemas that may restrict a member.
    fn of_member(&self, name: &str) -> impl Iterator<Item = usize> {
        self.declared.get(name).into_iter().flatten().chain(&self.additional).copied()
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
