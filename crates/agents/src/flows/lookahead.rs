//! Computes exact lookahead from a state, without a model.

use super::automaton::{FlowAutomaton, FlowCall, FlowState};
use grammata::error::Result;
use grammata::limits::{LimitKind, Limits};
use grammata::transitions::{Count, Counts, Transition, TransitionSystem};
use rustc_hash::{FxHashMap, FxHashSet};

/// The number and the lengths of the plans from a state on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ahead {
    /// The number of plans.
    pub plans: Count,
    /// The number of calls of the shortest plan; 0 if there is no plan.
    pub fewest: u64,
    /// The number of calls of the longest plan; `None` if the length is unbounded.
    pub most: Option<u64>,
}

/// An allowed call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeasibleCall {
    /// The call.
    pub call: FlowCall,
    /// The steps that the call can carry out, by index; empty if the call carries out no step, as an API of `allow`.
    pub steps: Vec<usize>,
    /// The flows to which the call may belong, by index.
    pub flows: Vec<usize>,
    /// The state after the call.
    pub to: FlowState,
    /// The plans from the state after the call on.
    pub ahead: Ahead,
}

/// The lookahead from a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookahead {
    /// Whether the plan may end here.
    pub is_accepting: bool,
    /// The plans from the state on.
    pub ahead: Ahead,
    /// The allowed calls, in the order of the file's APIs.
    pub feasible: Vec<FeasibleCall>,
    /// The indices of the APIs that every plan calls next, up to the next choice or the end. Several possible answers
    /// of an API are a choice, too: the API is not included.
    pub forced: Vec<usize>,
}

/// Computes lookahead in one automaton, and caches the results.
#[derive(Debug)]
pub struct FlowLookahead<'a, 'd> {
    automaton: &'a mut FlowAutomaton<'d>,
    counts: Counts<FlowState>,
    /// By state: the fewest and the most calls to the end of a plan; for the most, `None` if the number is unbounded.
    extents: FxHashMap<FlowState, (u64, Option<u64>)>,
}

impl<'a, 'd> FlowLookahead<'a, 'd> {
    /// Creates a lookahead for an automaton.
    pub fn new(automaton: &'a mut FlowAutomaton<'d>) -> FlowLookahead<'a, 'd> {
        FlowLookahead { automaton, counts: Counts::default(), extents: FxHashMap::default() }
    }

    /// Returns the automaton.
    pub fn automaton(&mut self) -> &mut FlowAutomaton<'d> {
        self.automaton
    }

    /// Returns the number and the lengths of the plans from a state on.
    ///
    /// # Errors
    /// Limits; `plan_states` bounds the states that are visited.
    pub fn ahead(&mut self, state: FlowState) -> Result<Ahead> {
        let plans = self.counts.count(self.automaton, &state)?;
        if !self.extents.contains_key(&state) {
            self.find_extents(state)?;
        }
        let (fewest, most) = self.extents.get(&state).copied().unwrap_or_default();
        Ok(Ahead { plans, fewest, most })
    }

    /// Returns the lookahead from a state.
    ///
    /// # Errors
    /// Limits; `plan_states` bounds the states that are visited.
    pub fn at(&mut self, state: FlowState) -> Result<Lookahead> {
        let is_accepting = self.automaton.is_accepting(&state);
        let ahead = self.ahead(state)?;
        let mut transitions = Vec::new();
        self.automaton.successors(&state, &mut transitions)?;
        let mut feasible = Vec::with_capacity(transitions.len());
        for (one, Transition { label, to }) in self.automaton.options_of(state)?.into_iter().zip(transitions)
        {
            debug_assert_eq!(one.call, label);
            let ahead = self.ahead(to)?;
            feasible.push(FeasibleCall { call: label, steps: one.steps, flows: one.flows, to, ahead });
        }
        Ok(Lookahead { is_accepting, ahead, feasible, forced: self.forced(state)? })
    }

    /// Returns the indices of the APIs that every plan calls next from a state, up to the next choice or the end.
    /// Several possible answers of an API are a choice, too: the API is not included.
    ///
    /// # Errors
    /// Those of the automaton.
    pub fn forced(&mut self, mut state: FlowState) -> Result<Vec<usize>> {
        let mut forced = Vec::new();
        let mut transitions = Vec::new();
        // answers that are left out may leave a single call that comes back to a state
        let mut visited = FxHashSet::default();
        while !self.automaton.is_accepting(&state) && visited.insert(state) {
            transitions.clear();
            self.automaton.successors(&state, &mut transitions)?;
            let [only] = transitions.as_slice() else { break };
            forced.push(only.label.api);
            state = only.to;
        }
        Ok(forced)
    }

    fn find_extents(&mut self, from: FlowState) -> Result<()> {
        let limit = self.automaton.options().limits.plan_states;
        let mut places: FxHashMap<FlowState, usize> = FxHashMap::from_iter([(from, 0)]);
        let mut states = vec![from];
        let mut before: Vec<Vec<usize>> = vec![Vec::new()];
        let mut open_successors = Vec::new();
        let mut transitions = Vec::new();
        let mut place = 0;
        while let Some(&state) = states.get(place) {
            transitions.clear();
            self.automaton.successors(&state, &mut transitions)?;
            open_successors.push(transitions.len());
            for one in &transitions {
                let next = states.len();
                let to = *places.entry(one.to).or_insert(next);
                if to == next {
                    states.push(one.to);
                    before.push(Vec::new());
                }
                before[to].push(place);
            }
            if states.len() > limit {
                return Err(Limits::exceeded(LimitKind::PlanStates, limit, "more states of flows"));
            }
            place += 1;
        }
        let mut fewest = vec![None; states.len()];
        let accepting: Vec<usize> =
            (0..states.len()).filter(|&place| self.automaton.is_accepting(&states[place])).collect();
        accepting.iter().for_each(|&place| fewest[place] = Some(0));
        let mut queue: std::collections::VecDeque<usize> = accepting.into();
        while let Some(place) = queue.pop_front() {
            for &earlier in &before[place] {
                if fewest[earlier].is_none() {
                    fewest[earlier] = fewest[place].map(|steps: u64| steps + 1);
                    queue.push_back(earlier);
                }
            }
        }
        // backwards from the ends; a state is ready once all its successors are, so states that reach a cycle never are
        let mut most = vec![None; states.len()];
        let mut ready: Vec<usize> = (0..states.len()).filter(|&place| open_successors[place] == 0).collect();
        ready.iter().for_each(|&place| most[place] = Some(0u64));
        while let Some(place) = ready.pop() {
            for &earlier in &before[place] {
                open_successors[earlier] -= 1;
                if open_successors[earlier] == 0 {
                    ready.push(earlier);
                }
                most[earlier] = most[earlier].max(most[place].map(|steps| steps + 1));
            }
        }
        for (place, state) in states.into_iter().enumerate() {
            let most = most[place].filter(|_| open_successors[place] == 0);
            self.extents.insert(state, (fewest[place].unwrap_or_default(), most));
        }
        Ok(())
    }
}
