//! A proxy between the client and the server.

use crate::stand_in::{Reply, StandIn};
use grammata_endpoint::{Chat, Endpoint, Form, Options, Proxy, Request};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A proxy on loopback. It connects every request to one server, whatever host the request names, or answers with a
/// status.
struct StandInProxy {
    address: String,
    /// The heads of the requests so far.
    heads: Arc<Mutex<Vec<String>>>,
}

impl StandInProxy {
    fn new(server: &StandIn, status: u16) -> StandInProxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let heads: Arc<Mutex<Vec<String>>> = Arc::default();
        let target = server.url.trim_start_matches("http://").trim_end_matches("/v1").to_owned();
        let known = Arc::clone(&heads);
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let (target, known) = (target.clone(), Arc::clone(&known));
                std::thread::spawn(move || connect(connection, &target, status, &known));
            }
        });
        StandInProxy { address, heads }
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

fn connect(client: TcpStream, target: &str, status: u16, heads: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let mut reader = BufReader::new(client.try_clone()?);
    let mut head = String::new();
    while reader.read_line(&mut head)? > 2 {}
    heads.lock().unwrap().push(head);
    let mut out = client;
    write!(out, "HTTP/1.1 {status} X\r\n\r\n")?;
    if status != 200 {
        return Ok(());
    }
    let server = TcpStream::connect(target)?;
    let (mut from, mut to) = (server.try_clone()?, out.try_clone()?);
    std::thread::spawn(move || std::io::copy(&mut from, &mut to));
    let mut to = server;
    std::io::copy(&mut reader, &mut to).map(drop)
}

fn ask(url: &str, proxy: &str) -> Result<String, grammata_base::Error> {
    let options = Options::default().tries(2).pause(Duration::from_millis(1)).connect(Duration::from_secs(2));
    let mut endpoint = Endpoint::new(url, options.proxy(Some(Proxy::new(proxy)?)))?;
    assert!(!format!("{endpoint:?}").contains("PASSWORD"), "{endpoint:?}");
    endpoint.ask(&Request::new("Which?", Form::Text, 8)).map(|answer| answer.text)
}

#[test]
fn requests_go_by_the_proxy() {
    let server = StandIn::new(|_, _| Reply::says("two"));
    let proxy = StandInProxy::new(&server, 200);
    // the host has no address: only the proxy knows it
    let found = ask("http://model.invalid:8080/v1", &format!("http://u:PASSWORD@{}", proxy.address));
    assert_eq!(found.unwrap(), "two");
    let [head] = &proxy.heads()[..] else { panic!("{:?}", proxy.heads()) };
    assert!(head.starts_with("CONNECT model.invalid:8080 HTTP/1.1\r\n"), "{head}");
    // "u:PASSWORD" in base 64
    assert!(head.contains("Proxy-Authorization: Basic dTpQQVNTV09SRA==\r\n"), "{head}");
    assert!(server.heads()[0].starts_with("post /v1/chat/completions"), "{}", server.heads()[0]);
    assert!(!server.heads()[0].contains("proxy-"), "{}", server.heads()[0]);
}

#[test]
fn proxies_that_fail_are_named_without_their_password() {
    let server = StandIn::new(|_, _| Reply::says("two"));
    for (status, code, tries) in
        [(407, "endpoint/proxy", 1), (403, "endpoint/proxy", 1), (503, "endpoint/proxy", 2)]
    {
        let proxy = StandInProxy::new(&server, status);
        let error =
            ask("http://model.invalid/v1", &format!("http://u:PASSWORD@{}", proxy.address)).unwrap_err();
        assert_eq!((error.code(), proxy.heads().len()), (code, tries), "{error}");
        let shown = error.to_string();
        assert!(shown.contains(&proxy.address) && shown.contains(&status.to_string()), "{shown}");
        assert!(!shown.contains("PASSWORD"), "{shown}");
    }
    let error = ask("http://model.invalid/v1", "http://u:PASSWORD@127.0.0.1:9").unwrap_err();
    assert_eq!(error.code(), "endpoint/unreachable");
    assert!(error.to_string().contains("by the proxy http://…@127.0.0.1:9"), "{error}");
    assert!(server.bodies().is_empty());
}
