//! Faulty behaviours of servers. Each case states the result, an answer or the code of an error, and the number of
//! requests.

use crate::stand_in::{Reply, StandIn};
use grammata_endpoint::{Chat, Endpoint, Form, Key, Options, Request};
use serde_json::json;
use std::time::{Duration, Instant};

fn options() -> Options {
    Options::default()
        .pause(Duration::from_millis(1))
        .most_pause(Duration::from_secs(2))
        .connect(Duration::from_secs(2))
        .first_byte(Duration::from_millis(300))
        .deadline(Duration::from_millis(600))
        .answer_bytes(4_096)
}

fn ask(server: &StandIn, options: Options) -> Result<String, grammata_base::Error> {
    let mut endpoint = Endpoint::new(&server.url, options).unwrap();
    endpoint.ask(&Request::new("Which?", Form::Text, 8)).map(|answer| answer.text)
}

/// A behaviour: its name, the reply to each request by its number, the result (a text, or the code of an error), and
/// the number of requests that are sent.
type Case = (&'static str, fn(usize) -> Reply, Result<&'static str, &'static str>, usize);

const CASES: &[Case] = &[
    ("correct", |_| Reply::says("two"), Ok("two"), 1),
    ("no text", |_| Reply::message(json!({"role": "assistant", "content": null})), Ok(""), 1),
    (
        "busy, then correct",
        |n| if n < 2 { Reply::error(503, "busy") } else { Reply::says("two") },
        Ok("two"),
        3,
    ),
    (
        "too many requests, with a pause",
        |n| match n {
            0 => Reply::Whole(429, "retry-after: 1\r\n", "application/json", b"{}".to_vec()),
            _ => Reply::says("two"),
        },
        Ok("two"),
        2,
    ),
    (
        "a pause without end",
        |_| Reply::Whole(429, "retry-after: 86400\r\n", "application/json", b"{}".to_vec()),
        Err("endpoint/wait"),
        1,
    ),
    (
        "a pause that is no number",
        |n| match n {
            0 => Reply::Whole(503, "retry-after: -1e99\r\n", "text/plain", b"later".to_vec()),
            _ => Reply::says("two"),
        },
        Ok("two"),
        2,
    ),
    (
        "a pause up to a date",
        |n| match n {
            0 => Reply::Whole(
                429,
                "date: Sun, 06 Nov 1994 08:49:37 GMT\r\nretry-after: Sun, 06 Nov 1994 08:49:38 GMT\r\n",
                "text/plain",
                b"later".to_vec(),
            ),
            _ => Reply::says("two"),
        },
        Ok("two"),
        2,
    ),
    (
        "a pause up to a date that is far",
        |_| {
            let far = "date: Sun, 06 Nov 1994 08:49:37 GMT\r\nretry-after: Sun, 06 Nov 1994 08:49:47 GMT\r\n";
            Reply::Whole(503, far, "text/plain", b"later".to_vec())
        },
        Err("endpoint/wait"),
        1,
    ),
    (
        "a refusal",
        |_| Reply::message(json!({"role": "assistant", "content": null, "refusal": "I can't do that."})),
        Err("endpoint/refusal"),
        1,
    ),
    ("no refusal", |_| Reply::message(json!({"content": "two", "refusal": null})), Ok("two"), 1),
    ("an empty refusal", |_| Reply::message(json!({"content": "two", "refusal": ""})), Ok("two"), 1),
    (
        "a refusal in parts",
        |_| {
            Reply::stream(&[
                "data: {\"choices\":[{\"delta\":{\"refusal\":\"I can\"}}]}",
                "data: {\"choices\":[{\"delta\":{\"refusal\":\"not.\"},\"finish_reason\":\"stop\"}]}",
                "data: [DONE]",
            ])
        },
        Err("endpoint/refusal"),
        1,
    ),
    (
        "a filtered answer",
        |_| {
            let choice = json!({"message": {"content": "tw"}, "finish_reason": "content_filter"});
            Reply::json(200, &json!({"choices": [choice]}))
        },
        Err("endpoint/filtered"),
        1,
    ),
    (
        "a filtered answer without a message",
        |_| Reply::json(200, &json!({"choices": [{"finish_reason": "content_filter"}]})),
        Err("endpoint/filtered"),
        1,
    ),
    (
        "a filtered stream",
        |_| {
            Reply::stream(&[
                "data: {\"choices\":[{\"delta\":{\"content\":\"t\"}}]}",
                "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"content_filter\"}]}",
                "data: [DONE]",
            ])
        },
        Err("endpoint/filtered"),
        1,
    ),
    (
        "a filtered prompt",
        |_| {
            Reply::json(
                400,
                &json!({"error": {"code": "content_filter", "message": "filtered", "status": 400}}),
            )
        },
        Err("endpoint/filtered"),
        1,
    ),
    (
        "a filtered prompt of a stream",
        |_| Reply::stream(&["data: {\"error\":{\"code\":\"content_filter\",\"message\":\"x\"}}"]),
        Err("endpoint/filtered"),
        1,
    ),
    ("errors without end", |_| Reply::error(500, "broken"), Err("endpoint/status"), 4),
    ("wrong key", |_| Reply::error(401, "no"), Err("endpoint/status"), 1),
    ("no such model", |_| Reply::error(404, "no"), Err("endpoint/status"), 1),
    ("refused", |_| Reply::error(400, "no"), Err("endpoint/status"), 1),
    ("no content", |_| Reply::Whole(204, "", "application/json", Vec::new()), Err("endpoint/status"), 1),
    ("closes at once", |_| Reply::Close, Err("endpoint/unreachable"), 4),
    ("closes once", |n| if n == 0 { Reply::Close } else { Reply::says("two") }, Ok("two"), 2),
    ("closes early", |_| Reply::Short, Err("endpoint/unreachable"), 4),
    ("hangs", |_| Reply::Hang(Duration::from_secs(3)), Err("endpoint/deadline"), 1),
    (
        "a slow drip",
        |_| Reply::Drip("application/json", vec!["{".into(); 100], Duration::from_millis(50)),
        Err("endpoint/deadline"),
        1,
    ),
    (
        "a slow stream",
        |_| Reply::Drip("text/event-stream", vec![": wait\n".into(); 100], Duration::from_millis(50)),
        Err("endpoint/deadline"),
        1,
    ),
    (
        "elsewhere",
        |_| Reply::Whole(307, "location: http://127.0.0.1:9/\r\n", "text/plain", Vec::new()),
        Err("endpoint/redirect"),
        1,
    ),
    ("a page", |_| Reply::Whole(200, "", "text/html", b"<html>".to_vec()), Err("endpoint/answer"), 1),
    ("garbage", |_| Reply::Whole(200, "", "application/json", vec![0xff; 40]), Err("endpoint/answer"), 1),
    ("another JSON", |_| Reply::json(200, &json!([1, 2])), Err("endpoint/answer"), 1),
    ("no choices", |_| Reply::json(200, &json!({"choices": []})), Err("endpoint/answer"), 1),
    ("a choice without message", |_| Reply::json(200, &json!({"choices": [{}]})), Err("endpoint/answer"), 1),
    ("an error with status 200", |_| Reply::error(200, "full"), Err("endpoint/answer"), 1),
    (
        "deep JSON",
        |_| Reply::Whole(200, "", "application/json", vec![b'['; 4_000]),
        Err("endpoint/answer"),
        1,
    ),
    (
        "a huge body",
        |_| Reply::Whole(200, "", "application/json", vec![b' '; 1 << 20]),
        Err("endpoint/too-long"),
        1,
    ),
    (
        "an endless stream",
        |_| Reply::stream(&["data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}"; 200]),
        Err("endpoint/too-long"),
        1,
    ),
    ("a stream of garbage", |_| Reply::stream(&["\u{1}\u{2}"]), Err("endpoint/answer"), 1),
    ("a stream of other JSON", |_| Reply::stream(&["data: [1]"]), Err("endpoint/answer"), 1),
    ("a stream that ends early", |_| Reply::stream(&["data: {\"choices\":[]}"]), Err("endpoint/answer"), 4),
    (
        "a stream",
        |_| {
            Reply::stream(&[
                "data: {\"choices\":[{\"delta\":{\"content\":\"t\"}}]}",
                "data: {\"choices\":[{\"delta\":{\"content\":\"wo\"},\"finish_reason\":\"stop\"}]}",
                "data: [DONE]",
            ])
        },
        Ok("two"),
        1,
    ),
];

#[test]
fn what_servers_do_wrong_is_an_error_within_the_time_allowed() {
    for (name, reply, expected, requests) in CASES {
        let server = StandIn::new(move |number, _| reply(number));
        let start = Instant::now();
        let found = ask(&server, options());
        assert_eq!(found.as_deref().map_err(grammata_base::Error::code), *expected, "{name}: {found:?}");
        assert_eq!(server.bodies().len(), *requests, "{name}");
        assert!(start.elapsed() < Duration::from_secs(5), "{name}: {:?}", start.elapsed());
        if let Err(error) = found {
            let diagnostic = error.diagnostic();
            let parts = [diagnostic.found_text(), diagnostic.allowed_text(), diagnostic.help_text()];
            assert!(parts.iter().all(Option::is_some), "{name}: {error}");
        }
    }
}

#[test]
fn a_server_that_is_not_there_is_an_error() {
    let mut endpoint = Endpoint::new("http://127.0.0.1:9/v1", options().tries(2)).unwrap();
    let error = endpoint.ask(&Request::new("Which?", Form::Text, 8)).unwrap_err();
    assert_eq!(error.code(), "endpoint/unreachable");
    assert_eq!((endpoint.usage().sent, endpoint.usage().answers), (2, 0));
}

#[test]
fn addresses_are_those_of_servers() {
    for url in ["", "ftp://a", "http://", "https:///v1", "http://a b", "http://u:p@h/", "http://h/#q", "h:80"]
    {
        assert_eq!(Endpoint::new(url, options()).unwrap_err().code(), "endpoint/url", "{url}");
    }
    for (url, full) in [
        ("http://h:1/v1", "http://h:1/v1/chat/completions"),
        ("http://h/v1/", "http://h/v1/chat/completions"),
        ("http://h/v1/chat/completions", "http://h/v1/chat/completions"),
        ("http://[::1]:80", "http://[::1]:80/chat/completions"),
        ("http://h/v1?api-version=1", "http://h/v1/chat/completions?…"),
    ] {
        assert_eq!(Endpoint::new(url, options()).unwrap().url(), full);
    }
}

#[test]
fn a_key_is_sent_and_never_shown() {
    const KEY: &str = "sk-very-secret";
    for key in ["", "a b", "a\nb", "schlüssel"] {
        assert_eq!(Key::new(key).unwrap_err().code(), "endpoint/key", "{key}");
    }
    // an address may have a secret: it is refused, and shown without it
    for url in
        ["http://u:PASSWORD@127.0.0.1:1/v1", "http://127.0.0.1:1/v1#key=PASSWORD", "http://u:PASS/WORD?@h/v1"]
    {
        let error = Endpoint::new(url, options()).unwrap_err();
        assert_eq!(error.code(), "endpoint/url");
        assert!(!error.to_string().contains("PASS") && !error.to_string().contains("WORD"), "{error}");
    }
    // servers may repeat the key in their errors, in whole or nearly
    let server = StandIn::new(|number, _| match number {
        4 => Reply::error(401, &format!("Incorrect API key provided: {}.", &KEY[..KEY.len() - 1])),
        5 => Reply::error(401, &format!("wrong: {}", &KEY[3..])),
        6 => Reply::error(401, &KEY.to_uppercase()),
        0 => Reply::says("two"),
        1 => Reply::error(401, &format!("Incorrect API key provided: {KEY}.")),
        2 => Reply::Whole(200, "", "application/json", format!("[\"{KEY}\"]").into_bytes()),
        _ => Reply::stream(&[&format!("{KEY} garbage")]),
    });
    let options = options().key(Some(Key::new(KEY).unwrap()));
    assert!(!format!("{options:?}").contains(KEY));
    let mut endpoint = Endpoint::new(&server.url, options).unwrap();
    assert!(!format!("{endpoint:?}").contains(KEY));
    let request = Request::new("Which?", Form::Text, 8);
    endpoint.ask(&request).unwrap();
    assert!(server.heads()[0].contains(&format!("authorization: bearer {KEY}")), "{}", server.heads()[0]);
    for _ in 0..6 {
        let error = endpoint.ask(&request).unwrap_err();
        let shown = format!("{error} {error:?}").to_lowercase();
        assert!(!shown.contains("secret") && !shown.contains("sk-very"), "{error}");
    }
}
