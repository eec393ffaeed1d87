//! Who said a value, and which calls are repetitions: a table of cases, and a second judge that does not use the
//! crate's own verification.

use grammata::Limits;
use grammata_agents::procedures::{
    Event, Format, Mode, Node, NodeKind, Procedure, Source, WalkOptions, Workflow, random_walk, verify,
};
use grammata_agents_drive::procedures::Simulation;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

type Values = Map<String, Value>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    text: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    events: Vec<Value>,
    wrong: Vec<String>,
}

fn read(text: &str) -> Procedure {
    Procedure::read(text, Format::Yaml, &Limits::default()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Returns the violations of a trace, one a line: number of the event, name of the step, fault.
fn judged(procedure: &Procedure, events: &[Value]) -> Vec<String> {
    let trace: Vec<Event> = events.iter().map(|event| Event::of(event).unwrap()).collect();
    let (verdict, _) = verify(procedure, Mode::Guarded, &trace, true);
    let line = |violation: &grammata_agents::procedures::Violation| {
        format!("{} {} {}", violation.event, violation.node, violation.obstacle)
    };
    verdict.violations.iter().map(line).collect()
}

#[test]
fn the_table_of_owners_comes_out_as_stated() {
    let table: Table =
        serde_json::from_str(include_str!("../../../../tests/cases/procedures/owners.json")).unwrap();
    let procedure = read(&table.text);
    assert_eq!(table.cases.len(), 37);
    let different: Vec<String> = table
        .cases
        .iter()
        .filter(|case| judged(&procedure, &case.events) != case.wrong)
        .map(|case| format!("{}: {:?}", case.name, judged(&procedure, &case.events)))
        .collect();
    assert!(different.is_empty(), "{different:#?}");
}

/// A judge of owners of values and of repetitions, which follows only declarations and events. It knows values that are
/// said in digits and plain words.
struct Judge<'p> {
    procedure: &'p Procedure,
    messages: Vec<String>,
    /// The parts of the messages: the number of the message, the slot that the part is about, and its text.
    parts: Vec<(usize, Option<String>, String)>,
    asked_alone: Option<String>,
    results: BTreeMap<String, Values>,
    /// The slot and the value of each result, and the number of messages before it.
    told: Vec<(String, String, usize)>,
    done: BTreeSet<String>,
    asked_all: Option<usize>,
    decided: BTreeMap<String, Value>,
    asked: BTreeMap<String, usize>,
    answers: BTreeMap<String, (Values, Values)>,
    turn: Vec<(String, Values)>,
    pending: Option<(String, Values)>,
}

/// Returns the letters and digits of a text in lower case. Other characters separate words, and a space surrounds each
/// word.
fn plain(text: &str) -> String {
    let spaced: String =
        text.to_lowercase().chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
    format!(" {} ", spaced.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned).trim().to_lowercase()
}

impl Judge<'_> {
    fn node(&self, name: &str) -> &Node {
        self.procedure.nodes().iter().find(|node| node.name == name).unwrap()
    }

    fn bases(&self, name: &str) -> Vec<String> {
        self.node(name).required.iter().map(|name| name.split('!').next().unwrap().to_owned()).collect()
    }

    fn builds_on(&self, name: &str, other: &str) -> bool {
        let is_source = |slot: &String| {
            let source = self.procedure.slot(slot).and_then(|slot| slot.source.clone());
            matches!(source, Some(Source::Result { api, .. }) if api == other)
        };
        self.node(name).request.iter().any(is_source)
            || self.bases(name).iter().any(|base| base == other || self.builds_on(base, other))
    }

    fn hear(&mut self, message: &str) {
        let at = self.messages.len();
        let slots = self.procedure.slots().iter().map(|slot| slot.name.clone());
        let told = slots.into_iter().find(|slot| message.starts_with(&format!("{slot}: ")));
        let asked = self.asked_alone.take();
        match told {
            Some(slot) => {
                let value = &message[slot.len() + 2..];
                self.parts.push((at, Some(slot), value.to_owned()));
                // what follows a comma may be about other slots, too
                self.parts.extend(value.split_once(',').map(|(_, more)| (at, None, more.to_owned())));
            }
            None => self.parts.push((at, asked, message.to_owned())),
        }
        self.messages.push(message.to_owned());
    }

    /// Returns the number of the message that told a slot, and the texts that count for it in a call.
    fn about(&self, api: &str, slot: &str) -> (Option<usize>, Vec<&str>) {
        let schema = self.procedure.slot(slot).and_then(|slot| slot.schema.clone()).unwrap_or_default();
        let may_tell = |said: &str| match schema["enum"].as_array() {
            Some(values) => values.iter().any(|value| plain(said).contains(&plain(&text(value)))),
            None => match schema["type"].as_str() {
                Some("boolean") => said == "true" || said == "false",
                Some("integer" | "number") => said.contains(|c: char| c.is_ascii_digit()),
                _ => said != "Please go on.",
            },
        };
        let is_own = |part: &&(usize, Option<String>, String)| part.1.as_deref() == Some(slot);
        let told = self.parts.iter().filter(is_own).rfind(|part| may_tell(&part.2)).map(|part| part.0);
        let request = &self.node(api).request;
        let counts = |part: &&(usize, Option<String>, String)| {
            let is_free = part.1.as_ref().is_none_or(|own| own == slot || !request.contains(own));
            told.map_or(is_free, |told| part.0 == told && is_own(part) || part.0 > told && is_free)
        };
        (told, self.parts.iter().filter(counts).map(|part| part.2.as_str()).collect())
    }

    fn may_be_in_other_words(&self, api: &str, slot: &str, from: usize) -> bool {
        let Some(schema) = self.procedure.slot(slot).and_then(|slot| slot.schema.clone()) else {
            return false;
        };
        let is_closed = schema.get("enum").is_some() || schema["type"] == "boolean";
        let asked = self.asked.get(slot).copied().max(self.asked_all);
        let request = &self.node(api).request;
        let counts = |part: &&(usize, Option<String>, String)| {
            part.0 >= from && part.1.as_ref().is_none_or(|own| own == slot || !request.contains(own))
        };
        let parts: Vec<_> = self.parts.iter().filter(counts).collect();
        let is_asked = asked.is_some_and(|at| {
            at >= from
                && parts.iter().any(|part| part.0 >= at && part.1.as_ref().is_none_or(|own| own == slot))
        });
        let mut hints = vec![slot.replace('_', " ")];
        hints.extend(
            schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned),
        );
        let begins: BTreeSet<String> = hints
            .iter()
            .flat_map(|hint| plain(hint).split_whitespace().map(str::to_owned).collect::<Vec<_>>())
            .filter(|word| word.chars().count() >= 4)
            .map(|word| word.chars().take(4).collect())
            .collect();
        let is_hinted = parts.iter().any(|(_, own, said)| {
            own.as_deref() == Some(slot)
                || plain(said).split_whitespace().any(|word| {
                    let begin: String = word.chars().take(4).collect();
                    begins.contains(&begin)
                })
        });
        is_closed && (is_asked || is_hinted)
    }

    fn is_owned(&self, api: &str, slot: &str, value: &Value) -> bool {
        let of_base = self.bases(api).iter().any(|base| {
            self.answers.get(base).filter(|_| self.done.contains(base)).is_some_and(|(arguments, _)| {
                arguments.get(slot).is_some_and(|other| text(other) == text(value))
            })
        });
        if of_base || self.decided.get(slot).is_some_and(|decided| text(decided) == text(value)) {
            return true;
        }
        let (at, texts) = self.about(api, slot);
        let from = at.map_or(0, |at| at + 1);
        let is_said = |value: &Value| texts.iter().any(|said| plain(said).contains(&plain(&text(value))));
        // of the values that a result offers, those that the user told
        let is_offered = |told: Option<&Value>| {
            let list = told.map(|told| told.as_array().cloned().unwrap_or(vec![told.clone()]));
            let list = list.unwrap_or_default();
            let is_chosen = at.is_some() && list.iter().any(is_said);
            list.iter().any(|told| text(told) == text(value) && (!is_chosen || is_said(told)))
        };
        let source = self.procedure.slot(slot).and_then(|slot| slot.source.clone());
        match source {
            Some(Source::Result { api, slot }) => {
                return is_offered(self.results.get(&api).and_then(|result| result.get(&slot)));
            }
            Some(Source::Agent) => return true,
            _ => {}
        }
        if is_said(value) || self.may_be_in_other_words(api, slot, from) {
            return true;
        }
        if source.is_some() {
            return false;
        }
        if at.is_some() {
            let is_told = |(known, told, at): &(String, String, usize)| {
                known == slot && *told == text(value) && *at >= from
            };
            let mut bases = self.bases(api).into_iter().filter(|base| self.done.contains(base));
            let base = bases.find(|base| self.node(base).response.iter().any(|known| known == slot));
            let answer = base.and_then(|base| self.answers.get(&base));
            return self.told.iter().any(is_told)
                || is_offered(answer.and_then(|(_, response)| response.get(slot)));
        }
        let counts = |known: &str| !value.is_boolean() || known == slot;
        self.told.iter().any(|(known, told, _)| counts(known) && *told == text(value))
            || self.decided.iter().any(|(known, made)| counts(known) && text(made) == text(value))
    }

    /// Handles an API with a new answer: steps that require it are no longer done, and the user's decisions after these
    /// steps are open again.
    fn take_back(&mut self, api: &str) {
        for node in self.procedure.nodes().iter().filter(|node| !node.keep) {
            if self.requires(&node.name, api) {
                self.done.remove(&node.name);
                let place = self.procedure.node(&node.name).unwrap();
                self.procedure.decisions(place).iter().for_each(|slot| drop(self.decided.remove(slot)));
            }
        }
    }

    fn requires(&self, name: &str, other: &str) -> bool {
        self.bases(name).iter().any(|base| base == other || self.requires(base, other))
    }

    /// Returns the fault of a call that the other judges do not check: a value that nobody said, or a repeated call.
    fn call(&self, name: &str, arguments: &Values) -> Option<String> {
        let request = &self.node(name).request;
        let unsaid =
            |slot: &&String| arguments.get(*slot).is_some_and(|value| !self.is_owned(name, slot, value));
        if let Some(slot) = request.iter().find(unsaid).filter(|_| !self.messages.is_empty()) {
            return Some(format!("unsaid {slot}"));
        }
        let is_made = self.turn.iter().any(|(api, made)| api == name && made == arguments);
        is_made.then(|| "again".to_owned())
    }

    fn follow(&mut self, event: &Value) {
        let name = event[1].as_str().unwrap_or_default().to_owned();
        match event[0].as_str().unwrap() {
            "user" => {
                self.hear(&name);
                self.turn.clear();
            }
            "call" => self.pending = Some((name, event[2].as_object().unwrap().clone())),
            "result" => {
                let Some((api, arguments)) = self.pending.take() else { return };
                let result = event[1].as_object().unwrap().clone();
                let seen: Values = self
                    .node(&api)
                    .response
                    .iter()
                    .filter_map(|slot| Some((slot.clone(), result.get(slot)?.clone())))
                    .chain(result.get("error").map(|_| ("!".to_owned(), Value::Null)))
                    .collect();
                let answer = (arguments.clone(), seen);
                let before = self.answers.insert(api.clone(), answer.clone());
                if before.as_ref() != Some(&answer) {
                    if self.done.contains(&api) {
                        self.take_back(&api);
                    }
                    let kept: Vec<(String, Values)> =
                        self.turn.iter().filter(|(made, _)| !self.builds_on(made, &api)).cloned().collect();
                    self.turn = kept;
                }
                self.done.insert(api.clone());
                for (slot, value) in &result {
                    let list = value.as_array().cloned().unwrap_or(vec![value.clone()]);
                    let at = self.messages.len();
                    self.told.extend(list.iter().map(|value| (slot.clone(), text(value), at)));
                }
                self.results.insert(api.clone(), result);
                self.turn.push((api, arguments));
            }
            "say" => {
                self.turn.clear();
                let listed = event[3].as_array().cloned().unwrap_or_default();
                let mut asks: Vec<String> =
                    listed.iter().filter_map(Value::as_str).map(str::to_owned).collect();
                if asks.is_empty() {
                    asks.clone_from(&self.node(&name).asks);
                }
                self.asked_alone = asks.first().filter(|_| asks.len() == 1).cloned();
                if asks.is_empty() && self.node(&name).kind == NodeKind::Request {
                    self.asked_all = Some(self.messages.len());
                }
                self.done.insert(name.clone());
                for slot in asks {
                    self.asked.insert(slot, self.messages.len());
                }
                // saying an answer again undoes the decisions that the user made after it
                let node = self.procedure.node(&name).unwrap();
                self.procedure.decisions(node).iter().for_each(|slot| drop(self.decided.remove(slot)));
            }
            "free" => {
                self.turn.clear();
                self.asked_alone = None;
            }
            "slot" => {
                self.turn.clear();
                self.decided.insert(name, event[2].clone());
            }
            _ => {}
        }
    }
}

/// In random sessions some calls get other arguments or are repeated. If the crate finds no other fault, the second
/// judge must find the same faults.
#[test]
fn a_second_judge_sees_the_same_owners() {
    let root = Path::new(crate::ROOT).join("grammars/procedures");
    let (mut unsaid, mut again, mut right) = (0, 0, 0);
    for file in std::fs::read_dir(root.join("simulations")).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let simulation = Simulation::read(&text, &Limits::default()).unwrap();
        let procedure =
            read(&std::fs::read_to_string(root.join(format!("{}.yaml", simulation.procedure))).unwrap());
        let mut known: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for (slot, value) in simulation.users.iter().flat_map(|user| &user.slots) {
            // only values that both judges read alike: times are left out
            if !text_has_time(value) {
                known.entry(slot.clone()).or_default().push(value.clone());
            }
        }
        let workflow = [Workflow::new(&procedure, Mode::Guarded, &Limits::default()).unwrap()];
        for seed in 0..30 {
            let events = random_walk(&workflow, &known, &WalkOptions::default(), seed).events;
            let events = disturbed(&events, &known, seed);
            let found: BTreeMap<String, String> = judged(&procedure, &events)
                .into_iter()
                .map(|line| {
                    let mut parts = line.splitn(3, ' ');
                    let event = parts.next().unwrap().to_owned();
                    parts.next();
                    (event, parts.next().unwrap().to_owned())
                })
                .collect();
            let mut judge = Judge {
                procedure: &procedure,
                messages: Vec::new(),
                parts: Vec::new(),
                asked_alone: None,
                results: BTreeMap::new(),
                told: Vec::new(),
                done: BTreeSet::new(),
                asked_all: None,
                decided: BTreeMap::new(),
                asked: BTreeMap::new(),
                answers: BTreeMap::new(),
                turn: Vec::new(),
                pending: None,
            };
            for (place, event) in events.iter().enumerate() {
                if event[0] == "call" {
                    let expected = judge.call(event[1].as_str().unwrap(), event[2].as_object().unwrap());
                    let found = found.get(&place.to_string()).cloned();
                    let is_other = found
                        .as_ref()
                        .is_some_and(|found| !found.starts_with("unsaid") && !found.starts_with("again"));
                    if !is_other {
                        let shown = || events.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
                        assert_eq!(found, expected, "{} {seed} event {place}\n{}", procedure.name(), shown());
                        match expected.as_deref() {
                            None => right += 1,
                            Some("again") => again += 1,
                            Some(_) => unsaid += 1,
                        }
                    }
                }
                judge.follow(event);
            }
        }
    }
    assert!(unsaid > 60 && again > 40 && right > 600, "{unsaid} {again} {right}");
}

fn text_has_time(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.contains(':') || text.matches('-').count() == 2)
}

/// Returns the events with random changes: some calls get another value for one argument, and some are repeated later.
fn disturbed(events: &[Value], known: &BTreeMap<String, Vec<Value>>, seed: u64) -> Vec<Value> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut all = Vec::new();
    let mut last: Option<[Value; 2]> = None;
    for (place, event) in events.iter().enumerate() {
        let mut event = event.clone();
        if event[0] == "call" {
            let arguments = event[2].as_object_mut().unwrap();
            let slots: Vec<String> = arguments.keys().cloned().collect();
            if let Some(slot) = slots.choose(&mut random).filter(|_| random.random_bool(0.3)) {
                let other = known.get(slot).and_then(|known| known.choose(&mut random)).cloned();
                arguments.insert(slot.clone(), other.unwrap_or_else(|| json!("quite something")));
            }
            let result = events.get(place + 1).cloned().unwrap_or_else(|| json!(["result", {}]));
            let before = last.replace([event.clone(), result]);
            all.extend(before.filter(|_| random.random_bool(0.3)).into_iter().flatten());
        }
        all.push(event);
    }
    all
}
