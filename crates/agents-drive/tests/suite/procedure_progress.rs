//! Progress and provenance: an agent takes any offered step, and the user answers every question. No call has a value
//! that nobody said, no call is repeated in a turn, and every session ends within the bounds of the automaton.
//!
//! `GRAMMATA_SESSIONS=2000` sets the number of sessions of each procedure.

use grammata::syntax::automaton_spec::Spec;
use grammata::{Limits, Result};
use grammata_agents::plan::{Observation, Step};
use grammata_agents::procedures::{
    Argument, Bounds, Event, Format, Mode, Offer, Origin, Procedure, Workflow, verify,
};
use grammata_agents_drive::procedures::{
    Agent, AgentOptions, DecisionRequest, Ending, Entry, Record, Reply, RunOptions, Said, Simulation,
    Situation, User, run,
};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

type Values = Map<String, Value>;
type Known = BTreeMap<String, Vec<Value>>;

/// Returns a random value of a schema. For a text, one of the known values is chosen if there are any.
fn value(random: &mut ChaCha8Rng, schema: Option<&Value>, known: Option<&Vec<Value>>) -> Value {
    let field = |name: &str| schema.and_then(|schema| schema.get(name));
    if let Some(Value::Array(values)) = field("enum") {
        return values.choose(random).unwrap().clone();
    }
    let number = |name: &str| field(name).and_then(Value::as_i64);
    match field("type").and_then(Value::as_str) {
        Some("boolean") => random.random::<bool>().into(),
        Some("integer" | "number") => {
            let least = number("minimum").unwrap_or(0);
            random.random_range(least..=number("maximum").unwrap_or(least + 40).min(least + 40)).into()
        }
        Some("array") => json!(["Oak", "Birch"]),
        _ => match known.and_then(|known| known.choose(random)) {
            Some(value) => value.clone(),
            None => format!("thing {}", random.random_range(0..3)).into(),
        },
    }
}

/// An agent that takes a random offered step: first the node is chosen, then one of its offers.
struct Anything {
    random: ChaCha8Rng,
    known: Known,
}

impl Anything {
    fn argument(&mut self, slot: &Argument) -> Option<Value> {
        Some(match &slot.origin {
            Origin::Fixed(value) => value.clone(),
            Origin::Told(values) => values.choose(&mut self.random)?.clone(),
            Origin::Words(words) => words.choose(&mut self.random)?.as_str().into(),
            Origin::Schema => value(&mut self.random, Some(&slot.schema), self.known.get(&slot.slot)),
        })
    }

    fn written(&mut self, offer: &Offer) -> Option<String> {
        match offer {
            Offer::Call { api, arguments } => {
                let mut values = Values::new();
                for slot in &arguments.slots {
                    if slot.is_required || self.random.random() {
                        values.insert(slot.slot.clone(), self.argument(slot)?);
                    }
                }
                let is_new = !arguments.excluded.contains(&values);
                is_new.then(|| format!("Action: {api}\nAction Input: {}", Value::Object(values)))
            }
            Offer::Answer { name, .. } => Some(format!("Answer: {name}\nResponse: So it is.")),
            Offer::Control(name) => Some(format!("Action: {name}\nAction Input: {{}}")),
        }
    }
}

impl Agent for Anything {
    fn write(&mut self, situation: &Situation<'_, '_>) -> Result<String> {
        let base = |offer: &Offer| match offer {
            Offer::Call { api, .. } => api.clone(),
            Offer::Answer { name, .. } | Offer::Control(name) => name.split('(').next().unwrap().to_owned(),
        };
        for _ in 0..1_000 {
            let mut nodes: Vec<String> = situation.offers.iter().map(base).collect();
            nodes.sort();
            nodes.dedup();
            let node = nodes.choose(&mut self.random).expect("something is offered").clone();
            let offers: Vec<&Offer> = situation.offers.iter().filter(|offer| base(offer) == node).collect();
            let offer = *offers.choose(&mut self.random).unwrap();
            if let Some(written) = self.written(offer) {
                return Ok(written);
            }
        }
        panic!("nothing can be written of {:?}", situation.offers);
    }

    fn decide(&mut self, request: &DecisionRequest<'_>) -> Result<Option<Value>> {
        let told =
            request.reply.split("; ").find_map(|part| part.strip_prefix(&format!("{}: ", request.slot)));
        let is_told = |(name, _): &&(String, Value)| Some(name.as_str()) == told;
        Ok(request.choices.iter().find(is_told).map(|(_, value)| value.clone()))
    }
}

/// A user who has one value for each slot and one answer for each decision, and leaves after a closing answer.
struct Cooperative {
    values: Values,
    decisions: Values,
}

fn spoken(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(flag) => if *flag { "yes" } else { "no" }.to_owned(),
        other => other.to_string(),
    }
}

impl User for Cooperative {
    fn open(&mut self) -> Result<Reply> {
        Ok(Reply::text("Hello."))
    }

    fn reply(&mut self, said: &Said<'_>) -> Result<Reply> {
        if said.is_closing {
            return Ok(Reply::End);
        }
        let told = |slot: &String, values: &Values| Some(format!("{slot}: {}", spoken(values.get(slot)?)));
        let mut parts: Vec<String> =
            said.decisions.iter().filter_map(|slot| told(slot, &self.decisions)).collect();
        parts.extend(said.asks.iter().filter_map(|slot| told(slot, &self.values)));
        Ok(Reply::text(if parts.is_empty() { "Hello.".to_owned() } else { parts.join("; ") }))
    }
}

struct Shipped {
    procedure: Procedure,
    known: Known,
}

fn shipped() -> Vec<Shipped> {
    let root = Path::new(crate::ROOT).join("grammars/procedures");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(root.join("simulations")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let read = |file: &PathBuf| {
        let text = std::fs::read_to_string(file).unwrap();
        let simulation = Simulation::read(&text, &Limits::default()).unwrap();
        let text = std::fs::read_to_string(root.join(format!("{}.yaml", simulation.procedure))).unwrap();
        let procedure = Procedure::read(&text, Format::Yaml, &Limits::default()).unwrap();
        let mut known = Known::new();
        for (slot, value) in simulation.users.iter().flat_map(|user| &user.slots) {
            known.entry(slot.clone()).or_default().push(value.clone());
        }
        Shipped { procedure, known }
    };
    files.iter().map(read).collect()
}

fn session(shipped: &Shipped, workflow: &[Workflow<'_>], options: &AgentOptions, seed: u64) -> Record {
    let procedure = &shipped.procedure;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut tells = |slots: Vec<&String>| -> Values {
        let schema = |slot: &str| procedure.slot(slot).and_then(|slot| slot.schema.as_ref());
        slots
            .into_iter()
            .map(|slot| (slot.clone(), value(&mut random, schema(slot), shipped.known.get(slot))))
            .collect()
    };
    let nodes = || 0..procedure.nodes().len();
    let values = tells(procedure.nodes().iter().flat_map(|node| &node.request).collect());
    let decisions = tells(nodes().flat_map(|node| procedure.decisions(node)).collect());
    let mut user = Cooperative { values, decisions };
    let mut agent = Anything { random: ChaCha8Rng::seed_from_u64(seed + 1), known: shipped.known.clone() };
    let mut random = ChaCha8Rng::seed_from_u64(seed + 2);
    let mut environment = |spec: &Spec, step: &Step| {
        let api = procedure.node(&spec.symbols()[step.action].id).unwrap();
        if procedure.catches(api) && random.random_bool(0.1) {
            return Ok(Observation { data: json!({"error": "failed"}), ..Observation::default() });
        }
        let mut result = Values::new();
        for slot in &procedure.nodes()[api].response {
            let schema = procedure.slot(slot).and_then(|slot| slot.schema.as_ref());
            result.insert(slot.clone(), value(&mut random, schema, None));
        }
        Ok(Observation { data: Value::Object(result), ..Observation::default() })
    };
    let bounds = RunOptions::default().user_messages(400).acts(400);
    run(workflow, options, &mut agent, &mut user, &mut environment, &bounds).unwrap()
}

/// Returns the number of acts in each turn.
fn turns(record: &Record) -> Vec<usize> {
    let mut turns = Vec::new();
    for (_, entry) in &record.entries {
        match entry {
            Entry::User { .. } => turns.push(0),
            Entry::Call { .. } | Entry::Say { .. } | Entry::Free { .. } => *turns.last_mut().unwrap() += 1,
            _ => {}
        }
    }
    turns
}

/// Returns how many steps verification finds wrong, by reason.
fn wrong(procedure: &Procedure, record: &Record) -> BTreeMap<&'static str, usize> {
    let events: Vec<Event> = record.events().iter().map(|event| Event::of(event).unwrap()).collect();
    let (verdict, _) = verify(procedure, Mode::Guarded, &events, true);
    let mut wrong = BTreeMap::new();
    for violation in verdict.violations {
        *wrong.entry(violation.obstacle.code()).or_default() += 1;
    }
    wrong
}

fn count() -> u64 {
    std::env::var("GRAMMATA_SESSIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(12)
}

#[test]
fn every_session_with_a_cooperative_user_ends_within_its_bound() {
    let options = AgentOptions::default();
    let (mut complete, mut sessions, mut calls) = (0, 0, 0);
    let mut most: BTreeMap<&str, (usize, usize, Bounds)> = BTreeMap::new();
    let all = shipped();
    for one in &all {
        let workflow = [Workflow::new(&one.procedure, Mode::Guarded, &Limits::default()).unwrap()];
        let bounds = workflow[0].supervisor().unwrap().bounds().unwrap();
        for seed in 0..count() {
            let record = session(one, &workflow, &options, 3 * seed);
            let turns = turns(&record);
            let (turn, whole) = (turns.iter().copied().max().unwrap(), turns.iter().sum::<usize>());
            let text = || record.events().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
            assert!(turn <= bounds.turn && whole <= bounds.session, "{bounds:?} {turn} {whole}\n{}", text());
            assert_eq!(wrong(&one.procedure, &record), BTreeMap::new(), "{seed}\n{}", text());
            assert_eq!(record.refusals, 0, "{}", text());
            assert!(matches!(record.ending, Ending::Left | Ending::Stalled), "{:?}", record.ending);
            sessions += 1;
            complete += usize::from(record.is_complete);
            calls += record.entries.iter().filter(|(_, entry)| matches!(entry, Entry::Call { .. })).count();
            let seen = most.entry(one.procedure.name()).or_insert((0, 0, bounds));
            (seen.0, seen.1) = (seen.0.max(turn), seen.1.max(whole));
        }
    }
    eprintln!(
        "{sessions} sessions, {complete} complete, {calls} calls; the most acts of a turn and a session: {most:#?}"
    );
    assert!(3 * complete > sessions, "{complete} of {sessions}");
}

/// Without provenance and progress the same agents use values that nobody said.
#[test]
fn without_provenance_values_are_made_up() {
    let options = AgentOptions::default().provenance(false).progress(false);
    let mut all: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut calls, mut cut) = (0, 0);
    for one in &shipped() {
        let workflow = [Workflow::new(&one.procedure, Mode::Guarded, &Limits::default()).unwrap()];
        for seed in 0..count().min(6) {
            let record = session(one, &workflow, &options, 3 * seed);
            for (reason, count) in wrong(&one.procedure, &record) {
                *all.entry(reason).or_default() += count;
            }
            calls += record.entries.iter().filter(|(_, entry)| matches!(entry, Entry::Call { .. })).count();
            cut += usize::from(matches!(record.ending, Ending::Turns));
        }
    }
    eprintln!("{calls} calls, {all:?}, {cut} sessions cut");
    assert_eq!(all.keys().copied().collect::<Vec<_>>(), ["unsaid"]);
    assert!(all["unsaid"] > 50, "{all:?}");
}
