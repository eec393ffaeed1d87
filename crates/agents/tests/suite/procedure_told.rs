//! Values that the user told for a slot, and schemas of arguments: random sessions with one wrong call each. The same
//! sessions are in `tests/cases/procedures/sessions.jsonl`, where the guard and the Python package judge them, too.
//!
//! `UPDATE_SESSIONS=1` writes that file anew.

use grammata::Limits;
use grammata_agents::procedures::{
    Event, Format, Mode, Procedure, Source, WalkOptions, Workflow, random_walk, verify,
};
use grammata_agents_drive::procedures::Simulation;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The number of sessions of the file for each procedure.
const KEPT: usize = 12;

/// A session whose last call is wrong.
struct Wrong {
    kind: &'static str,
    events: Vec<Value>,
}

fn file() -> PathBuf {
    Path::new(crate::ROOT).join("tests/cases/procedures/sessions.jsonl")
}

/// Returns the violations of a session: the index of the event and the reason's code.
fn judged(procedure: &Procedure, events: &[Value]) -> Vec<(usize, &'static str)> {
    let trace: Vec<Event> = events.iter().map(|event| Event::of(event).unwrap()).collect();
    let (verdict, _) = verify(procedure, Mode::Guarded, &trace, true);
    verdict.violations.iter().map(|wrong| (wrong.event, wrong.obstacle.code())).collect()
}

/// Returns the value that the user told last for a slot before an event, as `slot: value` with a value of `known`.
fn told<'k>(events: &[Value], known: &'k BTreeMap<String, Vec<Value>>, slot: &str) -> Option<&'k Value> {
    let messages = events.iter().rev().filter(|event| event[0] == "user");
    let text = messages.filter_map(|event| event[1].as_str()?.strip_prefix(&format!("{slot}: "))).next()?;
    let spelled = |value: &&Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned) == text;
    known.get(slot)?.iter().find(spelled)
}

/// Returns a value that is not of a schema, of another kind each time; `None` if the schema allows nearly anything.
fn out_of_schema(schema: &Value, random: &mut ChaCha8Rng) -> Option<Value> {
    let mut wrong = Vec::new();
    if let Some(most) = schema.get("maximum").and_then(Value::as_i64) {
        wrong.push(json!(most + 1));
    }
    if let Some(least) = schema.get("minimum").and_then(Value::as_i64) {
        wrong.push(json!(least - 1));
    }
    if schema.get("enum").is_some() {
        wrong.extend([json!("no such value"), json!(1234)]);
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("integer") => wrong.extend([json!(2.5), json!("two")]),
        Some("string") => wrong.extend([json!(7), json!(true)]),
        Some("boolean") => wrong.push(json!("maybe")),
        _ => {}
    }
    wrong.choose(random).cloned()
}

/// Returns a value of a slot that nobody said in the session; `None` if the slot's values need no owner, or if a value
/// of an enumeration may have been said in other words.
fn invented(
    procedure: &Procedure,
    slot: &str,
    before: &[Value],
    told: Option<&Value>,
    random: &mut ChaCha8Rng,
) -> Option<Value> {
    let declared = procedure.slot(slot)?;
    let schema = declared.schema.clone().unwrap_or_default();
    if declared.source == Some(Source::Agent) {
        return None;
    }
    let said = before.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n").to_lowercase();
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        // after a question for the slot, an answer may say a value in other words
        let is_told = |event: &Value| {
            event[0] == "user" && event[1].as_str().is_some_and(|text| text.starts_with(&format!("{slot}: ")))
        };
        let from = before.iter().rposition(is_told).unwrap_or(0);
        let asks = |event: &Value| {
            let asked = event[3].as_array();
            event[0] == "say" && asked.is_none_or(|asked| asked.is_empty() || asked.contains(&json!(slot)))
        };
        if before[from..].iter().any(asks) {
            return None;
        }
        let others: Vec<&Value> =
            values.iter().filter(|value| Some(*value) != told && told.is_some()).collect();
        let default = declared.default.as_ref();
        return others.choose(random).map(|value| (*value).clone()).filter(|value| Some(value) != default);
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("integer" | "number") => {
            let least = schema.get("minimum").and_then(Value::as_i64).unwrap_or(0);
            let most = schema.get("maximum").and_then(Value::as_i64).unwrap_or(least + 5_000);
            let unsaid: Vec<i64> =
                (least..=most).filter(|number| !said.contains(&number.to_string())).collect();
            unsaid.choose(random).map(|number| json!(number))
        }
        Some("string") if schema.get("pattern").is_none() && schema.get("format").is_none() => {
            Some(json!(format!("made up {}", random.random_range(0..1_000))))
        }
        _ => None,
    }
}

/// Returns the session with the first or a later call changed so that it is wrong, up to that call; `None` if no call
/// can be changed in this way.
fn wrong(
    procedure: &Procedure,
    known: &BTreeMap<String, Vec<Value>>,
    events: &[Value],
    kind: &'static str,
    random: &mut ChaCha8Rng,
) -> Option<Wrong> {
    let calls: Vec<usize> = (0..events.len()).filter(|&at| events[at][0] == "call").collect();
    // nothing need be said before the first message
    let heard = events.iter().position(|event| event[0] == "user")?;
    let calls: Vec<usize> = calls.into_iter().filter(|&at| at > heard).collect();
    let at = *calls.choose(random)?;
    let before = &events[..at];
    let mut arguments = events[at][2].as_object()?.clone();
    let slots: Vec<String> = arguments.keys().cloned().collect();
    match kind {
        "swapped" => {
            let told = |slot: &String| Some((slot.clone(), told(before, known, slot)?.clone()));
            let told: Vec<(String, Value)> = slots.iter().filter_map(told).collect();
            let one = told.choose(random)?;
            let other = told.iter().filter(|other| other.0 != one.0 && other.1 != one.1).collect::<Vec<_>>();
            let other = other.choose(random)?;
            // the call took what the user told, and now takes each for the other
            if arguments.get(&one.0) != Some(&one.1) || arguments.get(&other.0) != Some(&other.1) {
                return None;
            }
            arguments.insert(one.0.clone(), other.1.clone());
            arguments.insert(other.0.clone(), one.1.clone());
        }
        "invented" => {
            let slot = slots.choose(random)?;
            let value = invented(procedure, slot, before, told(before, known, slot), random)?;
            arguments.insert(slot.clone(), value);
        }
        "out of range" => {
            let slot = slots.choose(random)?;
            let schema = procedure.slot(slot)?.schema.clone()?;
            arguments.insert(slot.clone(), out_of_schema(&schema, random)?);
        }
        _ => drop(arguments.insert("undeclared".to_owned(), json!(1))),
    }
    let mut all = before.to_vec();
    all.push(json!(["call", events[at][1], arguments]));
    Some(Wrong { kind, events: all })
}

#[test]
fn wrong_arguments_of_random_sessions_are_found() {
    let root = Path::new(crate::ROOT).join("grammars/procedures");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(root.join("simulations")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert_eq!(files.len(), 12);
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut clean, mut lines) = (0, String::new());
    for file in files {
        let simulation =
            Simulation::read(&std::fs::read_to_string(&file).unwrap(), &Limits::default()).unwrap();
        let text = std::fs::read_to_string(root.join(format!("{}.yaml", simulation.procedure))).unwrap();
        let procedure = Procedure::read(&text, Format::Yaml, &Limits::default()).unwrap();
        let mut known: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for (slot, value) in simulation.users.iter().flat_map(|user| &user.slots) {
            known.entry(slot.clone()).or_default().push(value.clone());
        }
        let workflow = [Workflow::new(&procedure, Mode::Guarded, &Limits::default()).unwrap()];
        let mut kept = 0;
        for seed in 0..100 {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let options = WalkOptions::default().acts(30).missing(0.0).errors(0.0);
            let events = random_walk(&workflow, &known, &options, 77_000 + seed).events;
            let shown =
                |events: &[Value]| events.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
            assert_eq!(judged(&procedure, &events), [], "{} {seed}\n{}", procedure.name(), shown(&events));
            clean += 1;
            for kind in ["swapped", "invented", "out of range", "undeclared"] {
                let Some(wrong) = (0..8).find_map(|_| wrong(&procedure, &known, &events, kind, &mut random))
                else {
                    continue;
                };
                let last = wrong.events.len() - 1;
                let verdict = judged(&procedure, &wrong.events);
                let place =
                    || format!("{} {seed} {}\n{}", procedure.name(), wrong.kind, shown(&wrong.events));
                assert!(
                    matches!(verdict.as_slice(), [(event, _)] if *event == last),
                    "{verdict:?} {}",
                    place()
                );
                *found.entry(wrong.kind).or_default() += 1;
                if kept < KEPT {
                    kept += 1;
                    let session =
                        json!({"procedure": procedure.name(), "kind": wrong.kind, "events": wrong.events});
                    lines.push_str(&format!("{session}\n"));
                }
            }
        }
    }
    if std::env::var_os("UPDATE_SESSIONS").is_some() {
        std::fs::write(self::file(), &lines).unwrap();
    }
    assert_eq!(
        std::fs::read_to_string(self::file()).unwrap(),
        lines,
        "UPDATE_SESSIONS=1 writes the sessions anew"
    );
    assert_eq!(clean, 1_200);
    assert!(found.values().sum::<usize>() >= 1_000 && found.values().all(|&found| found > 100), "{found:?}");
}

/// The verdict of `procedure verify` on arguments that are not of the schema of their slots.
#[test]
fn arguments_have_the_schemas_of_their_slots() {
    let text = "Name: n\n\
        SLOTs:\n\
        - {name: count, schema: {type: integer, minimum: 1}}\n\
        - {name: box, schema: {type: object, properties: {a: {type: integer}, b: {type: string}}, additionalProperties: false}}\n\
        - {name: text, schema: {type: string}}\n\
        - {name: any}\n\
        APIs:\n\
        - {name: make, request: [count, box, text, any], optional: [count, box, text, any], response: [text]}\n\
        Procedure: |\n  make()\n";
    let procedure = Procedure::read(text, Format::Yaml, &Limits::default()).unwrap();
    for (arguments, expected) in [
        (json!({"count": 1}), None),
        (json!({"count": 1.0}), None),
        (json!({"count": 1e2}), None),
        (json!({"count": 0}), Some("schema")),
        (json!({"count": "1"}), Some("schema")),
        // an optional slot may be left out, or be null
        (json!({"count": null}), None),
        (json!({"box": {"b": "x", "a": 1}}), None),
        (json!({"box": {"c": 1}}), Some("schema")),
        (json!({"text": "two\nlines"}), None),
        (json!({"text": ["x"]}), Some("schema")),
        (json!({"any": {"x": [1]}}), None),
        (json!({"other": 1}), Some("schema")),
        (json!({"other": null}), Some("schema")),
    ] {
        let events = [json!(["call", "make", arguments])];
        let found = judged(&procedure, &events).first().map(|(_, code)| *code);
        assert_eq!(found, expected, "{arguments}");
    }
    // a value of a result may be taken even if it is not of the schema
    let told = |value: Value| {
        let source = text.replace(
            "- {name: text, schema: {type: string}}",
            "- {name: text, schema: {type: string}, source: 'result:make.text'}",
        );
        let procedure = Procedure::read(&source, Format::Yaml, &Limits::default()).unwrap();
        let events = [
            json!(["call", "make", {"count": 1}]),
            json!(["result", Map::from_iter([("text".to_owned(), json!(7))])]),
            json!(["call", "make", {"count": 1, "text": value}]),
        ];
        judged(&procedure, &events).len()
    };
    assert_eq!((told(json!(7)), told(json!(8))), (0, 1));
}
