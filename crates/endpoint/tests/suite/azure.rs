//! A server with Azure's addresses and headers, and secrets in both.

use crate::stand_in::{Reply, StandIn};
use grammata_endpoint::{Chat, Endpoint, Form, Header, Key, Options, Request};
use serde_json::json;

const KEY: &str = "0123456789abcdef";

fn request() -> Request {
    Request::new("Which?", Form::Text, 8)
}

/// Returns the address of a deployment of a stand-in server, with a query.
fn deployment(server: &StandIn, query: &str) -> String {
    let origin = server.url.strip_suffix("/v1").unwrap();
    format!("{origin}/openai/deployments/gpt-4.1{query}")
}

#[test]
fn deployments_are_asked_with_their_version_and_key() {
    let server = StandIn::new(|_, _| Reply::says("two"));
    let headers = vec![Header::new("api-key", KEY).unwrap(), Header::new("X-Team", "red team").unwrap()];
    let url = deployment(&server, "?api-version=2024-10-21");
    let mut endpoint = Endpoint::new(&url, Options::default().headers(headers)).unwrap();
    assert_eq!(endpoint.ask(&request()).unwrap().text, "two");
    let head = server.heads()[0].clone();
    let line = "post /openai/deployments/gpt-4.1/chat/completions?api-version=2024-10-21 http/1.1\r\n";
    assert!(head.starts_with(line), "{head}");
    for header in ["api-key: 0123456789abcdef\r\n", "x-team: red team\r\n"] {
        assert!(head.contains(header), "{head}");
    }
    assert!(!head.contains("authorization"), "{head}");
}

#[test]
fn no_secret_of_a_header_or_an_address_is_shown() {
    const SECRETS: [&str; 3] = [KEY, "query-secret", "red team's token"];
    for text in SECRETS.iter().flat_map(|secret| [(*secret).to_owned(), secret.to_uppercase()]) {
        let told = text.clone();
        let server = StandIn::new(move |number, _| match number {
            0 => Reply::error(401, &format!("Access denied: {told}.")),
            1 => Reply::json(200, &json!({"choices": [], "text": told})),
            2 => Reply::message(json!({"content": null, "refusal": told})),
            3 => Reply::json(400, &json!({"error": {"code": "content_filter", "message": told}})),
            4 => Reply::stream(&[&told]),
            _ => Reply::says(&told),
        });
        let headers = vec![Header::new("api-key", KEY).unwrap(), Header::new("x-team", SECRETS[2]).unwrap()];
        let url = deployment(&server, "?api-version=2024-10-21&key=query-secret");
        let mut endpoint = Endpoint::new(&url, Options::default().headers(headers)).unwrap();
        let mut shown = format!("{endpoint:?} {}", endpoint.url());
        for _ in 0..5 {
            let error = endpoint.ask(&request()).unwrap_err();
            shown.push_str(&format!("{error} {error:?}"));
        }
        let answer = endpoint.ask(&request()).unwrap();
        shown.push_str(&endpoint.hide(&answer.text));
        let shown = shown.to_lowercase();
        assert!(server.heads()[0].contains("?api-version=2024-10-21&key=query-secret http/1.1"));
        for secret in SECRETS {
            assert!(!shown.contains(secret), "{secret}: {shown}");
        }
    }
}

/// Azure names the version that it does not know. It is not a secret.
#[test]
fn versions_are_shown() {
    let server = StandIn::new(|_, _| Reply::error(404, "Unknown version 2024-99-99"));
    let mut endpoint =
        Endpoint::new(&deployment(&server, "?api-version=2024-99-99"), Options::default()).unwrap();
    let error = endpoint.ask(&request()).unwrap_err();
    assert!(error.to_string().contains("Unknown version 2024-99-99"), "{error}");
}

#[test]
fn no_header_is_sent_twice() {
    let key = || Some(Key::new(KEY).unwrap());
    let header = |name: &str| Header::new(name, KEY).unwrap();
    for (headers, key) in
        [(vec![header("Authorization")], key()), (vec![header("api-key"), header("API-Key")], None)]
    {
        let options = Options::default().headers(headers).key(key);
        let error = Endpoint::new("http://h/v1", options).unwrap_err();
        assert_eq!(error.code(), "endpoint/header");
        assert!(!error.to_string().contains(KEY), "{error}");
    }
}

#[test]
fn a_refused_request_is_billed_once_and_counted() {
    let server = StandIn::new(|_, _| Reply::message(json!({"content": null, "refusal": "No."})));
    let mut endpoint = Endpoint::new(&server.url, Options::default()).unwrap();
    let error = endpoint.ask(&request()).unwrap_err();
    assert!(error.to_string().contains("No."), "{error}");
    let usage = endpoint.usage();
    assert_eq!((usage.sent, usage.answers, usage.prompt_tokens, usage.answer_tokens), (1, 1, 11, 3));
}
