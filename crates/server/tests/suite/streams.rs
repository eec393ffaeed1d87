//! Streams of chat completions reassemble to the whole answer.

use crate::client::{Answered, start};
use grammata_server::ServerOptions;
use serde_json::{Map, Value, json};

/// Puts the pieces of the first choice together, and checks the order of the events.
fn assembled(answered: &Answered) -> Value {
    assert!(answered.body.ends_with("data: [DONE]\n\n"), "{}", answered.body);
    let events = answered.events();
    let (mut text, mut reasoning, mut reason) = (String::new(), String::new(), Value::Null);
    let mut calls: Vec<Map<String, Value>> = Vec::new();
    for (at, event) in events.iter().enumerate() {
        assert_eq!(event["id"], events[0]["id"]);
        assert_eq!(event["object"], "chat.completion.chunk");
        let Some(choice) = event["choices"].get(0) else { continue };
        let delta = &choice["delta"];
        assert_eq!(delta["role"] == "assistant", at == 0, "{event}");
        assert!(reason.is_null(), "an event after the last: {event}");
        text += delta["content"].as_str().unwrap_or_default();
        reasoning += delta["reasoning_content"].as_str().unwrap_or_default();
        for part in delta["tool_calls"].as_array().into_iter().flatten() {
            let index = part["index"].as_u64().unwrap() as usize;
            if part.get("id").is_some() {
                assert_eq!(index, calls.len());
                calls.push(Map::from_iter([("name".to_owned(), part["function"]["name"].clone())]));
                calls[index].insert("arguments".to_owned(), json!(""));
            }
            let so_far = calls[index]["arguments"].as_str().unwrap();
            let more = part["function"]["arguments"].as_str().unwrap_or_default();
            let arguments = format!("{so_far}{more}");
            calls[index].insert("arguments".to_owned(), json!(arguments));
        }
        reason = choice["finish_reason"].clone();
    }
    json!({ "content": text, "reasoning": reasoning, "calls": calls, "reason": reason })
}

fn whole(value: &Value) -> Value {
    let choice = &value["choices"][0];
    let message = &choice["message"];
    let calls: Vec<Value> =
        message["tool_calls"].as_array().into_iter().flatten().map(|call| call["function"].clone()).collect();
    json!({
        "content": message["content"].as_str().unwrap_or_default(),
        "reasoning": message["reasoning_content"].as_str().unwrap_or_default(),
        "calls": calls,
        "reason": choice["finish_reason"],
    })
}

#[test]
fn streams_have_the_parts_of_the_whole_answer() {
    let tools = json!([
        {"type": "function", "function": {"name": "a", "parameters": {"type": "object", "properties": {"x": {"type": "string", "maxLength": 8}}, "required": ["x"]}}},
        {"type": "function", "function": {"name": "ab", "parameters": {"type": "object", "properties": {}, "additionalProperties": false}}},
    ]);
    for family in
        ["hermes", "qwen_3", "harmony", "kimi", "mistral", "llama", "deepseek_v3_1", "phi", "granite"]
    {
        let server = start(Some(family), ServerOptions::default());
        for seed in 0..6 {
            let choice = if seed % 2 == 0 { "auto" } else { "required" };
            let members = json!({"tools": tools, "tool_choice": choice, "seed": seed, "max_tokens": 120, "temperature": 0.7});
            let (mut streaming, answer) = (members.clone(), server.chat(&members));
            streaming["stream"] = json!(true);
            let streamed = server.chat(&streaming);
            assert_eq!(
                (answer.status, streamed.status),
                (200, 200),
                "{family}: {} {}",
                answer.body,
                streamed.body
            );
            assert_eq!(assembled(&streamed), whole(&answer.json()), "{family}");
        }
    }
}

#[test]
fn several_outputs_share_a_stream_and_usage_comes_last() {
    let server = start(None, ServerOptions::default());
    let members = json!({"json_schema": {"type": "string", "pattern": "^[a-z]{9}$"}, "n": 3, "seed": 1, "stream": true,
        "logprobs": true, "stream_options": {"include_usage": true}});
    let answered = server.chat(&members);
    let events = answered.events();
    let last = events.last().unwrap();
    assert_eq!(last["choices"], json!([]));
    let mut texts = vec![String::new(); 3];
    let mut scored = 0;
    for event in &events[..events.len() - 1] {
        assert_eq!(event["usage"], Value::Null);
        let choice = &event["choices"][0];
        texts[choice["index"].as_u64().unwrap() as usize] +=
            choice["delta"]["content"].as_str().unwrap_or_default();
        scored += choice["logprobs"]["content"].as_array().map_or(0, Vec::len) as u64;
    }
    assert!(texts.iter().all(|text| text.len() == 11), "{texts:?}");
    assert_eq!(last["usage"]["completion_tokens"].as_u64().unwrap(), scored);
}
