//! The supervisor: the largest set of choices of the agent that no results or decisions can lead into a dead end.
//!
//! The agent does not choose results of calls and decisions of the user (they are *uncontrollable*). The supremal
//! controllable and nonblocking set S of states (Ramadge and Wonham, SIAM J. Control Optim. 25(1), 1987) is the fixed
//! point of two removals: choices with an outcome outside of S, and states from which the remaining choices reach no
//! closing answer.

use super::automaton::{Automaton, Letter, Move, Outcome, StateId};
use super::marks::Marks;
use super::rules::Mode;
use crate::procedures::language::value::Scalar;
use crate::procedures::semantics::flow::PointId;
use crate::procedures::semantics::procedure::Procedure;
use fixedbitset::FixedBitSet;
use grammata::error::Result;
use grammata::limits::Limits;
use grammata::transitions::{Transition, TransitionSystem};
use std::collections::VecDeque;

/// The size of a procedure's automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The number of reachable states.
    pub states: usize,
    /// The number of outcomes, over all states, of the APIs and of the answers that can change some state and are open.
    pub edges: usize,
    /// The number of states from which a closing answer stays reachable, whatever results and decisions follow (the set
    /// S).
    pub safe: usize,
}

/// All reachable states of a procedure, with its supremal controllable and nonblocking set S: from a state of S, a
/// closing answer is reachable by choices whose outcomes all stay in S.
#[derive(Debug)]
pub struct Supervisor<'p> {
    automaton: Automaton<'p>,
    /// By state: the choices, including those that leave S.
    moves: Vec<Vec<Move>>,
    /// The states in which a closing answer may be said; all states if the procedure has no closing answer.
    complete: FixedBitSet,
    safe: FixedBitSet,
    /// By state: the smallest number of acts up to and including a closing answer, by choices that stay in S;
    /// `u32::MAX` outside of S.
    ranks: Vec<u32>,
}

impl<'p> Supervisor<'p> {
    /// Constructs all reachable states and computes S.
    ///
    /// # Errors
    /// The limits `plan_states` and `compile_work`.
    pub fn new(procedure: &'p Procedure, mode: Mode, limits: &Limits) -> Result<Supervisor<'p>> {
        Supervisor::of(Automaton::new(procedure, mode, limits))
    }

    /// Like `new`, without the bounds of `max_calls`: the states do not count calls.
    ///
    /// # Errors
    /// The limits `plan_states` and `compile_work`.
    pub fn without_counts(procedure: &'p Procedure, mode: Mode, limits: &Limits) -> Result<Supervisor<'p>> {
        Supervisor::of(Automaton::with_counts(procedure, mode, false, limits))
    }

    fn of(mut automaton: Automaton<'p>) -> Result<Supervisor<'p>> {
        let mut moves = Vec::new();
        let mut complete = FixedBitSet::new();
        while moves.len() < automaton.len() {
            let state = moves.len() as StateId;
            moves.push(automaton.moves(state)?);
            let view = automaton.view(state)?;
            complete.grow(moves.len());
            complete.set(state as usize, automaton.is_complete(state, &view));
        }
        let mut safe = FixedBitSet::with_capacity(moves.len());
        safe.insert_range(..);
        let mut supervisor = Supervisor { automaton, moves, complete, safe, ranks: Vec::new() };
        loop {
            supervisor.ranks = supervisor.ranked();
            let is_live = |&state: &usize| supervisor.ranks[state] < u32::MAX;
            let mut live = FixedBitSet::with_capacity(supervisor.ranks.len());
            live.extend((0..supervisor.ranks.len()).filter(is_live));
            if live == supervisor.safe {
                return Ok(supervisor);
            }
            supervisor.safe = live;
        }
    }

    /// Computes for each state the smallest number of acts, by choices that stay in `safe`, up to and including a
    /// closing answer; `u32::MAX` for states outside of `safe` and for states without such a path.
    fn ranked(&self) -> Vec<u32> {
        let mut before: Vec<Vec<StateId>> = vec![Vec::new(); self.moves.len()];
        for from in self.safe.ones() {
            for choice in self.moves[from].iter().filter(|choice| self.stays(choice)) {
                choice.outcomes.iter().for_each(|(_, to)| before[*to as usize].push(from as StateId));
            }
        }
        let mut ranks = vec![u32::MAX; self.moves.len()];
        let mut open: VecDeque<usize> = self.complete.ones().filter(|&state| self.safe[state]).collect();
        open.iter().for_each(|&state| ranks[state] = 1);
        while let Some(state) = open.pop_front() {
            for &from in &before[state] {
                let from = from as usize;
                if ranks[from] == u32::MAX {
                    ranks[from] = ranks[state] + 1;
                    open.push_back(from);
                }
            }
        }
        ranks
    }

    /// Returns the greatest rank of a state in S; 0 if S is empty.
    pub(in crate::procedures) fn greatest_rank(&self) -> u32 {
        self.ranks.iter().copied().filter(|&rank| rank < u32::MAX).max().unwrap_or(0)
    }

    fn rank(&self, state: StateId) -> Option<u32> {
        self.ranks.get(state as usize).copied().filter(|&rank| rank < u32::MAX)
    }

    /// Returns the smallest number of acts up to and including a closing answer from the state of a session. `None`
    /// outside of S, and if the automaton lacks the state.
    pub(in crate::procedures) fn rank_of(&self, marks: &Marks<Scalar>, points: &[PointId]) -> Option<u32> {
        self.rank(self.automaton.find(marks, points)?)
    }

    /// Returns the lowest rank after an outcome of a node. Returns `None` if no outcome is in S, if the node is not
    /// open or is an answer that cannot change any state, and if the automaton lacks the state.
    pub(in crate::procedures) fn least_rank_after(
        &self,
        marks: &Marks<Scalar>,
        points: &[PointId],
        node: usize,
    ) -> Option<u32> {
        let state = self.automaton.find(marks, points)?;
        let choice = self.moves[state as usize].iter().find(|choice| choice.node == node)?;
        choice.outcomes.iter().filter_map(|(_, to)| self.rank(*to)).min()
    }

    fn stays(&self, choice: &Move) -> bool {
        choice.outcomes.iter().all(|(_, to)| self.safe[*to as usize])
    }

    /// Returns the supervised procedure.
    pub fn procedure(&self) -> &'p Procedure {
        self.automaton.procedure()
    }

    /// Returns the numbers of states and outcomes of the automaton, and the number of states in S.
    pub fn size(&self) -> Size {
        let edges = self.moves.iter().flatten().map(|choice| choice.outcomes.len()).sum();
        Size { states: self.moves.len(), edges, safe: self.safe.count_ones(..) }
    }

    /// Returns whether the start state is outside of S: whatever the agent does, results or decisions can keep it from
    /// a closing answer.
    pub fn is_blocking(&self) -> bool {
        !self.safe.contains(0)
    }

    /// Returns whether a state is in S; false for unknown ids.
    pub fn is_safe(&self, state: StateId) -> bool {
        self.safe.contains(state as usize)
    }

    /// Returns the outcomes of the agent's choices in a state that lead to states outside of S; empty for unknown ids.
    pub fn leaving(&self, state: StateId) -> Vec<Letter> {
        let choices = self.moves.get(state as usize).into_iter().flatten();
        choices
            .flat_map(|choice| choice.outcomes.iter().map(|(outcome, to)| (choice.node, outcome, *to)))
            .filter(|(_, _, to)| !self.is_safe(*to))
            .map(|(node, outcome, _)| Letter { node, outcome: outcome.clone() })
            .collect()
    }

    /// Returns the mode whose rules bind the agent.
    pub fn mode(&self) -> Mode {
        self.automaton.mode()
    }

    /// Returns the first outcome of a node that leads out of S, in the state of a session. Returns `None` if no outcome
    /// does, if the node is not open or is an answer that cannot change any state, and if the automaton lacks the
    /// state.
    pub(in crate::procedures) fn leaving_by(
        &self,
        marks: &Marks<Scalar>,
        points: &[PointId],
        node: usize,
    ) -> Option<&Outcome> {
        let state = self.automaton.find(marks, points)?;
        let choice = self.moves[state as usize].iter().find(|choice| choice.node == node)?;
        choice.outcomes.iter().find(|(_, to)| !self.is_safe(*to)).map(|(outcome, _)| outcome)
    }

    pub(in crate::procedures) fn automaton(&self) -> &Automaton<'p> {
        &self.automaton
    }

    pub(in crate::procedures) fn moves(&self, state: StateId) -> &[Move] {
        &self.moves[state as usize]
    }
}

/// The words of the supervised procedure: choices that stay in S, with their outcomes. A word is accepted if a closing
/// answer may be said after it, or if the procedure has no closing answer.
impl TransitionSystem for Supervisor<'_> {
    type State = StateId;
    type Label = Letter;

    fn start(&self) -> StateId {
        0
    }

    fn successors(&mut self, state: &StateId, into: &mut Vec<Transition<StateId, Letter>>) -> Result<()> {
        if !self.is_safe(*state) {
            return Ok(());
        }
        for choice in self.moves[*state as usize].iter().filter(|choice| self.stays(choice)) {
            into.extend(choice.outcomes.iter().map(|(outcome, to)| Transition {
                label: Letter { node: choice.node, outcome: outcome.clone() },
                to: *to,
            }));
        }
        Ok(())
    }

    fn is_accepting(&self, state: &StateId) -> bool {
        self.complete.contains(*state as usize)
    }
}
