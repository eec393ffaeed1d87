//! Registers of a plan's state, in addition to the configuration: counts of actions and groups, and variables of
//! formulas.

use grammata::error::Result;
use grammata::limits::{LimitKind, Limits};
use grammata::syntax::automaton_spec::{Assignment, Codes, Direction, Formula, Spec};
use rustc_hash::FxHashMap;

/// A counter and its bounds, both inclusive.
#[derive(Clone, Copy, Debug)]
struct Counter {
    min: u32,
    max: u32,
}

/// The effect of an action of a class on the registers.
#[derive(Clone, Debug, Default)]
struct Effect {
    /// Counters that the action increments.
    counts: Vec<usize>,
    /// Forward: the condition that must hold, over the indices of variables.
    requires: Formula,
    /// Forward: the assignments of each outcome (one entry for an action without outcomes).
    assigns: Vec<Vec<Assignment>>,
    /// In a backward spec, the flags that the action sets for the actions that must come before it in the plan, and so
    /// after it in the word.
    needs: Vec<usize>,
    /// In a backward spec, the flags that the action clears.
    gives: Vec<usize>,
    /// Whether the action can repeat without bound: nothing bounds it except formulas.
    is_unbounded: bool,
    /// Whether the action can be inserted anywhere, any number of times, without ruling anything out.
    is_harmless: bool,
}

/// The registers of a spec and an interning table of their values. A value holds the counters, then the variables that
/// formulas read (forward) or a flag for each action that is still required (backward).
#[derive(Debug)]
pub(super) struct Registers {
    counters: Vec<Counter>,
    effects: Vec<Effect>,
    /// For each class whose members may each be used once, the counter of used members.
    own: Vec<Option<usize>>,
    backward: bool,
    values: Vec<Box<[u32]>>,
    ids: FxHashMap<Box<[u32]>, u32>,
    /// Memory of the values and their ids, in bytes.
    bytes: usize,
}

impl Registers {
    pub(super) fn new(spec: &Spec, codes: &Codes) -> Registers {
        let mut registers = Registers {
            counters: Vec::new(),
            effects: vec![Effect::default(); codes.classes.len()],
            own: vec![None; codes.classes.len()],
            backward: spec.direction() == Direction::Backward,
            values: Vec::new(),
            ids: FxHashMap::default(),
            bytes: 0,
        };
        registers.count(spec, codes);
        let mut initial = vec![0; registers.counters.len()];
        // the indices of the variables that formulas read
        let facts = spec.facts();
        let mut places: FxHashMap<usize, usize> = FxHashMap::default();
        for (number, variable) in facts.variables().iter().enumerate() {
            if facts.is_read(number) {
                places.insert(number, initial.len());
                initial.push(if registers.backward { 0 } else { variable.initial });
            }
        }
        let monotone = facts.monotone();
        for (effect, class) in registers.effects.iter_mut().zip(&codes.classes) {
            let Some(&first) = class.members.first() else { continue };
            let rules = facts.rules(first);
            let assigns = |outcome: Option<usize>| -> Vec<Assignment> {
                let placed = |(variable, value)| Some((*places.get(&variable)?, value));
                rules.effects(outcome).filter_map(placed).collect()
            };
            if registers.backward {
                let required =
                    rules.requires.atoms().filter_map(|(variable, _)| places.get(&variable).copied());
                effect.needs = required.collect();
                effect.gives = assigns(None).into_iter().map(|(place, _)| place).collect();
                effect.assigns = vec![Vec::new()];
            } else {
                effect.requires =
                    rules.requires.renumbered(|variable| places.get(&variable).copied().unwrap_or(0));
                effect.assigns = match rules.outcomes.len() {
                    0 => vec![assigns(None)],
                    outcomes => (0..outcomes).map(|outcome| assigns(Some(outcome))).collect(),
                };
            }
            let bounded = |&counter: &usize| registers.counters[counter].max < u32::MAX;
            effect.is_unbounded = !effect.counts.iter().any(bounded);
            let outcomes = (0..rules.outcomes.len().max(1)).flat_map(|outcome| rules.effects(Some(outcome)));
            let mut read = outcomes.filter(|(variable, _)| facts.is_read(*variable));
            effect.is_harmless = effect.is_unbounded
                && rules.requires.is_always()
                && read.all(|(variable, value)| monotone[variable] && value == 1);
        }
        let initial: Box<[u32]> = initial.into();
        registers.values.push(initial.clone());
        registers.ids.insert(initial, 0);
        registers
    }

    /// Adds the counters of the spec's limits.
    fn count(&mut self, spec: &Spec, codes: &Codes) {
        for (number, class) in codes.classes.iter().enumerate() {
            let members = u32::try_from(class.members.len()).unwrap_or(u32::MAX);
            if let Some((min, _)) = class.each {
                self.own[number] = Some(self.counters.len());
                self.effects[number].counts.push(self.counters.len());
                self.counters.push(Counter { min: min * members, max: members });
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
            classes.iter().for_each(|&class| self.effects[class].counts.push(self.counters.len()));
            self.counters.push(Counter { min: limit.min, max: limit.max.unwrap_or(u32::MAX) });
        }
    }

    /// Returns whether there are no registers, so that every configuration can be completed.
    pub(super) fn is_empty(&self) -> bool {
        self.values.first().is_none_or(|value| value.is_empty())
    }

    /// Returns whether an action of the class can repeat without bound, with regard to counters.
    pub(super) fn is_unbounded(&self, class: usize) -> bool {
        self.effects[class].is_unbounded
    }

    /// Returns whether an action of the class can be inserted anywhere, any number of times: the action requires
    /// nothing, no counter bounds it, and all its changes are monotone.
    pub(super) fn is_harmless(&self, class: usize) -> bool {
        self.effects[class].is_harmless
    }

    /// Returns the number of outcomes of an action of the class; 1 without outcomes.
    pub(super) fn outcomes(&self, class: usize) -> usize {
        self.effects[class].assigns.len()
    }

    fn intern(&mut self, value: Box<[u32]>, limits: &Limits) -> Result<u32> {
        if let Some(&id) = self.ids.get(&value) {
            return Ok(id);
        }
        if self.values.len() >= limits.plan_states {
            return Err(Limits::exceeded(
                LimitKind::PlanStates,
                limits.plan_states,
                "more values of registers",
            ));
        }
        self.bytes = self.bytes.saturating_add(2 * size_of_val(&*value));
        limits.check_states_bytes(self.bytes)?;
        let id = self.values.len() as u32;
        self.values.push(value.clone());
        self.ids.insert(value, id);
        Ok(id)
    }

    /// Returns the number of members of the class used so far; 0 unless each member may be used once.
    pub(super) fn used(&self, id: u32, class: usize) -> u32 {
        self.own[class].map_or(0, |counter| self.values[id as usize][counter])
    }

    /// Returns the registers after an action of the class with an outcome; `None` if the action is not allowed.
    ///
    /// # Errors
    /// The limit `plan_states` bounds the number of values and their bytes.
    pub(super) fn after(
        &mut self,
        id: u32,
        class: usize,
        outcome: usize,
        limits: &Limits,
    ) -> Result<Option<u32>> {
        let effect = &self.effects[class];
        let value = &self.values[id as usize];
        let is_full = |&counter: &usize| value[counter] >= self.counters[counter].max;
        if effect.counts.iter().any(is_full) || !effect.requires.holds(|place| value[place]) {
            return Ok(None);
        }
        let assigns = effect.assigns.get(outcome).map_or(&[][..], Vec::as_slice);
        if effect.counts.is_empty()
            && assigns.is_empty()
            && effect.gives.is_empty()
            && effect.needs.is_empty()
        {
            return Ok(Some(id));
        }
        let mut value = value.clone();
        for &counter in &effect.counts {
            let Counter { min, max } = self.counters[counter];
            // without an upper bound, counts beyond the minimum are equivalent
            if max < u32::MAX || value[counter] < min {
                value[counter] += 1;
            }
        }
        for &(place, new) in assigns {
            value[place] = new;
        }
        effect.gives.iter().for_each(|&place| value[place] = 0);
        effect.needs.iter().for_each(|&place| value[place] = 1);
        self.intern(value, limits).map(Some)
    }

    /// Returns whether a plan may end with the registers `id`.
    pub(super) fn is_complete(&self, id: u32) -> bool {
        let value = &self.values[id as usize];
        let counted = self.counters.iter().zip(value.iter()).all(|(counter, &count)| count >= counter.min);
        counted && (!self.backward || value[self.counters.len()..].iter().all(|&flag| flag == 0))
    }
}
