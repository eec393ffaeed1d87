//! The conditions of [`Members`], and the decision whether a list that has begun can still meet them.

use super::expression::{Alternative, Condition, Members};
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::limits::{LimitKind, Limits};
use fixedbitset::FixedBitSet;

mod clauses;
mod search;
mod sums;
#[cfg(test)]
mod tests;

pub(crate) use clauses::Clauses;
use search::{Search, Weights};

/// The state of a list of members, and the members that are still possible.
#[derive(Debug)]
pub(crate) struct Constraints<'o> {
    /// The conditions on the entries, in conjunctive normal form.
    pub(crate) clauses: &'o Clauses,
    /// The entries that are present.
    pub(crate) came: &'o FixedBitSet,
    /// The entries that may still follow, judging by their words, their keys and their order.
    pub(crate) open: &'o FixedBitSet,
    /// The least and the greatest number of members still to come; `None` means unbounded.
    pub(crate) count: (u32, Option<u32>),
    /// The greatest number of further members without a key (`ones` and the rest); `None` means unbounded.
    pub(crate) keyless: Option<u32>,
    /// Whether members of the rest are still possible.
    pub(crate) rest: bool,
}

/// The error of a list that is not [decidable](Clauses::is_decidable).
pub(crate) fn undecidable(limit: usize) -> Error {
    let diagnostic = Diagnostic::new("limit/exceeded", "the limit `condition_search` is exceeded")
        .limit(LimitKind::ConditionSearch)
        .found("conditions on combinations of members that take more decisions to combine")
        .allowed(format!("at most {limit} decisions"))
        .help(
            "let fewer conditions speak of the same members, split the object into smaller ones, or raise the limit \
             (`Limits::condition_search`)",
        );
    Error::new(ErrorKind::Limit, diagnostic)
}

/// Whether conditions hold if no more members follow the present entries `came`.
pub(crate) fn hold(conditions: &[Condition], came: &FixedBitSet) -> bool {
    conditions.iter().all(|condition| {
        condition.0.iter().any(|alternative| {
            let one_came = |set: &[u32]| set.iter().any(|&entry| came.contains(entry as usize));
            alternative.some.iter().all(|set| one_came(set)) && !one_came(&alternative.none)
        })
    })
}

/// Per member, the index of the first member with its key. Members with equal keys are adjacent.
pub(crate) fn groups<M>(members: &[M], have_one_key: impl Fn(&M, &M) -> bool) -> Vec<u32> {
    let mut groups: Vec<u32> = Vec::with_capacity(members.len());
    for (place, member) in members.iter().enumerate() {
        let first = groups.last().copied().filter(|&last| have_one_key(&members[last as usize], member));
        groups.push(first.unwrap_or(place as u32));
    }
    groups
}

impl Constraints<'_> {
    /// Whether the list can be finished. If [`Clauses::is_decidable`] holds for a limit, each search takes at most that
    /// many decisions. If at most one more member may follow, there is a search for each possible entry; otherwise
    /// there is one search.
    pub(crate) fn is_satisfiable(&self) -> bool {
        let (min, max) = self.count;
        match max {
            Some(max) if max < min => false,
            Some(0) => self.can_be(None),
            Some(1) => self.can_be_one(),
            _ => self.can_be_several(),
        }
    }

    /// Whether the conditions hold if the list ends now, or after the given entry. Ignores the number of members.
    fn can_be(&self, entry: Option<usize>) -> bool {
        let entries = 0..self.clauses.entries;
        let known = entries.map(|one| (one as u32, self.came.contains(one) || entry == Some(one)));
        let mut search = Search::new(self.clauses, None);
        search.assume(known) && search.is_satisfiable(self.came)
    }

    /// Whether the list can be finished with at most one more member.
    fn can_be_one(&self) -> bool {
        let keyless = self.keyless != Some(0);
        let may_come = |entry: &usize| keyless || *entry < self.clauses.keyed;
        (self.count.0 == 0 || self.rest && keyless) && self.can_be(None)
            || self.open.ones().filter(may_come).any(|entry| self.can_be(Some(entry)))
    }

    fn can_be_several(&self) -> bool {
        let (min, max) = self.count;
        let entries = self.clauses.entries;
        let known = |entry: usize| match self.came.contains(entry) {
            true => Some(true),
            false => (!self.open.contains(entry)).then_some(false),
        };
        let known = (0..entries).filter_map(|entry| Some((entry as u32, known(entry)?)));
        let is_counted = max.is_some_and(|max| self.rest || (max as usize) < entries)
            || self.keyless.is_some()
            || !self.rest && min > 0;
        if !is_counted {
            let mut search = Search::new(self.clauses, None);
            return search.assume(known) && search.is_satisfiable(self.came);
        }
        // a sum is the number of members, plus `base` times the number of members without a key if that number is
        // bounded
        let base = entries + 1;
        let keyless = if self.keyless.is_some() { 1 + base } else { 1 };
        let mut search = Search::new(self.clauses, Some(Weights { keyed: 1, keyless }));
        if !search.assume(known) {
            return false;
        }
        let is_enough = |sum: usize| {
            let (all, keyless) = ((sum % base) as u32, (sum / base) as u32);
            let most = max.map_or(u32::MAX, |max| max.saturating_sub(all));
            let most = self.keyless.map_or(most, |bound| most.min(bound.saturating_sub(keyless)));
            let most = if self.rest { most } else { 0 };
            max.is_none_or(|max| all <= max)
                && self.keyless.is_none_or(|bound| keyless <= bound)
                && all.saturating_add(most) >= min
        };
        search.sums(self.came).iter().any(is_enough)
    }
}

impl Condition {
    /// The condition with each entry renumbered; entries mapped to `None` can never be present.
    pub(crate) fn mapped(&self, place: impl Fn(u32) -> Option<u32>) -> Condition {
        let of = |set: &[u32]| set.iter().filter_map(|&entry| place(entry)).collect();
        let alternative = |alternative: &Alternative| Alternative {
            some: alternative.some.iter().map(|set| of(set)).collect(),
            none: of(&alternative.none),
        };
        Condition(self.0.iter().map(alternative).collect())
    }
}

impl Members {
    /// Whether the list has conditions, `ones`, or members that share a key.
    pub fn is_conditional(&self) -> bool {
        !self.conditions.is_empty()
            || !self.ones.is_empty()
            || self.members.windows(2).any(|pair| pair[0].key == pair[1].key)
    }

    /// The conditions in conjunctive normal form.
    pub(crate) fn clauses(&self) -> Clauses {
        let required: Vec<bool> = self.members.iter().map(|member| member.required).collect();
        let groups = groups(&self.members, |one, other| one.key == other.key);
        Clauses::new(&self.conditions, &groups, &required, self.members.len() + self.ones.len())
    }

    /// Refuses conditions that take too many decisions to combine.
    ///
    /// # Errors
    /// `limit/exceeded` for the limit `condition_search`.
    pub(crate) fn check_conditions(&self, limits: &Limits) -> Result<(), Error> {
        let is_counted = self.min > 0 || self.max.is_some();
        let limit = limits.condition_search;
        if self.is_conditional() && !self.clauses().is_decidable(is_counted, limit) {
            return Err(undecidable(limit));
        }
        Ok(())
    }

    /// Whether the list has a word. `has_words` says which entries have words; the pair says whether the rest has
    /// words, and whether the separator has words.
    pub(crate) fn has_lists(
        &self,
        (rest, separator): (bool, bool),
        has_words: impl Fn(usize) -> bool,
    ) -> bool {
        let entries = self.members.len() + self.ones.len();
        let mut open = FixedBitSet::with_capacity(entries);
        (0..entries).for_each(|entry| open.set(entry, has_words(entry)));
        let max = if separator { self.max } else { Some(self.max.unwrap_or(1).min(1)) };
        Constraints {
            clauses: &self.clauses(),
            came: &FixedBitSet::new(),
            open: &open,
            count: (self.min, max),
            keyless: None,
            rest,
        }
        .is_satisfiable()
    }
}
