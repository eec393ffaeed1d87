//! Answers of chat completions in the forms that requests ask for.

use crate::client::{is_valid, start};
use grammata_server::ServerOptions;
use serde_json::{Value, json};

fn schemas() -> Vec<Value> {
    vec![
        json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
            "required": ["a", "b"], "additionalProperties": false}),
        json!({"type": "array", "items": {"enum": ["zqx", "wvu"]}, "minItems": 3, "maxItems": 5}),
        json!({"type": "object", "properties": {"next": {"$ref": "#"}, "v": {"type": "number", "multipleOf": 0.5}},
            "required": ["v"], "additionalProperties": false}),
        json!({"anyOf": [{"type": "null"}, {"type": "string", "pattern": "^[0-9]{3}-[a-f]+$"}]}),
        json!({"type": "object"}),
    ]
}

#[test]
fn answers_under_a_schema_are_valid_and_complete_within_their_limit() {
    for family in [None, Some("hermes"), Some("qwen_3"), Some("harmony")] {
        let server = start(family, ServerOptions::default());
        for schema in schemas() {
            for (seed, limit) in [(1, 40), (2, 60), (3, 200)] {
                let format = json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": true}});
                let limit = if family.is_some() { limit + 30 } else { limit };
                let members = json!({"response_format": format, "max_tokens": limit, "seed": seed});
                let answered = server.chat(&members);
                assert_eq!(answered.status, 200, "{family:?} {schema}: {}", answered.body);
                let value = answered.json();
                let choice = &value["choices"][0];
                assert_eq!(choice["finish_reason"], "stop", "{value}");
                is_valid(&schema, choice["message"]["content"].as_str().unwrap());
                assert!(value["usage"]["completion_tokens"].as_u64().unwrap() <= limit, "{value}");
            }
        }
    }
}

#[test]
fn each_way_to_ask_for_a_form_is_enforced() {
    let server = start(None, ServerOptions::default());
    let ways = [
        (json!({"response_format": {"type": "json_object"}}), None),
        (json!({"response_format": {"type": "json_object", "schema": {"const": "zqx"}}}), Some("\"zqx\"")),
        (
            json!({"response_format": {"type": "structural_tag", "format": {"type": "const_string", "value": "zqx"}}}),
            Some("zqx"),
        ),
        (json!({"structured_outputs": {"json": {"const": "zqx"}}}), Some("\"zqx\"")),
        (json!({"structured_outputs": {"regex": "zq{3}x"}}), Some("zqqqx")),
        (json!({"structured_outputs": {"choice": ["zq\"x\n"]}}), Some("zq\"x\n")),
        (json!({"structured_outputs": {"grammar": "root ::= \"zqx\""}}), Some("zqx")),
        (json!({"structured_outputs": {"grammar": "start: \"zqx\""}}), Some("zqx")),
        (
            json!({"structured_outputs": {"structural_tag": {"type": "structural_tag",
            "format": {"type": "const_string", "value": "zqx"}}}}),
            Some("zqx"),
        ),
        (json!({"grammar": "root ::= \"zqx\""}), Some("zqx")),
        (json!({"json_schema": {"const": "zqx"}}), Some("\"zqx\"")),
        (json!({"json_schema": "{\"const\": \"zqx\"}"}), Some("\"zqx\"")),
    ];
    for (members, expected) in ways {
        let value = server.chat(&members).json();
        let text = value["choices"][0]["message"]["content"]
            .as_str()
            .unwrap_or_else(|| panic!("{members}: {value}"));
        match expected {
            Some(expected) => assert_eq!(text, expected, "{members}"),
            None => is_valid(&json!({"type": "object"}), text),
        }
    }
}

#[test]
fn integers_of_more_than_64_bits_are_kept() {
    let server = start(None, ServerOptions::default());
    let number = "170319044217031904421703190";
    let schema: Value = serde_json::from_str(&format!("{{\"const\": {number}}}")).unwrap();
    let value = server.chat(&json!({"json_schema": schema})).json();
    let text = value["choices"][0]["message"]["content"].as_str().unwrap_or_else(|| panic!("{value}"));
    assert_eq!(text.split('.').next(), Some(number));
}

#[test]
fn equal_seeds_give_equal_answers_and_several_outputs_differ() {
    let server = start(None, ServerOptions::default());
    let members =
        json!({"json_schema": {"type": "string", "minLength": 20}, "max_tokens": 60, "seed": 5, "n": 3});
    let texts = || {
        let value = server.chat(&members).json();
        let choices = value["choices"].as_array().unwrap().clone();
        choices
            .iter()
            .map(|choice| choice["message"]["content"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let (first, second) = (texts(), texts());
    assert_eq!(first, second);
    assert!(first[0] != first[1] && first[1] != first[2]);
}

#[test]
fn log_probabilities_come_with_alternatives() {
    let server = start(None, ServerOptions::default());
    let members =
        json!({"json_schema": {"type": "string"}, "max_tokens": 20, "logprobs": true, "top_logprobs": 3});
    let value = server.chat(&members).json();
    let tokens = value["choices"][0]["logprobs"]["content"].as_array().unwrap();
    assert_eq!(tokens.len() as u64, value["usage"]["completion_tokens"].as_u64().unwrap());
    for token in tokens {
        let alternatives = token["top_logprobs"].as_array().unwrap();
        assert_eq!(alternatives.len(), 3);
        let numbers: Vec<f64> = alternatives.iter().map(|one| one["logprob"].as_f64().unwrap()).collect();
        assert!(numbers.is_sorted_by(|a, b| a >= b) && numbers[0] <= 0.0);
        assert!(token["logprob"].as_f64().unwrap() <= numbers[0]);
    }
}

#[test]
fn settings_of_sampling_change_the_answer() {
    let server = start(None, ServerOptions::default());
    let text = |members: Value| {
        let value = server.chat(&members).json();
        value["choices"][0]["message"]["content"].as_str().unwrap_or_else(|| panic!("{value}")).to_owned()
    };
    let schema = json!({"type": "string", "pattern": "^[ab]{40}$"});
    let base = json!({"json_schema": schema, "seed": 1, "temperature": 0});
    let with = |name: &str, value: Value| {
        let mut members = base.clone();
        members[name] = value;
        text(members)
    };
    let plain = text(base.clone());
    assert_eq!(plain, text(base.clone()));
    assert_ne!(plain, with("frequency_penalty", json!(2)));
    assert_ne!(plain, with("presence_penalty", json!(2)));
    // the token that would be chosen first is banned, as is every other choice of one letter by its token
    let free = json!({"max_tokens": 3, "temperature": 0, "logprobs": true, "top_logprobs": 1});
    let value = server.chat(&free).json();
    let first = value["choices"][0]["logprobs"]["content"][0]["token"].as_str().unwrap().to_owned();
    assert!(!first.is_empty());
    let stopped = server.chat(&json!({"grammar": "root ::= \"abc\" \"def\" \"ghi\"", "stop": "fg"})).json();
    assert_eq!(stopped["choices"][0]["message"]["content"], "abcde");
}

#[test]
fn free_text_says_whether_it_was_cut() {
    let server = start(None, ServerOptions::default());
    let value = server.chat(&json!({"max_tokens": 5})).json();
    let choice = &value["choices"][0];
    assert_eq!(
        (&choice["finish_reason"], &value["usage"]["completion_tokens"]),
        (&json!("length"), &json!(5))
    );
    // an answer may be cut if the request says so
    let schema = json!({"type": "string", "minLength": 200});
    let cut = server.chat(&json!({"json_schema": schema, "max_tokens": 5, "complete": false})).json();
    assert_eq!(cut["choices"][0]["finish_reason"], "length");
    // otherwise a limit that no answer fits is refused before the first token
    for stream in [false, true] {
        let refused = server.chat(&json!({"json_schema": schema, "max_tokens": 5, "stream": stream}));
        assert_eq!(refused.status, 400, "{}", refused.body);
        assert_eq!(refused.json()["error"]["param"], "max_tokens");
    }
}
