//! Combinations of alternatives, where several `anyOf` hold of one value: one of each.
//!
//! Most choices are no choices: alternatives that the other schemas exclude are left out, choices that are
//! made already are passed over, and combinations that others contain are dropped. What is left is searched
//! depth first, the alternatives that schemas usually mean first, up to a bound.

use super::conjunction::Part;
use super::empty::surely_empty_within;
use super::schema::{Schema, SchemaId, Schemas};
use rustc_hash::FxHashSet;

/// Combinations that one conjunction may have.
const MAX_COMBINATIONS: usize = 256;
/// Conjunctions that may be looked at to find them: in a whole document, at one place, and at every place
/// however many there were before.
pub(super) const BUDGET: u32 = 150_000;
const MOST: u32 = 30_000;
const LEAST: u32 = 1_000;
/// So many of them without following in all choices what is chosen.
const FIRST: u32 = 8_000;

/// The combinations of one alternative of each choice that the bases leave (`None` within: there is nothing to choose).
/// `None` if they are too many, or take too long to find.
pub(super) fn combinations(
    schemas: &Schemas<'_>,
    bases: &[Part],
    mut choices: Vec<Vec<SchemaId>>,
    budget: &mut u32,
) -> Option<Option<Vec<Vec<SchemaId>>>> {
    let share = (*budget).clamp(LEAST, MOST);
    let mut search = Search { schemas, bases, budget: share, found: Vec::new() };
    choices.retain(|alternatives| !alternatives.iter().any(|&one| search.implies(&[], one)));
    for alternatives in &mut choices {
        alternatives.retain(|&one| !search.excludes(&[one]));
    }
    if choices.is_empty() {
        return Some(None);
    }
    let usual = Usual::of(schemas, bases);
    for alternatives in &mut choices {
        alternatives.sort_by_key(|&one| usual.rank(schemas.get(one)));
    }
    choices.sort_by_key(Vec::len);
    let after_first = search.budget.saturating_sub(FIRST);
    let is_complete = search.run(choices.clone(), false, after_first) || search.run(choices, true, 0);
    *budget = budget.saturating_sub(share - search.budget);
    is_complete.then_some(Some(search.found))
}

struct Search<'s, 'a> {
    schemas: &'s Schemas<'a>,
    bases: &'s [Part],
    budget: u32,
    found: Vec<Vec<SchemaId>>,
}

impl Search<'_, '_> {
    /// Whether the bases and the chosen alternatives exclude each other.
    fn excludes(&mut self, chosen: &[SchemaId]) -> bool {
        let chosen = chosen.iter().copied().map(Part::whole);
        let parts: Vec<Part> = self.bases.iter().copied().chain(chosen).collect();
        surely_empty_within(self.schemas, &parts, &mut self.budget)
    }

    /// Whether an alternative holds of all that satisfies the bases and the chosen ones.
    fn implies(&mut self, chosen: &[SchemaId], alternative: SchemaId) -> bool {
        if chosen.contains(&alternative) {
            return true;
        }
        let Some(&negation) = self.schemas.negations.get(&alternative) else { return false };
        let with: Vec<SchemaId> = chosen.iter().copied().chain([negation]).collect();
        self.excludes(&with)
    }

    /// Whether all that the chosen ones leave is in a combination that was found.
    fn is_found(&mut self, chosen: &[SchemaId]) -> bool {
        let found = std::mem::take(&mut self.found);
        let known = found.iter().any(|one| one.iter().all(|&alternative| self.implies(chosen, alternative)));
        self.found = found;
        known
    }

    /// Follows what the chosen alternatives mean for the choices that are left: those made already are dropped, and where
    /// one alternative is left it is chosen. Whether all choices keep one.
    fn propagate(&mut self, chosen: &mut Vec<SchemaId>, open: &mut Vec<Vec<SchemaId>>) -> bool {
        loop {
            open.retain(|alternatives| !alternatives.iter().any(|&one| self.implies(chosen, one)));
            for alternatives in open.iter_mut() {
                alternatives.retain(|&one| {
                    chosen.push(one);
                    let excluded = self.excludes(chosen);
                    chosen.pop();
                    !excluded
                });
            }
            match open.iter().position(|alternatives| alternatives.len() < 2) {
                None => return true,
                Some(at) => match open.remove(at)[..] {
                    [only] => chosen.push(only),
                    _ => return false,
                },
            }
        }
    }

    /// Drops the choices that are made already from the first ones on, and the alternatives of the next one that are
    /// excluded. Whether that one keeps one.
    fn look_at_next(&mut self, chosen: &mut Vec<SchemaId>, open: &mut Vec<Vec<SchemaId>>) -> bool {
        let made =
            open.iter().take_while(|choice| choice.iter().any(|&one| self.implies(chosen, one))).count();
        open.drain(..made);
        let Some(next) = open.first_mut() else { return true };
        if !chosen.is_empty() {
            next.retain(|&one| {
                chosen.push(one);
                let excluded = self.excludes(chosen);
                chosen.pop();
                !excluded
            });
        }
        !next.is_empty()
    }

    /// Depth first, with a stack: how many choices there are is up to the schema. Following what is chosen in all choices
    /// costs more for each combination, and there are fewer to look at. Stops where so much is left of the budget.
    fn run(&mut self, choices: Vec<Vec<SchemaId>>, propagates: bool, budget_left: u32) -> bool {
        self.found.clear();
        let mut stack = vec![(Vec::new(), choices)];
        while let Some((mut chosen, mut open)) = stack.pop() {
            if self.budget <= budget_left || self.found.len() >= MAX_COMBINATIONS {
                return false;
            }
            let goes_on = match propagates {
                true => self.propagate(&mut chosen, &mut open),
                false => self.look_at_next(&mut chosen, &mut open),
            };
            if !goes_on || self.is_found(&chosen) {
                continue;
            }
            if open.is_empty() {
                self.found.push(chosen);
                continue;
            }
            let alternatives = open.remove(0);
            for &alternative in alternatives.iter().rev() {
                let mut longer = chosen.clone();
                longer.push(alternative);
                stack.push((longer, open.clone()));
            }
        }
        true
    }
}

/// The names of members that the bases speak of.
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

    /// How unusual an alternative is: a restricted member that is there anyway, then one that is declared, then
    /// all that says nothing of members; last a member that no base knows, with a wrong value.
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
