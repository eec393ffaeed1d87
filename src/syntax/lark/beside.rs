//! Which lazy rules may begin where something else may.

use super::lower::is_terminal;
use super::parser::{Body, Definition, Item, Part};
use rustc_hash::FxHashMap;

/// Lazy rules by their numbers, sorted.
pub(super) type Set = Vec<u32>;

/// The members of either set.
pub(super) fn union(one: &[u32], other: &[u32]) -> Set {
    let mut all = [one, other].concat();
    all.sort_unstable();
    all.dedup();
    all
}

/// The lazy rules that something may begin with, and whether it may be empty.
type First = (Set, bool);

/// What each rule may begin with. Nothing is known of grammars without lazy rules.
#[derive(Default)]
pub(super) struct Firsts<'s> {
    of: FxHashMap<&'s str, First>,
    numbers: FxHashMap<&'s str, u32>,
}

impl<'s> Firsts<'s> {
    pub(super) fn new(definitions: &[Definition<'s>], numbers: FxHashMap<&'s str, u32>) -> Firsts<'s> {
        let mut firsts = Firsts { of: FxHashMap::default(), numbers };
        let mut changes = !firsts.is_empty();
        while std::mem::take(&mut changes) {
            let rules = definitions.iter().filter(|it| !is_terminal(it.name) && !it.attributes.is_lazy);
            for definition in rules {
                let first = firsts.body(&definition.body);
                if firsts.of.get(definition.name) != Some(&first) {
                    firsts.of.insert(definition.name, first);
                    changes = true;
                }
            }
        }
        firsts
    }

    /// Whether there is no lazy rule.
    pub(super) fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    pub(super) fn body(&self, body: &Body<'s>) -> First {
        let mut all = (Set::new(), false);
        if self.is_empty() {
            return all;
        }
        for parts in body {
            let mut may_be_empty = true;
            for part in parts {
                let (first, is_empty) = self.part(part);
                all.0 = union(&all.0, &first);
                if !is_empty {
                    may_be_empty = false;
                    break;
                }
            }
            all.1 |= may_be_empty;
        }
        all
    }

    pub(super) fn part(&self, part: &Part<'s>) -> First {
        let (first, is_empty) = self.item(&part.item);
        match part.max {
            Some(0) => (Set::new(), true),
            _ => (first, is_empty || part.min == 0),
        }
    }

    pub(super) fn item(&self, item: &Item<'s>) -> First {
        match item {
            Item::Group(body) => self.body(body),
            Item::Name(name) => match (self.numbers.get(name), self.of.get(name)) {
                (Some(&number), _) => (vec![number], false),
                (None, Some(first)) => first.clone(),
                (None, None) => (Set::new(), false),
            },
            Item::Text { text, .. } => (Set::new(), text.is_empty()),
            _ => (Set::new(), false),
        }
    }
}
