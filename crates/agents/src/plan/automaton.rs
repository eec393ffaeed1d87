//! The plan automaton: the transition system of a spec over actions, with the bound on the cost of a plan.

use super::states::{ActionLabel, Edge, PlanState, States};
use super::step::Step;
use super::subsets::next_subset;
use grammata::automaton::Automaton;
use grammata::error::Result;
use grammata::limits::Limits;
use grammata::syntax::automaton_spec::{Codes, Spec};
use grammata::transitions::{
    Bounds, Completable, Distances, Letters, Measure, Transition, TransitionSystem, below,
};
use num_bigint::BigUint;
use rand::RngCore;
use rand::seq::index;
use std::sync::Arc;

/// The maximum number of states whose distances to finished plans are computed together.
const REACHABLE: usize = 400_000;
/// The maximum number of states that one search for a finished plan visits.
const SEARCH: usize = 50_000;
/// The maximum number of transitions visited to find the states from which plans can be finished whatever the outcomes.
const OUTCOMES: usize = 20_000_000;

/// A position in a plan: a state, and the cost so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// The state.
    pub state: PlanState,
    /// The sum of the costs of the actions so far.
    pub cost: u64,
}

/// The automaton of a plan spec, over actions. Its tables grow on demand.
///
/// As a [transition system](TransitionSystem), its states are [`Position`]s (all with cost 0 if nothing bounds the
/// cost), its [choices](Letters::Choice) are actions, and its letters are [`Step`]s.
///
/// ```
/// use grammata_agents::plan::PlanAutomaton;
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
    pub(super) states: States,
    pub(super) steps_ahead: Distances,
    pub(super) cost_ahead: Distances,
    /// Whether there are infinitely many plans, once known.
    pub(super) infinite: Option<bool>,
}

impl PlanAutomaton {
    /// Creates the automaton of a spec.
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

    /// Creates the automaton of a language over a spec's codes, under the spec's limits.
    pub(super) fn over(spec: Arc<Spec>, codes: Codes, automaton: Automaton) -> Result<PlanAutomaton> {
        let searches = spec.limits().plan_states;
        let bounds = Bounds { reachable: REACHABLE, search: SEARCH, searches, outcomes: OUTCOMES };
        Ok(PlanAutomaton {
            states: States::new(spec, codes, automaton)?,
            steps_ahead: Distances::new(Measure::Letters, bounds),
            cost_ahead: Distances::new(Measure::Cost, bounds),
            infinite: None,
        })
    }

    /// Returns the spec.
    pub fn spec(&self) -> &Spec {
        &self.states.spec
    }

    /// Returns the spec as a shared pointer.
    pub fn shared_spec(&self) -> Arc<Spec> {
        Arc::clone(&self.states.spec)
    }

    /// Returns the limits of the spec.
    pub fn limits(&self) -> &Limits {
        self.spec().limits()
    }

    /// Returns the number of states created so far.
    pub fn state_count(&self) -> usize {
        self.states.count()
    }

    /// Returns the position before the first action.
    pub fn start(&self) -> Position {
        Position { state: self.states.start(), cost: 0 }
    }

    /// Returns whether a plan that reaches `state` is complete.
    pub fn is_complete(&self, state: PlanState) -> bool {
        self.states.is_accepting(&state)
    }

    /// Returns the edges of a state. Leaves out all edges of an action if one of the action's outcomes is known to be a
    /// dead end.
    pub(super) fn safe_edges(&mut self, state: PlanState) -> Result<Vec<Edge>> {
        let mut edges = self.states.edges(state)?.to_vec();
        self.steps_ahead.keep_safe(&mut self.states, &mut edges)?;
        Ok(edges)
    }

    /// Returns the position after an edge from a position of the given cost; `None` if its cost exceeds the maximum
    /// cost of the spec.
    pub(super) fn after(&self, cost: u64, edge: &Edge) -> Option<Position> {
        let cost = cost.saturating_add(self.states.cost(&edge.label));
        self.spec().max_cost().is_none_or(|max| cost <= max).then_some(Position { state: edge.to, cost })
    }

    /// Returns the position as far as it decides what may follow: with cost 0 if the spec does not bound the cost.
    pub(super) fn relevant(&self, at: Position) -> Position {
        if self.spec().max_cost().is_some() { at } else { Position { cost: 0, ..at } }
    }

    /// Returns whether an action belongs to a class of several actions that may each come once. A state knows only how
    /// many actions of such a class were used, not which.
    fn is_used_up(&self, action: usize) -> bool {
        let class = self.states.codes.class_of.get(action).copied().flatten();
        class
            .map(|class| &self.states.codes.classes[class])
            .is_some_and(|class| class.each.is_some() && class.members.len() > 1)
    }

    /// Returns the actions that have outputs but no inputs, where a plan begins. Writers of plans often omit them.
    pub fn sources(&self) -> Vec<usize> {
        let symbols = self.spec().symbols().iter().enumerate();
        symbols
            .filter(|(_, s)| s.inputs.is_empty() && !s.outputs.is_empty())
            .map(|(place, _)| place)
            .collect()
    }
}

impl TransitionSystem for PlanAutomaton {
    type State = Position;
    type Label = ActionLabel;

    fn start(&self) -> Position {
        PlanAutomaton::start(self)
    }

    fn successors(&mut self, at: &Position, into: &mut Vec<Transition<Position, ActionLabel>>) -> Result<()> {
        for edge in self.safe_edges(at.state)? {
            if let Some(to) = self.after(at.cost, &edge) {
                into.push(Transition { label: edge.label, to: self.relevant(to) });
            }
        }
        Ok(())
    }

    fn is_accepting(&self, at: &Position) -> bool {
        self.is_complete(at.state)
    }

    fn cost(&self, label: &ActionLabel) -> u64 {
        self.states.cost(label)
    }

    fn times(&self, label: &ActionLabel, count: &BigUint) -> BigUint {
        self.states.times(label, count)
    }

    fn completable(&mut self, at: &Position) -> Result<Completable> {
        PlanAutomaton::completable(self, *at)
    }

    fn least_letters(&mut self, at: &Position) -> Result<u64> {
        Ok(self.fewest_steps(at.state)?.unwrap_or(0))
    }

    fn charge(&mut self, held: usize) -> Result<()> {
        self.limits().check_held_bytes(held)
    }

    fn load(&self) -> u8 {
        self.states.load()
    }
}

impl Letters for PlanAutomaton {
    type Letter = Step;
    /// An action with one of its outcomes.
    type Choice = (usize, Option<usize>);
    /// The used actions, in increasing order, of classes of several actions that may each come once.
    type Used = Vec<usize>;

    fn choices(&self, label: &ActionLabel, used: &Vec<usize>, into: &mut Vec<(usize, Option<usize>)>) {
        let outcome = self.states.outcome(label);
        let left =
            self.states.members(label.class).iter().filter(|action| used.binary_search(action).is_err());
        into.extend(left.map(|&action| (action, outcome)));
    }

    fn use_up(&self, &(action, _): &(usize, Option<usize>), used: &mut Vec<usize>) {
        if self.is_used_up(action)
            && let Err(place) = used.binary_search(&action)
        {
            used.insert(place, action);
        }
    }

    fn size(&self, &(action, _): &(usize, Option<usize>)) -> BigUint {
        self.spec().symbols().get(action).map_or(BigUint::ZERO, |symbol| symbol.subsets())
    }

    fn first(&self, &(action, outcome): &(usize, Option<usize>)) -> Step {
        Step::least(self.spec(), action).with_outcome(outcome)
    }

    /// Sets in order of size, then in lexicographic order.
    fn next(&self, &(action, _): &(usize, Option<usize>), step: &Step) -> Option<Step> {
        let set = self.spec().symbols().get(action)?.set.as_ref()?;
        let (n, mut elements) = (set.of.len(), step.elements.clone());
        if !next_subset(&mut elements, n) {
            let size = elements.len();
            if size >= set.max {
                return None;
            }
            elements = (0..=size).collect();
        }
        Some(Step { elements, ..step.clone() })
    }

    fn draw<R: RngCore>(&self, &(action, outcome): &(usize, Option<usize>), random: &mut R) -> Step {
        let Some(set) = self.spec().symbols().get(action).and_then(|symbol| symbol.set.as_ref()) else {
            return Step::of(action).with_outcome(outcome);
        };
        let n = set.of.len();
        let mut ways = vec![BigUint::from(1u32)];
        for k in 0..n {
            let next = &ways[k] * (n - k) / (k + 1);
            ways.push(next);
        }
        let sizes = set.min..=set.max.min(n);
        let total: BigUint = ways[sizes.clone()].iter().sum();
        let mut drawn = below(&total, random);
        let mut size = set.min;
        for k in sizes {
            size = k;
            if drawn < ways[k] {
                break;
            }
            drawn -= &ways[k];
        }
        let mut elements = index::sample(random, n, size).into_vec();
        elements.sort_unstable();
        Step { elements, ..Step::of(action).with_outcome(outcome) }
    }
}
