//! The entries of flows: steps that are optional, repeated or ordered by `after`, and alternatives.

use super::domain::{Entry, Rounds};
use super::errors;
use super::written::{WrittenEither, WrittenEntry};
use grammata::error::{Errors, Result};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// The maximum nesting of `either`.
const DEPTH: usize = 16;

/// Resolves the entries of one flow.
pub(super) struct Entries<'a> {
    pub(super) steps: &'a FxHashMap<&'a str, usize>,
    pub(super) errors: &'a mut Errors,
}

impl Entries<'_> {
    /// Resolves the entries of a list at a JSON Pointer. `depth` is its nesting in alternatives. Entries that cannot be
    /// resolved are omitted and reported as errors.
    pub(super) fn list(&mut self, written: &[toml::Value], pointer: &str, depth: usize) -> Vec<Entry> {
        let mut entries = Vec::new();
        // the first entry of each step, for `after`
        let mut siblings: FxHashMap<&str, usize> = FxHashMap::default();
        for (place, name) in
            written.iter().enumerate().filter_map(|(place, value)| Some((place, named(value)?)))
        {
            siblings.entry(name).or_insert(place);
        }
        for (place, value) in written.iter().enumerate() {
            if self.errors.is_full() {
                break;
            }
            let pointer = format!("{pointer}/{place}");
            let entry = self.entry(value, &siblings, pointer, depth);
            entries.extend(self.errors.take(entry));
        }
        entries
    }

    fn entry(
        &mut self,
        value: &toml::Value,
        siblings: &FxHashMap<&str, usize>,
        pointer: String,
        depth: usize,
    ) -> Result<Entry> {
        if let Some(id) = value.as_str() {
            return Ok(Entry::Step { step: self.step(id, &pointer)?, rounds: Rounds::ONCE, after: None });
        }
        if value.get("either").is_some() {
            let WrittenEither { either } =
                value.clone().try_into().map_err(|cause| errors::value(pointer.clone(), &cause))?;
            if depth >= DEPTH {
                return Err(errors::too_deep(DEPTH, pointer));
            }
            if either.is_empty() {
                return Err(errors::no_alternatives(pointer));
            }
            let lists = either
                .iter()
                .enumerate()
                .map(|(number, list)| self.list(list, &format!("{pointer}/either/{number}"), depth + 1));
            return Ok(Entry::Either(lists.collect()));
        }
        let written: WrittenEntry =
            value.clone().try_into().map_err(|cause| errors::value(pointer.clone(), &cause))?;
        let step = self.step(&written.step, &format!("{pointer}/step"))?;
        let (min, max) = written.repeat.map_or((1, Some(1)), |repeat| (repeat.min, repeat.max));
        if max.is_some_and(|max| max == 0 || max < min) {
            return Err(errors::rounds(format!("{pointer}/repeat")));
        }
        let rounds = Rounds { min: if written.optional { 0 } else { min }, max };
        let after = match written.after {
            None => None,
            Some(_) if depth > 0 => return Err(errors::nested_after(format!("{pointer}/after"))),
            Some(names) => Some(self.after(&names, siblings, &format!("{pointer}/after"))?),
        };
        Ok(Entry::Step { step, rounds, after })
    }

    fn step(&self, id: &str, pointer: &str) -> Result<usize> {
        let unknown = || errors::unknown("step", id, pointer.to_owned(), self.steps.keys().copied());
        self.steps.get(id).copied().ok_or_else(unknown)
    }

    /// Returns the indices in the body of the entries that `names` refer to, sorted and without duplicates. The first
    /// sibling, the prelude, precedes all others and is omitted.
    fn after(
        &self,
        names: &[String],
        siblings: &FxHashMap<&str, usize>,
        pointer: &str,
    ) -> Result<Vec<usize>> {
        let mut places = Vec::new();
        for (number, name) in names.iter().enumerate() {
            let of_flow = siblings.keys().copied();
            let unknown = || errors::unknown("step", name, format!("{pointer}/{number}"), of_flow);
            match siblings.get(name.as_str()).copied().ok_or_else(unknown)? {
                0 => {}
                place => places.push(place - 1),
            }
        }
        places.sort_unstable();
        places.dedup();
        Ok(places)
    }
}

/// Returns the step that an entry names; `None` for alternatives.
fn named(value: &toml::Value) -> Option<&str> {
    value.as_str().or_else(|| value.get("step")?.as_str())
}

/// Appends the steps of the gold plan of a list of entries: see [`Flow::steps`](super::Flow::steps).
pub(super) fn gold(entries: &[Entry], into: &mut Vec<usize>) {
    for entry in entries {
        match entry {
            Entry::Step { step, rounds, .. } => {
                into.extend(std::iter::repeat_n(*step, rounds.min.clamp(1, 64) as usize))
            }
            Entry::Either(alternatives) => gold(alternatives.first().map_or(&[], Vec::as_slice), into),
        }
    }
}

/// Returns an order of the entries of a body that agrees with `after`, as indices. If `after` has a cycle, the error
/// has the indices of a cycle.
pub(super) fn ordered(body: &[Entry]) -> Result<Vec<usize>, Vec<usize>> {
    let before = |place: usize| match &body[place] {
        Entry::Step { after: Some(after), .. } => after.as_slice(),
        _ => &[],
    };
    // Kahn's algorithm; among the ready entries, the first comes first
    let mut missing: Vec<usize> = (0..body.len()).map(|place| before(place).len()).collect();
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); body.len()];
    for place in 0..body.len() {
        before(place).iter().for_each(|&earlier| after[earlier].push(place));
    }
    let mut ready: BTreeSet<usize> = (0..body.len()).filter(|&place| missing[place] == 0).collect();
    let mut order: Vec<usize> = Vec::new();
    let mut is_done = vec![false; body.len()];
    while let Some(place) = ready.pop_first() {
        order.push(place);
        is_done[place] = true;
        for &later in &after[place] {
            missing[later] -= 1;
            if missing[later] == 0 {
                ready.insert(later);
            }
        }
    }
    if order.len() == body.len() {
        return Ok(order);
    }
    // each remaining entry waits for another one; following the entries leads into a cycle
    let mut path: Vec<usize> = (0..body.len()).filter(|&place| !is_done[place]).take(1).collect();
    let mut at: FxHashMap<usize, usize> = path.iter().map(|&place| (place, 0)).collect();
    loop {
        let last = path[path.len() - 1];
        let Some(&next) = before(last).iter().find(|&&earlier| !is_done[earlier]) else {
            return Err(path);
        };
        if let Some(from) = at.insert(next, path.len()) {
            path.drain(..from);
            return Err(path);
        }
        path.push(next);
    }
}
