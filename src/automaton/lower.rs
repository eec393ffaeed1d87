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
//! recursion is removed ([`left_recursion`](super::left_recursion)), and single splits are passed over.

use super::classes::ClassBuilder;
use super::sizes;
use super::state::{Edge, Lockstep, Loop, Operand, State, StateId};
use super::table::Tables;
use super::task::Task;
use super::{Automaton, Scope, errors};
use crate::error::{Error, Result};
use crate::grammar::analysis::{Analysis, Property};
use crate::grammar::{ByteSet, ExprId, Expression, Grammar, RuleId};
use crate::limits::Limits;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Counted repeats of at most so many states are written out instead of counted.
const UNROLLED_STATES: u32 = 16;

/// How deep locksteps may nest: stepping one steps those inside it.
const LOCKSTEP_DEPTH: usize = 64;

pub(super) struct Lowering<'g> {
    pub(super) grammar: &'g Grammar,
    pub(super) automaton: Automaton,
    pub(super) productive: Analysis,
    pub(super) nullable: Analysis,
    /// Starts of rules, loop bodies, rests: all that is called. Each is a split of its own.
    pub(super) callables: Vec<StateId>,
    /// How many callables are free of left recursion already.
    pub(super) settled: usize,
    pub(super) class_tails: FxHashMap<ExprId, StateId>,
    pub(super) suffix_states: super::utf8::SuffixStates,
    /// Calls by start and return state.
    calls: FxHashMap<(StateId, StateId), StateId>,
    classes: ClassBuilder,
    rule_starts: Vec<Option<StateId>>,
    pending_rules: Vec<RuleId>,
    operands: FxHashMap<ExprId, Vec<Operand>>,
    weights: Vec<u32>,
    /// Per expression: whether it is lowered once and called, as it is not small and used more than once.
    shared: Vec<bool>,
    shared_starts: FxHashMap<ExprId, StateId>,
    /// Per name of which there may be few.
    pub(super) name_starts: FxHashMap<ExprId, StateId>,
    /// Where the lists of members, and those of different items, come from.
    pub(super) member_lists: Vec<ExprId>,
    pub(super) item_lists: Vec<ExprId>,
    pub(super) scope: u32,
    scope_ids: FxHashMap<Scope, u32>,
    dead: Option<StateId>,
    tasks: Vec<Task>,
    results: Vec<StateId>,
    error: Option<Error>,
}

pub(super) fn lower(grammar: &Grammar, limits: &Limits) -> Result<Automaton> {
    // lists that need more than there is, which only shows when they are lowered, are then left out like other branches
    // without words
    let mut excluded: FxHashMap<ExprId, Error> = FxHashMap::default();
    loop {
        let mut lowering = Lowering::new(grammar, limits);
        if !excluded.is_empty() {
            lowering.productive = Analysis::productive_without(grammar, |id| excluded.contains_key(&id));
        }
        for lockstep in super::left_recursion::lockstep_order(grammar, LOCKSTEP_DEPTH)? {
            lowering.prepare_lockstep(lockstep)?;
        }
        let root = grammar.rule(grammar.root());
        if !lowering.productive.holds(root.body) {
            let first = excluded.into_iter().min_by_key(|(id, _)| *id);
            return Err(first.map_or_else(|| errors::empty_language(&root.name), |(_, error)| error));
        }
        lowering.automaton.nullable = lowering.nullable.holds(root.body);
        lowering.automaton.start = lowering.rule_start(grammar.root());
        lowering.finish_rules()?;
        let (automaton, lacking) = lowering.finish()?;
        if lacking.is_empty() {
            return Ok(automaton);
        }
        excluded.extend(lacking);
    }
}

impl<'g> Lowering<'g> {
    fn new(grammar: &'g Grammar, limits: &Limits) -> Lowering<'g> {
        let classes = ClassBuilder::new();
        // most automata are no larger
        let (mut states, mut state_scopes) = (Vec::with_capacity(512), Vec::with_capacity(512));
        states.push(State::Accept);
        state_scopes.push(0);
        let automaton = Automaton {
            states,
            state_scopes,
            scopes: vec![Scope { rule: grammar.root(), label: None }],
            edges: Vec::with_capacity(512),
            splits: Vec::with_capacity(128),
            loops: Vec::new(),
            members: Vec::new(),
            distincts: Vec::new(),
            locksteps: Vec::new(),
            ranks: FxHashMap::default(),
            classes: classes.build(),
            names: false,
            name_starts: Vec::new(),
            start: StateId::ACCEPT,
            nullable: false,
            limits: limits.clone(),
        };
        let root_scope = automaton.scopes[0];
        let weights = sizes::weights(grammar);
        Lowering {
            grammar,
            automaton,
            productive: Analysis::new(grammar, Property::Productive),
            nullable: Analysis::new(grammar, Property::Nullable),
            callables: Vec::new(),
            settled: 0,
            class_tails: FxHashMap::default(),
            suffix_states: FxHashMap::default(),
            calls: FxHashMap::default(),
            classes,
            rule_starts: vec![None; grammar.rules().len()],
            pending_rules: Vec::new(),
            operands: FxHashMap::default(),
            shared: sizes::shared(grammar, &weights),
            shared_starts: FxHashMap::default(),
            weights,
            name_starts: FxHashMap::default(),
            member_lists: Vec::new(),
            item_lists: Vec::new(),
            scope: 0,
            scope_ids: FxHashMap::from_iter([(root_scope, 0)]),
            dead: None,
            tasks: Vec::new(),
            results: Vec::new(),
            error: None,
        }
    }

    // ---- making states

    pub(super) fn add_state(&mut self, state: State) -> StateId {
        let limit = self.automaton.limits.automaton_states;
        let id = self.automaton.states.len();
        if id >= limit {
            self.error.get_or_insert_with(|| Limits::exceeded("automaton_states", limit, "more states"));
            return StateId::ACCEPT;
        }
        self.automaton.states.push(state);
        self.automaton.state_scopes.push(self.scope);
        StateId(id as u32)
    }

    /// The state before `bytes`, after which `next` follows.
    pub(super) fn literal(&mut self, bytes: &[u8], next: StateId) -> StateId {
        bytes.iter().rev().fold(next, |next, &byte| {
            self.classes.add(byte, byte);
            self.add_state(State::Byte { byte, next })
        })
    }

    /// One byte in any of the sorted, disjoint ranges, each leading to a state.
    pub(super) fn byte_ranges(&mut self, ranges: &[(u8, u8, StateId)]) -> StateId {
        if let [(low, high, next)] = ranges[..]
            && low == high
        {
            self.classes.add(low, low);
            return self.add_state(State::Byte { byte: low, next });
        }
        let first = self.automaton.edges.len() as u32;
        for &(low, high, next) in ranges {
            self.classes.add(low, high);
            self.automaton.edges.push(Edge { low, high, next });
        }
        self.add_state(State::Bytes { first, len: ranges.len() as u32 })
    }

    /// All of the states at once.
    pub(super) fn split(&mut self, targets: &[StateId]) -> StateId {
        match targets {
            [] => match self.dead {
                Some(dead) => dead,
                None => {
                    let dead = self.add_state(State::Split { first: 0, len: 0 });
                    self.dead = Some(dead);
                    dead
                }
            },
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
        self.add_state(State::Split { first: 0, len: 0 })
    }

    pub(super) fn fill_split(&mut self, split: StateId, targets: &[StateId]) {
        let first = self.automaton.splits.len() as u32;
        self.automaton.splits.extend_from_slice(targets);
        if split != StateId::ACCEPT {
            self.automaton.states[split.index()] = State::Split { first, len: targets.len() as u32 };
        }
    }

    /// A start that can be called; a split to be filled.
    pub(super) fn open_callable(&mut self) -> StateId {
        let start = self.open_split();
        self.callables.push(start);
        start
    }

    fn rule_start(&mut self, rule: RuleId) -> StateId {
        if let Some(start) = self.rule_starts[rule.index()] {
            return start;
        }
        let outer = self.scope;
        self.scope = self.scope_id(Scope { rule, label: None });
        let start = self.open_callable();
        self.scope = outer;
        self.rule_starts[rule.index()] = Some(start);
        self.pending_rules.push(rule);
        start
    }

    pub(super) fn scope_id(&mut self, scope: Scope) -> u32 {
        let next = self.automaton.scopes.len() as u32;
        let id = *self.scope_ids.entry(scope).or_insert(next);
        if id == next {
            self.automaton.scopes.push(scope);
        }
        id
    }

    /// Tells a byte apart from all others.
    pub(super) fn tell_apart(&mut self, byte: u8) {
        self.classes.add(byte, byte);
    }

    // ---- stages

    fn finish_rules(&mut self) -> Result<()> {
        while let Some(rule) = self.pending_rules.pop() {
            let Some(start) = self.rule_starts[rule.index()] else { continue };
            let scope = self.scope_id(Scope { rule, label: None });
            let built = self.build(self.grammar.rule(rule).body, StateId::ACCEPT, scope)?;
            self.fill_split(start, &[built]);
        }
        self.remove_left_recursion()?;
        self.automaton.classes = self.classes.build();
        match self.error.take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Lowers the operands of an intersection or complement, and finds out whether it has words.
    fn prepare_lockstep(&mut self, id: ExprId) -> Result<()> {
        let (list, complement): (Vec<ExprId>, bool) = match self.grammar.expression(id) {
            Expression::Intersection(list) => (list.to_vec(), false),
            Expression::Complement(operand) => (vec![*operand], true),
            _ => return Ok(()),
        };
        let mut operands = Vec::with_capacity(list.len());
        for &operand in &list {
            let start = match self.productive.holds(operand) {
                true => Some(self.build(operand, StateId::ACCEPT, 0)?),
                false => None,
            };
            operands.push(Operand { start, nullable: self.nullable.holds(operand) });
        }
        self.finish_rules()?;
        let nullable = operands.iter().all(|o| o.nullable) != complement;
        let hopeless = !complement && operands.iter().any(|o| o.start.is_none());
        self.operands.insert(id, operands);
        let has_words = !hopeless && {
            let index = self.lockstep(id, StateId::ACCEPT);
            Tables::new().lockstep_has_words(&self.automaton, index)?
        };
        if nullable {
            self.nullable.set(self.grammar, id);
        }
        if nullable || has_words {
            self.productive.set(self.grammar, id);
        }
        Ok(())
    }

    fn lockstep(&mut self, id: ExprId, exit: StateId) -> u32 {
        let index = self.automaton.locksteps.len() as u32;
        let state = self.add_state(State::Lockstep(index));
        let operands = self.operands.get(&id).cloned().unwrap_or_default();
        let complement = matches!(self.grammar.expression(id), Expression::Complement(_));
        self.automaton.locksteps.push(Lockstep { operands, complement, exit, state });
        index
    }

    /// The automaton, and the lists that need more than there is.
    fn finish(mut self) -> Result<(Automaton, Vec<(ExprId, Error)>)> {
        self.rank_callables()?;
        self.pass_over_splits();
        let mut lacking = self.bound_further()?;
        lacking.extend(self.lacking_items()?);
        let Automaton { states, state_scopes, edges, splits, .. } = &mut self.automaton;
        states.shrink_to_fit();
        state_scopes.shrink_to_fit();
        edges.shrink_to_fit();
        splits.shrink_to_fit();
        Ok((self.automaton, lacking))
    }

    // ---- expressions

    /// The state that reads the non-empty words of `expression` and goes on at `next`.
    fn build(&mut self, expression: ExprId, next: StateId, scope: u32) -> Result<StateId> {
        self.tasks.push(Task::Build { expression, next, scope });
        while let Some(task) = self.tasks.pop() {
            self.run(task);
            if let Some(error) = self.error.take() {
                return Err(error);
            }
        }
        Ok(self.result())
    }

    fn result(&mut self) -> StateId {
        self.results.pop().unwrap_or(StateId::ACCEPT)
    }

    pub(super) fn results_of(&mut self, count: usize) -> Vec<StateId> {
        self.results.split_off(self.results.len().saturating_sub(count))
    }

    pub(super) fn push_result(&mut self, state: StateId) {
        self.results.push(state);
    }

    pub(super) fn push_task(&mut self, task: Task) {
        self.tasks.push(task);
    }

    fn or_empty(&mut self, expression: ExprId, built: StateId, next: StateId) -> StateId {
        if self.nullable.holds(expression) { self.split(&[built, next]) } else { built }
    }

    fn run(&mut self, task: Task) {
        match task {
            Task::Build { expression, next, scope } => {
                self.scope = scope;
                if let Some(state) = self.build_leaf(expression, next) {
                    self.results.push(state);
                } else if self.shared[expression.index()] {
                    self.call_shared(expression, next, scope);
                } else {
                    self.build_one(expression, next, scope);
                }
            }
            Task::BuildHere { expression, next, scope } => {
                self.scope = scope;
                self.build_one(expression, next, scope);
            }
            Task::OrEmpty { expression, next } => {
                let built = self.result();
                let state = self.or_empty(expression, built, next);
                self.results.push(state);
            }
            Task::SequencePart { list, place, from, next, rest, scope, full } => {
                let built = self.result();
                let (next, rest) = self.with_part(self.parts(list)[place], built, next, rest);
                if place == from {
                    self.results.push(if full { next } else { rest });
                } else {
                    self.sequence_part(list, place - 1, from, next, Some(rest), scope, full);
                }
            }
            Task::SequenceTail { list, next, scope } => {
                let last = self.parts(list).len() - 1;
                self.sequence_part(list, last, 1, next, None, scope, true);
            }
            Task::ChoiceEnd { list, next, scope } => {
                self.scope = scope;
                self.end_choice(list, next);
            }
            Task::LoopEnd { split, next } => {
                let built = self.result();
                self.fill_split(split, &[built, next]);
                self.results.push(built);
            }
            Task::RoundEnd { body, round, min, next, scope } => {
                if round > 1 {
                    let built = self.result();
                    let after = if round > min { self.split(&[built, next]) } else { built };
                    self.tasks.push(Task::RoundEnd { body, round: round - 1, min, next, scope });
                    self.tasks.push(Task::Build { expression: body, next: after, scope });
                }
            }
            Task::CallableEnd { start, result } => {
                let built = self.result();
                self.fill_split(start, &[built]);
                self.results.push(result);
            }
            Task::DistinctEnd { list, places, separated, scope } => {
                self.scope = scope;
                self.end_distinct(list, places, separated);
            }
            Task::WordGraphEnd { expression, next, scope } => {
                self.scope = scope;
                self.end_word_graph(expression, next);
            }
            Task::MembersEnd { expression, index, next, scope } => {
                self.scope = scope;
                self.end_members(expression, index, next);
            }
        }
    }

    pub(super) fn parts(&self, list: ExprId) -> &'g [ExprId] {
        match self.grammar.expression(list) {
            Expression::Sequence(parts) | Expression::Choice(parts) => parts,
            _ => &[],
        }
    }

    /// Parts of a sequence, from the one at `place` on towards the first.
    #[allow(clippy::too_many_arguments, reason = "the fields of one task")]
    fn sequence_part(
        &mut self,
        list: ExprId,
        mut place: usize,
        from: usize,
        mut next: StateId,
        mut rest: Option<StateId>,
        scope: u32,
        full: bool,
    ) {
        self.scope = scope;
        loop {
            let expression = self.parts(list)[place];
            let Some(built) = self.build_leaf(expression, next) else {
                self.tasks.push(Task::SequencePart { list, place, from, next, rest, scope, full });
                return self.tasks.push(Task::Build { expression, next, scope });
            };
            let (longer, longer_rest) = self.with_part(expression, built, next, rest);
            if place == from {
                return self.results.push(if full { longer } else { longer_rest });
            }
            (next, rest, place) = (longer, Some(longer_rest), place - 1);
        }
    }

    /// What follows in a sequence from a part on that was built before `next`: all of it, and all of it but the empty word.
    fn with_part(
        &mut self,
        part: ExprId,
        built: StateId,
        next: StateId,
        rest: Option<StateId>,
    ) -> (StateId, StateId) {
        if self.nullable.holds(part) {
            let rest = rest.map_or(built, |rest| self.split(&[built, rest]));
            (self.split(&[built, next]), rest)
        } else {
            (built, built)
        }
    }

    /// Calls an expression that is lowered once for all its uses.
    fn call_shared(&mut self, expression: ExprId, next: StateId, scope: u32) {
        let start = self.open_callable();
        self.shared_starts.insert(expression, start);
        let result = self.call(start, next);
        self.tasks.push(Task::CallableEnd { start, result });
        self.tasks.push(Task::BuildHere { expression, next: StateId::ACCEPT, scope });
    }

    pub(super) fn call(&mut self, start: StateId, to_return: StateId) -> StateId {
        if let Some(&known) = self.calls.get(&(start, to_return)) {
            return known;
        }
        let call = self.add_state(State::Call { start, to_return });
        self.calls.insert((start, to_return), call);
        call
    }

    /// The state of an expression for which nothing else is to be built first, if it is one.
    fn build_leaf(&mut self, id: ExprId, next: StateId) -> Option<StateId> {
        let grammar = self.grammar;
        if self.shared[id.index()] {
            let start = *self.shared_starts.get(&id)?;
            return Some(self.call(start, next));
        }
        Some(match grammar.expression(id) {
            Expression::Empty | Expression::Never => self.split(&[]),
            Expression::Bytes(bytes) => self.literal(bytes, next),
            Expression::ByteSet(set) => self.byte_set(set, next),
            Expression::Class(class) => self.class(id, class, next),
            Expression::Rule(rule) => {
                let start = self.rule_start(*rule);
                self.call(start, next)
            }
            &Expression::Repeat { body, min: 0 | 1, max: None } => match grammar.expression(body) {
                Expression::ByteSet(set) => {
                    let split = self.open_split();
                    let built = self.byte_set(set, split);
                    self.fill_split(split, &[built, next]);
                    built
                }
                _ => return None,
            },
            Expression::Intersection(_) | Expression::Complement(_) => {
                let index = self.lockstep(id, next);
                self.add_state(State::LockstepEnter(index))
            }
            _ => return None,
        })
    }

    fn byte_set(&mut self, set: &ByteSet, next: StateId) -> StateId {
        let ranges: SmallVec<[_; 8]> = set.ranges().map(|(low, high)| (low, high, next)).collect();
        self.byte_ranges(&ranges)
    }

    fn build_one(&mut self, id: ExprId, next: StateId, scope: u32) {
        match self.grammar.expression(id) {
            Expression::Label(label, body) => {
                let rule = self.automaton.scopes[scope as usize].rule;
                let scope = self.scope_id(Scope { rule, label: Some(*label) });
                self.tasks.push(Task::Build { expression: *body, next, scope });
            }
            Expression::Name(body, names) => self.build_name(id, (*body, *names), next, scope),
            Expression::Sequence(parts) => {
                self.sequence_part(id, parts.len() - 1, 0, next, None, scope, false);
            }
            Expression::Choice(_) => self.begin_choice(id, next, scope),
            Expression::Repeat { body, min, max } => self.build_repeat(*body, *min, *max, next, scope),
            Expression::WordGraph(graph) => self.begin_word_graph(id, graph, next, scope),
            Expression::Members(members) => self.begin_members(id, members, next, scope),
            Expression::Distinct(list) => self.begin_distinct(id, list, next, scope),
            _ => {
                let shared = std::mem::take(&mut self.shared[id.index()]);
                let state = self.build_leaf(id, next);
                self.shared[id.index()] = shared;
                self.results.extend(state);
            }
        }
    }

    fn build_repeat(&mut self, body: ExprId, min: u32, max: Option<u32>, next: StateId, scope: u32) {
        if !self.productive.holds(body) {
            let dead = self.split(&[]);
            return self.results.push(dead);
        }
        // rounds are not empty, so of rounds that may be empty any number may be left out
        let min = if self.nullable.holds(body) { 1 } else { min.max(1) };
        let rounds = max.unwrap_or(min);
        let weight = self.weights[body.index()].saturating_mul(rounds);
        if rounds == 1 || weight <= UNROLLED_STATES {
            self.tasks.push(Task::RoundEnd { body, round: rounds, min, next, scope });
            match max {
                Some(_) => self.tasks.push(Task::Build { expression: body, next, scope }),
                None => {
                    let split = self.open_split();
                    self.tasks.push(Task::LoopEnd { split, next });
                    self.build_loop_body(body, split, scope);
                }
            }
            return;
        }
        let index = self.automaton.loops.len() as u32;
        let start = self.open_callable();
        let to_return = self.add_state(State::LoopReturn(index));
        let again = self.add_state(State::LoopAgain(index));
        let after_first = if min <= 1 { self.split(&[again, next]) } else { again };
        let bytes = self.round_bytes(body);
        self.automaton.loops.push(Loop { body: start, bytes, min, max, exit: next, to_return, after_first });
        let result = self.add_state(State::Call { start, to_return: after_first });
        self.tasks.push(Task::CallableEnd { start, result });
        self.tasks.push(Task::Build { expression: body, next: StateId::ACCEPT, scope });
    }
}
