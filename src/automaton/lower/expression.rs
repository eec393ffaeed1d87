//! Lowering of expressions: the tasks, and the states of the simpler kinds.

use super::cost;
use super::task::Task;
use super::{Lowering, Pending};
use crate::automaton::program::block::Scope;
use crate::automaton::program::ids::{PartId, StateId, TerminalId};
use crate::automaton::program::registers::{Loop, Part, RegisterKind, Role};
use crate::automaton::program::state::State;
use crate::automaton::tuning::DEFERRED_VALUE;
use crate::error::Result;
use crate::grammar::{ByteSet, ExprId, Expression};
use smallvec::SmallVec;

impl<'g> Lowering<'g> {
    /// Runs a task and all tasks that it pushes, and returns the result.
    pub(in crate::automaton) fn build(&mut self, task: Task) -> Result<StateId> {
        self.tasks.push(task);
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

    pub(in crate::automaton) fn results_of(&mut self, count: usize) -> SmallVec<[StateId; 8]> {
        self.results.drain(self.results.len().saturating_sub(count)..).collect()
    }

    pub(in crate::automaton) fn push_result(&mut self, state: StateId) {
        self.results.push(state);
    }

    pub(in crate::automaton) fn push_task(&mut self, task: Task) {
        self.tasks.push(task);
    }

    fn or_empty(&mut self, expression: ExprId, built: StateId, next: StateId) -> StateId {
        if self.kept.nullable.holds(expression) { self.split(&[built, next]) } else { built }
    }

    fn run(&mut self, task: Task) {
        match task {
            Task::Build { expression, next, scope } => {
                self.scope = scope;
                if let Some(state) = self.build_leaf(expression, next) {
                    self.results.push(state);
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
            Task::MemberValue { expression, scope } => {
                if self.kept.defers && self.kept.costs.inline_size[expression.index()] > DEFERRED_VALUE {
                    let scope = self.block.scopes[scope as usize];
                    let state = self.defer(Pending::Value(expression), scope);
                    return self.results.push(state);
                }
                let next = StateId::ACCEPT;
                self.tasks.push(Task::OrEmpty { expression, next });
                self.tasks.push(Task::Build { expression, next, scope });
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
            Task::UniqueEnd { list, places, separated, scope } => {
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

    pub(in crate::automaton) fn parts(&self, list: ExprId) -> &'g [ExprId] {
        match self.grammar.expression(list) {
            Expression::Sequence(parts) | Expression::Choice(parts) => parts,
            _ => &[],
        }
    }

    /// Builds the parts of a sequence from index `place` back to index `from`.
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

    /// Two states for the rest of a sequence from `part` on: one for all words of the rest, and one for all its words
    /// except the empty one. `built` is the state of the part before `next`, and `rest` the non-empty rest after the
    /// part.
    fn with_part(
        &mut self,
        part: ExprId,
        built: StateId,
        next: StateId,
        rest: Option<StateId>,
    ) -> (StateId, StateId) {
        if self.kept.nullable.holds(part) {
            let rest = rest.map_or(built, |rest| self.split(&[built, rest]));
            (self.split(&[built, next]), rest)
        } else {
            (built, built)
        }
    }

    pub(in crate::automaton) fn call(&mut self, start: StateId, to_return: StateId) -> StateId {
        if let Some(&known) = self.calls.get(&(start, to_return)) {
            return known;
        }
        let call = self.add_state(State::Call { start, to_return });
        self.calls.insert((start, to_return), call);
        call
    }

    /// The state of an expression that can be built without other tasks; `None` for other expressions. Shared
    /// expressions are called.
    fn build_leaf(&mut self, id: ExprId, next: StateId) -> Option<StateId> {
        let grammar = self.grammar;
        if self.kept.costs.shared[id.index()] {
            let known = self.kept.shared_starts.get(&id).copied();
            let scope = self.block.scopes[self.scope as usize];
            let start = known.unwrap_or_else(|| self.start_of(Pending::Shared(id), scope));
            return Some(self.call(start, next));
        }
        Some(match grammar.expression(id) {
            Expression::Empty | Expression::Never => self.split(&[]),
            Expression::Bytes(bytes) => self.literal(bytes, next),
            Expression::ByteSet(set) => self.byte_set(set, next),
            Expression::Class(class) => self.class(id, class, next),
            Expression::Token(_) => self.add_state(State::Token { terminal: TerminalId(id), next }),
            Expression::Rule(rule) => {
                let known = self.kept.rule_starts[rule.index()];
                let scope = Scope { rule: *rule, label: None };
                let start = known.unwrap_or_else(|| self.start_of(Pending::Rule(*rule), scope));
                self.call(start, next)
            }
            Expression::MaxTokens { body, .. } => {
                let index = self.block.next(&self.block.records.parts);
                self.block.records.parts.push(Part { part: PartId(id), exit: next });
                let next = self.register(RegisterKind::Part, Role::Return, index);
                return self.build_leaf(*body, next);
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
                let index = self.product(id, next);
                self.register(RegisterKind::Product, Role::Enter, index)
            }
            _ => return None,
        })
    }

    /// Adds a state of a register, with node 0.
    pub(in crate::automaton) fn register(&mut self, kind: RegisterKind, role: Role, record: u32) -> StateId {
        self.add_state(State::Register { kind, role, record, node: 0 })
    }

    fn byte_set(&mut self, set: &ByteSet, next: StateId) -> StateId {
        let ranges: SmallVec<[_; 8]> = set.ranges().map(|(low, high)| (low, high, next)).collect();
        self.byte_ranges(&ranges)
    }

    fn build_one(&mut self, id: ExprId, next: StateId, scope: u32) {
        match self.grammar.expression(id) {
            Expression::Label(label, body) => {
                let rule = self.block.scopes[scope as usize].rule;
                let scope = self.scope_id(Scope { rule, label: Some(*label) });
                self.tasks.push(Task::Build { expression: *body, next, scope });
            }
            Expression::Sequence(parts) => {
                self.sequence_part(id, parts.len() - 1, 0, next, None, scope, false);
            }
            Expression::Choice(_) => self.begin_choice(id, next, scope),
            Expression::Repeat { body, min, max } => self.build_repeat(*body, *min, *max, next, scope),
            Expression::WordGraph(graph) => self.begin_word_graph(id, graph, next, scope),
            Expression::Members(members) => self.begin_members(id, members, next, scope),
            Expression::Name(body, names) => self.build_name(id, (*body, *names), next, scope),
            Expression::Distinct(list) => self.begin_distinct(id, list, next, scope),
            _ => {
                let shared = std::mem::take(&mut self.kept.costs.shared[id.index()]);
                let state = self.build_leaf(id, next);
                self.kept.costs.shared[id.index()] = shared;
                self.results.extend(state);
            }
        }
    }

    fn build_repeat(&mut self, body: ExprId, min: u32, max: Option<u32>, next: StateId, scope: u32) {
        if !self.kept.productive.holds(body) {
            let dead = self.split(&[]);
            return self.results.push(dead);
        }
        // rounds are never empty; if the body may be empty, any number of rounds may be left out
        let min = if self.kept.nullable.holds(body) { 1 } else { min.max(1) };
        let rounds = max.unwrap_or(min);
        let weight = self.kept.costs.expanded_size[body.index()].saturating_mul(rounds);
        if rounds == 1 || weight <= cost::UNROLLED_STATES {
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
        let index = self.block.next(&self.block.records.loops);
        let start = self.open_callable();
        let to_return = self.register(RegisterKind::Loop, Role::Return, index);
        let again = self.register(RegisterKind::Loop, Role::Enter, index);
        let after_first = if min <= 1 { self.split(&[again, next]) } else { again };
        let bytes = self.round_bytes(body);
        self.block.records.loops.push(Loop {
            body: start,
            bytes,
            min,
            max,
            exit: next,
            to_return,
            after_first,
        });
        let result = self.add_state(State::Call { start, to_return: after_first });
        self.tasks.push(Task::CallableEnd { start, result });
        self.tasks.push(Task::Build { expression: body, next: StateId::ACCEPT, scope });
    }
}
