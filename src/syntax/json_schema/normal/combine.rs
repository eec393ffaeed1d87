//! Combinations of alternatives, for several `anyOf` that hold of one value: one alternative of each.
//!
//! Most choices are not real ones: alternatives that the other schemas exclude are dropped, choices that are already
//! decided are skipped, and combinations that others contain are dropped. The rest is searched depth first up to a
//! bound, with the most likely alternatives first.

use super::empty::surely_empty_within;
use crate::error::Result;
use crate::syntax::json_schema::model::schema::{Schema, Schemas};
use crate::syntax::json_schema::model::schema_id::{Part, SchemaId};
use rustc_hash::FxHashSet;

/// Greatest number of combinations of one conjunction.
const MAX_COMBINATIONS: usize = 256;
/// Bounds on the conjunctions examined to find combinations: `BUDGET` in a whole document, `MOST` at one place, and
/// `LEAST` granted to every place, however many were examined before.
pub(super) const BUDGET: u32 = 150_000;
const MOST: u32 = 30_000;
const LEAST: u32 = 1_000;
/// Bound on the conjunctions that the first search examines, which does not propagate choices.
const FIRST: u32 = 8_000;

/// Returns the combinations of one alternative of each choice that the bases leave open; `Some(None)` if nothing is
/// left to choose. `None` if there are too many, or if finding them takes too long.
///
/// # Errors
/// The work budget of the compilation is exhausted.
pub(super) fn combinations(
    schemas: &Schemas<'_>,
    bases: &[Part],
    mut choices: Vec<Vec<SchemaId>>,
    budget: &mut u32,
) -> Result<Option<Option<Vec<Vec<SchemaId>>>>> {
    let share = (*budget).clamp(LEAST, MOST);
    let mut search = Search { schemas, bases, budget: share, found: Vec::new() };
    let none = Chosen::new(Vec::new());
    retain(&mut choices, |alternatives| Ok(!any(alternatives, |&one| search.implies(&none, one))?))?;
    for alternatives in &mut choices {
        retain(alternatives, |&one| Ok(!search.excludes(&[one])?))?;
    }
    if choices.is_empty() {
        return Ok(Some(None));
    }
    if choices.len() > FORCED && choices.iter().all(|alternatives| alternatives.len() == 1) {
        // nothing is left to choose: check once whether the alternatives exclude each other
        let forced: Vec<SchemaId> = choices.into_iter().flatten().collect();
        let found = if search.excludes(&forced)? { Vec::new() } else { vec![forced] };
        return Ok(Some(Some(found)));
    }
    let usual = Usual::of(schemas, bases);
    for alternatives in &mut choices {
        alternatives.sort_by_key(|&one| usual.rank(schemas.get(one)));
    }
    choices.sort_by_key(Vec::len);
    let after_first = search.budget.saturating_sub(FIRST);
    let is_complete = search.run(choices.clone(), false, after_first)? || search.run(choices, true, 0)?;
    *budget = budget.saturating_sub(share - search.budget);
    Ok(is_complete.then_some(Some(search.found)))
}

/// Number of single-alternative choices above which they are checked together.
const FORCED: usize = 16;

/// [`Vec::retain`] with a fallible predicate.
fn retain<T>(list: &mut Vec<T>, mut keeps: impl FnMut(&T) -> Result<bool>) -> Result<()> {
    let mut outcome = Ok(());
    list.retain(|one| match &outcome {
        Ok(()) => keeps(one).unwrap_or_else(|error| {
            outcome = Err(error);
            true
        }),
        Err(_) => true,
    });
    outcome
}

/// [`Iterator::any`] with a fallible predicate.
fn any<T>(list: &[T], mut holds: impl FnMut(&T) -> Result<bool>) -> Result<bool> {
    for one in list {
        if holds(one)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The alternatives chosen so far, in the order of the choices.
struct Chosen {
    list: Vec<SchemaId>,
    set: FxHashSet<SchemaId>,
}

impl Chosen {
    fn new(list: Vec<SchemaId>) -> Chosen {
        Chosen { set: list.iter().copied().collect(), list }
    }

    fn push(&mut self, one: SchemaId) {
        self.list.push(one);
        self.set.insert(one);
    }
}

struct Search<'s, 'a> {
    schemas: &'s Schemas<'a>,
    bases: &'s [Part],
    budget: u32,
    found: Vec<Vec<SchemaId>>,
}

impl Search<'_, '_> {
    /// Whether the bases and the chosen alternatives surely exclude each other.
    fn excludes(&mut self, chosen: &[SchemaId]) -> Result<bool> {
        if self.budget == 0 {
            return Ok(false);
        }
        let chosen = chosen.iter().copied().map(Part::whole);
        let parts: Vec<Part> = self.bases.iter().copied().chain(chosen).collect();
        surely_empty_within(self.schemas, &parts, &mut self.budget)
    }

    /// Whether an alternative surely holds of every value that satisfies the bases and the chosen ones.
    fn implies(&mut self, chosen: &Chosen, alternative: SchemaId) -> Result<bool> {
        if chosen.set.contains(&alternative) {
            return Ok(true);
        }
        let Some(&negation) = self.schemas.negations.get(&alternative) else { return Ok(false) };
        let with: Vec<SchemaId> = chosen.list.iter().copied().chain([negation]).collect();
        self.excludes(&with)
    }

    /// Whether a combination already found contains all values that the chosen alternatives leave.
    fn is_found(&mut self, chosen: &Chosen) -> Result<bool> {
        let found = std::mem::take(&mut self.found);
        let known = any(&found, |one| Ok(!any(one, |&one| Ok(!self.implies(chosen, one)?))?));
        self.found = found;
        known
    }

    /// Propagates the chosen alternatives to the open choices: drops choices that are decided, and chooses alternatives
    /// that are the only ones left. Returns whether every choice keeps an alternative.
    fn propagate(&mut self, chosen: &mut Chosen, open: &mut Vec<Vec<SchemaId>>) -> Result<bool> {
        loop {
            retain(open, |alternatives| Ok(!any(alternatives, |&one| self.implies(chosen, one))?))?;
            for alternatives in open.iter_mut() {
                retain(alternatives, |&one| self.may_follow(chosen, one))?;
            }
            match open.iter().position(|alternatives| alternatives.len() < 2) {
                None => return Ok(true),
                Some(at) => match open.remove(at)[..] {
                    [only] => chosen.push(only),
                    _ => return Ok(false),
                },
            }
        }
    }

    /// Whether the chosen alternatives do not surely exclude one more.
    fn may_follow(&mut self, chosen: &mut Chosen, one: SchemaId) -> Result<bool> {
        chosen.list.push(one);
        let excluded = self.excludes(&chosen.list);
        chosen.list.pop();
        Ok(!excluded?)
    }

    /// Drops choices at the front that are already decided, and excluded alternatives of the next one. Returns whether
    /// that one keeps an alternative.
    fn look_at_next(&mut self, chosen: &mut Chosen, open: &mut Vec<Vec<SchemaId>>) -> Result<bool> {
        let mut made = 0;
        while let Some(choice) = open.get(made)
            && any(choice, |&one| self.implies(chosen, one))?
        {
            made += 1;
        }
        open.drain(..made);
        let Some(next) = open.first_mut() else { return Ok(true) };
        if !chosen.list.is_empty() {
            retain(next, |&one| self.may_follow(chosen, one))?;
        }
        Ok(!next.is_empty())
    }

    /// Searches depth first, with a stack, since the schema determines the number of choices. With `propagates`, a
    /// combination costs more, but there are fewer. Stops when the budget is down to `budget_left` or there are too
    /// many combinations, and then returns false.
    fn run(&mut self, choices: Vec<Vec<SchemaId>>, propagates: bool, budget_left: u32) -> Result<bool> {
        self.found.clear();
        let mut stack = vec![(Vec::new(), choices)];
        while let Some((chosen, mut open)) = stack.pop() {
            let mut chosen = Chosen::new(chosen);
            if self.budget <= budget_left || self.found.len() >= MAX_COMBINATIONS {
                return Ok(false);
            }
            let goes_on = match propagates {
                true => self.propagate(&mut chosen, &mut open)?,
                false => self.look_at_next(&mut chosen, &mut open)?,
            };
            if !goes_on || self.is_found(&chosen)? {
                continue;
            }
            if open.is_empty() {
                self.found.push(chosen.list);
                continue;
            }
            let alternatives = open.remove(0);
            let copied = open.iter().map(|open| 1 + open.len() / 8).sum::<usize>() + chosen.list.len();
            self.schemas.work.spend(alternatives.len().saturating_mul(1 + copied))?;
            for &alternative in alternatives.iter().rev() {
                let mut longer = chosen.list.clone();
                longer.push(alternative);
                stack.push((longer, open.clone()));
            }
        }
        Ok(true)
    }
}

/// The names of members that the bases mention.
struct Usual<'a> {
    declared: FxHashSet<&'a str>,
    required: FxHashSet<&'a str>,
}

impl<'a> Usual<'a> {
    fn of(schemas: &Schemas<'a>, bases: &[Part]) -> Usual<'a> {
        let objects = || bases.iter().map(|part| &schemas.get(part.schema).object);
        Usual {
            declared: objects().flat_map(|object| object.properties.names()).collect(),
            required: objects().flat_map(|object| object.required.iter().copied()).collect(),
        }
    }

    /// Returns the rank of an alternative, which depends on the first member that it requires: 0 if the bases require
    /// that member, 1 if they declare it, 3 if no base mentions it and the alternative restricts values of members, 2
    /// otherwise.
    fn rank(&self, alternative: &Schema<'_>) -> usize {
        let mut members = alternative.object.required.iter();
        match (members.next(), alternative.object.properties.list().first()) {
            (Some(name), _) if self.required.contains(name) => 0,
            (Some(name), _) if self.declared.contains(name) => 1,
            (Some(_), Some(_)) => 3,
            _ => 2,
        }
    }
}
