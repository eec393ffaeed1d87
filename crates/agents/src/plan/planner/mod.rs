//! Interleaved planning and execution: the observations of earlier steps decide which steps may follow.

mod choose;

use crate::plan::arguments::ArgumentChecker;
use crate::plan::automaton::PlanAutomaton;
use crate::plan::environment::{Environment, Observation, outcome_of, values_after};
use crate::plan::errors;
use crate::plan::partial::{PartialPlan, Successor};
use crate::plan::read::ReadPlan;
use crate::plan::step::{Plan, Step};
use grammata::error::Result;
use grammata::grammar::{Grammar, GrammarBuilder};
use grammata::syntax::automaton_spec::{About, Direction, Spec, spelled};
use serde_json::{Map, Value};
use std::sync::Arc;

/// The possible continuations of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// The plan is finished, and no action is allowed.
    Finished,
    /// Exactly one action is allowed, and the plan may not end.
    Forced(usize),
    /// At least two continuations: several actions, or an action and the end.
    Choice {
        /// The allowed actions, as increasing indices into the spec's symbols.
        actions: Vec<usize>,
        /// Whether the plan may end here.
        may_end: bool,
    },
}

impl Next {
    /// Returns the allowed actions.
    pub fn actions(&self) -> &[usize] {
        match self {
            Next::Finished => &[],
            Next::Forced(action) => std::slice::from_ref(action),
            Next::Choice { actions, .. } => actions,
        }
    }

    /// Returns whether the plan may end after the steps so far.
    pub fn may_end(&self) -> bool {
        match self {
            Next::Finished => true,
            Next::Forced(_) => false,
            Next::Choice { may_end, .. } => *may_end,
        }
    }
}

/// Executes a plan step by step: [`next`](Planner::next) returns the allowed actions, and [`observe`](Planner::observe)
/// records a step and its observation. An action is allowed only if a finished plan remains reachable after each of its
/// outcomes, or if the lookahead could not decide that. So, unless it could not decide, the plan can continue after any
/// observation that the spec permits.
///
/// ```
/// use grammata_agents::plan::{Next, Observation, PlanAutomaton, Planner, Step};
/// use grammata::syntax::automaton_spec::{Options, Spec};
///
/// let spec = "kind = 'dfa'\nstart = 's'\naccepting = ['end']\n[symbols]\n\
///             ask = { outcomes = { yes = { set = 'agreed' }, no = {} } }\nbuy = { requires = 'agreed' }\nleave = {}\n\
///             [[transitions]]\nfrom = 's'\ninput = 'ask'\nto = 'asked'\n\
///             [[transitions]]\nfrom = 'asked'\ninput = ['buy', 'leave']\nto = 'end'";
/// let mut planner = Planner::new(PlanAutomaton::new(Spec::read(spec, &Options::default())?)?)?;
/// assert_eq!(planner.next()?, Next::Forced(0));
/// planner.observe(Step::of(0), &Observation { outcome: Some("no".into()), ..Observation::default() })?;
/// assert_eq!(planner.next()?, Next::Forced(2));
/// # Ok::<(), grammata::Error>(())
/// ```
#[derive(Debug)]
pub struct Planner {
    plans: PlanAutomaton,
    partial: PartialPlan,
    /// The values of the spec's variables: the initial values, then the values after each step.
    values: Vec<Vec<u32>>,
    observations: Vec<Observation>,
    checker: ArgumentChecker,
    max_free_steps: usize,
}

impl Planner {
    /// Creates a planner with an empty plan.
    ///
    /// # Errors
    /// `plan/backward` if the spec's words name the last step first: such a plan is known only as a whole.
    pub fn new(plans: PlanAutomaton) -> Result<Planner> {
        if plans.spec().direction() == Direction::Backward {
            return Err(errors::backward_planner());
        }
        let initial = plans.spec().facts().variables().iter().map(|variable| variable.initial).collect();
        Ok(Planner {
            partial: PartialPlan::new(&plans),
            plans,
            values: vec![initial],
            observations: Vec::new(),
            checker: ArgumentChecker::default(),
            max_free_steps: usize::MAX,
        })
    }

    /// After this many steps, offers only actions with an outcome that brings the plan closer to its end, measured by
    /// the fewest remaining steps, or with `max_cost` by the least remaining cost and then the steps. If that number is
    /// unknown, all actions are offered. Default: no bound.
    pub fn with_max_free_steps(self, steps: usize) -> Planner {
        Planner { max_free_steps: steps, ..self }
    }

    /// Returns the spec.
    pub fn spec(&self) -> &Spec {
        self.plans.spec()
    }

    /// Returns the automaton of the spec.
    pub fn plans(&self) -> &PlanAutomaton {
        &self.plans
    }

    /// Returns the steps so far.
    pub fn plan(&self) -> &Plan {
        self.partial.plan()
    }

    /// Returns the steps so far, as a partial plan of the automaton.
    pub fn partial(&self) -> &PartialPlan {
        &self.partial
    }

    /// Returns the observation of each step so far.
    pub fn observations(&self) -> &[Observation] {
        &self.observations
    }

    /// Returns the current flags and facts: `true` or `false`, a value, or null for none.
    pub fn facts(&self) -> Map<String, Value> {
        let variables = self.spec().facts().variables().iter().zip(self.now());
        let facts = variables.filter(|(variable, _)| variable.about == About::Fact);
        facts
            .map(|(variable, &value)| {
                let name = variable.values.get(value as usize).map_or("", String::as_str);
                let value = match (variable.is_boolean(), name) {
                    (true, _) => Value::from(value == 1),
                    (false, "") => Value::Null,
                    (false, name) => Value::from(name),
                };
                (variable.name.clone(), value)
            })
            .collect()
    }

    fn now(&self) -> &[u32] {
        self.values.last().map_or(&[], Vec::as_slice)
    }

    /// Returns the possible continuations.
    ///
    /// # Errors
    /// `plan/none` if no plan begins with the steps so far. This happens only if the spec has no plan at all, or if the
    /// lookahead could not decide at an earlier step. Limits.
    #[allow(clippy::should_implement_trait)] // it may fail, and does not advance
    pub fn next(&mut self) -> Result<Next> {
        let mut actions: Vec<usize> = self.live()?.iter().map(|successor| successor.action).collect();
        actions.dedup();
        let may_end = self.plans.is_complete(self.partial.position().state);
        match (actions.as_slice(), may_end) {
            ([], false) => Err(errors::no_plan()),
            ([], true) => Ok(Next::Finished),
            (&[action], false) => Ok(Next::Forced(action)),
            _ => Ok(Next::Choice { actions, may_end }),
        }
    }

    /// Returns the successors that are offered as next steps.
    fn live(&mut self) -> Result<Vec<Successor>> {
        let live = self.plans.live_successors(&self.partial)?;
        if self.partial.len() < self.max_free_steps {
            return Ok(live);
        }
        let Some(distance) = self.plans.distance_left(self.partial.position().state)? else {
            return Ok(live);
        };
        let mut nearer = Vec::new();
        for successor in &live {
            if self.plans.distance_left(successor.to.state)?.is_some_and(|left| left < distance) {
                nearer.push(successor.action);
            }
        }
        Ok(live.into_iter().filter(|successor| nearer.contains(&successor.action)).collect())
    }

    /// Checks that a step is allowed: its action, the elements of its set, and its arguments.
    ///
    /// # Errors
    /// `plan/step-not-allowed` if the action is not allowed or cannot take the elements; `plan/wrong-arguments` if
    /// arguments are missing or violate their schema; those of [`next`](Planner::next).
    pub fn check(&mut self, step: &Step) -> Result<()> {
        let open = self.next()?;
        let spec = self.plans.shared_spec();
        if !open.actions().contains(&step.action) {
            return Err(errors::step_not_allowed(&spec, step.action, open.actions()));
        }
        let has_schema = spec.arguments_schema(step.action).is_some();
        match &step.arguments {
            None if has_schema => return Err(errors::missing_arguments(&spec, step.action)),
            Some(arguments) => {
                if let Some(wrong) = self.checker.check(&spec, step.action, arguments)? {
                    return Err(errors::wrong_arguments(&spec, step.action, &wrong));
                }
            }
            None => {}
        }
        match self.plans.takes(step) {
            true => Ok(()),
            false => Err(errors::wrong_elements(&spec, step.action)),
        }
    }

    /// Appends a step with its observation. After an error the plan is unchanged.
    ///
    /// # Errors
    /// Those of [`check`](Planner::check); `environment/forbidden` if the spec does not allow the observation;
    /// `plan/step-not-allowed` if the observed outcome is not among the offered ones.
    pub fn observe(&mut self, step: Step, observation: &Observation) -> Result<()> {
        self.check(&step)?;
        let spec = self.plans.shared_spec();
        let outcome = outcome_of(&spec, step.action, self.now(), observation)?;
        let live = self.live()?;
        let meant = |successor: &&Successor| (successor.action, successor.outcome) == (step.action, outcome);
        let Some(successor) = live.iter().find(meant) else {
            return Err(errors::step_not_allowed(&spec, step.action, &[]));
        };
        let values = values_after(&spec, self.now(), step.action, outcome);
        let mut observation = observation.clone();
        observation.outcome =
            outcome.and_then(|outcome| spec.symbols().get(step.action)?.outcomes.get(outcome).cloned());
        self.partial.push(step.with_outcome(outcome), successor.to);
        self.values.push(values);
        self.observations.push(observation);
        Ok(())
    }

    /// Removes the last step with its observation, and returns the step; `None` if there are no steps.
    pub fn back(&mut self) -> Option<Step> {
        let step = self.partial.pop()?;
        self.values.pop();
        self.observations.pop();
        Some(step)
    }

    /// Executes a step in an environment, and appends it with its observation.
    ///
    /// # Errors
    /// Those of [`check`](Planner::check), [`observe`](Planner::observe) and the environment.
    pub fn execute(&mut self, environment: &mut dyn Environment, step: Step) -> Result<&Observation> {
        self.check(&step)?;
        let spec = self.plans.shared_spec();
        let observation = environment.execute(&spec, &step)?;
        self.observe(step, &observation)?;
        self.observations.last().ok_or_else(errors::no_plan)
    }

    /// Returns the grammar of the texts of the allowed steps, including their arguments, to constrain a model; `None`
    /// if no step is allowed.
    ///
    /// # Errors
    /// Limits.
    pub fn grammar(&mut self) -> Result<Option<Grammar>> {
        let open = self.next()?;
        if open.actions().is_empty() {
            return Ok(None);
        }
        let spec: Arc<Spec> = self.plans.shared_spec();
        let mut g = GrammarBuilder::with_limits(spec.limits().clone());
        let mut texts = Vec::with_capacity(open.actions().len());
        for &action in open.actions() {
            if let Some(symbol) = spec.symbols().get(action) {
                texts.push(spelled(symbol, "", spec.arguments(action), &mut g));
            }
        }
        let step = g.declare("step");
        let body = g.choice(texts);
        g.define(step, body);
        g.build(step).map(Some)
    }

    /// Parses a text into an allowed step, as [`ReadPlan`] parses a plan of one step.
    ///
    /// # Errors
    /// `plan/step-not-allowed`: the text names no step, several, or one that is not allowed; `plan/wrong-arguments`;
    /// `plan/unreadable` if the text begins with `[` or `{` but is not a plan in JSON; those of
    /// [`next`](Planner::next).
    pub fn read(&mut self, text: &str) -> Result<Step> {
        let spec = self.plans.shared_spec();
        let open = self.next()?;
        let read = ReadPlan::parse(text, &spec)?;
        let [step] = read.steps.as_slice() else { return Err(errors::no_step(text, &spec, open.actions())) };
        if let Some(wrong) = &step.wrong_arguments {
            return Err(errors::wrong_arguments_in(text, wrong));
        }
        let meant = step.meanings.iter().find(|step| open.actions().contains(&step.action));
        let step = meant.ok_or_else(|| errors::no_step(text, &spec, open.actions()))?;
        // the outcome is observed, not planned
        let step = step.clone().with_outcome(None);
        self.check(&step)?;
        Ok(step)
    }
}
