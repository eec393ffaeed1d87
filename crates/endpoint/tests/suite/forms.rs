//! The form of an answer is requested in the strongest way that the server accepts.

use crate::stand_in::{Reply, StandIn};
use grammata_endpoint::{Chat, Dialect, Endpoint, Form, Options, Request, Tool};
use serde_json::{Value, json};

fn endpoint(server: &StandIn, dialect: &str) -> Endpoint {
    Endpoint::new(&server.url, Options::default().dialect(Dialect::named(dialect).unwrap())).unwrap()
}

fn choice() -> Request {
    Request::new("Which?", Form::Choice(vec!["1".into(), "2".into()]), 8)
}

/// Returns how a request body states the form of the answer: the kind of `response_format`, another member, `prompt` if
/// the question states it, or `none`.
fn form(body: &Value) -> String {
    let format = &body["response_format"];
    match format["type"].as_str() {
        Some("json_schema") if format["json_schema"]["strict"] == true => "strict schema".to_owned(),
        Some("json_schema") => "schema".to_owned(),
        Some(other) => other.to_owned(),
        None => ["tools", "structured_outputs", "guided_choice", "grammar"]
            .into_iter()
            .find(|name| body.get(name).is_some())
            .map_or_else(
                || if body["messages"][0]["content"] == "Which?" { "none" } else { "prompt" }.to_owned(),
                str::to_owned,
            ),
    }
}

#[test]
fn a_form_that_is_refused_is_followed_by_the_next_weaker_one_which_is_remembered() {
    for (dialect, accepted, sent) in [
        ("openai", "strict schema", &["strict schema"][..]),
        ("openai", "json_object", &["strict schema", "schema", "json_object"]),
        ("openai", "prompt", &["strict schema", "schema", "json_object", "prompt"]),
        ("vllm", "guided_choice", &["structured_outputs", "guided_choice"]),
        ("llama-cpp", "grammar", &["grammar"]),
        ("plain", "prompt", &["prompt"]),
    ] {
        let server = StandIn::new(move |_, body| match form(body) == accepted {
            true => Reply::says(if accepted.contains("schema") { "{\"answer\":\"2\"}" } else { "2" }),
            false => Reply::error(400, "unknown field"),
        });
        let mut endpoint = endpoint(&server, dialect);
        for _ in 0..2 {
            assert_eq!(endpoint.ask(&choice()).unwrap().text, "2", "{dialect}");
        }
        let found: Vec<String> = server.bodies().iter().map(form).collect();
        assert_eq!(found[..sent.len()], *sent, "{dialect}");
        assert_eq!(found[sent.len()..], [accepted], "{dialect}");
        assert_eq!(endpoint.usage().answers, 2);
    }
}

#[test]
fn what_a_server_refuses_by_name_is_not_sent_again() {
    let server = StandIn::new(|_, body| {
        let refused = ["temperature", "max_tokens", "seed"].into_iter().find(|name| body.get(name).is_some());
        match refused {
            Some(name) => Reply::error(400, &format!("Unsupported parameter: '{name}'")),
            None => Reply::says("{\"answer\":\"1\"}"),
        }
    });
    let mut endpoint = endpoint(&server, "openai");
    for _ in 0..2 {
        assert_eq!(endpoint.ask(&choice()).unwrap().text, "1");
    }
    let bodies = server.bodies();
    assert_eq!(bodies.len(), 5);
    assert!(bodies.iter().all(|body| form(body) == "strict schema"));
    assert_eq!(bodies[4]["max_completion_tokens"], 8);
}

#[test]
fn a_server_that_refuses_everything_is_an_error_with_its_last_reason() {
    let server = StandIn::new(|_, _| Reply::error(400, "model is missing"));
    let error = endpoint(&server, "openai").ask(&choice()).unwrap_err();
    assert_eq!((error.code(), server.bodies().len()), ("endpoint/status", 4));
    assert!(error.to_string().contains("model is missing"), "{error}");
}

/// Servers that enforce a grammar get a `maxLength` for each string, so that it ends there. Strict schemas may not have
/// `maxLength`.
#[test]
fn servers_that_enforce_lengths_get_bounds_of_strings() {
    let text = json!({"type": "object", "properties": {"text": {"type": "string"}, "name": {"type": "string", "maxLength": 9}}});
    for (dialect, expected, known) in [
        ("llama-cpp", json!(32), json!(9)),
        ("vllm", json!(32), json!(9)),
        ("openai", Value::Null, Value::Null),
    ] {
        let server = StandIn::new(|_, _| Reply::says("{\"text\":\"a\"}"));
        let form = Form::Json { name: "step".into(), schema: text.clone() };
        endpoint(&server, dialect).ask(&Request::new("Which?", form, 64)).unwrap();
        let body = &server.bodies()[0];
        let schema = match dialect {
            "vllm" => &body["structured_outputs"]["json"],
            _ => &body["response_format"]["json_schema"]["schema"],
        };
        assert_eq!(schema["properties"]["text"]["type"], "string", "{dialect}: {body}");
        assert_eq!(schema["properties"]["text"]["maxLength"], expected, "{dialect}");
        assert_eq!(schema["properties"]["name"]["maxLength"], known, "{dialect}");
    }
}

#[test]
fn calls_come_as_tools_or_as_json() {
    let tools = vec![Tool {
        name: "find".into(),
        description: "Finds.".into(),
        parameters: json!({"type": "object"}),
    }];
    let request = Request::new("Which?", Form::Tools { tools, is_required: true, is_several: false }, 64);
    for has_tools in [true, false] {
        let server = StandIn::new(move |_, body| match (form(body).as_str(), has_tools) {
            ("tools", true) => Reply::message(json!({"role": "assistant", "content": null, "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "find", "arguments": "{\"city\": \"Rome\"}"}}]})),
            ("tools", false) => Reply::error(400, "tools are not supported"),
            _ => Reply::says(r#"{"calls": [{"name": "find", "arguments": {"city": "Rome"}}]}"#),
        });
        let answer = endpoint(&server, "openai").ask(&request).unwrap();
        assert_eq!(answer.calls.len(), 1, "{answer:?}");
        assert_eq!(
            (answer.calls[0].name.as_str(), &answer.calls[0].arguments),
            ("find", &json!({"city": "Rome"}))
        );
        let body = server.bodies()[0].clone();
        assert_eq!((&body["tool_choice"], &body["parallel_tool_calls"]), (&json!("required"), &json!(false)));
    }
}

#[test]
fn tokens_are_counted_or_said_to_be_unknown() {
    let server = StandIn::new(|number, _| match number {
        0 => Reply::says("a"),
        _ => Reply::json(
            200,
            &json!({"choices": [{"message": {"content": "a"}}], "usage": {"prompt_tokens": -1}}),
        ),
    });
    let mut endpoint = endpoint(&server, "plain");
    for _ in 0..2 {
        endpoint.ask(&Request::new("Which?", Form::Text, 8)).unwrap();
    }
    let usage = endpoint.usage();
    assert_eq!((usage.prompt_tokens, usage.answer_tokens, usage.uncounted), (11, 3, 1));
}
