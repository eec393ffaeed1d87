//! Streamable HTTP on loopback: servers that the guard reaches by HTTP, and clients that reach the guard by HTTP. Both
//! are well-behaved or faulty.
#![cfg(unix)]

use crate::parts::{self, call, notification, request};
use grammata_agents::procedures::{Mode, Procedure, Supervisor, read_trace, verify};
use grammata_guard::http::{Handlers, ListenOptions, Listener, Remote};
use grammata_guard::proxy::{self, Client, Journal, Server};
use grammata_guard::rules::ProcedureOptions;
use grammata_guard::{Guard, Options};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A request as a server reads it: the first line, the headers in lower case, and the body.
pub(crate) struct Got {
    line: String,
    pub(crate) headers: String,
    pub(crate) body: Value,
}

pub(crate) fn read_request(stream: &TcpStream) -> Option<Got> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let (mut headers, mut length) = (String::new(), 0);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let lower = header.to_ascii_lowercase();
        if lower.trim().is_empty() {
            break;
        }
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        headers.push_str(&lower);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Got { line, headers, body: serde_json::from_slice(&body).unwrap_or_default() })
}

/// How a server answers calls.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Style {
    Json,
    Events,
    /// An event stream that ends before the answer.
    Cut,
    /// Status 500.
    Fails,
    /// The content type of HTML.
    Html,
    /// Status 404: the session does not exist any more.
    Gone,
    /// No answer for a long time.
    Silent,
    /// A message that is much longer than allowed.
    Long,
}

/// Starts a taxi server that uses streamable HTTP. Returns its address and the log of the messages that it receives.
fn server(style: Style) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let log: Arc<Mutex<Vec<String>>> = Arc::default();
    let known = Arc::clone(&log);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let known = Arc::clone(&known);
            // a client that closes the connection is not an error of the server
            std::thread::spawn(move || answer(&stream, style, &known));
        }
    });
    (url, log)
}

fn answer(mut stream: &TcpStream, style: Style, log: &Mutex<Vec<String>>) -> Option<()> {
    let got = read_request(stream)?;
    let method = got.body["method"].as_str().unwrap_or_default();
    let has_session = got.headers.contains("mcp-session-id: s1");
    let has_version = got.headers.contains("mcp-protocol-version: 2025-06-18");
    let verb = got.line.split(' ').next().unwrap_or_default();
    log.lock().unwrap().push(format!("{verb} {method} {has_session} {has_version}"));
    let id = &got.body["id"];
    let json = |result: Value| {
        let text = parts::response(id, result);
        format!(
            "HTTP/1.1 200 X\r\ncontent-type: application/json\r\nmcp-session-id: s1\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
            text.len()
        )
    };
    let stream_of = |lines: &[String]| {
        let events: String =
            lines.iter().map(|line| format!("id: 1\nevent: message\ndata: {line}\n\n")).collect();
        format!(
            "HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n: hello\n\n{events}"
        )
    };
    let plain = |status: u16, kind: &str, body: &str| {
        format!(
            "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        )
    };
    let data = json!({ "structuredContent": { "offer_id": "T5", "price": 14, "minutes": 6 } });
    let text = match (verb, method) {
        ("GET", _) if style == Style::Events => {
            let text = stream_of(&[request("r1", "roots/list", json!({}))]);
            stream.write_all(text.as_bytes()).ok()?;
            std::thread::sleep(Duration::from_secs(5));
            return Some(());
        }
        ("GET", _) => plain(405, "text/plain", ""),
        ("DELETE", _) => plain(200, "text/plain", ""),
        (_, "initialize") => {
            json(json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {} }))
        }
        (_, "tools/list") => json(json!({ "tools": parts::tools(&parts::procedure("taxi_order")) })),
        (_, "tools/call") => match style {
            Style::Json => json(data),
            Style::Events => stream_of(&[notification("notifications/progress"), parts::response(id, data)]),
            Style::Cut => stream_of(&[notification("notifications/progress")]),
            Style::Fails => plain(500, "text/plain", "out of order"),
            Style::Html => plain(200, "text/html", "<html>"),
            Style::Gone => plain(404, "text/plain", ""),
            Style::Silent => {
                std::thread::sleep(Duration::from_secs(4));
                return None;
            }
            Style::Long => json(json!({ "x": "y".repeat(300_000) })),
        },
        _ => plain(202, "text/plain", ""),
    };
    stream.write_all(text.as_bytes()).ok()
}

/// Returns a guard for the procedure `taxi_order`. What the guard borrows is leaked.
pub(crate) fn guard() -> Guard<'static> {
    let mut procedure = parts::procedure("taxi_order");
    procedure.open_sources();
    let procedure: &'static Procedure = Box::leak(Box::new(procedure));
    let supervisor: &'static Supervisor<'static> =
        Box::leak(Box::new(parts::supervisor(procedure, Mode::Guarded)));
    let rules = parts::rules(procedure, Mode::Guarded, supervisor, ProcedureOptions::default());
    Guard::new(Box::new(rules), Options { deadline: Duration::from_secs(1), ..Options::default() }).unwrap()
}

/// A client that pauses between its lines, and keeps the connection open for a while after the last one.
struct Slow(Vec<String>, Duration);

impl Read for Slow {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        std::thread::sleep(Duration::from_millis(150));
        if self.0.is_empty() {
            std::thread::sleep(std::mem::take(&mut self.1));
            return Ok(0);
        }
        let line = format!("{}\n", self.0.remove(0));
        bytes[..line.len()].copy_from_slice(line.as_bytes());
        Ok(line.len())
    }
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Runs a session with a server by HTTP. Returns the code of the error that ended it, if any, what the client got, and
/// the log.
fn session(url: &str) -> (Option<&'static str>, Vec<Value>, String) {
    let lines = vec![
        request(1, "initialize", json!({ "protocolVersion": "2025-06-18", "capabilities": {} })),
        notification("notifications/initialized"),
        call(2, "price_ride", json!({ "pickup": "Elm", "target": "Oak" })),
        call(3, "order_ride", json!({ "offer_id": "T5" })),
    ];
    session_of(url, lines)
}

/// Like [`session`], with a client that sends these lines.
pub(crate) fn session_of(url: &str, lines: Vec<String>) -> (Option<&'static str>, Vec<Value>, String) {
    let remote = Remote::new(url, None).unwrap();
    let (output, mut log) = (Shared::default(), String::new());
    let client =
        Client::Streams(Box::new(Slow(lines, Duration::from_millis(1_500))), Box::new(output.clone()));
    let mut write = parts::log_to(&mut log);
    let journal = Journal { log: &mut write, note: &mut |_| {} };
    let ended = proxy::run(&mut guard(), Server::Http(&remote), client, journal, 100_000);
    drop(write);
    let text = String::from_utf8(output.0.lock().unwrap().clone()).unwrap();
    let got = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (ended.err().map(|error| error.code()), got, log)
}

pub(crate) fn answer_to(got: &[Value], id: u64) -> &Value {
    let found = got.iter().find(|message| message["id"] == id && message.get("method").is_none());
    found.unwrap_or_else(|| panic!("{id}: {got:?}"))
}

#[test]
fn servers_are_reached_by_http() {
    for style in [Style::Json, Style::Events] {
        let (url, requests) = server(style);
        let (ended, got, log) = session(&url);
        assert_eq!(ended, None);
        assert_eq!(answer_to(&got, 2)["result"]["structuredContent"]["price"], 14, "{style:?}");
        // the guard refuses the order, because the price was not told to the user
        assert_eq!(answer_to(&got, 3)["result"]["isError"], true);
        let (verdict, _) = verify(
            &parts::procedure("taxi_order"),
            Mode::Guarded,
            &read_trace(&log, &Default::default()).unwrap(),
            true,
        );
        assert!(verdict.violations.is_empty() && verdict.steps == 1, "{log}");
        let requests = requests.lock().unwrap().clone();
        for expected in [
            "POST initialize false false",
            "POST notifications/initialized true true",
            "POST tools/call true true",
            "GET  true true",
            "DELETE  true true",
        ] {
            assert!(requests.iter().any(|request| request == expected), "{expected}: {requests:?}");
        }
        assert_eq!(requests.iter().filter(|request| request.contains("tools/call")).count(), 1);
        if style == Style::Events {
            assert!(got.iter().any(|message| message["method"] == "notifications/progress"), "{got:?}");
            assert!(got.iter().any(|message| message["method"] == "roots/list"), "{got:?}");
        }
    }
}

#[test]
fn servers_that_answer_wrongly_by_http_do_no_harm() {
    for (style, code) in [
        (Style::Cut, None),
        (Style::Fails, None),
        (Style::Html, None),
        (Style::Long, None),
        (Style::Silent, None),
        (Style::Gone, Some("guard/server-ended")),
    ] {
        let (url, _) = server(style);
        let start = Instant::now();
        let (ended, got, log) = session(&url);
        assert_eq!(ended, code, "{style:?}");
        let answer = answer_to(&got, 2);
        assert!(answer.get("error").is_some() || answer["result"]["isError"] == true, "{style:?}: {answer}");
        assert!(log.contains("[\"result\",{\"error\":"), "{style:?}: {log}");
        assert!(start.elapsed() < Duration::from_secs(20), "{style:?}");
    }
    // a port without a listener
    let unused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (_, got, _) = session(&format!("http://{unused}/mcp"));
    assert!(answer_to(&got, 1).get("error").is_some());
    for url in ["ftp://a", "http://", "http://a b", "a"] {
        assert_eq!(Remote::new(url, None).unwrap_err().code(), "guard/url", "{url}");
    }
}

#[test]
fn tools_of_a_server_are_read_by_http() {
    for style in [Style::Json, Style::Events] {
        let (url, _) = server(style);
        let remote = Remote::new(&url, None).unwrap();
        let found = grammata_guard::inspect(Server::Http(&remote), Duration::from_secs(10), 1 << 20).unwrap();
        let names: Vec<&str> = found.tools().iter().filter_map(|tool| tool["name"].as_str()).collect();
        assert_eq!(names, ["price_ride", "order_ride", "cancel_ride"], "{style:?}");
    }
}

/// A guard that listens for clients, in front of a child process that serves taxis.
pub(crate) struct Listening {
    pub(crate) address: SocketAddr,
    pub(crate) ended: Arc<AtomicUsize>,
    logs: Arc<Mutex<Vec<String>>>,
}

/// A server in `sh`, which answers each message that it knows, in order, except those that contain `"silence"`.
const SCRIPT: &str = r#"
ride='"inputSchema":{"properties":{"pickup":{},"target":{},"seats":{}}}'
offer='"inputSchema":{"properties":{"offer_id":{}}}'
tools='{"name":"price_ride",'$ride'},{"name":"order_ride",'$offer'},{"name":"cancel_ride",'$offer'}'
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{}}}';;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":['$tools']}}';;
    *'"tools/call"'*) echo '{"jsonrpc":"2.0","method":"notifications/progress"}'; echo '{"jsonrpc":"2.0","id":'$id',"result":{"structuredContent":{"offer_id":"T5","price":14,"minutes":6}}}';;
    *'"silence"'*) ;;
    *'"ping"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{}}';;
  esac
done"#;

pub(crate) fn listening(options: ListenOptions) -> Listening {
    let listener = Box::leak(Box::new(Listener::new("127.0.0.1:0".parse().unwrap(), options).unwrap()));
    let address =
        listener.url().strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap().parse().unwrap();
    let (ended, logs): (Arc<AtomicUsize>, Arc<Mutex<Vec<String>>>) = Default::default();
    let (own, own_logs) = (Arc::clone(&ended), Arc::clone(&logs));
    std::thread::spawn(move || {
        let run = |_: &str, client| {
            let mut log = String::new();
            let mut command = std::process::Command::new("sh");
            let server = Server::Command(command.args(["-c", SCRIPT]));
            let mut write = parts::log_to(&mut log);
            let journal = Journal { log: &mut write, note: &mut |_| {} };
            let ran = proxy::run(&mut guard(), server, Client::Http(client), journal, 100_000);
            drop(write);
            own_logs.lock().unwrap().push(log);
            own.fetch_add(1, Ordering::SeqCst);
            ran
        };
        listener.serve(&Handlers { run: &run, note: &|_| {} })
    });
    Listening { address, ended, logs }
}

/// An HTTP response: the status, the head in lower case, the body.
pub(crate) type Answer = (u16, String, String);

impl Listening {
    pub(crate) fn send(&self, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        // the guard may refuse early, and close the connection before all is written
        let _ = stream.write_all(text.as_bytes());
        stream
    }

    pub(crate) fn raw(&self, text: &str) -> Answer {
        let mut stream = self.send(text);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        (status, head.to_ascii_lowercase(), body.to_owned())
    }

    pub(crate) fn head(&self, verb: &str, session: Option<&str>, more: &str) -> String {
        let session = session.map(|id| format!("mcp-session-id: {id}\r\n")).unwrap_or_default();
        format!("{verb} /mcp HTTP/1.1\r\nhost: {}\r\n{session}{more}", self.address)
    }

    pub(crate) fn post(&self, session: Option<&str>, body: &str) -> Answer {
        let more = format!(
            "content-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.raw(&self.head("POST", session, &more))
    }

    /// Begins a session and returns its id.
    pub(crate) fn begin(&self) -> String {
        let (status, head, body) = self.post(None, &request(0, "initialize", json!({})));
        assert_eq!(status, 200, "{head}{body}");
        assert!(body.contains("You are held to the procedure"), "{body}");
        let id = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap().to_owned();
        let (status, _, body) = self.post(Some(&id), &notification("notifications/initialized"));
        assert_eq!((status, body.as_str()), (202, ""));
        id
    }

    pub(crate) fn wait_for_end(&self, sessions: usize) {
        let start = Instant::now();
        while self.ended.load(Ordering::SeqCst) < sessions {
            assert!(start.elapsed() < Duration::from_secs(15), "no end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn clients_reach_the_guard_by_http() {
    let listening = listening(ListenOptions::default());
    let id = listening.begin();
    let other = listening.begin();
    assert_ne!(id, other);
    // an event stream for messages of the server that answer no request
    let get = listening.send(&listening.head("GET", Some(&id), "accept: text/event-stream\r\n\r\n"));
    let mut events = BufReader::new(get);
    let mut line = String::new();
    events.read_line(&mut line).unwrap();
    assert!(line.starts_with("HTTP/1.1 200"), "{line}");
    let (status, head, body) = listening.post(Some(&id), &request(1, "tools/list", json!({})));
    assert!(
        status == 200 && head.contains("application/json") && body.contains("price_ride"),
        "{head}{body}"
    );
    assert!(!body.contains("order_ride"), "{body}");
    let (_, _, body) = listening.post(Some(&id), &call(2, "order_ride", json!({ "offer_id": "T5" })));
    assert!(body.contains("Not carried out"), "{body}");
    let price = call(3, "price_ride", json!({ "pickup": "Elm", "target": "Oak" }));
    let (_, head, body) = listening.post(Some(&id), &price);
    assert!(head.contains("application/json") && body.contains("\"price\":14"), "{head}{body}");
    let mut got = String::new();
    while !(got.contains("notifications/progress") && got.contains("list_changed")) {
        line.clear();
        assert!(events.read_line(&mut line).unwrap() > 0, "{got}");
        got.push_str(&line);
    }
    // a session without such a stream gets an event stream as the response to its call
    let (_, head, body) = listening.post(Some(&other), &price);
    assert!(head.contains("text/event-stream"), "{head}");
    assert!(body.contains("notifications/progress") && body.contains("\"price\":14"), "{body}");
    // each session has its own state of the procedure
    let (_, _, body) = listening.post(Some(&other), &call(4, "guard_say", json!({ "answer": "tell_price" })));
    assert!(body.contains("Tell the user"), "{body}");
    let (status, ..) = listening.raw(&listening.head("DELETE", Some(&id), "\r\n"));
    assert_eq!(status, 200);
    listening.wait_for_end(1);
    assert_eq!(listening.post(Some(&id), &request(5, "ping", json!({}))).0, 404);
    assert_eq!(listening.post(Some(&other), &request(6, "ping", json!({}))).0, 200);
    for log in listening.logs.lock().unwrap().iter() {
        let trace = read_trace(log, &Default::default()).unwrap();
        assert!(verify(&parts::procedure("taxi_order"), Mode::Guarded, &trace, true).0.violations.is_empty());
    }
}

#[test]
fn requests_that_are_none_are_refused() {
    let listening = listening(ListenOptions { body_bytes: 2_000, sessions: 2, ..ListenOptions::default() });
    let id = listening.begin();
    let ping = request(1, "ping", json!({}));
    let length = format!("content-length: {}\r\n\r\n{ping}", ping.len());
    let kind = "content-type: application/json\r\n";
    let host = format!("host: {}\r\n", listening.address);
    let session = format!("mcp-session-id: {id}\r\n");
    for (text, expected) in [
        (format!("POST /mcp HTTP/1.1\r\n{host}{kind}{session}{length}"), 200),
        (format!("POST /mcp/?a=b HTTP/1.1\r\n{host}{kind}{session}{length}"), 200),
        (format!("POST /mcp HTTP/1.1\r\n{host}{kind}{session}origin: http://localhost:8\r\n{length}"), 200),
        (format!("POST /mcp HTTP/1.1\r\n{host}{kind}{session}origin: http://evil.example\r\n{length}"), 403),
        (format!("POST /mcp HTTP/1.1\r\n{host}{kind}{session}origin: null\r\n{length}"), 403),
        (format!("POST /mcp HTTP/1.1\r\nhost: evil.example\r\n{kind}{session}{length}"), 403),
        (format!("POST /mcp HTTP/1.1\r\nhost: localhost.evil.example\r\n{kind}{session}{length}"), 403),
        (format!("POST /mcp HTTP/1.1\r\n{kind}{session}{length}"), 403),
        (format!("POST /other HTTP/1.1\r\n{host}{kind}{session}{length}"), 404),
        (format!("POST /mcp HTTP/1.1\r\n{host}{kind}{length}"), 400),
        (format!("POST /mcp HTTP/1.1\r\n{host}{kind}mcp-session-id: x\r\n{length}"), 404),
        (format!("POST /mcp HTTP/1.1\r\n{host}{session}content-type: text/plain\r\n{length}"), 415),
        (format!("POST /mcp HTTP/1.1\r\n{host}{kind}{session}accept: text/html\r\n{length}"), 406),
        (
            format!(
                "POST /mcp HTTP/1.1\r\n{host}{kind}{session}mcp-protocol-version: 2025-06-18\r\n{length}"
            ),
            200,
        ),
        (format!("POST /mcp HTTP/1.1\r\n{host}{kind}{session}mcp-protocol-version: 1999\r\n{length}"), 400),
        (format!("POST /mcp HTTP/1.1\r\n{host}{kind}{session}content-length: 99999\r\n\r\n{{"), 413),
        (
            format!("POST /mcp HTTP/1.1\r\n{host}{kind}{session}transfer-encoding: chunked\r\n\r\n0\r\n\r\n"),
            411,
        ),
        (format!("POST /mcp HTTP/1.1\r\n{host}{kind}{session}content-length: 1\r\n\r\n{{"), 400),
        (format!("POST /mcp HTTP/1.1\r\n{host}{kind}{session}content-length: 2\r\n\r\n[]"), 400),
        (format!("GET /mcp HTTP/1.1\r\n{host}{session}accept: application/json\r\n\r\n"), 406),
        (format!("GET /mcp HTTP/1.1\r\n{host}accept: text/event-stream\r\n\r\n"), 400),
        (format!("PUT /mcp HTTP/1.1\r\n{host}{session}\r\n"), 405),
        (format!("DELETE /mcp HTTP/1.1\r\n{host}\r\n"), 400),
        ("nonsense\r\n\r\n".to_owned(), 400),
        ("\0\u{1}\u{2}".to_owned(), 400),
        (format!("GET /mcp HTTP/1.1\r\n{}", "a: b\r\n".repeat(5_000)), 431),
    ] {
        let (status, _, body) = listening.raw(&text);
        assert_eq!(status, expected, "{text}\n{body}");
        if status >= 400 {
            let error: Value = serde_json::from_str(&body).unwrap();
            assert!(error["error"]["message"].is_string(), "{body}");
        }
    }
    assert_eq!(
        Listener::new("0.0.0.0:0".parse().unwrap(), ListenOptions::default()).unwrap_err().code(),
        "guard/public"
    );
    let taken = Listener::new(listening.address, ListenOptions::default());
    assert_eq!(taken.unwrap_err().code(), "guard/listen");
}

#[test]
fn clients_that_leave_or_loiter_do_no_harm() {
    let listening = listening(ListenOptions { idle: Duration::from_secs(1), ..ListenOptions::default() });
    let id = listening.begin();
    let price = call(1, "price_ride", json!({ "pickup": "Elm", "target": "Oak" }));
    let more = format!("content-type: application/json\r\ncontent-length: {}\r\n\r\n{price}", price.len());
    // a call whose client does not wait for the answer
    drop(listening.send(&listening.head("POST", Some(&id), &more)));
    // requests that are never completed
    let _open: Vec<TcpStream> = (0..50).map(|_| listening.send("POST /mcp HTTP/1.1\r\nhost:")).collect();
    drop(listening.send(&listening.head("GET", Some(&id), "accept: text/event-stream\r\n\r\n")));
    let start = Instant::now();
    loop {
        let (status, _, body) =
            listening.post(Some(&id), &call(2, "guard_say", json!({ "answer": "tell_price" })));
        assert_eq!(status, 200);
        if body.contains("Tell the user") {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(10), "{body}");
    }
    // a cancelled request gets a response without waiting for the server
    let (status, head) = std::thread::scope(|scope| {
        let silent = scope.spawn(|| {
            let (status, head, _) = listening.post(Some(&id), &request(3, "silence", json!({})));
            (status, head)
        });
        std::thread::sleep(Duration::from_millis(300));
        let params = json!({ "requestId": 3 });
        let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        assert_eq!(listening.post(Some(&id), &cancel.to_string()).0, 202);
        silent.join().unwrap()
    });
    assert_eq!(status, 200, "{head}");
    // a session that nobody uses ends
    listening.wait_for_end(1);
    let log = listening.logs.lock().unwrap()[0].clone();
    assert!(log.contains("\"price\":14"), "{log}");
}
