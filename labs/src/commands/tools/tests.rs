//! Tests the arms on models that are functions of the text so far. Each token is a byte, except 256, the end of the
//! sequence.

use super::arms::{OutputOptions, Runner};
use super::fault::Fault;
use super::judge::Judge;
use super::record::{Arm, Lenient, Record};
use super::summary;
use super::tasks::{Gold, Task};
use super::trial::{self, Trial};
use grammata::error::Result;
use grammata::vocabulary::{TokenId, VocabularyBuilder};
use grammata_agents::tools::{CallFormat, Document, ReadOptions, read};
use grammata_decode::{Feed, Logits, Model, SequenceId, Sequences, check_batch, check_truncate};
use grammata_report::Table;
use rustc_hash::FxHasher;
use serde_json::Value;
use std::cell::RefCell;
use std::hash::Hasher;
use std::rc::Rc;
use std::sync::Arc;

const END: u32 = 256;

/// A model whose logits are 0 except those that `wish` returns for the text so far.
struct Wishes<F> {
    wish: F,
    sequences: Sequences<Vec<u8>>,
    rows: Vec<Vec<f32>>,
}

impl<F: Fn(&str) -> Vec<(u32, f32)> + Send> Model for Wishes<F> {
    fn vocabulary_size(&self) -> usize {
        END as usize + 1
    }

    fn context_length(&self) -> Option<usize> {
        None
    }

    fn open(&mut self) -> Result<SequenceId> {
        Ok(self.sequences.open(Vec::new()))
    }

    fn fork(&mut self, sequence: SequenceId) -> Result<SequenceId> {
        self.sequences.fork(sequence)
    }

    fn truncate(&mut self, sequence: SequenceId, length: usize) -> Result<()> {
        check_truncate(self, sequence, length)?;
        self.sequences.get_mut(sequence)?.truncate(length);
        Ok(())
    }

    fn close(&mut self, sequence: SequenceId) {
        self.sequences.close(sequence);
    }

    fn length(&self, sequence: SequenceId) -> Result<usize> {
        Ok(self.sequences.get(sequence)?.len())
    }

    fn feed(&mut self, batch: &[Feed<'_>]) -> Result<Logits<'_>> {
        check_batch(self, batch)?;
        self.rows.clear();
        for feed in batch {
            let text = self.sequences.get_mut(feed.sequence)?;
            let before = text.len();
            text.extend(feed.tokens.iter().map(|&token| token as u8));
            for place in feed.rows.places(feed.tokens.len()) {
                let mut row = vec![0.0; END as usize + 1];
                let so_far = String::from_utf8_lossy(&text[..=before + place]);
                (self.wish)(&so_far).into_iter().for_each(|(token, logit)| row[token as usize] = logit);
                self.rows.push(row);
            }
        }
        Ok(Logits::Host(self.rows.iter().map(Vec::as_slice).collect()))
    }
}

/// Returns preferences for the next byte of the target, part of which already follows the last question mark of `text`.
fn next(target: &str, text: &str) -> Vec<(u32, f32)> {
    let written = text.rsplit('?').next().unwrap_or_default().len();
    vec![(target.as_bytes().get(written).map_or(END, |&byte| u32::from(byte)), 9.0)]
}

fn task() -> Task {
    let text = r#"[{"name": "get", "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}},
        {"name": "go", "inputSchema": {"type": "object", "properties": {"a": {"enum": ["x", "y"]}}, "required": ["a"]}},
        {"name": "put", "inputSchema": {"type": "object", "properties": {"b": {"type": "boolean"}}, "required": ["b"]}}]"#;
    let tools = Rc::new(read([Document { label: "d", text }], &ReadOptions::default()).unwrap());
    Task { id: "t".to_owned(), question: String::new(), tools, gold: Gold::Tool("get".to_owned()) }
}

/// Generates a greedy output of an arm for the prompt `?`. Returns it with the faults that retries were told.
fn record(arm: Arm, format: &str, wish: impl Fn(&str) -> Vec<(u32, f32)> + Send) -> (Record, Vec<Fault>) {
    generated(GREEDY, Trial { task: &task(), arm, seed: None }, format, wish)
}

const GREEDY: OutputOptions =
    OutputOptions { max_tokens: 160, max_calls: 1, temperature: 0.0, to_end: false };

/// Generates the output of a trial at a temperature, like [`record`].
fn drawn(
    temperature: f32,
    trial: Trial<'_>,
    format: &str,
    wish: impl Fn(&str) -> Vec<(u32, f32)> + Send,
) -> (Record, Vec<Fault>) {
    generated(OutputOptions { temperature, ..GREEDY }, trial, format, wish)
}

fn generated(
    options: OutputOptions,
    trial: Trial<'_>,
    format: &str,
    wish: impl Fn(&str) -> Vec<(u32, f32)> + Send,
) -> (Record, Vec<Fault>) {
    let bytes = (0..=255_u8).map(|byte| vec![byte]);
    let vocabulary = VocabularyBuilder::from_tokens(bytes).special(TokenId::new(END), "<end>");
    let vocabulary = Arc::new(vocabulary.eos([TokenId::new(END)]).build().unwrap());
    let call_format = CallFormat::named(format).unwrap();
    let judge = Judge { format: &call_format, format_name: format };
    let mut runner = Runner::new(vocabulary, judge, options);
    let mut model = Wishes { wish, sequences: Sequences::new(), rows: Vec::new() };
    let told = RefCell::new(Vec::new());
    let again = |_: &str, fault: Fault| {
        told.borrow_mut().push(fault);
        Ok(format!("{}?", told.borrow().len()).bytes().map(u32::from).collect())
    };
    let mut made = runner.run(&trial, &[u32::from(b'?')], &again, &mut model).unwrap();
    made.lenient = judge.leniently(trial.task, &made);
    (made, told.into_inner())
}

const GET: &str = r#"{"name": "get", "arguments": {"a": 5}}"#;

#[test]
fn retries_end_with_an_answer_without_a_fault_or_the_third_one() {
    let (one, told) = record(Arm::FreeRetry, "json", |text| next(GET, text));
    assert_eq!((one.fault, one.right, told.len()), (None, true, 0));
    let wrong = r#"{"name": "get", "arguments": {"a": "5"}}"#;
    let (two, told) =
        record(Arm::FreeRetry, "json", |text| next(if text.starts_with('?') { wrong } else { GET }, text));
    assert_eq!((two.fault, two.right, told), (None, true, vec![Fault::Type]));
    assert_eq!((two.text.as_str(), two.arm), (GET, Arm::FreeRetry));
    assert_eq!(two.tokens, one.tokens + wrong.len() + 1);
    assert!(two.model_calls > one.model_calls);
    let (three, told) = record(Arm::FreeRetry, "json", |text| next("no call", text));
    assert_eq!((three.fault, told), (Some(Fault::Format), vec![Fault::Format; 2]));
    let (free, told) = record(Arm::Free, "json", |text| next(wrong, text));
    assert_eq!((free.fault, told.len()), (Some(Fault::Type), 0));
}

#[test]
fn a_second_reader_is_lenient_with_a_model_without_a_grammar() {
    let prose = "Sure:\n```json\n{\"name\": \"GET\", \"arguments\": {\"a\": 5}}\n```";
    let lenient = |fault, right| Some(Lenient { fault, right });
    let (fenced, _) = record(Arm::Free, "json", |text| next(prose, text));
    assert_eq!(
        (fenced.fault, fenced.right, fenced.lenient),
        (Some(Fault::Format), false, lenient(None, true))
    );
    let wrong = r#"It is {"name": "go", "arguments": {"a": "x"}}"#;
    let (wrong, _) = record(Arm::FreeRetry, "json", |text| next(wrong, text));
    assert_eq!((wrong.fault, wrong.lenient), (Some(Fault::Format), lenient(None, false)));
    let (none, _) = record(Arm::Free, "json", |text| next("none", text));
    assert_eq!(none.lenient, lenient(Some(Fault::Format), false));
    let (right, _) = record(Arm::Free, "json", |text| next(GET, text));
    assert_eq!((right.fault, right.lenient), (None, lenient(None, true)));
    let (cut, _) = record(Arm::Free, "json", |text| next(&"{".repeat(200), text));
    assert_eq!((cut.fault, cut.lenient), (Some(Fault::Cut), lenient(Some(Fault::Cut), false)));
    let (full, _) = record(Arm::Full, "json", |text| next(GET, text));
    assert_eq!((full.right, full.lenient), (true, None));
    let (numbers, _) = record(Arm::Free, "toolken", |text| next("none", text));
    assert_eq!(numbers.lenient, None);

    let records = [fenced, full];
    let of_arms = summary::of_arms(&[Arm::Free, Arm::Full], &records, 1);
    let rows = |table: Table, columns: usize| -> Vec<Vec<String>> {
        table.rows.into_iter().map(|row| row.into_iter().take(columns).collect()).collect()
    };
    let (none, all) = ("0.0 % [0.0, 79.3]", "100.0 % [20.7, 100.0]");
    assert_eq!(
        rows(summary::table(&of_arms), 7),
        [
            ["free", "1", "1", all, none, "", none],
            ["free, lenient reader", "1", "1", none, all, "", none],
            ["full", "1", "1", none, all, "", none]
        ]
    );
    assert_eq!(
        rows(summary::faults(&of_arms), 3),
        [["free", "0", "1"], ["free, lenient reader", "1", "0"], ["full", "1", "0"]]
    );
    assert_eq!(
        rows(summary::pairs(&of_arms), 3),
        [
            ["full against free", "1 / 0, p = 1.00e0", "1 / 0, p = 1.00e0"],
            ["full against free, lenient reader", "0 / 0, p = 1.00e0", "0 / 0, p = 1.00e0"]
        ]
    );
    let json = summary::to_json(&Value::Null, &of_arms);
    let [free, full] = [&json["arms"][0], &json["arms"][1]];
    assert_eq!((&free["faults"]["format"], &free["lenient"]["faults"]["format"]), (&1.into(), &0.into()));
    assert_eq!((&free["right"]["mean"], &free["lenient"]["right"]["mean"]), (&0.0.into(), &1.0.into()));
    assert_eq!((&full["arm"], &full["lenient"]), (&"full".into(), &Value::Null));
}

#[test]
fn the_strict_reader_of_an_output_to_the_end_sees_what_it_would_see_of_a_stopped_one() {
    let made = |arm, format, target: &str, to_end| {
        let trial = Trial { task: &task(), arm, seed: None };
        generated(OutputOptions { to_end, ..GREEDY }, trial, format, |text| next(target, text)).0
    };
    let strict = |record: &Record| (record.fault, record.tool.clone(), record.right);
    let react = "Thought:x\nAction: get\nAction Input: {\"a\": 5}";
    for (format, stop, target) in [
        ("json", "\n\n", GET.to_owned()),
        ("json", "\n\n", format!("{GET}\n\nDone.")),
        ("json", "\n\n", format!("So:\n\n{GET}")),
        ("json", "\n\n", format!("{GET}\n\n{}", "x".repeat(200))),
        ("json", "\n\n", "x".repeat(200)),
        ("react", "\nObservation", react.to_owned()),
        ("react", "\nObservation", format!("{react}\nObservation: 1\nThought: so")),
    ] {
        let [stopped, whole] = [false, true].map(|to_end| made(Arm::Free, format, &target, to_end));
        assert_eq!(strict(&stopped), strict(&whole), "{target}");
        assert_eq!(stopped.text.trim(), whole.text.split(stop).next().unwrap().trim());
        let is_first = target.starts_with(GET) || target.starts_with(react);
        assert_eq!(stopped.fault.is_none(), is_first, "{:?} {target}", stopped.fault);
    }
    // the lenient reader sees more of an output to the end
    let late = format!("So:\n\n```\n{GET}\n```");
    let lenient = |to_end| made(Arm::Free, "json", &late, to_end).lenient.unwrap();
    assert_eq!((lenient(false).fault, lenient(true).fault), (Some(Fault::Format), None));
    // an arm with a grammar is not affected
    let [stopped, whole] = [false, true].map(|to_end| made(Arm::Full, "json", GET, to_end));
    assert_eq!((stopped.text, stopped.tokens), (whole.text, whole.tokens));
}

#[test]
fn draws_depend_on_the_seed_and_the_task_alone() {
    let (one, mut other) = (task(), task());
    other.id = "u".to_owned();
    // letters are equally probable, and the end follows after 20 of them
    let letters = |text: &str| -> Vec<(u32, f32)> {
        if text.len() > 20 {
            return vec![(END, 99.0)];
        }
        (b'a'..=b'z').map(|letter| (u32::from(letter), 50.0)).collect()
    };
    let text = |arm, task, seed| drawn(0.5, Trial { task, arm, seed: Some(seed) }, "json", letters).0.text;
    let first = text(Arm::Free, &one, 0);
    assert_eq!((first.len(), &first), (20, &text(Arm::Free, &one, 0)));
    assert_ne!(first, text(Arm::Free, &one, 1));
    assert_ne!(first, text(Arm::Free, &other, 0));
    // each try has its own draws; those of the first are the same as without retries
    let asked = |text: &str| letters(&text.replace(['1', '2'], ""));
    let trial = Trial { task: &one, arm: Arm::FreeRetry, seed: Some(0) };
    let (third, told) = drawn(0.5, trial, "json", asked);
    assert_eq!(told.len(), 2);
    assert_ne!(third.text, first);
    let ends_first = |text: &str| if text.starts_with('?') { letters(text) } else { vec![(END, 99.0)] };
    let (again, _) = drawn(0.5, trial, "json", ends_first);
    assert_eq!(
        (again.text.as_str(), again.tokens),
        ("", first.len() + 3),
        "a try of 20 letters and two empty ones"
    );
    // greedy outputs do not depend on a seed
    let greedy = |seed| drawn(0.0, Trial { task: &one, arm: Arm::Free, seed }, "json", letters).0.text;
    assert_eq!((greedy(None), greedy(Some(7))), ("a".repeat(20), "a".repeat(20)));
}

#[test]
fn drawn_calls_under_a_grammar_have_no_fault() {
    let task = task();
    for seed in 0..8 {
        for (arm, format) in
            [(Arm::Full, "json"), (Arm::Full, "react"), (Arm::FullExact, "react"), (Arm::Full, "python")]
        {
            let trial = Trial { task: &task, arm, seed: Some(seed) };
            let (made, _) = drawn(1.0, trial, format, |_| Vec::new());
            assert_eq!(made.fault, None, "{format} {}: {}", arm.name(), made.text);
        }
    }
}

#[test]
fn ids_tell_the_seed_of_an_output() {
    let mut tasks = [task(), task()];
    tasks[1].id = "u".to_owned();
    let ids = |seeds: &[Option<u64>]| -> Vec<String> {
        trial::all(&tasks, &[Arm::Free, Arm::FullExact], seeds).iter().map(Trial::id).collect()
    };
    assert_eq!(ids(&[None]), ["t free", "t full+exact", "u free", "u full+exact"]);
    assert_eq!(
        ids(&[Some(0), Some(1)])[..4],
        ["t free seed-0", "t free seed-1", "t full+exact seed-0", "t full+exact seed-1"]
    );
}

#[test]
fn shares_are_of_outputs_and_pairs_of_tasks() {
    let (right, _) = record(Arm::Full, "json", |text| next(GET, text));
    let of = |arm, is_right: bool| Record {
        arm,
        right: is_right,
        fault: (!is_right).then_some(Fault::Name),
        ..right.clone()
    };
    // two tasks with three seeds: free is right once in the first task, full always in the first and once in the second
    let free = [true, false, false, false, false, false].map(|right| of(Arm::Free, right));
    let full = [true, true, true, false, true, false].map(|right| of(Arm::Full, right));
    let records: Vec<Record> = free.into_iter().chain(full).collect();
    let of_arms = summary::of_arms(&[Arm::Free, Arm::Full], &records, 3);
    let table = summary::table(&of_arms);
    assert_eq!(table.rows[0][..4], ["free", "2", "6", "83.3 % [43.6, 97.0]"]);
    assert_eq!(table.rows[1][..4], ["full", "2", "6", "33.3 % [9.7, 70.0]"]);
    // full is better in both tasks; counted by outputs it would be 3 of 6
    assert_eq!(summary::pairs(&of_arms).rows[0][1..], ["2 / 0, p = 5.00e-1", "2 / 0, p = 5.00e-1"]);
    let json = summary::to_json(&Value::Null, &of_arms);
    assert_eq!((&json["arms"][1]["tasks"], &json["arms"][1]["outputs"]), (&2.into(), &6.into()));
}

#[test]
fn names_alone_are_held_to_the_set() {
    // the model writes another name, and then arguments that are not declared
    let tail = r#"get", "arguments": {"z": 1}}"#;
    let wish = |text: &str| match text.split_once("get") {
        Some((before, _)) => next(&format!("{}{tail}", before.trim_start_matches('?')), text),
        None => next(r#"{"name": "gez"#, text),
    };
    let (made, _) = record(Arm::Name, "json", wish);
    assert_eq!(made.text, r#"{"name": "get", "arguments": {"z": 1}}"#);
    assert_eq!(made.fault, Some(Fault::Missing));
    let wish = |text: &str| next(if text.contains("get") { "[get(a=\"x\")]" } else { "[gez" }, text);
    let (made, _) = record(Arm::Name, "python", wish);
    assert_eq!((made.text.as_str(), made.fault), ("[get(a=\"x\")]", Some(Fault::Type)));
    let wish = |text: &str| next(if text.contains("get") { "[get(a=" } else { "[gez" }, text);
    let (made, _) = record(Arm::Name, "python", wish);
    assert_eq!((made.text.as_str(), made.fault), ("[get(a=", Some(Fault::Json)));
}

#[test]
fn structure_leaves_values_open() {
    let target = r#"{"name": "get", "arguments": {"a": ["x"]}}"#;
    let (made, _) = record(Arm::Structure, "json", |text| next(target, text));
    assert_eq!((made.text.as_str(), made.fault), (target, Some(Fault::Type)));
    let undeclared = r#"{"name": "get", "arguments": {"z": 1}}"#;
    let (made, _) = record(Arm::Structure, "json", |text| next(undeclared, text));
    assert!(made.text.starts_with(r#"{"name": "get", "arguments": {"a""#), "{}", made.text);
    let (made, _) = record(Arm::Full, "json", |text| next(target, text));
    assert_eq!(made.fault, None, "{}", made.text);
}

/// `g` is more probable than `p`, but two names share it, and each of them is less probable than `put`.
fn divided(format: &str, text: &str) -> Vec<(u32, f32)> {
    let wish = |wishes: &[(char, f32)]| wishes.iter().map(|&(c, logit)| (u32::from(c), logit)).collect();
    let marker = match format {
        "json" => r#""name": ""#,
        "react" => "Action: ",
        _ => "[",
    };
    match text.rsplit_once(marker).map(|(_, name)| name) {
        Some("") => wish(&[('g', 20.3), ('p', 20.0)]),
        Some("g") => wish(&[('e', 20.0), ('o', 20.0)]),
        Some("p") => wish(&[('u', 20.0)]),
        Some("pu") => wish(&[('t', 20.0)]),
        Some("put" | "ge" | "go") => wish(&[('"', 20.0), ('\n', 20.0), ('(', 20.0), ('t', 20.0)]),
        _ => next("Thought: Let me see.\nAction: ", text),
    }
}

#[test]
fn the_exact_name_is_the_most_probable_of_all() {
    for format in ["json", "react", "python"] {
        let (greedy, _) = record(Arm::Full, format, |text| divided(format, text));
        let (exact, _) = record(Arm::FullExact, format, |text| divided(format, text));
        assert_eq!((greedy.fault, exact.fault), (None, None), "{} {}", greedy.text, exact.text);
        assert!(greedy.tool.as_deref().is_some_and(|name| name.starts_with('g')), "{}", greedy.text);
        assert_eq!(exact.tool.as_deref(), Some("put"), "{}", exact.text);
        assert!(exact.model_calls > 3, "{}: the search runs the model", exact.model_calls);
        assert!(
            format != "react" || exact.text.starts_with("Thought: Let me see.\nAction: put\n"),
            "{}",
            exact.text
        );
    }
}

/// The end of a name is part of it: `go` is more probable than `put`, but `go` followed by the end is not.
#[test]
fn the_exact_name_of_a_relation_has_its_end() {
    let text = r#"[{"name": "go", "inputSchema": {"type": "object"}}, {"name": "gone", "inputSchema": {"type": "object"}},
        {"name": "put", "inputSchema": {"type": "object"}}]"#;
    let tools = Rc::new(read([Document { label: "d", text }], &ReadOptions::default()).unwrap());
    let task = Task { tools, ..task() };
    let wish = |text: &str| match text.rsplit('?').next() {
        Some("") => vec![(u32::from(b'g'), 20.3), (u32::from(b'p'), 20.0)],
        Some("go") => vec![(END, 20.0), (u32::from(b'n'), 20.0)],
        Some(written) => next(if written.starts_with('g') { "gone" } else { "put" }, text),
        None => Vec::new(),
    };
    let made = |arm| generated(GREEDY, Trial { task: &task, arm, seed: None }, "relation", wish).0;
    assert_eq!(made(Arm::Full).text, "gone");
    let exact = made(Arm::FullExact);
    assert_eq!((exact.text.as_str(), exact.fault, exact.tool.as_deref()), ("put", None, Some("put")));
}

#[test]
fn models_at_random_have_the_faults_that_their_arm_allows() {
    for seed in 0..12_u64 {
        let wish = |text: &str| {
            let hashed = |token: u32| {
                let mut hasher = FxHasher::default();
                hasher.write_u64(seed);
                hasher.write(text.as_bytes());
                hasher.write_u32(token);
                (hasher.finish() >> 40) as f32 / 1e6
            };
            (0..=END).map(|token| (token, hashed(token))).collect()
        };
        for format in ["json", "react", "python"] {
            for arm in [Arm::Full, Arm::FullExact].into_iter().filter(|arm| arm.writes(format)) {
                let (made, _) = record(arm, format, wish);
                assert_eq!(made.fault, None, "{format} {}: {}", arm.name(), made.text);
            }
            let (made, _) = record(Arm::Structure, format, wish);
            assert!(
                matches!(made.fault, None | Some(Fault::Type | Fault::Value)),
                "{format}: {:?} {}",
                made.fault,
                made.text
            );
            if Arm::Name.writes(format) {
                let (made, _) = record(Arm::Name, format, wish);
                assert_ne!(made.fault, Some(Fault::Name), "{format}: {}", made.text);
            }
        }
    }
}

#[test]
fn arms_write_the_formats_in_which_they_mean_something() {
    let writes = |arm: Arm| ["json", "react", "toolken", "endpoint"].map(|format| arm.writes(format));
    assert_eq!(writes(Arm::Full), [true; 4]);
    assert_eq!(writes(Arm::FreeRetry), [true, true, false, true]);
    assert_eq!(writes(Arm::Published), [false, true, false, false]);
    for arm in [Arm::Name, Arm::Structure, Arm::FullExact] {
        assert_eq!(writes(arm), [true, true, false, false]);
    }
    let others = |arm: Arm| ["python", "relation", "http"].map(|format| arm.writes(format));
    assert_eq!(others(Arm::Name), [true, false, false]);
    assert_eq!(others(Arm::Structure), [true, false, false]);
    assert_eq!(others(Arm::FullExact), [true, true, false]);
}
