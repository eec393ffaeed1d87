//! Which members a list still needs: the conditions of [`Members`], and whether they can be met.

use super::expression::{Alternative, Condition, Members};
use fixedbitset::FixedBitSet;

/// Sets of entries that a search looks at.
pub(crate) const SEARCH: usize = 1 << 14;

/// How far a list has come, and what may still come.
#[derive(Debug)]
pub(crate) struct Outlook<'o> {
    /// The conditions, over entries.
    pub(crate) conditions: &'o [Condition],
    /// The entries that came.
    pub(crate) came: &'o FixedBitSet,
    /// The entries that may still come as far as their words, their keys and their order go.
    pub(crate) open: &'o FixedBitSet,
    /// Per entry with a key, the first entry with that key; entries from there on have no keys.
    pub(crate) groups: &'o [u32],
    /// Per entry with a key, whether one with this key must come.
    pub(crate) required: &'o [bool],
    /// How many more members must come, and may come.
    pub(crate) count: (u32, Option<u32>),
    /// How many members without a key may come at all; `None` is without bound.
    pub(crate) keyless: Option<u32>,
    /// Whether there are further members, any number of them.
    pub(crate) rest: bool,
}

/// Whether conditions hold where no more members come.
pub(crate) fn hold(conditions: &[Condition], came: &FixedBitSet) -> bool {
    conditions.iter().all(|condition| {
        condition.0.iter().any(|alternative| {
            let one_came = |set: &[u32]| set.iter().any(|&entry| came.contains(entry as usize));
            alternative.some.iter().all(|set| one_came(set)) && !one_came(&alternative.none)
        })
    })
}

/// Per member, the first one with its key; those of the same key stand side by side.
pub(crate) fn groups<M>(members: &[M], have_one_key: impl Fn(&M, &M) -> bool) -> Vec<u32> {
    let mut groups: Vec<u32> = Vec::with_capacity(members.len());
    for (place, member) in members.iter().enumerate() {
        let first = groups.last().copied().filter(|&last| have_one_key(&members[last as usize], member));
        groups.push(first.unwrap_or(place as u32));
    }
    groups
}

/// What is decided of the entries that may still come.
#[derive(Clone)]
struct Decision {
    conditions: usize,
    chosen: FixedBitSet,
    barred: FixedBitSet,
}

impl Outlook<'_> {
    fn group(&self, entry: usize) -> usize {
        self.groups.get(entry).map_or(entry, |&group| group as usize)
    }

    fn in_group(&self, entry: usize) -> std::ops::Range<usize> {
        let group = self.group(entry);
        let end = match self.groups.get(entry) {
            Some(_) => self.groups[group..].iter().take_while(|&&other| other as usize == group).count(),
            None => 1,
        };
        group..group + end
    }

    /// Whether the list can be finished; nothing if that takes too long to find out.
    pub(crate) fn can_be_finished(&self) -> Option<bool> {
        let none = FixedBitSet::with_capacity(self.open.len());
        let mut stack = vec![Decision { conditions: 0, chosen: none.clone(), barred: none }];
        for _ in 0..SEARCH {
            let Some(decision) = stack.pop() else { return Some(false) };
            let Some(condition) = self.conditions.get(decision.conditions) else {
                if self.is_enough(&decision) {
                    return Some(true);
                }
                continue;
            };
            let before = stack.len();
            for alternative in &condition.0 {
                let mut ways = vec![decision.clone()];
                ways[0].conditions += 1;
                if alternative.none.iter().any(|&entry| self.is_there(&decision, entry as usize)) {
                    continue;
                }
                ways[0].barred.extend(alternative.none.iter().map(|&entry| entry as usize));
                let sets = alternative.some.iter();
                for set in
                    sets.filter(|set| !set.iter().any(|&entry| self.is_there(&decision, entry as usize)))
                {
                    ways = ways.iter().flat_map(|way| self.with_one_of(way, set)).collect();
                }
                // nothing else needs a look where one holds as it is
                let says_nothing = |way: &Decision| {
                    way.chosen == decision.chosen
                        && way.barred.difference(&decision.barred).all(|entry| !self.open.contains(entry))
                };
                if let Some(way) = ways.iter().find(|way| says_nothing(way)) {
                    stack.truncate(before);
                    stack.push(way.clone());
                    break;
                }
                stack.extend(ways);
            }
        }
        None
    }

    /// Whether an entry came or is chosen.
    fn is_there(&self, decision: &Decision, entry: usize) -> bool {
        self.came.contains(entry) || decision.chosen.contains(entry)
    }

    fn may_be_chosen(&self, decision: &Decision, entry: usize) -> bool {
        self.open.contains(entry)
            && !decision.barred.contains(entry)
            && !self.in_group(entry).any(|other| decision.chosen.contains(other))
    }

    /// The decision with one of a set, for each that may be.
    fn with_one_of(&self, decision: &Decision, set: &[u32]) -> Vec<Decision> {
        let entries = set.iter().map(|&entry| entry as usize);
        if set.iter().any(|&entry| decision.chosen.contains(entry as usize)) {
            return vec![decision.clone()];
        }
        let with = |entry| {
            let mut longer = decision.clone();
            longer.chosen.insert(entry);
            longer
        };
        entries.filter(|&entry| self.may_be_chosen(decision, entry)).map(with).collect()
    }

    /// Whether the entries that are not barred can be added to those that are chosen as is required, within the bounds.
    fn is_enough(&self, decision: &Decision) -> bool {
        let mut count = decision.chosen.count_ones(..) as u32;
        let keyless = decision.chosen.ones().filter(|&entry| entry >= self.groups.len()).count() as u32;
        let mut optional = 0;
        let mut group = 0;
        while group < self.groups.len() {
            let entries = self.in_group(group);
            let is_there = entries.clone().any(|entry| self.is_there(decision, entry));
            let may_come = entries.clone().any(|entry| self.may_be_chosen(decision, entry));
            match (is_there, self.required[group]) {
                (false, true) if !may_come => return false,
                (false, true) => count += 1,
                (false, false) => optional += u32::from(may_come),
                (true, _) => {}
            }
            group = entries.end;
        }
        if self.keyless.is_some_and(|most| keyless > most) {
            return false;
        }
        let others =
            (self.groups.len()..self.open.len()).filter(|&entry| self.may_be_chosen(decision, entry));
        let others = if self.rest { u32::MAX } else { others.count() as u32 };
        let others = self.keyless.map_or(others, |most| others.min(most - keyless));
        let (least, most) = self.count;
        most.is_none_or(|most| count.max(least) <= most)
            && count.saturating_add(optional).saturating_add(others) >= least
    }
}

impl Condition {
    /// The condition over entries that have other places, or none as they can never come.
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
    /// Whether it takes the conditions to know which members must come, or members share keys.
    pub fn is_conditional(&self) -> bool {
        !self.conditions.is_empty()
            || !self.ones.is_empty()
            || self.members.windows(2).any(|pair| pair[0].key == pair[1].key)
    }

    /// Whether there is a list of the entries that have words; nothing if that takes too long to find out.
    pub(crate) fn has_lists(
        &self,
        (rest, separator): (bool, bool),
        has_words: impl Fn(usize) -> bool,
    ) -> Option<bool> {
        let entries = self.members.len() + self.ones.len();
        let came = FixedBitSet::with_capacity(entries);
        let open = (0..entries).filter(|&entry| has_words(entry)).collect::<FixedBitSet>();
        let mut all = FixedBitSet::with_capacity(entries);
        all.union_with(&open);
        let required: Vec<bool> = self.members.iter().map(|member| member.required).collect();
        let max = if separator { self.max } else { Some(self.max.unwrap_or(1).min(1)) };
        Outlook {
            conditions: &self.conditions,
            came: &came,
            open: &all,
            groups: &groups(&self.members, |one, other| one.key == other.key),
            required: &required,
            count: (self.min, max),
            keyless: None,
            rest,
        }
        .can_be_finished()
    }
}
