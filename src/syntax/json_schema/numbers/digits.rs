//! Deterministic automata over digits and a point: made minimal, and written as expressions.

use crate::grammar::{ByteSet, ExprId, GrammarBuilder};
use rustc_hash::FxHashMap;

/// The symbol of the point; the digits are their values.
pub(super) const POINT: u8 = 10;
const SYMBOLS: usize = 11;
const DEAD: u32 = u32::MAX;

/// The first state is where it starts.
#[derive(Default)]
pub(super) struct Automaton {
    next: Vec<[u32; SYMBOLS]>,
    accepting: Vec<bool>,
}

impl Automaton {
    pub(super) fn len(&self) -> usize {
        self.next.len()
    }

    /// Adds a state, with the states that follow it.
    pub(super) fn push(&mut self, next: [Option<u32>; SYMBOLS], accepting: bool) {
        self.next.push(next.map(|state| state.unwrap_or(DEAD)));
        self.accepting.push(accepting);
    }

    /// What it accepts.
    pub(super) fn expression(mut self, g: &mut GrammarBuilder) -> ExprId {
        self.forget_dead_ends();
        self.minimize();
        self.write(g)
    }

    /// Transitions to states from which nothing is accepted become dead.
    fn forget_dead_ends(&mut self) {
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); self.len()];
        for (state, next) in self.next.iter().enumerate() {
            next.iter().filter(|&&to| to != DEAD).for_each(|&to| before[to as usize].push(state as u32));
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
        for to in self.next.iter_mut().flatten() {
            if *to != DEAD && !alive[*to as usize] {
                *to = DEAD;
            }
        }
    }

    /// Joins states that accept the same (E. F. Moore's way: classes are split until none splits any more).
    fn minimize(&mut self) {
        let mut class: Vec<u32> = self.accepting.iter().map(|&accepting| u32::from(accepting)).collect();
        let mut count = 0;
        loop {
            let mut ids: FxHashMap<(u32, [u32; SYMBOLS]), u32> = FxHashMap::default();
            let of = |to: u32| class.get(to as usize).copied().unwrap_or(DEAD);
            let split: Vec<u32> = self
                .next
                .iter()
                .zip(&class)
                .map(|(next, &class)| {
                    let fresh = ids.len() as u32;
                    *ids.entry((class, next.map(of))).or_insert(fresh)
                })
                .collect();
            class = split;
            if ids.len() == count {
                break;
            }
            count = ids.len();
        }
        // classes are numbered by their first states, so that the start stays the first
        let mut joined = Automaton::default();
        for (state, &own) in class.iter().enumerate() {
            if own as usize == joined.len() {
                let next = self.next[state].map(|to| class.get(to as usize).copied());
                joined.push(next, self.accepting[state]);
            }
        }
        *self = joined;
    }

    /// States that several others lead to become rules, the others stand where they are used.
    fn write(&self, g: &mut GrammarBuilder) -> ExprId {
        let mut uses = vec![0u32; self.len()];
        for (state, _) in self.next.iter().enumerate() {
            self.targets(state).iter().for_each(|(to, _)| uses[*to as usize] += 1);
        }
        let rules: Vec<_> = uses.iter().map(|&uses| (uses > 1).then(|| g.declare("digits"))).collect();
        let mut made: Vec<Option<ExprId>> = rules.iter().map(|rule| rule.map(|rule| g.rule(rule))).collect();
        // depth first, so that what stands inside a state is made before it
        let mut stack = vec![(0, false)];
        let mut seen = vec![false; self.len()];
        while let Some((state, inner_made)) = stack.pop() {
            if !inner_made {
                if !std::mem::replace(&mut seen[state], true) {
                    stack.push((state, true));
                    stack.extend(self.targets(state).iter().map(|(to, _)| (*to as usize, false)));
                }
                continue;
            }
            let mut ways = Vec::new();
            for (to, symbols) in self.targets(state) {
                let (symbols, rest) = (g.byte_set(symbols), made[to as usize].unwrap_or_else(|| g.never()));
                ways.push(g.sequence([symbols, rest]));
            }
            if self.accepting[state] {
                ways.push(g.empty());
            }
            let ways = g.choice(ways);
            let again = self.symbols(state, |to| to as usize == state);
            let again = if again.is_empty() { g.empty() } else { g.byte_set(again) };
            let again = g.star(again);
            let body = g.sequence([again, ways]);
            match rules[state] {
                Some(rule) => g.define(rule, body),
                None => made[state] = Some(body),
            }
        }
        made.first().copied().flatten().unwrap_or_else(|| g.never())
    }

    /// The other states that follow, each with the symbols that lead there.
    fn targets(&self, state: usize) -> Vec<(u32, ByteSet)> {
        let mut targets: Vec<u32> =
            self.next[state].into_iter().filter(|&to| to != DEAD && to as usize != state).collect();
        targets.sort_unstable();
        targets.dedup();
        targets.into_iter().map(|target| (target, self.symbols(state, |to| to == target))).collect()
    }

    fn symbols(&self, state: usize, leads: impl Fn(u32) -> bool) -> ByteSet {
        let chosen = self.next[state].iter().enumerate().filter(|(_, to)| leads(**to));
        chosen
            .map(|(symbol, _)| if symbol == usize::from(POINT) { b'.' } else { b'0' + symbol as u8 })
            .collect()
    }
}
