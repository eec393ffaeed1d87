//! Version 2026-07-28 on HTTP: a server that checks the headers, and clients of the listener.
#![cfg(unix)]

use crate::http::{self, Got, answer_to, read_request, session_of};
use crate::parts::{self, request, response};
use crate::stateless::{OFFER, PRICE, VERSION, asked, call, envelope, enveloped, retry};
use grammata_guard::http::ListenOptions;
use serde_json::{Value, json};
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Returns the status, the content type and the text of the response to a request. The headers must repeat parts of the
/// body, and there is no session.
fn respond(got: &Got) -> (u16, &'static str, String) {
    let (id, params) = (&got.body["id"], &got.body["params"]);
    let method = got.body["method"].as_str().unwrap();
    let mut expected =
        vec![format!("mcp-protocol-version: {VERSION}\r\n"), format!("mcp-method: {method}\r\n")];
    expected.extend(params["name"].as_str().map(|name| format!("mcp-name: {name}\r\n")));
    let is_repeated = expected.iter().all(|line| got.headers.contains(&line.to_ascii_lowercase()));
    let error = |code: i32| json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": "no" } });
    if !is_repeated || got.headers.contains("mcp-session-id") {
        return (400, "application/json", error(-32020).to_string());
    }
    let result = match method {
        "server/discover" => json!({ "supportedVersions": [VERSION], "capabilities": {} }),
        "tools/list" => {
            json!({ "resultType": "complete", "tools": parts::tools(&parts::procedure("taxi_order")) })
        }
        "tools/call" if params.get("requestState").is_none() => asked(Some("a")),
        "tools/call" => parts::structured(OFFER().as_object().unwrap()),
        "subscriptions/listen" => {
            let acknowledged = json!({
                "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
                "params": { "notifications": {}, "_meta": { "io.modelcontextprotocol/subscriptionId": id } },
            });
            return (200, "text/event-stream", format!("data: {acknowledged}\n\n"));
        }
        _ => return (404, "application/json", error(-32601).to_string()),
    };
    (200, "application/json", response(id, result))
}

/// Answers a request. A stream has a comment now and then, until the client closes it or 4 seconds are over.
fn answer(mut stream: &TcpStream) -> Option<()> {
    let (status, kind, text) = respond(&read_request(stream)?);
    let head = format!("HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n{text}");
    stream.write_all(head.as_bytes()).ok()?;
    if kind == "text/event-stream" {
        for _ in 0..80 {
            std::thread::sleep(Duration::from_millis(50));
            stream.write_all(b": still here\n\n").ok()?;
        }
        OUTLASTED.fetch_add(1, Ordering::AcqRel);
    }
    Some(())
}

/// The number of streams that were not closed.
static OUTLASTED: AtomicUsize = AtomicUsize::new(0);

/// Starts a server. Returns its URL.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(&stream));
        }
    });
    url
}

#[test]
fn servers_without_sessions_are_reached_by_http() {
    let answers = json!({ "q": { "action": "accept", "content": {} } });
    let further = json!({ "requestState": "a", "inputResponses": answers });
    let (ended, got, log) = session_of(
        &server(),
        vec![
            enveloped(1, "server/discover", json!({})),
            call(2, "order_ride", json!({ "offer_id": "T5" })),
            call(3, "price_ride", PRICE()),
            retry(4, "price_ride", &json!({ "pickup": "Elm", "target": "Bank" }), further.clone()),
            retry(5, "price_ride", &PRICE(), further),
            enveloped(6, "prompts/list", json!({})),
        ],
    );
    assert_eq!(ended, None);
    assert_eq!(answer_to(&got, 1)["result"]["supportedVersions"], json!([VERSION]));
    assert_eq!(answer_to(&got, 2)["result"]["isError"], true);
    assert_eq!(answer_to(&got, 3)["result"], asked(Some("a")));
    assert_eq!(answer_to(&got, 4)["error"]["code"], -32602);
    assert_eq!(answer_to(&got, 5)["result"]["structuredContent"]["price"], 14);
    // the server's own error, which has status 404
    assert_eq!(answer_to(&got, 6)["error"], json!({ "code": -32601, "message": "no" }));
    assert_eq!((log.matches("\"call\"").count(), log.matches("\"result\"").count()), (1, 1), "{log}");
}

/// More streams than a session may have requests at a time: a cancelled one makes room, and is closed.
#[test]
fn cancelled_streams_are_closed() {
    let listen = |id: usize| {
        let filter = json!({ "resourceSubscriptions": ["r:1"] });
        enveloped(id, "subscriptions/listen", json!({ "notifications": filter }))
    };
    let cancel = |id: usize| {
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } })
            .to_string()
    };
    let mut lines = vec![enveloped(1, "server/discover", json!({}))];
    let pairs: Vec<String> = (10..60).map(|id| format!("{}\n{}", listen(id), cancel(id))).collect();
    lines.extend(pairs.chunks(5).map(|pairs| pairs.join("\n")));
    lines.push(enveloped(2, "tools/list", json!({})));
    let before = OUTLASTED.load(Ordering::Acquire);
    let (_, got, _) = session_of(&server(), lines);
    assert!(answer_to(&got, 2)["result"]["tools"].is_array());
    std::thread::sleep(Duration::from_secs(5));
    let outlasted = OUTLASTED.load(Ordering::Acquire) - before;
    // the guard's own streams, of this test and the other one
    assert!(outlasted <= 4, "{outlasted}");
}

#[test]
fn clients_of_the_listener_are_told_of_earlier_versions() {
    let listening = http::listening(ListenOptions::default());
    for method in ["server/discover", "tools/list", "tools/call"] {
        let (status, _, body) =
            listening.post(None, &request(1, method, json!({ "_meta": envelope(VERSION) })));
        let error: Value = serde_json::from_str(&body).unwrap();
        let supported = json!(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]);
        assert_eq!(status, 400);
        assert_eq!((&error["id"], &error["error"]["code"]), (&json!(1), &json!(-32022)));
        assert_eq!(error["error"]["data"], json!({ "supported": supported, "requested": VERSION }));
    }
    let id = listening.begin();
    let (status, _, body) =
        listening.post(Some(&id), &request(1, "ping", json!({ "_meta": envelope(VERSION) })));
    assert_eq!(status, 200, "{body}");
}
