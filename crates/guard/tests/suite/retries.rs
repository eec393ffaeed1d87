//! Questions in results, in sessions of version 2026-07-28: those of the guard, and hostile retries.

use crate::parts::{self, Bench, response};
use crate::stateless::{OFFER, PRICE, asked, call, discover, retry, taxi};
use grammata_guard::Options;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::time::Duration;

/// Runs a test in a session in which the price is known.
fn priced(options: Options, test: impl FnOnce(&mut Bench<'_>)) {
    taxi(options, |bench, tools| {
        discover(bench, tools);
        bench.client(call(1, "price_ride", PRICE()));
        let id = bench.take_for_server()[0]["id"].clone();
        bench.server(response(&id, parts::structured(OFFER().as_object().unwrap())));
        bench.take_for_client();
        test(bench);
    });
}

/// Says the price, and returns the result that asks.
fn question(bench: &mut Bench<'_>) -> Value {
    bench.client(call("say", "guard_say", json!({ "answer": "tell_price" })));
    let mut got = bench.take_for_client();
    assert_eq!((got.len(), &got[0]["id"]), (1, &json!("say")), "{got:?}");
    got[0]["result"].take()
}

fn answer(bench: &mut Bench<'_>, state: &Value, answers: Value) -> Vec<Value> {
    let further = json!({ "requestState": state, "inputResponses": answers });
    bench.client(retry("retry", "guard_say", &json!({ "answer": "tell_price" }), further));
    bench.take_for_client()
}

fn decisions(bench: &Bench<'_>) -> Vec<Value> {
    bench.log.iter().filter(|event| event[0] == "slot").cloned().collect()
}

#[test]
fn the_guard_asks_by_results() {
    priced(Options::default(), |bench| {
        let asked = question(bench);
        let params = json!({
            "message": "14, in 6 minutes. Shall I order it?",
            "requestedSchema": {
                "type": "object", "properties": { "agreed": { "type": "boolean" } }, "required": ["agreed"],
            },
        });
        let questions = json!({ "guard": { "method": "elicitation/create", "params": params } });
        assert_eq!((&asked["resultType"], &asked["inputRequests"]), (&json!("input_required"), &questions));
        assert!(!bench.guard.is_waiting());
        let accepted = json!({ "guard": { "action": "accept", "content": { "agreed": true } } });
        let got = answer(bench, &asked["requestState"], accepted.clone());
        let text = got[0]["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("The user decided agreed: true."), "{text}");
        assert_eq!(got[0]["result"]["resultType"], "complete");
        assert_eq!(decisions(bench), [json!(["slot", "agreed", true])]);
        // an answer counts only once
        assert_eq!(answer(bench, &asked["requestState"], accepted)[0]["error"]["code"], -32602);
        assert_eq!(decisions(bench).len(), 1);
    });
}

#[test]
fn nothing_else_is_an_answer() {
    for (answers, expected) in [
        (json!({ "guard": { "action": "decline" } }), "was asked and declined"),
        (json!({ "guard": { "action": "cancel" } }), "dismissed the question"),
        (json!({ "guard": { "action": "accept", "content": { "agreed": 1 } } }), "not of the schema"),
        (json!({ "guard": true }), "no `action`"),
        (
            json!({ "other": { "action": "accept", "content": { "agreed": true } } }),
            "lacks `inputResponses.guard`",
        ),
        (json!([]), "lacks `inputResponses.guard`"),
        (Value::Null, "lacks `inputResponses.guard`"),
    ] {
        priced(Options::default(), |bench| {
            let asked = question(bench);
            let got = answer(bench, &asked["requestState"], answers.clone());
            let text = got[0]["result"]["content"][0]["text"].as_str().unwrap();
            assert!(text.contains("agreed not decided") && text.contains(expected), "{answers}: {text}");
            assert!(decisions(bench).is_empty());
            bench.client(call("order", "order_ride", json!({ "offer_id": "T5" })));
            assert!(bench.take_for_server().is_empty());
        });
    }
}

#[test]
fn questions_in_results_end_without_an_answer() {
    let accepted = || json!({ "guard": { "action": "accept", "content": { "agreed": true } } });
    type End = fn(&mut Bench<'_>);
    let ends: [End; 3] = [
        |bench| {
            bench.now += Duration::from_secs(600);
            assert_eq!(bench.guard.deadline(), Some(bench.now));
            let actions = bench.guard.tick(bench.now);
            bench.act(actions);
        },
        // calls that are sent at the same time wait; a later one ends the question
        |bench| {
            bench.client(call("b", "order_ride", json!({ "offer_id": "T5" })));
            assert!(bench.take_for_client().is_empty());
            bench.now += Duration::from_secs(2);
            bench.client(call("c", "order_ride", json!({ "offer_id": "T5" })));
            let got = bench.take_for_client();
            assert!(
                got.iter().all(|message| message["result"]["isError"] == true) && got.len() == 2,
                "{got:?}"
            );
        },
        |bench| {
            let actions = bench.guard.client_left(bench.now);
            bench.act(actions);
        },
    ];
    for end in ends {
        priced(Options::default(), |bench| {
            let asked = question(bench);
            end(bench);
            assert!(bench.take_for_client().is_empty() && bench.guard.deadline().is_none());
            assert!(bench.log.iter().any(|event| event.to_string().contains("agreed not decided")));
            assert_eq!(answer(bench, &asked["requestState"], accepted())[0]["error"]["code"], -32602);
            assert!(decisions(bench).is_empty());
        });
    }
}

#[test]
fn retries_of_other_tools_have_their_own_states() {
    taxi(Options { allow_others: true, ..Options::default() }, |bench, mut tools| {
        for name in ["x", "y"] {
            tools.as_array_mut().unwrap().push(json!({ "name": name, "inputSchema": {} }));
        }
        discover(bench, tools);
        bench.client(call(1, "price_ride", PRICE()));
        let id = bench.take_for_server()[0]["id"].clone();
        bench.server(response(&id, asked(Some("a"))));
        bench.client(call(2, "x", json!({})));
        let id = bench.take_for_server()[0]["id"].clone();
        bench.server(response(&id, asked(Some("b"))));
        assert_eq!(bench.take_for_client().len(), 2);
        for (tool, state, is_passed) in [
            ("x", Some("a"), false),
            ("y", Some("b"), false),
            ("x", Some("b"), true),
            ("x", Some("b"), false),
            ("y", None, true),
        ] {
            let further = json!({ "requestState": state, "inputResponses": { "q": {} } });
            bench.client(retry(3, tool, &json!({}), further));
            let sent = bench.take_for_server();
            assert_eq!(sent.len(), usize::from(is_passed), "{tool} {state:?}");
            for message in sent {
                assert_eq!(message["params"].get("requestState"), state.map(Value::from).as_ref());
                bench.server(response(&message["id"], json!({ "content": [] })));
            }
            assert_eq!(bench.take_for_client().len(), 1);
        }
    });
}

/// Clients that answer and retry anything. The oracle knows the latest question of each call: only its exact retry
/// reaches the server or decides, each question has at most one, and each call of the log has one result.
#[test]
fn hostile_retries_reach_nothing() {
    let (mut decided, mut passed, mut tried) = (0, 0, 0);
    for seed in 0..300 {
        taxi(Options::default(), |bench, tools| {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            discover(bench, tools);
            // tool, arguments and state of the question that is open
            let mut open: Option<(String, Value, Value)> = None;
            let mut last = None;
            let mut expected: Vec<Value> = Vec::new();
            for step in 0..random.random_range(5..40) {
                let known = [
                    ("price_ride", PRICE()),
                    ("price_ride", json!({ "pickup": "Elm", "target": "Bank" })),
                    ("order_ride", json!({ "offer_id": "T5" })),
                    ("guard_say", json!({ "answer": "tell_price" })),
                    ("guard_decide", json!({ "slot": "agreed" })),
                ];
                let (tool, arguments) = known.choose(&mut random).unwrap().clone();
                let mut made = (tool.to_owned(), arguments);
                if random.random_bool(0.6) {
                    let state = match (open.clone().or(last.clone()), random.random_bool(0.7)) {
                        (Some((tool, arguments, state)), true) => {
                            made = (tool, arguments);
                            state
                        }
                        (Some((.., state)), false) => state,
                        (None, _) => json!("1"),
                    };
                    let agreed = random.random_bool(0.5);
                    let answer = json!({ "action": "accept", "content": { "agreed": agreed } });
                    let further = json!({ "requestState": state, "inputResponses": { "guard": answer } });
                    bench.client(retry(step, &made.0, &made.1, further));
                    tried += 1;
                    let is_answer = open == Some((made.0.clone(), made.1.clone(), state));
                    let is_own = made.0.starts_with("guard");
                    let is_sent =
                        bench.server.iter().any(|message| message["params"].get("requestState").is_some());
                    assert_eq!(is_sent, is_answer && !is_own, "{seed}");
                    if is_answer {
                        last = open.take();
                        passed += u32::from(!is_own);
                        decided += u32::from(is_own);
                        expected.extend(is_own.then(|| json!(["slot", "agreed", agreed])));
                    }
                } else {
                    bench.now += Duration::from_secs(2);
                    bench.client(call(step, &made.0, made.1.clone()));
                    last = open.take().or(last);
                }
                assert_eq!(decisions(bench), expected, "{seed}: {:#?}", bench.log);
                for sent in bench.take_for_server().into_iter().filter(|sent| sent["method"] == "tools/call")
                {
                    let result = match random.random_bool(0.5) {
                        true => asked(Some(&format!("s{step}"))),
                        false if made.0 == "order_ride" => {
                            json!({ "structuredContent": { "plate": "B 42" } })
                        }
                        false => parts::structured(OFFER().as_object().unwrap()),
                    };
                    bench.server(response(&sent["id"], result));
                }
                let got = bench.take_for_client();
                let asking = got.iter().find(|message| message["result"].get("inputRequests").is_some());
                if let Some(asking) = asking {
                    assert_eq!(asking["id"], step);
                    open = Some((made.0, made.1, asking["result"]["requestState"].clone()));
                }
            }
            let of = |kind: &str| bench.log.iter().filter(|event| event[0] == kind).count();
            let is_open = open.is_some_and(|(tool, ..)| !tool.starts_with("guard"));
            assert_eq!(of("call"), of("result") + usize::from(is_open), "{seed}: {:#?}", bench.log);
        });
    }
    assert!(decided > 50 && passed > 50 && tried > 1000, "{decided} {passed} {tried}");
}
