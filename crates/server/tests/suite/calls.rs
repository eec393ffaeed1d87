//! Calls of tools.

use crate::client::{is_valid, start};
use grammata_server::ServerOptions;
use serde_json::{Value, json};

fn tools() -> Value {
    json!([
        {"type": "function", "function": {"name": "get_weather", "description": "The weather.", "parameters": {
            "type": "object", "properties": {"city": {"type": "string", "maxLength": 12}, "days": {"enum": [1, 2]}},
            "required": ["city", "days"], "additionalProperties": false}}},
        {"type": "function", "function": {"name": "stop", "parameters": {
            "type": "object", "properties": {}, "additionalProperties": false}}},
    ])
}

fn schema(name: &str) -> Value {
    let tools = tools();
    let tool = tools.as_array().unwrap().iter().find(|tool| tool["function"]["name"] == name);
    tool.unwrap_or_else(|| panic!("no tool {name}"))["function"]["parameters"].clone()
}

/// The families that can be served.
const FAMILIES: [&str; 6] = ["hermes", "qwen_3", "llama", "mistral", "harmony", "kimi"];

#[test]
fn required_calls_are_made_and_valid() {
    for family in FAMILIES {
        let server = start(Some(family), ServerOptions::default());
        for seed in 0..4 {
            let members = json!({"tools": tools(), "tool_choice": "required", "seed": seed, "max_tokens": 300,
                "reasoning_effort": "none"});
            let value = server.chat(&members).json();
            let choice = &value["choices"][0];
            assert_eq!(choice["finish_reason"], "tool_calls", "{family}: {value}");
            let calls = choice["message"]["tool_calls"].as_array().unwrap();
            for call in calls {
                let function = &call["function"];
                is_valid(
                    &schema(function["name"].as_str().unwrap()),
                    function["arguments"].as_str().unwrap(),
                );
                assert!(call["id"].as_str().unwrap().starts_with("call_"));
            }
        }
    }
}

#[test]
fn the_choice_of_tools_is_enforced() {
    let server = start(Some("hermes"), ServerOptions::default());
    let ask = |choice: Value, parallel: bool| {
        let members = json!({"tools": tools(), "tool_choice": choice, "parallel_tool_calls": parallel, "seed": 3,
            "max_tokens": 200});
        server.chat(&members).json()["choices"][0]["message"].clone()
    };
    let named = ask(json!({"type": "function", "function": {"name": "stop"}}), true);
    assert_eq!(named["tool_calls"].as_array().unwrap().len(), 1);
    let function = &named["tool_calls"][0]["function"];
    assert_eq!(function["name"], "stop");
    is_valid(&schema("stop"), function["arguments"].as_str().unwrap());
    assert_eq!(ask(json!("required"), false)["tool_calls"].as_array().unwrap().len(), 1);
    assert_eq!(ask(json!("none"), true)["tool_calls"], Value::Null);
    let unknown = json!({"type": "function", "function": {"name": "stops"}});
    let refused = server.chat(&json!({"tools": tools(), "tool_choice": unknown}));
    assert_eq!(
        (refused.status, &refused.json()["error"]["param"]),
        (400, &json!("tool_choice.function.name"))
    );
}

#[test]
fn tools_together_with_a_schema_give_calls_or_an_answer() {
    let answer = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"],
        "additionalProperties": false});
    let format = json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": answer}});
    for family in FAMILIES {
        let server = start(Some(family), ServerOptions::default());
        let (mut calls, mut answers) = (0, 0);
        for seed in 0..12 {
            let members = json!({"tools": tools(), "response_format": format, "seed": seed, "max_tokens": 200,
                "reasoning_effort": "none"});
            let value = server.chat(&members).json();
            let message = &value["choices"][0]["message"];
            match message["tool_calls"].as_array() {
                Some(made) => {
                    calls += 1;
                    for call in made {
                        let function = &call["function"];
                        is_valid(
                            &schema(function["name"].as_str().unwrap()),
                            function["arguments"].as_str().unwrap(),
                        );
                    }
                }
                None => {
                    answers += 1;
                    is_valid(
                        &answer,
                        message["content"].as_str().unwrap_or_else(|| panic!("{family}: {value}")),
                    );
                }
            }
        }
        assert!(calls > 0 && answers > 0, "{family}: {calls} calls, {answers} answers");
    }
}

#[test]
fn reasoning_is_apart_from_the_answer() {
    let server = start(Some("qwen_3"), ServerOptions::default());
    let members = json!({"json_schema": {"const": "zqx"}, "seed": 2, "max_tokens": 60});
    let message = server.chat(&members).json()["choices"][0]["message"].clone();
    assert_eq!(message["content"], "\"zqx\"");
    assert!(!message["reasoning_content"].as_str().unwrap().is_empty());
}

#[test]
fn a_conversation_with_calls_goes_on() {
    let server = start(Some("hermes"), ServerOptions::default());
    let call = json!({"id": "call_1", "type": "function",
        "function": {"name": "get_weather", "arguments": "{\"city\":\"Oslo\",\"days\":1}"}});
    let messages = json!([
        {"role": "developer", "content": "Be short."},
        {"role": "user", "content": [{"type": "text", "text": "The weather?"}]},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "rain"},
    ]);
    let value = server.chat(&json!({"messages": messages, "tools": tools(), "max_tokens": 20})).json();
    assert!(value["usage"]["prompt_tokens"].as_u64().unwrap() > 40, "{value}");
}

#[test]
fn inputs_of_custom_tools_are_words_of_their_grammars() {
    let grammar = |syntax: &str, definition: &str| json!({"type": "grammar", "grammar": {"syntax": syntax, "definition": definition}});
    let custom =
        |name: &str, format: Value| json!({"type": "custom", "custom": {"name": name, "format": format}});
    let tools = json!([
        custom("sql", grammar("lark", "start: \"SELECT \\\"\" NAME \"\\\"\"\nNAME: /[a-z]{1,9}/")),
        custom("digits", grammar("regex", "[0-9]{3}\n[0-9]")),
        tools()[1].clone(),
    ]);
    for family in FAMILIES {
        let server = start(Some(family), ServerOptions::default());
        for name in ["sql", "digits"] {
            let choice = json!({"type": "custom", "custom": {"name": name}});
            let members =
                json!({"tools": tools, "tool_choice": choice, "reasoning_effort": "none", "max_tokens": 120});
            let value = server.chat(&members).json();
            let call = &value["choices"][0]["message"]["tool_calls"][0];
            assert_eq!(
                (&call["type"], &call["custom"]["name"]),
                (&json!("custom"), &json!(name)),
                "{family}: {value}"
            );
            let input = call["custom"]["input"].as_str().unwrap();
            match name {
                "sql" => {
                    let inner = input.strip_prefix("SELECT \"").and_then(|rest| rest.strip_suffix('"'));
                    assert!(
                        inner.is_some_and(|inner| inner.bytes().all(|byte| byte.is_ascii_lowercase())),
                        "{input}"
                    );
                }
                _ => assert!(input.len() == 5 && input.as_bytes()[3] == b'\n', "{input}"),
            }
            let flat = json!([{"type": "custom", "name": "digits", "format": {"type": "grammar", "syntax": "regex", "definition": "[0-9]{3}\n[0-9]"}}]);
            let members = json!({"tools": flat, "tool_choice": "required", "reasoning": {"effort": "none"}, "max_output_tokens": 200, "stream": true});
            let events = server.respond(&members).events();
            let item = &events.last().unwrap()["response"]["output"][0];
            assert_eq!(item["type"], "custom_tool_call", "{family}: {events:?}");
            let deltas: String = events
                .iter()
                .filter(|event| event["type"] == "response.custom_tool_call_input.delta")
                .filter(|event| event["output_index"] == 0)
                .filter_map(|event| event["delta"].as_str())
                .collect();
            assert_eq!(item["input"], deltas);
            assert_eq!(deltas.len(), 5);
        }
    }
}

#[test]
fn servers_without_a_family_refuse_tools() {
    let server = start(None, ServerOptions::default());
    let refused = server.chat(&json!({"tools": tools()}));
    assert_eq!((refused.status, &refused.json()["error"]["param"]), (400, &json!("tools")));
}
