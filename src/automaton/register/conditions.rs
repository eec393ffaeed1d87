//! Member lists with conditions at run time. The entries present are a set, and a further entry is allowed only if the
//! list can then be finished. The answers are cached.

use super::seen_sets::Progress;
use crate::automaton::program::ids::StateId;
use crate::automaton::program::registers::{Conditional, Members};
use crate::automaton::run::cache::Cache;
use crate::automaton::run::frame_value::FrameValue;
use crate::automaton::run::lazy::Lazy;
use crate::error::Result;
use crate::grammar::conditions;
use crate::grammar::conditions::Constraints;
use fixedbitset::FixedBitSet;
use smallvec::SmallVec;

/// The id of a list, the list, and its conditions.
type Conditioned<'l> = (u32, &'l Members, &'l Conditional);

impl Members {
    /// The number of entries: members and ones.
    fn entries(&self) -> usize {
        self.values.len() + self.ones.len()
    }
}

impl Cache {
    /// The value of the list's frame after an entry; `None` if the entry is not allowed.
    pub(in crate::automaton) fn entry_after(
        &mut self,
        list: Conditioned<'_>,
        at: Progress,
        entry: u32,
    ) -> Result<Option<FrameValue>> {
        let is_open = self.open_entries(list, at).contains(entry as usize);
        if !is_open {
            return Ok(None);
        }
        let (_, members, _) = list;
        let mut base = self.seen.with(at.base, entry);
        let keyless = entry as usize >= members.values.len();
        if keyless && !members.any_order {
            base = self.seen.with(base, members.entries() as u32);
        }
        self.finishable(list, Progress { base, ..at }, keyless)
    }

    /// The starts of the allowed members without a key, each with the value of the list's frame after the member.
    pub(in crate::automaton) fn additional_entries(
        &mut self,
        list: Conditioned<'_>,
        at: Progress,
    ) -> Result<SmallVec<[(StateId, FrameValue); 2]>> {
        let (_, members, _) = list;
        let mut further = SmallVec::new();
        if let Some(rest) = members.rest {
            let marked = members.entries() as u32;
            let base = if members.any_order { at.base } else { self.seen.with(at.base, marked) };
            let after = self.finishable(list, Progress { base, ..at }, true)?;
            further.extend(after.map(|after| (rest, after)));
        }
        for (place, &one) in members.ones.iter().enumerate() {
            let after = self.entry_after(list, at, (members.values.len() + place) as u32)?;
            further.extend(after.map(|after| (one, after)));
        }
        Ok(further)
    }

    /// Whether the present entries satisfy the conditions and include all required members; the number of members is
    /// not checked.
    pub(in crate::automaton) fn conditions_hold(
        &self,
        list: &Members,
        conditional: &Conditional,
        at: Progress,
    ) -> bool {
        let came = self.seen.get(at.base);
        let groups = conditional.groups.iter().enumerate();
        let mut required = groups.filter(|&(entry, &group)| entry == group as usize && list.required[entry]);
        let comes =
            |first: usize| came.ones().any(|entry| conditional.groups.get(entry) == Some(&(first as u32)));
        required.all(|(first, _)| comes(first)) && conditions::hold(&conditional.conditions, came)
    }

    /// The entries that the keys and the order of the entries alone allow next.
    fn open_entries(&self, (_, list, conditional): Conditioned<'_>, at: Progress) -> FixedBitSet {
        let came = self.seen.get(at.base);
        let mut open = FixedBitSet::with_capacity(list.entries());
        open.insert_range(..);
        for entry in came.ones() {
            match conditional.groups.get(entry) {
                Some(&group) if list.any_order => {
                    let others = (group as usize..conditional.groups.len())
                        .take_while(|&other| conditional.groups[other] == group);
                    others.for_each(|other| open.set(other, false));
                }
                Some(&group) => {
                    let after = conditional.groups.partition_point(|&other| other <= group);
                    open.set_range(..after, false);
                }
                None if entry < list.entries() => open.set(entry, false),
                // in declared order, members with keys precede members without keys
                None => open.set_range(..conditional.groups.len(), false),
            }
        }
        open
    }

    /// The value of the list's frame after one more member, with or without a key; `None` if the list cannot be
    /// finished then.
    fn finishable(
        &mut self,
        list: Conditioned<'_>,
        at: Progress,
        keyless: bool,
    ) -> Result<Option<FrameValue>> {
        let (m, members, conditional) = list;
        let further = at.further + u32::from(keyless && members.max_additional.is_some());
        let at = Progress { count: at.count + 1, further, ..at };
        let too_many = members.max.is_some_and(|max| at.count > max)
            || members.max_additional.is_some_and(|most| at.further > most);
        if too_many {
            return Ok(None);
        }
        let value = self.value_of(members, at);
        if let Some(&known) = self.counted.finished.get(&(m, value)) {
            return Ok(known.then_some(value));
        }
        let constraints = Constraints {
            clauses: &conditional.clauses,
            came: self.seen.get(at.base),
            open: &self.open_entries(list, at),
            count: (members.min.saturating_sub(at.count), members.max.map(|max| max - at.count)),
            keyless: members.max_additional.map(|most| most - at.further),
            rest: members.rest.is_some(),
        };
        let answer = constraints.is_satisfiable();
        self.counted.finished.insert((m, value), answer);
        Ok(answer.then_some(value))
    }
}

impl Lazy<'_> {
    /// Whether a list of at least one member exists; true if the list has no conditions.
    pub(in crate::automaton) fn has_members(&mut self, m: u32) -> Result<bool> {
        let automaton = self.automaton;
        let list = automaton.members(m);
        let Some(conditional) = &list.conditional else { return Ok(true) };
        let (list, at) = ((m, list, &**conditional), Progress::default());
        for entry in 0..list.1.values.len() as u32 {
            if self.entry_after(list, at, entry)?.is_some() {
                return Ok(true);
            }
        }
        Ok(!self.additional_entries(list, at)?.is_empty())
    }
}
