//! The Python class `Plans`: plans are words of an automaton over actions.

use crate::border::{BORDER, Raise, file, lock, value};
use crate::planner::Planner;
use crate::policy::PythonPolicy;
use grammata::syntax::automaton_spec::{Options, Spec};
use grammata::transitions::Count;
use grammata_agents::plan::search::{self, STRATEGIES};
use grammata_agents::plan::{
    Plan, PlanAutomaton, PlanSampler, Problem, Questions, ReadPlan, SearchOptions, Step, Verdict,
};
use grammata_python_border::ending::PythonCall;
use grammata_python_border::forking::detach;
use grammata_python_border::{choice, from_json};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFloat, PyInt, PyString, PyTuple};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The plans of a spec: words of an automaton whose letters are actions. Calls from several threads are serialised.
///
/// >>> import grammata_agents
/// >>> plans = grammata_agents.Plans(
/// ...     {"kind": "cfg", "symbols": ["walk", "bus", "rest"], "start": "s", "rules": {"s": ["walk rest", "bus"]}})
/// >>> plans.count()
/// 2
/// >>> [[str(step) for step in plan] for plan in plans.enumerate(10)]
/// [['walk', 'rest'], ['bus']]
/// >>> plans.verify(["walk", "bus"]).feasible
/// ('rest',)
/// >>> outcome = plans.run(lambda question: "bus")
/// >>> [step.action for step in outcome.plan]
/// ['bus']
#[pyclass(frozen, module = "grammata_agents")]
pub(crate) struct Plans {
    text: String,
    options: Options,
    automaton: Mutex<PlanAutomaton>,
}

impl Plans {
    /// Runs `work` without the interpreter's lock.
    fn run<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut PlanAutomaton) -> grammata::Result<R> + Send,
    ) -> PyResult<R> {
        detach(py, || work(&mut lock(&self.automaton))).raise(py)
    }

    fn spec(&self, py: Python<'_>) -> std::sync::Arc<Spec> {
        detach(py, || lock(&self.automaton).shared_spec())
    }

    /// Reads a plan from a list of steps or a text.
    fn read(&self, plan: &Bound<'_, PyAny>) -> PyResult<ReadPlan> {
        let py = plan.py();
        let text = match plan.extract::<String>() {
            Ok(text) => text,
            Err(_) => {
                let _call = PythonCall::begin(py);
                let plain = py.import("grammata_agents._values")?.call_method1("plain_plan", (plan,))?;
                BORDER.json("the plan", &plain)?.to_string()
            }
        };
        let spec = self.spec(py);
        detach(py, || ReadPlan::parse(&text, &spec)).raise(py)
    }
}

/// Converts a step to a `grammata_agents.Step`.
pub(crate) fn step<'py>(py: Python<'py>, spec: &Spec, step: &Step) -> PyResult<Bound<'py, PyAny>> {
    let symbol = spec.symbols().get(step.action);
    let set = symbol.and_then(|symbol| symbol.set.as_ref());
    let elements = step.elements.iter().filter_map(|&place| set?.of.get(place));
    let fields = (
        symbol.map(|symbol| symbol.id.as_str()),
        step.text(spec),
        PyTuple::new(py, elements.collect::<Vec<_>>())?,
        step.outcome_name(spec),
        step.arguments.as_ref().map(|value| from_json(py, value)).transpose()?,
    );
    value(py, "Step", fields)
}

/// The steps of a plan in the order of their execution.
pub(crate) fn steps<'py>(py: Python<'py>, spec: &Spec, plan: &Plan) -> PyResult<Vec<Bound<'py, PyAny>>> {
    plan.executed(spec).map(|one| step(py, spec, one)).collect()
}

/// Converts a count to an `int`, or to `math.inf`.
pub(crate) fn count<'py>(py: Python<'py>, count: &Count) -> PyResult<Bound<'py, PyAny>> {
    match count {
        Count::Finite(count) => {
            let bytes = PyBytes::new(py, &count.to_bytes_le());
            py.get_type::<PyInt>().call_method1("from_bytes", (bytes, "little"))
        }
        Count::Infinite => Ok(PyFloat::new(py, f64::INFINITY).into_any()),
    }
}

#[pymethods]
impl Plans {
    #[new]
    #[pyo3(signature = (spec, *, parameters=None, folder=None, limits=None))]
    fn new(
        spec: &Bound<'_, PyAny>,
        parameters: Option<&Bound<'_, PyDict>>,
        folder: Option<PathBuf>,
        limits: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Plans> {
        let py = spec.py();
        let (text, options) = BORDER.spec_options(spec, parameters, folder, BORDER.limits(limits)?)?;
        let made = detach(py, || PlanAutomaton::new(Spec::read(&text, &options)?));
        Ok(Plans { automaton: Mutex::new(made.raise(py)?), text, options })
    }

    /// Reads a file, or the `spec.toml` or `spec.json` of a folder. Tables that it names are read from its folder.
    #[staticmethod]
    #[pyo3(signature = (path, /, *, parameters=None, limits=None))]
    fn from_file(
        py: Python<'_>,
        path: PathBuf,
        parameters: Option<&Bound<'_, PyDict>>,
        limits: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Plans> {
        let limits = BORDER.limits(limits)?;
        let files = ["spec.toml", "spec.json"].map(|name| path.join(name));
        let path = files.into_iter().find(|file| file.is_file()).unwrap_or(path);
        let text = detach(py, || file(&path, &limits)).raise(py)?;
        let folder = path.parent().map(Path::to_path_buf);
        let text = PyString::new(py, &text);
        let (text, options) = BORDER.spec_options(text.as_any(), parameters, folder, limits)?;
        let made = detach(py, || PlanAutomaton::new(Spec::read(&text, &options)?));
        let made = made.map_err(|error| error.in_file(&path.display().to_string())).raise(py)?;
        Ok(Plans { automaton: Mutex::new(made), text, options })
    }

    /// The names of the actions, in the spec's order.
    #[getter]
    fn actions(&self, py: Python<'_>) -> Vec<String> {
        self.spec(py).symbols().iter().map(|symbol| symbol.id.clone()).collect()
    }

    /// Starts a plan that is built step by step. After `max_free_steps` steps only actions that bring the end nearer
    /// are open.
    #[pyo3(signature = (*, max_free_steps=None))]
    fn planner(&self, py: Python<'_>, max_free_steps: Option<usize>) -> PyResult<Planner> {
        // a planner writes to its tables; it gets its own automaton
        let made = detach(py, || {
            let plans = PlanAutomaton::new(Spec::read(&self.text, &self.options)?)?;
            Planner::new(plans, max_free_steps)
        });
        made.raise(py)
    }

    /// Warnings for the author of the spec.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        BORDER.warnings(py, self.spec(py).warnings())
    }

    /// The exact number of plans; `math.inf` if plans have no maximum length.
    fn count<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        count(py, &self.run(py, PlanAutomaton::count)?)
    }

    /// The first `limit` plans: in the order of the spec's actions if there are finitely many, otherwise by length.
    #[pyo3(signature = (limit, /))]
    fn enumerate<'py>(&self, py: Python<'py>, limit: usize) -> PyResult<Vec<Vec<Bound<'py, PyAny>>>> {
        let plans =
            self.run(py, |plans| plans.plans()?.take(limit).collect::<grammata::Result<Vec<Plan>>>())?;
        let spec = self.spec(py);
        plans.iter().map(|plan| steps(py, &spec, plan)).collect()
    }

    /// Plans drawn uniformly at random. Equal seeds draw the same plans.
    #[pyo3(signature = (count=1, *, seed=0, max_steps=100))]
    fn sample<'py>(
        &self,
        py: Python<'py>,
        count: usize,
        seed: u64,
        max_steps: usize,
    ) -> PyResult<Vec<Vec<Bound<'py, PyAny>>>> {
        let plans = self.run(py, |plans| {
            let mut sampler = PlanSampler::new(plans, seed, max_steps);
            (0..count).map(|_| sampler.sample()).collect::<grammata::Result<Vec<Plan>>>()
        })?;
        let spec = self.spec(py);
        plans.iter().map(|plan| steps(py, &spec, plan)).collect()
    }

    /// Checks a plan: a text (one step per line, or JSON), or a list of steps and names of actions.
    #[pyo3(signature = (plan, /))]
    fn verify<'py>(&self, plan: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = plan.py();
        let read = self.read(plan)?;
        let verdict = self.run(py, |plans| plans.verify(&read, &[]))?;
        let spec = self.spec(py);
        match verdict {
            Verdict::Valid(plan) => value(py, "Verdict", (true, steps(py, &spec, &plan)?)),
            Verdict::Wrong { step, feasible, may_end } => {
                let symbols = feasible.iter().filter_map(|&action| spec.symbols().get(action));
                let feasible =
                    PyTuple::new(py, symbols.map(|symbol| symbol.id.as_str()).collect::<Vec<_>>())?;
                value(py, "Verdict", (false, py.None(), step, feasible, may_end))
            }
        }
    }

    /// The plan of the spec with the smallest edit distance from a given plan, and that distance.
    #[pyo3(signature = (plan, /))]
    fn nearest<'py>(&self, plan: &Bound<'py, PyAny>) -> PyResult<(Vec<Bound<'py, PyAny>>, usize)> {
        let py = plan.py();
        let read = self.read(plan)?;
        let repair = self.run(py, |plans| plans.repair(&read))?;
        Ok((steps(py, &self.spec(py), &repair.plan)?, repair.edits))
    }

    /// Makes a plan by asking a policy. Except with "backtracking", the policy is offered only choices that lead to a
    /// finished plan.
    ///
    /// `strategy`: "greedy", "backtracking", "best-first", "beam" or "a-star". An exception of the policy ends the
    /// search and is raised here.
    #[pyo3(signature = (policy, *, strategy="greedy", width=4, task=None, lookahead=false, max_questions=10_000,
        max_free_steps=100))]
    #[allow(clippy::too_many_arguments)] // each is a keyword in Python
    #[pyo3(name = "run")]
    fn search<'py>(
        &self,
        policy: &Bound<'py, PyAny>,
        strategy: &str,
        width: usize,
        task: Option<&str>,
        lookahead: bool,
        max_questions: usize,
        max_free_steps: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = policy.py();
        let mut policy = PythonPolicy::new(policy, lookahead);
        // a search writes to its tables; it gets its own automaton, as the policy may query these plans
        let find = || {
            let Some(search) = search::strategy(strategy, width) else {
                return Err(choice("strategy", strategy, &STRATEGIES.map(|(name, ..)| name).join(", ")));
            };
            let mut plans = PlanAutomaton::new(Spec::read(&self.text, &self.options)?)?;
            let questions = Questions::new(plans.spec(), task)?;
            let options =
                SearchOptions::default().max_questions(max_questions).max_free_steps(max_free_steps);
            search.run(&mut Problem::new(&mut plans, &mut policy, &questions, &options))
        };
        let found = detach(py, find);
        let outcome = found.map_err(|error| policy.failure(py, &error))?;
        let spec = self.spec(py);
        let plan = outcome.plan.as_ref().map(|plan| steps(py, &spec, plan)).transpose()?;
        value(py, "PlanOutcome", (plan, outcome.score, outcome.questions, outcome.backtracks))
    }
}
