//! Lowering: grammar to automaton.
//!
//! Each expression is built *before* a continuation state, from the end of its rule towards the start. For
//! an expression `e` and a continuation `k`, [`Task::Build`] makes a state that reads the words of `e` other
//! than the empty one and goes on at `k`; where `e` may be empty, its user adds a split to `k`. So rules,
//! loops and rests can be called knowing that they are never empty. There is no recursion: tasks and
//! results are on explicit stacks, as grammars nest as deep as their authors like.
//!
//! The order of things: intersections and complements, innermost first, since whether they have words must
//! be searched for and decides what else has words; then the rules that the root reaches; then left
//! recursion is removed ([`left_recursion`](self::order)), and single splits are passed over.

mod blame;
mod bound;
mod char_class;
mod choice;
mod cost;
pub(in crate::automaton) mod deferred;
mod expression;
mod keys;
mod left_corner;
mod members;
mod order;
mod parts;
mod task;
pub(super) mod token_terminals;
mod unique_items;
mod unit_splits;
mod whole;
mod word_graph;

use super::program::automaton::{Automaton, LowersParts};
use super::program::block::{Block, Scope};
use super::program::byte_classes::ClassBuilder;
use super::program::deferred::DeferredBlocks;
use super::program::ids::StateId;
use super::program::registers::{Operand, Product, RegisterKind, Role};
use super::program::state::{Edge, State};
use super::run::lazy::Lazy;
use crate::error::{Error, Result};
use crate::grammar::analysis::{Analysis, Property};
use crate::grammar::{ExprId, Expression, Grammar, RuleId};
use crate::limits::{LimitKind, Limits};
use crate::work::Budget;
use cost::Costs;
use deferred::Deferred;
use rustc_hash::FxHashMap;
use task::Task;

/// The making of one block of states.
pub(super) struct Lowering<'g> {
    pub(super) grammar: &'g Grammar,
    /// What was lowered before; nothing while the first block is made.
    pub(super) older: Option<&'g Automaton>,
    pub(super) limits: Limits,
    pub(super) block: Block,
    pub(super) kept: Box<LoweringState>,
    /// Starts of rules, loop bodies, rests: all that is called. Each is a split of its own.
    pub(super) callables: Vec<StateId>,
    /// How many callables are free of left recursion already.
    pub(super) settled: usize,
    pub(super) suffix_states: char_class::SuffixStates,
    /// Calls by start and return state.
    pub(super) calls: FxHashMap<(StateId, StateId), StateId>,
    /// What is called and still to be built in this block, with its start.
    pending: Vec<(Pending, StateId, u32)>,
    /// Of the callables from the first unsettled one on (by their place): what they call before they have read a byte.
    pub(super) left_calls: Vec<(usize, StateId)>,
    /// How many callables have been examined for that.
    pub(super) seen: usize,
    /// Parts that were begun in this block.
    begun: Vec<u32>,
    pub(super) scope: u32,
    scope_ids: FxHashMap<Scope, u32>,
    pub(super) tasks: Vec<Task>,
    pub(super) results: Vec<StateId>,
    pub(super) error: Option<Error>,
}

/// What is kept from one block to the next.
pub(super) struct LoweringState {
    pub(super) productive: Analysis,
    pub(super) nullable: Analysis,
    pub(super) class_tails: FxHashMap<ExprId, StateId>,
    pub(super) rule_starts: Vec<Option<StateId>>,
    operands: FxHashMap<ExprId, Vec<Operand>>,
    pub(super) costs: Costs,
    pub(super) shared_starts: FxHashMap<ExprId, StateId>,
    classes: ClassBuilder,
    /// Whether what is entered after a byte at the earliest is left for later.
    pub(super) defers: bool,
    /// The parts left for later, with the scope in which they stand.
    parts: Vec<(Pending, Scope)>,
    /// Per part: where it begins, if it is lowered.
    starts: Vec<Option<StateId>>,
    /// The rank of the callable that was ranked last.
    pub(super) rank: u32,
    scratch: Scratch,
    /// How many states there are in all blocks so far.
    states: usize,
    pub(super) provenance: Provenance,
}

/// Where some things come from that are examined once all is lowered, which is then not left for later.
#[derive(Default)]
pub(super) struct Provenance {
    /// Per list of members.
    pub(super) members: Vec<ExprId>,
    /// Per list of different items.
    pub(super) items: Vec<ExprId>,
    /// The starts of the names of members without a fixed key that must come once, beside further ones.
    pub(super) ones: Vec<StateId>,
    /// The starts of the names of which a beginning may leave few.
    pub(super) names: FxHashMap<ExprId, StateId>,
}

/// Lists kept for their allocations.
#[derive(Default)]
struct Scratch {
    block: Block,
    callables: Vec<StateId>,
    calls: FxHashMap<(StateId, StateId), StateId>,
    scope_ids: FxHashMap<Scope, u32>,
    pending: Vec<(Pending, StateId, u32)>,
    left_calls: Vec<(usize, StateId)>,
    tasks: Vec<Task>,
    results: Vec<StateId>,
}

/// What is lowered by itself.
#[derive(Clone, Copy)]
pub(super) enum Pending {
    Rule(RuleId),
    /// An expression that several others share.
    Shared(ExprId),
    /// The value of a member.
    Value(ExprId),
}

impl<'g> Lowering<'g> {
    fn new(grammar: &'g Grammar, limits: &Limits) -> Lowering<'g> {
        let kept = LoweringState {
            productive: Analysis::new(grammar, Property::Productive),
            nullable: Analysis::new(grammar, Property::Nullable),
            class_tails: FxHashMap::default(),
            rule_starts: vec![None; grammar.rules().len()],
            operands: FxHashMap::default(),
            costs: Costs::of(grammar),
            shared_starts: FxHashMap::default(),
            classes: ClassBuilder::new(grammar),
            defers: false,
            parts: Vec::new(),
            starts: Vec::new(),
            rank: u32::MAX,
            scratch: Scratch::default(),
            states: 0,
            provenance: Provenance::default(),
        };
        let mut lowering = Lowering::on(grammar, None, limits.clone(), Box::new(kept), 0);
        // most are no larger
        lowering.block.states.reserve(256);
        lowering.block.state_scopes.reserve(256);
        lowering.block.edges.reserve(256);
        lowering.block.splits.reserve(64);
        lowering.tasks.reserve(32);
        lowering.scope_id(Scope { rule: grammar.root(), label: None });
        lowering.add_state(State::Accept);
        lowering
    }

    /// The making of a block of ids from `first` on, after `older`.
    pub(super) fn resume(
        grammar: &'g Grammar,
        older: &'g Automaton,
        kept: Box<LoweringState>,
        first: u32,
    ) -> Lowering<'g> {
        Lowering::on(grammar, Some(older), older.limits.clone(), kept, first)
    }

    fn on(
        grammar: &'g Grammar,
        older: Option<&'g Automaton>,
        limits: Limits,
        mut kept: Box<LoweringState>,
        first: u32,
    ) -> Lowering<'g> {
        let scratch = std::mem::take(&mut kept.scratch);
        let Scratch { block, callables, calls, scope_ids, pending, left_calls, tasks, results } = scratch;
        Lowering {
            grammar,
            older,
            limits,
            block: Block { first, ..block },
            kept,
            callables,
            settled: 0,
            suffix_states: FxHashMap::default(),
            calls,
            pending,
            left_calls,
            seen: 0,
            begun: Vec::new(),
            scope: 0,
            scope_ids,
            tasks,
            results,
            error: None,
        }
    }

    /// A state of this block or an older one.
    pub(super) fn state(&self, id: StateId) -> State {
        match self.older {
            Some(older) if !self.block.is_here(id) => older.state(id),
            _ => self.block.state(id),
        }
    }

    pub(super) fn splits(&self, first: u32, len: u32) -> &[StateId] {
        match self.older {
            Some(older) if first < self.block.first => older.splits(first, len),
            _ => self.block.splits(first, len),
        }
    }

    pub(super) fn edges(&self, first: u32, len: u32) -> &[Edge] {
        match self.older {
            Some(older) if first < self.block.first => older.edges(first, len),
            _ => self.block.edges(first, len),
        }
    }

    /// How many states there may be, and how many of these can still be made.
    pub(super) fn states_left(&self) -> (usize, usize) {
        let limit = self.limits.automaton_states;
        (limit, limit.saturating_sub(self.kept.states))
    }

    /// The name of the rule that a state of this block was made for.
    pub(super) fn rule_name(&self, state: StateId) -> Option<&str> {
        let place = state.0.checked_sub(self.block.first)?;
        let scope = *self.block.state_scopes.get(place as usize)?;
        Some(&self.grammar.rule(self.block.scopes.get(scope as usize)?.rule).name)
    }

    // ---- making states

    pub(super) fn add_state(&mut self, state: State) -> StateId {
        let limit = self.limits.automaton_states;
        if self.kept.states >= limit {
            let scope = self.block.scopes.get(self.scope as usize);
            let place = scope.map(|scope| self.grammar.place(scope.rule, scope.label));
            self.error.get_or_insert_with(|| {
                Limits::exceeded(LimitKind::AutomatonStates, limit, "more states")
                    .or_at(&place.unwrap_or_default())
            });
            return StateId::ACCEPT;
        }
        let id = self.block.next(&self.block.states);
        self.kept.states += 1;
        self.block.states.push(state);
        self.block.state_scopes.push(self.scope);
        StateId(id)
    }

    /// The state before `bytes`, after which `next` follows.
    pub(super) fn literal(&mut self, bytes: &[u8], next: StateId) -> StateId {
        bytes.iter().rev().fold(next, |next, &byte| self.add_state(State::Byte { byte, next }))
    }

    /// One byte in any of the sorted, disjoint ranges, each leading to a state.
    pub(super) fn byte_ranges(&mut self, ranges: &[(u8, u8, StateId)]) -> StateId {
        if let [(low, high, next)] = ranges[..]
            && low == high
        {
            return self.add_state(State::Byte { byte: low, next });
        }
        let first = self.block.next(&self.block.edges);
        self.block.edges.extend(ranges.iter().map(|&(low, high, next)| Edge { low, high, next }));
        self.add_state(State::Bytes { first, len: ranges.len() as u32 })
    }

    /// All of the states at once.
    pub(super) fn split(&mut self, targets: &[StateId]) -> StateId {
        match targets {
            [] => self.open_split(),
            &[one] => one,
            _ => {
                let split = self.open_split();
                self.fill_split(split, targets);
                split
            }
        }
    }

    /// A split that is filled later.
    pub(super) fn open_split(&mut self) -> StateId {
        self.add_state(State::Split { first: self.block.first, len: 0 })
    }

    pub(super) fn fill_split(&mut self, split: StateId, targets: &[StateId]) {
        let first = self.block.next(&self.block.splits);
        self.block.splits.extend_from_slice(targets);
        self.set_state(split, State::Split { first, len: targets.len() as u32 });
    }

    /// Puts something else in the place of a state of this block.
    fn set_state(&mut self, id: StateId, state: State) {
        // past a limit there is nothing but the accepting state
        if id != StateId::ACCEPT {
            let at = self.block.at(id.0);
            self.block.states[at] = state;
        }
    }

    /// A start that can be called; a split to be filled.
    pub(super) fn open_callable(&mut self) -> StateId {
        let start = self.open_split();
        self.callables.push(start);
        start
    }

    /// The start of something that is called: begins it, or leaves it for later.
    pub(super) fn start_of(&mut self, what: Pending, scope: Scope) -> StateId {
        if !self.kept.defers {
            return self.begin(what, scope, None);
        }
        let start = self.defer(what, scope);
        self.know(what, start);
        start
    }

    /// Leaves something for later: the state that stands for it.
    pub(super) fn defer(&mut self, what: Pending, scope: Scope) -> StateId {
        let part = self.kept.parts.len() as u32;
        self.kept.parts.push((what, scope));
        self.kept.starts.push(None);
        self.add_state(State::Deferred(part))
    }

    /// Begins something in this block, at `place` if that is a state of this block that stood for it.
    fn begin(&mut self, what: Pending, scope: Scope, place: Option<StateId>) -> StateId {
        let scope = self.scope_id(scope);
        let outer = std::mem::replace(&mut self.scope, scope);
        let start = place.unwrap_or_else(|| self.open_split());
        self.scope = outer;
        self.callables.push(start);
        self.know(what, start);
        self.pending.push((what, start, scope));
        start
    }

    fn know(&mut self, what: Pending, start: StateId) {
        match what {
            Pending::Rule(rule) => self.kept.rule_starts[rule.index()] = Some(start),
            Pending::Shared(expression) => {
                self.kept.shared_starts.insert(expression, start);
            }
            Pending::Value(_) => {}
        }
    }

    /// Begins in this block what was left for later.
    fn begin_part(&mut self, part: u32, place: Option<StateId>) {
        let (what, scope) = self.kept.parts[part as usize];
        let start = self.begin(what, scope, place);
        self.kept.starts[part as usize] = Some(start);
        self.begun.push(part);
    }

    /// The start of what a state stands for, as far as that is known.
    pub(super) fn resolved(&self, start: StateId) -> StateId {
        match self.state(start) {
            State::Deferred(part) => self.kept.starts[part as usize].unwrap_or(start),
            _ => start,
        }
    }

    /// Begins what is left for later and called at `start`.
    pub(super) fn begin_called(&mut self, start: StateId) {
        if let State::Deferred(part) = self.state(start)
            && self.kept.starts[part as usize].is_none()
        {
            self.begin_part(part, Some(start).filter(|&start| self.block.is_here(start)));
        }
    }

    pub(super) fn scope_id(&mut self, scope: Scope) -> u32 {
        let next = self.block.scopes.len() as u32;
        let id = *self.scope_ids.entry(scope).or_insert(next);
        if id == next {
            self.block.scopes.push(scope);
        }
        id
    }

    // ---- stages

    /// Builds all that was begun, and what it calls before it has read a byte.
    pub(super) fn build_pending(&mut self) -> Result<()> {
        let next = StateId::ACCEPT;
        loop {
            while let Some((what, start, scope)) = self.pending.pop() {
                let built = self.build(match what {
                    Pending::Rule(rule) => {
                        Task::Build { expression: self.grammar.rule(rule).body, next, scope }
                    }
                    Pending::Shared(expression) => Task::BuildHere { expression, next, scope },
                    Pending::Value(expression) => Task::Build { expression, next, scope },
                })?;
                match what {
                    Pending::Value(value) if self.kept.nullable.holds(value) => {
                        self.fill_split(start, &[built, next]);
                    }
                    _ => self.fill_split(start, &[built]),
                }
            }
            self.find_left_calls();
            if self.pending.is_empty() {
                return self.error.take().map_or(Ok(()), Err);
            }
        }
    }

    /// Lowers the operands of an intersection or complement, and finds out whether it has words.
    fn prepare_product(&mut self, id: ExprId, budget: &Budget) -> Result<()> {
        let (list, complement): (Vec<ExprId>, bool) = match self.grammar.expression(id) {
            Expression::Intersection(list) => (list.to_vec(), false),
            Expression::Complement(operand) => (vec![*operand], true),
            _ => return Ok(()),
        };
        let mut operands = Vec::with_capacity(list.len());
        for &operand in &list {
            let task = Task::Build { expression: operand, next: StateId::ACCEPT, scope: 0 };
            let start = match self.kept.productive.holds(operand) {
                true => Some(self.build(task)?),
                false => None,
            };
            operands.push(Operand { start, nullable: self.kept.nullable.holds(operand) });
        }
        self.order_callables(None)?;
        let nullable = operands.iter().all(|o| o.nullable) != complement;
        let hopeless = !complement && operands.iter().any(|o| o.start.is_none());
        self.kept.operands.insert(id, operands);
        let has_words = !hopeless && {
            let index = self.product(id, StateId::ACCEPT);
            self.kept.classes.reach(self.grammar, id);
            let block = std::mem::take(&mut self.block);
            let automaton = Automaton::of(block, self.kept.classes.build(), self.limits.clone());
            let has_words = Lazy::within(&automaton, budget, |lazy| lazy.product_has_words(index))?;
            self.block = automaton.ahead;
            has_words
        };
        if nullable {
            self.kept.nullable.set(self.grammar, id);
        }
        if nullable || has_words {
            self.kept.productive.set(self.grammar, id);
        }
        Ok(())
    }

    pub(super) fn product(&mut self, id: ExprId, exit: StateId) -> u32 {
        let index = self.block.next(&self.block.records.products);
        let state = self.register(RegisterKind::Product, Role::Inside, index);
        let operands = self.kept.operands.get(&id).cloned().unwrap_or_default();
        let complement = matches!(self.grammar.expression(id), Expression::Complement(_));
        let bound = bound::bound_of(self.grammar, id);
        self.block.records.products.push(Product { operands, complement, bound, exit, state });
        index
    }

    /// The automaton of the first block, and the lists that need more than there is.
    fn finish(mut self, start: StateId, budget: &Budget) -> Result<(Automaton, Vec<(ExprId, Error)>)> {
        let root = self.grammar.rule(self.grammar.root()).body;
        let nullable = self.kept.nullable.holds(root);
        self.kept.classes.reach(self.grammar, root);
        self.note_few_names();
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        self.eliminate_unit_splits();
        let start = self.single(start);
        self.block.shrink_to_fit();
        let classes = self.kept.classes.build();
        let names = self.grammar.expressions().iter().any(|e| matches!(e, Expression::Name(..)));
        let json_items = self.grammar.expressions().iter().all(|e| match e {
            Expression::Distinct(list) => list.json,
            _ => true,
        });
        let mut provenance = std::mem::take(&mut self.kept.provenance);
        provenance.ones.iter_mut().for_each(|start| *start = self.single(*start));
        let mut name_starts: Vec<StateId> =
            provenance.names.values().map(|&start| self.single(start)).collect();
        name_starts.sort_unstable();
        let has_more = self.begun.len() < self.kept.parts.len();
        let expected = self.kept.costs.all() as usize;
        let deferred = has_more.then(|| Box::new(DeferredBlocks::new(&self.block, expected)));
        let later: Option<Box<dyn LowersParts>> = match has_more {
            true => Some(Box::new(Deferred::new(&self.block, self.grammar, self.kept))),
            false => None,
        };
        let terminals = token_terminals::has_terminals(self.grammar);
        let parts = parts::bounded(self.grammar);
        let automaton = Automaton::of(self.block, classes, self.limits);
        let mut automaton = Automaton {
            start,
            nullable,
            deferred,
            later,
            names,
            json_items,
            name_starts,
            terminals,
            parts,
            ..automaton
        };
        keys::check_ones(&automaton, self.grammar, &provenance.ones, budget)?;
        let (mut lacking, few) =
            keys::bound_further(&mut automaton, self.grammar, &provenance.members, budget)?;
        unique_items::check_names(self.grammar, &few)?;
        lacking.extend(unique_items::lacking_items(&automaton, self.grammar, &provenance.items, budget)?);
        Ok((automaton, lacking))
    }

    /// Lowers a part, and what it calls before it has read a byte.
    pub(super) fn part(&mut self, part: u32) -> Result<StateId> {
        self.block.states.reserve(64);
        self.block.state_scopes.reserve(64);
        self.block.edges.reserve(64);
        self.block.splits.reserve(16);
        self.begin_part(part, None);
        self.order_callables(None)?;
        self.eliminate_unit_splits();
        for &part in &self.begun {
            let start = self.kept.starts[part as usize].map(|start| self.single(start));
            self.kept.starts[part as usize] = start;
        }
        Ok(self.kept.starts[part as usize].unwrap_or(StateId::ACCEPT))
    }

    /// The block, the parts that begin in it, and what the next one needs.
    pub(super) fn into_parts(self) -> (Block, Vec<(u32, StateId)>, Box<LoweringState>) {
        let starts = &self.kept.starts;
        let begun = self.begun.iter().filter_map(|&part| Some((part, starts[part as usize]?))).collect();
        let Lowering { mut block, mut kept, mut callables, mut calls, mut scope_ids, .. } = self;
        let Lowering { pending, mut left_calls, tasks, results, .. } = self;
        let made = block.take();
        callables.clear();
        calls.clear();
        scope_ids.clear();
        left_calls.clear();
        kept.scratch = Scratch { block, callables, calls, scope_ids, pending, left_calls, tasks, results };
        (made, begun, kept)
    }
}
