//! Logs and servers of `grammata guard` when guards meet, are killed, or lack what they need.
#![cfg(unix)]

use crate::cli::{refused, run, run_with};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const RULES: &str = "grammars/procedures/taxi_order.yaml";
const SIMULATED: &str =
    "python3 examples/guard/simulated_server.py grammars/procedures/simulations/taxi_order.json";

/// A folder with the log of a guard, and the lines that its servers received.
struct Place(TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    fn log(&self) -> PathBuf {
        self.0.path().join("log.jsonl")
    }

    fn log_text(&self) -> String {
        std::fs::read_to_string(self.log()).unwrap()
    }

    /// Returns the events of the log, each of which has a time.
    fn events(&self) -> Vec<Value> {
        let text = self.log_text();
        let lines = text.lines().map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            assert!(line["time"].as_str().is_some_and(|time| time.len() == 24 && time.ends_with('Z')));
            line["event"].clone()
        });
        lines.collect()
    }

    /// Returns the tools that the servers received calls of.
    fn called(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.0.path().join("received")).unwrap_or_default();
        let messages = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        messages.filter_map(|message| Some(message["params"]["name"].as_str()?.to_owned())).collect()
    }

    /// Returns the command of the simulated server, which keeps what it receives.
    fn server(&self) -> String {
        format!("tee -a {} | {SIMULATED}", self.0.path().join("received").display())
    }

    /// Returns the command of a server that answers no call.
    fn silent_server(&self) -> String {
        format!("{} | grep --line-buffered -v structuredContent", self.server())
    }

    fn arguments<'a>(&self, log: &'a str, server: &'a str) -> Vec<&'a str> {
        vec!["guard", RULES, "--open-arguments", "--resume", log, "--", "sh", "-c", server]
    }
}

/// A running guard.
struct Running {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Running {
    fn start(arguments: &[&str]) -> Running {
        Running::of(Command::new(crate::program()).args(arguments))
    }

    fn of(command: &mut Command) -> Running {
        let command = command.current_dir(crate::ROOT).env("NO_COLOR", "1");
        let streams = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = streams.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Running { child, input, output: BufReader::new(output) }
    }

    fn send(&mut self, message: &str) {
        self.input.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    /// Returns the answer to a request.
    fn ask(&mut self, message: &str) -> Value {
        self.send(message);
        let id = serde_json::from_str::<Value>(message).unwrap()["id"].clone();
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the guard has ended");
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == id && answer.get("method").is_none() {
                return answer;
            }
        }
    }

    /// Closes the input. Returns the exit code and standard error.
    fn end(self) -> (Option<i32>, String) {
        drop((self.input, self.output));
        let output = self.child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }
}

fn request(id: u32, method: &str, params: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

fn initialize() -> String {
    let client = json!({ "name": "desk", "version": "1.2" });
    request(
        0,
        "initialize",
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client }),
    )
}

fn price(id: u32) -> String {
    let arguments = json!({ "pickup": "Elm", "target": "Oak" });
    request(id, "tools/call", json!({ "name": "price_ride", "arguments": arguments }))
}

/// Waits until a condition holds.
#[track_caller]
fn until(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn verified(log: &Path) -> String {
    let run = run(&["procedure", "verify", RULES, log.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    run.err
}

#[test]
fn one_guard_at_a_time_has_a_log() {
    let place = Place::new();
    let (log, server) = (place.log(), place.server());
    let arguments = place.arguments(log.to_str().unwrap(), &server);
    let mut first = Running::start(&arguments);
    first.ask(&initialize());
    assert_eq!(place.log_text(), "", "there is no event yet");
    assert!(first.ask(&price(1))["result"]["isError"].is_null());
    let start = Instant::now();
    for option in ["--resume", "--log"] {
        let told = refused("io/locked", &["guard", RULES, option, arguments[4], "--", "sh", "-c", &server]);
        assert!(told.contains("end the other process"), "{told}");
    }
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    let order = request(2, "tools/call", json!({ "name": "order_ride", "arguments": { "offer_id": "T5" } }));
    assert_eq!(first.ask(&order)["result"]["isError"], true, "the user has not agreed");
    assert_eq!(first.end(), (Some(0), String::new()));
    let kinds = |place: &Place| -> Vec<String> {
        place.events().iter().map(|event| event[0].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(place.events()[0], json!(["client", { "name": "desk", "version": "1.2" }]));
    assert_eq!(kinds(&place), ["client", "call", "result", "guide"]);
    assert_eq!(verified(&log), "");
    // the next guard continues
    let run = run_with(&arguments, &format!("{}\n", price(1)));
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("again"), "the guard knows the call of the first one: {}", run.out);
    assert_eq!(place.called(), ["price_ride"]);
    assert_eq!(kinds(&place), ["client", "call", "result", "guide", "guide"]);
    assert_eq!(verified(&log), "");
    // a log with content is not a new one
    refused("guard/log-exists", &["guard", RULES, "--log", arguments[4], "--", "sh", "-c", &server]);
}

/// A guard that is killed in the middle of a call loses nothing, and the next one continues: after whole lines, and
/// after a line that was cut off.
#[test]
fn a_killed_guard_loses_nothing() {
    for cut in [0, 7] {
        let place = Place::new();
        let (log, server, silent) = (place.log(), place.server(), place.silent_server());
        let name = log.to_str().unwrap();
        let mut killed = Running::start(&place.arguments(name, &silent));
        killed.ask(&initialize());
        killed.send(&price(1));
        until("the call is sent", || place.called() == ["price_ride"]);
        assert_eq!(place.events()[1][0], "call", "the call is in the log before it is sent");
        killed.child.kill().unwrap();
        killed.child.wait().unwrap();
        let text = place.log_text();
        std::fs::write(&log, &text[..text.len() - cut]).unwrap();
        let note = "note: the last line of the trace was cut off";
        assert_eq!(verified(&log).starts_with(note), cut > 0);
        let run = run_with(&place.arguments(name, &server), &format!("{}\n", price(2)));
        assert_eq!(run.code, 0, "{}", run.err);
        assert_eq!(run.err.starts_with("note: the last line of"), cut > 0, "{}", run.err);
        let events = place.events();
        let kinds: Vec<&str> = events.iter().map(|event| event[0].as_str().unwrap()).collect();
        match cut {
            0 => {
                assert_eq!(kinds, ["client", "call", "result", "guide"]);
                assert!(events[2][1]["error"].is_string(), "the call counts as failed: {}", events[2]);
            }
            _ => assert_eq!(kinds, ["client", "call", "result"]),
        }
        assert_eq!(verified(&log), "");
    }
}

/// On a full disk, simulated by a maximum size of files, no call is sent without its line in the log.
#[test]
fn a_call_that_cannot_be_logged_is_not_sent() {
    let place = Place::new();
    let (log, server) = (place.log(), place.server());
    let name = log.to_str().unwrap();
    let before: String = (0..6).map(|_| format!("{}\n", json!(["guide", "x".repeat(60)]))).collect();
    std::fs::write(&log, &before).unwrap();
    let mut limited = Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "sh"]).arg(crate::program());
    let mut guard = Running::of(limited.args(place.arguments(name, &server)));
    guard.ask(&initialize());
    let answer = guard.ask(&price(1));
    let text = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert!(text.starts_with("the session ends, because its log cannot be written: "), "{text}");
    let (code, told) = guard.end();
    assert_eq!(code, Some(2));
    assert!(told.starts_with("error[guard/log]"), "{told}");
    assert!(place.called().is_empty());
    // what was written stays readable, and the session continues when there is room
    let text = place.log_text();
    assert!(text.starts_with(&before) && text.ends_with('\n'), "{text}");
    assert_eq!(verified(&log), "");
    assert_eq!(run_with(&place.arguments(name, &server), &price(1)).code, 0);
    assert_eq!(place.called(), ["price_ride"]);
    assert_eq!(verified(&log), "");
}

/// With little memory and many silent clients, the listener goes on, and serves later clients.
#[cfg(target_os = "linux")]
#[test]
fn a_listener_without_memory_serves_later_clients() {
    let place = Place::new();
    let folder = place.0.path().join("logs");
    let server = place.server();
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -v 170000; exec \"$@\"", "sh"]).arg(crate::program());
    limited.args(["guard", RULES, "--listen", "127.0.0.1:0", "--logs", folder.to_str().unwrap()]);
    let mut guard = Running::of(limited.args(["--", "sh", "-c", &server]));
    let mut told = BufReader::new(guard.child.stderr.take().unwrap());
    let mut line = String::new();
    told.read_line(&mut line).unwrap();
    let address =
        line.trim().strip_prefix("note: listening at http://").and_then(|url| url.strip_suffix("/mcp"));
    let address = address.unwrap_or_else(|| panic!("{line}"));
    let connect = |text: &str| {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let _ = stream.write_all(text.as_bytes());
        stream
    };
    let silent: Vec<TcpStream> = (0..400).map(|_| connect("POST /mcp HTTP/1.1\r\n")).collect();
    let served = || {
        let body = initialize();
        let head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
        let mut answer = String::new();
        let mut stream = connect(&format!("{head}content-length: {}\r\n\r\n{body}", body.len()));
        stream.read_to_string(&mut answer).is_ok() && answer.starts_with("HTTP/1.1 200")
    };
    // each refused client makes room for a later one
    until("a client is served while others are silent", served);
    drop(silent);
    until("a client is served later", served);
    assert!(guard.child.try_wait().unwrap().is_none());
    guard.child.kill().unwrap();
    guard.child.wait().unwrap();
}

/// A server's child ends with the guard, whether the client leaves or a signal ends the guard.
#[test]
fn nothing_that_a_server_has_started_is_left() {
    for signal in [None, Some("TERM"), Some("INT")] {
        let place = Place::new();
        let file = place.0.path().join("id");
        let server = format!("sleep 1000 & echo $! > {}; {SIMULATED}; true", file.display());
        let mut guard = Running::start(&["guard", RULES, "--", "sh", "-c", &server]);
        guard.ask(&initialize());
        let id = std::fs::read_to_string(&file).unwrap().trim().to_owned();
        let runs = || {
            let state = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
            state.contains("(sleep) S")
        };
        assert!(runs() || !Path::new("/proc/self/stat").exists());
        if let Some(signal) = signal {
            let id = guard.child.id().to_string();
            assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
            guard.child.wait().unwrap();
        }
        let (code, told) = guard.end();
        assert_eq!((code, told.as_str()), (signal.is_none().then_some(0), ""), "{signal:?}");
        assert!(!runs(), "{signal:?}");
    }
}
