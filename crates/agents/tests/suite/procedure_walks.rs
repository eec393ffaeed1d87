//! Random sessions of all shipped procedures with adversarial results. No step breaks a rule, according to the crate's
//! own verification and to a second judge of preconditions and arguments that knows only the declarations.
//!
//! `GRAMMATA_SESSIONS=10000` sets the number of sessions of a file; the default is 40. With
//! `GRAMMATA_SESSIONS_OUT=FOLDER` the traces are written to that folder, one JSON list `[MODE, EVENTS]` a line, for a
//! judge that shares no code with the crate.

use grammata::Limits;
use grammata_agents::procedures::{
    Event, Format, Mode, Node, NodeKind, Procedure, WalkOptions, Workflow, random_walk, verify,
};
use grammata_agents_drive::procedures::Simulation;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

type Values = Map<String, Value>;

/// A judge of preconditions and arguments that follows only the declarations.
struct Second<'p> {
    procedure: &'p Procedure,
    /// The steps that are done, by name: whether the last result was an error.
    done: BTreeMap<String, bool>,
    /// The last arguments and result of each API.
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
                // free replies and messages of the user begin a turn
                "free" | "user" => self.last = None,
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
    let root = Path::new(crate::ROOT).join("grammars/procedures");
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
                // in strict order a user who declines can never reach a closing answer
                Err(error) if mode == Mode::Strict => {
                    assert_eq!(error.code(), "pdl/blocking");
                    [Workflow::unsupervised(&procedure, mode)]
                }
                workflow => [workflow.unwrap()],
            };
            for seed in 0..count.div_ceil(3) {
                // sessions with odd seeds prefer calls that have an effect
                let options = WalkOptions::default().eager(seed % 2 == 1);
                let walk = random_walk(&workflow, &known, &options, seed + 1_000_000 * mode as u64);
                let events = walk.events;
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
