//! Random sessions of `grammata procedure simulate`, and how they are counted.

use crate::cli::{json, out};
use serde_json::Value;

const ROOM: &str = "grammars/procedures/meeting_room.yaml";

#[test]
fn random_sessions_are_counted() {
    let root = crate::ROOT;
    let file = format!("{root}/{ROOM}");
    let users = format!("{root}/grammars/procedures/simulations/meeting_room.json");
    let folder = tempfile::tempdir().unwrap();
    let traces = folder.path().join("traces.jsonl").to_str().unwrap().to_owned();
    let base = ["procedure", "simulate", &file, "--simulation", &users, "--sessions", "50"];
    let found = json(0, &[&base[..], &["--output-format=json", "--traces", &traces]].concat());
    assert_eq!(
        (&found["sessions"], &found["wrong"], &found["supervised"]),
        (&50.into(), &0.into(), &true.into())
    );
    assert!(found["complete"].as_u64().unwrap() > 3, "{found}");
    // equal seeds give equal sessions; another seed gives others
    assert_eq!(json(0, &[&base[..], &["--output-format=json"]].concat()), found);
    assert_ne!(json(0, &[&base[..], &["--output-format=json", "--seed", "1000"]].concat()), found);
    // the traces that are written are those that are counted
    let text = std::fs::read_to_string(&traces).unwrap();
    let calls = text.lines().flat_map(|line| serde_json::from_str::<Vec<Value>>(line).unwrap());
    let calls = calls.filter(|event| event[0] == "call" && event[1] == "find_rooms").count();
    assert_eq!(found["taken"]["find_rooms"], calls);
    // if every call fails, steps that need a result are never reached
    let found = json(0, &[&base[..], &["--output-format=json", "--errors", "1"]].concat());
    assert!(found["never"].as_array().unwrap().iter().any(|name| name == "room_held"), "{found}");
    let text = out(0, &base);
    assert!(text.contains("wrong     0\n") && text.contains("complete  "), "{text}");
    // in the strict order of this procedure, a user who declines can never reach a closing answer
    let blocked = format!("{root}/grammars/procedures/hospital_appointment.yaml");
    let text = out(0, &["procedure", "simulate", &blocked, "--mode", "strict", "--sessions", "20"]);
    assert!(text.contains("not supervised"), "{text}");
}
