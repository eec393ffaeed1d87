//! The listener when it is full, attacked or short of what it needs, and web pages as clients.
#![cfg(unix)]

use crate::http::{self, Answer, Listening};
use crate::parts::{call, request};
use grammata_guard::http::{Handlers, ListenOptions, Listener};
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

const ORIGIN: &str = "https://app.example";

fn listening(sessions: usize) -> Listening {
    let origins = vec![ORIGIN.to_owned()];
    http::listening(ListenOptions { sessions, origins, ..ListenOptions::default() })
}

fn ping(listening: &Listening, session: &str) -> u16 {
    listening.post(Some(session), &request(1, "ping", json!({}))).0
}

#[test]
fn the_session_that_was_unused_longest_gives_way() {
    let listening = listening(2);
    let (first, second) = (listening.begin(), listening.begin());
    assert_eq!(ping(&listening, &first), 200);
    let third = listening.begin();
    assert_eq!([&first, &second, &third].map(|id| ping(&listening, id)), [200, 404, 200]);
    listening.wait_for_end(1);
    // sessions with open requests are kept: a stream, and a call without an answer
    let stream = listening.send(&listening.head("GET", Some(&first), "accept: text/event-stream\r\n\r\n"));
    let mut byte = [0];
    (&stream).read_exact(&mut byte).unwrap();
    let silent = request(2, "prompts/list", json!({ "cursor": "silence" }));
    let more = format!("content-type: application/json\r\ncontent-length: {}\r\n\r\n{silent}", silent.len());
    let waits = listening.send(&listening.head("POST", Some(&third), &more));
    // a session whose request has not arrived yet would give way
    std::thread::sleep(Duration::from_millis(500));
    let start = Instant::now();
    while listening.post(None, &request(0, "initialize", json!({}))).0 == 200 {
        assert!(start.elapsed() < Duration::from_secs(10), "the two sessions are in use");
    }
    let (status, _, body) = listening.post(None, &request(0, "initialize", json!({})));
    assert_eq!(status, 503, "{body}");
    assert!(body.contains("all sessions are in use"), "{body}");
    drop((stream, waits));
}

/// 300 clients that send nothing, and 300 that send a byte now and then, do not keep others out.
#[test]
fn silent_clients_keep_nobody_out() {
    let listening = listening(8);
    let silent: Vec<TcpStream> = (0..300).map(|_| listening.send("")).collect();
    let slow: Vec<TcpStream> = (0..300).map(|_| listening.send("POST /mcp HTTP/1.1\r\n")).collect();
    for mut stream in &slow {
        let _ = stream.write_all(b"a");
    }
    let start = Instant::now();
    let id = listening.begin();
    for _ in 0..5 {
        assert_eq!(ping(&listening, &id), 200);
    }
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    drop((silent, slow));
}

#[test]
fn web_pages_of_allowed_origins_are_served() {
    let listening = listening(8);
    let preflight = |origin: &str, more: &str| {
        let head = listening.head("OPTIONS", None, &format!("origin: {origin}\r\n{more}\r\n"));
        listening.raw(&head)
    };
    let wanted = "access-control-request-method: POST\r\n\
                  access-control-request-headers: content-type, mcp-session-id,mcp-protocol-version\r\n\
                  access-control-request-private-network: true\r\n";
    let has = |(status, head, _): &Answer, expected: u16, lines: &[&str]| {
        assert_eq!(*status, expected, "{head}");
        for line in lines {
            assert!(head.lines().any(|found| found == *line), "{line}\n{head}");
        }
    };
    let allowed = format!("access-control-allow-origin: {ORIGIN}");
    has(
        &preflight(ORIGIN, wanted),
        204,
        &[
            &allowed,
            "vary: origin",
            "access-control-allow-methods: get, post, delete",
            "access-control-allow-headers: content-type, mcp-session-id, mcp-protocol-version",
            "access-control-allow-private-network: true",
        ],
    );
    let refused = preflight("https://evil.example", wanted);
    has(&refused, 403, &[]);
    assert!(!refused.1.contains("access-control"), "{}", refused.1);
    // answers, refusals and streams can be read by the page, and the id of the session
    let post = |body: &str, more: &str| {
        let head = format!(
            "origin: {ORIGIN}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n\
             {more}content-length: {}\r\n\r\n{body}",
            body.len()
        );
        listening.raw(&listening.head("POST", None, &head))
    };
    let readable = [allowed.as_str(), "access-control-expose-headers: mcp-session-id, mcp-protocol-version"];
    let begun = post(&request(0, "initialize", json!({})), "");
    has(&begun, 200, &readable);
    let id = begun.1.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap();
    let price = call(1, "price_ride", json!({ "pickup": "Elm", "target": "Oak" }));
    let streamed = post(&price, &format!("mcp-session-id: {id}\r\n"));
    has(&streamed, 200, &readable);
    assert!(streamed.1.contains("text/event-stream"), "{}", streamed.1);
    has(&post(&price, "mcp-session-id: x\r\n"), 404, &readable);
    // other clients get no such headers
    let (_, head, _) = listening.post(Some(id), &request(2, "ping", json!({})));
    assert!(!head.contains("access-control"), "{head}");
}

/// A session that fails before its first answer is answered with the reason.
#[test]
fn a_session_that_cannot_begin_says_why() {
    let listener = Listener::new("127.0.0.1:0".parse().unwrap(), ListenOptions::default()).unwrap();
    let listener: &'static Listener = Box::leak(Box::new(listener));
    std::thread::spawn(|| {
        let run = |_: &str, client| {
            // dropped first, as by a log that cannot be opened
            drop(client);
            Err(Listener::new("0.0.0.0:0".parse().unwrap(), ListenOptions::default()).unwrap_err())
        };
        listener.serve(&Handlers { run: &run, note: &|_| {} })
    });
    for _ in 0..20 {
        let mut stream = TcpStream::connect(listener.url()[7..].strip_suffix("/mcp").unwrap()).unwrap();
        let body = request(7, "initialize", json!({}));
        let head = "content-type: application/json\r\nhost: localhost\r\n";
        let text = format!("POST /mcp HTTP/1.1\r\n{head}content-length: {}\r\n\r\n{body}", body.len());
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("\"id\":7"), "{answer}");
        assert!(answer.contains("others than this machine could reach this address: 0.0.0.0:0"), "{answer}");
    }
}
