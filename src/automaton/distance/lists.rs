//! Bounds on the members that lists still require.

use super::measure::{ENDLESS, Measure};
use crate::automaton::program::ids::StateId;
use crate::automaton::program::key_trie::KeyTrie;
use crate::automaton::program::registers::Members;
use crate::automaton::register::seen_sets::{Progress, SeenSets};

/// The length of the key of each member, and the length of the path to each node of the trie of keys.
pub(in crate::automaton) fn key_lengths(
    keys: &KeyTrie,
    members: usize,
    measure: &Measure,
) -> (Vec<u32>, Vec<u32>) {
    let (mut lengths, mut depths) = (vec![0u32; members], vec![0u32; keys.len()]);
    // children have larger ids than their parents
    for node in 0..keys.len() as u32 {
        let depth = depths[node as usize];
        keys.ends(node).iter().for_each(|&member| lengths[member as usize] = depth);
        keys.edges(node)
            .for_each(|(byte, child)| depths[child as usize] = depth.saturating_add(measure.of_byte(byte)));
    }
    (lengths, depths)
}

/// Per member, the first member with its key.
pub(in crate::automaton) fn groups(list: &Members) -> Vec<u32> {
    match &list.conditional {
        Some(conditional) => conditional.groups.clone(),
        None => (0..list.values.len() as u32).collect(),
    }
}

/// Bounds on the lengths of the members of a list.
#[derive(Debug)]
pub(in crate::automaton) struct ListCosts {
    /// Per member, the length of its key and value.
    pub(in crate::automaton) members: Vec<u32>,
    /// Per node of the trie of keys, the length of the path to it.
    pub(in crate::automaton) depths: Vec<u32>,
    /// Per member, the first member with its key.
    groups: Vec<u32>,
    /// The length of the shortest member, further members included.
    any: u32,
    separator: u32,
    pub(in crate::automaton) exit: u32,
}

/// Bounds on the members that must still follow.
#[derive(Clone, Copy, Debug)]
pub(in crate::automaton) struct ToCome {
    /// The length of the required members, without separators.
    required: u32,
    /// The number of required members.
    count: u32,
    /// The number of other members, of any kind, that are needed to reach the minimum.
    more: u32,
}

fn times(count: u32, each: u32) -> u32 {
    if count == 0 { 0 } else { each.saturating_mul(count) }
}

impl ListCosts {
    pub(in crate::automaton) fn new(
        list: &Members,
        measure: &Measure,
        state: impl Fn(StateId) -> u32,
    ) -> ListCosts {
        let (key_lengths, depths) = key_lengths(&list.keys, list.values.len(), measure);
        let values = list.values.iter().zip(&key_lengths);
        let members: Vec<u32> = values.map(|(&value, key)| state(value).saturating_add(*key)).collect();
        let others = list.rest.iter().chain(&list.ones).map(|&start| state(start)).min().unwrap_or(ENDLESS);
        ListCosts {
            any: members.iter().copied().min().unwrap_or(ENDLESS).min(others),
            members,
            depths,
            groups: groups(list),
            separator: state(list.separator),
            exit: state(list.exit),
        }
    }

    /// Bytes, including the struct itself and the heap.
    pub(in crate::automaton) fn memory_usage(&self) -> usize {
        size_of::<ListCosts>() + 4 * (self.members.len() + self.depths.len() + self.groups.len())
    }

    fn group(&self, first: usize) -> std::ops::Range<usize> {
        let group = self.groups[first];
        first..first + self.groups[first..].iter().take_while(|&&other| other == group).count()
    }

    fn least(&self, group: std::ops::Range<usize>) -> u32 {
        self.members[group].iter().copied().min().unwrap_or(ENDLESS)
    }

    /// Whether a member was read or, in declared order without conditions, whether the list has passed its place.
    pub(in crate::automaton) fn is_past(seen: &SeenSets, list: &Members, at: Progress, member: u32) -> bool {
        match list.any_order || list.conditional.is_some() {
            true => seen.contains(at.base, member),
            false => member < at.base,
        }
    }

    /// The members that must still follow at a position of a list, judged by the required members and the minimum
    /// alone: conditions are ignored.
    pub(in crate::automaton) fn to_come(&self, seen: &SeenSets, list: &Members, at: Progress) -> ToCome {
        let (mut required, mut count, mut first) = (0u32, 0u32, 0);
        while first < self.groups.len() {
            let group = self.group(first);
            first = group.end;
            let is_past = |member| ListCosts::is_past(seen, list, at, member as u32);
            if list.required[group.start] && !group.clone().any(is_past) {
                required = required.saturating_add(self.least(group));
                count += 1;
            }
        }
        ToCome { required, count, more: list.min.saturating_sub(at.count.saturating_add(count)) }
    }

    /// The members that must still follow `member`, which is being read.
    pub(in crate::automaton) fn without(&self, list: &Members, to_come: ToCome, member: usize) -> ToCome {
        match list.required[member] {
            true => {
                let least = self.least(self.group(self.groups[member] as usize));
                let required = to_come.required.saturating_sub(least);
                ToCome { required, count: to_come.count.saturating_sub(1), ..to_come }
            }
            false => ToCome { more: to_come.more.saturating_sub(1), ..to_come },
        }
    }

    /// The length of the members still required after a member, each preceded by a separator.
    pub(in crate::automaton) fn after_member(&self, to_come: ToCome) -> u32 {
        let separators = times(to_come.count.saturating_add(to_come.more), self.separator);
        to_come.required.saturating_add(times(to_come.more, self.any)).saturating_add(separators)
    }

    /// An upper bound on the length still required after a member; [`ENDLESS`] if optional members must follow.
    pub(in crate::automaton) fn at_most_after_member(&self, to_come: ToCome) -> u32 {
        if to_come.more > 0 { ENDLESS } else { self.after_member(to_come) }
    }

    /// An upper bound on the length still required after a separator: the required members or, if there are none, the
    /// shortest member with a key that is left. Further members are not considered, because their names may have to
    /// differ. [`ENDLESS`] if members in addition to the required ones are needed to reach the minimum, or if no member
    /// is left.
    pub(in crate::automaton) fn at_most_after_separator(
        &self,
        seen: &SeenSets,
        list: &Members,
        at: Progress,
        to_come: ToCome,
    ) -> u32 {
        if to_come.more > 0 {
            return ENDLESS;
        }
        if to_come.count > 0 {
            return self.after_separator(to_come);
        }
        let open =
            (0..self.members.len()).filter(|&member| !ListCosts::is_past(seen, list, at, member as u32));
        open.map(|member| self.members[member]).min().unwrap_or(ENDLESS)
    }

    /// The length of the members still required after a separator: at least one member.
    pub(in crate::automaton) fn after_separator(&self, to_come: ToCome) -> u32 {
        let more = to_come.more.max(u32::from(to_come.count == 0));
        let separators = times((to_come.count.saturating_add(more)).saturating_sub(1), self.separator);
        to_come.required.saturating_add(times(more, self.any)).saturating_add(separators)
    }
}
