//! The guard judges sessions as `procedure verify` and the Python package do: the sessions of
//! `tests/cases/procedures/sessions.jsonl`, whose last call is the only wrong step.

use crate::parts;
use grammata_agents::procedures::{Event, Mode};
use grammata_guard::rules::{ProcedureOptions, Rules};
use serde_json::Value;
use std::collections::BTreeMap;

#[test]
fn the_guard_refuses_what_verify_finds_wrong() {
    let text =
        std::fs::read_to_string(parts::folder().join("../../tests/cases/procedures/sessions.jsonl")).unwrap();
    let mut procedures = BTreeMap::new();
    let (mut refused, mut passed) = (0, 0);
    for (line, session) in text.lines().enumerate() {
        let session: Value = serde_json::from_str(session).unwrap();
        let name = session["procedure"].as_str().unwrap();
        let procedure = procedures.entry(name.to_owned()).or_insert_with(|| parts::procedure(name));
        let supervisor = parts::supervisor(procedure, Mode::Guarded);
        let events: Vec<Event> =
            session["events"].as_array().unwrap().iter().map(|event| Event::of(event).unwrap()).collect();
        let last = events.len() - 1;
        for (at, event) in events.iter().enumerate() {
            let Event::Call(tool, arguments) = event else { continue };
            let options = ProcedureOptions { hears_user: true, ..ProcedureOptions::default() };
            let mut rules = parts::rules(procedure, Mode::Guarded, &supervisor, options);
            rules.resume(&events[..at]).unwrap();
            let found = rules.call(tool, arguments);
            assert_eq!(found.is_err(), at == last, "line {}, event {at}: {found:?}", line + 1);
            refused += usize::from(found.is_err());
            passed += usize::from(found.is_ok());
        }
    }
    assert_eq!(procedures.len(), 12);
    assert!(refused > 100 && passed > 100, "{refused} {passed}");
}
