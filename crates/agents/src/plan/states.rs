//! The states of a spec over actions, created on demand, independent of costs.

use super::errors;
use super::registers::Registers;
use grammata::automaton::{Automaton, Cache, ConfigurationId, Lazy};
use grammata::error::Result;
use grammata::syntax::automaton_spec::{Codes, Spec};
use grammata::transitions::{Indexed, Transition, TransitionSystem};
use num_bigint::BigUint;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The id of a state: a configuration over action codes, and registers. Equal ids have equal futures, up to which of
/// several interchangeable actions are used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlanState(pub(super) u32);

impl Indexed for PlanState {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// The label of an edge: the actions of a class with one outcome, each with every set of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActionLabel {
    /// The class, as an index into the classes of the spec's codes.
    pub(super) class: u32,
    /// The outcome; 0 for an action without outcomes.
    pub(super) outcome: u32,
    /// The number of actions of the class that may still come. If each may occur once, the used ones are not counted.
    pub(super) left: u32,
}

pub(super) type Edge = Transition<PlanState, ActionLabel>;

#[derive(Clone, Copy, Debug)]
struct State {
    configuration: ConfigurationId,
    registers: u32,
    /// The range of the state's edges; `None` until the edges are computed.
    edges: Option<(u32, u32)>,
}

/// The automaton of a spec over classes of actions. Its tables grow on demand.
#[derive(Debug)]
pub(super) struct States {
    pub(super) spec: Arc<Spec>,
    pub(super) codes: Codes,
    pub(super) registers: Registers,
    automaton: Automaton,
    tables: Cache,
    states: Vec<State>,
    ids: FxHashMap<(ConfigurationId, u32), u32>,
    edges: Vec<Edge>,
}

impl States {
    /// Creates the states of a language over a spec's codes, at first only the start state. The limits are the spec's.
    pub(super) fn new(spec: Arc<Spec>, codes: Codes, automaton: Automaton) -> Result<States> {
        let registers = Registers::new(&spec, &codes);
        let mut states = States {
            spec,
            codes,
            registers,
            automaton,
            tables: Cache::new(),
            states: Vec::new(),
            ids: FxHashMap::default(),
            edges: Vec::new(),
        };
        let start = Lazy::new(&states.automaton, &mut states.tables).start()?;
        states.intern(start, 0)?;
        Ok(states)
    }

    /// Returns the number of states created so far.
    pub(super) fn count(&self) -> usize {
        self.states.len()
    }

    /// Returns the actions of a class.
    pub(super) fn members(&self, class: u32) -> &[usize] {
        &self.codes.classes[class as usize].members
    }

    /// Returns the outcome of a label, as an index into the outcomes of the class's only action; `None` for an action
    /// without outcomes.
    pub(super) fn outcome(&self, label: &ActionLabel) -> Option<usize> {
        let first = self.members(label.class).first();
        let has_outcomes = first.is_some_and(|&action| !self.spec.symbols()[action].outcomes.is_empty());
        has_outcomes.then_some(label.outcome as usize)
    }

    fn intern(&mut self, configuration: ConfigurationId, registers: u32) -> Result<PlanState> {
        if let Some(&id) = self.ids.get(&(configuration, registers)) {
            return Ok(PlanState(id));
        }
        let limit = self.spec.limits().plan_states;
        if self.states.len() >= limit {
            return Err(errors::too_many_states(limit));
        }
        let id = self.states.len() as u32;
        self.states.push(State { configuration, registers, edges: None });
        self.ids.insert((configuration, registers), id);
        Ok(PlanState(id))
    }

    /// Returns the edges of a state, computed on first use, including edges to dead ends.
    pub(super) fn edges(&mut self, state: PlanState) -> Result<&[Edge]> {
        let State { configuration, registers, edges } = self.states[state.index()];
        let (first, end) = match edges {
            Some(range) => range,
            None => self.make_edges(state, configuration, registers)?,
        };
        Ok(&self.edges[first as usize..end as usize])
    }

    fn make_edges(
        &mut self,
        state: PlanState,
        configuration: ConfigurationId,
        registers: u32,
    ) -> Result<(u32, u32)> {
        let mut edges = Vec::new();
        for (class, configuration) in self.steps(configuration)? {
            let members = self.codes.classes[class].members.len() as u32;
            let left = members.saturating_sub(self.registers.used(registers, class));
            for outcome in 0..self.registers.outcomes(class) {
                let limits = self.spec.limits();
                let Some(after) = self.registers.after(registers, class, outcome, limits)? else { continue };
                let to = self.intern(configuration, after)?;
                let label = ActionLabel { class: class as u32, outcome: outcome as u32, left };
                edges.push(Transition { label, to });
            }
        }
        let count = self.edges.len() + edges.len();
        self.spec.limits().check_held_bytes(count.saturating_mul(size_of::<Edge>()))?;
        let first = self.edges.len() as u32;
        self.edges.extend(edges);
        let range = (first, self.edges.len() as u32);
        self.states[state.index()].edges = Some(range);
        Ok(range)
    }

    /// Returns the configurations after each code, with the class of the code.
    fn steps(&mut self, configuration: ConfigurationId) -> Result<Vec<(usize, ConfigurationId)>> {
        let mut found = Vec::new();
        let firsts = Lazy::new(&self.automaton, &mut self.tables).candidate_bytes(configuration);
        for first in (0..=255u8).filter(|&byte| firsts.contains(byte)) {
            let after = Lazy::new(&self.automaton, &mut self.tables).step(configuration, first)?;
            if after == ConfigurationId::DEAD {
                continue;
            }
            if self.codes.width == 1 {
                found.push((usize::from(first), after));
                continue;
            }
            let seconds = Lazy::new(&self.automaton, &mut self.tables).candidate_bytes(after);
            for second in (0..=255u8).filter(|&byte| seconds.contains(byte)) {
                let last = Lazy::new(&self.automaton, &mut self.tables).step(after, second)?;
                if last != ConfigurationId::DEAD {
                    found.push((usize::from(first) << 8 | usize::from(second), last));
                }
            }
        }
        Ok(found)
    }
}

impl TransitionSystem for States {
    type State = PlanState;
    type Label = ActionLabel;

    fn start(&self) -> PlanState {
        PlanState(0)
    }

    fn successors(&mut self, state: &PlanState, into: &mut Vec<Edge>) -> Result<()> {
        into.extend_from_slice(self.edges(*state)?);
        Ok(())
    }

    fn is_accepting(&self, state: &PlanState) -> bool {
        let State { configuration, registers, .. } = self.states[state.index()];
        self.tables.is_accepting(configuration) && self.registers.is_complete(registers)
    }

    fn cost(&self, label: &ActionLabel) -> u64 {
        self.members(label.class).first().map_or(0, |&symbol| self.spec.symbols()[symbol].cost)
    }

    /// Multiplies a count by the number of remaining actions and by the number of element sets of each.
    fn times(&self, label: &ActionLabel, count: &BigUint) -> BigUint {
        match self.members(label.class).first().map(|&symbol| &self.spec.symbols()[symbol]) {
            None => BigUint::ZERO,
            Some(symbol) if symbol.set.is_none() => count * label.left,
            Some(symbol) => symbol.subsets() * count * label.left,
        }
    }

    fn has_outcomes(&self) -> bool {
        self.spec.facts().has_outcomes()
    }

    fn action(&self, label: &ActionLabel) -> Option<usize> {
        let class = label.class as usize;
        (self.registers.outcomes(class) > 1).then_some(class)
    }

    fn load(&self) -> u8 {
        let limit = self.spec.limits().plan_states.max(1);
        u8::try_from(self.states.len().saturating_mul(100) / limit).unwrap_or(100)
    }
}
