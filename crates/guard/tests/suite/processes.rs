//! Servers as child processes: servers that die, stay silent, write too much or do not exist, and clients that leave.
#![cfg(unix)]

use crate::parts::{self, call, notification, request};
use grammata_agents::procedures::Mode;
use grammata_guard::proxy::{self, Client, Journal, Server};
use grammata_guard::rules::ProcedureOptions;
use grammata_guard::{Guard, Options};
use serde_json::{Value, json};
use std::io::{Cursor, Read, Write};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

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

/// A client that writes its lines, and keeps the connection open for a while after the last one.
struct Staying(Cursor<Vec<u8>>, Duration);

impl Read for Staying {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let read = self.0.read(bytes)?;
        if read == 0 {
            std::thread::sleep(std::mem::take(&mut self.1));
        }
        Ok(read)
    }
}

struct Ran {
    outcome: Result<(), grammata::Error>,
    client: Vec<Value>,
    log: String,
    notes: usize,
    time: Duration,
}

/// Runs a guard with a server, which is a script of `sh`, and a client that writes the given lines.
fn run(script: &str, lines: &[String], stays: Duration) -> Ran {
    let mut procedure = parts::procedure("taxi_order");
    procedure.open_sources();
    let supervisor = parts::supervisor(&procedure, Mode::Guarded);
    let rules = parts::rules(&procedure, Mode::Guarded, &supervisor, ProcedureOptions::default());
    let options = Options { deadline: Duration::from_millis(500), ..Options::default() };
    let mut guard = Guard::new(Box::new(rules), options).unwrap();
    let output = Shared::default();
    let (mut log, mut notes) = (String::new(), 0);
    let input = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let start = Instant::now();
    let outcome = proxy::run(
        &mut guard,
        Server::Command(Command::new("sh").args(["-c", script])),
        Client::Streams(Box::new(Staying(Cursor::new(input.into_bytes()), stays)), Box::new(output.clone())),
        Journal { log: &mut parts::log_to(&mut log), note: &mut |_| notes += 1 },
        100_000,
    );
    let time = start.elapsed();
    let written = String::from_utf8(output.0.lock().unwrap().clone()).unwrap();
    let client = written.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    Ran { outcome, client, log, notes, time }
}

/// Returns the script of a server that lists the tools of the taxi, answers the first call with `answer`, and then does
/// `rest`. The guard's requests have the ids 1, 2 and 3.
fn server(answer: &str, rest: &str) -> String {
    let tools = json!({ "tools": parts::tools(&parts::procedure("taxi_order")) });
    let answers = [
        r#"{"jsonrpc":"2.0","id":1,"result":{"capabilities":{}}}"#.to_owned(),
        format!(r#"{{"jsonrpc":"2.0","id":2,"result":{tools}}}"#),
        answer.to_owned(),
    ];
    // before the second answer, the script reads two lines: one is the notification that the client is initialized
    format!(
        "read -r a; echo '{}'; read -r a; read -r a; echo '{}'; read -r a; echo '{}'; {rest}",
        answers[0], answers[1], answers[2]
    )
}

fn client() -> Vec<String> {
    vec![
        request(1, "initialize", json!({})),
        notification("notifications/initialized"),
        call(2, "price_ride", json!({ "pickup": "Elm", "target": "Oak" })),
    ]
}

const NO_TIME: Duration = Duration::ZERO;
const LONG: Duration = Duration::from_secs(20);

fn code(ran: &Ran) -> Option<&'static str> {
    ran.outcome.as_ref().err().map(grammata::Error::code)
}

#[test]
fn servers_are_children() {
    let data =
        r#"{"jsonrpc":"2.0","id":3,"result":{"structuredContent":{"offer_id":"T5","price":1,"minutes":2}}}"#;
    let ran = run(&server(data, "cat > /dev/null"), &client(), NO_TIME);
    assert_eq!(code(&ran), None);
    assert_eq!(ran.client.last().unwrap()["result"]["structuredContent"]["price"], 1);
    assert_eq!(
        ran.log,
        "[\"call\",\"price_ride\",{\"pickup\":\"Elm\",\"target\":\"Oak\"}]\n\
         [\"result\",{\"offer_id\":\"T5\",\"price\":1,\"minutes\":2}]\n"
    );
    assert!(ran.time < Duration::from_secs(8), "{:?}", ran.time);
}

#[test]
fn servers_that_die_are_reported() {
    let ran = run("read -r a; exit 3", &client(), LONG);
    assert_eq!(code(&ran), Some("guard/server-ended"));
    assert!(ran.outcome.unwrap_err().to_string().contains('3'));
    // the open request is answered with an error
    assert!(ran.client.iter().any(|message| message["id"] == 1 && message.get("error").is_some()));
    let ran = run(&server("", "exit 0"), &client(), LONG);
    assert_eq!(code(&ran), Some("guard/server-ended"));
    assert_eq!(ran.client.last().unwrap()["error"]["code"], -32000);
    assert!(ran.log.ends_with("[\"result\",{\"error\":\"the server has ended\"}]\n"), "{}", ran.log);
}

#[test]
fn servers_that_are_silent_have_a_deadline() {
    // the server never sends a list of tools
    let ran = run("cat > /dev/null", &client(), LONG);
    assert_eq!(code(&ran), Some("guard/silent-server"));
    // the server does not answer a call
    let ran = run(&server("", "cat > /dev/null"), &client(), Duration::from_secs(1));
    assert_eq!(code(&ran), None);
    assert_eq!(ran.client.last().unwrap()["result"]["isError"], true);
    assert!(
        ran.log.ends_with("[\"result\",{\"error\":\"the server did not answer in time\"}]\n"),
        "{}",
        ran.log
    );
}

#[test]
fn servers_that_write_anything_do_no_harm() {
    for script in [
        "yes garbage",
        "yes '[[[[[['",
        "head -c 30000000 /dev/zero; cat > /dev/null",
        "while :; do echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}'; done",
        "while :; do echo '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}'; done",
    ] {
        let ran = run(script, &client(), Duration::from_millis(300));
        assert!(ran.notes <= 20, "{script}: {} remarks", ran.notes);
        assert!(ran.time < Duration::from_secs(20), "{script}: {:?}", ran.time);
        assert!(!ran.log.contains("call"), "{script}");
    }
}

#[test]
fn clients_that_leave_end_the_session() {
    let mut lines = client();
    lines.truncate(1);
    for lines in [vec![], lines, vec!["x".repeat(200_000), "{".to_owned()]] {
        let ran = run("cat > /dev/null", &lines, NO_TIME);
        assert!(matches!(code(&ran), None | Some("guard/silent-server")), "{:?}", ran.outcome);
        assert!(ran.time < Duration::from_secs(15), "{:?}", ran.time);
    }
}

#[test]
fn commands_that_do_not_exist_are_errors() {
    let procedure = parts::procedure("taxi_order");
    let supervisor = parts::supervisor(&procedure, Mode::Guarded);
    let rules = parts::rules(&procedure, Mode::Guarded, &supervisor, ProcedureOptions::default());
    let mut guard = Guard::new(Box::new(rules), Options::default()).unwrap();
    let mut command = Command::new("grammata-no-such-server");
    let client = Client::Streams(Box::new(std::io::empty()), Box::new(std::io::sink()));
    let journal = Journal { log: &mut |_| Ok(()), note: &mut |_| {} };
    let error = proxy::run(&mut guard, Server::Command(&mut command), client, journal, 1_000).unwrap_err();
    assert_eq!(error.code(), "guard/start");
}
