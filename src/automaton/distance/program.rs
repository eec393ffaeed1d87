//! The least length from each state of a block to the return of its callable.
//!
//! A rule derives the cost of a state from the costs of other states: for a call, the sum of the costs of the body and
//! of the continuation; for a product, the greatest cost of its operands. Rules of this kind are superior functions:
//! the result is never smaller than an argument. So states can be settled in order of their costs.

use super::measure::{ENDLESS, Measure};
use crate::automaton::program::automaton::Automaton;
use crate::automaton::program::block::Block;
use crate::automaton::program::ids::StateId;
use crate::automaton::program::registers::{RegisterKind, RegisterState};
use crate::automaton::program::state::State;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

#[derive(Clone, Copy)]
struct Rule {
    target: u32,
    cost: u64,
    /// The number of arguments that are not settled.
    missing: u32,
    /// Whether the greatest argument counts, instead of the sum.
    greatest: bool,
}

/// A state of the block, an auxiliary node, or a known cost of another block.
#[derive(Clone, Copy)]
pub(in crate::automaton) enum Argument {
    Node(u32),
    Known(u32),
}

/// The rules from which the lengths from the states of a block are computed.
pub(in crate::automaton) struct Rules<'a> {
    block: &'a Block,
    pub(in crate::automaton) measure: &'a Measure,
    /// The costs of the states of older blocks.
    older: &'a dyn Fn(StateId) -> u32,
    rules: Vec<Rule>,
    /// Arguments of rules: the node, the rule, and how often the node counts.
    uses: Vec<(u32, u32, u32)>,
    /// The number of nodes; the states of the block are the first nodes.
    nodes: u32,
}

/// States of older blocks that a block leads to or calls, one of each older block.
pub(in crate::automaton) fn outside(automaton: &Automaton, block: &Block) -> Vec<StateId> {
    let mut outside: Vec<StateId> = Vec::new();
    let mut see = |state: StateId| {
        if !block.is_here(state) && state != StateId::ACCEPT {
            outside.push(state);
        }
    };
    for &state in &block.states {
        match state {
            State::Byte { next, .. } | State::Token { next, .. } => see(next),
            State::ByteOr { next, otherwise, .. } => [next, otherwise].into_iter().for_each(&mut see),
            State::Call { start, to_return } => [start, to_return].into_iter().for_each(&mut see),
            _ => {}
        }
    }
    block.edges.iter().for_each(|edge| see(edge.next));
    block.splits.iter().copied().for_each(&mut see);
    block.records.each_target(&mut see);
    // one state of each block is enough
    outside.sort_unstable_by_key(|state| automaton.block(state.0).first);
    outside.dedup_by_key(|state| automaton.block(state.0).first);
    outside
}

/// Computes the costs of the states of a block. `older` gives the costs of states of older blocks, `part` the costs of
/// parts of the grammar that are lowered later.
pub(in crate::automaton) fn costs(
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
            // the rest of the text counts for the frame that the callable returns to
            State::Accept => self.add(target, 0, &[]),
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
                // the target of the last edge that costs 1: a further edge to it would add the same rule
                let mut known = None;
                for edge in block.edges(first, len) {
                    let cost = self.measure.of_range(edge.low, edge.high);
                    if cost != 1 || known != Some(edge.next) {
                        self.add(target, cost, &[(self.at(edge.next), 1)]);
                    }
                    if cost == 1 {
                        known = Some(edge.next);
                    }
                }
            }
            State::Split { first, len } => {
                block.splits(first, len).iter().for_each(|&next| self.add(target, 0, &[(self.at(next), 1)]));
            }
            State::Token { terminal, next } => {
                self.add(target, self.measure.of_terminal(terminal), &[(self.at(next), 1)]);
            }
            // a further name may have to differ from those before it
            State::Call { to_return, .. } if self.measure.is_upper() && self.is_name(to_return) => {}
            State::Call { start, to_return } => {
                self.add(target, 0, &[(self.at(start), 1), (self.at(to_return), 1)]);
            }
            State::Register { kind, role, record, node } => {
                RegisterState { kind, role, record, node }.least(block, self, target);
            }
        }
    }

    /// Adds rules for the edges of a `Bytes` state without one byte, which has another target. The cost of the `Bytes`
    /// state itself is no upper bound here, because its shortest completion may begin with that byte.
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

    /// Whether a state is where the name of a member ends.
    fn is_name(&self, state: StateId) -> bool {
        let is_name = |state| matches!(state, State::Register { kind: RegisterKind::Name, .. });
        self.block.is_here(state) && is_name(self.block.state(state))
    }

    /// Adds an auxiliary node, to be used as a target and as an argument of rules.
    pub(in crate::automaton) fn node(&mut self) -> u32 {
        self.nodes += 1;
        self.nodes - 1
    }

    /// The length from a state, as an argument.
    pub(in crate::automaton) fn at(&self, state: StateId) -> Argument {
        match self.block.is_here(state) {
            true => Argument::Node(self.block.at(state.0) as u32),
            false if state == StateId::ACCEPT => Argument::Known(0),
            false => Argument::Known((self.older)(state)),
        }
    }

    /// Adds a rule: the length from the state or node `target` is at most `cost` plus the sum of the arguments, each
    /// times its count. The least length over all rules counts.
    pub(in crate::automaton) fn add(&mut self, target: u32, cost: u32, arguments: &[(Argument, u32)]) {
        self.push(target, cost, false, arguments);
    }

    /// Adds a rule: the length from the state or node `target` is at most the greatest of `cost` and the arguments,
    /// each times its count.
    pub(in crate::automaton) fn add_greatest(
        &mut self,
        target: u32,
        cost: u32,
        arguments: &[(Argument, u32)],
    ) {
        self.push(target, cost, true, arguments);
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
