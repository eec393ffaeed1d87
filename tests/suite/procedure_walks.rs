//! Random sessions of all shipped procedures, with results that are drawn to hurt: no step breaks a rule, by the crate's own
//! verification and by a second judge of preconditions and arguments that knows declarations only.
//!
//! `GRAMMATA_SESSIONS=10000` sets the number of sessions of a file. With `GRAMMATA_SESSIONS_OUT=FOLDER` the traces are written
//! there, a JSON list `[MODE, EVENTS]` a line, for a judge that shares no code with the crate.

use grammata::Limits;
use grammata::procedures::agent::Simulation;
use grammata::procedures::{
    Arguments, Conversation, Event, Format, Mode, Node, NodeKind, Offer, Offering, Origin, Procedure,
    Resolved, Workflow, verify,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

type Values = Map<String, Value>;

/// A generator with 64 bits of state (Knuth's MMIX constants).
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % bound as u64) as usize
    }

    fn of<'t, T>(&mut self, list: &'t [T]) -> &'t T {
        &list[self.below(list.len())]
    }
}

/// A value of a schema; texts are those that users of the simulation know.
fn value(schema: &Value, known: &[Value], draw: &mut Draw) -> Value {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return draw.of(values).clone();
    }
    let least = schema.get("minimum").and_then(Value::as_i64).unwrap_or(0);
    match schema.get("type").and_then(Value::as_str) {
        Some("boolean") => (draw.below(2) == 0).into(),
        Some("integer" | "number") => {
            let most = schema.get("maximum").and_then(Value::as_i64).unwrap_or(least + 60);
            (least + draw.below((most - least + 1) as usize) as i64).into()
        }
        Some("array") => json!([format!("thing {}", draw.below(3)), "other"]),
        _ if !known.is_empty() => draw.of(known).clone(),
        _ => format!("value {}", draw.below(3)).into(),
    }
}

fn call(arguments: &Arguments, known: &BTreeMap<String, Vec<Value>>, draw: &mut Draw) -> Option<Values> {
    let mut values = Values::new();
    for slot in &arguments.slots {
        if !slot.is_required && draw.below(2) == 0 {
            continue;
        }
        let value = match &slot.origin {
            Origin::Fixed(value) => value.clone(),
            Origin::Told(values) => draw.of(values).clone(),
            Origin::Words(words) => draw.of(words).as_str().into(),
            Origin::Schema => value(&slot.schema, known.get(&slot.slot).map_or(&[], Vec::as_slice), draw),
        };
        values.insert(slot.slot.clone(), value);
    }
    (arguments.excluded.as_ref() != Some(&values)).then_some(values)
}

/// A result: each slot by its schema, now and then missing; or an error.
fn result(procedure: &Procedure, api: &Node, draw: &mut Draw) -> Values {
    if draw.below(8) == 0 {
        return Values::from_iter([("error".to_owned(), "failed".into())]);
    }
    let mut values = Values::new();
    for slot in api.response.iter() {
        if draw.below(20) > 0 {
            let schema = procedure.slots().iter().find(|known| known.name == *slot);
            let schema = schema.and_then(|slot| slot.schema.clone()).unwrap_or(Value::Null);
            values.insert(slot.clone(), value(&schema, &[], draw));
        }
    }
    values
}

/// One session as a trace. Sessions of uneven seeds take calls with an effect wherever one is offered.
fn session(
    workflow: &[Workflow<'_>],
    offering: &Offering,
    known: &BTreeMap<String, Vec<Value>>,
    seed: u64,
) -> Vec<Value> {
    let mut draw = Draw(seed);
    let mut conversation = Conversation::new(workflow).unwrap();
    let procedure = workflow[0].procedure();
    let mut events = Vec::new();
    let slots: Vec<&String> = known.keys().collect();
    for _ in 0..4 + draw.below(20) {
        if draw.below(2) == 0 {
            let slot = *draw.of(&slots);
            let text = format!("{slot}: {}", draw.of(&known[slot]).to_string().trim_matches('"'));
            conversation.hear(&text);
            events.push(json!(["user", text]));
        }
        let offers = conversation.offers(offering);
        let is_write = |offer: &&Offer| match offer {
            Offer::Call { api, .. } => procedure.nodes()[procedure.node(api).unwrap()].writes,
            _ => false,
        };
        let write = offers.iter().find(is_write).filter(|_| seed % 2 == 1);
        match write.unwrap_or_else(|| draw.of(&offers)) {
            Offer::Call { api, arguments } => {
                let Some(values) = call(arguments, known, &mut draw) else { continue };
                let node = procedure.node(api).unwrap();
                conversation.take(&Resolved::Call { api: node, arguments: values.clone() });
                let result = result(procedure, &procedure.nodes()[node], &mut draw);
                conversation.result(&result);
                events.push(json!(["call", api, values]));
                events.push(json!(["result", result]));
            }
            Offer::Answer { name, .. } => {
                let name = name.split('(').next().unwrap();
                let Some(node) = procedure.node(name) else {
                    conversation.take(&Resolved::Free { kind: "free", text: String::new() });
                    events.push(json!(["free", "So."]));
                    continue;
                };
                conversation.take(&Resolved::Say { node, asks: Vec::new(), text: String::new() });
                events.push(json!(["say", name]));
                for slot in procedure
                    .decisions(node)
                    .iter()
                    .filter(|_| draw.below(4) > 0)
                    .cloned()
                    .collect::<Vec<_>>()
                {
                    let schema =
                        procedure.slot(&slot).and_then(|slot| slot.schema.clone()).unwrap_or(Value::Null);
                    let decided = value(&schema, known.get(&slot).map_or(&[], Vec::as_slice), &mut draw);
                    conversation.decide(&slot, &decided);
                    events.push(json!(["slot", slot, decided]));
                }
            }
            Offer::Control(_) => unreachable!("one procedure has no others"),
        }
    }
    events
}

/// A judge of preconditions and arguments that follows declarations alone.
struct Second<'p> {
    procedure: &'p Procedure,
    /// By name: whether the last answer was an error.
    done: BTreeMap<String, bool>,
    /// By API: the last arguments and outcome.
    answers: BTreeMap<String, (Values, Values)>,
    last: Option<(String, Values)>,
}

impl Second<'_> {
    fn node(&self, name: &str) -> &Node {
        self.procedure.nodes().iter().find(|node| node.name == name).unwrap()
    }

    fn requires(&self, name: &str, other: &str) -> bool {
        let bases = self.node(name).required.iter().map(|required| required.split('!').next().unwrap());
        bases.into_iter().any(|base| base == other || self.requires(base, other))
    }

    fn is_met(&self, required: &str) -> bool {
        match required.split_once('!') {
            None => self.done.contains_key(required),
            Some((base, outcome)) => self.done.get(base) == Some(&(outcome == "error")),
        }
    }

    fn follow(&mut self, events: &[Value]) -> Result<(), String> {
        for (place, event) in events.iter().enumerate() {
            let name = event[1].as_str().unwrap_or_default().to_owned();
            match event[0].as_str().unwrap() {
                "call" => self.call(&name, event[2].as_object().unwrap())?,
                "result" => {
                    let (api, arguments) = self.last.clone().ok_or("a result without a call")?;
                    let result = event[1].as_object().unwrap();
                    let answer = (arguments, result.clone());
                    let before = self.answers.insert(api.clone(), answer.clone());
                    if before.is_some_and(|before| before != answer) && self.done.contains_key(&api) {
                        let nodes: Vec<String> = self
                            .procedure
                            .nodes()
                            .iter()
                            .filter(|node| !node.keep)
                            .map(|node| node.name.clone())
                            .collect();
                        let taken: Vec<&String> =
                            nodes.iter().filter(|node| self.requires(node, &api)).collect();
                        for node in taken {
                            self.done.remove(node);
                        }
                    }
                    self.done.insert(api, result.contains_key("error"));
                }
                "say" => {
                    self.last = None;
                    let node = self.node(&name);
                    let is_free = matches!(node.kind, NodeKind::Request | NodeKind::OutOfWorkflow);
                    if let Some(missing) =
                        node.required.iter().find(|required| !is_free && !self.is_met(required))
                    {
                        return Err(format!("event {place}: {name} without {missing}"));
                    }
                    self.done.insert(name, false);
                }
                "free" => self.last = None,
                _ => {}
            }
        }
        Ok(())
    }

    fn call(&mut self, name: &str, arguments: &Values) -> Result<(), String> {
        let node = self.node(name);
        if let Some(missing) = node.required.iter().find(|required| !self.is_met(required)) {
            return Err(format!("{name} without {missing}"));
        }
        for base in node.required.iter().map(|required| required.split('!').next().unwrap()) {
            let Some((before, _)) = self.answers.get(base) else { continue };
            for (slot, value) in
                before.iter().filter(|(slot, _)| node.request.contains(slot) && !node.rebind.contains(slot))
            {
                if arguments
                    .get(slot)
                    .is_some_and(|now| now.to_string().to_lowercase() != value.to_string().to_lowercase())
                {
                    return Err(format!("{name}: {slot} is not that of {base}"));
                }
            }
        }
        if let Some(slot) =
            node.request.iter().find(|slot| !node.optional.contains(slot) && !arguments.contains_key(*slot))
        {
            return Err(format!("{name} without {slot}"));
        }
        let now = (name.to_owned(), arguments.clone());
        if self.last.as_ref() == Some(&now) {
            return Err(format!("{name} twice in a row"));
        }
        self.last = Some(now);
        Ok(())
    }
}

#[test]
fn random_sessions_break_no_rule() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("grammars/procedures");
    let count: u64 =
        std::env::var("GRAMMATA_SESSIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(40);
    let out = std::env::var_os("GRAMMATA_SESSIONS_OUT").map(PathBuf::from);
    let (mut steps, mut complete) = (0, 0);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(root.join("simulations")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert_eq!(files.len(), 12);
    for file in files {
        let simulation =
            Simulation::read(&std::fs::read_to_string(&file).unwrap(), &Limits::default()).unwrap();
        let text = std::fs::read_to_string(root.join(format!("{}.yaml", simulation.procedure))).unwrap();
        let procedure = Procedure::read(&text, Format::Yaml, &Limits::default()).unwrap();
        let mut known: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for (slot, value) in simulation.users.iter().flat_map(|user| &user.slots) {
            known.entry(slot.clone()).or_default().push(value.clone());
        }
        let mut traces = out.as_ref().map(|folder| {
            std::io::BufWriter::new(
                std::fs::File::create(folder.join(format!("{}.jsonl", procedure.name()))).unwrap(),
            )
        });
        for mode in [Mode::Graph, Mode::Guarded, Mode::Strict] {
            let workflow = match Workflow::new(&procedure, mode, &Limits::default()) {
                // a user who declines leaves no closing answer in the order of the text
                Err(error) if mode == Mode::Strict => {
                    assert_eq!(error.code(), "pdl/blocking");
                    [Workflow::unsupervised(&procedure, mode)]
                }
                workflow => [workflow.unwrap()],
            };
            for seed in 0..count.div_ceil(3) {
                let events = session(&workflow, &Offering::default(), &known, seed + 1_000 * mode as u64);
                let trace: Vec<Event> = events.iter().map(|event| Event::of(event).unwrap()).collect();
                let (verdict, _) = verify(&procedure, mode, &trace, true);
                let shown = || events.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
                assert_eq!(verdict.violations, [], "{} {mode} {seed}\n{}", procedure.name(), shown());
                let (done, answers) = Default::default();
                let mut second = Second { procedure: &procedure, done, answers, last: None };
                let judged = second.follow(&events);
                assert_eq!(judged, Ok(()), "{} {mode} {seed}\n{}", procedure.name(), shown());
                steps += verdict.steps;
                complete += u32::from(verdict.is_complete);
                if let Some(traces) = &mut traces {
                    writeln!(traces, "{}", json!([mode.to_string(), events])).unwrap();
                }
            }
        }
    }
    assert!(steps > 1_000 && complete > 50, "{steps} {complete}");
}
