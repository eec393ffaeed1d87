//! Servers that read more leniently than the guard. Random messages have members of other spelling, case and order,
//! escapes, and members twice. The server ignores the case of names and takes the last of several members, and no call
//! that it reads is one that [`verify`](fn@verify) judges wrong.
//!
//! `GRAMMATA_MESSAGES=100000` sets the number of messages.

use crate::parts::{self, Bench, notification, request, response, structured};
use grammata_agents::procedures::{Event, Mode, NodeKind, Procedure, verify};
use grammata_agents_drive::procedures::SimulatedApis;
use grammata_guard::rules::{Ask, ProcedureOptions};
use grammata_guard::{Action, Line, Options};
use rand::seq::{IndexedMutRandom, IndexedRandom, SliceRandom};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt;

/// JSON with members in their order, each name as often as it occurs.
#[derive(Clone, Debug)]
enum Tree {
    Object(Vec<(String, Tree)>),
    Array(Vec<Tree>),
    Leaf(Value),
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Tree, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Tree;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Tree::Object(members))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree, A::Error> {
                let mut all = Vec::new();
                while let Some(item) = items.next_element()? {
                    all.push(item);
                }
                Ok(Tree::Array(all))
            }

            fn visit_unit<E>(self) -> Result<Tree, E> {
                Ok(Tree::Leaf(Value::Null))
            }

            fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
                Ok(Tree::Leaf(value.into()))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
                Ok(Tree::Leaf(value.into()))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
                Ok(Tree::Leaf(value.into()))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
                Ok(Tree::Leaf(value.into()))
            }

            fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
                Ok(Tree::Leaf(value.into()))
            }
        }
        deserializer.deserialize_any(Read)
    }
}

impl Tree {
    fn of(value: &Value) -> Tree {
        match value {
            Value::Object(members) => {
                Tree::Object(members.iter().map(|(name, value)| (name.clone(), Tree::of(value))).collect())
            }
            Value::Array(items) => Tree::Array(items.iter().map(Tree::of).collect()),
            leaf => Tree::Leaf(leaf.clone()),
        }
    }

    /// Returns the last member whose name is `name` but for case.
    fn member(&self, name: &str) -> Option<&Tree> {
        let Tree::Object(members) = self else { return None };
        members.iter().rev().find(|(known, _)| folded(known) == name).map(|(_, value)| value)
    }

    fn text(&self) -> Option<&str> {
        match self {
            Tree::Leaf(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns the value as a reader has it that takes the last of several members with one name.
    fn value(&self) -> Value {
        match self {
            Tree::Object(members) => members
                .iter()
                .map(|(name, value)| (name.clone(), value.value()))
                .collect::<Map<_, _>>()
                .into(),
            Tree::Array(items) => items.iter().map(Tree::value).collect(),
            Tree::Leaf(leaf) => leaf.clone(),
        }
    }

    /// Returns the JSON text. With `escape`, some letters of the names are written as escapes.
    fn write(&self, random: &mut ChaCha8Rng, escape: bool) -> String {
        match self {
            Tree::Object(members) => {
                let members: Vec<String> = members
                    .iter()
                    .map(|(name, value)| {
                        let name = if escape { escaped(name, random) } else { json!(name).to_string() };
                        format!("{name}:{}", value.write(random, escape))
                    })
                    .collect();
                format!("{{{}}}", members.join(","))
            }
            Tree::Array(items) => {
                let items: Vec<String> = items.iter().map(|item| item.write(random, escape)).collect();
                format!("[{}]", items.join(","))
            }
            Tree::Leaf(leaf) => leaf.to_string(),
        }
    }
}

/// Returns a name as a lenient reader compares it: without case, blanks and control characters.
fn folded(name: &str) -> String {
    let name: String =
        name.chars().filter(|letter| !letter.is_whitespace() && !letter.is_control()).collect();
    name.to_uppercase().to_lowercase()
}

fn escaped(name: &str, random: &mut ChaCha8Rng) -> String {
    let letter = |letter: char| match letter.is_ascii() && random.random_bool(0.3) {
        true => format!("\\u{:04X}", letter as u32),
        false => json!(letter.to_string()).to_string().trim_matches('"').to_owned(),
    };
    format!("\"{}\"", name.chars().map(letter).collect::<String>())
}

/// Returns a name that a lenient reader takes for `name`.
fn respelled(name: &str, random: &mut ChaCha8Rng) -> String {
    match random.random_range(0..7) {
        0 => name.to_uppercase(),
        1 => name.to_lowercase(),
        2 => name.replace('s', "\u{17f}").replace('k', "\u{212a}"),
        3 => format!("{name} "),
        4 => format!("{name}\0"),
        5 => name.replace('_', "_\u{a0}"),
        _ => {
            let mut letters: Vec<char> = name.chars().collect();
            if let Some(letter) = letters.choose_mut(random) {
                *letter = letter.to_uppercase().next().unwrap();
            }
            letters.into_iter().collect()
        }
    }
}

#[derive(Debug, Default)]
struct Counts {
    messages: usize,
    changed: usize,
    calls: usize,
    changed_calls: usize,
    refused: usize,
    wrong: Vec<String>,
}

struct World<'w, 'p> {
    procedure: &'w Procedure,
    mode: Mode,
    bench: Bench<'p>,
    apis: SimulatedApis,
    known: BTreeMap<String, Vec<Value>>,
    random: ChaCha8Rng,
    next: u64,
    /// The calls as the server has read them.
    reached: Vec<Value>,
    counts: &'w mut Counts,
}

impl World<'_, '_> {
    /// Returns a call of an open tool with arguments that are likely to be allowed, or of any API.
    fn call(&mut self, is_open: bool) -> Value {
        self.next += 1;
        self.bench.client(request(self.next, "tools/list", json!({})));
        let answer = self.bench.take_for_client().pop().unwrap_or_default();
        let open = answer["result"]["tools"].as_array().cloned().unwrap_or_default();
        let all = parts::tools(self.procedure);
        let tools = if is_open && !open.is_empty() { &open } else { &all };
        let tool = tools.choose(&mut self.random).unwrap();
        let mut arguments = Map::new();
        for (name, schema) in tool["inputSchema"]["properties"].as_object().into_iter().flatten() {
            let (value, _) = parts::value(&self.known, name, schema, &mut self.random);
            arguments.insert(name.clone(), value);
        }
        json!({ "name": tool["name"], "arguments": arguments })
    }

    /// Changes a message: names, order, further members. `other` is the call that a lenient server is to read.
    fn change(&mut self, message: &mut Tree, other: &Tree) {
        // the levels of a call: the message, `params`, and `arguments`
        let level = self.random.random_range(0..3);
        let (mut at, mut shadow) = (message, other.clone());
        for name in ["params", "arguments"].iter().take(level) {
            let Tree::Object(members) = at else { return };
            let Some((_, next)) = members.iter_mut().find(|(known, _)| known == name) else { return };
            at = next;
            shadow = shadow.member(name).cloned().unwrap_or(Tree::Leaf(Value::Null));
        }
        let Tree::Object(members) = at else { return };
        let mut shadows = if let Tree::Object(shadows) = shadow { shadows } else { Vec::new() };
        let random = &mut self.random;
        match random.random_range(0..8) {
            0 => members.shuffle(random),
            1 => members.push(("x".to_owned(), Tree::Leaf(1.into()))),
            2 => {
                if let Some((name, _)) = members.choose_mut(random) {
                    *name = respelled(name, random);
                }
            }
            // members of the other call, beside those of this one or alone, under their names or like names
            choice => {
                shadows.shuffle(random);
                for (name, value) in shadows.into_iter().take(random.random_range(1..3)) {
                    if choice == 3 {
                        members.retain(|(known, _)| *known != name);
                    }
                    let name = if random.random_bool(0.8) { respelled(&name, random) } else { name };
                    let place = if random.random_bool(0.7) { members.len() } else { 0 };
                    members.insert(place, (name, value));
                }
            }
        }
    }

    fn message(&mut self) {
        let first = self.call(true);
        let is_open = self.random.random_bool(0.3);
        let second = self.call(is_open);
        self.next += 1;
        let message = |method: &str, params: &Value| json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        let other = Tree::of(&message("tools/call", &second));
        let method = ["ping", "prompts/get", "completion/complete", "notifications/progress"];
        let mut message = match self.random.random_range(0..10) {
            0 => message(method.choose(&mut self.random).unwrap(), &json!({})),
            1 => message(method.choose(&mut self.random).unwrap(), &second),
            _ => message("tools/call", &first),
        };
        if self.random.random_bool(0.05)
            && let Some(members) = message.as_object_mut()
        {
            members.remove("id");
        }
        let mut message = Tree::of(&message);
        let changes = self.random.random_range(0..4);
        for _ in 0..changes {
            self.change(&mut message, &other);
        }
        let escape = self.random.random_bool(0.3);
        let line = message.write(&mut self.random, escape);
        let before = self.reached.len();
        self.send(line);
        self.counts.messages += 1;
        self.counts.changed += usize::from(changes > 0);
        self.counts.calls += self.reached.len() - before;
        self.counts.changed_calls += if changes > 0 { self.reached.len() - before } else { 0 };
    }

    /// Sends a line to the guard, and answers what reaches the server until nothing does.
    fn send(&mut self, line: String) {
        let mut actions = self.bench.guard.from_client(Line::Text(line), self.bench.now);
        while !actions.is_empty() {
            let (mut lines, mut rest) = (Vec::new(), Vec::new());
            for action in actions {
                match action {
                    Action::Server(line) => lines.push(line),
                    other => rest.push(other),
                }
            }
            self.bench.act(rest);
            actions = Vec::new();
            for line in lines {
                if let Some(answer) = self.serve(&line) {
                    actions.extend(self.bench.guard.from_server(Line::Text(answer), self.bench.now));
                }
            }
        }
        for answer in self.bench.take_for_client() {
            let is_refused = answer.get("error").is_some() || answer["result"]["isError"] == true;
            self.counts.refused += usize::from(is_refused);
        }
    }

    /// Returns the answer of a server that ignores the case of names, and takes the last of several members.
    fn serve(&mut self, line: &str) -> Option<String> {
        let message: Tree = serde_json::from_str(line).unwrap();
        let id = message.member("id").map(Tree::value);
        let method = message.member("method").and_then(Tree::text).map(folded).unwrap_or_default();
        let mut result = json!({});
        if method == "tools/call" {
            let params = message.member("params");
            let name =
                params.and_then(|params| params.member("name")).and_then(Tree::text).unwrap_or_default();
            let node = self.procedure.nodes().iter().find(|node| node.name == name);
            let slots = node.map(|node| node.request.clone()).unwrap_or_default();
            let mut arguments = Map::new();
            if let Some(Tree::Object(members)) = params.and_then(|params| params.member("arguments")) {
                for (argument, value) in members {
                    let slot = slots.iter().find(|slot| folded(slot) == folded(argument));
                    arguments.insert(slot.unwrap_or(argument).clone(), value.value());
                }
            }
            if node.is_some_and(|node| node.kind == NodeKind::Api) {
                self.reached.push(json!(["call", name, arguments]));
                self.judge(line);
                result = structured(&self.apis.result(name, &arguments));
            }
        }
        id.map(|id| response(&id, result))
    }

    /// Judges the log, with each call as the server has read it.
    fn judge(&mut self, line: &str) {
        let mut calls = self.reached.iter();
        let mut trace = Vec::new();
        for event in &self.bench.log {
            let read = if event[0] == "call" { calls.next().unwrap_or(event) } else { event };
            trace.push(Event::of(read).unwrap());
        }
        let unjudged = calls.count();
        let (verdict, _) = verify(self.procedure, self.mode, &trace, true);
        if unjudged > 0 || !verdict.violations.is_empty() {
            self.counts.wrong.push(format!("{line} {unjudged} {:?}", verdict.violations));
        }
    }
}

/// Runs a session of `messages` random messages, or fewer if a wrong call ends it.
fn session(name: &str, mode: Mode, seed: u64, messages: usize, counts: &mut Counts) {
    let original = parts::procedure(name);
    let mut procedure = parts::procedure(name);
    procedure.open_sources();
    let supervisor = parts::supervisor(&procedure, mode);
    let options = ProcedureOptions { hears_user: false, ask: Ask::Agent };
    let rules = parts::rules(&procedure, mode, &supervisor, options);
    let simulation = parts::simulation(name);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let allow_members = if random.random() { vec!["x".to_owned()] } else { Vec::new() };
    let options = Options { allow_others: random.random(), allow_members, ..Options::default() };
    let mut bench = Bench::new(rules, options);
    let mut tools = parts::tools(&original);
    tools.push(json!({ "name": "other", "inputSchema": { "type": "object" } }));
    bench.begin(tools.into());
    bench.client(notification("notifications/progress"));
    bench.take_for_server();
    let known = parts::known(&simulation);
    let apis = simulation.apis();
    let mut world = World {
        procedure: &original,
        mode,
        bench,
        apis,
        known,
        random,
        next: 0,
        reached: Vec::new(),
        counts,
    };
    let wrong = world.counts.wrong.len();
    for _ in 0..messages {
        world.message();
        if world.counts.wrong.len() > wrong {
            break;
        }
    }
}

#[test]
fn what_lenient_servers_read_was_judged() {
    let most = std::env::var("GRAMMATA_MESSAGES").ok().and_then(|count| count.parse().ok()).unwrap_or(10_000);
    let names = parts::names();
    assert_eq!(names.len(), 12);
    let mut counts = Counts::default();
    let mut seed = 0;
    while counts.messages < most {
        let name = &names[seed % names.len()];
        let mode = [Mode::Guarded, Mode::Graph, Mode::Strict][(seed / names.len()) % 3];
        session(name, mode, seed as u64, 40.min(most - counts.messages), &mut counts);
        seed += 1;
    }
    eprintln!(
        "{} messages in {seed} sessions, {} of them changed: {} calls reached the server, {} of them changed; {} messages \
         were refused; {} sessions ended with a wrong call",
        counts.messages,
        counts.changed,
        counts.calls,
        counts.changed_calls,
        counts.refused,
        counts.wrong.len()
    );
    assert!(counts.wrong.is_empty(), "{:#?}", counts.wrong.iter().take(3).collect::<Vec<_>>());
    assert!(counts.changed_calls > most / 100 && counts.refused > most / 4, "{counts:?}");
}
