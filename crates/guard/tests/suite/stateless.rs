//! Sessions without `initialize`, of version 2026-07-28: discovery, questions of the server, and streams.

use crate::parts::{self, Bench, request, response, structured};
use grammata_agents::procedures::Mode;
use grammata_guard::Options;
use grammata_guard::rules::ProcedureOptions;
use serde_json::{Value, json};
use std::time::Duration;

pub(crate) const VERSION: &str = "2026-07-28";

pub(crate) fn envelope(version: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {
            "elicitation": {}, "extensions": { "io.modelcontextprotocol/tasks": {}, "x/y": {} },
        },
    })
}

/// Returns a request with an envelope.
pub(crate) fn enveloped(id: impl Into<Value>, method: &str, mut params: Value) -> String {
    params["_meta"] = envelope(VERSION);
    request(id, method, params)
}

pub(crate) fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> String {
    enveloped(id, "tools/call", json!({ "name": tool, "arguments": arguments }))
}

pub(crate) fn retry(id: impl Into<Value>, tool: &str, arguments: &Value, further: Value) -> String {
    let mut params = json!({ "name": tool, "arguments": arguments });
    params.as_object_mut().unwrap().extend(further.as_object().unwrap().clone());
    enveloped(id, "tools/call", params)
}

/// Runs a test with a guard for the procedure of the taxi, in a session that has not begun.
pub(crate) fn taxi(options: Options, test: impl FnOnce(&mut Bench<'_>, Value)) {
    let mut procedure = parts::procedure("taxi_order");
    procedure.open_sources();
    let supervisor = parts::supervisor(&procedure, Mode::Guarded);
    let rules = parts::rules(&procedure, Mode::Guarded, &supervisor, ProcedureOptions::default());
    let mut bench = Bench::new(rules, options);
    test(&mut bench, parts::tools(&procedure).into());
}

/// Begins a session with `server/discover`. Returns the result for the client.
pub(crate) fn discover(bench: &mut Bench<'_>, tools: Value) -> Value {
    bench.client(enveloped("d", "server/discover", json!({})));
    let sent = bench.take_for_server();
    assert_eq!(sent[0]["method"], "server/discover");
    assert_eq!(sent[0]["params"]["_meta"], envelope(VERSION));
    let result = json!({
        "resultType": "complete", "supportedVersions": ["2025-11-25", VERSION, "2031-01-01"], "cacheScope": "public",
        "ttlMs": 60000, "instructions": "Drives.",
        "capabilities": { "tools": {}, "extensions": { "io.modelcontextprotocol/tasks": {}, "x/y": {} } },
    });
    bench.server(response(&sent[0]["id"], result));
    let sent = bench.take_for_server();
    let methods: Vec<&str> = sent.iter().map(|message| message["method"].as_str().unwrap()).collect();
    assert_eq!(methods, ["subscriptions/listen", "tools/list"]);
    assert!(sent.iter().all(|message| message["params"]["_meta"] == envelope(VERSION)), "{sent:?}");
    bench.server(response(&sent[1]["id"], json!({ "resultType": "complete", "tools": tools })));
    let mut told = bench.take_for_client();
    assert_eq!((told.len(), &told[0]["id"]), (1, &json!("d")));
    told[0]["result"].take()
}

pub(crate) const PRICE: fn() -> Value = || json!({ "pickup": "Elm", "target": "Oak" });
pub(crate) const OFFER: fn() -> Value = || json!({ "offer_id": "T5", "price": 14, "minutes": 6 });

pub(crate) fn asked(state: Option<&str>) -> Value {
    let mut result = json!({
        "resultType": "input_required",
        "inputRequests": { "q": { "method": "elicitation/create", "params": { "message": "Sure?" } } },
    });
    if let Some(state) = state {
        result["requestState"] = state.into();
    }
    result
}

#[test]
fn the_discovery_is_changed_for_the_client() {
    taxi(Options::default(), |bench, tools| {
        let result = discover(bench, tools);
        assert_eq!(result["supportedVersions"], json!(["2025-11-25", VERSION]));
        let capabilities = json!({ "tools": { "listChanged": true }, "extensions": { "x/y": {} } });
        assert_eq!(result["capabilities"], capabilities);
        assert_eq!((&result["cacheScope"], &result["ttlMs"]), (&json!("private"), &json!(60000)));
        assert!(result["instructions"].as_str().unwrap().starts_with("Drives.\n\nYou are held to"));

        bench.client(enveloped(1, "tools/list", json!({})));
        let list = &bench.take_for_client()[0]["result"];
        let expected = [&json!("complete"), &json!(0), &json!("private"), &json!("price_ride")];
        assert_eq!(
            [&list["resultType"], &list["ttlMs"], &list["cacheScope"], &list["tools"][0]["name"]],
            expected
        );
        bench.client(call(2, "order_ride", json!({ "offer_id": "T5" })));
        let refused = &bench.take_for_client()[0]["result"];
        assert_eq!((&refused["isError"], &refused["resultType"]), (&json!(true), &json!("complete")));
        bench.client(call(3, "price_ride", PRICE()));
        let sent = bench.take_for_server();
        let capabilities = &sent[0]["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
        assert_eq!(capabilities["extensions"], json!({ "x/y": {} }));
    });
}

#[test]
fn sessions_may_begin_without_discovery_or_fall_back() {
    taxi(Options::default(), |bench, tools| {
        bench.client(enveloped(1, "tools/list", json!({})));
        let sent = bench.take_for_server();
        assert_eq!(sent[1]["params"]["_meta"], envelope(VERSION));
        bench.server(response(&sent[1]["id"], json!({ "resultType": "complete", "tools": tools })));
        assert_eq!(bench.take_for_client()[0]["result"]["ttlMs"], 0);
    });
    // the server answers as in an earlier version: the client could not read the result of a call
    taxi(Options::default(), |bench, tools| {
        bench.client(call(1, "price_ride", PRICE()));
        let sent = bench.take_for_server();
        bench.server(response(&sent[1]["id"], json!({ "tools": tools })));
        assert_eq!(bench.stopped.as_ref().map(grammata::Error::code), Some("guard/list"));
        assert!(bench.take_for_server().is_empty());
        assert!(bench.take_for_client()[0]["error"]["message"].as_str().unwrap().contains(VERSION));
    });
    taxi(Options::default(), |bench, tools| {
        bench.client(enveloped(1, "server/discover", json!({})));
        let id = bench.take_for_server()[0]["id"].clone();
        let error = json!({ "code": -32601, "message": "Method not found" });
        bench.server(json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string());
        assert_eq!(bench.take_for_client()[0]["error"], error);
        assert!(bench.take_for_server().is_empty());
        bench.begin(tools);
        bench.client(request(2, "tools/list", json!({})));
        let list = &bench.take_for_client()[0]["result"];
        assert!(list.get("resultType").is_none() && list.get("ttlMs").is_none(), "{list}");
    });
}

#[test]
fn versions_that_the_guard_does_not_know_are_refused() {
    taxi(Options::default(), |bench, _| {
        for method in ["server/discover", "tools/list", "tools/call", "resources/list"] {
            bench.client(request(1, method, json!({ "_meta": envelope("2031-01-01") })));
            let error = &bench.take_for_client()[0]["error"];
            let expected = json!({ "supported": [VERSION], "requested": "2031-01-01" });
            assert_eq!((&error["code"], &error["data"]), (&json!(-32022), &expected));
        }
        assert!(bench.take_for_server().is_empty());
    });
}

#[test]
fn a_call_and_its_retries_are_one_call() {
    taxi(Options::default(), |bench, tools| {
        discover(bench, tools);
        bench.client(call(1, "price_ride", PRICE()));
        let mut id = bench.take_for_server()[0]["id"].clone();
        for state in [Some("a"), None, Some("b")] {
            bench.server(response(&id, asked(state)));
            assert_eq!(bench.take_for_client()[0]["result"], asked(state));
            let other = json!({ "pickup": "Elm", "target": "Bank" });
            let answer = json!({ "q": { "action": "accept", "content": {} } });
            let with = |state: Option<&str>| match state {
                Some(state) => json!({ "requestState": state, "inputResponses": answer }),
                None => json!({ "inputResponses": answer }),
            };
            let wrong = if state == Some("a") { Some("c") } else { Some("a") };
            for (tool, arguments, further) in [
                ("price_ride", &PRICE(), with(wrong)),
                ("price_ride", &other, with(state)),
                ("cancel_ride", &PRICE(), with(state)),
                ("price_ride", &PRICE(), json!({ "requestState": 7, "inputResponses": answer })),
            ] {
                bench.client(retry(2, tool, arguments, further));
                assert!(bench.take_for_server().is_empty(), "{tool} {arguments}");
                assert_eq!(bench.take_for_client()[0]["error"]["code"], -32602);
            }
            bench.client(retry(3, "price_ride", &PRICE(), with(state)));
            let sent = bench.take_for_server();
            assert_eq!(sent[0]["params"]["inputResponses"], answer);
            assert_eq!(sent[0]["params"].get("requestState"), state.map(Value::from).as_ref());
            // a retry is not repeated
            bench.client(retry(4, "price_ride", &PRICE(), with(state)));
            assert_eq!(bench.take_for_client()[0]["error"]["code"], -32602);
            id = sent[0]["id"].clone();
        }
        bench.server(response(&id, structured(OFFER().as_object().unwrap())));
        let got = bench.take_for_client();
        assert_eq!((&got[0]["id"], &got[0]["result"]["structuredContent"]), (&json!(3), &OFFER()));
        bench.log.retain(|event| event[0] != "client");
        assert_eq!(bench.log, [json!(["call", "price_ride", PRICE()]), json!(["result", OFFER()])]);
    });
}

#[test]
fn an_open_question_ends_by_another_call_or_its_deadline() {
    let ask_deadline = Duration::from_secs(10);
    for is_late in [false, true] {
        taxi(Options { ask_deadline, ..Options::default() }, |bench, tools| {
            discover(bench, tools);
            bench.client(call(1, "price_ride", PRICE()));
            // this call waits for the end of the first one
            bench.client(call(2, "order_ride", json!({ "offer_id": "T5" })));
            let id = bench.take_for_server()[0]["id"].clone();
            bench.server(response(&id, asked(Some("a"))));
            assert_eq!(bench.take_for_client().len(), 1);
            if is_late {
                bench.now += Duration::from_secs(9);
                let actions = bench.guard.tick(bench.now);
                bench.act(actions);
                assert!(bench.take_for_client().is_empty());
                assert_eq!(bench.guard.deadline(), Some(bench.now + Duration::from_secs(1)));
                bench.now += Duration::from_secs(1);
                let actions = bench.guard.tick(bench.now);
                bench.act(actions);
            } else {
                bench.client(call(3, "no_such", json!({})));
                assert_eq!(bench.take_for_client().len(), 1);
                // a call that was sent at the same time waits, a later one ends the question
                bench.now += Duration::from_secs(1);
                bench.client(call(3, "order_ride", json!({ "offer_id": "T5" })));
                assert!(bench.take_for_client().is_empty() && bench.take_for_server().is_empty());
                bench.now += Duration::from_millis(1);
                bench.client(call(4, "price_ride", json!({ "pickup": "Elm", "target": "Bank" })));
            }
            let told = bench.take_for_client();
            assert_eq!((&told[0]["id"], &told[0]["result"]["isError"]), (&json!(2), &json!(true)));
            assert_eq!(bench.take_for_server().len(), usize::from(!is_late));
            let failed = bench.log.iter().find(|event| event[0] == "result").unwrap();
            assert!(failed.to_string().contains("the question of the call was not answered"), "{failed}");
            bench.client(retry(5, "price_ride", &PRICE(), json!({ "requestState": "a" })));
            assert_eq!(bench.take_for_client()[0]["error"]["code"], -32602);
        });
    }
}

#[test]
fn the_end_of_the_session_ends_a_question() {
    taxi(Options::default(), |bench, tools| {
        discover(bench, tools);
        bench.client(call(1, "price_ride", PRICE()));
        let id = bench.take_for_server()[0]["id"].clone();
        bench.server(response(&id, asked(None)));
        assert!(!bench.guard.is_waiting());
        let actions = bench.guard.close("the client left", bench.now);
        bench.act(actions);
        let kinds: Vec<&Value> = bench.log.iter().map(|event| &event[0]).collect();
        assert_eq!(kinds, ["client", "call", "result"]);
    });
}

#[test]
fn results_that_are_not_final_do_not_reach_the_client() {
    for result in [
        json!({ "resultType": "task", "taskId": "1" }),
        json!({ "resultType": "input_required" }),
        json!({ "resultType": "input_required", "inputRequests": {} }),
        json!({ "resultType": "input_required", "requestState": 7 }),
        json!({ "resultType": 7, "structuredContent": OFFER() }),
    ] {
        taxi(Options::default(), |bench, tools| {
            discover(bench, tools);
            bench.client(call(1, "price_ride", PRICE()));
            let id = bench.take_for_server()[0]["id"].clone();
            bench.server(response(&id, result.clone()));
            let told = &bench.take_for_client()[0]["result"];
            assert_eq!(
                (&told["isError"], &told["resultType"]),
                (&json!(true), &json!("complete")),
                "{result}"
            );
        });
    }
    // before version 2026-07-28 a result cannot ask
    taxi(Options::default(), |bench, tools| {
        bench.begin(tools);
        bench.client(parts::call(1, "price_ride", PRICE()));
        let id = bench.take_for_server()[0]["id"].clone();
        bench.server(response(&id, asked(None)));
        assert_eq!(bench.take_for_client()[0]["result"]["isError"], true);
    });
}

#[test]
fn streams_are_shared_between_the_guard_and_the_server() {
    const STREAM: &str = "io.modelcontextprotocol/subscriptionId";
    const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
    const CHANGED: &str = "notifications/tools/list_changed";
    let notification = |method: &str, id: &Value, mut params: Value| {
        params["_meta"] = json!({ STREAM: id });
        json!({ "jsonrpc": "2.0", "method": method, "params": params })
    };
    taxi(Options::default(), |bench, tools| {
        discover(bench, tools.clone());
        let listen = |filter: Value| json!({ "notifications": filter });
        bench.client(enveloped("a", "subscriptions/listen", listen(json!({ "toolsListChanged": true }))));
        assert!(bench.take_for_server().is_empty());
        let acknowledged =
            notification(ACKNOWLEDGED, &json!("a"), listen(json!({ "toolsListChanged": true })));
        assert_eq!(bench.take_for_client(), [acknowledged]);
        let filter = json!({ "toolsListChanged": true, "resourceSubscriptions": ["r:1"] });
        bench.client(enveloped(7, "subscriptions/listen", listen(filter.clone())));
        let sent = bench.take_for_server();
        let number = sent[0]["id"].clone();
        assert_eq!(sent[0]["params"]["notifications"], json!({ "resourceSubscriptions": ["r:1"] }));

        bench.client(enveloped(8, "tools/list", json!({})));
        bench.take_for_client();
        bench.client(call(9, "price_ride", PRICE()));
        let id = bench.take_for_server()[0]["id"].clone();
        bench.server(response(&id, structured(OFFER().as_object().unwrap())));
        let told = bench.take_for_client();
        // the second stream is not acknowledged yet
        assert_eq!(told[0], notification(CHANGED, &json!("a"), json!({})));
        assert_eq!(told[1]["id"], 9);

        let own = json!({ "resourceSubscriptions": ["r:1"] });
        bench.server(notification(ACKNOWLEDGED, &number, listen(own)).to_string());
        let given = json!({ "resourceSubscriptions": ["r:1"], "toolsListChanged": true });
        assert_eq!(bench.take_for_client(), [notification(ACKNOWLEDGED, &json!(7), listen(given))]);
        let updated =
            |id: &Value| notification("notifications/resources/updated", id, json!({ "uri": "r:1" }));
        bench.server(updated(&number).to_string());
        assert_eq!(bench.take_for_client(), [updated(&json!(7))]);
        // the client hears of tools from the guard only, and of nothing on streams that it did not open
        bench.server(notification(CHANGED, &number, json!({})).to_string());
        bench.server(updated(&json!(999)).to_string());
        assert!(bench.take_for_client().is_empty() && bench.take_for_server().is_empty());
        // the guard's own stream has the first number after `server/discover`
        bench.server(notification(CHANGED, &json!(2), json!({})).to_string());
        let sent = bench.take_for_server();
        assert_eq!(sent[0]["method"], "tools/list");
        bench.server(response(&sent[0]["id"], json!({ "tools": tools })));

        assert!(!bench.guard.is_waiting());
        let cancel = |id: Value| {
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } })
                .to_string()
        };
        bench.client(cancel(json!("a")));
        assert!(bench.take_for_server().is_empty());
        bench.client(cancel(json!(7)));
        assert_eq!(bench.take_for_server()[0]["params"]["requestId"], number);
        bench.client(call(10, "guard_say", json!({ "answer": "tell_price" })));
        assert_eq!(bench.take_for_client().len(), 1);
        for id in 20..40 {
            bench.client(enveloped(id, "subscriptions/listen", listen(json!({ "toolsListChanged": true }))));
        }
        let refused = bench.take_for_client().into_iter().filter(|message| message.get("error").is_some());
        assert_eq!(refused.count(), 4);
    });
}

#[test]
fn the_guard_opens_its_stream_again() {
    taxi(Options::default(), |bench, tools| {
        discover(bench, tools);
        let end = |bench: &mut Bench<'_>, number: u64| {
            bench.server(response(&json!(number), json!({ "resultType": "complete" })));
            bench.take_for_server()
        };
        bench.now += Duration::from_secs(60);
        let sent = end(bench, 2);
        assert_eq!(sent[0]["method"], "subscriptions/listen");
        assert_eq!(sent[1]["method"], "tools/list");
        assert!(end(bench, sent[0]["id"].as_u64().unwrap()).is_empty());
    });
}
