//! The Python classes `FlowDomain` and `FlowWalk`: domains of customer-care flows, and walks along their plans.

use crate::border::{BORDER, Raise, file, lock, value};
use crate::errors;
use crate::plans::count;
use grammata::transitions::{Transition, TransitionSystem};
use grammata::{Limits, Result};
use grammata_agents::flows::{
    Ahead, FeasibleCall, FlowAutomaton, FlowCall, FlowDomain as Inner, FlowLookahead, FlowOptions, FlowState,
    Level, Within,
};
use grammata_python_border::choice;
use grammata_python_border::forking::detach;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use self_cell::self_cell;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

self_cell!(
    struct Held {
        owner: Arc<Inner>,
        #[not_covariant]
        dependent: FlowAutomaton,
    }
);

/// A domain of customer-care flows: APIs, steps that are carried out by APIs, and flows of steps that serve an intent.
/// The text is TOML. With `allow_infeasible`, flows that no plan can follow are left out with a warning.
///
/// >>> import grammata_agents
/// >>> domain = grammata_agents.FlowDomain.from_file("grammars/flows/trip-booking.toml")
/// >>> domain.flows
/// ['book_car', 'book_flight', 'book_hotel']
#[pyclass(frozen, module = "grammata_agents")]
pub(crate) struct FlowDomain {
    inner: Arc<Inner>,
    limits: Limits,
}

/// The keywords of `FlowDomain.walk` and `verify`, which select plans of a domain.
#[derive(Clone)]
struct Rules {
    level: u8,
    api_order: String,
    flow: Option<String>,
    intents: usize,
}

impl Rules {
    fn options(&self, domain: &Inner, limits: &Limits) -> Result<FlowOptions> {
        let ids = || domain.flows.iter().map(|flow| flow.id.as_str());
        let flow = match &self.flow {
            None => None,
            Some(id) => Some(domain.flow(id).ok_or_else(|| errors::unknown("flow", id, ids()))?),
        };
        let within = match self.api_order.as_str() {
            "any" => Within::Any,
            "declared" => Within::Declared,
            other => return Err(choice("api_order", other, "any, declared")),
        };
        let options = FlowOptions::default().level(Level::of(self.level)?).within(within).flow(flow);
        Ok(options.intents(self.intents).limits(limits.clone()))
    }
}

/// A walk along the plans of a domain.
struct State {
    bound: Held,
    path: Vec<(FlowCall, FlowState)>,
}

impl State {
    fn new(domain: &Arc<Inner>, rules: &Rules, limits: &Limits) -> Result<State> {
        let options = rules.options(domain, limits)?;
        let bound = Held::try_new(Arc::clone(domain), |domain| FlowAutomaton::new(domain, options))?;
        Ok(State { bound, path: Vec::new() })
    }

    fn domain(&self) -> &Inner {
        self.bound.borrow_owner()
    }

    fn state(&self) -> FlowState {
        let start = || self.bound.with_dependent(|_, automaton| automaton.start());
        self.path.last().map_or_else(start, |(_, state)| *state)
    }

    fn may_end(&self) -> bool {
        let state = self.state();
        self.bound.with_dependent(|_, automaton| automaton.is_accepting(&state))
    }

    fn successors(&mut self) -> Result<Vec<Transition<FlowState, FlowCall>>> {
        let (state, mut into) = (self.state(), Vec::new());
        self.bound.with_dependent_mut(|_, automaton| automaton.successors(&state, &mut into))?;
        Ok(into)
    }

    /// Writes a call: `Name`, or `Name=outcome`.
    fn text(&self, call: FlowCall) -> String {
        call.text(self.domain()).replacen("()", "", 1)
    }

    /// Appends a call. If it is not allowed, changes nothing and returns the allowed calls.
    fn take(&mut self, written: &str) -> Result<std::result::Result<FlowCall, Vec<String>>> {
        let name = written.split_once('=').map_or(written, |(name, _)| name);
        let outcome = written.split_once('=').map(|(_, outcome)| outcome);
        let open = self.successors()?;
        let api = self.domain().api(name);
        let is_meant = |one: &&Transition<FlowState, FlowCall>| {
            let text = self.text(one.label);
            Some(one.label.api) == api && text.split_once('=').map(|(_, outcome)| outcome) == outcome
        };
        match open.iter().find(is_meant).map(|one| (one.label, one.to)) {
            Some((call, to)) => {
                self.path.push((call, to));
                Ok(Ok(call))
            }
            None => Ok(Err(open.iter().map(|one| self.text(one.label)).collect())),
        }
    }

    /// For each available datum that the API takes: its name, and the calls that provide it.
    fn sources(&self, api: usize) -> Vec<(String, Vec<String>)> {
        let domain = self.domain();
        let prelude = domain.prelude_apis().iter().map(|&api| (api, None));
        let calls: Vec<(usize, Option<usize>)> =
            prelude.chain(self.path.iter().map(|(call, _)| (call.api, call.outcome))).collect();
        let mut sources = Vec::new();
        for &datum in domain.apis[api].inputs.iter().flat_map(|input| &input.any_of) {
            let mut of: Vec<String> = Vec::new();
            if domain.given.contains(&datum) || domain.flows.iter().any(|flow| flow.assumes.contains(&datum))
            {
                of.push("given".to_owned());
            }
            for &(giver, outcome) in &calls {
                let name = &domain.apis[giver].name;
                if domain.apis[giver].makes(outcome).any(|made| made == datum) && !of.contains(name) {
                    of.push(name.clone());
                }
            }
            if !of.is_empty() {
                sources.push((domain.data[datum].clone(), of));
            }
        }
        sources
    }
}

fn ids<'d>(places: &[usize], name: impl Fn(usize) -> &'d str) -> Vec<&'d str> {
    places.iter().map(|&place| name(place)).collect()
}

fn ahead<'py>(py: Python<'py>, ahead: &Ahead) -> PyResult<Bound<'py, PyAny>> {
    value(py, "Ahead", (count(py, &ahead.plans)?, ahead.fewest, ahead.most))
}

impl FlowDomain {
    fn made(text: &str, allow_infeasible: bool, limits: Limits) -> Result<FlowDomain> {
        let inner = Inner::read_with(text, &limits, allow_infeasible)?;
        Ok(FlowDomain { inner: Arc::new(inner), limits })
    }
}

#[pymethods]
impl FlowDomain {
    #[new]
    #[pyo3(signature = (text, *, allow_infeasible=false, limits=None))]
    fn new(
        py: Python<'_>,
        text: &str,
        allow_infeasible: bool,
        limits: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<FlowDomain> {
        let limits = BORDER.limits(limits)?;
        detach(py, || FlowDomain::made(text, allow_infeasible, limits)).raise(py)
    }

    /// Reads a file.
    #[staticmethod]
    #[pyo3(signature = (path, /, *, allow_infeasible=false, limits=None))]
    fn from_file(
        py: Python<'_>,
        path: PathBuf,
        allow_infeasible: bool,
        limits: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<FlowDomain> {
        let limits = BORDER.limits(limits)?;
        detach(py, || {
            let text = file(&path, &limits)?;
            FlowDomain::made(&text, allow_infeasible, limits)
                .map_err(|error| error.in_file(&path.display().to_string()))
        })
        .raise(py)
    }

    /// The name of the domain.
    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    /// The names of the APIs.
    #[getter]
    fn apis(&self) -> Vec<&str> {
        self.inner.apis.iter().map(|api| api.name.as_str()).collect()
    }

    /// The ids of the flows.
    #[getter]
    fn flows(&self) -> Vec<&str> {
        self.inner.flows.iter().map(|flow| flow.id.as_str()).collect()
    }

    /// The APIs with which every plan begins, before the first call of a walk.
    #[getter]
    fn prelude(&self) -> Vec<&str> {
        ids(self.inner.prelude_apis(), |api| &self.inner.apis[api].name)
    }

    /// The intent of a flow, and the text of its steps.
    #[pyo3(signature = (id, /))]
    fn flow<'py>(&self, py: Python<'py>, id: &str) -> PyResult<Bound<'py, PyAny>> {
        let flow = self.inner.flow(id).ok_or_else(|| errors::unknown("flow", id, self.flows())).raise(py)?;
        let flow = &self.inner.flows[flow];
        let steps = PyTuple::new(py, ids(&flow.steps, |step| &self.inner.steps[step].text))?;
        value(py, "Flow", (&flow.id, &flow.intent, steps))
    }

    /// Warnings for the author of the file.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        BORDER.warnings(py, &self.inner.warnings)
    }

    /// A walk along the plans, after the prelude.
    ///
    /// `level` is what plans keep: 2 names of APIs, 3 also bounds on calls, 4 also data, 5 also the APIs of one flow, 6
    /// also its steps. `api_order` within a step is "any" or "declared". `flow` is the only flow; `intents` the number
    /// of flows that one plan serves.
    #[pyo3(signature = (*, level=6, api_order="any", flow=None, intents=1))]
    fn walk(
        &self,
        py: Python<'_>,
        level: u8,
        api_order: &str,
        flow: Option<String>,
        intents: usize,
    ) -> PyResult<FlowWalk> {
        let rules = Rules { level, api_order: api_order.to_owned(), flow, intents };
        let state = detach(py, || State::new(&self.inner, &rules, &self.limits)).raise(py)?;
        Ok(FlowWalk(Mutex::new(state)))
    }

    /// Judges a conversation by its calls after the prelude: names, with `=outcome` for an API with outcomes. The
    /// keywords are those of `walk`.
    #[pyo3(signature = (calls, /, *, level=6, api_order="any", flow=None, intents=1))]
    fn verify<'py>(
        &self,
        py: Python<'py>,
        calls: Vec<String>,
        level: u8,
        api_order: &str,
        flow: Option<String>,
        intents: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let rules = Rules { level, api_order: api_order.to_owned(), flow, intents };
        let (is_valid, wrong, feasible, may_end) = py
            .detach(|| {
                let mut state = State::new(&self.inner, &rules, &self.limits)?;
                for (place, call) in calls.iter().enumerate() {
                    if let Err(open) = state.take(call)? {
                        return Ok((false, Some(place), open, state.may_end()));
                    }
                }
                if state.may_end() {
                    return Ok((true, None, Vec::new(), true));
                }
                let open = state.successors()?.iter().map(|one| state.text(one.label)).collect();
                Ok((false, Some(calls.len()), open, false))
            })
            .raise(py)?;
        value(py, "FlowVerdict", (is_valid, wrong, PyTuple::new(py, feasible)?, may_end))
    }

    fn __repr__(&self) -> String {
        format!("<grammata_agents.FlowDomain {:?}>", self.inner.name)
    }
}

/// A walk along the plans of a domain, from `FlowDomain.walk`. Calls from several threads are serialised.
///
/// >>> import grammata_agents
/// >>> walk = grammata_agents.FlowDomain.from_file("grammars/flows/trip-booking.toml").walk(flow="book_flight")
/// >>> walk.take(walk.open()[0].call)
/// >>> len(walk.calls)
/// 1
#[pyclass(frozen, module = "grammata_agents")]
pub(crate) struct FlowWalk(Mutex<State>);

impl FlowWalk {
    /// Runs `work` without the interpreter's lock.
    fn run<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut State) -> R + Send) -> R {
        detach(py, || work(&mut lock(&self.0)))
    }
}

#[pymethods]
impl FlowWalk {
    /// The calls so far after the prelude.
    #[getter]
    fn calls(&self, py: Python<'_>) -> Vec<String> {
        self.run(py, |state| state.path.iter().map(|(call, _)| state.text(*call)).collect())
    }

    /// The calls that may come next. `arguments` has, for each available datum that the API takes, its sources: earlier
    /// calls, or "given". `ahead` describes the plans after the call.
    fn open<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        type Open = (FeasibleCall, String, Vec<(String, Vec<String>)>);
        let (domain, open) = self
            .run(py, |state| -> Result<(Arc<Inner>, Vec<Open>)> {
                let at = state.state();
                let found =
                    state.bound.with_dependent_mut(|_, automaton| FlowLookahead::new(automaton).at(at))?;
                let open = found.feasible.into_iter().map(|one| {
                    let (text, sources) = (state.text(one.call), state.sources(one.call.api));
                    (one, text, sources)
                });
                Ok((Arc::clone(state.bound.borrow_owner()), open.collect()))
            })
            .raise(py)?;
        open.into_iter()
            .map(|(one, text, sources)| {
                let api = &domain.apis[one.call.api];
                let outcome = one.call.outcome.and_then(|outcome| api.outcomes.get(outcome));
                let arguments = PyDict::new(py);
                for (datum, of) in sources {
                    arguments.set_item(datum, PyTuple::new(py, of)?)?;
                }
                let fields = (
                    text,
                    &api.name,
                    outcome.map(|outcome| outcome.name.as_str()),
                    &api.description,
                    arguments,
                    PyTuple::new(py, ids(&one.steps, |step| &domain.steps[step].id))?,
                    PyTuple::new(py, ids(&one.flows, |flow| &domain.flows[flow].id))?,
                    ahead(py, &one.ahead)?,
                );
                value(py, "OpenCall", fields)
            })
            .collect()
    }

    /// The plans from here on.
    fn ahead<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let found = self.run(py, |state| {
            let at = state.state();
            state.bound.with_dependent_mut(|_, automaton| FlowLookahead::new(automaton).ahead(at))
        });
        ahead(py, &found.raise(py)?)
    }

    /// The names of the APIs with which every plan continues, up to the next choice or the end.
    fn forced(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.run(py, |state| {
            let at = state.state();
            let forced =
                state.bound.with_dependent_mut(|_, automaton| FlowLookahead::new(automaton).forced(at))?;
            Ok(forced.into_iter().map(|api| state.domain().apis[api].name.clone()).collect())
        })
        .raise(py)
    }

    /// The flows that are still possible.
    fn flows(&self, py: Python<'_>) -> Vec<String> {
        self.run(py, |state| {
            let at = state.state();
            let flows = state.bound.with_dependent(|_, automaton| automaton.flows(at));
            flows.into_iter().map(|flow| state.domain().flows[flow].id.clone()).collect()
        })
    }

    /// Appends a call: its name, with `=outcome` for an API with outcomes. A call that is not allowed raises
    /// `RejectedError` and changes nothing.
    #[pyo3(signature = (call, /))]
    fn take(&self, py: Python<'_>, call: &str) -> PyResult<()> {
        self.run(py, |state| match state.take(call)? {
            Ok(_) => Ok(()),
            Err(open) => Err(errors::rejected(
                "flow/call-not-allowed",
                "the call may not come now",
                call,
                &open.join(", "),
                "take one of the calls that may come",
            )),
        })
        .raise(py)
    }

    /// Removes the last `calls` calls, or all if there are fewer. Returns the number of removed calls.
    #[pyo3(signature = (calls=1, /))]
    fn back(&self, py: Python<'_>, calls: usize) -> usize {
        self.run(py, |state| (0..calls).take_while(|_| state.path.pop().is_some()).count())
    }

    /// Whether the plan may end here.
    fn may_end(&self, py: Python<'_>) -> bool {
        self.run(py, |state| state.may_end())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("<grammata_agents.FlowWalk of {} calls>", self.run(py, |state| state.path.len()))
    }
}
