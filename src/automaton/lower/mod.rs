//! Lowering: compiles a grammar to an automaton.
//!
//! Each expression is built *before* a continuation state, from the end of its rule towards the start. For an
//! expression `e` and a continuation `k`, [`Task::Build`] builds a state that reads the words of `e` other than the
//! empty one and continues at `k`. If `e` may be empty, its user adds a split to `k`. So callables (rules, loops,
//! rests) are never empty. There is no recursion: tasks and results are on explicit stacks, because grammars may nest
//! arbitrarily deep.
//!
//! The stages: first intersections and complements, innermost first, because a search must decide whether they have
//! words, and whether other expressions have words depends on the answer. Then the rules that the root reaches. Then
//! left recursion is removed ([`order`](self::order)) and splits with one target are eliminated.

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

/// The construction of one block of states.
pub(super) struct Lowering<'g> {
    pub(super) grammar: &'g Grammar,
    /// The automaton lowered before; `None` while the first block is built.
    pub(super) older: Option<&'g Automaton>,
    pub(super) limits: Limits,
    pub(super) block: Block,
    pub(super) kept: Box<LoweringState>,
    /// All callables: starts of rules, loop bodies, rests. Each is a split of its own.
    pub(super) callables: Vec<StateId>,
    /// The number of callables that are already free of left recursion.
    pub(super) settled: usize,
    pub(super) suffix_states: char_class::SuffixStates,
    /// The `Call` states of the block, by start and return address.
    pub(super) calls: FxHashMap<(StateId, StateId), StateId>,
    /// Callables still to be built in this block, with their starts and scopes.
    pending: Vec<(Pending, StateId, u32)>,
    /// Left calls: the index of the caller among the unsettled callables, and the start that it calls before reading a
    /// byte.
    pub(super) left_calls: Vec<(usize, StateId)>,
    /// The number of callables examined for left calls.
    pub(super) seen: usize,
    /// Deferred parts that were begun in this block.
    begun: Vec<u32>,
    pub(super) scope: u32,
    scope_ids: FxHashMap<Scope, u32>,
    pub(super) tasks: Vec<Task>,
    pub(super) results: Vec<StateId>,
    pub(super) error: Option<Error>,
}

/// The state of lowering that is kept between blocks.
pub(super) struct LoweringState {
    pub(super) productive: Analysis,
    pub(super) nullable: Analysis,
    pub(super) class_tails: FxHashMap<ExprId, StateId>,
    pub(super) rule_starts: Vec<Option<StateId>>,
    operands: FxHashMap<ExprId, Vec<Operand>>,
    /// For intersections and complements, the length in bytes of some word other than the empty one.
    product_words: FxHashMap<ExprId, u32>,
    pub(super) costs: Costs,
    pub(super) shared_starts: FxHashMap<ExprId, StateId>,
    classes: ClassBuilder,
    /// Whether parts that are entered only after a byte are deferred.
    pub(super) defers: bool,
    /// The deferred parts, each with its scope.
    parts: Vec<(Pending, Scope)>,
    /// Per part, its start, if it is lowered.
    starts: Vec<Option<StateId>>,
    /// The rank of the callable that was ranked last; the next callable gets a lower rank.
    pub(super) rank: u32,
    scratch: Scratch,
    /// The number of states of all blocks so far.
    states: usize,
    pub(super) provenance: Provenance,
}

/// The sources of records and starts that are examined after the whole grammar is lowered; grammars with such sources
/// defer nothing.
#[derive(Default)]
pub(super) struct Provenance {
    /// Per list of members, its expression.
    pub(super) members: Vec<ExprId>,
    /// Per list of different items, its expression.
    pub(super) items: Vec<ExprId>,
    /// Starts of the names of members that may occur once, if these names may be few and further members might use them
    /// up.
    pub(super) ones: Vec<StateId>,
    /// The starts of names with prefixes that few names may extend.
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

/// A callable that is lowered on its own.
#[derive(Clone, Copy)]
pub(super) enum Pending {
    Rule(RuleId),
    /// An expression with several uses.
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
            product_words: FxHashMap::default(),
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
        // sizes that are enough for most grammars
        lowering.block.states.reserve(256);
        lowering.block.state_scopes.reserve(256);
        lowering.block.edges.reserve(256);
        lowering.block.splits.reserve(64);
        lowering.tasks.reserve(32);
        lowering.scope_id(Scope { rule: grammar.root(), label: None });
        lowering.add_state(State::Accept);
        lowering
    }

    /// Starts a block whose ids begin at `first`, after the automaton `older`.
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

    /// A state of this block or of an older one.
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

    /// The limit of states, and how many can still be created.
    pub(super) fn states_left(&self) -> (usize, usize) {
        let limit = self.limits.automaton_states;
        (limit, limit.saturating_sub(self.kept.states))
    }

    /// The name of the rule from which a state of this block was lowered.
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

    /// A state that reads `bytes` and continues at `next`.
    pub(super) fn literal(&mut self, bytes: &[u8], next: StateId) -> StateId {
        bytes.iter().rev().fold(next, |next, &byte| self.add_state(State::Byte { byte, next }))
    }

    /// A state that reads one byte in any of the sorted, disjoint ranges, each with its target.
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

    /// A state that leads to all of `targets` without a byte: the target itself if there is exactly one, otherwise a
    /// split.
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

    /// A split without targets, to be filled later.
    pub(super) fn open_split(&mut self) -> StateId {
        self.add_state(State::Split { first: self.block.first, len: 0 })
    }

    pub(super) fn fill_split(&mut self, split: StateId, targets: &[StateId]) {
        let first = self.block.next(&self.block.splits);
        self.block.splits.extend_from_slice(targets);
        self.set_state(split, State::Split { first, len: targets.len() as u32 });
    }

    /// Replaces a state of this block.
    fn set_state(&mut self, id: StateId, state: State) {
        // beyond the limit of states every id is the accepting state
        if id != StateId::ACCEPT {
            let at = self.block.at(id.0);
            self.block.states[at] = state;
        }
    }

    /// A new callable: a split to be filled.
    pub(super) fn open_callable(&mut self) -> StateId {
        let start = self.open_split();
        self.callables.push(start);
        start
    }

    /// The start of a callable, which is begun in this block or, if parts are deferred, deferred.
    pub(super) fn start_of(&mut self, what: Pending, scope: Scope) -> StateId {
        if !self.kept.defers {
            return self.begin(what, scope, None);
        }
        let start = self.defer(what, scope);
        self.know(what, start);
        start
    }

    /// Defers a callable and returns the state that represents it.
    pub(super) fn defer(&mut self, what: Pending, scope: Scope) -> StateId {
        let part = self.kept.parts.len() as u32;
        self.kept.parts.push((what, scope));
        self.kept.starts.push(None);
        self.add_state(State::Deferred(part))
    }

    /// Begins a callable in this block. `place` is the state of this block that represents the deferred callable, if
    /// there is one; it becomes the start.
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

    /// Begins a deferred part in this block.
    fn begin_part(&mut self, part: u32, place: Option<StateId>) {
        let (what, scope) = self.kept.parts[part as usize];
        let start = self.begin(what, scope, place);
        self.kept.starts[part as usize] = Some(start);
        self.begun.push(part);
    }

    /// The start of the callable that a state represents, if it is known; otherwise the state itself.
    pub(super) fn resolved(&self, start: StateId) -> StateId {
        match self.state(start) {
            State::Deferred(part) => self.kept.starts[part as usize].unwrap_or(start),
            _ => start,
        }
    }

    /// Begins the callable at `start` in this block if it is deferred and not yet begun.
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

    /// Builds all callables that were begun, and all callables that they call before reading a byte.
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

    /// Lowers the operands of an intersection or complement, and decides whether it has words.
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
        let word = if hopeless {
            None
        } else {
            let index = self.product(id, StateId::ACCEPT);
            self.kept.classes.reach(self.grammar, id);
            let block = std::mem::take(&mut self.block);
            let automaton = Automaton::of(block, self.kept.classes.build(), self.limits.clone());
            let word = Lazy::within(&automaton, budget, |lazy| lazy.word_of_product(index))?;
            self.block = automaton.ahead;
            word
        };
        if nullable {
            self.kept.nullable.set(self.grammar, id);
        }
        if nullable || word.is_some() {
            self.kept.productive.set(self.grammar, id);
        }
        self.kept.product_words.extend(word.map(|word| (id, word)));
        Ok(())
    }

    pub(super) fn product(&mut self, id: ExprId, exit: StateId) -> u32 {
        let index = self.block.next(&self.block.records.products);
        let state = self.register(RegisterKind::Product, Role::Inside, index);
        let operands = self.kept.operands.get(&id).cloned().unwrap_or_default();
        let complement = matches!(self.grammar.expression(id), Expression::Complement(_));
        let bound = bound::bound_of(self.grammar, id);
        let word = self.kept.product_words.get(&id).copied();
        self.block.records.products.push(Product { operands, complement, bound, word, exit, state });
        index
    }

    /// Builds the automaton of the first block. Also returns the lists that need more items or names than exist.
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
        let product_words = self.kept.product_words.clone();
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
            product_words,
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

    /// Lowers a deferred part, and all callables that it calls before reading a byte.
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

    /// The block, the parts that begin in it, and the state that the next block needs.
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
