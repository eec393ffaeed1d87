//! Detects items that have more different values than any text can hold.
//!
//! This is so if a part of the items is free: a string, a number without bounds, a name. The search goes from the item
//! to the values inside it. An item that is not found to be endless need not be finite.

use super::Emitter;
use super::completing::completing;
use crate::error::Result;
use crate::grammar::{ByteSet, CharClass, ExprId, Expression, Names};
use crate::syntax::json_schema::model::assertion::TypeSet;
use crate::syntax::json_schema::model::numbers::NumberRange;
use crate::syntax::json_schema::normal::conjunction::ConjunctionId;
use crate::syntax::json_schema::normal::shape::{
    ArrayShape, ItemClass, ObjectShape, RestShape, Shape, Test, Typed,
};
use crate::syntax::json_schema::strings;
use rustc_hash::{FxHashMap, FxHashSet};

/// A number of different items greater than any text can hold.
const ENOUGH: u64 = 1 << 20;

/// Worklist of conjunctions.
struct Reached {
    /// Conjunctions whose values are part of some item.
    open: Vec<ConjunctionId>,
    /// Conjunctions whose values may be, but need not be, part of an item.
    aside: Vec<ConjunctionId>,
}

impl Reached {
    fn add(&mut self, ids: impl IntoIterator<Item = ConjunctionId>, counts: bool) {
        if counts { &mut self.open } else { &mut self.aside }.extend(ids);
    }

    /// Returns the next conjunction, and whether its values are part of some item.
    fn next(&mut self) -> Option<(ConjunctionId, bool)> {
        self.open.pop().map(|id| (id, true)).or_else(|| self.aside.pop().map(|id| (id, false)))
    }
}

impl<'e, 'a> Emitter<'e, 'a> {
    /// Whether more values satisfy a conjunction than any text can hold; false if this is not known. It is not known if
    /// a part that seems satisfiable may have no word, since a value that requires it does not exist either.
    pub(super) fn is_endless(&mut self, id: ConjunctionId) -> Result<bool> {
        let all = self.all;
        let mut seen = FxHashSet::default();
        let mut tested: Vec<(ConjunctionId, &'e Typed<'a>, bool)> = Vec::new();
        let mut endless = false;
        let mut reached = Reached { open: vec![id], aside: Vec::new() };
        while let Some((id, counts)) = reached.next() {
            if !self.satisfiable.contains(id) || !seen.insert(id) {
                continue;
            }
            match all.shape_of(id) {
                Shape::Values(_) => {}
                Shape::Union(list) => reached.add(list.iter().copied(), counts),
                Shape::Typed(typed) => {
                    // `may_be_no_number` handles `excluded`; endlessly many strings stay endless without a few
                    let Typed { types, number, length, tests, excluded: _, array, object } = typed;
                    let has = |one| types.contains(one);
                    let array = array.as_ref().filter(|_| has(TypeSet::ARRAY));
                    let object = object.as_ref().filter(|_| has(TypeSet::OBJECT));
                    if has(TypeSet::NUMBER) && may_be_no_number(typed)
                        || array.is_some_and(|array| self.may_be_no_array(array))
                        || object.is_some_and(|object| self.may_be_no_object(object))
                    {
                        return Ok(false);
                    }
                    let string = has(TypeSet::STRING) && !length.is_crossed();
                    // one character is enough: there are more than a million
                    let free = tests.is_empty() && length.max != Some(0);
                    let mut here = string && free || has(TypeSet::NUMBER) && is_unbounded(number);
                    if string && !free {
                        tested.push((id, typed, counts));
                    }
                    here |= array.is_some_and(|array| self.array_grows(array, counts, &mut reached));
                    here |= object.is_some_and(|object| self.object_grows(object, counts, &mut reached));
                    endless |= here && counts;
                }
            }
        }
        for (id, typed, counts) in tested {
            let words = match self.varieties.get(&id) {
                Some(&known) => known,
                None => {
                    let string = self.string(typed)?;
                    let words = self.variety(string);
                    self.varieties.insert(id, words);
                    words
                }
            };
            match words {
                // there may be no such string, and then no value that requires it
                0 => return Ok(false),
                words => endless |= counts && words >= ENOUGH,
            }
        }
        Ok(endless)
    }

    /// Whether there may be no array of a shape, even if items are possible.
    fn may_be_no_array(&self, array: &ArrayShape) -> bool {
        let ArrayShape { items: _, count: length, contains, unique } = array;
        if unique.is_some() && (length.min > 1 || !contains.is_empty()) {
            return true;
        }
        let further = array.further();
        let is_free = length.max.is_none() && self.satisfiable.longest(array).is_none();
        contains.iter().enumerate().any(|(place, count)| {
            let is_hit = |&ItemClass { value, hits }: &ItemClass| {
                hits >> place & 1 == 1 && self.satisfiable.contains(value)
            };
            let needed = count.min == 0 || further.iter().any(is_hit);
            !is_free || count.max.is_some() || !needed
        })
    }

    /// Whether there may be no object of a shape, because no names may pass the tests of members that are required.
    fn may_be_no_object(&self, object: &ObjectShape<'_>) -> bool {
        let ObjectShape { members, rest, ones, conditions: _, count } = object;
        if object.is_conditional() && ones.iter().flatten().any(is_tested) {
            return true;
        }
        let possible = members.iter().filter(|member| self.satisfiable.contains(member.value)).count();
        let is_needed = object.is_conditional() || count.min as usize > possible;
        is_needed && rest.iter().any(is_tested) && !rest.iter().any(|class| self.has_names(class))
    }

    /// Whether members of a class surely have endlessly many names.
    fn has_names(&self, class: &RestShape<'_>) -> bool {
        self.satisfiable.is_possible(class) && !is_tested(class)
    }

    /// Whether arrays may have any length. Adds the conjunctions of their items.
    fn array_grows(&self, array: &ArrayShape, counts: bool, reached: &mut Reached) -> bool {
        let ArrayShape { items, count, contains, unique } = array;
        let longest = self.satisfiable.longest(array);
        let most = count.max.map_or(usize::MAX, |max| max as usize).min(longest.unwrap_or(usize::MAX));
        // there may be too many items of some class
        let counts = counts && contains.is_empty();
        let possible = items.iter().take_while(|run| run.from < most).flat_map(|run| &run.classes);
        reached.add(possible.map(|class| class.value), counts);
        most == usize::MAX && unique.is_none()
    }

    /// Whether objects may have members of endlessly many names. Adds the conjunctions of their members.
    fn object_grows(&self, object: &ObjectShape<'a>, counts: bool, reached: &mut Reached) -> bool {
        let ObjectShape { members, rest, ones, conditions: _, count } = object;
        let required = members.iter().filter(|member| member.required).count();
        if object.is_conditional() {
            // which members are possible is not examined, but further ones may be added to any object
            let further = rest.iter().chain(ones.iter().flatten()).map(|class| class.value);
            reached.add(members.iter().map(|member| member.value).chain(further), false);
            return count.max.is_none() && rest.iter().any(|class| self.has_names(class));
        }
        let room = count.max.is_none_or(|max| required < max as usize);
        reached.add(members.iter().filter(|m| room || m.required).map(|member| member.value), counts);
        let further = || rest.iter().filter(|class| room && self.satisfiable.is_possible(class));
        reached.add(further().map(|class| class.value), counts);
        further().any(|class| self.has_names(class))
    }

    /// Returns how many names an expression has, judging by its form. `all` says whether these are all names, or all
    /// except a few.
    pub(super) fn variety_of_names(&self, name: ExprId, all: bool) -> Names {
        if self.goes_on(name) {
            Names::Endless
        } else if all && self.variety(name) >= ENOUGH {
            Names::Many
        } else {
            Names::Few
        }
    }

    /// Whether every prefix of a string has endlessly many extensions; false if the form of the expression does not
    /// show it.
    fn goes_on(&self, string: ExprId) -> bool {
        let mut open = vec![string];
        let mut quoted = true;
        while let Some(id) = open.pop() {
            match self.g.expression(id) {
                // what precedes a loop does not matter; only the closing quote may follow it
                Expression::Sequence(parts) => {
                    let parts = match parts.split_last() {
                        Some((&last, parts)) if quoted && self.is_quote(last) => parts,
                        _ => parts,
                    };
                    quoted = false;
                    open.extend(parts.last());
                }
                Expression::Choice(parts) => open.extend(parts),
                &Expression::Label(_, body) => open.push(body),
                Expression::Repeat { max: None, .. } => {}
                // if the body has endlessly many extensions, so has the last repetition
                &Expression::Repeat { body, .. } => open.push(body),
                _ => return false,
            }
        }
        true
    }

    /// Whether a character is known that never completes a match of any of the tests, all of which must fail. Then a
    /// string that can still fail all of them does so after any positive number of these characters.
    pub(super) fn have_common_gap(&mut self, tests: &[Test<'a>]) -> bool {
        let mut all = ByteSet::range(b'"', b'"').union(&ByteSet::range(b'\\', b'\\'));
        let any = strings::canonical(&mut self.g, &CharClass::any());
        let any = self.g.star(any);
        for test in tests {
            let fails = self.tests.get(&(test.test, false)).map(|&fails| self.g.expression(fails));
            let Some(&Expression::Complement(passes)) = fails else { return false };
            let Some(bytes) = completing(&self.g, passes, any) else { return false };
            all = all.union(&bytes);
        }
        (b' '..=b'~').any(|byte| !all.contains(byte))
    }

    fn is_quote(&self, id: ExprId) -> bool {
        matches!(self.g.expression(id), Expression::Bytes(bytes) if **bytes == *b"\"")
    }

    /// Returns a lower bound on the number of words of an expression.
    fn variety(&self, root: ExprId) -> u64 {
        // for each expression also: whether no word is a prefix of another, so that the text after a word is
        // unambiguous
        let mut known: FxHashMap<ExprId, (u64, bool)> = FxHashMap::default();
        for id in self.g.within(root) {
            let of = |id: &ExprId| known.get(id).copied().unwrap_or_default();
            let words = match self.g.expression(id) {
                Expression::Empty | Expression::Bytes(_) => (1, true),
                Expression::ByteSet(set) => (set.len() as u64, true),
                Expression::Class(class) => {
                    (class.ranges().iter().map(|r| r.1 as u64 - r.0 as u64 + 1).sum(), true)
                }
                Expression::Sequence(parts) if parts.iter().all(|part| of(part).0 > 0) => {
                    let told = parts.iter().map(of).filter(|part| part.1);
                    let told = told.fold(1, |all: u64, part| all.saturating_mul(part.0));
                    let most = parts.iter().map(|part| of(part).0).max().unwrap_or(0);
                    (told.max(most), parts.iter().all(|part| of(part).1))
                }
                Expression::Choice(parts) => (parts.iter().map(|part| of(part).0).max().unwrap_or(0), false),
                &Expression::Repeat { body, min, max } => match of(&body) {
                    (0, _) => (u64::from(min == 0), true),
                    _ if max.is_none() => (ENOUGH, false),
                    (words, true) => (words.saturating_pow(max.unwrap_or(min)), Some(min) == max),
                    (words, false) => (words, false),
                },
                Expression::Label(_, body) | Expression::Name(body, _) => of(body),
                Expression::WordGraph(graph)
                    if graph.is_trim() && graph.exits().iter().all(|e| of(e).0 > 0) =>
                {
                    (1, false)
                }
                // rules, and expressions that would need a search
                _ => (0, false),
            };
            known.insert(id, words);
        }
        known.get(&root).map_or(0, |words| words.0)
    }
}

/// Whether names must pass tests to be in a class.
fn is_tested(class: &RestShape<'_>) -> bool {
    // endlessly many names stay endless without a few
    let RestShape { tests, others: _, strings, value: _ } = class;
    !tests.is_empty() || strings.is_some()
}

/// Whether all numbers of a range may be excluded.
fn may_be_no_number(typed: &Typed<'_>) -> bool {
    let Typed { types: _, number, length: _, tests: _, excluded, array: _, object: _ } = typed;
    let excludes = excluded.iter().any(|value| value.is_number());
    excludes && number.lower.is_some() && number.upper.is_some()
}

/// Whether a range is not empty, and either has no end on one side or has no smallest step.
fn is_unbounded(range: &NumberRange) -> bool {
    // a range whose notation admits no text comes without other types, so `satisfiable` excludes it
    let NumberRange { lower, upper, multiple_of, not_multiple_of, notation: _ } = range;
    let bounded = match (lower, upper) {
        (Some(lower), Some(upper)) => !multiple_of.is_empty() || lower.value >= upper.value,
        _ => false,
    };
    not_multiple_of.is_empty() && !bounded
}
