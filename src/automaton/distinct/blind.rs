//! Configurations that do not remember: what may come in them is what may come whatever items were seen.
//!
//! The frame of a list whose item is open then only says whether the list may end and go on after this item. An item
//! that begins later in the same text might be the same as this one; it takes the tape to know, so a blind configuration
//! ends there in [`ConfigurationId::UNSURE`]. So blind configurations have the masks that strings and objects have anywhere,
//! and few tokens are left to be looked at one by one.

use super::likes::Likes;
use super::{TapeId, code};
use crate::automaton::Automaton;
use crate::automaton::closure::Item;
use crate::automaton::stack::{Frame, StackId, is_register};
use crate::automaton::table::{ConfigurationId, Tables};
use rustc_hash::FxHashMap;

/// Values that items may become which are open in a configuration.
#[derive(Clone, Debug)]
pub(crate) struct Likeness(Vec<Likes>);

impl Tables {
    /// Whether the configuration remembers what was read. Bytes of one class may then lead to different ones.
    #[inline]
    pub(crate) fn remembers(&self, id: ConfigurationId) -> bool {
        self.tape(id) != TapeId::NONE
    }

    /// The configuration without what it remembers. Whatever it allows, this one does, but for what is unsure.
    pub(crate) fn blind(&mut self, automaton: &Automaton, id: ConfigurationId) -> ConfigurationId {
        if !self.remembers(id) {
            return id;
        }
        let mut items = self.items(id).to_vec();
        let mut known = std::mem::take(&mut self.memory.blind);
        for item in &mut items {
            let keep = |tables: &Tables, value| Some(tables.blind_value(automaton, value));
            item.stack = self.rewrite(item.stack, &mut known, keep).unwrap_or(item.stack);
        }
        self.memory.blind = known;
        self.intern(&items, self.successors().marks(id), TapeId::NONE)
    }

    fn blind_value(&self, automaton: &Automaton, value: u32) -> u32 {
        let register = self.memory.registers[code::register(value) as usize];
        let list = automaton.distinct(register.list);
        if !list.endless {
            return code::UNSURE;
        }
        let count = register.count.saturating_add(1);
        let may_end = if count >= list.min { code::MAY_END } else { 0 };
        may_end | if list.may_go_on(count) { code::MAY_GO_ON } else { 0 }
    }

    /// Takes a register out of the stacks of a configuration, with all that stands on it.
    pub(super) fn remove_register(&mut self, items: &mut Vec<Item>, value: u32) {
        let mut known = FxHashMap::default();
        items.retain_mut(|item| {
            let others = |_: &Tables, other| (other != value).then_some(other);
            let stack = self.rewrite(item.stack, &mut known, others);
            item.stack = stack.unwrap_or(item.stack);
            stack.is_some()
        });
    }

    /// The stacks with other values in place of their registers; those with a register that gets none are left out.
    fn rewrite(
        &mut self,
        root: StackId,
        known: &mut FxHashMap<StackId, Option<StackId>>,
        value: impl Fn(&Tables, u32) -> Option<u32>,
    ) -> Option<StackId> {
        let mut open = vec![root];
        while let Some(&stack) = open.last() {
            if known.contains_key(&stack) {
                open.pop();
                continue;
            }
            if !self.stacks.has_register(stack) {
                known.insert(stack, Some(stack));
                continue;
            }
            let missing = open.len();
            open.extend(self.stacks.frames(stack).iter().map(|f| f.below).filter(|b| !known.contains_key(b)));
            if open.len() > missing {
                continue;
            }
            let mut all: Option<StackId> = None;
            for place in 0..self.stacks.frame_count(stack) {
                let Frame { to_return, value: old, below } = self.stacks.frame(stack, place);
                let new = if is_register(old) { value(self, old) } else { Some(old) };
                let (Some(new), Some(Some(below))) = (new, known.get(&below).copied()) else { continue };
                let one = self.stacks.push(to_return, new, below);
                all = Some(all.map_or(one, |all| self.stacks.union(all, one)));
            }
            known.insert(stack, all);
        }
        known.get(&root).copied().flatten()
    }

    /// The values that the open items of a configuration may become and must not.
    pub(crate) fn likeness(&self, id: ConfigurationId) -> Likeness {
        let alerts = self.memory.alerts.get(&id);
        let all = alerts.iter().flat_map(|alerts| alerts.iter());
        Likeness(all.map(|alert| self.like(alert, id)).filter(|likes| !likes.is_empty()).collect())
    }

    /// What is left of a likeness after one more byte, if anything is.
    pub(crate) fn alike(&self, likeness: &Likeness, byte: u8) -> Option<Likeness> {
        let left = likeness.0.iter().map(|likes| self.memory.advanced(likes, byte));
        let left: Vec<Likes> = left.filter(|likes| !likes.is_empty()).collect();
        (!left.is_empty()).then_some(Likeness(left))
    }
}

impl Likeness {
    /// Whether there are no values.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
