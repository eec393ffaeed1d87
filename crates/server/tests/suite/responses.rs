//! `/v1/responses`.

use crate::client::{is_valid, start};
use grammata_server::ServerOptions;
use serde_json::json;

#[test]
fn answers_are_items() {
    let server = start(Some("qwen_3"), ServerOptions::default());
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false});
    let format = json!({"type": "json_schema", "name": "answer", "schema": schema, "strict": true});
    let answered = server.respond(&json!({"text": {"format": format}, "max_output_tokens": 80, "seed": 4}));
    let value = answered.json();
    assert_eq!((&value["object"], &value["status"]), (&json!("response"), &json!("completed")), "{value}");
    let items = value["output"].as_array().unwrap();
    assert_eq!(
        items.iter().map(|item| item["type"].as_str().unwrap()).collect::<Vec<_>>(),
        ["reasoning", "message"]
    );
    is_valid(&schema, items[1]["content"][0]["text"].as_str().unwrap());
    assert_eq!(value["text"]["format"], format);
}

#[test]
fn calls_are_items_and_results_are_taken() {
    let server = start(Some("hermes"), ServerOptions::default());
    let tools = json!([{"type": "function", "name": "now", "parameters": {"type": "object", "properties": {}, "additionalProperties": false}}]);
    let value =
        server.respond(&json!({"tools": tools, "tool_choice": {"type": "function", "name": "now"}})).json();
    let call = value["output"][0].clone();
    assert_eq!((&call["type"], &call["name"]), (&json!("function_call"), &json!("now")), "{value}");
    is_valid(&tools[0]["parameters"], call["arguments"].as_str().unwrap());
    let input = json!([
        {"role": "user", "content": "The time?"},
        call,
        {"type": "function_call_output", "call_id": call["call_id"], "output": "noon"},
    ]);
    let value = server
        .respond(
            &json!({"input": input, "tools": tools, "instructions": "Be short.", "max_output_tokens": 5}),
        )
        .json();
    assert_eq!(value["status"], "incomplete", "{value}");
    assert_eq!(value["incomplete_details"]["reason"], "max_output_tokens");
}

#[test]
fn events_build_the_final_response() {
    let tools = json!([{"type": "function", "name": "say", "parameters": {"type": "object", "properties": {"x": {"type": "string", "maxLength": 8}}, "required": ["x"]}}]);
    for family in ["qwen_3", "hermes", "harmony"] {
        let server = start(Some(family), ServerOptions::default());
        for seed in 0..6 {
            let choice = if seed % 2 == 0 { "auto" } else { "required" };
            let members = json!({"tools": tools, "tool_choice": choice, "seed": seed, "max_output_tokens": 120, "stream": true});
            let answered = server.respond(&members);
            let events = answered.events();
            let numbers: Vec<u64> =
                events.iter().map(|event| event["sequence_number"].as_u64().unwrap()).collect();
            assert_eq!(numbers, (0..events.len() as u64).collect::<Vec<_>>());
            let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
            assert_eq!(kinds[..2], ["response.created", "response.in_progress"]);
            let last = &events.last().unwrap()["response"];
            let output = last["output"].as_array().unwrap();
            let mut texts = vec![String::new(); output.len()];
            for event in &events {
                if event["type"].as_str().unwrap().ends_with(".delta") {
                    texts[event["output_index"].as_u64().unwrap() as usize] +=
                        event["delta"].as_str().unwrap();
                }
            }
            for (item, text) in output.iter().zip(&texts) {
                let whole = match item["type"].as_str() {
                    Some("function_call") => &item["arguments"],
                    _ => &item["content"][0]["text"],
                };
                assert_eq!(whole, text, "{family}: {last}");
            }
            let done = kinds.iter().filter(|kind| **kind == "response.output_item.done").count();
            assert_eq!(done, output.len());
        }
    }
}

#[test]
fn what_needs_state_is_refused_by_name() {
    let server = start(None, ServerOptions::default());
    let refused = [
        ("store", json!(true)),
        ("previous_response_id", json!("resp_1")),
        ("background", json!(true)),
        ("truncation", json!("auto")),
        ("include", json!(["message.output_text.logprobs"])),
        ("prompt", json!({"id": "x"})),
    ];
    for (name, value) in refused {
        let answered = server.respond(&json!({ name: value }));
        assert_eq!(
            (answered.status, &answered.json()["error"]["param"]),
            (400, &json!(name)),
            "{}",
            answered.body
        );
    }
}
