//! Deterministic automata over a few symbols: minimization, and conversion to expressions. Front ends use the automata
//! for languages that expressions cannot state directly: decimal numbers that are multiples of a number, and
//! look-around.

use crate::grammar::{ExprId, GrammarBuilder};
use rustc_hash::FxHashMap;

/// Stored in place of a target if no word is accepted after the transition.
const DEAD: u32 = u32::MAX;

/// A deterministic automaton over the symbols 0 to `symbols - 1`. State 0 is the start. Without states, the language is
/// empty.
pub(super) struct Automaton {
    symbols: usize,
    /// The targets of all transitions: that of `state` and `symbol` is at `state * symbols + symbol`; [`DEAD`] if there
    /// is no target.
    next: Vec<u32>,
    accepting: Vec<bool>,
}

impl Automaton {
    /// An automaton without states over `symbols` symbols.
    pub(super) fn new(symbols: usize) -> Automaton {
        Automaton { symbols, next: Vec::new(), accepting: Vec::new() }
    }

    /// The number of states.
    pub(super) fn len(&self) -> usize {
        self.accepting.len()
    }

    /// Adds a state. `next` must have the target for each symbol, in order; `None` is the dead state. A target may be a
    /// state that is added later.
    pub(super) fn push(&mut self, next: impl IntoIterator<Item = Option<u32>>, accepting: bool) {
        self.next.extend(next.into_iter().map(|state| state.unwrap_or(DEAD)));
        self.accepting.push(accepting);
    }

    /// Converts the automaton to an expression of its language; `spell` builds the expression that matches any one
    /// symbol of a non-empty set. All states must be reachable from the start.
    pub(super) fn expression(
        mut self,
        g: &mut GrammarBuilder,
        spell: &mut dyn FnMut(&mut GrammarBuilder, &[usize]) -> ExprId,
    ) -> ExprId {
        self.forget_dead_ends();
        self.minimize();
        self.write(g, spell)
    }

    fn row(&self, state: usize) -> &[u32] {
        &self.next[state * self.symbols..(state + 1) * self.symbols]
    }

    /// Makes a transition dead if no accepting state can be reached from its target.
    fn forget_dead_ends(&mut self) {
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); self.len()];
        for state in 0..self.len() {
            let mut targets: Vec<u32> = self.row(state).iter().copied().filter(|&to| to != DEAD).collect();
            targets.sort_unstable();
            targets.dedup();
            targets.into_iter().for_each(|to| before[to as usize].push(state as u32));
        }
        let mut alive = self.accepting.clone();
        let mut work: Vec<usize> = (0..self.len()).filter(|&state| alive[state]).collect();
        while let Some(state) = work.pop() {
            for &from in &before[state] {
                if !std::mem::replace(&mut alive[from as usize], true) {
                    work.push(from as usize);
                }
            }
        }
        for to in &mut self.next {
            if *to != DEAD && !alive[*to as usize] {
                *to = DEAD;
            }
        }
    }

    /// Merges equivalent states: those from which the same words are accepted.
    fn minimize(&mut self) {
        let class = self.equivalent();
        // classes are numbered in the order of their first states, so the start remains state 0
        let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
        let mut firsts = Vec::new();
        for (state, &own) in class.iter().take(self.len()).enumerate() {
            let next = numbers.len() as u32;
            if *numbers.entry(own).or_insert(next) == next {
                firsts.push(state);
            }
        }
        let mut joined = Automaton::new(self.symbols);
        for state in firsts {
            let live = |&to: &u32| (to != DEAD).then(|| numbers[&class[to as usize]]);
            joined.push(self.row(state).iter().map(live), self.accepting[state]);
        }
        *self = joined;
    }

    /// The equivalence class of each state, followed by that of the dead state. J. Hopcroft, "An n log n algorithm for
    /// minimizing states in a finite automaton", 1971: after a class that is not on the worklist has been split, only
    /// the smaller part must be added to the worklist.
    fn equivalent(&self) -> Vec<u32> {
        let before = self.before();
        let mut partition = Partition::new(self.accepting.iter().copied().chain([false]));
        let mut open: Vec<u32> = (0..partition.ends.len() as u32).collect();
        let mut is_open = vec![true; open.len()];
        while let Some(splitter) = open.pop() {
            is_open[splitter as usize] = false;
            let states = partition.class(splitter).to_vec();
            for symbol in 0..self.symbols {
                for &state in &states {
                    before.of(state as usize, symbol).iter().for_each(|&from| partition.mark(from));
                }
                partition.split(|old, new, new_is_smaller| {
                    is_open.push(true);
                    if is_open[old as usize] || new_is_smaller {
                        open.push(new);
                    } else {
                        is_open[new as usize] = false;
                        is_open[old as usize] = true;
                        open.push(old);
                    }
                });
            }
        }
        partition.class_of
    }

    /// The reversed transitions, with the dead state as state `len()`, which leads to itself by every symbol.
    fn before(&self) -> Before {
        let (symbols, dead) = (self.symbols, self.len());
        let target = |state: usize, symbol: usize| match self.next.get(state * symbols + symbol) {
            Some(&to) if to != DEAD => to as usize,
            _ => dead,
        };
        let mut starts = vec![0u32; (dead + 1) * symbols + 1];
        for state in 0..=dead {
            (0..symbols).for_each(|symbol| starts[target(state, symbol) * symbols + symbol + 1] += 1);
        }
        for place in 1..starts.len() {
            starts[place] += starts[place - 1];
        }
        let (mut free, mut states) = (starts.clone(), vec![0u32; (dead + 1) * symbols]);
        for state in 0..=dead {
            for symbol in 0..symbols {
                let free = &mut free[target(state, symbol) * symbols + symbol];
                states[*free as usize] = state as u32;
                *free += 1;
            }
        }
        Before { symbols, starts, states }
    }

    /// Builds the expression of the start state. A state with several uses becomes a rule; the expression of any other
    /// state is inlined. A use is another state that leads to the state, or the returned expression, which uses the
    /// start.
    fn write(
        &self,
        g: &mut GrammarBuilder,
        spell: &mut dyn FnMut(&mut GrammarBuilder, &[usize]) -> ExprId,
    ) -> ExprId {
        let targets: Vec<_> = (0..self.len()).map(|state| self.targets(state)).collect();
        let mut uses = vec![0u32; self.len()];
        // the returned expression uses the start
        uses.iter_mut().take(1).for_each(|start| *start += 1);
        targets.iter().flatten().for_each(|(to, _)| uses[*to] += 1);
        let rules: Vec<_> =
            uses.iter().map(|&uses| (uses > 1).then(|| g.declare_generated("states"))).collect();
        let mut made: Vec<Option<ExprId>> = rules.iter().map(|rule| rule.map(|rule| g.rule(rule))).collect();
        // depth first, so that inlined states are built before the states that use them
        let mut stack = vec![(0, false)];
        let mut seen = vec![false; self.len()];
        while let Some((state, inner_made)) = stack.pop() {
            if state >= self.len() {
                break;
            }
            if !inner_made {
                if !std::mem::replace(&mut seen[state], true) {
                    stack.push((state, true));
                    stack.extend(targets[state].iter().map(|(to, _)| (*to, false)));
                }
                continue;
            }
            let mut ways = Vec::new();
            for (to, symbols) in &targets[state] {
                let (symbol, rest) = (spell(g, symbols), made[*to].unwrap_or_else(|| g.never()));
                ways.push(g.sequence([symbol, rest]));
            }
            if self.accepting[state] {
                ways.push(g.empty());
            }
            let ways = g.choice(ways);
            let again = self.symbols(state, state);
            let again = if again.is_empty() { g.never() } else { spell(g, &again) };
            let again = g.star(again);
            let body = g.sequence([again, ways]);
            match rules[state] {
                Some(rule) => g.define(rule, body),
                None => made[state] = Some(body),
            }
        }
        made.first().copied().flatten().unwrap_or_else(|| g.never())
    }

    /// The live states other than `state` that it leads to, in ascending order, each with the symbols that lead there.
    fn targets(&self, state: usize) -> Vec<(usize, Vec<usize>)> {
        let row = self.row(state).iter().enumerate();
        let mut pairs: Vec<(usize, usize)> = row.map(|(symbol, &to)| (to as usize, symbol)).collect();
        pairs.retain(|&(to, _)| to != DEAD as usize && to != state);
        pairs.sort_unstable();
        pairs
            .chunk_by(|a, b| a.0 == b.0)
            .map(|same| (same[0].0, same.iter().map(|p| p.1).collect()))
            .collect()
    }

    /// The symbols that lead from `state` to `to`; empty if `to` is dead.
    fn symbols(&self, state: usize, to: usize) -> Vec<usize> {
        let row = self.row(state).iter().enumerate();
        row.filter(|&(_, &next)| next as usize == to && next != DEAD).map(|(symbol, _)| symbol).collect()
    }
}

/// The reversed transitions of an automaton: the predecessors of each state by each symbol.
struct Before {
    symbols: usize,
    /// The index in `states` of the first predecessor of `state` by `symbol`, at `state * symbols + symbol`; the next
    /// entry is the end of these predecessors.
    starts: Vec<u32>,
    /// The predecessors, grouped by state and then by symbol.
    states: Vec<u32>,
}

impl Before {
    /// The states that lead to `state` by `symbol`.
    fn of(&self, state: usize, symbol: usize) -> &[u32] {
        let place = state * self.symbols + symbol;
        &self.states[self.starts[place] as usize..self.starts[place + 1] as usize]
    }
}

/// A partition of states into classes, refined by marking states (A. Valmari, "Fast brief practical DFA minimization",
/// 2012).
struct Partition {
    /// The states, grouped by class; within a class, marked states first.
    states: Vec<u32>,
    /// The index of each state in `states`.
    places: Vec<u32>,
    /// The class of each state.
    class_of: Vec<u32>,
    /// The index in `states` of the first state of each class.
    starts: Vec<u32>,
    /// For each class, the index in `states` after its last state.
    ends: Vec<u32>,
    /// The number of marked states in each class.
    marked: Vec<u32>,
    /// The classes with marked states.
    touched: Vec<u32>,
}

impl Partition {
    /// The partition into states with and without a property; one class if all states agree. No state is marked.
    fn new(property: impl Iterator<Item = bool>) -> Partition {
        let property: Vec<bool> = property.collect();
        let count = property.len() as u32;
        let mut partition = Partition {
            states: (0..count).collect(),
            places: (0..count).collect(),
            class_of: vec![0; property.len()],
            starts: vec![0],
            ends: vec![count],
            marked: vec![0],
            touched: Vec::new(),
        };
        (0..count).filter(|&state| property[state as usize]).for_each(|state| partition.mark(state));
        partition.split(|_, _, _| {});
        partition
    }

    fn class(&self, class: u32) -> &[u32] {
        &self.states[self.starts[class as usize] as usize..self.ends[class as usize] as usize]
    }

    /// Marks a state, which must not be marked already.
    fn mark(&mut self, state: u32) {
        let class = self.class_of[state as usize] as usize;
        if self.marked[class] == 0 {
            self.touched.push(class as u32);
        }
        let to = self.starts[class] + self.marked[class];
        let from = self.places[state as usize];
        let other = self.states[to as usize];
        self.states.swap(to as usize, from as usize);
        (self.places[state as usize], self.places[other as usize]) = (to, from);
        self.marked[class] += 1;
    }

    /// Splits each touched class: its marked states become a new class, unless all are marked. Then no state is marked.
    /// For each new class, calls `is_new` with the old class, the new class, and whether the new class is at most as
    /// large as what remains of the old class.
    fn split(&mut self, mut is_new: impl FnMut(u32, u32, bool)) {
        while let Some(old) = self.touched.pop() {
            let class = old as usize;
            let (start, marked) = (self.starts[class], std::mem::take(&mut self.marked[class]));
            let end = start + marked;
            if end == self.ends[class] {
                continue;
            }
            let new = self.ends.len() as u32;
            self.starts[class] = end;
            self.starts.push(start);
            self.ends.push(end);
            self.marked.push(0);
            for &state in &self.states[start as usize..end as usize] {
                self.class_of[state as usize] = new;
            }
            is_new(old, new, marked <= self.ends[class] - end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reference implementation: splits classes until nothing changes (E. F. Moore's algorithm).
    fn by_rounds(automaton: &Automaton) -> Vec<u32> {
        let dead = automaton.len();
        let mut class: Vec<u32> = automaton.accepting.iter().map(|&accepting| u32::from(accepting)).collect();
        class.push(0);
        loop {
            let mut ids: FxHashMap<(u32, Vec<u32>), u32> = FxHashMap::default();
            let of = |&to: &u32| class[(to as usize).min(dead)];
            let row = |state: usize| match state {
                _ if state == dead => vec![class[dead]; automaton.symbols],
                _ => automaton.row(state).iter().map(of).collect(),
            };
            let split: Vec<u32> = (0..=dead)
                .map(|state| {
                    let fresh = ids.len() as u32;
                    *ids.entry((class[state], row(state))).or_insert(fresh)
                })
                .collect();
            let is_done = split.iter().max() == class.iter().max();
            class = split;
            if is_done {
                return class;
            }
        }
    }

    #[test]
    fn equivalent_states_are_those_that_no_round_splits() {
        let mut seed = 1u64;
        let mut draw = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for _ in 0..2_000 {
            let (states, symbols) = (1 + draw(9) as u32, 1 + draw(3) as usize);
            let mut automaton = Automaton::new(symbols);
            for _ in 0..states {
                let next: Vec<_> =
                    (0..symbols).map(|_| (draw(4) > 0).then(|| draw(u64::from(states)) as u32)).collect();
                automaton.push(next, draw(3) == 0);
            }
            let (found, expected) = (automaton.equivalent(), by_rounds(&automaton));
            for (a, b) in (0..found.len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
                assert_eq!(found[a] == found[b], expected[a] == expected[b], "{:?}", automaton.next);
            }
        }
    }
}
