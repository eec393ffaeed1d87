//! Partial plans.

use super::automaton::{PlanAutomaton, Position};
use super::step::{ARROW, Plan, Step};
use grammata::error::Result;
use grammata::syntax::automaton_spec::Spec;
use grammata::transitions::Completable;
use rustc_hash::FxHashMap;

/// An action that may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Successor {
    /// The action, as an index into the spec's symbols.
    pub action: usize,
    /// The outcome, if the action has outcomes. Each outcome is a separate successor.
    pub outcome: Option<usize>,
    /// The position after the step.
    pub to: Position,
}

impl Successor {
    /// Returns the label of the action, followed by an arrow and the outcome if there is one.
    pub fn label(&self, spec: &Spec) -> String {
        let Some(symbol) = spec.symbols().get(self.action) else { return String::new() };
        match self.outcome.and_then(|outcome| symbol.outcomes.get(outcome)) {
            Some(outcome) => format!("{}{ARROW}{outcome}", symbol.shown()),
            None => symbol.shown().into_owned(),
        }
    }
}

/// A plan under construction. Steps can be appended and removed again.
#[derive(Clone, Debug)]
pub struct PartialPlan {
    positions: Vec<Position>,
    plan: Plan,
    used: FxHashMap<usize, u32>,
}

impl PartialPlan {
    /// Creates an empty partial plan.
    pub fn new(plans: &PlanAutomaton) -> PartialPlan {
        PartialPlan { positions: vec![plans.start()], plan: Plan::default(), used: FxHashMap::default() }
    }

    /// Returns the steps so far.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the steps so far as a plan.
    pub fn into_plan(self) -> Plan {
        self.plan
    }

    /// Returns the number of steps.
    pub fn len(&self) -> usize {
        self.plan.steps.len()
    }

    /// Returns whether there are no steps.
    pub fn is_empty(&self) -> bool {
        self.plan.steps.is_empty()
    }

    /// Returns the position after the last step.
    pub fn position(&self) -> Position {
        self.positions.last().copied().unwrap_or(Position { state: super::PlanState(0), cost: 0 })
    }

    /// Appends an allowed step that leads to the position `to`.
    pub fn push(&mut self, step: Step, to: Position) {
        *self.used.entry(step.action).or_default() += 1;
        self.plan.steps.push(step);
        self.positions.push(to);
    }

    /// Removes and returns the last step; `None` if there are no steps.
    pub fn pop(&mut self) -> Option<Step> {
        let step = self.plan.steps.pop()?;
        self.positions.pop();
        if let Some(used) = self.used.get_mut(&step.action) {
            *used -= 1;
        }
        Some(step)
    }

    pub(super) fn set_elements(&mut self, elements: Vec<usize>) {
        if let Some(step) = self.plan.steps.last_mut() {
            step.elements = elements;
        }
    }
}

impl PlanAutomaton {
    /// Returns the actions that the automaton, the limits and the cost so far allow next, in the spec's order. An
    /// action with outcomes is left out if one of them is known to be a dead end. Others may lead to dead ends: see
    /// [`completable`](PlanAutomaton::completable).
    ///
    /// # Errors
    /// Limits.
    pub fn allowed(&mut self, walk: &PartialPlan) -> Result<Vec<Successor>> {
        let at = walk.position();
        let mut successors = Vec::new();
        for edge in self.safe_edges(at.state)? {
            let Some(to) = self.after(at.cost, &edge) else { continue };
            let outcome = self.states.outcome(&edge.label);
            let class = &self.states.codes.classes[edge.label.class as usize];
            let open = class.members.iter().filter(|&action| {
                class.each.is_none() || walk.used.get(action).copied().unwrap_or_default() == 0
            });
            successors.extend(open.map(|&action| Successor { action, outcome, to }));
        }
        successors.sort_by_key(|successor| (successor.action, successor.outcome));
        Ok(successors)
    }

    /// Returns the allowed actions that lead to a finished plan, or for which the lookahead could not decide.
    ///
    /// # Errors
    /// Limits.
    pub fn live_successors(&mut self, walk: &PartialPlan) -> Result<Vec<Successor>> {
        let mut successors = Vec::new();
        for successor in self.allowed(walk)? {
            if self.completable(successor.to)? != Completable::No {
                successors.push(successor);
            }
        }
        Ok(successors)
    }

    /// Replays a plan, and returns the partial plan of its steps; `None` if one of the steps is not allowed, or has
    /// elements or arguments that its action does not have.
    ///
    /// # Errors
    /// Limits.
    pub fn walk(&mut self, plan: &Plan) -> Result<Option<PartialPlan>> {
        let mut walk = PartialPlan::new(self);
        for step in &plan.steps {
            let successors = self.allowed(&walk)?;
            let meant =
                |successor: &&Successor| (successor.action, successor.outcome) == (step.action, step.outcome);
            let Some(successor) = successors.iter().find(meant) else {
                return Ok(None);
            };
            if !self.takes(step) {
                return Ok(None);
            }
            walk.push(step.clone(), successor.to);
        }
        Ok(Some(walk))
    }

    /// Returns whether the elements of a step are valid for its action. Arguments are allowed only if the action has
    /// arguments.
    pub(super) fn takes(&self, step: &Step) -> bool {
        let symbol = self.spec().symbols().get(step.action);
        if step.arguments.is_some() && symbol.is_none_or(|symbol| symbol.arguments.is_none()) {
            return false;
        }
        match symbol.and_then(|symbol| symbol.set.as_ref()) {
            None => step.elements.is_empty(),
            Some(set) => {
                (set.min..=set.max).contains(&step.elements.len())
                    && step.elements.is_sorted_by(|a, b| a < b)
                    && step.elements.last().is_none_or(|&last| last < set.of.len())
            }
        }
    }
}
