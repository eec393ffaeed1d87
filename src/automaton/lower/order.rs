//! Removal of left recursion, where rules call themselves before reading a byte.
//!
//! Groups of rules that left-call each other are found here and transformed by `left_corner.rs` (Rosenkrantz and Lewis
//! 1970; Moore, "Removing left recursion from context-free grammars", 2000). Calls become loops, so stacks do not grow
//! with the length of left-recursive lists.
//!
//! Callables are never empty, so all left calls, including hidden left recursion, are among the states reached without
//! a byte.

use super::Lowering;
use crate::automaton::errors;
use crate::automaton::program::ids::StateId;
use crate::automaton::program::registers::Role;
use crate::automaton::program::state::State;
use crate::automaton::tuning::LINEAR_SET;
use crate::error::Result;
use crate::grammar::analysis::Analysis;
use crate::grammar::{ExprId, Expression, Grammar};
use crate::limits::{LimitKind, Limits};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Strongly connected components, callees first (Tarjan 1972, without recursion).
fn components(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let mut order = vec![NEW; edges.len()];
    let mut low = vec![0; edges.len()];
    let mut on_stack = vec![false; edges.len()];
    let (mut stack, mut found, mut counter) = (Vec::new(), Vec::new(), 0);
    for root in 0..edges.len() {
        if order[root] != NEW {
            continue;
        }
        let mut path = vec![(root, 0)];
        while let Some(&mut (node, ref mut place)) = path.last_mut() {
            if *place == 0 {
                order[node] = counter;
                low[node] = counter;
                counter += 1;
                stack.push(node);
                on_stack[node] = true;
            }
            if let Some(&next) = edges[node].get(*place) {
                *place += 1;
                if order[next] == NEW {
                    path.push((next, 0));
                } else if on_stack[next] {
                    low[node] = low[node].min(order[next]);
                }
                continue;
            }
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                low[parent] = low[parent].min(low[node]);
            }
            if low[node] == order[node] {
                let start = stack.iter().rposition(|&n| n == node).unwrap_or(0);
                let component = stack.split_off(start);
                component.iter().for_each(|&n| on_stack[n] = false);
                found.push(component);
            }
        }
    }
    found
}

/// The intersections and complements that the root reaches; each comes after the ones that it contains.
///
/// # Errors
/// `automaton/cyclic-lockstep` if one contains itself, `automaton/distinct-in-lockstep` if one contains lists of
/// different items or names of objects, and the limit `source_depth` if they are nested deeper than `max_depth`.
pub(in crate::automaton) fn product_order(grammar: &Grammar, max_depth: usize) -> Result<Vec<ExprId>> {
    let is_product = |e: &Expression| matches!(e, Expression::Intersection(_) | Expression::Complement(_));
    if !grammar.expressions().iter().any(is_product) {
        return Ok(Vec::new());
    }
    let below = |expression: &Expression| -> Vec<usize> {
        let rule = match expression {
            Expression::Rule(rule) => Some(grammar.rule(*rule).body.index()),
            _ => None,
        };
        expression.children().map(ExprId::index).chain(rule).collect()
    };
    let edges: Vec<Vec<usize>> = grammar.expressions().iter().map(below).collect();
    let mut reached = vec![false; edges.len()];
    let mut stack = vec![grammar.rule(grammar.root()).body.index()];
    while let Some(node) = stack.pop() {
        if !std::mem::replace(&mut reached[node], true) {
            stack.extend(&edges[node]);
        }
    }
    let mut depth = vec![0usize; edges.len()];
    let mut remembers = vec![false; edges.len()];
    let mut order = Vec::new();
    for component in components(&edges) {
        let cyclic = component.len() > 1;
        let inner = component.iter().flat_map(|&n| &edges[n]).map(|&n| depth[n]).max().unwrap_or(0);
        let differs =
            |&n: &usize| matches!(grammar.expressions()[n], Expression::Distinct(_) | Expression::Name(..));
        let lists = component.iter().any(|n| differs(n) || edges[*n].iter().any(|&n| remembers[n]));
        for &node in &component {
            let expression = &grammar.expressions()[node];
            depth[node] = inner;
            remembers[node] = lists;
            if !is_product(expression) || !reached[node] {
                continue;
            }
            if cyclic {
                return Err(errors::cyclic_lockstep(&grammar.rule(grammar.root()).name));
            }
            if lists {
                return Err(errors::distinct_in_lockstep(&grammar.rule(grammar.root()).name));
            }
            depth[node] += 1;
            if depth[node] > max_depth {
                let found = "intersections and complements nested deeper";
                return Err(Limits::exceeded(LimitKind::SourceDepth, max_depth, found));
            }
            order.extend(ExprId::new(node));
        }
    }
    Ok(order)
}

/// Whether some rule may call itself before it has read a byte. Also examines rules that the root does not reach.
pub(in crate::automaton) fn is_left_recursive(grammar: &Grammar, nullable: &Analysis) -> bool {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut flags = vec![Mark::New; grammar.expressions().len()];
    let mut path: Vec<(ExprId, bool)> = Vec::new();
    for rule in grammar.rules() {
        path.push((rule.body, false));
        while let Some((id, is_end)) = path.pop() {
            match flags[id.index()] {
                _ if is_end => flags[id.index()] = Mark::Done,
                Mark::Open => return true,
                Mark::Done => {}
                Mark::New => {
                    flags[id.index()] = Mark::Open;
                    path.push((id, true));
                    path.extend(first_operands(grammar, nullable, id).map(|first| (first, false)));
                }
            }
        }
    }
    false
}

/// The expressions whose words an expression may begin with, before it has read a byte: operands, or the body of a
/// referenced rule.
fn first_operands<'g>(
    grammar: &'g Grammar,
    nullable: &'g Analysis,
    id: ExprId,
) -> impl Iterator<Item = ExprId> + 'g {
    let (list, one): (&[ExprId], Option<ExprId>) = match grammar.expression(id) {
        Expression::Sequence(list) => {
            let first = list.iter().position(|&part| !nullable.holds(part));
            (&list[..first.map_or(list.len(), |first| first + 1)], None)
        }
        Expression::Choice(list) => (list, None),
        Expression::Repeat { body, .. } | Expression::Label(_, body) | Expression::MaxTokens { body, .. } => {
            (&[], Some(*body))
        }
        Expression::Rule(rule) => (&[], Some(grammar.rule(*rule).body)),
        // values of members with a key begin after the key was read
        Expression::Members(list) => (&list.ones, list.rest),
        Expression::Distinct(list) => (&[], list.items.first().copied()),
        // words of graphs begin with a byte, and products run on stacks of their own
        _ => (&[], None),
    };
    list.iter().copied().chain(one)
}

/// A set of states: a list of up to [`LINEAR_SET`] states, and a hash set of the others.
#[derive(Default)]
struct Seen {
    few: SmallVec<[StateId; LINEAR_SET]>,
    many: FxHashSet<StateId>,
}

impl Seen {
    /// Inserts a state and returns whether it is new.
    fn insert(&mut self, state: StateId) -> bool {
        if self.few.contains(&state) {
            return false;
        }
        if self.few.len() < LINEAR_SET {
            self.few.push(state);
            return true;
        }
        self.many.insert(state)
    }
}

impl Lowering<'_> {
    /// The states that a start reaches through splits alone, without the splits; and whether the accepting state is one
    /// of them, so that the start may be empty.
    pub(in crate::automaton) fn entries(&self, start: StateId) -> (SmallVec<[StateId; 8]>, bool) {
        let (mut found, mut empty) = (SmallVec::new(), false);
        let mut seen = Seen::default();
        let mut stack: SmallVec<[StateId; 8]> = SmallVec::from_elem(start, 1);
        while let Some(state) = stack.pop() {
            if !seen.insert(state) {
                continue;
            }
            match self.state(state) {
                State::Split { first, len } => {
                    stack.extend(self.splits(first, len).iter().rev().copied());
                }
                State::Accept => empty = true,
                _ => found.push(state),
            }
        }
        (found, empty)
    }

    /// The starts that a state of this block calls without a byte.
    pub(in crate::automaton) fn left_callees(&self, state: StateId) -> SmallVec<[StateId; 2]> {
        let mut callees = SmallVec::new();
        match self.state(state) {
            _ if !self.block.is_here(state) => {}
            State::Call { start, .. } => callees.push(self.resolved(start)),
            State::Register { kind, role: Role::Enter, record, .. } => {
                let record = (kind, self.block.at(record));
                self.block.records.each_left_call_of(record, &mut |start| callees.push(start));
            }
            _ => {}
        }
        callees
    }

    /// Finds the callables that each built callable calls before it has read a byte. Deferred callables among them are
    /// begun in this block.
    pub(in crate::automaton) fn find_left_calls(&mut self) {
        // callables that are begun in this loop are not built yet
        let built = self.callables.len();
        for place in self.seen..built {
            for entry in self.entries(self.callables[place]).0 {
                for start in self.left_callees(entry) {
                    self.begin_called(start);
                    self.left_calls.push((place - self.settled, self.resolved(start)));
                }
            }
        }
        self.seen = built;
    }

    /// The index of each unsettled callable among the unsettled callables.
    fn unsettled_places(&self) -> FxHashMap<StateId, usize> {
        self.callables[self.settled..].iter().enumerate().map(|(place, &start)| (start, place)).collect()
    }

    /// Per unsettled callable, the indices of the unsettled callables that it left-calls.
    fn left_call_graph(&self, places: &FxHashMap<StateId, usize>) -> Vec<Vec<usize>> {
        let unsettled = &self.callables[self.settled..];
        let mut edges = vec![Vec::new(); unsettled.len()];
        for (caller, start) in &self.left_calls {
            edges[*caller].extend(places.get(start));
        }
        edges
    }

    /// Transforms all groups of new callables that left-call each other, and ranks the new callables so that callers
    /// come before the callables that they left-call. Older callables left-call none of the new callables.
    ///
    /// `root` is the start of all words, if nothing is built later that could call the new callables.
    pub(in crate::automaton) fn order_callables(&mut self, root: Option<StateId>) -> Result<()> {
        let mut transformed = false;
        loop {
            self.build_pending()?;
            let places = match self.left_calls.is_empty() {
                true => FxHashMap::default(),
                false => self.unsettled_places(),
            };
            // usually all callers were begun before the callables that they left-call
            let is_ordered =
                |(caller, start): &(usize, StateId)| places.get(start).is_none_or(|callee| callee > caller);
            if self.left_calls.iter().all(is_ordered) {
                (self.settled..self.callables.len()).rev().for_each(|place| self.rank(place));
                break;
            }
            let edges = self.left_call_graph(&places);
            let order = components(&edges);
            let is_recursive = |group: &&Vec<usize>| group.len() > 1 || edges[group[0]].contains(&group[0]);
            let groups: Vec<&Vec<usize>> = order.iter().filter(is_recursive).collect();
            if groups.is_empty() {
                // callees first: later callables get lower ranks
                order.iter().for_each(|group| self.rank(self.settled + group[0]));
                break;
            }
            if std::mem::replace(&mut transformed, true) {
                return Err(errors::left_calls_remain());
            }
            let groups: Vec<Vec<StateId>> = groups
                .into_iter()
                .map(|group| group.iter().map(|&place| self.callables[self.settled + place]).collect())
                .collect();
            self.remove_left_recursion(&groups, root)?;
            self.left_calls.clear();
            self.seen = self.settled;
        }
        self.settled = self.callables.len();
        self.left_calls.clear();
        Ok(())
    }

    /// Ranks a callable before all callables ranked so far.
    fn rank(&mut self, place: usize) {
        self.kept.rank -= 1;
        self.block.ranks.push((self.callables[place], self.kept.rank));
    }
}
