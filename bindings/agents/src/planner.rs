//! The Python class `Planner`: a plan that is built while it is carried out.

use crate::border::{BORDER, Raise, lock, value};
use crate::definitions::{definition, names};
use crate::errors;
use crate::plans::{step, steps};
use crate::policy::is_completable;
use grammata::Result;
use grammata::syntax::automaton_spec::{Spec, Symbol};
use grammata_agents::plan::{Conflicts, Observation, PlanAutomaton, Planner as Inner, Step};
use grammata_python_border::forking::detach;
use grammata_python_border::from_json;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex};

/// A plan under construction. An action is open only if a finished plan can be reached after it, whatever the outcomes
/// of later actions are. Calls from several threads are serialised.
///
/// >>> import grammata_agents
/// >>> plans = grammata_agents.Plans(
/// ...     {"kind": "cfg", "symbols": ["walk", "bus", "rest"], "start": "s", "rules": {"s": ["walk rest", "bus"]}})
/// >>> planner = plans.planner()
/// >>> [action.name for action in planner.open()]
/// ['walk', 'bus']
/// >>> planner.take("walk").action
/// 'walk'
/// >>> [action.name for action in planner.open()], planner.may_end()
/// (['rest'], False)
#[pyclass(frozen, module = "grammata_agents")]
pub(crate) struct Planner(Mutex<Inner>);

impl Planner {
    pub(crate) fn new(plans: PlanAutomaton, max_free_steps: Option<usize>) -> Result<Planner> {
        let planner = Inner::new(plans)?.with_max_free_steps(max_free_steps.unwrap_or(usize::MAX));
        Ok(Planner(Mutex::new(planner)))
    }

    /// Runs `work` without the interpreter's lock.
    fn run<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut Inner) -> Result<R> + Send) -> PyResult<R> {
        detach(py, || work(&mut lock(&self.0))).raise(py)
    }

    fn spec(&self, py: Python<'_>) -> Arc<Spec> {
        detach(py, || lock(&self.0).plans().shared_spec())
    }
}

/// The parameters of an action as a JSON Schema: its arguments, or the elements of its set.
fn parameters(spec: &Spec, action: usize, symbol: &Symbol) -> Value {
    if let Some(schema) = spec.arguments_schema(action) {
        return schema.clone();
    }
    let (mut properties, mut required) = (Map::new(), Vec::new());
    if let Some(set) = &symbol.set {
        let elements = json!({
            "type": "array", "items": {"enum": set.of}, "uniqueItems": true,
            "minItems": set.min, "maxItems": set.max,
        });
        properties.insert("elements".to_owned(), elements);
        required.push("elements");
    }
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// The open actions with their symbols.
fn open(planner: &mut Inner) -> Result<Vec<(usize, Symbol)>> {
    let next = planner.next()?;
    let symbols = planner.spec().symbols();
    Ok(next.actions().iter().filter_map(|&action| Some((action, symbols.get(action)?.clone()))).collect())
}

#[pymethods]
impl Planner {
    /// The steps so far.
    #[getter]
    fn plan<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let plan = detach(py, || lock(&self.0).plan().clone());
        steps(py, &self.spec(py), &plan)
    }

    /// The current flags and facts of the spec: true or false, a value, or None.
    #[getter]
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        from_json(py, &Value::Object(detach(py, || lock(&self.0).facts())))
    }

    /// The actions that may come next, in the spec's order.
    fn open<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let (choices, spec) =
            self.run(py, |planner| Ok((planner.choices()?, planner.plans().shared_spec())))?;
        let open = choices.iter().filter_map(|choice| {
            let action = choice.successor.as_ref()?.action;
            Some((action, choice, spec.symbols().get(action)?))
        });
        open.map(|(action, choice, symbol)| {
            let arguments = spec.arguments_schema(action).map(|schema| from_json(py, schema)).transpose()?;
            let set = symbol.set.as_ref();
            let elements = PyTuple::new(py, set.map_or(&[][..], |set| &set.of))?;
            let fields = (
                &symbol.id,
                &choice.label,
                choice.cost,
                arguments,
                elements,
                set.map(|set| (set.min, set.max)),
                PyTuple::new(py, &symbol.outcomes)?,
                is_completable(choice.completable),
                choice.steps_left,
            );
            value(py, "OpenAction", fields)
        })
        .collect()
    }

    /// The open actions as the `tools` of a chat completion. A set-valued action has a parameter `elements`.
    fn tools<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let tools = self.run(py, |planner| {
            let open = open(planner)?;
            let names = names(open.iter().map(|(_, symbol)| symbol.id.as_str()));
            let tools = open.iter().zip(names).map(|((action, symbol), name)| {
                definition(&name, &symbol.outline(), parameters(planner.spec(), *action, symbol))
            });
            Ok(Value::Array(tools.collect()))
        })?;
        from_json(py, &tools)
    }

    /// Whether the plan may end here.
    fn may_end(&self, py: Python<'_>) -> PyResult<bool> {
        self.run(py, |planner| Ok(planner.next()?.may_end()))
    }

    /// Whether the plan is finished: it may end, and no action is open.
    fn is_finished(&self, py: Python<'_>) -> PyResult<bool> {
        self.run(py, |planner| {
            let next = planner.next()?;
            Ok(next.may_end() && next.actions().is_empty())
        })
    }

    /// Why an action is not open: a minimal set of the spec's rules under which no plan continues with it, as texts.
    /// The list is empty if the automaton itself has no such plan, whatever the rules. None if the action is open, or
    /// if the question could not be decided.
    #[pyo3(signature = (action, /))]
    fn reasons(&self, py: Python<'_>, action: &str) -> PyResult<Option<Vec<String>>> {
        self.run(py, |planner| {
            let spec = planner.plans().shared_spec();
            let known = || spec.symbols().iter().map(|symbol| symbol.id.as_str());
            let Some(place) = known().position(|id| id == action) else {
                return Err(errors::unknown("action", action, known()));
            };
            if planner.next()?.actions().contains(&place) {
                return Ok(None);
            }
            let mut plan = planner.plan().clone();
            let has_outcomes = spec.symbols().get(place).is_some_and(|symbol| !symbol.outcomes.is_empty());
            plan.steps.push(Step::least(&spec, place).with_outcome(has_outcomes.then_some(0)));
            let conflict = Conflicts::new(spec).of(&plan)?;
            Ok(conflict.map(|conflict| conflict.rules.iter().map(ToString::to_string).collect()))
        })
    }

    /// Checks a step and appends it with what was observed: its outcome, and facts of the spec. After an error the plan
    /// is unchanged.
    #[pyo3(signature = (action, /, *, elements=None, arguments=None, outcome=None, facts=None, data=None))]
    #[allow(clippy::too_many_arguments)] // each is a keyword in Python
    fn take<'py>(
        &self,
        py: Python<'py>,
        action: &str,
        elements: Option<Vec<String>>,
        arguments: Option<&Bound<'py, PyAny>>,
        outcome: Option<String>,
        facts: Option<&Bound<'py, PyAny>>,
        data: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let given = |what, object: Option<&Bound<'py, PyAny>>| -> PyResult<Value> {
            object.map_or(Ok(Value::Null), |object| BORDER.json(what, object))
        };
        let mut written = json!({ "action": action });
        if let Some(elements) = elements {
            written["elements"] = json!(elements);
        }
        if let Some(arguments) = arguments {
            written["arguments"] = BORDER.json("`arguments`", arguments)?;
        }
        let facts = match given("`facts`", facts)? {
            Value::Null => Map::new(),
            Value::Object(facts) => facts,
            _ => return Err(errors::object("`facts`")).raise(py),
        };
        let observation = Observation { outcome, facts, data: given("`data`", data)? };
        let text = json!([written]).to_string();
        let taken = self.run(py, |planner| {
            let step = planner.read(&text)?;
            planner.observe(step, &observation)?;
            Ok(planner.plan().steps.last().cloned().unwrap_or_default())
        })?;
        step(py, &self.spec(py), &taken)
    }

    /// Removes the last `steps` steps, or all if there are fewer, with their observations. Returns the number of
    /// removed steps.
    #[pyo3(signature = (steps=1, /))]
    fn back(&self, py: Python<'_>, steps: usize) -> usize {
        detach(py, || {
            let mut planner = lock(&self.0);
            (0..steps).take_while(|_| planner.back().is_some()).count()
        })
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let steps = detach(py, || lock(&self.0).plan().steps.len());
        format!("<grammata_agents.Planner of {steps} steps>")
    }
}
