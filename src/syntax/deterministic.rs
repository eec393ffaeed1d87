//! Deterministic automata over a few symbols: made minimal, and written as expressions. Front ends use them
//! for what no expression says as it stands: remainders of digits, look-around.

use crate::grammar::{ExprId, GrammarBuilder};
use rustc_hash::FxHashMap;

const DEAD: u32 = u32::MAX;

/// The first state is where it starts.
pub(super) struct Automaton {
    symbols: usize,
    /// For each state, the next one by symbol.
    next: Vec<u32>,
    accepting: Vec<bool>,
}

impl Automaton {
    /// Without states.
    pub(super) fn new(symbols: usize) -> Automaton {
        Automaton { symbols, next: Vec::new(), accepting: Vec::new() }
    }

    /// How many states there are.
    pub(super) fn len(&self) -> usize {
        self.accepting.len()
    }

    /// Adds a state, with the state that follows it by each symbol.
    pub(super) fn push(&mut self, next: impl IntoIterator<Item = Option<u32>>, accepting: bool) {
        self.next.extend(next.into_iter().map(|state| state.unwrap_or(DEAD)));
        self.accepting.push(accepting);
    }

    /// What it accepts, if `spell` makes the expression of one of some symbols.
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

    /// Transitions to states from which nothing is accepted become dead.
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

    /// Joins states that accept the same (E. F. Moore's way: classes are split until none splits any more).
    fn minimize(&mut self) {
        let mut class: Vec<u32> = self.accepting.iter().map(|&accepting| u32::from(accepting)).collect();
        let mut count = 0;
        loop {
            let mut ids: FxHashMap<(u32, Vec<u32>), u32> = FxHashMap::default();
            let of = |&to: &u32| class.get(to as usize).copied().unwrap_or(DEAD);
            let split: Vec<u32> = (0..self.len())
                .map(|state| {
                    let fresh = ids.len() as u32;
                    *ids.entry((class[state], self.row(state).iter().map(of).collect())).or_insert(fresh)
                })
                .collect();
            class = split;
            if ids.len() == count {
                break;
            }
            count = ids.len();
        }
        // classes are numbered by their first states, so that the start stays the first
        let mut joined = Automaton::new(self.symbols);
        for (state, &own) in class.iter().enumerate() {
            if own as usize == joined.len() {
                let next = self.row(state).iter().map(|&to| class.get(to as usize).copied());
                joined.push(next, self.accepting[state]);
            }
        }
        *self = joined;
    }

    /// States that several others lead to become rules, the others stand where they are used.
    fn write(
        &self,
        g: &mut GrammarBuilder,
        spell: &mut dyn FnMut(&mut GrammarBuilder, &[usize]) -> ExprId,
    ) -> ExprId {
        let targets: Vec<_> = (0..self.len()).map(|state| self.targets(state)).collect();
        let mut uses = vec![0u32; self.len()];
        // whatever uses it all
        uses.iter_mut().take(1).for_each(|start| *start += 1);
        targets.iter().flatten().for_each(|(to, _)| uses[*to] += 1);
        let rules: Vec<_> = uses.iter().map(|&uses| (uses > 1).then(|| g.declare("states"))).collect();
        let mut made: Vec<Option<ExprId>> = rules.iter().map(|rule| rule.map(|rule| g.rule(rule))).collect();
        // depth first, so that what stands inside a state is made before it
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

    /// The other states that follow, each with the symbols that lead there.
    fn targets(&self, state: usize) -> Vec<(usize, Vec<usize>)> {
        let mut targets: Vec<usize> =
            self.row(state).iter().filter(|&&to| to != DEAD).map(|&to| to as usize).collect();
        targets.retain(|&to| to != state);
        targets.sort_unstable();
        targets.dedup();
        targets.into_iter().map(|to| (to, self.symbols(state, to))).collect()
    }

    fn symbols(&self, state: usize, to: usize) -> Vec<usize> {
        let row = self.row(state).iter().enumerate();
        row.filter(|&(_, &next)| next as usize == to && next != DEAD).map(|(symbol, _)| symbol).collect()
    }
}
