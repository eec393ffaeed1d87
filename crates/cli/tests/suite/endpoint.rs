//! `--endpoint` and `--policy-command`: every command that can ask a chat model, against a stand-in server.

use crate::process::{Run, run};
use crate::stand_in::{Reply, StandIn};
use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::sync::Mutex;

/// Returns a small instance of a schema, as an obedient model writes it: the first of each list, and only members and
/// items that are required.
fn instance(schema: &Value) -> Value {
    if let Some(value) = schema["enum"].get(0).or(schema.get("const")) {
        return value.clone();
    }
    if let Some(first) = schema["anyOf"].get(0) {
        return instance(first);
    }
    match schema["type"].as_str() {
        Some("object") => {
            let names = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            names.map(|name| (name.to_owned(), instance(&schema["properties"][name]))).collect()
        }
        Some("array") => {
            let items = schema["minItems"].as_u64().unwrap_or(0);
            (0..items).map(|_| instance(&schema["items"])).collect()
        }
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("boolean") => true.into(),
        _ => "x".into(),
    }
}

fn schema(body: &Value) -> &Value {
    &body["response_format"]["json_schema"]["schema"]
}

/// Writes the step of a model that books a room: the first of the wanted steps that is offered, with the values that it
/// knows.
fn booking(body: &Value) -> Value {
    const WANTED: [&str; 5] =
        ["room_held", "book_room", "list_rooms", "find_rooms", "request_information(day, hour)"];
    let known = json!({"day": "Monday", "hour": 10, "people": 6, "room": "Oak"});
    let offered = schema(body)["properties"]["step"]["anyOf"].as_array().unwrap();
    for name in WANTED {
        for step in offered {
            let properties = &step["properties"];
            if properties["call"]["enum"][0] == name {
                let members = properties["arguments"]["properties"].as_object().unwrap();
                let arguments: Value =
                    members.keys().map(|slot| (slot.clone(), known[slot].clone())).collect();
                return json!({"step": {"call": name, "arguments": arguments}});
            }
            let says = properties["say"]["enum"].as_array();
            if says.is_some_and(|names| names.iter().any(|known| known == name)) {
                return match properties.get("text") {
                    Some(_) => json!({"step": {"say": name, "text": "What it says does not matter."}}),
                    None => json!({"step": {"say": name}}),
                };
            }
        }
    }
    panic!("nothing that is wanted is offered: {offered:?}")
}

/// Returns the reply of a model that follows the request.
fn obedient(body: &Value) -> Reply {
    if let Some(tool) = body["tools"].get(0) {
        let function = &tool["function"];
        let arguments = instance(&function["parameters"]).to_string();
        return Reply::message(json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": function["name"], "arguments": arguments}}]}));
    }
    if body["response_format"]["json_schema"]["name"] == "step" {
        return Reply::says(&booking(body).to_string());
    }
    let names = schema(body)["properties"]["answer"]["enum"].as_array();
    if names.is_some_and(|names| names.iter().any(|name| name == "Oak")) {
        return Reply::says(r#"{"answer": "Oak"}"#);
    }
    Reply::says(&instance(schema(body)).to_string())
}

const SPEC: &str = r#"
kind = "dfa"
start = "bed"
accepting = ["away"]
[symbols]
get_up = "Get up."
shower = { text = "Take a shower." }
coffee = { text = "Make coffee." }
snooze = { text = "Stay in bed." }
leave = { text = "Leave.", requires = ["shower"] }
[limits]
at_most_once = ["shower", "coffee"]
at_most = { snooze = 2 }
[[transitions]]
from = "bed"
input = "get_up"
to = "up"
[[transitions]]
from = "bed"
input = "snooze"
to = "bed"
[[transitions]]
from = "up"
input = ["shower", "coffee"]
to = "up"
[[transitions]]
from = "up"
input = "leave"
to = "away"
"#;

/// A folder with a spec of plans and a document of tools.
struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Files {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("spec.toml"), SPEC).unwrap();
        let parameters = json!({
            "type": "object", "required": ["city", "day"], "additionalProperties": false,
            "properties": {"city": {"type": "string", "minLength": 1}, "day": {"enum": ["Monday", "Friday"]}},
        });
        let tools = json!([{"type": "function", "function": {
            "name": "find_flights", "description": "Finds flights to a city.", "parameters": parameters}}]);
        std::fs::write(folder.path().join("tools.json"), tools.to_string()).unwrap();
        Files(folder)
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    /// Returns commands that ask a model, each with its name and without the arguments that name the server.
    fn rooms(&self) -> Vec<(&'static str, Vec<String>)> {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let with = |text: &str, more: &[&str]| {
            let mut words = words(text);
            words.extend(more.iter().map(|one| (*one).to_owned()));
            words
        };
        let (spec, tools) = (self.path("spec.toml"), self.path("tools.json"));
        vec![
            ("plan", with("plan run", &[&spec])),
            ("plan chat", with("plan chat", &[&spec])),
            (
                "procedure",
                words(
                    "procedure run grammars/procedures/meeting_room.yaml --simulation grammars/procedures/simulations/meeting_room.json --user held",
                ),
            ),
            ("tools", with("tools generate", &[&tools, "--request", "Fly me to Rome."])),
            ("flow", with("flow run tests/cases/flows/refund.toml --query", &["I want my money back."])),
            ("retrieve", with("retrieve search", &["Book a table.", "-k", "3"])),
        ]
    }
}

fn ask(command: &[String], more: &[&str]) -> Run {
    let words: Vec<&str> = command.iter().map(String::as_str).chain(more.iter().copied()).collect();
    run(&words)
}

#[test]
fn every_room_ends_well_with_a_server_that_does_as_it_is_told() {
    let files = Files::new();
    for (room, command) in files.rooms() {
        let server = StandIn::new(|_, body| obedient(body));
        let found = ask(&command, &["--endpoint", &server.url]);
        assert_eq!(found.code, 0, "{room}\n{}\n{}", found.out, found.err);
        let shown = match room {
            "plan" => "1  Get up.\n2  Take a shower.\n3  Make coffee.\n4  Leave.\n",
            "plan chat" => "finished: ",
            "procedure" => "agent: Oak is yours on Monday at 10.\nthe session is complete\n",
            "tools" => r#"{"name":"find_flights","arguments":{"city":"x","day":"Monday"}}"#,
            "flow" => "4. Finish()\n",
            _ => "model     \"x\"",
        };
        assert!(found.out.contains(shown), "{room}: {}\n{}", found.out, found.err);
        assert!(found.err.contains("tokens in prompts"), "{room}: {}", found.err);
        assert!(!server.bodies().is_empty(), "{room}");
    }
}

#[test]
fn no_room_takes_what_may_not_come() {
    let files = Files::new();
    let nonsense = [
        "banana",
        "",
        "{}",
        "[]",
        "0",
        "99",
        r#"{"answer": "99"}"#,
        r#"{"step": {"call": "rm", "arguments": {}}}"#,
        r#"{"step": {"call": "book_room", "arguments": {"room": "Oak", "day": "Monday", "hour": 10}}}"#,
        r#"{"step": {"say": "room_held", "text": "Oak is yours."}}"#,
        r#"{"calls": [{"name": "rm", "arguments": {}}]}"#,
        r#"{"calls": [{"name": "find_flights", "arguments": {"city": "", "day": "Sunday"}}]}"#,
        r#"{"queries": []}"#,
    ];
    for (room, command) in files.rooms() {
        for text in nonsense {
            // in retrieval, lines of text are valid queries
            if room == "retrieve" && matches!(text, "banana" | "99" | "0") {
                continue;
            }
            let server = StandIn::new(move |_, _| Reply::says(text));
            let found = ask(&command, &["--endpoint", &server.url]);
            assert!(found.code != 0, "{room} takes {text}: {}", found.out);
            assert!(found.err.contains("error[chat/refused]"), "{room} {text}: {}", found.err);
            for part in ["found: ", "allowed: ", "help: "] {
                assert!(found.err.contains(part), "{room} {text}: {}", found.err);
            }
            assert_eq!(server.bodies().len(), 2, "{room} {text}: one request and one repair");
            assert!(!found.out.contains("complete\n") || found.out.contains("not complete"), "{}", found.out);
        }
    }
}

#[test]
fn a_refused_answer_is_asked_for_once_more_with_the_reason() {
    let files = Files::new();
    for (room, command) in files.rooms().into_iter().filter(|(room, _)| *room != "plan chat") {
        let server = StandIn::new(|number, body| match number {
            0 => Reply::says(r#"{"wrong": true}"#),
            _ => obedient(body),
        });
        let found = ask(&command, &["--endpoint", &server.url]);
        assert_eq!(found.code, 0, "{room}: {}", found.err);
        let messages = server.bodies()[1]["messages"].as_array().unwrap().clone();
        let [.., wrong, reason] = &messages[..] else { panic!("{messages:?}") };
        assert_eq!(
            (wrong["role"].as_str(), reason["role"].as_str()),
            (Some("assistant"), Some("user")),
            "{room}"
        );
        assert!(
            reason["content"].as_str().unwrap().starts_with("That cannot be taken: "),
            "{room}: {reason}"
        );
    }
}

#[test]
fn servers_that_fail_are_errors_of_the_program() {
    let files = Files::new();
    for (room, command) in files.rooms() {
        for (reply, code) in [
            (Reply::error(401, "no"), "endpoint/status"),
            (Reply::Whole(200, "", "text/html", b"<html>".to_vec()), "endpoint/answer"),
            (Reply::stream(&["garbage"]), "endpoint/answer"),
        ] {
            let server = StandIn::new(move |_, _| reply.clone());
            let found = ask(&command, &["--endpoint", &server.url, "--endpoint-stream"]);
            assert!(
                found.code != 0 && found.err.contains(&format!("error[{code}]")),
                "{room}: {}",
                found.err
            );
        }
    }
}

#[cfg(unix)]
#[test]
fn a_command_answers_in_place_of_a_model() {
    let files = Files::new();
    let spec = files.path("spec.toml");
    let chosen = "read line; case $line in *choices*) echo 1;; *) exit 3;; esac";
    for (command, expected) in [
        (chosen, Ok("1  Get up.\n2  Take a shower.\n3  Make coffee.\n4  Leave.\n")),
        ("cat > /dev/null; echo Get up.", Err("chat/refused")),
        ("exit 3", Err("chat/command")),
        ("printf '\\377'", Err("chat/command")),
        ("sleep 60", Err("chat/command")),
        ("yes", Err("chat/command")),
    ] {
        let deadline = if command.starts_with("sleep") { "1" } else { "60" };
        let found =
            run(&["plan", "run", &spec, "--policy-command", command, "--endpoint-deadline", deadline]);
        match expected {
            Ok(plan) => assert_eq!((found.code, found.out.as_str()), (0, plan), "{}", found.err),
            Err(code) => {
                assert!(
                    found.code != 0 && found.err.contains(&format!("error[{code}]")),
                    "{command}: {}",
                    found.err
                );
            }
        }
    }
}

#[test]
fn a_key_is_named_and_stays_out_of_messages() {
    let files = Files::new();
    let spec = files.path("spec.toml");
    let server = StandIn::new(|_, _| Reply::error(401, "Incorrect API key provided: sk-very-secret."));
    let program = |more: &[&str]| {
        let mut command = assert_cmd::Command::new(crate::program());
        command.env("OPENAI_API_KEY", "sk-very-secret").env("OTHER", "sk-very-secret").env("NO_COLOR", "1");
        command.args(["plan", "run", &spec, "--endpoint", &server.url]).args(more);
        String::from_utf8(command.output().unwrap().stderr).unwrap()
    };
    // the default variable is read only for servers with TLS
    assert!(program(&[]).contains("error[endpoint/status]"));
    assert!(!server.heads()[0].contains("authorization"), "{}", server.heads()[0]);
    let shown = program(&["--endpoint-key-env", "OTHER"]);
    assert!(shown.contains("endpoint/status") && !shown.contains("secret"), "{shown}");
    assert!(server.heads()[1].contains("bearer sk-very-secret"), "{}", server.heads()[1]);
    assert!(program(&["--endpoint-key-env", "NONE_SUCH"]).contains("error[cli/no-key]"));
}

/// Azure's addresses and headers, and a proxy that the environment names.
#[test]
fn headers_are_named_with_the_variables_of_their_values() {
    let files = Files::new();
    let spec = files.path("spec.toml");
    let server = StandIn::new(|_, _| Reply::error(401, "Access denied: azure-secret, query-secret."));
    let url = format!("{}?api-version=2024-10-21&code=query-secret", server.url);
    let program = |more: &[&str], environment: &[(&str, &str)]| {
        let mut command = assert_cmd::Command::new(crate::program());
        command.env("AZURE", "azure-secret").env("OPENAI_API_KEY", "openai-secret").env("NO_COLOR", "1");
        command.envs(environment.iter().copied()).args(["plan", "run", &spec]).args(more);
        let shown = String::from_utf8(command.output().unwrap().stderr).unwrap();
        assert!(!shown.contains("-secret"), "{shown}");
        shown
    };
    let shown = program(&["--endpoint", &url, "--endpoint-header", "api-key=AZURE"], &[]);
    assert!(shown.contains("error[endpoint/status]") && shown.contains("/chat/completions?…"), "{shown}");
    let head = server.heads()[0].clone();
    let line = "post /v1/chat/completions?api-version=2024-10-21&code=query-secret http/1.1\r\n";
    assert!(head.starts_with(line) && head.contains("api-key: azure-secret\r\n"), "{head}");
    assert!(!head.contains("openai-secret"), "{head}");
    for (header, code) in [
        ("api-key=NONE_SUCH-secret", "error[cli/no-key]"),
        ("host=AZURE", "error[endpoint/header]"),
        ("api-key", "invalid value 'api-key'"),
    ] {
        let shown = program(&["--endpoint", &url, "--endpoint-header", header], &[]);
        assert!(shown.contains(code), "{shown}");
    }
    let far = ["--endpoint", "https://model.invalid/v1", "--endpoint-tries", "1"];
    let proxy = [("HTTPS_PROXY", "http://u:proxy-secret@127.0.0.1:9")];
    let shown = program(&far, &proxy);
    assert!(shown.contains("by the proxy http://…@127.0.0.1:9"), "{shown}");
    let shown = program(&far, &[proxy[0], ("NO_PROXY", "invalid")]);
    assert!(shown.contains("error[endpoint/unreachable]") && !shown.contains("proxy"), "{shown}");
    let shown = program(&[&far[..], &["--endpoint-proxy", "socks5://u:proxy-secret@h"]].concat(), &[]);
    assert!(shown.contains("error[endpoint/proxy]"), "{shown}");
    assert_eq!(server.bodies().len(), 1);
}

/// The server that plays the user gets the secrets of the agent's server only if it is the same one.
#[test]
fn secrets_are_sent_to_their_server_alone() {
    let files = Files::new();
    let rooms = files.rooms();
    let (_, command) = rooms.iter().find(|(room, _)| *room == "procedure").unwrap();
    let (agent, other) = (StandIn::new(|_, body| obedient(body)), StandIn::new(|_, _| Reply::says("Go on.")));
    for (user, is_same) in [(&other, false), (&agent, true)] {
        let mut run = assert_cmd::Command::new(crate::program());
        run.current_dir(crate::ROOT).env("KEY", "agent-secret").env("OTHER", "agent-secret").args(command);
        run.args(["--endpoint", &agent.url, "--endpoint-header", "x-key=KEY", "--endpoint-key-env", "OTHER"]);
        run.args(["--user-endpoint", &user.url]).output().unwrap();
        let heads = user.heads();
        assert!(!heads.is_empty());
        for name in ["x-key: agent-secret", "authorization: bearer agent-secret"] {
            assert!(heads.iter().all(|head| head.contains(name) == is_same), "{heads:?}");
        }
    }
    assert!(agent.heads().iter().all(|head| head.contains("agent-secret")));
}

/// A model that declines is asked once, and a filter is not asked again.
#[test]
fn refusals_and_filters_end_the_command() {
    let files = Files::new();
    for (room, command) in files.rooms() {
        for (reply, code) in [
            (
                Reply::message(json!({"content": null, "refusal": "I can't help with that."})),
                "endpoint/refusal",
            ),
            (
                Reply::json(200, &json!({"choices": [{"finish_reason": "content_filter"}]})),
                "endpoint/filtered",
            ),
            (
                Reply::json(400, &json!({"error": {"code": "content_filter", "message": "no"}})),
                "endpoint/filtered",
            ),
        ] {
            let server = StandIn::new(move |_, _| reply.clone());
            let found = ask(&command, &["--endpoint", &server.url]);
            assert!(
                found.code != 0 && found.err.contains(&format!("error[{code}]")),
                "{room}: {}",
                found.err
            );
            assert_eq!(server.bodies().len(), 1, "{room}");
        }
    }
}

/// Returns a random instance of a schema; all members of a list are equally likely.
fn drawn(schema: &Value, random: &mut ChaCha8Rng) -> Value {
    let one = |list: &Value, random: &mut ChaCha8Rng| {
        list.as_array().and_then(|list| list.choose(random)).cloned().unwrap_or_default()
    };
    if schema.get("enum").is_some() {
        return one(&schema["enum"], random);
    }
    if schema.get("anyOf").is_some() {
        let member = one(&schema["anyOf"], random);
        return drawn(&member, random);
    }
    match schema["type"].as_str() {
        Some("object") => {
            let names = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            names.map(|name| (name.to_owned(), drawn(&schema["properties"][name], random))).collect()
        }
        Some("null") => Value::Null,
        _ => instance(schema),
    }
}

#[test]
fn sessions_of_a_model_that_does_anything_are_never_judged_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let (mut ended, mut refused, mut calls) = (0, 0, 0);
    let root = std::path::Path::new(crate::ROOT).join("grammars/procedures");
    let mut files: Vec<_> = std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    files.sort();
    for (seed, file) in (0..).zip(&files) {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let simulation = root.join("simulations").join(format!("{name}.json"));
        let users: Value = serde_json::from_str(&std::fs::read_to_string(&simulation).unwrap()).unwrap();
        let user = users["users"][0]["id"].as_str().unwrap();
        let random = Mutex::new(ChaCha8Rng::seed_from_u64(seed));
        let server = StandIn::new(move |_, body| {
            Reply::says(&drawn(schema(body), &mut random.lock().unwrap()).to_string())
        });
        let events = folder.path().join(name).display().to_string();
        let (file, simulation) = (file.display().to_string(), simulation.display().to_string());
        let run_of = ["procedure", "run", &file, "--simulation", &simulation, "--user", user];
        let found = run(&[&run_of[..], &["--endpoint", &server.url, "--events", &events]].concat());
        calls += server.bodies().len();
        match found.code {
            0 | 3 => {
                ended += 1;
                let judged = run(&["procedure", "verify", &file, &events, "--open-decisions"]);
                assert_eq!(judged.code, 0, "{name}\n{}\n{}", judged.out, found.out);
            }
            _ => {
                // a schema cannot express, for instance, that a call must not be repeated; and nothing may catch the
                // error of a result
                refused += 1;
                let known = ["error[chat/refused]", "error[procedure/result]", "error[environment/"];
                assert!(known.iter().any(|code| found.err.contains(code)), "{name}: {}", found.err);
            }
        }
    }
    assert!(
        files.len() >= 12 && ended > 0 && calls > 50,
        "{ended} ended, {refused} refused, {calls} requests"
    );
}
