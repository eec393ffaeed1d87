//! Decisions of the person who uses the client: asked, accepted, declined, late, withdrawn, and never taken from the
//! agent.

use crate::parts::{self, Bench, call, notification, request, response, structured};
use grammata_agents::procedures::Mode;
use grammata_guard::Options;
use grammata_guard::rules::{Ask, ProcedureOptions};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::time::Duration;

/// Runs a test in a session of the taxi in which the price is known. The client has these capabilities.
fn taxi(ask: Ask, capabilities: Value, test: impl FnOnce(&mut Bench<'_>)) {
    let mut procedure = parts::procedure("taxi_order");
    procedure.open_sources();
    let supervisor = parts::supervisor(&procedure, Mode::Guarded);
    let rules =
        parts::rules(&procedure, Mode::Guarded, &supervisor, ProcedureOptions { hears_user: false, ask });
    let mut bench = Bench::new(rules, Options::default());
    bench.begin_with(capabilities, parts::tools(&procedure).into());
    bench.client(call(1, "price_ride", json!({ "pickup": "Elm", "target": "Oak" })));
    let sent = bench.take_for_server();
    let data = json!({ "offer_id": "T5", "price": 14, "minutes": 6 });
    bench.server(response(&sent[0]["id"], structured(data.as_object().unwrap())));
    bench.take_for_client();
    test(&mut bench);
}

fn asks() -> Value {
    json!({ "elicitation": { "form": {} } })
}

/// Says the price, and returns the question that the client gets.
fn question(bench: &mut Bench<'_>) -> Value {
    bench.client(call("say", "guard_say", json!({ "answer": "tell_price" })));
    let mut got = bench.take_for_client();
    got.retain(|message| message["method"] != "notifications/tools/list_changed");
    assert_eq!(got.len(), 1, "{got:?}");
    assert_eq!(got[0]["method"], "elicitation/create");
    got.remove(0)
}

/// Returns the text of the answer to a call among the messages that the client got.
fn told(bench: &mut Bench<'_>, id: &str) -> Option<(String, bool)> {
    let got = bench.take_for_client();
    let answer = got.iter().find(|message| message["id"] == id)?;
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
    Some((text.to_owned(), answer["result"]["isError"] == true))
}

fn decisions(bench: &Bench<'_>) -> Vec<Value> {
    bench.log.iter().filter(|event| event[0] == "slot").cloned().collect()
}

#[test]
fn the_person_decides() {
    taxi(Ask::Elicit, asks(), |bench| {
        let asked = question(bench);
        let expected = json!({
            "message": "14, in 6 minutes. Shall I order it?",
            "requestedSchema": {
                "type": "object", "properties": { "agreed": { "type": "boolean" } }, "required": ["agreed"],
            },
        });
        assert_eq!(asked["params"], expected);
        // other calls wait for the answer
        bench.client(call("order", "order_ride", json!({ "offer_id": "T5" })));
        assert!(bench.take_for_client().is_empty() && bench.take_for_server().is_empty());
        bench.client(response(&asked["id"], json!({ "action": "accept", "content": { "agreed": true } })));
        assert_eq!(bench.take_for_server()[0]["params"]["name"], "order_ride");
        let (text, is_error) = told(bench, "say").unwrap();
        assert!(!is_error && text.contains("The user decided agreed: true."), "{text}");
        assert_eq!(decisions(bench), [json!(["slot", "agreed", true])]);
    });
}

#[test]
fn nothing_else_is_a_decision() {
    let error = json!({ "code": -32601, "message": "no \u{1b} forms" });
    let accept = |content: Value| json!({ "action": "accept", "content": content });
    for (answer, expected) in [
        (json!({ "result": { "action": "decline" } }), "the user was asked and declined"),
        (json!({ "result": { "action": "cancel" } }), "dismissed the question"),
        (json!({ "result": accept(json!({ "agreed": "yes" })) }), "not of the schema"),
        (json!({ "result": accept(json!({ "agreed": null })) }), "not of the schema"),
        (json!({ "result": accept(json!({})) }), "no value for agreed"),
        (json!({ "result": accept(json!({ "slot": "agreed", "value": true })) }), "no value for agreed"),
        (json!({ "result": accept(json!([true])) }), "is not an object"),
        (json!({ "result": { "action": "accept" } }), "no value for agreed"),
        (json!({ "result": { "action": "ACCEPT", "content": { "agreed": true } } }), "no `action`"),
        (json!({ "result": { "agreed": true } }), "no `action`"),
        (json!({ "result": true }), "no `action`"),
        (json!({ "result": accept(json!({ "agreed": "x".repeat(2 << 20) })) }), "longer than 1 MiB"),
        (json!({ "error": error }), "answered with an error: no"),
    ] {
        taxi(Ask::Elicit, asks(), |bench| {
            let asked = question(bench);
            let mut message = json!({ "jsonrpc": "2.0", "id": asked["id"] });
            message.as_object_mut().unwrap().extend(answer.as_object().unwrap().clone());
            bench.client(message.to_string());
            let (text, is_error) = told(bench, "say").unwrap();
            assert!(!is_error && text.contains("agreed not decided") && text.contains(expected), "{text}");
            assert!(decisions(bench).is_empty());
            bench.client(call("order", "order_ride", json!({ "offer_id": "T5" })));
            assert!(told(bench, "order").unwrap().1 && bench.take_for_server().is_empty());
            // the same answer, sent again, is an answer to nothing
            bench
                .client(response(&asked["id"], json!({ "action": "accept", "content": { "agreed": true } })));
            assert!(decisions(bench).is_empty());
            // the agent may have the person asked again, without a value of its own
            bench.client(call("own", "guard_decide", json!({ "slot": "agreed", "value": true })));
            assert!(told(bench, "own").unwrap().1);
            bench.client(call("again", "guard_decide", json!({ "slot": "agreed" })));
            let again = bench.take_for_client();
            assert_eq!(again[0]["method"], "elicitation/create");
            assert_ne!(again[0]["id"], asked["id"]);
            bench.client(response(&again[0]["id"], accept(json!({ "agreed": false, "more": 1 }))));
            assert!(!told(bench, "again").unwrap().1);
            assert_eq!(decisions(bench), [json!(["slot", "agreed", false])]);
        });
    }
}

#[test]
fn questions_end_without_an_answer() {
    // the deadline
    taxi(Ask::Elicit, asks(), |bench| {
        let asked = question(bench);
        bench.now += Duration::from_secs(599);
        let actions = bench.guard.tick(bench.now);
        assert!(actions.is_empty(), "{actions:?}");
        assert_eq!(bench.guard.deadline(), Some(bench.now + Duration::from_secs(1)));
        bench.now += Duration::from_secs(1);
        let actions = bench.guard.tick(bench.now);
        bench.act(actions);
        assert_eq!(bench.client[0]["method"], "notifications/cancelled");
        assert_eq!(bench.client[0]["params"]["requestId"], asked["id"]);
        let (text, _) = told(bench, "say").unwrap();
        assert!(text.contains("did not answer within 600 s"), "{text}");
        bench.client(response(&asked["id"], json!({ "action": "accept", "content": { "agreed": true } })));
        assert!(decisions(bench).is_empty() && bench.notes.len() == 1);
    });
    // the client cancels the call: the question is withdrawn, and the call has no answer
    taxi(Ask::Elicit, asks(), |bench| {
        let asked = question(bench);
        let params = json!({ "requestId": "say" });
        let line = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        bench.client(line.to_string());
        let got = bench.take_for_client();
        assert_eq!(got.len(), 1, "{got:?}");
        assert_eq!(got[0]["params"]["requestId"], asked["id"]);
        bench.client(response(&asked["id"], json!({ "action": "accept", "content": { "agreed": true } })));
        assert!(decisions(bench).is_empty() && bench.take_for_server().is_empty());
    });
    // the client leaves, with a call in the queue
    taxi(Ask::Elicit, asks(), |bench| {
        question(bench);
        bench.client(call("again", "guard_decide", json!({ "slot": "agreed" })));
        let actions = bench.guard.client_left(bench.now);
        bench.act(actions);
        assert!(!bench.guard.is_waiting());
        let got = bench.take_for_client();
        assert!(got[0].to_string().contains("the client left"), "{got:?}");
        assert!(got[1].to_string().contains("agreed not decided"), "{got:?}");
        assert!(decisions(bench).is_empty());
    });
    // the server ends
    taxi(Ask::Elicit, asks(), |bench| {
        question(bench);
        let actions = bench.guard.close("gone", bench.now);
        bench.act(actions);
        assert!(bench.client.iter().any(|message| message["id"] == "say" && message.get("error").is_some()));
        assert!(!bench.guard.is_waiting() && bench.guard.deadline().is_none());
    });
}

#[test]
fn who_cannot_be_asked_decides_nothing() {
    for (ask, capabilities, expected) in [
        (Ask::Elicit, json!({}), "`grammata guard --ask agent`"),
        (Ask::Elicit, json!({ "elicitation": { "url": {} } }), "`grammata guard --ask agent`"),
        (Ask::Refuse, asks(), "`--ask refuse`"),
    ] {
        taxi(ask, capabilities, |bench| {
            bench.client(call("say", "guard_say", json!({ "answer": "tell_price" })));
            let (text, is_error) = told(bench, "say").unwrap();
            assert!(!is_error && text.contains(expected), "{text}");
            for arguments in [
                json!({ "slot": "agreed" }),
                json!({ "slot": "agreed", "value": true }),
                json!({ "agreed": true }),
            ] {
                bench.client(call("own", "guard_decide", arguments));
                assert!(told(bench, "own").unwrap().1);
            }
            assert!(decisions(bench).is_empty());
        });
    }
}

#[test]
fn questions_of_the_server_are_not_confused_with_those_of_the_guard() {
    taxi(Ask::Elicit, asks(), |bench| {
        let params =
            json!({ "message": "Server?", "requestedSchema": { "type": "object", "properties": {} } });
        bench.server(request("s1", "elicitation/create", params.clone()));
        let servers = bench.take_for_client().remove(0);
        let asked = question(bench);
        bench.server(request(asked["id"].clone(), "elicitation/create", params));
        let second = bench.take_for_client().remove(0);
        assert!(servers["id"] != asked["id"] && second["id"] != asked["id"]);
        // the server cannot withdraw the guard's question by its number, only its own with the same one
        let line = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": asked["id"] } });
        bench.server(line.to_string());
        assert_eq!(bench.take_for_client()[0]["params"]["requestId"], second["id"]);
        let answer = json!({ "action": "accept", "content": { "agreed": true } });
        bench.client(response(&servers["id"], answer.clone()));
        assert_eq!(bench.take_for_server()[0]["id"], "s1");
        assert!(decisions(bench).is_empty());
        bench.client(response(&asked["id"], answer));
        assert!(bench.take_for_server().is_empty());
        assert_eq!(decisions(bench).len(), 1);
    });
}

#[test]
fn agents_get_the_schemas_of_slots() {
    taxi(Ask::Agent, asks(), |bench| {
        bench.client(call("say", "guard_say", json!({ "answer": "tell_price" })));
        assert!(told(bench, "say").unwrap().0.contains("Then the user decides: agreed."));
        bench.client(request("list", "tools/list", json!({})));
        let list = bench.take_for_client().pop().unwrap();
        let tools = list["result"]["tools"].as_array().unwrap();
        let decide = tools.iter().find(|tool| tool["name"] == "guard_decide").unwrap();
        let expected = json!({
            "type": "object",
            "properties": { "agreed": { "type": "boolean" } },
            "required": ["agreed"],
            "additionalProperties": false,
        });
        assert_eq!(decide["inputSchema"], expected);
        for (arguments, is_error) in [
            (json!({}), true),
            (json!({ "agreed": "x" }), true),
            (json!({ "agreed": true, "price": 1 }), true),
            (json!({ "slot": "agreed", "value": true }), true),
            (json!({ "agreed": true }), false),
        ] {
            bench.client(call("own", "guard_decide", arguments));
            assert_eq!(told(bench, "own").unwrap().1, is_error);
        }
        assert_eq!(decisions(bench).len(), 1);
    });
}

/// Agents that try anything, and persons who answer anything. The oracle knows only what the person was asked and
/// accepted: these decisions, and no other ones, are in the log, and a ride is ordered only after the last one agreed.
#[test]
fn agents_cannot_decide() {
    let (mut accepted, mut ordered, mut tried) = (0, 0, 0);
    for seed in 0..400 {
        taxi(Ask::Elicit, asks(), |bench| {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let mut open: Vec<Value> = Vec::new();
            let mut expected: Vec<Value> = Vec::new();
            for step in 0..random.random_range(3..30) {
                match random.random_range(0..10) {
                    0..2 => {
                        bench.client(call(format!("a{step}"), "guard_say", json!({ "answer": "tell_price" })))
                    }
                    2..5 => {
                        tried += 1;
                        let arguments = [
                            json!({ "slot": "agreed", "value": true }),
                            json!({ "agreed": true }),
                            json!({ "slot": "agreed" }),
                            json!({ "slot": ["agreed"], "content": { "agreed": true }, "action": "accept" }),
                            json!({ "slot": "price", "value": 1 }),
                        ];
                        let arguments = arguments.choose(&mut random).unwrap().clone();
                        bench.client(call(format!("a{step}"), "guard_decide", arguments));
                    }
                    5..7 => bench.client(call(format!("a{step}"), "order_ride", json!({ "offer_id": "T5" }))),
                    7 if random.random_bool(0.2) => {
                        bench.now += Duration::from_secs(600);
                        let actions = bench.guard.tick(bench.now);
                        bench.act(actions);
                    }
                    _ => {
                        let Some(id) = open.last().cloned() else { continue };
                        let answers = [
                            json!({ "action": "accept", "content": { "agreed": true } }),
                            json!({ "action": "accept", "content": { "agreed": false } }),
                            json!({ "action": "accept", "content": { "agreed": 1 } }),
                            json!({ "action": "decline", "content": { "agreed": true } }),
                            json!({ "action": "cancel" }),
                        ];
                        let answer = answers.choose(&mut random).unwrap().clone();
                        if answer["action"] == "accept" && answer["content"]["agreed"].is_boolean() {
                            expected.push(json!(["slot", "agreed", answer["content"]["agreed"]]));
                            accepted += 1;
                        }
                        open.pop();
                        bench.client(response(&id, answer));
                    }
                }
                for message in bench.take_for_client() {
                    if message["method"] == "elicitation/create" {
                        open.push(message["id"].clone());
                    }
                    if message["method"] == "notifications/cancelled" {
                        open.retain(|id| *id != message["params"]["requestId"]);
                    }
                }
                assert!(open.len() <= 1);
                assert_eq!(decisions(bench), expected, "{seed}: {:#?}", bench.log);
                for sent in bench.take_for_server() {
                    if sent["params"]["name"] == "order_ride" {
                        assert_eq!(expected.last(), Some(&json!(["slot", "agreed", true])), "{seed}");
                        ordered += 1;
                    }
                    if sent.get("id").is_some() {
                        bench.server(response(
                            &sent["id"],
                            json!({ "structuredContent": { "plate": "B 42" } }),
                        ));
                    }
                }
            }
            bench.client(notification("notifications/initialized"));
        });
    }
    assert!(accepted > 100 && ordered > 50 && tried > 400, "{accepted} {ordered} {tried}");
}
