//! A drawing of the plan automaton: states from which plans can be finished, and the actions between them.

use super::automaton::{PlanAutomaton, Position};
use super::partial::Successor;
use super::states::{ActionLabel, Edge, PlanState};
use grammata::error::Result;
use grammata::transitions::{Completable, Graph, TransitionSystem, costs_from_start};
use grammata_base::dot::{Attribute, Digraph, numbered};
use rustc_hash::FxHashMap;

/// The maximum number of states whose least cost is computed, which takes some seconds.
const MOST_STATES: usize = 200_000;

/// A drawing of a plan automaton as a graph in the DOT language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanGraph {
    /// The text.
    pub dot: String,
    /// Whether the automaton has more states than the graph may show. If so, the graph shows the states nearest to the
    /// start.
    pub truncated: bool,
}

impl PlanAutomaton {
    /// Draws at most `most` states, but always the start; the states nearest to the start are drawn first. Finished
    /// plans have a double circle. Dead ends are omitted, or with `dead_ends` drawn with a dashed circle. With
    /// `max_cost`, each state is evaluated at its least cost: if it is a dead end, or a step is unaffordable, at this
    /// cost, then at every other cost as well.
    ///
    /// # Errors
    /// Limits.
    pub fn graph(&mut self, most: usize, dead_ends: bool) -> Result<PlanGraph> {
        let spec = self.shared_spec();
        let costs = match spec.max_cost() {
            Some(max_cost) => costs_from_start(&mut self.states, max_cost, MOST_STATES)?,
            // without a bound, costs do not affect the states
            None => FxHashMap::default(),
        };
        let mut cheapest = Cheapest { plans: self, costs, dead_ends };
        let graph = Graph::of(&mut cheapest, most, |_| {})?;
        let mut dot = Digraph::new("plans", "LR");
        for (number, node) in graph.nodes.iter().enumerate() {
            let shape = if node.is_accepting { "doublecircle" } else { "circle" };
            let text = number.to_string();
            let mut look = vec![Attribute::bare("shape", shape), Attribute::label(&text)];
            if cheapest.completable(&node.state)? == Completable::No {
                look.push(Attribute::bare("style", "dashed"));
            }
            dot.node(numbered(Some(number)), &look);
        }
        if graph.is_truncated {
            dot.rest();
        }
        for edge in &graph.edges {
            let labels = edge.labels.iter().flat_map(|label| {
                let outcome = self.states.outcome(label);
                let shown = |&action: &usize| Successor { action, outcome, to: self.start() }.label(&spec);
                self.states.members(label.class).iter().map(shown).collect::<Vec<_>>()
            });
            let labels: Vec<String> = labels.collect();
            dot.edge(numbered(Some(edge.from)), numbered(edge.to), &[Attribute::label(&labels.join("\n"))]);
        }
        Ok(PlanGraph { dot: dot.finish(), truncated: graph.is_truncated })
    }
}

/// The states of plans, each at its least cost.
struct Cheapest<'a> {
    plans: &'a mut PlanAutomaton,
    /// States that are missing here have cost 0.
    costs: FxHashMap<PlanState, u64>,
    /// Whether transitions to dead ends are kept.
    dead_ends: bool,
}

impl Cheapest<'_> {
    fn position(&self, state: PlanState) -> Position {
        Position { state, cost: self.costs.get(&state).copied().unwrap_or(0) }
    }
}

impl TransitionSystem for Cheapest<'_> {
    type State = PlanState;
    type Label = ActionLabel;

    fn start(&self) -> PlanState {
        self.plans.start().state
    }

    fn successors(&mut self, state: &PlanState, into: &mut Vec<Edge>) -> Result<()> {
        let cost = self.position(*state).cost;
        for edge in self.plans.safe_edges(*state)? {
            let Some(to) = self.plans.after(cost, &edge) else { continue };
            if self.dead_ends || self.plans.completable(to)? != Completable::No {
                into.push(edge);
            }
        }
        Ok(())
    }

    fn is_accepting(&self, state: &PlanState) -> bool {
        self.plans.is_complete(*state)
    }

    fn completable(&mut self, state: &PlanState) -> Result<Completable> {
        let at = self.position(*state);
        self.plans.completable(at)
    }
}
