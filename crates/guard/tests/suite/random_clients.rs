//! Random clients and servers, some of them hostile, over all shipped procedures. No call that [`verify`](fn@verify)
//! judges wrong reaches a server, each request has one answer, and listed tools can be called.
//!
//! `GRAMMATA_CLIENTS=10000` sets the number of sessions.

use crate::parts::{self, Bench, call, notification, request, response, structured};
use grammata_agents::procedures::{Event, Mode, Procedure, verify};
use grammata_agents_drive::procedures::SimulatedApis;
use grammata_guard::rules::{Ask, ProcedureOptions};
use grammata_guard::{Line, Options};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

const MODES: [Mode; 3] = [Mode::Guarded, Mode::Graph, Mode::Strict];
const DEADLINE: Duration = Duration::from_secs(5);

/// Lines that are not messages, and messages that must have no effect.
const BROKEN: [&str; 17] = [
    "{",
    "[]",
    "[[]]",
    "null",
    "7",
    "{}",
    "\u{0}",
    r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"price_ride","arguments":{}}}"#,
    r#"{"jsonrpc":"2.0"}"#,
    r#"{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{}}"#,
    r#"{"jsonrpc":"2.0","id":{},"method":"tools/list"}"#,
    r#"{"jsonrpc":"2.0","id":900001,"id":900002,"method":"tools/list"}"#,
    r#"{"jsonrpc":"2.0","id":900003,"method":"ping","method":"tools/call","params":{"name":"register"}}"#,
    r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
    r#"{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"x"}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":2}}"#,
];

#[derive(Default)]
struct Counts {
    calls: usize,
    refused: usize,
    own: usize,
    sure: usize,
    complete: usize,
    times: Vec<Duration>,
}

struct World<'w, 'p> {
    procedure: &'w Procedure,
    mode: Mode,
    bench: Bench<'p>,
    apis: SimulatedApis,
    known: BTreeMap<String, Vec<Value>>,
    random: ChaCha8Rng,
    next: u64,
    /// The ids of the client's requests that are not answered yet.
    waiting: BTreeSet<u64>,
    cancelled: BTreeSet<u64>,
    /// Requests that the server has received and not yet answered.
    asked: Vec<Value>,
    /// The list of tools that the client received last.
    listed: Vec<Value>,
    is_current: bool,
    /// The calls that reached the server: tool and arguments.
    reached: Vec<(String, Value)>,
    /// Whether the answer to a request was an error, by the id of the request.
    answers: BTreeMap<u64, bool>,
    counts: &'w mut Counts,
}

impl World<'_, '_> {
    fn id(&mut self) -> u64 {
        self.next += 1;
        self.waiting.insert(self.next);
        self.next
    }

    /// Sends a line to the guard, and reads what both sides got. Returns the time that the guard took.
    fn client(&mut self, line: Line) -> Duration {
        let start = Instant::now();
        let actions = self.bench.guard.from_client(line, self.bench.now);
        let time = start.elapsed();
        self.bench.act(actions);
        self.read();
        time
    }

    fn read(&mut self) {
        for message in self.bench.take_for_client() {
            if message.get("method").is_some() {
                self.is_current &= message["method"] != "notifications/tools/list_changed";
                // requests of the server are answered at random
                if message.get("id").is_some() && self.random.random() {
                    self.bench.client(response(&message["id"], json!({})));
                }
                continue;
            }
            let Some(id) = message["id"].as_u64().filter(|id| *id < 900_000) else { continue };
            assert!(!self.cancelled.contains(&id), "an answer to what was cancelled: {message}");
            assert!(self.waiting.remove(&id), "two answers, or one to no request: {message}");
            let result = &message["result"];
            self.answers.insert(id, message.get("error").is_some() || result["isError"] == true);
            if let Some(tools) = result.get("tools") {
                self.listed = tools.as_array().unwrap().clone();
                self.is_current = true;
            }
        }
        for message in self.bench.take_for_server() {
            if message["method"] == "tools/call" {
                self.reached.push((
                    message["params"]["name"].as_str().unwrap().to_owned(),
                    message["params"]["arguments"].clone(),
                ));
                self.judge();
            }
            if message.get("id").is_some() && message.get("method").is_some() {
                self.asked.push(message);
            }
        }
    }

    /// Checks that the log, with the call that has just reached the server, breaks no rule and has exactly the calls
    /// that reached the server.
    fn judge(&mut self) {
        let trace: Vec<Event> = self.bench.log.iter().map(|event| Event::of(event).unwrap()).collect();
        let (verdict, _) = verify(self.procedure, self.mode, &trace, true);
        assert!(verdict.violations.is_empty(), "{:?}\n{:#?}", verdict.violations, self.bench.log);
        let logged: Vec<(String, Value)> = (self.bench.log.iter().filter(|event| event[0] == "call"))
            .map(|event| (event[1].as_str().unwrap().to_owned(), event[2].clone()))
            .collect();
        assert_eq!(logged, self.reached);
    }

    fn arguments(&mut self, schema: &Value) -> (Map<String, Value>, bool) {
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let (mut arguments, mut is_sure) = (Map::new(), true);
        for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
            if !required.contains(&name.as_str().into()) && self.random.random() {
                continue;
            }
            let (value, sure) = parts::value(&self.known, name, schema, &mut self.random);
            arguments.insert(name.clone(), value);
            is_sure &= sure;
        }
        (arguments, is_sure)
    }

    /// Calls a tool of the list with arguments of its schema. If the call is certainly allowed, it must reach the
    /// server.
    fn call_listed(&mut self) {
        let Some(tool) = self.listed.choose(&mut self.random).cloned() else { return self.list() };
        let name = tool["name"].as_str().unwrap().to_owned();
        let (arguments, mut is_sure) = self.arguments(&tool["inputSchema"]);
        is_sure &= self.is_current && !self.bench.guard.is_waiting() && !name.starts_with("guard_");
        // a list does not tell whether a call repeats an earlier one
        let repeated = json!(["call", name, arguments]);
        is_sure &= !self.bench.log.contains(&repeated);
        let before = self.reached.len();
        let id = self.id();
        let time = self.client(Line::Text(call(id, &name, arguments.clone().into())));
        self.counts.own += usize::from(name.starts_with("guard_"));
        if self.reached.len() > before {
            self.counts.times.push(time);
        }
        if is_sure {
            self.counts.sure += 1;
            assert_eq!(
                self.reached.len(),
                before + 1,
                "{name} {arguments:?} is listed: {:?}",
                self.bench.log
            );
        }
    }

    /// Calls a random tool, which need not exist, with random arguments.
    fn call_any(&mut self) {
        let nodes = self.procedure.nodes();
        let node = nodes.choose(&mut self.random).unwrap();
        let mut arguments = Map::new();
        for slot in &node.request {
            if self.random.random_bool(0.9) {
                let schema = self.procedure.slot(slot).and_then(|slot| slot.schema.clone());
                let schema = schema.unwrap_or_default();
                let (value, _) = parts::value(&self.known, slot, &schema, &mut self.random);
                arguments.insert(slot.clone(), value);
            }
        }
        let name = ["guard_say", "guard_decide", "guard_user", "other", ""].choose(&mut self.random).unwrap();
        let (name, arguments) = match self.random.random_range(0..4) {
            0 => (
                (*name).to_owned(),
                [json!({ "answer": node.name }), json!({ "agreed": true })][self.random.random_range(0..2)]
                    .clone(),
            ),
            1 => (node.name.clone(), json!({ "hospital_name": [[1]], "x": null })),
            _ => (node.name.clone(), arguments.into()),
        };
        let id = self.id();
        // sometimes the id is that of an open request: the call gets an error, and the request no second answer
        let waiting: Vec<u64> = self.waiting.iter().copied().filter(|other| *other != id).collect();
        if let Some(&other) = waiting.choose(&mut self.random).filter(|_| self.random.random_bool(0.1)) {
            self.waiting.remove(&id);
            let line = call(other, &name, arguments);
            let actions = self.bench.guard.from_client(Line::Text(line), self.bench.now);
            let errors: Vec<Value> = (actions.into_iter())
                .map(|action| match action {
                    grammata_guard::Action::Client(line) => serde_json::from_str(&line).unwrap(),
                    other => panic!("{other:?}"),
                })
                .collect();
            assert_eq!(errors.len(), 1);
            assert_eq!(errors[0]["error"]["code"], -32600, "{errors:?}");
            return;
        }
        let before = self.reached.len();
        self.client(Line::Text(call(id, &name, arguments)));
        self.counts.refused += usize::from(self.reached.len() == before);
    }

    fn list(&mut self) {
        let id = self.id();
        self.client(Line::Text(request(id, "tools/list", json!({}))));
    }

    fn cancel(&mut self) {
        let ids: Vec<u64> = self.waiting.iter().copied().collect();
        // the first request initializes the session, and cannot be cancelled
        let Some(&id) = ids.choose(&mut self.random).filter(|id| **id > 1) else { return };
        self.waiting.remove(&id);
        self.cancelled.insert(id);
        let params = json!({ "requestId": id, "reason": "x" });
        let line = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        self.client(Line::Text(line.to_string()));
    }

    fn broken(&self, random: &mut ChaCha8Rng) -> Line {
        match random.random_range(0..20) {
            0 => Line::TooLong,
            1 => Line::NotUtf8,
            2 => Line::Text("[".repeat(100_000)),
            3 => {
                let deep = "[".repeat(5_000) + &"]".repeat(5_000);
                let params = format!(r#"{{"name":"x","arguments":{{"a":{deep}}}}}"#);
                Line::Text(format!(
                    r#"{{"jsonrpc":"2.0","id":900004,"method":"tools/call","params":{params}}}"#
                ))
            }
            _ => Line::Text((*BROKEN.choose(random).unwrap()).to_owned()),
        }
    }

    /// Lets the server answer one of its requests, or send something unexpected.
    fn serve(&mut self) {
        let now = self.bench.now;
        if self.random.random_bool(0.1) {
            let mut random = ChaCha8Rng::seed_from_u64(self.random.random());
            let line = match random.random_range(0..6) {
                0 => Line::Text(notification("notifications/tools/list_changed")),
                1 => Line::Text(request("s", "sampling/createMessage", json!({}))),
                2 => Line::Text(response(
                    &json!(random.random_range(0..50)),
                    json!({ "structuredContent": {} }),
                )),
                _ => self.broken(&mut random),
            };
            // a message with the id of an open request counts as its answer
            if let Line::Text(text) = &line
                && let Ok(Value::Object(message)) = serde_json::from_str::<Value>(text)
            {
                self.asked.retain(|asked| Some(&asked["id"]) != message.get("id"));
            }
            let actions = self.bench.guard.from_server(line, now);
            self.bench.act(actions);
            return self.read();
        }
        if self.asked.is_empty() {
            return;
        }
        let place = self.random.random_range(0..self.asked.len());
        let asked = self.asked.swap_remove(place);
        let (id, params) = (&asked["id"], &asked["params"]);
        let line = match asked["method"].as_str().unwrap() {
            "initialize" => response(id, json!({ "capabilities": { "tools": {} }, "protocolVersion": "x" })),
            "tools/list" => {
                // the list of tools has two pages
                let tools = parts::tools(self.procedure);
                let (first, second) = tools.split_at(tools.len() / 2);
                match params.get("cursor") {
                    None => response(id, json!({ "tools": first, "nextCursor": "2" })),
                    Some(_) => response(id, json!({ "tools": second })),
                }
            }
            "tools/call" => {
                let arguments = params["arguments"].as_object().unwrap();
                let data = self.apis.result(params["name"].as_str().unwrap(), arguments);
                match self.random.random_range(0..12) {
                    0 => response(
                        id,
                        json!({ "content": [{ "type": "text", "text": "no" }], "isError": true }),
                    ),
                    1 => json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -1, "message": "x" } })
                        .to_string(),
                    2 => response(id, json!({ "content": [{ "type": "text", "text": "hello" }] })),
                    3 => response(id, json!([1])),
                    // values that no condition expects
                    4 => {
                        let strange = data.keys().map(|slot| (slot.clone(), json!("strange"))).collect();
                        response(id, structured(&strange))
                    }
                    5 => response(
                        id,
                        json!({ "content": [{ "type": "text", "text": Value::Object(data).to_string() }] }),
                    ),
                    6 => return,
                    _ => response(id, structured(&data)),
                }
            }
            _ => response(id, json!({})),
        };
        let is_call = asked["method"] == "tools/call";
        let start = Instant::now();
        let actions = self.bench.guard.from_server(Line::Text(line), now);
        let time = start.elapsed();
        if let Some(last) = self.counts.times.last_mut().filter(|_| is_call) {
            *last += time;
        }
        self.bench.act(actions);
        self.read();
    }

    fn step(&mut self) {
        match self.random.random_range(0..100) {
            0..40 => self.call_listed(),
            40..52 => self.call_any(),
            52..60 => self.list(),
            60..64 => self.cancel(),
            64..68 => {
                let id = self.id();
                let method = ["ping", "resources/list", "prompts/get", "completion/complete", "x"];
                let method = method.choose(&mut self.random).unwrap();
                let params = [json!({ "_meta": { "x": [1.50] } }), json!({ "x": 1 })];
                let params = params.choose(&mut self.random).unwrap().clone();
                self.client(Line::Text(request(id, method, params)));
            }
            68..72 => {
                let (first, second) = (self.id(), self.id());
                let batch = [request(first, "tools/list", json!({})), call(second, "check", json!({}))];
                self.client(Line::Text(format!("[{}]", batch.join(","))));
            }
            72..78 => {
                let mut random = ChaCha8Rng::seed_from_u64(self.random.random());
                let line = self.broken(&mut random);
                self.client(line);
            }
            78..80 => {
                self.bench.now += DEADLINE;
                let actions = self.bench.guard.tick(self.bench.now);
                self.bench.act(actions);
                self.read();
            }
            _ => {}
        }
        for _ in 0..self.random.random_range(0..3) {
            self.serve();
        }
    }
}

/// Runs one session with random steps, and adds to `counts`.
fn session(name: &str, mode: Mode, seed: u64, counts: &mut Counts) {
    let original = parts::procedure(name);
    let mut procedure = parts::procedure(name);
    let hears_user = seed % 4 == 3;
    if !hears_user {
        procedure.open_sources();
    }
    let supervisor = parts::supervisor(&procedure, mode);
    let rules = parts::rules(&procedure, mode, &supervisor, ProcedureOptions { hears_user, ask: Ask::Agent });
    let simulation = parts::simulation(name);
    let known = parts::known(&simulation);
    let options = Options { deadline: DEADLINE, list_all: seed % 8 == 5, ..Options::default() };
    let list_all = options.list_all;
    let mut world = World {
        procedure: &original,
        mode,
        bench: Bench::new(rules, options),
        apis: simulation.apis(),
        known,
        random: ChaCha8Rng::seed_from_u64(seed),
        next: 0,
        waiting: BTreeSet::new(),
        cancelled: BTreeSet::new(),
        asked: Vec::new(),
        listed: Vec::new(),
        is_current: false,
        reached: Vec::new(),
        answers: BTreeMap::new(),
        counts,
    };
    if world.random.random_bool(0.9) {
        let id = world.id();
        world.client(Line::Text(request(id, "initialize", json!({ "capabilities": {} }))));
        world.serve();
        world.client(Line::Text(notification("notifications/initialized")));
    }
    world.list();
    for _ in 0..world.random.random_range(5..60) {
        world.step();
        // a list of all tools does not say which of them can be called
        world.is_current &= !list_all;
        if world.bench.stopped.is_some() {
            break;
        }
    }
    // one side disconnects
    let actions = world.bench.guard.close("gone", world.bench.now);
    world.bench.act(actions);
    world.read();
    assert!(world.waiting.is_empty(), "{:?} were not answered", world.waiting);
    world.counts.calls += world.reached.len();
    let trace: Vec<Event> = world.bench.log.iter().map(|event| Event::of(event).unwrap()).collect();
    let (verdict, _) = verify(&original, mode, &trace, true);
    assert!(verdict.violations.is_empty(), "{:?}", verdict.violations);
    world.counts.complete += usize::from(verdict.is_complete);
}

#[test]
fn no_wrong_call_reaches_a_server() {
    let sessions = std::env::var("GRAMMATA_CLIENTS").ok().and_then(|count| count.parse().ok()).unwrap_or(240);
    let names = parts::names();
    assert_eq!(names.len(), 12);
    let mut counts = Counts::default();
    for seed in 0..sessions {
        let name = &names[seed as usize % names.len()];
        let mode = MODES[(seed as usize / names.len()) % MODES.len()];
        session(name, mode, seed, &mut counts);
    }
    counts.times.sort();
    let at = |share: f64| {
        let place = (counts.times.len() as f64 * share) as usize;
        counts.times.get(place.min(counts.times.len().saturating_sub(1))).copied().unwrap_or_default()
    };
    eprintln!(
        "{sessions} sessions: {} calls reached the server, {} calls of anything did not, {} calls of the guard's tools, \
         {} calls that had to be accepted, {} sessions complete; added time of a call p50 {:?}, p99 {:?}",
        counts.calls,
        counts.refused,
        counts.own,
        counts.sure,
        counts.complete,
        at(0.5),
        at(0.99)
    );
    let least = sessions as usize;
    assert!(counts.calls > least && counts.refused > least && counts.sure > least / 4 && counts.complete > 0);
}
