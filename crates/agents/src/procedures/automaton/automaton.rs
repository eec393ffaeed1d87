//! The automaton of the agent's next steps: states over cells of values, constructed on demand.
//!
//! A transition is an act of the agent together with the reply of the system or the user: a call with its outcome, or
//! an answer with the user's decisions after it. Answers that cannot change any state have no transitions.

use super::marks::Marks;
use super::rules::{self, Mode, View};
use crate::procedures::language::declarations::NodeKind;
use crate::procedures::language::status::Status;
use crate::procedures::language::value::Scalar;
use crate::procedures::semantics::flow::{PointId, Step};
use crate::procedures::semantics::procedure::Procedure;
use grammata::error::Result;
use grammata::limits::{LimitKind, Limits};
use grammata::transitions::{Completable, Transition, TransitionSystem};
use grammata_base::work::Budget;
use rustc_hash::FxHashMap;
use std::sync::{Mutex, PoisonError};

/// The id of a state; the start is 0.
pub type StateId = u32;

/// The reply to a call or an answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The system's result or the user's decisions, as pairs of a register and the index of one of its cells. Only
    /// registers that conditions of calls test are in the list. Registers of decisions that the user leaves open are
    /// missing.
    Values(Box<[(u32, u16)]>),
    /// The system answers with an error, which a `try` of the text catches.
    Error,
}

/// A call or an answer of the agent, with its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Letter {
    /// The index of the node in [`Procedure::nodes`].
    pub node: usize,
    /// The reply of the system or the user.
    pub outcome: Outcome,
}

impl Letter {
    /// Returns the letter as a line of text: `API: slot = value`, `API: error`, `answer: slot = value`, or the name
    /// alone if the outcome has no values. Several values are separated by commas.
    pub fn text(&self, procedure: &Procedure) -> String {
        let name = procedure.nodes().get(self.node).map_or("", |node| node.name.as_str());
        match self.outcome.text(procedure) {
            outcome if outcome.is_empty() => name.to_owned(),
            outcome => format!("{name}: {outcome}"),
        }
    }
}

impl Outcome {
    /// Returns the values as `slot = value`, separated by commas, or `error`; empty if there are no values.
    pub(in crate::procedures) fn text(&self, procedure: &Procedure) -> String {
        let Outcome::Values(values) = self else { return "error".to_owned() };
        let texts: Vec<String> = values
            .iter()
            .filter_map(|&(register, cell)| {
                let register = procedure.registers.get(register as usize)?;
                let value = register.cells.get(usize::from(cell))?;
                Some(format!("{} = {value}", register.slot))
            })
            .collect();
        texts.join(", ")
    }
}

/// A choice of the agent: a node, with all its outcomes and the states to which they lead.
#[derive(Clone, Debug)]
pub(in crate::procedures) struct Move {
    pub(in crate::procedures) node: usize,
    pub(in crate::procedures) outcomes: Vec<(Outcome, StateId)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    marks: Marks<u16>,
    points: Box<[PointId]>,
}

/// The automaton of the agent's next steps under a procedure, in a mode. A state is constructed when a transition to it
/// is computed.
#[derive(Debug)]
pub struct Automaton<'p> {
    procedure: &'p Procedure,
    mode: Mode,
    /// Whether states include the numbers of calls that `max_calls` bounds.
    counts_calls: bool,
    states: Vec<State>,
    ids: FxHashMap<State, StateId>,
    most: usize,
    /// Behind a lock, so that sessions of several threads can share an automaton.
    budget: Mutex<Budget>,
}

impl<'p> Automaton<'p> {
    /// Creates the automaton with only its start state. Its states include the numbers of calls that `max_calls`
    /// bounds.
    pub fn new(procedure: &'p Procedure, mode: Mode, limits: &Limits) -> Automaton<'p> {
        Automaton::with_counts(procedure, mode, true, limits)
    }

    pub(in crate::procedures) fn with_counts(
        procedure: &'p Procedure,
        mode: Mode,
        counts_calls: bool,
        limits: &Limits,
    ) -> Automaton<'p> {
        let points: Box<[PointId]> =
            if mode == Mode::Strict { [procedure.flow.entry()].into() } else { Box::default() };
        let start = State { marks: Marks::new(procedure), points };
        Automaton {
            procedure,
            mode,
            counts_calls,
            ids: FxHashMap::from_iter([(start.clone(), 0)]),
            states: vec![start],
            most: limits.plan_states,
            budget: Mutex::new(Budget::of_compilation(limits, 0)),
        }
    }

    fn spend(&self, steps: usize) -> Result<()> {
        self.budget.lock().unwrap_or_else(PoisonError::into_inner).spend(steps)
    }

    /// Returns the procedure whose states the automaton has.
    pub fn procedure(&self) -> &'p Procedure {
        self.procedure
    }

    /// Returns the number of states constructed so far.
    pub(in crate::procedures) fn len(&self) -> usize {
        self.states.len()
    }

    pub(in crate::procedures) fn marks(&self, state: StateId) -> &Marks<u16> {
        &self.states[state as usize].marks
    }

    pub(in crate::procedures) fn view(&self, state: StateId) -> Result<View> {
        let procedure = self.procedure;
        let size = procedure.program.expressions.nodes.len() + procedure.guards.list.len();
        self.spend(1 + size)?;
        let state = &self.states[state as usize];
        Ok(View::of(procedure, self.mode, &state.marks, &state.points))
    }

    /// Returns whether a node breaks no rule of the mode in a state. `view` is the view of that state.
    pub(in crate::procedures) fn is_open(&self, state: StateId, view: &View, node: usize) -> bool {
        rules::broken(self.procedure, self.mode, self.marks(state), view, node).is_none()
    }

    /// Returns whether a closing answer is open in a state, whose view is `view`; true in every state if the procedure
    /// has no closing answer.
    pub(in crate::procedures) fn is_complete(&self, state: StateId, view: &View) -> bool {
        let closing = &self.procedure.closing;
        !closing.contains(&true)
            || (0..closing.len()).any(|node| closing[node] && self.is_open(state, view, node))
    }

    /// Returns the open APIs and the open answers that can change some state, with their outcomes, in the order of the
    /// nodes. Constructs the states to which the outcomes lead.
    pub(in crate::procedures) fn moves(&mut self, state: StateId) -> Result<Vec<Move>> {
        let view = self.view(state)?;
        let mut moves = Vec::new();
        self.spend(self.procedure.nodes.len())?;
        for node in 0..self.procedure.nodes.len() {
            let moves_points =
                self.mode == Mode::Strict && self.procedure.nodes[node].kind == NodeKind::Inform;
            if (self.procedure.has_effect(node) || moves_points) && self.is_open(state, &view, node) {
                let step = self.procedure.flow.step(&view.calls, node);
                moves.push(Move { node, outcomes: self.outcomes(state, node, step)? });
            }
        }
        Ok(moves)
    }

    fn outcomes(
        &mut self,
        from: StateId,
        node: usize,
        step: Option<Step>,
    ) -> Result<Vec<(Outcome, StateId)>> {
        let procedure = self.procedure;
        let is_api = procedure.nodes[node].kind == NodeKind::Api;
        let mut state = self.states[from as usize].clone();
        if is_api {
            state.marks.answered(procedure, node, Status::Ok, true);
        } else {
            state.marks.said(procedure, node);
        }
        let is_step = matches!(procedure.nodes[node].kind, NodeKind::Api | NodeKind::Inform);
        let step = step.filter(|_| self.mode == Mode::Strict && is_step);
        if let Some(step) = &step {
            state.points.clone_from(&step.answered);
        }
        let registers: Vec<u32> = procedure.writes[node]
            .iter()
            .copied()
            .filter(|&register| procedure.registers[register as usize].is_tested)
            .collect();
        let mut outcomes = Vec::new();
        let mut values: Vec<Option<u16>> = registers.iter().map(|_| is_api.then_some(0)).collect();
        loop {
            let mut set = Vec::new();
            for (&register, &value) in registers.iter().zip(&values) {
                state.marks.values[register as usize] = value;
                set.extend(value.map(|value| (register, value)));
            }
            let to = self.intern(state.clone())?;
            outcomes.push((Outcome::Values(set.into()), to));
            if !next(procedure, &registers, &mut values, is_api) {
                break;
            }
        }
        let is_caught = match &step {
            Some(step) => !step.failed.is_empty(),
            None => procedure.is_caught[node],
        };
        if is_api && is_caught {
            registers.iter().for_each(|&register| state.marks.values[register as usize] = None);
            state.marks.done[node] = Status::Error;
            if let Some(step) = step {
                state.points = step.failed;
            }
            let to = self.intern(state)?;
            outcomes.push((Outcome::Error, to));
        }
        Ok(outcomes)
    }

    /// Returns the mode whose rules bind the agent.
    pub(in crate::procedures) fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns the id of the state with these marks and points, after normalisation. Points count only in the mode
    /// `strict`. Returns `None` if the state was not constructed, or if a tested value is in no cell of its register.
    pub(in crate::procedures) fn find(&self, marks: &Marks<Scalar>, points: &[PointId]) -> Option<StateId> {
        let mut values = Vec::with_capacity(marks.values.len());
        for (value, register) in marks.values.iter().zip(&self.procedure.registers) {
            values.push(match value.as_ref().filter(|_| register.is_tested) {
                Some(value) => Some(register.cell(value)?),
                None => None,
            });
        }
        let points = if self.mode == Mode::Strict { points.into() } else { Box::default() };
        let (done, calls) = (marks.done.clone(), marks.calls.clone());
        let state = State { marks: Marks { done, values: values.into(), calls }, points };
        self.ids.get(&self.normal(state)).copied()
    }

    /// Returns the id of a state after normalisation. A new state gets the next id.
    fn intern(&mut self, state: State) -> Result<StateId> {
        self.spend(self.procedure.nodes.len() + self.procedure.registers.len())?;
        let state = self.normal(state);
        if let Some(&id) = self.ids.get(&state) {
            return Ok(id);
        }
        if self.states.len() >= self.most {
            return Err(Limits::exceeded(LimitKind::PlanStates, self.most, "more states of the procedure"));
        }
        let id = self.states.len() as StateId;
        self.states.push(state.clone());
        self.ids.insert(state, id);
        Ok(id)
    }

    /// Resets the marks that no rule reads, so that states which differ only in such marks are equal: the status of
    /// nodes that no node requires and no statement in a `try` calls, and numbers of calls above `max_calls`. All
    /// numbers are 0 if calls are not counted.
    fn normal(&self, mut state: State) -> State {
        let procedure = self.procedure;
        for (node, done) in state.marks.done.iter_mut().enumerate() {
            if !procedure.is_required[node] && !procedure.is_caught[node] {
                *done = Status::No;
            }
        }
        for (node, calls) in state.marks.calls.iter_mut().enumerate() {
            *calls = match procedure.nodes[node].max_calls {
                Some(most) if self.counts_calls => (*calls).min(most),
                _ => 0,
            };
        }
        state
    }
}

/// Advances to the next combination of cells, the last register fastest. Returns `false` after the last combination.
/// For an answer, the first value of each register is unset: the user has not decided.
fn next(procedure: &Procedure, registers: &[u32], values: &mut [Option<u16>], is_api: bool) -> bool {
    for (&register, value) in registers.iter().zip(values.iter_mut()).rev() {
        let cells = procedure.registers[register as usize].cells.len();
        let following = value.map_or(0, |value| value + 1);
        if usize::from(following) < cells {
            *value = Some(following);
            return true;
        }
        *value = is_api.then_some(0);
    }
    false
}

impl TransitionSystem for Automaton<'_> {
    type State = StateId;
    type Label = Letter;

    fn start(&self) -> StateId {
        0
    }

    fn successors(&mut self, state: &StateId, into: &mut Vec<Transition<StateId, Letter>>) -> Result<()> {
        for Move { node, outcomes } in self.moves(*state)? {
            into.extend(
                outcomes.into_iter().map(|(outcome, to)| Transition { label: Letter { node, outcome }, to }),
            );
        }
        Ok(())
    }

    fn is_accepting(&self, state: &StateId) -> bool {
        self.view(*state).is_ok_and(|view| self.is_complete(*state, &view))
    }

    /// Returns `Yes` if a closing answer may be said in the state or the procedure has none, and `Unknown` otherwise:
    /// only a [`Supervisor`](crate::procedures::Supervisor) decides other states.
    fn completable(&mut self, state: &StateId) -> Result<Completable> {
        let view = self.view(*state)?;
        Ok(if self.is_complete(*state, &view) { Completable::Yes } else { Completable::Unknown })
    }
}
