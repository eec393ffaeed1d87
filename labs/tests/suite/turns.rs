//! Recorded sessions of people: what procedures permit of them, what an agent would have done at each of their steps.

use crate::lab::{out, refused};
use grammata::Limits;
use grammata_agents::procedures::{Format, Mode, Procedure, Workflow};
use grammata_agents_drive::procedures::{Agent, AgentOptions, DecisionRequest, Situation, Usage};
use grammata_labs::procedures::{Recorded, Turns, replay};
use serde_json::{Value, json as value};

const ROOM: &str = "grammars/procedures/meeting_room.yaml";

fn room() -> Procedure {
    let path = std::path::Path::new(crate::ROOT).join(ROOM);
    Procedure::read(&std::fs::read_to_string(path).unwrap(), Format::Yaml, &Limits::default()).unwrap()
}

/// An agent that writes fixed steps one after the other.
struct Canned(Vec<&'static str>);

impl Agent for Canned {
    fn write(&mut self, situation: &Situation<'_, '_>) -> grammata::Result<String> {
        assert!(!situation.offers.is_empty());
        Ok(self.0.remove(0).to_owned())
    }

    fn decide(&mut self, _: &DecisionRequest<'_>) -> grammata::Result<Option<Value>> {
        Ok(None)
    }

    fn usage(&self) -> Usage {
        Usage::default()
    }
}

fn session() -> Vec<Value> {
    vec![
        value!(["guide", "be polite"]),
        value!(["user", "A room for six on Monday at 10."]),
        value!(["call", "find_rooms", { "day": "Monday", "hour": 10, "people": 6 }]),
        value!(["result", { "room_count": 2, "rooms": ["Oak", "Birch"] }]),
        value!(["say", "list_rooms", "Oak or Birch?"]),
        value!(["user", "Oak"]),
        value!(["slot", "room", "Oak"]),
        value!(["free", "Good choice."]),
        value!(["call", "book_room", { "room": "Oak", "day": "Monday", "hour": 10 }]),
        value!(["result", { "booking_state": "held" }]),
    ]
}

#[test]
fn an_agent_is_asked_after_what_the_person_did() {
    let procedure = room();
    let workflow = [Workflow::new(&procedure, Mode::Guarded, &Limits::default()).unwrap()];
    let options = AgentOptions::default();
    let mut agent = Canned(vec![
        // as the person, but for one argument
        "Action: find_rooms\nAction Input: {\"day\": \"Monday\", \"hour\": 11, \"people\": 6}",
        // a call instead of words
        "Action: book_room\nAction Input: {\"room\": \"Oak\"}",
        // words instead of words
        "Answer: clarify\nResponse: Which one?",
        // no step
        "I book it.",
    ]);
    let turns = replay(&workflow, &options, &mut agent, &session()).unwrap();
    let expected = Turns {
        turns: 4,
        passed: 2,
        // find_rooms in both, book_room by the agent alone and then by the person alone
        tools: (1, 1, 1),
        // Monday, 6; 11 and Oak by the agent alone; 10, then Oak, Monday and 10 by the person alone
        values: (2, 2, 4),
        arguments: (2, 2, 4),
    };
    assert_eq!(turns, expected);
    assert!(agent.0.is_empty());
    let mut sum = turns;
    sum.add(&turns);
    assert_eq!((sum.turns, sum.tools, sum.values), (8, (2, 2, 2), (4, 4, 8)));
}

#[test]
fn sessions_are_judged_by_the_procedures_of_their_tasks() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let line = |kind: &str, tasks: Value, events: Vec<Value>| {
        value!({ "id": 1, "kind": kind, "tasks": tasks, "events": events, "goal": "a room" }).to_string()
    };
    let mut wrong = session();
    wrong.drain(2..4);
    // of another task: not judged by this procedure
    wrong.push(value!(["call", "order_ride", {}]));
    wrong.push(value!(["result", {}]));
    let lines = [
        line("happy", value!(["meeting_room"]), session()),
        line("unhappy", value!(["meeting_room"]), wrong),
    ];
    std::fs::write(path("sessions.jsonl"), lines.join("\n\n")).unwrap();
    let root = crate::ROOT;
    let procedures = format!("{root}/grammars/procedures");
    let run = |more: &[&str]| {
        let arguments = ["procedure", "turns", &path("sessions.jsonl"), "--procedures", &procedures];
        out(0, &[&arguments[..], more].concat())
    };
    let text = run(&["--mode", "graph"]);
    let rows: Vec<&str> = text.lines().filter(|line| line.contains("happy")).collect();
    assert!(rows[0].contains("| 1 | 100.0 ") && rows[0].contains("| 3 | 0 |"), "{text}");
    // both the offer and the booking lack the search
    assert!(rows[1].contains("| 2 | 2 |") && rows[1].contains("precondition 2"), "{text}");
    assert!(run(&["--first", "0"]).lines().all(|line| !line.contains("happy")));

    let sessions =
        |text: &str| Recorded::read(text, &Limits::default()).map_err(|error| error.code().to_owned());
    assert_eq!(sessions(&lines.join("\n")).unwrap().len(), 2);
    for text in ["{}", "[]", r#"{"id":1,"kind":"x","tasks":[],"events":[["jump"]]}"#] {
        assert_eq!(sessions(text).unwrap_err(), "procedure/recorded");
    }
    for task in ["../meeting_room", "", "a/b", "."] {
        std::fs::write(path("x.jsonl"), line("x", value!([task]), Vec::new())).unwrap();
        refused("cli/task-name", &["procedure", "turns", &path("x.jsonl"), "--procedures", &procedures]);
    }
}
