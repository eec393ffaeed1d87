//! A stand-in for a chat server, on loopback. Its reply is a function of the number of the request and its body.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The server's reaction to a request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// Answers with a status, further headers (each with its line end), a content type and a body.
    Whole(u16, &'static str, &'static str, Vec<u8>),
    /// Answers with status 200 and a content type, without a length, and writes the pieces of a text with pauses.
    Drip(&'static str, Vec<String>, Duration),
    /// Sends nothing for a while, and closes the connection.
    Hang(Duration),
    /// Declares a long body, sends a little of it and closes the connection.
    Short,
    /// Closes the connection immediately.
    Close,
}

impl Reply {
    /// Returns the answer of a model that writes a text.
    pub(crate) fn says(text: &str) -> Reply {
        Reply::message(json!({"role": "assistant", "content": text}))
    }

    /// Returns the answer of a model that writes a message.
    pub(crate) fn message(message: Value) -> Reply {
        Reply::json(
            200,
            &json!({
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14},
            }),
        )
    }

    /// Returns a reply with a status and a JSON body.
    pub(crate) fn json(status: u16, value: &Value) -> Reply {
        Reply::Whole(status, "", "application/json", value.to_string().into_bytes())
    }

    /// Returns an error in the form that chat servers use.
    pub(crate) fn error(status: u16, message: &str) -> Reply {
        Reply::json(status, &json!({"error": {"message": message, "type": "invalid_request_error"}}))
    }

    /// Returns an event stream of these texts, with a blank line after each.
    pub(crate) fn stream(lines: &[&str]) -> Reply {
        let lines = lines.iter().map(|line| format!("{line}\n\n")).collect();
        Reply::Drip("text/event-stream; charset=utf-8", lines, Duration::ZERO)
    }
}

/// Returns the reply to a request, from its number, counted from 0, and its body.
pub(crate) type Behaviour = dyn Fn(usize, &Value) -> Reply + Send + Sync;

/// A server that runs until the test process ends.
pub(crate) struct StandIn {
    pub(crate) url: String,
    log: Arc<Mutex<Vec<(String, Value)>>>,
}

impl StandIn {
    pub(crate) fn new(behaviour: impl Fn(usize, &Value) -> Reply + Send + Sync + 'static) -> StandIn {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let log: Arc<Mutex<Vec<(String, Value)>>> = Arc::default();
        let (behaviour, known): (Arc<Behaviour>, _) = (Arc::new(behaviour), Arc::clone(&log));
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let (behaviour, known) = (Arc::clone(&behaviour), Arc::clone(&known));
                // a client that closes the connection is not an error of the server
                std::thread::spawn(move || serve(connection, &*behaviour, &known));
            }
        });
        StandIn { url, log }
    }

    /// Returns the bodies of the requests so far.
    pub(crate) fn bodies(&self) -> Vec<Value> {
        self.log.lock().unwrap().iter().map(|(_, body)| body.clone()).collect()
    }

    /// Returns the heads of the requests so far, in lower case.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.log.lock().unwrap().iter().map(|(head, _)| head.clone()).collect()
    }
}

fn serve(
    connection: TcpStream,
    behaviour: &Behaviour,
    log: &Mutex<Vec<(String, Value)>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(connection.try_clone()?);
    let (mut head, mut line, mut length) = (String::new(), String::new(), 0);
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        let lower = line.to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        head.push_str(&lower);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let number = {
        let mut log = log.lock().unwrap();
        log.push((head, body.clone()));
        log.len() - 1
    };
    let mut out = connection;
    match behaviour(number, &body) {
        Reply::Whole(status, headers, kind, text) => {
            let length = text.len();
            let head = format!(
                "HTTP/1.1 {status} X\r\n{headers}content-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
            );
            out.write_all(head.as_bytes())?;
            out.write_all(&text)
        }
        Reply::Drip(kind, pieces, pause) => {
            write!(out, "HTTP/1.1 200 X\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n")?;
            for piece in pieces {
                out.write_all(piece.as_bytes())?;
                out.flush()?;
                std::thread::sleep(pause);
            }
            Ok(())
        }
        Reply::Hang(time) => {
            std::thread::sleep(time);
            Ok(())
        }
        Reply::Short => out.write_all(
            b"HTTP/1.1 200 X\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{\"choices\":",
        ),
        Reply::Close => Ok(()),
    }
}
