//! The Python class `Procedure`: workflows in PDL.

use crate::border::{BORDER, Raise, exception, lock, value};
use crate::errors;
use crate::obstacles::Refusal;
use crate::session::Session;
use grammata::diagnostic::{Diagnostic, Notation, Source};
use grammata::{Error, Limits, Result};
use grammata_agents::procedures::{
    self, Event, Format, Mode, NodeKind, Procedure as Inner, Supervisor, Verdict, check, read_trace,
};
use grammata_python_border::choice;
use grammata_python_border::forking::detach;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use self_cell::self_cell;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;

/// The supervisor of a procedure, which keeps sessions where the end can always be reached; `None` if results or
/// decisions can block the procedure.
pub(crate) type Rules<'p> = Option<Supervisor<'p>>;

self_cell!(
    /// A procedure with its supervisor.
    pub(crate) struct Supervised {
        owner: Inner,
        #[covariant]
        dependent: Rules,
    }
);

/// A procedure: a workflow that an agent follows with a user. Sessions follow a conversation; traces are judged.
///
/// `mode` is how much of the procedure binds the agent: "graph" (preconditions), "guarded" (also the conditions around
/// calls) or "strict" (the control flow). Without `hears_user`, arguments may be values that nobody said, except those
/// that come from results. A procedure is supervised if the end can always be reached: nothing is then open that could
/// lead to a dead end.
///
/// >>> import grammata_agents
/// >>> procedure = grammata_agents.Procedure(
/// ...     "{Name: bus, APIs: [{name: find, response: [line]}], "
/// ...     "ANSWERs: [{name: found, desc: Take $line., precondition: [find]}], "
/// ...     "Procedure: '[line] = API.find()\n\nANSWER.found()'}")
/// >>> session = procedure.session()
/// >>> [node.name for node in session.open()]
/// ['find']
/// >>> session.say("found").text
/// '`find` must come before'
#[pyclass(frozen, module = "grammata_agents")]
pub(crate) struct Procedure {
    bound: Arc<Supervised>,
    mode: Mode,
    warnings: Vec<Diagnostic>,
    limits: Limits,
}

/// Reads a procedure with all static checks. Errors of the file are raised together.
fn read(text: &str, format: Format, limits: &Limits) -> Result<(Inner, Vec<Diagnostic>)> {
    let report = check(text, format, limits)?;
    let mut diagnostics: Vec<_> = report.findings.into_iter().collect();
    let source = Source::new(text, Notation::Text);
    source.locate(diagnostics.iter_mut().map(|finding| &mut finding.diagnostic));
    match report.procedure {
        Some(procedure) => {
            Ok((procedure, diagnostics.into_iter().map(|finding| finding.diagnostic).collect()))
        }
        None => Inner::read(text, format, limits)
            .map(|procedure| (procedure, Vec::new()))
            .map_err(|error| error.in_source(&source)),
    }
}

fn mode(name: &str) -> Result<Mode> {
    match name {
        "graph" => Ok(Mode::Graph),
        "guarded" => Ok(Mode::Guarded),
        "strict" => Ok(Mode::Strict),
        _ => Err(choice("mode", name, "graph, guarded, strict")),
    }
}

pub(crate) fn kind(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Api => "api",
        NodeKind::Inform => "inform",
        NodeKind::Request => "request",
        NodeKind::Courtesy => "courtesy",
        NodeKind::OutOfWorkflow => "out_of_workflow",
    }
}

impl Procedure {
    fn made(text: &str, format: Format, mode: Mode, hears_user: bool, limits: Limits) -> Result<Procedure> {
        let (mut procedure, warnings) = read(text, format, &limits)?;
        if !hears_user {
            procedure.open_sources();
        }
        let bound = Supervised::try_new(procedure, |procedure| -> Result<Rules<'_>> {
            let supervisor = Supervisor::new(procedure, mode, &limits)?;
            Ok(Some(supervisor).filter(|supervisor| !supervisor.is_blocking()))
        })?;
        Ok(Procedure { bound: Arc::new(bound), mode, warnings, limits })
    }

    fn inner(&self) -> &Inner {
        self.bound.borrow_owner()
    }

    /// Reads the events of a trace: a text with a JSON list on each line, or a sequence of such lists.
    fn events(&self, trace: &Bound<'_, PyAny>) -> PyResult<Vec<Event>> {
        let py = trace.py();
        let text = match trace.extract::<String>() {
            Ok(text) => text,
            Err(_) => match BORDER.json("the trace", trace)? {
                Value::Array(events) => events.iter().map(Value::to_string).collect::<Vec<_>>().join("\n"),
                other => other.to_string(),
            },
        };
        detach(py, || read_trace(&text, &self.limits)).raise(py)
    }

    fn judged(&self, events: &[Event], judge_arguments: bool) -> Verdict {
        procedures::verify(self.inner(), self.mode, events, judge_arguments).0
    }
}

#[pymethods]
impl Procedure {
    #[new]
    #[pyo3(signature = (text, *, mode="guarded", format="yaml", hears_user=true, limits=None))]
    fn new(
        py: Python<'_>,
        text: &str,
        mode: &str,
        format: &str,
        hears_user: bool,
        limits: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Procedure> {
        let limits = BORDER.limits(limits)?;
        detach(py, || {
            let format = match format {
                "yaml" => Format::Yaml,
                "toml" => Format::Toml,
                _ => return Err(choice("format", format, "yaml, toml")),
            };
            Procedure::made(text, format, self::mode(mode)?, hears_user, limits)
        })
        .raise(py)
    }

    /// Reads a file: TOML if its name ends in `.toml`, otherwise YAML or JSON.
    #[staticmethod]
    #[pyo3(signature = (path, /, *, mode="guarded", hears_user=true, limits=None))]
    fn from_file(
        py: Python<'_>,
        path: PathBuf,
        mode: &str,
        hears_user: bool,
        limits: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Procedure> {
        let limits = BORDER.limits(limits)?;
        let is_toml = path.extension().is_some_and(|extension| extension == "toml");
        detach(py, || {
            let text = crate::border::file(&path, &limits)?;
            let format = if is_toml { Format::Toml } else { Format::Yaml };
            Procedure::made(&text, format, self::mode(mode)?, hears_user, limits)
                .map_err(|error: Error| error.in_file(&path.display().to_string()))
        })
        .raise(py)
    }

    /// The name of the procedure.
    #[getter]
    fn name(&self) -> &str {
        self.inner().name()
    }

    /// The description of the procedure; empty if the file has none.
    #[getter]
    fn description(&self) -> &str {
        self.inner().description()
    }

    /// Whether the end can always be reached, so that sessions offer nothing that could lead to a dead end.
    #[getter]
    fn is_supervised(&self) -> bool {
        self.bound.borrow_dependent().is_some()
    }

    /// The findings of the static checks that are not errors.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        BORDER.warnings(py, &self.warnings)
    }

    /// The names of the APIs.
    #[getter]
    fn apis(&self) -> Vec<&str> {
        let apis = self.inner().nodes().iter().filter(|node| node.kind == NodeKind::Api);
        apis.map(|node| node.name.as_str()).collect()
    }

    /// The names of the answers.
    #[getter]
    fn answers(&self) -> Vec<&str> {
        let answers = self.inner().nodes().iter().filter(|node| node.kind != NodeKind::Api);
        answers.map(|node| node.name.as_str()).collect()
    }

    /// Starts a conversation, or continues one after a trace that complies with the procedure.
    #[pyo3(signature = (trace=None, /))]
    fn session(&self, py: Python<'_>, trace: Option<&Bound<'_, PyAny>>) -> PyResult<Session> {
        let events = trace.map_or(Ok(Vec::new()), |trace| self.events(trace))?;
        let wrong = detach(py, || self.judged(&events, true).violations.into_iter().next());
        if let Some(wrong) = wrong {
            let found = format!("event {}: {}: {}", wrong.event + 1, wrong.node, wrong.obstacle);
            let error = errors::rejected(
                "procedure/wrong-trace",
                "the trace breaks the procedure",
                &found,
                "a trace that `verify` finds valid",
                "`verify` lists all events that break it",
            );
            return Err(exception(py, &error));
        }
        let session = Session::new(Arc::clone(&self.bound), self.mode, self.limits.clone());
        detach(py, || lock(&session.state).follow(&events)).raise(py)?;
        Ok(session)
    }

    /// Judges a recorded conversation: a text with a JSON list on each line, or a list of such lists. Each call and
    /// answer is judged by what happened before it, wrong ones included.
    #[pyo3(signature = (trace, /, *, arguments=true))]
    fn verify<'py>(&self, trace: &Bound<'py, PyAny>, arguments: bool) -> PyResult<Bound<'py, PyAny>> {
        let py = trace.py();
        let events = self.events(trace)?;
        let verdict = detach(py, || self.judged(&events, arguments));
        let violations = verdict.violations.into_iter().map(|wrong| {
            let obstacle = Refusal::Obstacle(wrong.obstacle).object(py)?;
            value(py, "Violation", (wrong.event, wrong.node, obstacle))
        });
        let violations = violations.collect::<PyResult<Vec<_>>>()?;
        let violations = PyTuple::new(py, violations)?;
        value(py, "ProcedureVerdict", (violations.is_empty(), verdict.steps, verdict.is_complete, violations))
    }

    fn __repr__(&self) -> String {
        format!("<grammata_agents.Procedure {:?}>", self.inner().name())
    }
}
