//! Plan specs, domains of flows and tools with prerequisites as rules of a guard.

use crate::parts::{call, folder, request, response};
use grammata::Limits;
use grammata::syntax::automaton_spec::{Options as SpecOptions, Spec};
use grammata_agents::flows::{FlowDomain, FlowOptions};
use grammata_agents::plan::{PlanAutomaton, ReadPlan, Verdict};
use grammata_agents::tools::{self, Document, ReadOptions, ToolSet};
use grammata_guard::rules::{FlowRules, PlanRules, ResumableRules, Rules, ToolRules};
use grammata_guard::{Action, Guard, Line, Options};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value, json};
use std::time::Instant;

/// A guard in front of a server that has all tools of the rules, in a session that has just begun.
struct Other<'r> {
    guard: Guard<'r>,
    log: Vec<String>,
    next: u64,
}

impl<'r> Other<'r> {
    fn new(rules: Box<dyn Rules + 'r>) -> Other<'r> {
        let tool = |(name, arguments): &(String, Vec<String>)| {
            let properties: Map<String, Value> =
                arguments.iter().map(|argument| (argument.clone(), json!({}))).collect();
            json!({ "name": name, "inputSchema": { "properties": properties } })
        };
        let tools: Vec<Value> = rules.tools().iter().map(tool).collect();
        let guard = Guard::new(rules, Options::default()).unwrap();
        let mut other = Other { guard, log: Vec::new(), next: 0 };
        let (_, sent) = other.client(request(1, "tools/list", json!({})));
        other.server(&sent.unwrap(), json!({ "tools": tools }));
        other
    }

    fn act(&mut self, actions: Vec<Action>) -> (Vec<Value>, Option<Value>) {
        let (mut client, mut server) = (Vec::new(), None);
        for action in actions {
            match action {
                Action::Client(line) => client.push(serde_json::from_str(&line).unwrap()),
                Action::Server(line) => server = serde_json::from_str(&line).ok(),
                Action::Log(line) => self.log.push(line),
                Action::Note(_) => {}
                Action::Stop(error) => panic!("{error}"),
            }
        }
        (client, server)
    }

    fn client(&mut self, line: String) -> (Vec<Value>, Option<Value>) {
        let actions = self.guard.from_client(Line::Text(line), Instant::now());
        self.act(actions)
    }

    fn server(&mut self, asked: &Value, result: Value) -> Vec<Value> {
        let actions = self.guard.from_server(Line::Text(response(&asked["id"], result)), Instant::now());
        self.act(actions).0
    }

    /// Returns the tools that the guard lists now.
    fn open(&mut self) -> Vec<Value> {
        self.next += 1;
        let (got, _) = self.client(request(self.next, "tools/list", json!({})));
        got[0]["result"]["tools"].as_array().unwrap().clone()
    }

    fn names(&mut self) -> Vec<String> {
        self.open().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Makes a call, which the server answers with `result`. Returns the text of the answer as an error if the call is
    /// refused or fails.
    fn call(&mut self, tool: &str, arguments: Value, result: Value) -> Result<(), String> {
        self.next += 1;
        let (mut got, sent) = self.client(call(self.next, tool, arguments));
        if let Some(asked) = sent.filter(|asked| asked["method"] == "tools/call") {
            got = self.server(&asked, result);
        }
        let answer =
            got.iter().find(|message| message["id"] == self.next).unwrap_or_else(|| panic!("{got:?}"));
        match answer["result"]["isError"] == true {
            true => Err(answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()),
            false => Ok(()),
        }
    }
}

fn data(value: Value) -> Value {
    json!({ "structuredContent": value, "content": [] })
}

fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

const SHOP: &str = r#"
kind = "dfa"
start = "s"
accepting = ["end"]
[symbols]
ask = { outcomes = { yes = { set = "agreed" }, no = {} } }
buy = { requires = "agreed", text = "buy {}", arguments = { type = "object", properties = { count = { type = "integer", minimum = 1 } }, required = ["count"], additionalProperties = false } }
leave = {}
[[transitions]]
from = "s"
input = "ask"
to = "asked"
[[transitions]]
from = "asked"
input = ["buy", "leave"]
to = "end"
"#;

fn spec(text: &str) -> Spec {
    Spec::read(text, &SpecOptions::default()).unwrap()
}

/// Returns whether lines are a plan: `Some(false)` if they are only the beginning of one, `None` if they are neither.
fn verify(text: &str, log: &[String]) -> Option<bool> {
    let spec = spec(text);
    let plan = ReadPlan::parse(&log.join("\n"), &spec).unwrap();
    match PlanAutomaton::new(spec).unwrap().verify(&plan, &[]).unwrap() {
        Verdict::Valid(_) => Some(true),
        Verdict::Wrong { step, .. } => (step == plan.steps.len()).then_some(false),
    }
}

#[test]
fn plans_are_followed() {
    let rules = || Box::new(PlanRules::new(PlanAutomaton::new(spec(SHOP)).unwrap()).unwrap());
    let mut shop = Other::new(rules());
    assert_eq!(shop.names(), ["ask"]);
    let refused = shop.call("buy", json!({ "count": 1 }), json!({})).unwrap_err();
    assert!(refused.contains("Open now: ask."), "{refused}");
    // a result without an outcome counts as failed, and the call may be made again
    assert!(shop.call("ask", json!({}), data(json!({ "x": 1 }))).is_err());
    assert!(shop.call("ask", json!({}), json!({ "isError": true, "content": [] })).is_err());
    assert_eq!(shop.names(), ["ask"]);
    shop.call("ask", json!({}), data(json!({ "outcome": "yes" }))).unwrap();
    let tools = shop.open();
    assert_eq!(tools[0]["inputSchema"]["properties"]["count"]["minimum"], 1);
    for wrong in [json!({}), json!({ "count": 0 }), json!({ "count": 1, "x": 1 })] {
        assert!(shop.call("buy", wrong.clone(), json!({})).is_err(), "{wrong}");
    }
    assert_eq!(verify(SHOP, &shop.log), Some(false));
    shop.call("buy", json!({ "count": 2 }), json!({})).unwrap();
    assert_eq!(shop.names(), Vec::<String>::new());
    assert_eq!(shop.log, ["ask -> yes", "buy {\"count\":2}"]);
    assert_eq!(verify(SHOP, &shop.log), Some(true));
    let mut shop = Other::new(rules());
    shop.call("ask", json!({}), text("no")).unwrap();
    assert_eq!(shop.names(), ["leave"]);
}

#[test]
fn random_clients_keep_to_plans() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let (mut refused, mut complete) = (0, 0);
    for _ in 0..60 {
        let rules = PlanRules::new(PlanAutomaton::new(spec(SHOP)).unwrap()).unwrap();
        let mut shop = Other::new(Box::new(rules));
        for _ in 0..random.random_range(1..12) {
            let tool = *["ask", "buy", "leave", "other"].choose(&mut random).unwrap();
            let arguments = [json!({}), json!({ "count": 3 }), json!({ "count": "x" })];
            let results = [data(json!({ "outcome": "yes" })), text("no"), data(json!(1)), json!({})];
            let (arguments, result) =
                (arguments.choose(&mut random).unwrap(), results.choose(&mut random).unwrap());
            refused += usize::from(shop.call(tool, arguments.clone(), result.clone()).is_err());
            let verdict = verify(SHOP, &shop.log);
            assert!(verdict.is_some(), "{:?}", shop.log);
            complete += usize::from(verdict == Some(true));
        }
    }
    assert!(refused > 60 && complete > 10, "{refused} {complete}");
}

/// In each shipped domain, random open calls lead to the end of a plan within 200 steps.
#[test]
fn flows_are_followed() {
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let mut seen = 0;
    for entry in std::fs::read_dir(folder().join("../flows")).unwrap() {
        let path = entry.unwrap().path();
        let Ok(domain) = FlowDomain::read(&std::fs::read_to_string(&path).unwrap(), &Limits::default())
        else {
            continue;
        };
        for _ in 0..5 {
            let rules = FlowRules::new(&domain, FlowOptions::default()).unwrap();
            let mut flow = Other::new(Box::new(rules));
            for steps in 0.. {
                assert!(steps < 200, "{}: no end: {:?}", path.display(), flow.log);
                let open = flow.names();
                // a call that is not open is refused, and changes nothing
                let closed = domain.apis.iter().find(|api| !open.contains(&api.name));
                if let Some(closed) = closed {
                    assert!(flow.call(&closed.name, json!({}), json!({})).is_err());
                    assert_eq!(flow.names(), open);
                }
                if open.contains(&"guard_end".to_owned()) {
                    flow.call("guard_end", json!({}), json!({})).unwrap();
                    break;
                }
                let name = open.choose(&mut random).unwrap();
                let api = &domain.apis[domain.api(name).unwrap()];
                let mut made = serde_json::Map::new();
                if let Some(outcome) = api.outcomes.choose(&mut random) {
                    made.insert("outcome".to_owned(), outcome.name.as_str().into());
                }
                for data in api.makes(None) {
                    made.insert(domain.data[data].clone(), "v".into());
                }
                flow.call(name, json!({}), data(made.into())).unwrap();
            }
            assert!(flow.log.last().unwrap().starts_with(&domain.apis[domain.end].name), "{:?}", flow.log);
            assert_eq!(flow.names(), Vec::<String>::new());
            seen += 1;
        }
    }
    assert!(seen >= 20, "{seen}");
}

#[test]
fn arguments_of_flows_are_values_of_results() {
    let text = std::fs::read_to_string(folder().join("../flows/banking.toml")).unwrap();
    let domain = FlowDomain::read(&text, &Limits::default()).unwrap();
    let mut flow = Other::new(Box::new(FlowRules::new(&domain, FlowOptions::default()).unwrap()));
    flow.call("InitSystem", json!({}), data(json!({ "init_status": "up" }))).unwrap();
    let open = flow.open();
    assert_eq!(open[0]["inputSchema"]["properties"]["init_status"]["enum"], json!(["up"]));
    let refused = flow.call("Start", json!({ "init_status": "down" }), json!({})).unwrap_err();
    assert!(refused.contains("argument init_status"), "{refused}");
    flow.call("Start", json!({ "init_status": "up" }), json!({ "content": [] })).unwrap();
    assert!(flow.names().len() > 1);
}

fn albums() -> ToolSet {
    let get = |id: &str, more: Value| {
        let mut operation = json!({ "operationId": id, "responses": { "200": { "description": "" } } });
        operation.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        operation
    };
    let id = json!([{ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } }]);
    let document = json!({
        "openapi": "3.1.0", "info": { "title": "a", "version": "1" },
        "paths": {
            "/albums": { "get": get("listAlbums", json!({})) },
            "/albums/{id}": { "get": get("getAlbum", json!({ "parameters": id })) },
        },
    });
    let text = document.to_string();
    tools::read([Document { label: "a", text: &text }], &ReadOptions::default()).unwrap()
}

#[test]
fn tools_open_when_what_they_need_was_called() {
    let set = albums();
    let mut albums = Other::new(Box::new(ToolRules::new(&set)));
    assert_eq!(albums.names(), ["listAlbums"]);
    let refused = albums.call("getAlbum", json!({ "id": "7" }), json!({})).unwrap_err();
    assert!(refused.contains("precondition listAlbums"), "{refused}");
    // a failed call does not meet the prerequisite of another call
    assert!(albums.call("listAlbums", json!({}), json!({ "isError": true })).is_err());
    assert_eq!(albums.names(), ["listAlbums"]);
    albums.call("listAlbums", json!({}), data(json!({ "albums": [{ "id": "7" }] }))).unwrap();
    assert_eq!(albums.names(), ["listAlbums", "getAlbum"]);
    let refused = albums.call("getAlbum", json!({ "id": 7 }), json!({})).unwrap_err();
    assert!(refused.contains("argument"), "{refused}");
    albums.call("getAlbum", json!({ "id": "7" }), json!({ "content": [] })).unwrap();
    assert_eq!(albums.log.iter().filter(|line| line.starts_with("[\"call\"")).count(), 3);
}

/// Random calls, with a new guard that replays the log after every few calls. The replayed rules must be where the rules
/// of a guard are that has run all the time.
fn check_resumed<'r>(rules: impl Fn() -> Box<dyn Rules + 'r>, results: &[Value], seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut steps, mut resumed) = (0, 0);
    for _ in 0..20 {
        let tools: Vec<String> = rules().tools().into_iter().map(|(name, _)| name).collect();
        let mut whole = Other::new(rules());
        let begun = |log: &[String]| {
            let (rules, event) = ResumableRules::resume(rules(), &log.join("\n")).unwrap();
            assert_eq!(event, None);
            Other::new(Box::new(rules))
        };
        let (mut parts, mut log) = (begun(&[]), Vec::new());
        for _ in 0..random.random_range(1..15) {
            if random.random_range(0..3) == 0 {
                log.append(&mut parts.log);
                parts = begun(&log);
                resumed += 1;
            }
            let open = whole.open();
            assert_eq!(parts.open(), open);
            // half of the calls are of open tools, with the values that they allow
            let any = tools.choose(&mut random).unwrap().clone();
            let tool = open.choose(&mut random).filter(|_| random.random());
            let name = tool.map_or(any, |tool| tool["name"].as_str().unwrap().to_owned());
            let mut arguments = serde_json::Map::new();
            for (name, schema) in
                tool.and_then(|tool| tool["inputSchema"]["properties"].as_object()).into_iter().flatten()
            {
                let value = schema["enum"].get(0).cloned();
                arguments.insert(name.clone(), value.unwrap_or_else(|| json!(3)));
            }
            let result = results.choose(&mut random).unwrap();
            let expected = whole.call(&name, arguments.clone().into(), result.clone());
            assert_eq!(parts.call(&name, arguments.into(), result.clone()), expected, "{name}");
            steps += usize::from(expected.is_ok());
        }
    }
    assert!(steps > 20 && resumed > 20, "{steps} {resumed}");
}

#[test]
fn sessions_of_all_rules_are_resumed() {
    let results = [
        data(json!({ "outcome": "yes", "facts": {} })),
        text("no"),
        data(json!({})),
        json!({ "isError": true }),
    ];
    check_resumed(
        || Box::new(PlanRules::new(PlanAutomaton::new(spec(SHOP)).unwrap()).unwrap()),
        &results[..2],
        1,
    );
    let set = albums();
    check_resumed(|| Box::new(ToolRules::new(&set)), &results, 2);
    let text = std::fs::read_to_string(folder().join("../flows/banking.toml")).unwrap();
    let domain = FlowDomain::read(&text, &Limits::default()).unwrap();
    let made: serde_json::Map<String, Value> =
        domain.data.iter().map(|name| (name.clone(), json!(format!("a {name}")))).collect();
    let results = [data(made.into()), json!({ "isError": true })];
    check_resumed(|| Box::new(FlowRules::new(&domain, FlowOptions::default()).unwrap()), &results, 3);
}

#[test]
fn logs_that_cannot_be_resumed() {
    let resume = |log: &str| {
        let rules = PlanRules::new(PlanAutomaton::new(spec(SHOP)).unwrap()).unwrap();
        ResumableRules::resume(Box::new(rules), log).map(|(_, event)| event)
    };
    let interrupted = resume("[\"guide\",\"refused\"]\n\n[\"call\",\"ask\",{}]\n").unwrap();
    assert_eq!(interrupted, Some(json!(["result", { "error": "the session ended before the result" }])));
    for (log, place, why) in [
        ("ask -> yes", "event 1", "not an event in JSON"),
        ("[\"call\",\"ask\"]", "event 1", "no arguments"),
        ("[\"call\",\"buy\",{\"count\":1}]", "event 1", "not allowed now"),
        ("[\"call\",\"ask\",{}]\n[\"call\",\"ask\",{}]", "event 2", "cannot follow"),
        ("[\"call\",\"ask\",{}]\n[\"result\",{}]", "event 2", "neither `data` nor `error`"),
        ("[\"result\",{\"data\":1}]", "event 1", "cannot follow"),
        ("[\"own\",\"end\",{}]", "event 1", "no tools of its own"),
        ("[\"user\",\"hello\"]", "event 1", "cannot follow"),
    ] {
        let error = resume(log).unwrap_err();
        assert_eq!(error.code(), "guard/trace");
        assert!(error.to_string().contains(place) && error.to_string().contains(why), "{error}");
    }
}
