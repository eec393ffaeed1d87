//! The description of the protocol says what the server does.

use crate::client::start;
use grammata_server::{OPEN_API, ServerOptions};
use serde_json::{Value, json};

fn description() -> Value {
    serde_json::from_str(OPEN_API).unwrap()
}

/// The schema of this name, with all others.
fn schema(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}"), "components": description()["components"]})
}

#[track_caller]
fn is_valid(name: &str, value: &Value) {
    let validator = jsonschema::validator_for(&schema(name)).unwrap();
    if let Err(error) = validator.validate(value) {
        panic!("{name}: {error} at {}: {value}", error.instance_path());
    }
}

/// Each member is either known to both, or to neither.
#[test]
fn members_are_those_that_the_server_takes() {
    let server = start(None, ServerOptions::default());
    for (name, is_chat) in [("ChatRequest", true), ("ResponsesRequest", false)] {
        let known = description()["components"]["schemas"][name]["properties"].clone();
        let known: Vec<String> = known.as_object().unwrap().keys().cloned().collect();
        let others = [
            "functions",
            "audio",
            "max_output_tokens",
            "messages",
            "input",
            "n",
            "logprobs",
            "web_search_options",
        ];
        for member in known.iter().map(String::as_str).chain(others) {
            let value = json!({"max_tokens": 1});
            let mut members = if is_chat { value } else { json!({}) };
            // no member takes it, so the error says whether the member is known
            members[member] = json!({"\u{0}": [[[]]]});
            let answered = if is_chat { server.chat(&members) } else { server.respond(&members) };
            let is_known = !answered.body.contains(&format!("the parameter `{member}` is not supported"));
            assert_eq!(
                is_known,
                known.iter().any(|name| name == member),
                "{name} {member}: {}",
                answered.body
            );
        }
    }
}

#[test]
fn answers_have_the_described_form() {
    let server = start(Some("hermes"), ServerOptions::default());
    assert_eq!(server.get("/openapi.json").json(), description());
    let page = server.get("/docs").body;
    assert!(page.starts_with("<!doctype html>") && page.contains("/openapi.json"));
    for (path, _) in description()["paths"].as_object().unwrap() {
        let path = path.replace("{name}", "random");
        assert!([200, 405].contains(&server.get(&path).status), "{path}");
    }
    let form = json!({"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "integer", "multipleOf": 7}}});
    let tools =
        json!([{"type": "function", "function": {"name": "f"}}, {"type": "custom", "custom": {"name": "g"}}]);
    for members in [
        json!({"max_tokens": 5}),
        json!({"max_tokens": 5, "n": 2, "logprobs": true, "top_logprobs": 1}),
        json!({"max_tokens": 30, "response_format": form}),
        json!({"max_tokens": 200, "tools": tools, "tool_choice": "required"}),
        json!({"max_tokens": 200, "tools": tools, "tool_choice": {"type": "custom", "custom": {"name": "g"}}}),
    ] {
        let mut request = json!({"model": "random", "messages": [{"role": "user", "content": "x"}]});
        request.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        is_valid("ChatRequest", &request);
        let answered = server.chat(&members);
        assert_eq!(answered.status, 200, "{}", answered.body);
        is_valid("ChatCompletion", &answered.json());
    }
    let response = server.respond(&json!({"max_output_tokens": 5}));
    is_valid("Response", &response.json());
    for answered in [server.chat(&json!({"n": 0})), server.chat(&json!({"grammar": "root ::= missing"}))] {
        is_valid("Error", &answered.json());
    }
}
