//! The index on a Qdrant server. The contract of all indexes is tested with a stand-in, directly and by HTTP, and with
//! a running server if `GRAMMATA_QDRANT` has its address. Answers of a broken server are errors.

use super::qdrant_stand_in::StandIn;
use super::retrieval_index::{
    DIMENSION, Owned, contract, cosine, refuses_wrong_vectors, search, tools, upsert,
};
use grammata::Result;
use grammata_agents::retrieval::index::qdrant::{Method, Response, Transport};
use grammata_agents::retrieval::index::{IndexedTool, QdrantIndex, QdrantOptions, Query, ToolIndex};
use serde_json::json;
use std::sync::Arc;

/// A stand-in server that several indexes share.
#[derive(Clone, Debug, Default)]
struct Shared(Arc<StandIn>);

impl Transport for Shared {
    fn send(&self, method: Method, path: &str, body: Option<&str>) -> Result<Response> {
        self.0.send(method, path, body)
    }
}

fn options(exact: bool) -> QdrantOptions {
    QdrantOptions::new("tools", DIMENSION, [7; 32]).exact(exact)
}

fn open(server: &Shared) -> QdrantIndex<Shared> {
    QdrantIndex::open(server.clone(), options(true)).unwrap()
}

#[test]
fn a_server_keeps_the_contract() {
    for exact in [false, true] {
        let mut index = QdrantIndex::open(StandIn::default(), options(exact)).unwrap();
        assert_eq!(contract(&mut index, cosine, 1_200), 1.0);
        assert_eq!(index.is_exact(), exact);
        refuses_wrong_vectors(&mut index);
    }
}

fn ids(index: &dyn ToolIndex, query: &Owned, k: usize) -> Vec<String> {
    search(index, std::slice::from_ref(query), k, None).remove(0).into_iter().map(|hit| hit.id).collect()
}

#[test]
fn equal_scores_are_ranked_by_insertion() {
    let server = Shared::default();
    let mut index = open(&server);
    let first = tools(1, 1).remove(0);
    let equal: Vec<Owned> =
        tools(300, 2).into_iter().map(|tool| Owned { vector: first.vector.clone(), ..tool }).collect();
    upsert(&mut index, &equal);
    // the points were inserted in one call; three of them are replaced, and a replaced point keeps its place
    upsert(&mut index, &equal[..3]);
    let names: Vec<String> = (0..300).map(|number| format!("t{number}")).collect();
    for k in [1, 2, 16, 17, 299, 300] {
        assert_eq!(ids(&index, &first, k), names[..k], "k {k}");
    }
    assert_eq!(ids(&index, &first, 301), names);
    // if an id occurs twice in one call, the last tool counts, at the place of the first
    let twice = [equal[5].clone(), Owned { id: "new".into(), ..equal[6].clone() }, equal[5].clone()];
    upsert(&mut index, &twice);
    assert_eq!(index.len(), 301);
    assert_eq!(ids(&index, &first, 301)[..6], names[..6]);
    // another index on the same collection continues the numbering
    let mut again = open(&server);
    assert_eq!(again.len(), 301);
    upsert(&mut again, &[Owned { id: "newest".into(), ..equal[0].clone() }]);
    assert_eq!(ids(&again, &first, 400)[300..], ["new".to_owned(), "newest".to_owned()]);
    index.refresh().unwrap();
    assert_eq!(index.len(), 302);
}

#[test]
fn only_its_own_collection_is_opened() {
    let server = Shared::default();
    drop(open(&server));
    let code = |options| QdrantIndex::open(server.clone(), options).unwrap_err().code().to_owned();
    let options = options(true);
    assert_eq!(code(options.clone().fingerprint([8; 32])), "retrieval/other-embedder");
    assert_eq!(code(options.clone().dimension(3)), "retrieval/other-collection");
    for name in ["", "a/b", "../x", "ä", "a b", "a?b", &"x".repeat(256)] {
        assert_eq!(code(options.clone().collection(name.to_owned())), "retrieval/collection-name");
    }
    let info = |config: serde_json::Value| json!({ "result": { "config": config }, "status": "ok" });
    let dot = json!({ "vectors": { "size": DIMENSION, "distance": "Dot" } });
    let mark = |version: u64| json!({ "grammata": { "version": version, "embedder": "07".repeat(32) } });
    for config in [
        json!({ "params": dot }),
        json!({ "params": dot, "metadata": { "other": 1 } }),
        json!({ "params": dot, "metadata": mark(2) }),
        json!({ "params": { "vectors": { "size": DIMENSION, "distance": "Cosine" } }, "metadata": mark(1) }),
        json!({ "params": { "vectors": { "a": { "size": DIMENSION } } }, "metadata": mark(1) }),
        json!({}),
    ] {
        plan(&server, [(200, r#"{"result":{"exists":true}}"#.to_owned()), (200, info(config).to_string())]);
        assert_eq!(code(options.clone()), "retrieval/other-collection");
    }
    plan(
        &server,
        [
            (200, r#"{"result":{"exists":true}}"#.to_owned()),
            (200, info(json!({ "params": dot, "metadata": mark(1) })).to_string()),
        ],
    );
    QdrantIndex::open(server.clone(), options).unwrap();
}

/// Sets the next responses of the server, in order.
fn plan(server: &Shared, answers: impl IntoIterator<Item = (u16, String)>) {
    let answers = answers.into_iter().map(|(status, body)| Response { status, body: body.into_bytes() });
    let mut answers: Vec<Response> = answers.collect();
    answers.reverse();
    *server.0.planned.lock().unwrap() = answers;
}

#[test]
fn what_a_server_cannot_do_is_an_error_and_a_change_can_be_completed() {
    let server = Shared::default();
    let mut index = open(&server);
    let all = tools(1_100, 3);
    let wanted: Vec<IndexedTool<'_>> = all.iter().map(Owned::as_tool).collect();
    // the first 500 tools are stored; when the remaining 600 are sent, the server is full after the next 500
    let stored = r#"{"result":[],"status":"ok"}"#.to_owned();
    let full = r#"{"status":{"error":"No space left on device"},"time":0.0}"#.to_owned();
    index.upsert(&wanted[..500]).unwrap();
    plan(&server, [(200, stored), (500, full.clone())]);
    let error = index.upsert(&wanted[500..]).unwrap_err();
    assert_eq!(error.code(), "retrieval/server-refused");
    assert!(error.to_string().contains("status 500: No space left on device"), "{error}");
    assert_eq!(index.len(), 500);
    index.upsert(&wanted).unwrap();
    assert_eq!(index.len(), 1_100);
    let found = ids(&index, &all[900], 1);
    assert_eq!(found, ["t900"]);

    let query = all[0].vector.clone();
    let code = |status: u16, body: &str| {
        plan(&server, [(status, body.to_owned())]);
        let found = index.search(&[Query { text: "", vector: Some(&query) }], 3, None);
        found.map_err(|error| error.code().to_owned())
    };
    for (status, body, expected) in [
        (503, "", "retrieval/server-refused"),
        (404, "<html>", "retrieval/server-refused"),
        (301, "{}", "retrieval/server-refused"),
        (200, "", "retrieval/server-answer"),
        (200, "{}", "retrieval/server-answer"),
        (200, r#"{"result":[]}"#, "retrieval/server-answer"),
        (200, r#"{"result":[{"points":[]},{"points":[]}]}"#, "retrieval/server-answer"),
        (200, r#"{"result":[{"points":[{"score":1}]}]}"#, "retrieval/server-answer"),
        (
            200,
            r#"{"result":[{"points":[{"score":1e300,"payload":{"id":"a","order":1}}]}]}"#,
            "retrieval/server-answer",
        ),
        (
            200,
            r#"{"result":[{"points":[{"score":"x","payload":{"id":"a","order":1}}]}]}"#,
            "retrieval/server-answer",
        ),
        (
            200,
            r#"{"result":[{"points":[{"score":1,"payload":{"id":"a","order":-1}}]}]}"#,
            "retrieval/server-answer",
        ),
    ] {
        assert_eq!(code(status, body).unwrap_err(), expected, "{status} {body}");
    }
    // the largest order number, and a very large score
    let body =
        r#"{"result":[{"points":[{"score":1e30,"payload":{"id":"a","order":18446744073709551615}}]}]}"#;
    assert!(code(200, body).is_ok_and(|lists| lists[0].len() == 1));
    let page = r#"{"result":{"points":[{"payload":{"id":"a","order":18446744073709551615}}]}}"#.to_owned();
    plan(&server, [(200, r#"{"result":{"count":1100}}"#.to_owned()), (200, page)]);
    index.refresh().unwrap();
    index.upsert(&[Owned { id: "more".into(), ..all[0].clone() }.as_tool()]).unwrap();
    assert_eq!(index.len(), 1_101);
}

#[test]
fn nothing_is_sent_for_nothing() {
    let server = Shared::default();
    let mut index = open(&server);
    server.0.log.lock().unwrap().clear();
    index.upsert(&[]).unwrap();
    index.remove(&[]).unwrap();
    assert!(index.search(&[], 5, None).unwrap().is_empty());
    let vector = tools(1, 1).remove(0).vector;
    assert_eq!(index.search(&[Query { text: "", vector: Some(&vector) }], 0, None).unwrap(), [vec![]]);
    assert_eq!(server.0.log.lock().unwrap().len(), 0);
    // six queries are sent in one request
    search(&index, &tools(6, 1), 5, None);
    assert_eq!(*server.0.log.lock().unwrap(), ["Post /collections/tools/points/query/batch"]);
}

#[cfg(feature = "qdrant")]
mod http {
    use super::*;
    use grammata::Limits;
    use grammata_agents::retrieval::index::qdrant::{HttpOptions, HttpTransport};
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::time::Duration;

    /// Answers the requests of one connection until it ends. Returns `None` when it ends.
    fn serve(stream: TcpStream, server: &StandIn, keys: &std::sync::Mutex<Vec<String>>) -> Option<()> {
        let mut reader = BufReader::new(stream.try_clone().ok()?);
        let mut stream = stream;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok().filter(|&n| n > 0)?;
            let mut words = line.split_whitespace();
            let method = match words.next()? {
                "GET" => Method::Get,
                "PUT" => Method::Put,
                "POST" => Method::Post,
                other => panic!("{other}"),
            };
            let path = words.next()?.to_owned();
            let mut length = 0;
            loop {
                let mut header = String::new();
                reader.read_line(&mut header).ok()?;
                let Some((name, value)) = header.trim_end().split_once(": ") else { break };
                match name.to_ascii_lowercase().as_str() {
                    "content-length" => length = value.parse().ok()?,
                    "api-key" => keys.lock().unwrap().push(value.to_owned()),
                    "transfer-encoding" => panic!("{value}"),
                    _ => {}
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).ok()?;
            let body = String::from_utf8(body).ok().filter(|body| !body.is_empty());
            let answer = server.send(method, &path, body.as_deref()).ok()?;
            let head =
                format!("HTTP/1.1 {} X\r\ncontent-length: {}\r\n\r\n", answer.status, answer.body.len());
            stream.write_all(head.as_bytes()).ok()?;
            stream.write_all(&answer.body).ok()?;
        }
    }

    #[test]
    fn a_server_keeps_the_contract_by_http() {
        let (server, keys) = (Arc::new(StandIn::default()), Arc::default());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        std::thread::spawn({
            let (server, keys) = (Arc::clone(&server), Arc::clone(&keys));
            move || {
                for stream in listener.incoming() {
                    let (server, keys) = (Arc::clone(&server), Arc::clone(&keys));
                    std::thread::spawn(move || serve(stream.unwrap(), &server, &keys));
                }
            }
        });
        let http = HttpOptions::default().api_key(Some("secret".into()));
        let transport = HttpTransport::new(&url, http, &Limits::default()).unwrap();
        let mut index = QdrantIndex::open(transport, options(true)).unwrap();
        assert!(!format!("{index:?}").contains("secret"));
        assert_eq!(contract(&mut index, cosine, 1_000), 1.0);
        refuses_wrong_vectors(&mut index);
        let keys = keys.lock().unwrap();
        assert!(keys.len() > 20 && keys.iter().all(|key| key == "secret"));
        // a response that is larger than the limit
        let limits = Limits::default().catalogue_bytes(100);
        let transport = HttpTransport::new(&url, HttpOptions::default(), &limits).unwrap();
        let error = QdrantIndex::open(transport, options(true)).unwrap_err();
        assert_eq!(error.code(), "retrieval/no-answer");
    }

    /// Tests a server that is running at the address in `GRAMMATA_QDRANT`, for example `http://127.0.0.1:6333`.
    #[test]
    fn a_running_server_keeps_the_contract() {
        let Ok(url) = std::env::var("GRAMMATA_QDRANT") else { return };
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
        for (exact, least) in [(true, 1.0), (false, 0.95)] {
            let transport = HttpTransport::new(&url, HttpOptions::default(), &Limits::default()).unwrap();
            let options = options(exact).collection(format!("contract-{now}-{exact}"));
            let mut index = QdrantIndex::open(transport, options).unwrap();
            let recall = contract(&mut index, cosine, 1_200);
            assert!(recall >= least, "{recall}");
            refuses_wrong_vectors(&mut index);
        }
    }

    #[test]
    fn addresses_and_silence_are_errors() {
        let limits = Limits::default();
        for url in
            ["", "localhost:6333", "https://localhost", "http://", "http://a b", "http://u@h", "ftp://x"]
        {
            let error = HttpTransport::new(url, HttpOptions::default(), &limits).unwrap_err();
            assert_eq!(error.code(), "retrieval/server-url", "{url}");
        }
        // a port without a listener, and a listener that never answers
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let silent = format!("http://{}", listener.local_addr().unwrap());
        let closed = {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            format!("http://{}", listener.local_addr().unwrap())
        };
        for (url, key) in [(&closed, "k"), (&silent, "k"), (&silent, "a\nb")] {
            let http =
                HttpOptions::default().timeout(Duration::from_millis(300)).api_key(Some(key.to_owned()));
            let transport = HttpTransport::new(url, http, &limits).unwrap();
            let error = QdrantIndex::open(transport, options(true)).unwrap_err();
            assert_eq!(error.code(), "retrieval/no-answer", "{url}");
        }
    }
}
