//! A plan spec as the rules of an agent. Each action is a tool of the server.

use super::observed::{failure, outcome, step_line};
use super::{Open, Rules, Values};
use crate::outcome::Outcome;
use grammata::error::{Error, Result as Fallible};
use grammata_agents::plan::{Observation, PlanAutomaton, Planner, Step};
use serde_json::{Value, json};

/// The rules of a plan spec, with the current state of a plan.
#[derive(Debug)]
pub struct PlanRules {
    planner: Planner,
    /// The actions that may follow, as indices into the symbols of the spec.
    open: Vec<usize>,
    may_end: bool,
    /// The step that was called and whose result must be recorded next.
    pending: Option<Step>,
}

/// Formats an error as a reason in one line.
fn reason(error: &Error) -> String {
    let diagnostic = error.diagnostic();
    let found = diagnostic.found_text().or(diagnostic.cause_text()).unwrap_or_default();
    format!("{}: {found}", diagnostic.message())
}

impl PlanRules {
    /// Creates the rules at the beginning of a plan.
    ///
    /// # Errors
    /// `plan/backward` for a spec whose words name the last step first; `plan/none` for a spec without plans; a limit
    /// was exceeded.
    pub fn new(plans: PlanAutomaton) -> Fallible<PlanRules> {
        let mut rules =
            PlanRules { planner: Planner::new(plans)?, open: Vec::new(), may_end: false, pending: None };
        rules.update()?;
        Ok(rules)
    }

    fn update(&mut self) -> Fallible<()> {
        let next = self.planner.next()?;
        self.open = next.actions().to_vec();
        self.may_end = next.may_end();
        Ok(())
    }

    fn id(&self, action: usize) -> &str {
        self.planner.spec().symbols().get(action).map_or("", |symbol| symbol.id.as_str())
    }

    /// Returns the schemas of an action's arguments by name, and the required names. An action with a set has one
    /// argument, `elements`.
    fn arguments(&self, action: usize) -> (Values, Vec<String>) {
        let spec = self.planner.spec();
        if let Some(schema) = spec.arguments_schema(action) {
            let properties = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
            let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
            return (properties, required.filter_map(Value::as_str).map(str::to_owned).collect());
        }
        let Some(set) = spec.symbols().get(action).and_then(|symbol| symbol.set.as_ref()) else {
            return Default::default();
        };
        let elements = json!({
            "type": "array",
            "items": { "enum": set.of },
            "uniqueItems": true,
            "minItems": set.min,
            "maxItems": set.max.min(set.of.len()),
        });
        (Values::from_iter([("elements".to_owned(), elements)]), vec!["elements".to_owned()])
    }

    /// Converts a call of an action to a step.
    ///
    /// # Errors
    /// A reason in one line: `elements` is not a list of distinct elements of the action's set.
    fn step(&self, action: usize, arguments: &Values) -> Result<Step, String> {
        let spec = self.planner.spec();
        let mut step = Step::of(action);
        if spec.arguments_schema(action).is_some() {
            step.arguments = Some(Value::Object(arguments.clone()));
        } else if let Some(set) = spec.symbols().get(action).and_then(|symbol| symbol.set.as_ref()) {
            let listed = arguments.get("elements").and_then(Value::as_array);
            let listed = listed.ok_or("argument elements: it must be a list")?;
            for element in listed {
                let place = set.of.iter().position(|known| element.as_str() == Some(known));
                step.elements.push(place.ok_or("argument elements: an element is not of the set")?);
            }
            step.elements.sort_unstable();
            if !step.elements.is_sorted_by(|one, next| one < next) {
                return Err("argument elements: an element is there twice".to_owned());
            }
        }
        Ok(step)
    }

    /// Returns the observation of a step from the data of its result: the outcome, the member `facts` (empty if there
    /// is none), and the data itself.
    fn observation(&self, action: usize, data: Value) -> Observation {
        let names = self.planner.spec().symbols().get(action).map_or(&[][..], |symbol| &symbol.outcomes);
        let outcome = outcome(&data, names.iter().map(String::as_str)).map(str::to_owned);
        let facts = data.get("facts").and_then(Value::as_object).cloned().unwrap_or_default();
        Observation { outcome, facts, data }
    }
}

impl Rules for PlanRules {
    fn about(&self) -> String {
        "You are held to a plan: only tools are listed that may be called now; list them again after each call. A call \
         that is not of a plan is not carried out, and its result says why and what may come instead."
            .to_owned()
    }

    fn tools(&self) -> Vec<(String, Vec<String>)> {
        let symbols = self.planner.spec().symbols().iter().enumerate();
        let bound = |action: usize| self.arguments(action).0.keys().cloned().collect();
        symbols.map(|(action, symbol)| (symbol.id.clone(), bound(action))).collect()
    }

    fn open(&self) -> Vec<Open> {
        let open = |&action: &usize| {
            let (properties, required) = self.arguments(action);
            Open { tool: self.id(action).to_owned(), properties, required }
        };
        self.open.iter().map(open).collect()
    }

    fn call(&mut self, tool: &str, arguments: &Values) -> Result<(), String> {
        let symbols = self.planner.spec().symbols();
        let action = symbols.iter().position(|symbol| symbol.id == tool).ok_or("order: no action is this")?;
        let step = self.step(action, arguments)?;
        self.planner.check(&step).map_err(|error| reason(&error))?;
        self.pending = Some(step);
        Ok(())
    }

    fn result(&mut self, outcome: Outcome) -> Result<Values, (Values, String)> {
        let Some(step) = self.pending.take() else { return Ok(Values::new()) };
        let observation = match outcome {
            Outcome::Data(data) => self.observation(step.action, data),
            // a failed step is not a step of the plan, unless its action has an outcome `error`
            Outcome::Error(text) => {
                let observation = self.observation(step.action, "error".into());
                if observation.outcome.is_none() {
                    return Ok(failure(&text));
                }
                observation
            }
        };
        let followed = self.planner.observe(step, &observation).and_then(|()| self.update());
        if let Err(error) = followed {
            let text = reason(&error);
            return Err((failure(&text), text));
        }
        let line = self.planner.plan().steps.last().map(|step| step.line(self.planner.spec()));
        Ok(Values::from_iter([("step".to_owned(), line.unwrap_or_default().trim().into())]))
    }

    fn may_end(&self) -> bool {
        self.may_end
    }

    fn line(&self, event: &Value) -> Option<String> {
        step_line(event)
    }
}
