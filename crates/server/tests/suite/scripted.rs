//! What a model writes, read back: calls that may not be made, answers that look like calls, stops inside of calls.

use crate::client::{Play, start_playing, start_with_script};
use grammata_server::ServerOptions;
use serde_json::{Value, json};
use std::time::Duration;

fn tool() -> Value {
    json!([{"type": "function", "function": {"name": "get", "parameters": {"type": "object",
        "properties": {"q": {"type": "string"}}, "required": ["q"], "additionalProperties": false}}}])
}

const CALL: &str = "Look:<tool_call>\n{\"name\": \"get\", \"arguments\": {\"q\": \"a\"}}\n</tool_call>";

/// The answer to a request with these members, if the model writes the script.
fn answered(family: &str, script: &str, members: &Value) -> Value {
    let server = start_with_script(Some(family), script);
    let mut all = json!({"temperature": 0, "max_tokens": 200});
    for (name, value) in members.as_object().unwrap() {
        all[name] = value.clone();
    }
    let answered = server.chat(&all);
    assert_eq!(answered.status, 200, "{}", answered.body);
    answered.json()["choices"][0].clone()
}

#[test]
fn what_may_not_be_called_is_text() {
    let choice = answered("hermes", CALL, &json!({"tools": tool()}));
    assert_eq!(choice["message"]["tool_calls"][0]["function"]["arguments"], "{\"q\": \"a\"}", "{choice}");
    assert_eq!(
        (&choice["message"]["content"], &choice["finish_reason"]),
        (&json!("Look:"), &json!("tool_calls"))
    );
    for members in [json!({"tools": tool(), "tool_choice": "none"}), json!({})] {
        let choice = answered("hermes", CALL, &members);
        assert_eq!(choice["message"]["tool_calls"], Value::Null, "{choice}");
        assert_eq!(choice["finish_reason"], "stop", "{choice}");
        assert!(choice["message"]["content"].as_str().unwrap().starts_with("Look:"), "{choice}");
    }
}

#[test]
fn answers_without_tools_may_contain_the_mark_of_a_call() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"],
        "additionalProperties": false});
    let form = json!({"type": "json_schema", "json_schema": {"name": "a", "schema": schema}});
    let script = "{\"a\": \"<tool_call>\\n{\\\"name\\\": \\\"get\\\"\"}";
    let choice = answered("hermes", script, &json!({"response_format": form}));
    let content = choice["message"]["content"].as_str().unwrap();
    let value: Value = serde_json::from_str(content).unwrap();
    assert_eq!(value["a"], "<tool_call>\n{\"name\": \"get\"", "{choice}");
    // where there may be calls, the mark is excluded
    let choice = answered("hermes", script, &json!({"response_format": form, "tools": tool()}));
    let value: Value = serde_json::from_str(choice["message"]["content"].as_str().unwrap()).unwrap();
    assert!(!value["a"].as_str().unwrap().contains("<tool_call>"), "{choice}");
}

#[test]
fn a_stop_inside_of_a_call_is_no_call_that_was_made() {
    let script = "<tool_call>\n{\"name\": \"get\", \"arguments\": {\"q\": \"a stop b\"}}\n</tool_call>";
    let members = json!({"tools": tool(), "stop": "stop"});
    let choice = answered("hermes", script, &members);
    assert_eq!(choice["finish_reason"], "stop", "{choice}");
    let server = start_with_script(Some("hermes"), script);
    let tool = &tool()[0]["function"];
    let tools = json!([{"type": "function", "name": "get", "parameters": tool["parameters"]}]);
    let value = server.respond(&json!({"tools": tools, "stop": "stop", "temperature": 0})).json();
    assert_eq!(
        (&value["status"], &value["output"][0]["status"]),
        (&json!("incomplete"), &json!("incomplete")),
        "{value}"
    );
}

#[test]
fn the_input_of_a_custom_tool_that_was_cut_is_no_json() {
    let script = "<tool_call>\n{\"name\": \"write\", \"arguments\": {\"input\": \"a\\nb\\\"c stop";
    let tools = json!([{"type": "custom", "custom": {"name": "write"}}]);
    let choice = answered("hermes", script, &json!({"tools": tools, "stop": " stop"}));
    assert_eq!(choice["message"]["tool_calls"][0]["custom"]["input"], "a\nb\"c", "{choice}");
}

#[test]
fn white_space_is_dropped_next_to_calls_only() {
    let free = answered("hermes", "  a b \n", &json!({}));
    assert_eq!(free["message"]["content"], "  a b \n");
    let script = CALL.replace("Look:", "Look: \n\n");
    let choice = answered("hermes", &script, &json!({"tools": tool()}));
    assert_eq!(choice["message"]["content"], "Look:", "{choice}");
}

#[test]
fn arguments_are_objects() {
    for function in
        [json!({"name": "get"}), json!({"name": "get", "strict": false, "parameters": {"type": "object"}})]
    {
        let tools = json!([{"type": "function", "function": function}]);
        let script = "<tool_call>\n{\"name\": \"get\", \"arguments\": 3}\n</tool_call>";
        let members = json!({"tools": tools, "tool_choice": "required"});
        let choice = answered("hermes", script, &members);
        let arguments = choice["message"]["tool_calls"][0]["function"]["arguments"].as_str().unwrap();
        assert!(serde_json::from_str::<Value>(arguments).unwrap().is_object(), "{choice}");
    }
}

#[test]
fn prompt_and_grammar_agree_on_reasoning() {
    let script = "Yes.";
    for members in
        [json!({"chat_template_kwargs": {"enable_thinking": false}}), json!({"reasoning_effort": "none"})]
    {
        let choice = answered("qwen_3", script, &members);
        assert_eq!(choice["message"]["reasoning_content"], Value::Null, "{choice}");
    }
    let server = start_with_script(Some("qwen_3"), "Hm.</think>\n\nYes.");
    let value = server.chat(&json!({"reasoning_effort": "high", "temperature": 0})).json();
    let message = &value["choices"][0]["message"];
    assert_eq!(
        (&message["reasoning_content"], &message["content"]),
        (&json!("Hm."), &json!("Yes.")),
        "{value}"
    );
    assert!(value["usage"]["completion_tokens_details"]["reasoning_tokens"].as_u64().unwrap() > 0, "{value}");
    for (members, param) in [
        (json!({"reasoning_effort": "much"}), "reasoning_effort"),
        (
            json!({"reasoning_effort": "none", "chat_template_kwargs": {"enable_thinking": true}}),
            "chat_template_kwargs.enable_thinking",
        ),
    ] {
        let answered = server.chat(&members);
        assert_eq!((answered.status, &answered.json()["error"]["param"]), (400, &json!(param)));
    }
    let server = start_with_script(Some("hermes"), script);
    let error = server.chat(&json!({"reasoning_effort": "low"})).json();
    assert_eq!(error["error"]["param"], "reasoning_effort", "{error}");
}

#[test]
fn all_tokens_of_a_stream_have_their_log_probabilities() {
    let server = start_with_script(Some("hermes"), CALL);
    let members = json!({"tools": tool(), "temperature": 0, "max_tokens": 200, "stream": true, "logprobs": true,
        "stream_options": {"include_usage": true}});
    let events = server.chat(&members).events();
    let scores = events.iter().filter_map(|event| event["choices"][0]["logprobs"]["content"].as_array());
    let count: usize = scores.map(Vec::len).sum();
    let usage = &events.last().unwrap()["usage"];
    assert_eq!(json!(count), usage["completion_tokens"], "{events:?}");
}

#[test]
fn a_server_without_its_model_says_so_and_ends() {
    let play = Play { runs: Some(4), pause: Duration::from_millis(20), ..Play::default() };
    let server = start_playing(None, ServerOptions::default(), play);
    let answered = server.chat(&json!({"stream": true, "max_tokens": 50}));
    let last = answered.events().pop().unwrap();
    assert_eq!(last["error"]["code"], "server_error", "{}", answered.body);
    assert!(!answered.body.contains("[DONE]"), "{}", answered.body);
    server.wait();
}
