//! Single sessions, step by step, and messages that the guard passes on unchanged.

use crate::parts::{self, Bench, call, notification, request, response, structured};
use grammata_agents::procedures::{Mode, read_trace};
use grammata_guard::rules::{Ask, ProcedureOptions};
use grammata_guard::{Guard, Options};
use serde_json::{Value, json};
use std::time::Duration;

const HEARS: ProcedureOptions = ProcedureOptions { hears_user: true, ask: Ask::Agent };
const DEAF: ProcedureOptions = ProcedureOptions { hears_user: false, ask: Ask::Agent };

/// Returns the tools that the client sees.
fn listed(bench: &mut Bench<'_>) -> Vec<Value> {
    bench.client(request("list", "tools/list", json!({})));
    let answers = bench.take_for_client();
    answers[0]["result"]["tools"].as_array().unwrap().clone()
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

/// Returns the text of a tool result, and whether it is an error.
fn told(message: &Value) -> (String, bool) {
    let result = &message["result"];
    (result["content"][0]["text"].as_str().unwrap().to_owned(), result["isError"] == true)
}

fn taxi(options: Options, hears: ProcedureOptions, test: impl FnOnce(&mut Bench<'_>)) {
    let mut procedure = parts::procedure("taxi_order");
    if !hears.hears_user {
        procedure.open_sources();
    }
    let supervisor = parts::supervisor(&procedure, Mode::Guarded);
    let rules = parts::rules(&procedure, Mode::Guarded, &supervisor, hears);
    let mut bench = Bench::new(rules, options);
    let schema = json!({
        "type": "object",
        "properties": { "offer_id": { "type": "string", "description": "the offer" }, "note": { "type": "string" } },
    });
    let mut tools = parts::tools(&procedure);
    tools[1]["inputSchema"] = schema;
    tools[1]["execution"] = json!({ "taskSupport": "optional" });
    let other = |name: &str, support: &str| json!({ "name": name, "inputSchema": { "type": "object" }, "execution": { "taskSupport": support } });
    // the guard does not support tasks, so `survey`, which requires them, cannot be called
    tools.extend([other("weather", "optional"), other("survey", "required")]);
    bench.begin(tools.into());
    test(&mut bench);
}

#[test]
fn a_session_is_held_to_its_procedure() {
    taxi(Options::default(), DEAF, |bench| {
        assert_eq!(names(&listed(bench)), ["price_ride", "guard_say"]);
        bench.client(call(1, "order_ride", json!({ "offer_id": "T5" })));
        assert!(bench.take_for_server().is_empty());
        let (text, is_error) = told(&bench.take_for_client()[0]);
        assert!(is_error, "{text}");
        assert!(text.contains("order_ride: precondition price_ride"), "{text}");
        let open = "Open now: price_ride, guard_say (request_information, answer_out_of_workflow).";
        assert!(text.ends_with(open), "{text}");

        let arguments = json!({ "pickup": "Elm", "target": "Oak" });
        bench.client(call(2, "price_ride", arguments.clone()));
        let sent = bench.take_for_server();
        assert_eq!(sent[0]["params"], json!({ "name": "price_ride", "arguments": arguments }));
        let data = json!({ "offer_id": "T5", "price": 14, "minutes": 6 });
        bench.server(response(&sent[0]["id"], structured(data.as_object().unwrap())));
        let got = bench.take_for_client();
        assert_eq!(got[0]["method"], "notifications/tools/list_changed");
        assert_eq!(got[1]["result"]["structuredContent"], data);
        let tools = listed(bench);
        // the call may be repeated only with other arguments, and ordering requires that the price was told
        assert_eq!(names(&tools), ["price_ride", "guard_say"]);

        bench.client(call(3, "guard_say", json!({ "answer": "tell_price" })));
        let got = bench.take_for_client();
        assert_eq!(got[0]["method"], "notifications/tools/list_changed");
        let (text, is_error) = told(&got[1]);
        assert!(!is_error && text.contains("Tell the user: 14, in 6 minutes. Shall I order it?"), "{text}");
        assert_eq!(names(&listed(bench)), ["price_ride", "guard_say", "guard_decide"]);
        bench.client(call(4, "order_ride", json!({ "offer_id": "T5" })));
        let (text, _) = told(&bench.take_for_client()[0]);
        assert!(text.contains("guard agreed == true (agreed is not known)"), "{text}");
        bench.client(call(5, "guard_decide", json!({ "agreed": "perhaps" })));
        assert!(told(&bench.take_for_client()[0]).1);
        bench.client(call(6, "guard_decide", json!({ "agreed": true })));
        assert!(!told(bench.take_for_client().last().unwrap()).1);

        let tools = listed(bench);
        assert_eq!(names(&tools), ["price_ride", "order_ride", "guard_say", "guard_decide"]);
        let expected = json!({
            "type": "object",
            "properties": {
                "offer_id": { "type": "string", "description": "the offer", "enum": ["T5"] },
                "note": { "type": "string" },
            },
            "required": ["offer_id"],
        });
        assert_eq!(tools[1]["inputSchema"], expected);
        assert!(tools[1].get("execution").is_none());
        bench.client(call(7, "order_ride", json!({ "offer_id": "T6" })));
        let (text, is_error) = told(&bench.take_for_client()[0]);
        assert!(is_error && text.contains("argument offer_id") && text.contains("T5"), "{text}");
        bench.client(call(8, "order_ride", json!({ "offer_id": "T5", "note": "front door" })));
        let sent = bench.take_for_server();
        bench.server(response(
            &sent[0]["id"],
            json!({ "content": [{ "type": "text", "text": "{\"plate\": \"B 42\"}" }] }),
        ));
        bench.take_for_client();
        bench.client(call(9, "guard_say", json!({ "answer": "car_comes" })));
        let (text, _) = told(bench.take_for_client().last().unwrap());
        assert!(text.contains("Tell the user: The car B 42 comes in 6 minutes."), "{text}");
        bench.client(call(10, "cancel_ride", json!({ "offer_id": "T5" })));
        let sent = bench.take_for_server();
        bench.server(response(&sent[0]["id"], json!({ "content": [] })));
        bench.take_for_client();
        bench.client(call(11, "guard_say", json!({ "answer": "cancelled" })));
        let (text, _) = told(bench.take_for_client().last().unwrap());
        assert!(text.contains("The procedure is complete."), "{text}");

        let log: String = bench.log.iter().map(|event| format!("{event}\n")).collect();
        let trace = read_trace(&log, &Default::default()).unwrap();
        let (verdict, _) =
            grammata_agents::procedures::verify(&parts::procedure("taxi_order"), Mode::Guarded, &trace, true);
        assert!(verdict.violations.is_empty() && verdict.is_complete && verdict.steps == 6, "{verdict:?}");
        assert_eq!(bench.log.iter().filter(|event| event[0] == "guide").count(), 4);
    });
}

#[test]
fn the_words_of_the_user_bound_arguments() {
    taxi(Options::default(), HEARS, |bench| {
        assert_eq!(names(&listed(bench)), ["guard_say", "guard_user"]);
        bench.client(call(1, "guard_user", json!({ "text": "From Elm to Oak." })));
        bench.take_for_client();
        let tools = listed(bench);
        let pickup = &tools[0]["inputSchema"]["properties"]["pickup"]["enum"];
        assert!(pickup.as_array().unwrap().contains(&"Elm".into()), "{pickup}");
        bench.client(call(2, "price_ride", json!({ "pickup": "Ash", "target": "Oak" })));
        assert!(told(&bench.take_for_client()[0]).0.contains("unsaid pickup"));
        bench.client(call(3, "price_ride", json!({ "pickup": "Elm", "target": "Oak" })));
        assert_eq!(bench.take_for_server().len(), 1);
        let long = "a b c d e f g h i j k l m n o p ".repeat(10);
        bench.client(call(4, "guard_user", json!({ "text": "x".repeat(30_000) })));
        bench.client(call(5, "guard_user", json!({ "text": long })));
        // both calls wait for the running one
        assert!(bench.take_for_client().is_empty());
    });
}

#[test]
fn results_that_cannot_be_followed_are_errors() {
    let procedure = parts::procedure("meeting_room");
    let mut open = parts::procedure("meeting_room");
    open.open_sources();
    let supervisor = parts::supervisor(&open, Mode::Guarded);
    let mut bench = Bench::new(parts::rules(&open, Mode::Guarded, &supervisor, DEAF), Options::default());
    bench.begin(parts::tools(&procedure).into());
    bench.client(call(1, "find_rooms", json!({ "day": "Monday", "hour": 10, "people": 6 })));
    let sent = bench.take_for_server();
    let mut data = serde_json::Map::new();
    data.insert("room_count".to_owned(), "many".into());
    bench.server(response(&sent[0]["id"], structured(&data)));
    let got = bench.take_for_client();
    let (text, is_error) = told(got.last().unwrap());
    assert!(is_error && text.contains("room_count = \"many\""), "{text}");
    assert!(bench.log.last().unwrap()[1]["error"].is_string());
}

#[test]
fn all_else_is_passed_on() {
    let allow_methods = ["any/thing", "notifications/anything"].map(str::to_owned).into();
    taxi(Options { allow_others: true, allow_methods, ..Options::default() }, DEAF, |bench| {
        assert_eq!(names(&listed(bench)), ["price_ride", "guard_say", "weather"]);
        let params = r#"{"a":1.50,"b":[1e+3 ]}"#;
        bench.client(format!(r#"{{"jsonrpc":"2.0","id":"x","method":"any/thing","params":{params}}}"#));
        let sent = bench.take_for_server();
        assert_eq!(sent[0]["params"].to_string(), r#"{"a":1.50,"b":[1e+3]}"#);
        bench.server(
            json!({ "jsonrpc": "2.0", "id": sent[0]["id"], "error": { "code": 7, "message": "m" } })
                .to_string(),
        );
        let error = json!({ "jsonrpc": "2.0", "id": "x", "error": { "code": 7, "message": "m" } });
        assert_eq!(bench.take_for_client(), [error]);
        // a request of the server with an id that the client uses, too
        bench.client(request(7, "ping", json!({})));
        bench.server(request(7, "roots/list", json!({})));
        let (take_for_server, take_for_client) = (bench.take_for_server(), bench.take_for_client());
        bench.client(response(&take_for_client[0]["id"], json!({ "roots": [] })));
        assert_eq!(
            bench.take_for_server()[0],
            json!({ "jsonrpc": "2.0", "id": 7, "result": { "roots": [] } })
        );
        bench.server(response(&take_for_server[0]["id"], json!({})));
        assert_eq!(bench.take_for_client()[0], json!({ "jsonrpc": "2.0", "id": 7, "result": {} }));
        for method in ["notifications/progress", "notifications/anything"] {
            bench.client(notification(method));
            bench.server(notification(method));
            assert_eq!(bench.take_for_server()[0]["method"], method);
            assert_eq!(bench.take_for_client()[0]["method"], method);
        }
        // a call without an id is a notification, and is not passed on
        let params = json!({ "name": "weather", "arguments": {} });
        bench.client(json!({ "jsonrpc": "2.0", "method": "tools/call", "params": params }).to_string());
        assert!(bench.take_for_server().is_empty());
        // a name that is given twice is refused
        let params = r#"{"name":"order_ride","name":"weather","arguments":{}}"#;
        bench.client(format!(r#"{{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{params}}}"#));
        assert!(bench.take_for_server().is_empty());
        assert_eq!(bench.take_for_client()[0]["error"]["code"], -32602);
        // the server cancels its own request
        bench.server(request("s", "sampling/createMessage", json!({})));
        let asked = bench.take_for_client();
        let cancelled =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "s" } });
        bench.server(cancelled.to_string());
        assert_eq!(bench.take_for_client()[0]["params"]["requestId"], asked[0]["id"]);
    });
}

#[test]
fn calls_come_one_after_another() {
    taxi(Options { deadline: Duration::from_secs(3), ..Options::default() }, DEAF, |bench| {
        let price =
            |id: u64, pickup: &str| call(id, "price_ride", json!({ "pickup": pickup, "target": "Oak" }));
        for (id, pickup) in [(1, "Elm"), (2, "Ash"), (3, "Fir")] {
            bench.client(price(id, pickup));
        }
        let first = bench.take_for_server();
        assert_eq!(first.len(), 1);
        // a waiting call that is cancelled never reaches the server
        let cancel = |id: u64| {
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } })
                .to_string()
        };
        bench.client(cancel(2));
        assert!(bench.take_for_server().is_empty());
        // if the running call is cancelled, the next one is sent
        bench.client(cancel(1));
        let sent = bench.take_for_server();
        assert_eq!(sent[0]["params"]["requestId"], first[0]["id"]);
        assert_eq!(sent[1]["params"]["arguments"]["pickup"], "Fir");
        bench.server(response(&first[0]["id"], json!({})));
        assert!(bench.take_for_client().is_empty());
        // the next call takes too long
        assert_eq!(bench.guard.deadline(), Some(bench.now + Duration::from_secs(3)));
        bench.now += Duration::from_secs(3);
        let actions = bench.guard.tick(bench.now);
        bench.act(actions);
        assert_eq!(bench.take_for_server()[0]["params"]["requestId"], sent[1]["id"]);
        let got = bench.take_for_client();
        let (text, is_error) = told(got.last().unwrap());
        assert!(is_error && text.contains("did not answer within 3 s"), "{text}");
        assert!(!bench.guard.is_waiting() || bench.guard.deadline().is_none());
        for id in 10..100 {
            bench.client(price(id, "Yew"));
        }
        let refused = bench
            .take_for_client()
            .iter()
            .filter(|message| told(message).0.contains("too many calls"))
            .count();
        assert_eq!(refused, 90 - 1 - 64);
    });
}

#[test]
fn servers_that_do_not_fit_are_refused() {
    let procedure = parts::procedure("taxi_order");
    let supervisor = parts::supervisor(&procedure, Mode::Guarded);
    let bench = |options: Options, tools: Value| {
        let mut bench = Bench::new(parts::rules(&procedure, Mode::Guarded, &supervisor, DEAF), options);
        bench.client(request(1, "tools/list", json!({})));
        let sent = bench.take_for_server();
        bench.server(response(&sent[0]["id"], tools));
        let answer = bench.take_for_client().pop();
        (bench.stopped.map(|error| (error.code(), error.to_string())), answer)
    };
    let named = |names: &[&str]| {
        let mut tools = parts::tools(&procedure);
        tools.resize(names.len(), json!({}));
        for (tool, name) in tools.iter_mut().zip(names) {
            tool["name"] = json!(name);
        }
        json!({ "tools": tools })
    };
    let (stopped, answer) = bench(Options::default(), named(&["price_rides", "order_ride", "cancel_ride"]));
    let (code, text) = stopped.unwrap();
    assert_eq!(code, "guard/missing-tools");
    assert!(text.contains("did you mean `price_rides`?"), "{text}");
    assert!(answer.unwrap()["error"]["message"].as_str().unwrap().contains("price_ride"));
    let map = vec![("price_ride".to_owned(), "price_rides".to_owned())];
    let (stopped, answer) = bench(
        Options { map: map.clone(), ..Options::default() },
        named(&["price_rides", "order_ride", "cancel_ride"]),
    );
    assert!(stopped.is_none() && answer.unwrap()["result"]["tools"].is_array());
    let (stopped, _) =
        bench(Options::default(), named(&["price_ride", "order_ride", "cancel_ride", "guard_say"]));
    assert_eq!(stopped.unwrap().0, "guard/taken-name");
    let closed = json!({ "additionalProperties": false, "properties": {} });
    let tools = ["price_ride", "order_ride", "cancel_ride"]
        .map(|name| json!({ "name": name, "inputSchema": closed }));
    assert_eq!(bench(Options::default(), json!({ "tools": tools })).0.unwrap().0, "guard/argument");
    for broken in [json!([]), json!({}), json!({ "tools": [1] }), json!({ "tools": [], "nextCursor": 1 })] {
        assert_eq!(bench(Options::default(), broken).0.unwrap().0, "guard/list");
    }
    let new = |map: &[(&str, &str)]| {
        let map = map.iter().map(|(api, tool)| ((*api).to_owned(), (*tool).to_owned())).collect();
        let rules = parts::rules(&procedure, Mode::Guarded, &supervisor, DEAF);
        Guard::new(Box::new(rules), Options { map, ..Options::default() }).unwrap_err().code()
    };
    assert_eq!(new(&[("price_rides", "x")]), "guard/unknown-api");
    assert_eq!(new(&[("price_ride", "order_ride")]), "guard/shared-tool");
}

#[test]
fn sessions_are_continued() {
    let procedure = parts::procedure("taxi_order");
    let supervisor = parts::supervisor(&procedure, Mode::Guarded);
    let rules = || parts::rules(&procedure, Mode::Guarded, &supervisor, DEAF);
    let read = |text: &str| read_trace(text, &Default::default()).unwrap();
    let call = r#"["call", "price_ride", {"pickup": "Elm", "target": "Oak"}]"#;
    let ended = rules().resume(&read(&format!("{call}\n[\"guide\", \"x\"]"))).unwrap();
    assert_eq!(ended, Some(json!(["result", { "error": "the session ended before the result" }])));
    let whole = format!(
        "{call}\n[\"result\", {{\"offer_id\": \"T5\", \"price\": 1, \"minutes\": 1}}]\n[\"say\", \"tell_price\"]"
    );
    let mut continued = rules();
    assert_eq!(continued.resume(&read(&whole)).unwrap(), None);
    let mut bench = Bench::new(continued, Options::default());
    bench.begin(parts::tools(&procedure).into());
    assert!(names(&listed(&mut bench)).contains(&"guard_decide"));
    let error = rules().resume(&read(r#"["call", "order_ride", {"offer_id": "x"}]"#)).unwrap_err();
    assert_eq!(error.code(), "guard/trace");
    assert!(error.to_string().contains("event 1: order_ride"), "{error}");
}

#[test]
fn what_a_server_says_of_itself_is_kept() {
    let procedure = parts::procedure("taxi_order");
    let supervisor = parts::supervisor(&procedure, Mode::Guarded);
    let mut bench =
        Bench::new(parts::rules(&procedure, Mode::Guarded, &supervisor, DEAF), Options::default());
    bench.client(request(1, "initialize", json!({ "capabilities": { "x": 1 } })));
    let sent = bench.take_for_server();
    assert_eq!(sent[0]["params"], json!({ "capabilities": { "x": 1 } }));
    let result = json!({
        "protocolVersion": "v",
        "capabilities": { "tools": { "listChanged": false, "y": 1 }, "tasks": { "requests": { "tools": {}, "z": {} } } },
        "instructions": "Be kind.",
    });
    bench.server(response(&sent[0]["id"], result));
    let got = &bench.take_for_client()[0]["result"];
    let capabilities =
        json!({ "tools": { "listChanged": true, "y": 1 }, "tasks": { "requests": { "z": {} } } });
    assert_eq!(got["capabilities"], capabilities);
    assert_eq!(got["protocolVersion"], "v");
    let text = got["instructions"].as_str().unwrap();
    assert!(text.starts_with("Be kind.\n\nYou are held to the procedure `taxi_order`."), "{text}");
}
