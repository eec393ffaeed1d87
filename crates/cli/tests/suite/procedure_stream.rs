//! Conversations and plans that are judged line by line, while they are written.

use crate::process::{json, out, run};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

const ROOM: &str = "grammars/procedures/meeting_room.yaml";

/// Writes lines to a command one by one, and after each reads the expected answers before the next line. Returns the
/// rest of the output and the exit code.
fn talk(arguments: &[&str], lines: &[(&str, &[&str])]) -> (Vec<String>, i32) {
    let mut child = Command::new(crate::program())
        .args(arguments)
        .current_dir(crate::ROOT)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    for (line, expected) in lines {
        writeln!(input, "{line}").unwrap();
        for expected in *expected {
            let mut found = String::new();
            output.read_line(&mut found).unwrap();
            assert_eq!(found.trim_end(), *expected, "{line}");
        }
    }
    drop(input);
    let rest = output.lines().map(Result::unwrap).collect();
    (rest, child.wait().unwrap().code().unwrap())
}

#[test]
fn each_event_is_judged_when_it_comes() {
    let found = talk(
        &["procedure", "verify", ROOM, "-", "--stream"],
        &[
            (r#"["user", "A room for six on Monday at 12."]"#, &[]),
            (r#"["call", "find_rooms", {"day": "Monday", "hour": 12, "people": 6}]"#, &["line 2: valid"]),
            (r#"["result", {"room_count": 2, "rooms": ["Oak", "Birch"]}]"#, &[]),
            ("", &[]),
            (r#"["say", "room_held"]"#, &["line 5: wrong: room_held: precondition book_room"]),
            // a line with a whole session ends the open session
            (
                r#"[["user", "On Monday at 12, for six."], ["call", "find_rooms", {"day": "Monday", "hour": 12, "people": 6}]]"#,
                &["session from line 1: wrong: 1 of 2 steps", "line 6: valid: 1 step"],
            ),
            (
                r#"{"id": "b", "events": [["say", "room_held"], ["say", "no_room"]]}"#,
                &[
                    "\"b\": wrong: 2 of 2 steps: event 1: room_held: precondition book_room; event 2: no_room: precondition find_rooms",
                ],
            ),
            (r#"["call", "find_rooms", {}]"#, &["line 8: wrong: find_rooms: argument day"]),
        ],
    );
    assert_eq!(found, (vec!["session from line 8: wrong: 1 of 1 step".to_owned()], 1));
}

#[test]
fn recorded_sessions_are_judged_as_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let traces = folder.path().join("traces.jsonl").to_str().unwrap().to_owned();
    out(0, &["procedure", "simulate", ROOM, "--sessions", "40", "--traces", &traces]);
    let found = json(0, &["procedure", "verify", ROOM, &traces, "--stream", "--output-format=json"]);
    let sessions = found["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 40);
    assert!(sessions.iter().all(|session| session["valid"] == true), "{found}");
    let text = std::fs::read_to_string(&traces).unwrap();
    for (line, session) in text.lines().zip(sessions) {
        let events: Vec<Value> = serde_json::from_str(line).unwrap();
        let events: String = events.iter().map(|event| format!("{event}\n")).collect();
        std::fs::write(folder.path().join("one.jsonl"), events).unwrap();
        let one = folder.path().join("one.jsonl").to_str().unwrap().to_owned();
        let alone = json(0, &["procedure", "verify", ROOM, &one, "--output-format=json"]);
        for name in ["valid", "steps", "complete"] {
            assert_eq!(alone[name], session[name], "{name}");
        }
    }
}

#[test]
fn a_line_that_is_no_event_ends_the_stream() {
    for (line, code) in [
        ("{", 2),
        ("[1]", 2),
        (r#"["call", "find_rooms"]"#, 2),
        (r#"{"id": "a"}"#, 2),
        (r#"{"events": [["call"]]}"#, 2),
        (r#"[["user", 1]]"#, 2),
        ("[]", 0),
    ] {
        let (_, found) = talk(&["procedure", "verify", ROOM, "-", "--stream", "-q"], &[(line, &[])]);
        assert_eq!(found, code, "{line}");
    }
    let long = format!(r#"["user", "{}"]"#, "a".repeat(2_000));
    let limit = ["procedure", "verify", ROOM, "-", "--stream", "--set-limit", "source_bytes=1500"];
    // the procedure itself is longer than the limit
    assert_eq!(talk(&limit, &[(&long, &[])]).1, 4);
    let limit = ["procedure", "verify", ROOM, "-", "--stream", "--set-limit", "source_bytes=4000"];
    assert_eq!(talk(&limit, &[(&long, &[]), (&long, &[])]).1, 4, "the events of one session");
    let session = format!("[{long}]");
    let lines: Vec<(&str, &[&str])> = (0..20).map(|_| (session.as_str(), &[][..])).collect();
    assert_eq!(talk(&limit, &lines).1, 0, "any number of sessions");
}

#[test]
fn plans_are_judged_line_by_line() {
    let found = talk(
        &["plan", "verify", "grammars/cooking", "-", "--stream"],
        &[
            (r#"["no such step"]"#, &["line 1: wrong at step 1"]),
            (r#"{"id": "b", "plan": ["no such step"]}"#, &["\"b\": wrong at step 1"]),
        ],
    );
    assert_eq!(found, (Vec::new(), 1));
    for line in ["{", "1", r#"{"id": "b"}"#] {
        assert_eq!(talk(&["plan", "verify", "grammars/cooking", "-", "--stream", "-q"], &[(line, &[])]).1, 2);
    }
}

#[test]
fn a_command_plays_the_user_and_gets_requests() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("calls.jsonl").to_str().unwrap().to_owned();
    let ferry = ["procedure", "run", "grammars/procedures/tools/ferry.yaml"];
    let users = ["--simulation", "grammars/procedures/tools/ferry.simulation.json", "--user", "held"];
    let base = [&ferry[..], &users].concat();
    let plain = out(0, &base);
    assert!(plain.ends_with("the session is complete\n"), "{plain}");
    assert_eq!(out(0, &[&base[..], &["--call-format", "hermes"]].concat()), plain);
    assert_eq!(out(0, &[&base[..], &["--retrieve", "1"]].concat()), plain);
    // a command answers the APIs, with the names of the document
    let apis = format!(
        r#"read -r line; printf '%s\n' "$line" >> {log}; case "$line" in *createBooking*) printf '%s' '{{"data": {{"state": "held", "booking": {{"reference": "F7"}}}}}}';; *) printf '%s' '{{"data": {{"sailing_count": 2, "sailings": ["AB101", "AB202"]}}}}';; esac"#
    );
    assert_eq!(out(0, &[&base[..], &["--apis", &apis]].concat()), plain);
    let calls = std::fs::read_to_string(&log).unwrap();
    let calls: Vec<Value> = calls.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(calls.len(), 2);
    assert_eq!(
        (&calls[0]["action"], &calls[0]["request"]["method"], &calls[0]["request"]["url"]),
        (
            &"findSailings".into(),
            &"GET".into(),
            &"https://ferries.example/v1/sailings?origin=Ardmore&destination=Bayle&date=2026-12-03&passengers=2".into()
        )
    );
    assert_eq!((&calls[1]["action"], &calls[1]["tool"]["name"]), (&"book".into(), &"createBooking".into()));
    assert_eq!(calls[1]["arguments"], serde_json::json!({"sailing": "AB101", "passengers": 2}));
    assert_eq!(calls[1]["tool"]["arguments"], serde_json::json!({"sailing_id": "AB101", "passengers": 2}));
    // a command as the user: `[END]` leaves immediately, other text is a message, and other marks are an error
    let left = out(3, &[&base[..], &["--user-command", "echo '[END]'"]].concat());
    assert!(left.ends_with("the session is not complete\n"), "{left}");
    let told = out(3, &[&base[..], &["--user-command", "printf 'origin: Ardmore'"]].concat());
    assert!(told.contains("user: origin: Ardmore\n"), "{told}");
    assert_eq!(run(&[&base[..], &["--user-command", "echo '[no message]'"]].concat()).code, 2);
}
