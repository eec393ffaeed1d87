//! Shared parts of the tests: procedures, guards, and messages of clients and servers.

use grammata::Limits;
use grammata_agents::procedures::{Format, Mode, Procedure, Session, Supervisor};
use grammata_agents_drive::procedures::Simulation;
use grammata_guard::rules::{ProcedureOptions, ProcedureRules, Rules};
use grammata_guard::{Action, Guard, Line, Options};
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

pub(crate) fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../grammars/procedures")
}

/// Returns the names of the shipped procedures, sorted.
pub(crate) fn names() -> Vec<String> {
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    let mut names: Vec<String> =
        files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

pub(crate) fn procedure(name: &str) -> Procedure {
    let text = std::fs::read_to_string(folder().join(format!("{name}.yaml"))).unwrap();
    Procedure::read(&text, Format::Yaml, &Limits::default()).unwrap()
}

pub(crate) fn simulation(name: &str) -> Simulation {
    let text = std::fs::read_to_string(folder().join(format!("simulations/{name}.json"))).unwrap();
    Simulation::read(&text, &Limits::default()).unwrap()
}

/// Returns the supervisor of a procedure, with the default limits.
pub(crate) fn supervisor(procedure: &Procedure, mode: Mode) -> Supervisor<'_> {
    Supervisor::new(procedure, mode, &Limits::default()).unwrap()
}

/// Returns the rules of a procedure. As in the program, the session is supervised unless the procedure is blocking.
pub(crate) fn rules<'p>(
    procedure: &'p Procedure,
    mode: Mode,
    supervisor: &'p Supervisor<'p>,
    options: ProcedureOptions,
) -> ProcedureRules<'p> {
    let session = match supervisor.is_blocking() {
        true => Session::new(procedure, mode),
        false => Session::supervised(supervisor),
    };
    ProcedureRules::new(session, options).unwrap()
}

pub(crate) fn request(id: impl Into<Value>, method: &str, params: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params }).to_string()
}

pub(crate) fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> String {
    request(id, "tools/call", json!({ "name": tool, "arguments": arguments }))
}

pub(crate) fn notification(method: &str) -> String {
    json!({ "jsonrpc": "2.0", "method": method }).to_string()
}

pub(crate) fn response(id: &Value, result: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string()
}

pub(crate) fn structured(data: &Map<String, Value>) -> Value {
    let text = Value::Object(data.clone()).to_string();
    json!({ "content": [{ "type": "text", "text": text }], "structuredContent": data })
}

/// A guard, and what it has sent so far.
pub(crate) struct Bench<'p> {
    pub(crate) guard: Guard<'p>,
    pub(crate) now: Instant,
    /// What was sent to the client and not taken yet; the same for `server`.
    pub(crate) client: Vec<Value>,
    pub(crate) server: Vec<Value>,
    pub(crate) log: Vec<Value>,
    pub(crate) notes: Vec<String>,
    pub(crate) stopped: Option<grammata::Error>,
}

impl<'p> Bench<'p> {
    pub(crate) fn new(rules: impl Rules + 'p, options: Options) -> Bench<'p> {
        Bench {
            guard: Guard::new(Box::new(rules), options).unwrap(),
            now: Instant::now(),
            client: Vec::new(),
            server: Vec::new(),
            log: Vec::new(),
            notes: Vec::new(),
            stopped: None,
        }
    }

    pub(crate) fn act(&mut self, actions: Vec<Action>) {
        let read = |line: String| -> Value {
            assert!(!line.contains('\n'), "{line}");
            // a message that is passed on may be nested too deeply to be parsed here
            let is_deep = |cause: &serde_json::Error| cause.to_string().starts_with("recursion limit");
            serde_json::from_str(&line).unwrap_or_else(|cause| match is_deep(&cause) {
                true => json!({ "method": "deep" }),
                false => panic!("{cause}: {line}"),
            })
        };
        for action in actions {
            match action {
                Action::Client(line) => self.client.push(read(line)),
                Action::Server(line) => self.server.push(read(line)),
                Action::Log(line) => self.log.push(read(line)),
                Action::Note(note) => self.notes.push(note),
                Action::Stop(error) => self.stopped = Some(error),
            }
        }
    }

    pub(crate) fn client(&mut self, line: impl Into<String>) {
        let actions = self.guard.from_client(Line::Text(line.into()), self.now);
        self.act(actions);
    }

    pub(crate) fn server(&mut self, line: impl Into<String>) {
        let actions = self.guard.from_server(Line::Text(line.into()), self.now);
        self.act(actions);
    }

    /// Removes and returns the messages to the client.
    pub(crate) fn take_for_client(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.client)
    }

    /// Removes and returns the messages to the server.
    pub(crate) fn take_for_server(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.server)
    }

    /// Initializes the session with a server that has `tools`.
    pub(crate) fn begin(&mut self, tools: Value) {
        self.begin_with(json!({}), tools);
    }

    /// Like [`begin`](Bench::begin), with a client of these capabilities.
    pub(crate) fn begin_with(&mut self, capabilities: Value, tools: Value) {
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": capabilities });
        self.client(request(0, "initialize", params));
        let sent = self.take_for_server();
        self.server(response(&sent[0]["id"], json!({ "capabilities": { "tools": {} } })));
        self.client(notification("notifications/initialized"));
        let sent = self.take_for_server();
        self.server(response(&sent[1]["id"], json!({ "tools": tools })));
        self.take_for_client();
    }
}

/// Returns the tools of a server for the APIs of a procedure, with schemas that list the slots and allow any object.
pub(crate) fn tools(procedure: &Procedure) -> Vec<Value> {
    let apis =
        procedure.nodes().iter().filter(|node| node.kind == grammata_agents::procedures::NodeKind::Api);
    let tool = |api: &grammata_agents::procedures::Node| {
        let slots: Map<String, Value> = api.request.iter().map(|slot| (slot.clone(), json!({}))).collect();
        json!({ "name": api.name, "inputSchema": { "type": "object", "properties": slots } })
    };
    apis.map(tool).collect()
}

/// Returns the values that the users of a simulation have for each slot.
pub(crate) fn known(simulation: &Simulation) -> BTreeMap<String, Vec<Value>> {
    let mut known: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for (slot, value) in simulation.users.iter().flat_map(|user| user.slots.clone()) {
        known.entry(slot).or_default().push(value);
    }
    known
}

/// Returns a random value of a schema, and whether the value is certainly allowed. `known` has values of slots.
pub(crate) fn value(
    known: &BTreeMap<String, Vec<Value>>,
    name: &str,
    schema: &Value,
    random: &mut ChaCha8Rng,
) -> (Value, bool) {
    if let Some(value) = schema.get("const") {
        return (value.clone(), true);
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return (values.choose(random).cloned().unwrap_or_default(), true);
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("boolean") => (random.random::<bool>().into(), true),
        Some("integer" | "number") => {
            let least = schema.get("minimum").and_then(Value::as_i64).unwrap_or(0);
            let most = schema.get("maximum").and_then(Value::as_i64).unwrap_or(least + 5);
            (random.random_range(least..=most).into(), true)
        }
        _ => {
            let known = known.get(name).and_then(|known| known.choose(random));
            (known.cloned().unwrap_or_else(|| "Elm".into()), false)
        }
    }
}

/// Returns a log that adds its lines to a text.
pub(crate) fn log_to(text: &mut String) -> impl FnMut(&str) -> Result<(), grammata::Error> {
    |line| {
        text.push_str(line);
        text.push('\n');
        Ok(())
    }
}
