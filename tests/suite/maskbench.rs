//! The MaskBench runner: its arithmetic, its records and reports, and how it distinguishes results and failures.

#[path = "../../benches/maskbench/arms.rs"]
mod arms;
#[path = "../../benches/maskbench/data.rs"]
mod data;
#[path = "../../benches/maskbench/engine.rs"]
mod engine;
#[path = "../../benches/maskbench/grammata_engine.rs"]
mod grammata_engine;
#[path = "../../benches/maskbench/plot.rs"]
mod plot;
#[path = "../../benches/maskbench/record.rs"]
mod record;
#[path = "../../benches/maskbench/run.rs"]
mod run;
#[path = "../../benches/maskbench/special.rs"]
mod special;
#[path = "../../benches/maskbench/statistics.rs"]
mod statistics;
#[path = "../../benches/maskbench/summary.rs"]
mod summary;

use arms::{Arms, Plan, Regime};
use engine::{Compilation, Compiled, Engine, Refusal, Session};
use flate2::{Compression, write::GzEncoder};
use grammata::Vocabulary;
use grammata::explore::ExploreBudget;
use grammata::syntax::json_schema::{self, PropertyOrder};
use grammata_engine::Grammata;
use run::{Outcome, Settings, Status, Tokens};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const SETTINGS: Settings = Settings {
    repeat: 1,
    isolate: false,
    digest: true,
    warm: None,
    sweep: 0,
    time_limit: Duration::from_secs(60),
};

fn data_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn sample() -> Vec<(data::Schema, Value)> {
    let path = data_file("maskbench-sample.jsonl");
    let expected = std::fs::read_to_string(&path).unwrap();
    let expected = expected.lines().map(|line| serde_json::from_str(line).unwrap());
    data::read(&path).unwrap().map(Result::unwrap).zip(expected).collect()
}

/// The engine of the product, and the vocabulary that encodes the documents of the tests.
struct Bench {
    engine: Grammata,
    vocabulary: Arc<Vocabulary>,
}

impl Bench {
    fn new(property_order: PropertyOrder) -> Bench {
        let file = data_file("smollm2/tokenizer.json");
        let vocabulary = Arc::new(Vocabulary::from_file(file, &Default::default()).unwrap());
        let options = json_schema::Options::default().property_order(property_order);
        Bench { engine: Grammata::new(Arc::clone(&vocabulary), options), vocabulary }
    }

    fn tokens(&self, schema: &data::Schema) -> Vec<Tokens> {
        let encode = |test: &data::Test| {
            let tokens = self.vocabulary.encode_greedy(test.text.as_bytes()).unwrap();
            Tokens { valid: test.valid, tokens: tokens.iter().map(|token| token.get()).collect() }
        };
        schema.tests.iter().map(encode).collect()
    }

    fn run(&self, schema: &data::Schema, settings: Settings) -> Outcome {
        let mut words = vec![0; self.engine.mask_words()];
        run::run(&self.engine, &schema.text, &self.tokens(schema), settings, &mut words)
    }
}

#[test]
fn percentiles_are_by_nearest_rank() {
    let sorted: Vec<u64> = (1..=200).collect();
    let at = |thousandths| statistics::percentile(&sorted, thousandths);
    assert_eq!([at(0), at(500), at(990), at(999), at(1000)], [1, 100, 198, 200, 200].map(Some));
    assert_eq!(statistics::percentile(&[7], 500), Some(7));
    assert_eq!(statistics::percentile(&[1, 9], 500), Some(1));
    assert_eq!(statistics::percentile(&[1, 9], 501), Some(9));
    assert_eq!(statistics::percentile(&[], 500), None);
}

#[test]
fn means_shares_and_groups() {
    assert_eq!(statistics::mean(&[1, 2, 6]), Some(3.0));
    assert_eq!(statistics::mean(&[u64::MAX, u64::MAX]), Some(u64::MAX as f64));
    assert_eq!(statistics::mean(&[]), None);
    assert_eq!(statistics::share_over(&[1, 2, 3, 4], 2), 0.5);
    assert_eq!(statistics::share_over(&[], 2), 0.0);
    let groups = statistics::grouped(["not", "if", "not", "format", "if", "not"]);
    assert_eq!(groups, [("not", 3), ("if", 2), ("format", 1)]);
    assert_eq!(statistics::grouped(["b", "a"]), [("a", 1), ("b", 1)]);
}

#[test]
fn data_is_read_in_both_formats() {
    let text = r#"{"id": "a", "schema": {"const": {"é": [1.50, 2]}}, "tests": [{"valid": true, "data": {"é": [1.50, 2], "x": {}}}]}"#;
    let folder = tempfile::tempdir().unwrap();
    let schema = data::Schema {
        id: "a".to_owned(),
        text: r#"{"const": {"é": [1.50, 2]}}"#.to_owned(),
        tests: vec![data::Test { valid: true, text: r#"{"é": [1.50, 2], "x": {}}"#.to_owned() }],
    };
    std::fs::write(folder.path().join("a.json"), text).unwrap();
    std::fs::write(folder.path().join("read.me"), "not a schema").unwrap();
    let read = |path: &Path| data::read(path).unwrap().collect::<Result<Vec<_>, _>>();
    assert_eq!(read(folder.path()), Ok(vec![schema.clone()]));

    let packed = folder.path().join("lines.jsonl.gz");
    let mut encoder = GzEncoder::new(std::fs::File::create(&packed).unwrap(), Compression::fast());
    encoder.write_all(format!("{text}\n{text}\n").as_bytes()).unwrap();
    encoder.finish().unwrap();
    assert_eq!(read(&packed), Ok(vec![schema.clone(), schema]));

    let broken = folder.path().join("broken.jsonl");
    std::fs::write(&broken, format!("{text}\n{{\"id\": \"b\", \"schema\": {{}}}}\n")).unwrap();
    assert!(read(&broken).unwrap_err().ends_with("line 2: no `tests`"));
    assert!(data::read(&folder.path().join("none")).is_err());
}

#[test]
fn the_digest_is_that_of_all_masks_in_their_order() {
    let bench = Bench::new(PropertyOrder::Declared);
    let (schema, _) = sample().into_iter().find(|(_, expected)| expected["status"] == "pass").unwrap();
    let mut expected = Sha256::new();
    let Ok(compilation) = bench.engine.compile(&schema.text) else { panic!("{} compiles", schema.id) };
    let mut words = vec![0u32; bench.engine.mask_words()];
    for test in bench.tokens(&schema) {
        let mut session = compilation.compiled.session();
        for token in test.tokens {
            session.fill_mask(&mut words).unwrap();
            words.iter().for_each(|word| expected.update(word.to_le_bytes()));
            if words[token as usize / 32] >> (token % 32) & 1 == 0 {
                break;
            }
            session.accept(token).unwrap();
        }
    }
    let expected: String = expected.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    let line = record::digest("grammata", &schema, "declared", &bench.run(&schema, SETTINGS));
    assert_eq!(line, format!("{}\tgrammata\tdeclared\tpass\t{expected}", schema.id));
}

#[test]
fn the_sample_comes_out_as_it_says() {
    let (declared, any) = (Bench::new(PropertyOrder::Declared), Bench::new(PropertyOrder::Any));
    for (schema, expected) in sample() {
        let outcome = declared.run(&schema, SETTINGS);
        assert_eq!(outcome.status.name(), expected["status"], "{}: {:?}", schema.id, outcome.failures);
        if let Some(code) = expected.get("code") {
            let refusal = outcome.refusal.unwrap();
            assert_eq!(refusal.code, *code, "{}", schema.id);
            assert_eq!(refusal.keyword, *expected.get("keyword").unwrap_or(&refusal.keyword.clone().into()));
        }
        let status = expected.get("any_order").unwrap_or(&expected["status"]);
        assert_eq!(any.run(&schema, SETTINGS).status.name(), status, "{} in any order", schema.id);
    }
}

#[test]
fn schemas_that_grow_are_right_and_are_reported() {
    let bench = Bench::new(PropertyOrder::Declared);
    let (mut each, mut tally) = (summary::Each::default(), summary::Tally::new("grammata"));
    let small: Vec<_> = special::all().into_iter().filter(|schema| schema.text.len() < 20_000).collect();
    assert!(small.len() > 12);
    for schema in &small {
        let outcome = bench.run(schema, SETTINGS);
        assert_eq!(outcome.status, Status::Pass, "{}: {:?}", schema.id, outcome.failures);
        each.add("grammata", schema, &outcome);
        tally.add(&schema.id, &outcome, true);
    }
    let lines = each.to_string();
    assert_eq!(lines.lines().count(), small.len() + 2);
    assert!(
        lines.lines().any(|line| line.starts_with("| pattern-10000 ") && line.contains(" pass ")),
        "{lines}"
    );

    let [between, first] = summary::curves(&[tally]);
    assert_eq!(first[0].1.len(), small.len());
    let file = tempfile::Builder::new().suffix(".svg").tempfile().unwrap();
    plot::tails(file.path(), "Time between masks", &between).unwrap();
    let svg = std::fs::read_to_string(file.path()).unwrap();
    assert!(
        svg.starts_with("<svg") && svg.contains("Time between masks") && svg.contains("grammata"),
        "{svg}"
    );
    assert!(svg.matches("<polyline").count() > 1, "{svg}");
}

#[test]
fn mask_files_are_written_once_and_masks_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let lazy = Bench::new(PropertyOrder::Declared);
    let Bench { engine, vocabulary } = Bench::new(PropertyOrder::Declared);
    let engine = engine.with_files(folder.path().into(), ExploreBudget::default().states(400));
    let bench = Bench { engine, vocabulary };
    let (mut explored, mut all) = (0, 0);
    for (schema, _) in sample().into_iter().take(8) {
        let known: Vec<Vec<u32>> = bench.tokens(&schema).into_iter().map(|test| test.tokens).collect();
        let once = lazy.run(&schema, SETTINGS);
        let written = bench.engine.write_masks(&schema.text, &known);
        assert_eq!(written.is_some(), once.compiled(), "{}", schema.id);
        assert!(
            written.is_none_or(|written| written.states > 0 && written.bytes > 0 && !written.time.is_zero())
        );
        assert!(bench.engine.write_masks(&schema.text, &known).is_none());
        let from_file = bench.run(&schema, SETTINGS);
        let warm = Settings { warm: Some(Duration::from_millis(5)), sweep: 1, ..SETTINGS };
        let warm = lazy.run(&schema, warm);
        for other in [from_file, warm] {
            assert_eq!((other.status, other.right), (once.status, once.right), "{}", schema.id);
            let digest = |outcome: &Outcome| outcome.digest.clone().map(Digest::finalize);
            assert_eq!(digest(&other), digest(&once), "{}", schema.id);
            explored += other.times.iter().filter(|times| times.explored).count();
        }
        all += once.times.len();
    }
    assert!(explored * 2 > all, "{explored} of {all}");
}

#[test]
fn regimes_are_compared_on_three_sets_of_documents() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new(PropertyOrder::Declared);
    let regimes = ["none", "warm3", "files"].map(|name| Regime::read(name).unwrap());
    assert_eq!(Regime::read("warmer"), None);
    let plan = Plan {
        regimes: regimes.to_vec(),
        random: 2,
        folder: Some(folder.path().into()),
        budget: ExploreBudget::default().states(400),
    };
    let schemas: Vec<_> = sample().into_iter().take(8).map(|(schema, _)| schema).collect();
    let all = || schemas.iter().map(|schema| Ok((schema.clone(), bench.tokens(schema))));
    let written = arms::write(&bench.engine, &plan, &mut all()).unwrap();
    assert!(written > 4);
    assert_eq!(arms::write(&bench.engine, &plan, &mut all()), Ok(0));
    let mut arms = Arms::new(&bench.engine, plan, SETTINGS, None, &|| Ok(Vec::new())).unwrap();
    for (number, schema) in all().enumerate() {
        let (schema, tests) = schema.unwrap();
        arms.schema(&schema, &tests, number).unwrap();
    }
    let report = arms.show().unwrap();
    let same = report.matches("schemas that come out another way: 0 \n").count();
    assert_eq!((same, report.matches("another way").count()), (7, 7), "{report}");
    let files: Vec<usize> = report
        .lines()
        .filter_map(|line| {
            line.strip_prefix("files explored along ")?.split(&[' ', ','][..]).nth(3)?.parse().ok()
        })
        .collect();
    assert_eq!(files.iter().sum::<usize>(), written, "{report}");
    for row in [
        "given: nothing ahead ",
        "given: warm 3 ms ",
        "given: mask file, from the file ",
        "random: mask file ",
    ] {
        assert!(report.contains(&format!("| {row}")), "{row}: {report}");
    }
}

#[test]
fn repeated_and_isolated_runs_see_the_same_tokens() {
    let bench = Bench::new(PropertyOrder::Declared);
    for (schema, _) in sample() {
        let once = bench.run(&schema, SETTINGS);
        let thrice = bench.run(&schema, Settings { repeat: 3, ..SETTINGS });
        let isolated = bench.run(&schema, Settings { isolate: true, ..SETTINGS });
        assert_eq!(once.warm.len(), 0);
        assert_eq!(thrice.warm.len(), 2 * once.times.len());
        for other in [&thrice, &isolated] {
            assert_eq!((other.status, other.right), (once.status, once.right), "{}", schema.id);
            assert_eq!(other.times.len(), once.times.len(), "{}", schema.id);
            assert_eq!(other.failures.len(), once.failures.len(), "{}", schema.id);
        }
    }
}

#[test]
fn lines_have_the_fields_that_readers_need() {
    let bench = Bench::new(PropertyOrder::Declared);
    let decode = |tokens: &[u32]| format!("{} tokens", tokens.len());
    for (schema, _) in sample() {
        let (outcome, tests) = (bench.run(&schema, SETTINGS), bench.tokens(&schema));
        let line = record::line("grammata", &schema, &tests, &outcome, &decode);
        assert_eq!(line["id"], schema.id.as_str());
        assert_eq!(line["status"], outcome.status.name());
        assert_eq!(line["fails"].as_array().map_or(0, Vec::len), outcome.failures.len());
        assert_eq!(line.get("compile_error").is_some(), outcome.refusal.is_some());
        let masks = line["mask_us"].as_array().map_or(0, Vec::len);
        assert_eq!(masks, line["commit_us"].as_array().map_or(0, Vec::len));
        assert_eq!(masks, outcome.times.len());
        assert_eq!(masks, outcome.walked.iter().sum::<usize>());
        if masks > 0 {
            let slowest = line["slowest"][0]["us"].as_f64().unwrap();
            let times = outcome.times.iter().map(|times| times.mask + times.commit);
            assert_eq!(slowest, times.max().unwrap() as f64 / 1000.0);
        }
    }
}

#[test]
fn the_summary_counts_every_schema_once() {
    let bench = Bench::new(PropertyOrder::Declared);
    let mut tally = summary::Tally::new(bench.engine.name());
    let sample = sample();
    for (schema, _) in &sample {
        tally.add(&schema.id, &bench.run(schema, SETTINGS), true);
    }
    for status in Status::ALL {
        let expected = sample.iter().filter(|(_, expected)| expected["status"] == status.name()).count();
        assert_eq!(tally.count(status), expected, "{}", status.name());
    }
    let tallies = [tally];
    let text = summary::show(&tallies);
    let shares = text.split_once("share of masks by strategy of grammata\n").unwrap().1;
    let loops = shares.lines().find(|line| line.starts_with("| loop-language ")).unwrap();
    assert!(!loops.contains(" 0 |"), "{shares}");
    assert!(text.contains("grammata invalid_accepted: called-invalid-but-valid"), "{text}");
    assert!(text.contains("json-schema/unsatisfiable"), "{text}");
    let record = summary::record(&tallies);
    let wrong = tallies[0].count(Status::InvalidAccepted);
    assert!(record.contains(&format!("grammata\tinvalid_accepted\t{wrong}\n")), "{record}");
    assert!(record.contains("grammata\tTBM p99.9\t") && record.contains("grammata\tTTFM mean\t"), "{record}");
}

/// An engine whose masks are made by a function that fails, panics or takes long.
struct Faulty(fn() -> Result<(), String>);

impl Engine for Faulty {
    fn name(&self) -> &'static str {
        "faulty"
    }

    fn mask_words(&self) -> usize {
        1
    }

    fn compile(&self, schema: &str) -> Result<Compilation, Refusal> {
        assert!(!schema.is_empty(), "there is no schema");
        Ok(Compilation { compiled: Box::new(Faulty(self.0)), first_part: ("nothing", Duration::ZERO) })
    }
}

impl Compiled for Faulty {
    fn session(&self) -> Box<dyn Session> {
        Box::new(Faulty(self.0))
    }

    fn statistics(&self) -> Value {
        Value::Null
    }
}

impl Session for Faulty {
    fn fill_mask(&mut self, words: &mut [u32]) -> Result<(), String> {
        words.fill(u32::MAX);
        (self.0)()
    }

    fn accept(&mut self, _: u32) -> Result<(), String> {
        Ok(())
    }

    fn is_accepting(&mut self) -> Result<bool, String> {
        Ok(true)
    }

    fn explain(&mut self, _: u32) -> String {
        String::new()
    }
}

#[test]
fn panics_failures_and_long_runs_are_told_apart() {
    let tests = [Tokens { valid: true, tokens: vec![0; 50] }];
    let run = |fault, schema, settings| run::run(&Faulty(fault), schema, &tests, settings, &mut [0]);
    let slow = Settings { time_limit: Duration::from_millis(20), ..SETTINGS };
    let sleep = || {
        std::thread::sleep(Duration::from_millis(5));
        Ok(())
    };
    assert_eq!(run(|| Ok(()), "{}", SETTINGS).status, Status::Pass);
    assert_eq!(run(sleep, "{}", slow).status, Status::Timeout);
    let failed = run(|| Err("no room".to_owned()), "{}", Settings { repeat: 2, ..SETTINGS });
    assert_eq!((failed.status, failed.failures.len()), (Status::ValidRejected, 1));
    assert_eq!(failed.failures[0].message, "no room");
    assert_eq!(failed.first_mask_error.as_deref(), Some("no room"));
    let panicked = run(|| Ok(()), "", SETTINGS);
    assert_eq!((panicked.status, panicked.compiled()), (Status::Crash, false));
    assert_eq!(panicked.failures[0].message, "panic: there is no schema");
}
