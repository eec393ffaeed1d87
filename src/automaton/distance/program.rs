//! The least length from each state of a block to the return of its callable.
//!
//! A rule derives the cost of a state from those of others: the sum of a call's body and of what follows it, the greatest
//! of a product's operands. Such rules are superior functions, no smaller than what they are made of, so the states are
//! settled in the order of their costs.

use super::lists::{groups, key_lengths};
use super::measure::{ENDLESS, Measure};
use crate::automaton::Automaton;
use crate::automaton::program::block::Block;
use crate::automaton::program::state::{Members, State, StateId, UniqueItems};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

#[derive(Clone, Copy)]
struct Rule {
    target: u32,
    cost: u64,
    /// How many of its arguments are not settled.
    missing: u32,
    /// Of the arguments the greatest counts, not their sum.
    greatest: bool,
}

/// A state of the block, one made for the rules, or the cost of what is elsewhere.
#[derive(Clone, Copy)]
enum Argument {
    Node(u32),
    Known(u32),
}

/// The rules of a block.
struct Rules<'a> {
    block: &'a Block,
    measure: &'a Measure,
    /// Costs of the states of older blocks.
    older: &'a dyn Fn(StateId) -> u32,
    rules: Vec<Rule>,
    /// Arguments: the node, the rule, and how often it is counted.
    uses: Vec<(u32, u32, u32)>,
    /// Nodes, the states first.
    nodes: u32,
}

/// States of a block whose cost is asked of another.
pub(super) fn outside(automaton: &Automaton, block: &Block) -> Vec<StateId> {
    let mut outside: Vec<StateId> = Vec::new();
    let mut see = |state: StateId| {
        if !block.is_here(state) && state != StateId::ACCEPT {
            outside.push(state);
        }
    };
    for &state in &block.states {
        match state {
            State::Byte { next, .. }
            | State::Token { next, .. }
            | State::Named { next }
            | State::PartEnd { next, .. } => see(next),
            State::ByteOr { next, otherwise, .. } => [next, otherwise].into_iter().for_each(&mut see),
            State::Call { start, to_return } => [start, to_return].into_iter().for_each(&mut see),
            _ => {}
        }
    }
    block.edges.iter().for_each(|edge| see(edge.next));
    block.splits.iter().copied().for_each(&mut see);
    block.loops.iter().for_each(|counted| [counted.body, counted.exit].into_iter().for_each(&mut see));
    for list in &block.members {
        let starts = list.values.iter().chain(&list.rest).chain(&list.ones);
        starts.chain([&list.separator, &list.exit]).copied().for_each(&mut see);
    }
    for list in &block.distincts {
        list.items.iter().chain([&list.separator, &list.exit]).copied().for_each(&mut see);
    }
    for product in &block.products {
        see(product.exit);
        product.operands.iter().filter_map(|operand| operand.start).for_each(&mut see);
    }
    // one state of each block is enough
    outside.sort_unstable_by_key(|state| automaton.block(state.0).first);
    outside.dedup_by_key(|state| automaton.block(state.0).first);
    outside
}

/// The costs of the states of a block: `older` gives those of older blocks, `part` those of parts not lowered with it.
pub(super) fn costs(
    block: &Block,
    measure: &Measure,
    older: &dyn Fn(StateId) -> u32,
    part: &dyn Fn(u32) -> u32,
) -> Box<[u32]> {
    let nodes = block.states.len() as u32;
    let mut rules = Rules { block, measure, older, rules: Vec::new(), uses: Vec::new(), nodes };
    for (target, &state) in (0..).zip(&block.states) {
        rules.of_state(target, state, part);
    }
    let mut costs = rules.solve();
    costs.truncate(block.states.len());
    costs.into()
}

impl Rules<'_> {
    fn of_state(&mut self, target: u32, state: State, part: &dyn Fn(u32) -> u32) {
        let block = self.block;
        match state {
            // what follows is asked of the frame
            State::Accept | State::MembersNext(_) | State::UniqueNext(_) | State::Product(_) => {
                self.add(target, 0, &[]);
            }
            State::Deferred(id) => self.add(target, part(id), &[]),
            State::Byte { byte, next } => self.add(target, self.measure.of_byte(byte), &[(self.at(next), 1)]),
            State::ByteOr { byte, next, otherwise } => {
                self.add(target, self.measure.of_byte(byte), &[(self.at(next), 1)]);
                match self.measure.is_upper() {
                    true => self.of_other_bytes(target, byte, otherwise),
                    false => self.add(target, 0, &[(self.at(otherwise), 1)]),
                }
            }
            State::Bytes { first, len } => {
                let edges = block.edges(first, len);
                for (place, edge) in edges.iter().enumerate() {
                    let cost = self.measure.of_range(edge.low, edge.high);
                    if place == 0 || edges[place - 1].next != edge.next || cost != 1 {
                        self.add(target, cost, &[(self.at(edge.next), 1)]);
                    }
                }
            }
            State::Split { first, len } => {
                block.splits(first, len).iter().for_each(|&next| self.add(target, 0, &[(self.at(next), 1)]));
            }
            State::Token { terminal, next } => {
                self.add(target, self.measure.of_terminal(terminal), &[(self.at(next), 1)]);
            }
            State::Named { next } | State::PartEnd { next, .. } => self.add(target, 0, &[(self.at(next), 1)]),
            State::Call { start, to_return } => {
                self.add(target, 0, &[(self.at(start), 1), (self.at(to_return), 1)]);
            }
            State::LoopAgain(id) => {
                let counted = &block.loops[block.at(id)];
                let rounds = counted.following(1).low.saturating_add(1);
                self.add(target, 0, &[(self.at(counted.body), rounds), (self.at(counted.exit), 1)]);
            }
            State::MembersEnter(id) => self.of_members(target, &block.members[block.at(id)]),
            State::UniqueEnter(id) => self.of_items(target, &block.distincts[block.at(id)]),
            State::ProductEnter(id) => self.of_product(target, id),
            // never entered without a frame
            State::LoopReturn(_)
            | State::MembersReturn(_)
            | State::MembersBetween(_)
            | State::UniqueReturn(_)
            | State::Key { .. } => {}
        }
    }

    /// The edges of a `Bytes` state without one byte, which leads elsewhere. A shortest completion of that state may begin
    /// with the byte, so it bounds nothing here.
    fn of_other_bytes(&mut self, target: u32, byte: u8, otherwise: StateId) {
        let block = self.block;
        if !block.is_here(otherwise) {
            return;
        }
        let State::Bytes { first, len } = block.state(otherwise) else { return };
        for edge in block.edges(first, len) {
            let below = byte.checked_sub(1).map(|high| (edge.low, edge.high.min(high)));
            let above = byte.checked_add(1).map(|low| (edge.low.max(low), edge.high));
            for (low, high) in below.into_iter().chain(above).filter(|(low, high)| low <= high) {
                self.add(target, self.measure.of_range(low, high), &[(self.at(edge.next), 1)]);
            }
        }
    }

    fn of_members(&mut self, target: u32, list: &Members) {
        let is_upper = self.measure.is_upper();
        if is_upper && list.conditional.is_some() {
            return;
        }
        let (lengths, _) = key_lengths(&list.keys, list.values.len(), self.measure);
        let any = self.node();
        let starts: Vec<StateId> = list.rest.iter().chain(&list.ones).copied().collect();
        starts.into_iter().for_each(|start| self.add(any, 0, &[(self.at(start), 1)]));
        let groups = groups(list);
        let mut all = Vec::new();
        for group in groups.chunk_by(|one, other| one == other) {
            let first = group[0] as usize;
            let one = self.node();
            for (&length, &value) in lengths[first..].iter().zip(&list.values[first..]).take(group.len()) {
                self.add(one, length, &[(self.at(value), 1)]);
            }
            self.add(any, 0, &[(Argument::Node(one), 1)]);
            if list.required[first] {
                all.push((Argument::Node(one), 1));
            }
        }
        let required = all.len() as u32;
        let more = list.min.max(1).saturating_sub(required);
        // one optional member may come where none must; a second one has to be another
        if is_upper && more > u32::from(required == 0) {
            return;
        }
        all.push((Argument::Node(any), more));
        all.push((self.at(list.separator), (required + more).saturating_sub(1)));
        all.push((self.at(list.exit), 1));
        self.add(target, 0, &all);
    }

    fn of_items(&mut self, target: u32, list: &UniqueItems) {
        let item = self.node();
        let is_upper = self.measure.is_upper();
        if is_upper && list.min > 1 {
            return;
        }
        let first = if is_upper { 1 } else { list.items.len() };
        list.items.iter().take(first).for_each(|&start| self.add(item, 0, &[(self.at(start), 1)]));
        let count = list.min.max(1);
        let arguments =
            [(Argument::Node(item), count), (self.at(list.separator), count - 1), (self.at(list.exit), 1)];
        self.add(target, 0, &arguments);
    }

    fn of_product(&mut self, target: u32, id: u32) {
        let product = &self.block.products[self.block.at(id)];
        let exit = (self.at(product.exit), 1);
        let not_empty = self.measure.not_empty();
        if self.measure.is_upper() {
            return;
        }
        if product.complement {
            return self.add(target, not_empty, &[exit]);
        }
        let all = self.node();
        let Some(starts) = product.operands.iter().map(|operand| operand.start).collect::<Option<Vec<_>>>()
        else {
            return;
        };
        let starts: Vec<(Argument, u32)> = starts.into_iter().map(|start| (self.at(start), 1)).collect();
        self.push(all, not_empty, true, &starts);
        self.add(target, 0, &[(Argument::Node(all), 1), exit]);
    }

    fn node(&mut self) -> u32 {
        self.nodes += 1;
        self.nodes - 1
    }

    fn at(&self, state: StateId) -> Argument {
        match self.block.is_here(state) {
            true => Argument::Node(self.block.at(state.0) as u32),
            false if state == StateId::ACCEPT => Argument::Known(0),
            false => Argument::Known((self.older)(state)),
        }
    }

    fn add(&mut self, target: u32, cost: u32, arguments: &[(Argument, u32)]) {
        self.push(target, cost, false, arguments);
    }

    fn push(&mut self, target: u32, cost: u32, greatest: bool, arguments: &[(Argument, u32)]) {
        if cost == ENDLESS {
            return;
        }
        let mut rule = Rule { target, cost: u64::from(cost), missing: 0, greatest };
        let id = self.rules.len() as u32;
        for &(argument, times) in arguments.iter().filter(|(_, times)| *times > 0) {
            match argument {
                Argument::Known(ENDLESS) => rule.missing = u32::MAX / 2,
                Argument::Known(cost) => rule.take(cost, times),
                Argument::Node(node) => {
                    rule.missing += 1;
                    self.uses.push((node, id, times));
                }
            }
        }
        self.rules.push(rule);
    }

    fn solve(mut self) -> Vec<u32> {
        self.uses.sort_unstable();
        let mut first = vec![0usize; self.nodes as usize + 1];
        self.uses.iter().for_each(|(node, ..)| first[*node as usize + 1] += 1);
        (0..self.nodes as usize).for_each(|node| first[node + 1] += first[node]);
        let settled = |rule: &&Rule| rule.missing == 0;
        let mut open: BinaryHeap<Reverse<(u64, u32)>> =
            self.rules.iter().filter(settled).map(|rule| Reverse((rule.cost, rule.target))).collect();
        let mut costs = vec![ENDLESS; self.nodes as usize];
        while let Some(Reverse((cost, node))) = open.pop() {
            if costs[node as usize] != ENDLESS {
                continue;
            }
            let cost = u32::try_from(cost).unwrap_or(ENDLESS - 1).min(ENDLESS - 1);
            costs[node as usize] = cost;
            for &(_, rule, times) in &self.uses[first[node as usize]..first[node as usize + 1]] {
                let rule = &mut self.rules[rule as usize];
                rule.take(cost, times);
                rule.missing -= 1;
                if rule.missing == 0 {
                    open.push(Reverse((rule.cost, rule.target)));
                }
            }
        }
        costs
    }
}

impl Rule {
    fn take(&mut self, cost: u32, times: u32) {
        let cost = u64::from(cost).saturating_mul(u64::from(times));
        self.cost = if self.greatest { self.cost.max(cost) } else { self.cost.saturating_add(cost) };
    }
}
