//! The Python class `Session`: a conversation under a procedure.

use crate::border::{BORDER, Raise, lock, value};
use crate::definitions::{definition, names};
use crate::errors;
use crate::obstacles::{Refusal, is_value, parameters, wrong_argument};
use crate::procedures::{Supervised, kind};
use grammata::{Limits, Result};
use grammata_agents::procedures::{
    Argument, Arguments, Event, Mode, NodeKind, Obstacle, Origin, Procedure, Session as Inner, Status,
    Values, follow,
};
use grammata_python_border::forking::detach;
use grammata_python_border::from_json;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use self_cell::self_cell;
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex};

/// Maximum bytes of all messages of the user. The bound is needed because arguments may quote any sequence of their
/// words.
const MOST_HEARD: usize = 20_000;
/// The name of the tool with which a model gives an answer, and its name if the procedure has a node of the first name.
const SAY: [&str; 2] = ["say", "say_answer"];

self_cell!(
    struct Held {
        owner: Arc<Supervised>,
        #[covariant]
        dependent: Inner,
    }
);

/// The state of a conversation.
pub(crate) struct State {
    held: Held,
    log: Vec<Value>,
    /// The API whose result must follow; `None` if no call waits for a result.
    waiting: Option<usize>,
}

/// A conversation under a procedure: the open steps, and why the others are not open. A refused step changes nothing.
/// Calls from several threads are serialised.
///
/// >>> import grammata_agents
/// >>> procedure = grammata_agents.Procedure(
/// ...     "{Name: bus, SLOTs: [{name: line, schema: {enum: [7, 9]}}], APIs: [{name: find, response: [line]}], "
/// ...     "ANSWERs: [{name: found, desc: Take $line., precondition: [find]}], "
/// ...     "Procedure: '[line] = API.find()\n\nANSWER.found()'}")
/// >>> session = procedure.session()
/// >>> session.call("find", {})
/// >>> session.result({"line": 7})
/// >>> session.open()[0].text
/// 'Take 7.'
/// >>> session.say("found")
/// >>> session.is_complete, session.log
/// (True, [['call', 'find', {}], ['result', {'line': 7}], ['say', 'found', 'Take 7.']])
#[pyclass(frozen, module = "grammata_agents")]
pub(crate) struct Session {
    pub(crate) state: Mutex<State>,
    limits: Limits,
}

impl State {
    fn session(&self) -> &Inner<'_> {
        self.held.borrow_dependent()
    }

    fn change<R>(&mut self, work: impl FnOnce(&mut Inner<'_>) -> R) -> R {
        self.held.with_dependent_mut(|_, session| work(session))
    }

    /// Checks that the messages of the user, together with `text`, have at most [`MOST_HEARD`] bytes.
    fn check_heard(&self, text: &str) -> Result<()> {
        let heard: usize = self.session().heard().iter().map(String::len).sum();
        match heard.saturating_add(text.len()) {
            bytes if bytes > MOST_HEARD => Err(errors::heard(bytes, MOST_HEARD)),
            _ => Ok(()),
        }
    }

    /// Replays events that are known to comply with the procedure.
    ///
    /// # Errors
    /// `procedure/heard`.
    pub(crate) fn follow(&mut self, events: &[Event]) -> Result<()> {
        for event in events {
            if let Event::User(text) = event {
                self.check_heard(text)?;
            }
            self.change(|session| follow(session, event));
            match event {
                Event::Call(name, _) => self.waiting = self.procedure().node(name),
                Event::Result(_) => self.waiting = None,
                _ => {}
            }
            self.log.push(written(event));
        }
        Ok(())
    }

    fn procedure(&self) -> &Procedure {
        self.held.borrow_owner().borrow_owner()
    }

    /// The node with a name, or with the form of its name that chat servers accept.
    fn node(&self, name: &str) -> Option<usize> {
        let procedure = self.procedure();
        procedure.node(name).or_else(|| {
            names(procedure.nodes().iter().map(|node| node.name.as_str()))
                .iter()
                .position(|known| known == name)
        })
    }

    /// The name of the tool with which a model gives an answer.
    fn say_tool(&self) -> &'static str {
        if self.node(SAY[0]).is_none() { SAY[0] } else { SAY[1] }
    }

    fn is_api(&self, node: usize) -> bool {
        self.procedure().nodes().get(node).is_some_and(|node| node.kind == NodeKind::Api)
    }

    /// The open nodes; calls have their arguments, and are left out if they cannot have any.
    fn open(&self) -> Vec<(usize, Option<Arguments>)> {
        let session = self.session();
        let arguments = |node: usize| match self.is_api(node) {
            true => session.arguments(node).ok().map(Some),
            false => Some(None),
        };
        session.open().into_iter().filter_map(|node| Some((node, arguments(node)?))).collect()
    }

    fn call(&mut self, name: &str, mut given: Values, limits: &Limits) -> Result<Option<Refusal>> {
        if let Some(waiting) = self.waiting {
            return Err(errors::waiting(&self.procedure().nodes()[waiting].name));
        }
        let Some(api) = self.node(name).filter(|&node| self.is_api(node)) else {
            return Ok(Some(Refusal::Obstacle(Obstacle::Unknown)));
        };
        let declared = &self.procedure().nodes()[api];
        // servers with strict schemas make models write null for a value that is left out
        given.retain(|slot, value| !(value.is_null() && declared.optional.contains(slot)));
        if let Some(obstacle) = self.session().obstacle(api, Some(&given)) {
            return Ok(Some(Refusal::Obstacle(obstacle)));
        }
        let known = match self.session().arguments(api) {
            Ok(known) => known,
            Err(obstacle) => return Ok(Some(Refusal::Obstacle(obstacle))),
        };
        let name = declared.name.clone();
        if let Some(refusal) = wrong_argument(&name, &known, &given, limits)? {
            return Ok(Some(refusal));
        }
        let event = json!(["call", name, given]);
        if let Some(obstacle) = self.change(|session| session.call(api, given, true)) {
            return Ok(Some(Refusal::Obstacle(obstacle)));
        }
        self.log.push(event);
        self.waiting = Some(api);
        Ok(None)
    }

    fn result(&mut self, given: Value) -> Result<()> {
        let Some(api) = self.waiting else { return Err(errors::no_call()) };
        let response = &self.procedure().nodes()[api].response;
        let result = match (given, response.as_slice()) {
            (Value::Object(result), _) => result,
            (value, [slot]) => Map::from_iter([(slot.clone(), value)]),
            _ => return Err(errors::object("the result of an API with several slots")),
        };
        if let Some((found, allowed)) = self.session().foreign(api, &result) {
            return Err(errors::rejected(
                "procedure/foreign-result",
                "the procedure cannot follow the result",
                &found,
                &allowed,
                "the call still waits: give a result that the procedure knows, or `{\"error\": TEXT}`",
            ));
        }
        self.change(|session| session.result(&result));
        self.waiting = None;
        self.log.push(json!(["result", result]));
        Ok(())
    }

    fn say(&mut self, name: &str, text: Option<String>, asks: &[String]) -> Result<Option<Refusal>> {
        if let Some(waiting) = self.waiting {
            return Err(errors::waiting(&self.procedure().nodes()[waiting].name));
        }
        let Some(node) = self.node(name).filter(|&node| !self.is_api(node)) else {
            return Ok(Some(Refusal::Obstacle(Obstacle::Unknown)));
        };
        if let Some(obstacle) = self.session().obstacle(node, None) {
            return Ok(Some(Refusal::Obstacle(obstacle)));
        }
        let text = text.unwrap_or_else(|| self.session().fill(node).0);
        let name = self.procedure().nodes()[node].name.clone();
        self.log.push(match asks {
            [] => json!(["say", name, text]),
            asks => json!(["say", name, text, asks]),
        });
        Ok(self.change(|session| session.say_text(node, &text, asks)).map(Refusal::Obstacle))
    }

    /// The slots that the user may decide now: those of answers that were given and not taken back since.
    fn decisions(&self) -> Vec<&str> {
        let (procedure, session) = (self.procedure(), self.session());
        let mut slots: Vec<&str> = Vec::new();
        for node in (0..procedure.nodes().len()).filter(|&node| session.status(node) == Status::Ok) {
            for slot in procedure.decisions(node).iter().filter(|_| !self.is_api(node)) {
                if !slots.contains(&slot.as_str()) {
                    slots.push(slot);
                }
            }
        }
        slots
    }

    fn decide(&mut self, slot: &str, value: &Value, limits: &Limits) -> Result<()> {
        let open = self.decisions();
        if !open.contains(&slot) {
            return Err(errors::rejected(
                "procedure/decision",
                "this is not for the user to decide now",
                slot,
                &if open.is_empty() { "nothing".to_owned() } else { open.join(", ") },
                "the user decides a slot after the answer that asks for it was said",
            ));
        }
        let schema = self.procedure().slot(slot).and_then(|slot| slot.schema.clone());
        let schema = schema.unwrap_or(Value::Bool(true));
        let argument = Argument {
            slot: slot.to_owned(),
            schema: schema.clone(),
            origin: Origin::Schema,
            is_required: true,
        };
        if !is_value(slot, &argument, value, limits)? {
            return Err(errors::rejected(
                "procedure/decision",
                "the value is not of the schema of its slot",
                &value.to_string(),
                &schema.to_string(),
                "give a value of the schema",
            ));
        }
        self.change(|session| session.decide(slot, value));
        self.log.push(json!(["slot", slot, value]));
        Ok(())
    }

    fn tools(&self, with_answers: bool) -> Value {
        let (session, nodes) = (self.session(), self.procedure().nodes());
        let open = self.open();
        let sent = names(nodes.iter().map(|node| node.name.as_str()));
        let (mut tools, mut answers) = (Vec::new(), Vec::new());
        for (node, arguments) in open {
            match arguments {
                Some(known) => {
                    tools.push(definition(
                        &sent[node],
                        &nodes[node].description,
                        parameters(session, &known),
                    ));
                }
                None => answers.push(node),
            }
        }
        if with_answers && !answers.is_empty() {
            let line = |&node: &usize| match session.fill(node).0 {
                text if text.is_empty() => format!("\n- {}", nodes[node].name),
                text => format!("\n- {}: {text}", nodes[node].name),
            };
            let lines: String = answers.iter().map(line).collect();
            let names: Vec<&str> = answers.iter().map(|&node| nodes[node].name.as_str()).collect();
            let parameters = json!({
                "type": "object",
                "properties": { "answer": { "type": "string", "enum": names }, "text": { "type": "string" } },
                "required": ["answer"],
                "additionalProperties": false,
            });
            tools.push(definition(
                self.say_tool(),
                &format!("Tell the user one of these answers:{lines}"),
                parameters,
            ));
        }
        Value::Array(tools)
    }
}

/// Writes an event as in traces.
fn written(event: &Event) -> Value {
    match event {
        Event::Call(name, arguments) => json!(["call", name, arguments]),
        Event::Result(result) => json!(["result", result]),
        Event::Say { answer, text, asks } if asks.is_empty() => json!(["say", answer, text]),
        Event::Say { answer, text, asks } => json!(["say", answer, text, asks]),
        Event::Free => json!(["free", ""]),
        Event::Decide(slot, value) => json!(["slot", slot, value]),
        Event::User(text) => json!(["user", text]),
        Event::Guide => json!(["guide", ""]),
    }
}

impl Session {
    pub(crate) fn new(rules: Arc<Supervised>, mode: Mode, limits: Limits) -> Session {
        let held = Held::new(rules, |rules| match rules.borrow_dependent() {
            Some(supervisor) => Inner::supervised(supervisor),
            None => Inner::new(rules.borrow_owner(), mode),
        });
        Session { state: Mutex::new(State { held, log: Vec::new(), waiting: None }), limits }
    }

    /// Runs `work` without the interpreter's lock.
    fn run<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut State) -> R + Send) -> R {
        detach(py, || work(&mut lock(&self.state)))
    }

    fn object(given: Option<&Bound<'_, PyAny>>) -> PyResult<Values> {
        let Some(given) = given else { return Ok(Map::new()) };
        match BORDER.json("the arguments", given)? {
            Value::Object(object) => Ok(object),
            _ => Err(errors::object("the arguments of a call")).raise(given.py()),
        }
    }
}

fn refused<'py>(py: Python<'py>, refusal: Result<Option<Refusal>>) -> PyResult<Option<Bound<'py, PyAny>>> {
    refusal.raise(py)?.map(|refusal| refusal.object(py)).transpose()
}

#[pymethods]
impl Session {
    /// The calls and answers that may come next. `arguments` is the JSON Schema of the arguments that a call may have
    /// now, `text` the text of an answer with its values filled in.
    fn open<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let open = self.run(py, |state| {
            let (session, procedure) = (state.session(), state.procedure());
            let fields = |(node, arguments): (usize, Option<Arguments>)| {
                let arguments = arguments.map(|known| parameters(session, &known));
                let decides = procedure.decisions(node).to_vec();
                (
                    procedure.nodes()[node].clone(),
                    arguments,
                    session.fill(node).0,
                    decides,
                    procedure.is_closing(node),
                )
            };
            state.open().into_iter().map(fields).collect::<Vec<_>>()
        });
        open.into_iter()
            .map(|(node, arguments, text, decides, is_closing)| {
                let arguments = arguments.map(|arguments| from_json(py, &arguments)).transpose()?;
                let (asks, decides) = (PyTuple::new(py, node.asks)?, PyTuple::new(py, decides)?);
                let fields = (
                    node.name,
                    kind(node.kind),
                    node.description,
                    arguments,
                    text,
                    asks,
                    decides,
                    node.writes,
                    is_closing,
                );
                value(py, "OpenNode", fields)
            })
            .collect()
    }

    /// Why each of the other calls and answers is not open, by name.
    fn blocked<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let blocked = self.run(py, |state| {
            let nodes = state.procedure().nodes().iter().enumerate();
            let blocked = nodes
                .filter_map(|(index, node)| Some((node.name.clone(), Refusal::of(state.session(), index)?)));
            blocked.collect::<Vec<_>>()
        });
        let obstacles = PyDict::new(py);
        for (name, refusal) in blocked {
            obstacles.set_item(name, refusal.object(py)?)?;
        }
        Ok(obstacles)
    }

    /// The open calls as the `tools` of a chat completion; with `answers` also a tool `say` for the open answers.
    #[pyo3(signature = (*, answers=false))]
    fn tools<'py>(&self, py: Python<'py>, answers: bool) -> PyResult<Bound<'py, PyAny>> {
        from_json(py, &self.run(py, |state| state.tools(answers)))
    }

    /// Records a message of the user, which begins a turn. Arguments may quote it. All messages together may have
    /// 20,000 bytes.
    #[pyo3(signature = (text, /))]
    fn hear(&self, py: Python<'_>, text: String) -> PyResult<()> {
        self.run(py, |state| {
            state.check_heard(&text)?;
            state.log.push(json!(["user", text]));
            state.change(|session| session.hear(text));
            Ok(())
        })
        .raise(py)
    }

    /// Records a call of an API; its `result` must follow. Returns None, or why the call is not allowed; the session is
    /// then unchanged.
    #[pyo3(signature = (name, arguments=None, /))]
    fn call<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        arguments: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let given = Session::object(arguments)?;
        refused(py, self.run(py, |state| state.call(name, given, &self.limits)))
    }

    /// Records the result of the waiting call: a dict of slots, or the value of the only slot of the response. A result
    /// with `error` means that the call failed.
    #[pyo3(signature = (result, /))]
    fn result(&self, result: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = result.py();
        let given = BORDER.json("the result", result)?;
        self.run(py, |state| state.result(given)).raise(py)
    }

    /// Records an answer, by default with the procedure's text. `asks` are the slots that it asks for. Returns None, or
    /// why the answer is not allowed; the session is then unchanged.
    #[pyo3(signature = (name, /, *, text=None, asks=None))]
    fn say<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        text: Option<String>,
        asks: Option<Vec<String>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        refused(py, self.run(py, |state| state.say(name, text, &asks.unwrap_or_default())))
    }

    /// Records a call of one of `tools()`, like `call` for an API and like `say` for an answer.
    #[pyo3(signature = (name, arguments=None, /))]
    fn offer<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        arguments: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let given = Session::object(arguments)?;
        let refusal = self.run(py, |state| {
            let text = |name: &str| given.get(name).and_then(Value::as_str).map(str::to_owned);
            match state.node(name) {
                Some(node) if !state.is_api(node) => state.say(name, text("text"), &[]),
                None if name == state.say_tool() => {
                    state.say(&text("answer").unwrap_or_default(), text("text"), &[])
                }
                _ => state.call(name, given, &self.limits),
            }
        });
        refused(py, refusal)
    }

    /// Records a text of the agent that is not an answer of the procedure.
    #[pyo3(signature = (text="", /))]
    fn free(&self, py: Python<'_>, text: &str) {
        self.run(py, |state| {
            state.log.push(json!(["free", text]));
            state.change(|session| session.free());
        });
    }

    /// The slots that the user may decide now.
    fn decisions(&self, py: Python<'_>) -> Vec<String> {
        self.run(py, |state| state.decisions().into_iter().map(str::to_owned).collect())
    }

    /// Records the user's decision of a slot for which an answer asked.
    #[pyo3(signature = (slot, value, /))]
    fn decide(&self, slot: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = value.py();
        let value = BORDER.json("the value", value)?;
        self.run(py, |state| state.decide(slot, &value, &self.limits)).raise(py)
    }

    /// Records that the user drops the request. Calls with an effect are no longer allowed.
    fn cancel(&self, py: Python<'_>) {
        self.run(py, |state| state.change(|session| session.cancel()));
    }

    /// Lines for a prompt: the open steps, and why the others are not open.
    fn feedback(&self, py: Python<'_>) -> String {
        self.run(py, |state| state.session().feedback())
    }

    /// The API whose result must follow; None if no call waits for a result.
    #[getter]
    fn waiting(&self, py: Python<'_>) -> Option<String> {
        self.run(py, |state| Some(state.procedure().nodes()[state.waiting?].name.clone()))
    }

    /// The latest value of each slot, from calls, results and decisions.
    #[getter]
    fn known<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        from_json(py, &Value::Object(self.run(py, |state| state.session().known().clone())))
    }

    /// The events so far, as a trace that `Procedure.verify` and `grammata procedure verify` read.
    #[getter]
    fn log<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        from_json(py, &Value::Array(self.run(py, |state| state.log.clone())))
    }

    /// Whether a closing answer was given.
    #[getter]
    fn is_complete(&self, py: Python<'_>) -> bool {
        self.run(py, |state| state.session().is_complete())
    }

    /// Whether the conversation should end: too many turns brought neither news from the user nor a closing answer
    /// nearer.
    #[getter]
    fn is_stalled(&self, py: Python<'_>) -> bool {
        self.run(py, |state| state.session().is_stalled())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (name, events) = self.run(py, |state| (state.procedure().name().to_owned(), state.log.len()));
        format!("<grammata_agents.Session of {name:?} after {events} events>")
    }
}
