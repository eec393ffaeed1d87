//! Policies of plans implemented by Python objects.

use crate::border::{exception, value};
use crate::errors;
use grammata::{Error, Result};
use grammata_agents::plan::policy::{Answer, Needs, Policy};
use grammata_agents::plan::{Completable, Question};
use grammata_python_border::ending;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// A callable, or an object with `choose` and optionally `scores`.
pub(crate) struct PythonPolicy {
    policy: Py<PyAny>,
    needs: Needs,
    /// The exception that the policy raised, which ends the search.
    raised: Option<PyErr>,
}

impl PythonPolicy {
    pub(crate) fn new(policy: &Bound<'_, PyAny>, lookahead: bool) -> PythonPolicy {
        let needs = Needs { lookahead, ..Needs::default() };
        PythonPolicy { policy: policy.clone().unbind(), needs, raised: None }
    }

    /// The exception that the policy raised, or the exception of the error that ended the search.
    pub(crate) fn failure(self, py: Python<'_>, error: &Error) -> PyErr {
        self.raised.unwrap_or_else(|| exception(py, error))
    }

    /// Runs `ask` with the interpreter's lock, and keeps the exception if it raises one.
    fn ask<R>(&mut self, ask: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<Result<R>>) -> Result<R> {
        let answer = ending::attach(|py| ask(self.policy.bind(py)));
        answer.unwrap_or_else(|raised| {
            self.raised = Some(raised);
            Err(errors::callback())
        })
    }
}

/// Whether a choice leads to a finished plan, if it is known.
pub(crate) fn is_completable(completable: Option<Completable>) -> Option<bool> {
    match completable {
        Some(Completable::Yes) => Some(true),
        Some(Completable::No) => Some(false),
        Some(Completable::Unknown) | None => None,
    }
}

/// A `grammata_agents.Question`.
fn object<'py>(py: Python<'py>, question: &Question) -> PyResult<Bound<'py, PyAny>> {
    let choices = question.choices.iter().map(|choice| {
        let completable = is_completable(choice.completable);
        let is_end = choice.successor.is_none();
        value(py, "Choice", (&choice.label, choice.cost, is_end, completable, choice.steps_left))
    });
    let choices = PyTuple::new(py, choices.collect::<PyResult<Vec<_>>>()?)?;
    value(py, "Question", (&question.text, choices, question.set))
}

/// The forms of a policy's answer: a place, a label, or the places of a set.
#[derive(FromPyObject)]
enum Given {
    Place(usize),
    Label(String),
    Places(Vec<usize>),
}

fn answer(question: &Question, answered: &Bound<'_, PyAny>) -> Result<Answer> {
    let count = question.choices.len();
    let found = || answered.repr().map(|text| text.to_string()).unwrap_or_default();
    let places = match answered.extract::<Given>() {
        Ok(Given::Place(place)) => vec![place],
        Ok(Given::Label(label)) => {
            let place = question.choices.iter().position(|choice| choice.label == label);
            vec![place.ok_or_else(|| errors::answer(&found(), count))?]
        }
        Ok(Given::Places(mut places)) => {
            places.sort_unstable();
            places
        }
        Err(_) => return Err(errors::answer(&found(), count)),
    };
    match places.iter().all(|&place| place < count) {
        true => Ok(Answer::set(places)),
        false => Err(errors::answer(&found(), count)),
    }
}

impl Policy for PythonPolicy {
    fn choose(&mut self, question: &Question) -> Result<Answer> {
        self.ask(|policy| {
            let asked = object(policy.py(), question)?;
            let answered = match policy.getattr_opt("choose")? {
                Some(choose) => choose.call1((asked,))?,
                None => policy.call1((asked,))?,
            };
            Ok(answer(question, &answered))
        })
    }

    fn scores(&mut self, question: &Question) -> Result<Vec<f64>> {
        self.ask(|policy| {
            let scores = policy.getattr("scores")?.call1((object(policy.py(), question)?,))?;
            Ok(Ok(scores.extract()?))
        })
    }

    fn needs(&self) -> Needs {
        self.needs
    }
}
