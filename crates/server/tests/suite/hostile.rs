//! Generated bodies: whatever a client sends, the server answers with 200 or 4xx and goes on.

use crate::client::start;
use grammata_server::ServerOptions;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde_json::{Map, Value, json};

/// How many bodies are sent.
fn cases() -> usize {
    std::env::var("GRAMMATA_CASES").ok().and_then(|count| count.parse().ok()).unwrap_or(600)
}

const NAMES: [&str; 34] = [
    "model",
    "messages",
    "input",
    "instructions",
    "response_format",
    "text",
    "structured_outputs",
    "grammar",
    "json_schema",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "n",
    "logprobs",
    "top_logprobs",
    "max_tokens",
    "max_output_tokens",
    "reasoning_effort",
    "reasoning",
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "seed",
    "stop",
    "complete",
    "timeout",
    "chat_template_kwargs",
    "frequency_penalty",
    "logit_bias",
    "min_tokens",
    "metadata",
    "user",
    "stream",
];

fn value(random: &mut StdRng, depth: usize) -> Value {
    let kinds = if depth == 0 { 7 } else { 10 };
    match random.random_range(0..kinds) {
        0 => Value::Null,
        1 => json!(random.random_bool(0.5)),
        2 => json!(random.random_range(-3..70)),
        3 => [json!(1e300), json!(-1e-300), json!(u64::MAX), json!(i64::MIN), json!(0.5)]
            .choose(random)
            .unwrap()
            .clone(),
        4 => json!(
            [
                "",
                "auto",
                "required",
                "none",
                "function",
                "user",
                "a(",
                "root ::= \"a\"",
                "start: \"b\"",
                "\u{0}<|im_end|>"
            ]
            .choose(random)
        ),
        5 => json!({"role": "user", "content": "x"}),
        6 => json!({"type": "json_schema", "json_schema": {"name": "a", "schema": schema(random)}}),
        7 => (0..random.random_range(0..4)).map(|_| value(random, depth - 1)).collect(),
        8 => json!({"type": "function", "function": {"name": "f", "parameters": schema(random)}}),
        _ => {
            let names = [
                "type", "name", "function", "schema", "format", "role", "content", "json", "regex", "choice",
                "$ref",
            ];
            let member =
                |random: &mut StdRng| ((*names.choose(random).unwrap()).to_owned(), value(random, depth - 1));
            Value::Object((0..random.random_range(0..4)).map(|_| member(random)).collect::<Map<_, _>>())
        }
    }
}

fn schema(random: &mut StdRng) -> Value {
    let schemas = [
        json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}),
        json!({"$ref": "#"}),
        json!({"allOf": [{"minimum": 3}, {"maximum": 1}], "type": "number"}),
        json!({"type": "string", "minLength": 1_000_000}),
        json!({"enum": []}),
        json!(false),
        json!({"pattern": "(a+)+$"}),
    ];
    schemas.choose(random).unwrap().clone()
}

fn body(random: &mut StdRng) -> Vec<u8> {
    let messages = json!([{"role": "user", "content": "x"}]);
    let mut members =
        Map::from_iter([("model".to_owned(), json!("random")), ("max_tokens".to_owned(), json!(3))]);
    members.insert(if random.random_bool(0.5) { "messages" } else { "input" }.to_owned(), messages);
    for _ in 0..random.random_range(0..4) {
        members.insert((*NAMES.choose(random).unwrap()).to_owned(), value(random, 3));
    }
    let mut bytes = Value::Object(members).to_string().into_bytes();
    if random.random_bool(0.1) {
        let at = random.random_range(0..bytes.len());
        bytes[at] = random.random();
    }
    bytes
}

#[test]
fn generated_bodies_are_answered() {
    let server = start(Some("hermes"), ServerOptions::default());
    let mut random = StdRng::seed_from_u64(66);
    let (mut answered, mut refused) = (0, 0);
    for _ in 0..cases() {
        let body = body(&mut random);
        let path = if random.random_bool(0.5) { "/v1/chat/completions" } else { "/v1/responses" };
        let got = server.send(path, "application/json", &body, None);
        let shown = String::from_utf8_lossy(&body);
        match got.status {
            200 => answered += 1,
            400..=499 => {
                refused += 1;
                assert!(got.json()["error"]["message"].is_string(), "{shown}: {}", got.body);
            }
            other => panic!("{other} for {shown}: {}", got.body),
        }
    }
    assert!(answered > 0 && refused > 0, "{answered} answered, {refused} refused");
    assert_eq!(server.get("/health").status, 200);
}
