//! What a plan's state holds beside the configuration: how often actions and groups came, and what is required.

use crate::error::Result;
use crate::limits::Limits;
use crate::syntax::automaton_spec::{Codes, Direction, Spec};
use rustc_hash::FxHashMap;

/// One counter: at least and at most so often.
#[derive(Clone, Copy, Debug)]
struct Counter {
    min: u32,
    max: u32,
}

/// What an action of a class does to the registers.
#[derive(Clone, Debug, Default)]
struct Effect {
    /// Counters that it raises.
    counts: Vec<usize>,
    /// Flags: it needs these set (forward), or sets them (backward).
    needs: Vec<usize>,
    /// Flags: it sets these (forward), or clears them (backward).
    gives: Vec<usize>,
}

/// The registers of a spec, and the values that came up, interned.
#[derive(Debug)]
pub(super) struct Registers {
    counters: Vec<Counter>,
    effects: Vec<Effect>,
    /// Per class, the counter of how many of its members were used, where each may be used once.
    own: Vec<Option<usize>>,
    backward: bool,
    flags: usize,
    values: Vec<Box<[u32]>>,
    ids: FxHashMap<Box<[u32]>, u32>,
}

impl Registers {
    pub(super) fn new(spec: &Spec, codes: &Codes) -> Registers {
        let mut counters = Vec::new();
        let mut effects = vec![Effect::default(); codes.classes.len()];
        let mut own = vec![None; codes.classes.len()];
        for (number, class) in codes.classes.iter().enumerate() {
            let members = u32::try_from(class.members.len()).unwrap_or(u32::MAX);
            if let Some((min, _)) = class.each {
                own[number] = Some(counters.len());
                effects[number].counts.push(counters.len());
                counters.push(Counter { min: min * members, max: members });
            }
        }
        for limit in spec.symbol_limits().iter().filter(|limit| !limit.is_once()) {
            let mut classes: Vec<usize> = limit
                .symbols
                .iter()
                .filter_map(|&symbol| codes.class_of.get(symbol).copied().flatten())
                .collect();
            classes.sort_unstable();
            classes.dedup();
            classes.iter().for_each(|&class| effects[class].counts.push(counters.len()));
            counters.push(Counter { min: limit.min, max: limit.max.unwrap_or(u32::MAX) });
        }
        let ids: FxHashMap<&str, usize> =
            spec.symbols().iter().enumerate().map(|(place, symbol)| (symbol.id.as_str(), place)).collect();
        let mut flags: FxHashMap<usize, usize> = FxHashMap::default();
        for (number, class) in codes.classes.iter().enumerate() {
            for required in class.members.iter().flat_map(|&symbol| &spec.symbols()[symbol].requires) {
                let Some(&required) = ids.get(required.as_str()) else { continue };
                let next = counters.len() + flags.len();
                let flag = *flags.entry(required).or_insert(next);
                effects[number].needs.push(flag);
                if flag == next
                    && let Some(class) = codes.class_of.get(required).copied().flatten()
                {
                    effects[class].gives.push(flag);
                }
            }
        }
        let width = counters.len() + flags.len();
        let backward = spec.direction() == Direction::Backward;
        let mut registers = Registers {
            counters,
            effects,
            own,
            backward,
            flags: flags.len(),
            values: Vec::new(),
            ids: FxHashMap::default(),
        };
        registers.intern(vec![0; width].into());
        registers
    }

    /// Whether there are any: without them every configuration can be completed.
    pub(super) fn is_empty(&self) -> bool {
        self.counters.is_empty() && self.flags == 0
    }

    /// Whether an action of the class changes the registers, or depends on them.
    pub(super) fn concerns(&self, class: usize) -> bool {
        let effect = &self.effects[class];
        !(effect.counts.is_empty() && effect.needs.is_empty() && effect.gives.is_empty())
    }

    fn intern(&mut self, value: Box<[u32]>) -> u32 {
        if let Some(&id) = self.ids.get(&value) {
            return id;
        }
        let id = self.values.len() as u32;
        self.values.push(value.clone());
        self.ids.insert(value, id);
        id
    }

    /// How many members of the class were used, where each may be used once.
    pub(super) fn used(&self, id: u32, class: usize) -> u32 {
        self.own[class].map_or(0, |counter| self.values[id as usize][counter])
    }

    /// The registers after an action of the class, if it may come.
    pub(super) fn after(&mut self, id: u32, class: usize) -> Option<u32> {
        let effect = &self.effects[class];
        let value = &self.values[id as usize];
        let full = |&counter: &usize| value[counter] >= self.counters[counter].max;
        let missing = !self.backward && effect.needs.iter().any(|&flag| value[flag] == 0);
        if missing || effect.counts.iter().any(full) {
            return None;
        }
        if !self.concerns(class) {
            return Some(id);
        }
        let mut value = value.clone();
        for &counter in &effect.counts {
            let Counter { min, max } = self.counters[counter];
            // without an upper bound only "enough" matters
            if max < u32::MAX || value[counter] < min {
                value[counter] += 1;
            }
        }
        let gives = u32::from(!self.backward);
        effect.gives.iter().for_each(|&flag| value[flag] = gives);
        if self.backward {
            effect.needs.iter().for_each(|&flag| value[flag] = 1);
        }
        Some(self.intern(value))
    }

    /// Whether a plan may end here.
    pub(super) fn is_complete(&self, id: u32) -> bool {
        let value = &self.values[id as usize];
        let counted = self.counters.iter().zip(value.iter()).all(|(counter, &count)| count >= counter.min);
        counted && (!self.backward || value[self.counters.len()..].iter().all(|&flag| flag == 0))
    }

    /// Refuses more values than states are allowed.
    pub(super) fn check(&self, limits: &Limits) -> Result<()> {
        if self.values.len() > limits.plan_states {
            return Err(Limits::exceeded("plan_states", limits.plan_states, "more values of registers"));
        }
        Ok(())
    }
}
