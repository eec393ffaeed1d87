//! The plan automaton: states of a spec over actions, made as they are visited.

use super::errors;
use super::registers::Registers;
use crate::automaton::{Automaton, ConfigurationId, Tables};
use crate::error::Result;
use crate::limits::Limits;
use crate::syntax::automaton_spec::{Codes, Spec};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The id of a state: a configuration over action codes, and registers. Equal ids mean equal futures, up to which of
/// several like actions are used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlanState(pub(super) u32);

impl PlanState {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A place in a plan: a state, and what the plan cost so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// The state.
    pub state: PlanState,
    /// The sum of the costs of the actions so far.
    pub cost: u64,
}

/// A step of the automaton: an action of the class, with one of its outcomes, leads to the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) class: u32,
    /// The outcome; 0 for an action without outcomes.
    pub(super) outcome: u32,
    pub(super) to: PlanState,
}

#[derive(Clone, Copy, Debug)]
struct State {
    configuration: ConfigurationId,
    registers: u32,
    /// Where its edges are; `None` before they are made.
    edges: Option<(u32, u32)>,
}

/// The automaton of a plan spec, over actions. Its tables grow as it is used.
///
/// ```
/// use grammata::plan::PlanAutomaton;
/// use grammata::syntax::automaton_spec::{Options, Spec};
///
/// let spec = "kind = 'cfg'\nsymbols = ['a', 'b', 'c']\nstart = 's'\nrules = { s = ['x s', ''], x = ['a', 'b', 'c'] }\n\
///             limits = { at_most_once = ['a', 'b'], exactly_once = ['c'] }";
/// let mut plans = PlanAutomaton::new(Spec::read(spec, &Options::default())?)?;
/// assert_eq!(plans.count()?.to_string(), "11");
/// # Ok::<(), grammata::Error>(())
/// ```
#[derive(Debug)]
pub struct PlanAutomaton {
    pub(super) spec: Arc<Spec>,
    pub(super) codes: Codes,
    pub(super) registers: Registers,
    automaton: Automaton,
    tables: Tables,
    states: Vec<State>,
    ids: FxHashMap<(ConfigurationId, u32), u32>,
    edges: Vec<Edge>,
    pub(super) distances: super::lookahead::Distances,
    pub(super) counts: super::count::Counts,
}

impl PlanAutomaton {
    /// The automaton of a spec.
    ///
    /// # Errors
    /// `automaton-spec/too-many-actions`, and limits.
    pub fn new(spec: Spec) -> Result<PlanAutomaton> {
        let codes = spec.codes()?;
        let productions = spec.productions();
        let grammar = codes.grammar(productions, spec.limits())?;
        let automaton = Automaton::new(&grammar, spec.limits())?;
        PlanAutomaton::over(Arc::new(spec), codes, automaton)
    }

    /// The automaton of a language over a spec's codes, under the spec's limits.
    pub(super) fn over(spec: Arc<Spec>, codes: Codes, automaton: Automaton) -> Result<PlanAutomaton> {
        let registers = Registers::new(&spec, &codes);
        let mut plans = PlanAutomaton {
            spec,
            codes,
            registers,
            automaton,
            tables: Tables::new(),
            states: Vec::new(),
            ids: FxHashMap::default(),
            edges: Vec::new(),
            distances: Default::default(),
            counts: Default::default(),
        };
        let start = plans.tables.start(&plans.automaton)?;
        plans.intern(start, 0)?;
        Ok(plans)
    }

    /// The spec.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The spec, shared.
    pub fn shared_spec(&self) -> Arc<Spec> {
        Arc::clone(&self.spec)
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        self.spec.limits()
    }

    /// How many states there are so far.
    pub fn state_count(&self) -> usize {
        self.states.len()
    }

    /// The place before the first action.
    pub fn start(&self) -> Position {
        Position { state: PlanState(0), cost: 0 }
    }

    /// Whether the plan is whole here.
    pub fn is_complete(&self, state: PlanState) -> bool {
        let State { configuration, registers, .. } = self.states[state.index()];
        self.tables.is_accepting(configuration) && self.registers.is_complete(registers)
    }

    /// The cost of one action of a class.
    pub(super) fn cost(&self, class: u32) -> u64 {
        let first = self.codes.classes[class as usize].members.first();
        first.map_or(0, |&symbol| self.spec.symbols()[symbol].cost)
    }

    /// How many members of a class may come in the state.
    pub(super) fn open_members(&self, state: PlanState, class: u32) -> usize {
        let class = class as usize;
        let members = self.codes.classes[class].members.len();
        members.saturating_sub(self.registers.used(self.states[state.index()].registers, class) as usize)
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

    /// How many steps the state allows, whether or not they can be completed. Makes them if need be.
    pub(super) fn edge_count(&mut self, state: PlanState) -> Result<usize> {
        if let Some((first, end)) = self.states[state.index()].edges {
            return Ok((end - first) as usize);
        }
        let State { configuration, registers, .. } = self.states[state.index()];
        let mut found = Vec::new();
        let firsts = self.tables.candidate_bytes(&self.automaton, configuration);
        for first in (0..=255u8).filter(|&byte| firsts.contains(byte)) {
            let after = self.tables.step(&self.automaton, configuration, first)?;
            if after == ConfigurationId::DEAD {
                continue;
            }
            if self.codes.width == 1 {
                found.push((usize::from(first), after));
                continue;
            }
            let seconds = self.tables.candidate_bytes(&self.automaton, after);
            for second in (0..=255u8).filter(|&byte| seconds.contains(byte)) {
                let last = self.tables.step(&self.automaton, after, second)?;
                if last != ConfigurationId::DEAD {
                    found.push((usize::from(first) << 8 | usize::from(second), last));
                }
            }
        }
        let mut edges = Vec::with_capacity(found.len());
        for (class, configuration) in found {
            for outcome in 0..self.registers.outcomes(class) {
                if let Some(registers) = self.registers.after(registers, class, outcome) {
                    let to = self.intern(configuration, registers)?;
                    edges.push(Edge { class: class as u32, outcome: outcome as u32, to });
                }
            }
        }
        self.registers.check(self.spec.limits())?;
        let first = self.edges.len() as u32;
        self.edges.extend(edges);
        self.states[state.index()].edges = Some((first, self.edges.len() as u32));
        Ok(self.edges.len() - first as usize)
    }

    /// One of the steps that [`edge_count`](PlanAutomaton::edge_count) counted.
    pub(super) fn edge(&self, state: PlanState, place: usize) -> Edge {
        let first = self.states[state.index()].edges.map_or(0, |(first, _)| first);
        self.edges[first as usize + place]
    }

    /// The steps that a state allows, copied: of an action with outcomes, all of them or none.
    pub(super) fn steps(&mut self, state: PlanState) -> Result<Vec<Edge>> {
        let count = self.edge_count(state)?;
        let mut edges: Vec<Edge> = (0..count).map(|place| self.edge(state, place)).collect();
        if self.spec.facts().has_outcomes() {
            let mut unsafe_classes = Vec::new();
            for edge in &edges {
                if !self.is_safe(state, *edge)? {
                    unsafe_classes.push(edge.class);
                }
            }
            edges.retain(|edge| !unsafe_classes.contains(&edge.class));
        }
        Ok(edges)
    }

    /// The outcome of an edge, by its place among those of the class's only member; `None` for an action without.
    pub(super) fn outcome(&self, edge: Edge) -> Option<usize> {
        let first = self.codes.classes[edge.class as usize].members.first();
        let has_outcomes = first.is_some_and(|&action| !self.spec.symbols()[action].outcomes.is_empty());
        has_outcomes.then_some(edge.outcome as usize)
    }

    /// The actions that need no input and make something: what a plan starts from. Who writes a plan often leaves them out.
    pub fn sources(&self) -> Vec<usize> {
        let symbols = self.spec.symbols().iter().enumerate();
        symbols
            .filter(|(_, s)| s.inputs.is_empty() && !s.outputs.is_empty())
            .map(|(place, _)| place)
            .collect()
    }

    /// Whether what the plan cost stays within `max_cost`.
    pub(super) fn affordable(&self, cost: u64) -> bool {
        self.spec.max_cost().is_none_or(|max| cost <= max)
    }
}
