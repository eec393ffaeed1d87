//! Plans and their steps.

use grammata::syntax::automaton_spec::{Direction, Spec};
use serde_json::Value;

/// One step of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Step {
    /// The action, as an index into the spec's symbols.
    pub action: usize,
    /// The elements that a set-valued action takes, as increasing indices.
    pub elements: Vec<usize>,
    /// The outcome that the environment chose, as an index, if the action has outcomes.
    pub outcome: Option<usize>,
    /// The arguments, if the action has arguments. A plan under construction may omit them: they do not affect what may
    /// follow.
    pub arguments: Option<Value>,
}

impl Step {
    /// Creates a step of an action that is not set-valued.
    pub fn of(action: usize) -> Step {
        Step { action, ..Step::default() }
    }

    /// Creates the step that takes as few elements as its action's set allows.
    pub fn least(spec: &Spec, action: usize) -> Step {
        let set = spec.symbols().get(action).and_then(|symbol| symbol.set.as_ref());
        Step { elements: (0..set.map_or(0, |set| set.min)).collect(), ..Step::of(action) }
    }

    /// Returns the step with `outcome` as its outcome, or without an outcome.
    pub fn with_outcome(self, outcome: Option<usize>) -> Step {
        Step { outcome, ..self }
    }

    /// Returns the step with each outcome of its action; only the step itself if the action has no outcomes.
    pub(super) fn with_each_outcome(self, spec: &Spec) -> Vec<Step> {
        let outcomes = spec.symbols().get(self.action).map_or(0, |symbol| symbol.outcomes.len());
        match outcomes {
            0 => vec![self],
            _ => (0..outcomes).map(|outcome| self.clone().with_outcome(Some(outcome))).collect(),
        }
    }

    /// Returns the text of the step, with the step's arguments, or `…` in their place if they are missing.
    pub fn text(&self, spec: &Spec) -> String {
        let Some(symbol) = spec.symbols().get(self.action) else { return String::new() };
        match (&symbol.arguments, &self.arguments) {
            (None, _) => symbol.text_with(&self.elements),
            (Some(_), None) => symbol.outline().into_owned(),
            (Some(_), Some(arguments)) => symbol.text.replacen("{}", &arguments.to_string(), 1),
        }
    }

    /// Returns the name of the step's outcome; `None` without an outcome.
    pub fn outcome_name<'s>(&self, spec: &'s Spec) -> Option<&'s str> {
        spec.symbols().get(self.action)?.outcomes.get(self.outcome?).map(String::as_str)
    }

    /// Returns the text of the step, followed by an arrow and its outcome if there is one.
    pub fn line(&self, spec: &Spec) -> String {
        let text = self.text(spec);
        match self.outcome_name(spec) {
            Some(outcome) => format!("{}{ARROW}{outcome}", text.trim()),
            None => text,
        }
    }
}

/// The separator between a step and its outcome.
pub(super) const ARROW: &str = " -> ";

/// A plan: its steps in the order of the spec's words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Plan {
    /// The steps.
    pub steps: Vec<Step>,
}

impl Plan {
    /// Returns the steps in order of execution.
    pub fn executed<'p>(&'p self, spec: &Spec) -> Box<dyn Iterator<Item = &'p Step> + 'p> {
        match spec.direction() {
            Direction::Forward => Box::new(self.steps.iter()),
            Direction::Backward => Box::new(self.steps.iter().rev()),
        }
    }

    /// Returns the plan as a word of the spec.
    pub fn word(&self, spec: &Spec) -> String {
        let texts: Vec<String> = self.steps.iter().map(|step| step.text(spec)).collect();
        texts.join(spec.separator())
    }

    /// Returns the sum of the costs of the plan's actions.
    pub fn cost(&self, spec: &Spec) -> u64 {
        let costs = self.steps.iter().filter_map(|step| spec.symbols().get(step.action));
        costs.fold(0, |sum, symbol| sum.saturating_add(symbol.cost))
    }
}
