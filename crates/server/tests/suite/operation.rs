//! Limits, keys, errors, and clients that leave.

use crate::client::{start, start_slow};
use grammata_server::{Server, ServerOptions};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

#[test]
fn what_is_not_supported_is_refused_by_name() {
    let server = start(Some("hermes"), ServerOptions::default().queue(64));
    let cases = [
        (json!({"audio": {}}), "audio"),
        (json!({"functions": []}), "functions"),
        (json!({"store": true}), "store"),
        (json!({"modalities": ["audio"]}), "modalities"),
        (json!({"n": 0}), "n"),
        (json!({"n": 1000}), "n"),
        (json!({"temperature": -1}), "temperature"),
        (json!({"temperature": "warm"}), "temperature"),
        (json!({"top_p": 0}), "top_p"),
        (json!({"frequency_penalty": 3}), "frequency_penalty"),
        (json!({"logit_bias": {"x": 1}}), "logit_bias.x"),
        (json!({"logit_bias": {"1": 101}}), "logit_bias"),
        (json!({"top_logprobs": 3}), "top_logprobs"),
        (json!({"logprobs": true, "top_logprobs": 21}), "top_logprobs"),
        (json!({"max_tokens": 0}), "max_tokens"),
        (json!({"max_tokens": 1, "max_completion_tokens": 1}), "max_tokens"),
        (json!({"stop": ["a", ""]}), "stop"),
        (json!({"stream_options": {"include_usage": true}}), "stream_options"),
        (json!({"messages": []}), "messages"),
        (json!({"messages": [{"role": "wizard", "content": "x"}]}), "messages.0.role"),
        (json!({"messages": [{"role": "user"}]}), "messages.0.content"),
        (
            json!({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}),
            "messages.0.content.0.type",
        ),
        (
            json!({"response_format": {"type": "json_schema", "json_schema": {"name": "a"}}}),
            "response_format.json_schema.schema",
        ),
        (
            json!({"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"properties": {"a": {"format": 3}}}}}}),
            "response_format.json_schema.schema.properties.a.format",
        ),
        (json!({"response_format": {"type": "text", "schema": {}}}), "response_format.schema"),
        (json!({"response_format": {"type": "json_object", "shcema": {}}}), "response_format.shcema"),
        (
            json!({"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {}, "strict": "yes"}}}),
            "response_format.json_schema.strict",
        ),
        (json!({"response_format": {"type": "yaml"}}), "response_format.type"),
        (json!({"grammar": "root ::= \"a\"", "json_schema": {}}), "json_schema"),
        (json!({"grammar": "root ::= missing"}), "grammar"),
        (json!({"structured_outputs": {"regex": "a("}}), "structured_outputs.regex"),
        (json!({"structured_outputs": {}}), "structured_outputs"),
        (json!({"tools": [{"type": "function", "function": {"name": "a b"}}]}), "tools.0.function.name"),
        (json!({"tool_choice": "required"}), "tool_choice"),
        (json!({"tool_choice": {"type": "function", "function": {"name": "f"}}}), "tool_choice"),
        (json!({"logit_bias": {"01": 1}}), "logit_bias.01"),
        (json!({"logit_bias": {"4000000000": 1}}), "logit_bias.4000000000"),
        (
            json!({"tools": [{"type": "function", "function": {"name": "a", "cache": true}}]}),
            "tools.0.function.cache",
        ),
        (json!({"tools": [{"type": "function", "function": {"name": "a"}, "cache": 1}]}), "tools.0.cache"),
        (json!({"tools": [{"type": "web_search"}]}), "tools.0.type"),
        (json!({"n": 128}), "n"),
        (json!({"timeout": -1}), "timeout"),
        (json!({"chat_template_kwargs": {"messages": []}}), "chat_template_kwargs.messages"),
    ];
    for (members, param) in cases {
        let answered = server.chat(&members);
        let error = answered.json()["error"].clone();
        assert_eq!((answered.status, &error["param"]), (400, &json!(param)), "{members}: {error}");
        assert!(!error["message"].as_str().unwrap().is_empty() && error["code"].is_string(), "{error}");
    }
}

#[test]
fn bad_requests_have_their_own_status() {
    let server = start(None, ServerOptions::default().body_bytes(1000));
    let chat = "/v1/chat/completions";
    let send = |path: &str, kind: &str, body: &[u8]| server.send(path, kind, body, None);
    let json_type = "application/json";
    for (answered, status, code) in [
        (send("/v2/nothing", json_type, b"{}"), 404, "unknown_url"),
        (send("/v1/models", json_type, b"{}"), 405, "method_not_allowed"),
        (send(chat, "text/plain", b"{}"), 415, "unsupported_media_type"),
        (send(chat, json_type, &[b' '; 1001]), 413, "body_too_large"),
        (send(chat, json_type, b"{"), 400, "invalid_json"),
        (send(chat, json_type, b"[]"), 400, "invalid_json"),
        (send(chat, json_type, "[".repeat(900).as_bytes()), 400, "invalid_json"),
        (send(chat, json_type, b"{}"), 400, "invalid_value"),
        (
            send(chat, json_type, br#"{"model": "other", "messages": [{"role": "user", "content": "x"}]}"#),
            404,
            "model_not_found",
        ),
    ] {
        assert_eq!((answered.status, answered.json()["error"]["code"].as_str().unwrap()), (status, code));
    }
    assert_eq!(server.get("/health").json(), json!({"status": "ok"}));
    assert_eq!(server.get("/v1/models").json()["data"][0]["id"], "random");
    assert_eq!(server.get("/v1/models/random").json()["id"], "random");
    assert_eq!(server.get("/v1/models/other").status, 404);
    assert!(
        server.get("/metrics").body.contains("grammata_answers_total{path=\"/v1/models\",status=\"405\"} 1")
    );
}

#[test]
fn a_key_is_required_where_others_can_reach_the_server() {
    let public = "0.0.0.0:0".parse().unwrap();
    let error = Server::check_address(public, &ServerOptions::default()).unwrap_err();
    assert_eq!(error.code(), "server/no-key");
    let options = ServerOptions::default().key(Some("sesame".to_owned().into()));
    Server::check_address(public, &options).unwrap();
    let server = start(None, options);
    let body = json!({"model": "random", "messages": [{"role": "user", "content": "x"}], "max_tokens": 1})
        .to_string();
    let send = |key| server.send("/v1/chat/completions", "application/json", body.as_bytes(), key).status;
    assert_eq!((send(None), send(Some("sesam")), send(Some("sesame"))), (401, 401, 200));
    assert_eq!(server.get("/metrics").status, 401);
    assert_eq!(server.get("/health").status, 200);
}

#[test]
fn messages_may_have_all_members_of_an_answer() {
    let server = start(Some("hermes"), ServerOptions::default());
    let answer = json!({"role": "assistant", "content": "x", "refusal": null, "annotations": [], "audio": null,
        "function_call": null, "tool_calls": null});
    let refusal = json!({"role": "assistant", "content": null, "refusal": "no"});
    let messages =
        json!([{"role": "user", "content": "a"}, answer, refusal, {"role": "user", "content": "b"}]);
    let answered = server.chat(&json!({"messages": messages, "max_tokens": 1}));
    assert_eq!(answered.status, 200, "{}", answered.body);
}

#[test]
fn errors_about_tools_of_responses_have_the_places_of_the_body() {
    let server = start(Some("hermes"), ServerOptions::default());
    let tools = json!([{"type": "function", "name": "a b"}]);
    let error = server.respond(&json!({"tools": tools})).json();
    assert_eq!(error["error"]["param"], "tools.0.name", "{error}");
    let format = json!({"type": "json_object", "schema": {"properties": {"a": {"format": 3}}}});
    let error = server.respond(&json!({"text": {"format": format}})).json();
    assert_eq!(error["error"]["param"], "text.format.schema.properties.a.format", "{error}");
}

#[test]
fn clients_that_do_not_read_lose_their_connection() {
    let options = ServerOptions::default().write_time(Duration::from_millis(300)).connections(1);
    let server = start(None, options);
    // three events repeat it, more than the buffers of both sides hold
    let body = json!({"model": "random", "input": "x", "stream": true, "max_output_tokens": 2,
        "metadata": {"a": "x".repeat(7 << 20)}});
    let body = body.to_string();
    let mut stream = TcpStream::connect(server.address).unwrap();
    let head = format!(
        "POST /v1/responses HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let start = Instant::now();
    // it waits for the only connection
    assert_eq!(server.get("/health").status, 200);
    assert!(start.elapsed() >= Duration::from_millis(300), "{:?}", start.elapsed());
    drop(stream);
}

/// Sends a request for a stream and returns the connection after its first bytes.
fn begin(address: std::net::SocketAddr, members: &Value) -> TcpStream {
    let mut stream = send(address, members, true);
    let mut first = [0; 64];
    assert!(stream.read(&mut first).unwrap() > 0);
    stream
}

/// Sends a request and returns the connection.
fn send(address: std::net::SocketAddr, members: &Value, is_stream: bool) -> TcpStream {
    let mut body =
        json!({"model": "random", "messages": [{"role": "user", "content": "x"}], "stream": is_stream});
    for (name, value) in members.as_object().unwrap() {
        body[name] = value.clone();
    }
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

fn figure(text: &str, name: &str) -> f64 {
    let line = text.lines().find(|line| line.starts_with(&format!("{name} ")));
    line.unwrap_or_else(|| panic!("no {name} in {text}")).rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn outputs_end_when_their_client_leaves() {
    let server = start_slow(None, ServerOptions::default().batch(1).queue(0), Duration::from_millis(5));
    for (cancelled, is_stream) in [(1.0, true), (2.0, false)] {
        let stream = match is_stream {
            true => begin(server.address, &json!({})),
            false => send(server.address, &json!({}), false),
        };
        // it has begun
        std::thread::sleep(Duration::from_millis(200));
        let start = Instant::now();
        let busy = loop {
            let answered = server.chat(&json!({"max_tokens": 1}));
            if answered.status == 429 {
                break answered;
            }
            assert!(start.elapsed() < Duration::from_secs(20), "the output does not begin");
        };
        assert_eq!(busy.retry_after.as_deref(), Some("1"), "{}", busy.body);
        drop(stream);
        while server.chat(&json!({"max_tokens": 1})).status == 429 {
            assert!(start.elapsed() < Duration::from_secs(20), "the output still runs");
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(figure(&server.get("/metrics").body, "grammata_cancelled_total"), cancelled);
    }
}

#[test]
fn running_outputs_end_before_the_server_does() {
    let server = start_slow(None, ServerOptions::default(), Duration::from_millis(5));
    let mut stream = begin(server.address, &json!({"max_tokens": 60}));
    let reader = std::thread::spawn(move || {
        let mut rest = String::new();
        stream.read_to_string(&mut rest).unwrap();
        rest
    });
    drop(server);
    assert!(reader.join().unwrap().contains("[DONE]"));
}

#[test]
fn conversations_in_turn_share_their_beginnings() {
    let server = start(None, ServerOptions::default());
    let text = |name: &str| {
        format!(
            "This is the long beginning of a conversation with {name}, which has many tokens, and then some."
        )
    };
    let say = |name: &str, more: &str| {
        let messages = json!([{"role": "user", "content": text(name)}, {"role": "user", "content": more}]);
        assert_eq!(server.chat(&json!({"messages": messages, "max_tokens": 2})).status, 200);
    };
    for name in ["Ann", "Bob", "Cid"] {
        say(name, "one");
    }
    let before = figure(&server.get("/metrics").body, "grammata_shared_tokens");
    for name in ["Ann", "Bob", "Cid"] {
        say(name, "two");
    }
    let shared = figure(&server.get("/metrics").body, "grammata_shared_tokens") - before;
    assert!(shared >= 60.0, "only {shared} tokens were shared");
}
