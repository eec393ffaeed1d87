//! MaskBench: how long masks take and whether they are right, over thousands of JSON schemas with tests.
//!
//! The protocol is that of the JSONSchemaBench project's MaskBench (arXiv:2501.10868), without a model and on one
//! thread. Each schema is compiled and its first mask computed (TTFM, time to first mask). Each of its tests gets a new
//! matcher and its instance as tokens, without special tokens. For each token the mask is written to a buffer, the
//! token's bit is tested and the token is accepted; TBM (time between masks) is the time of all three. A valid instance
//! must be allowed to its end, an invalid one must be refused at some token or at its end.
//!
//! `cargo bench --bench maskbench -- --help` prints the options and the source of the data.
//!
//! State that an engine shares between the tests of a schema is part of the measurement: this crate's matchers share
//! tables and masks, so a later test finds what an earlier one has computed. `--isolate` removes this effect.

#![allow(clippy::print_stdout)]

mod archive;
mod arguments;
mod arms;
mod data;
mod engine;
mod grammata_engine;
#[cfg(feature = "peers")]
mod llguidance_engine;
mod overlap;
mod plot;
mod record;
mod run;
mod special;
mod statistics;
mod summary;

use arguments::{Arguments, Given, ORDERS, USAGE};
use arms::{Arms, Plan};
use data::Schema;
use engine::{Engine, Written};
use grammata::syntax::json_schema::{self, PropertyOrder};
use grammata::vocabulary::LoadOptions;
use grammata::{TokenId, Vocabulary};
use grammata_engine::Grammata;
use run::{Outcome, Settings, Tokens};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use summary::Tally;

fn main() {
    match Arguments::read(std::env::args().skip(1)) {
        Ok(Some(arguments)) => {
            if let Err(message) = bench(&arguments) {
                eprintln!("error: {message}");
                std::process::exit(1);
            }
        }
        Ok(None) => {
            println!("maskbench: nothing is measured without `--data` and `--tokenizer`\n\n{USAGE}")
        }
        Err(message) => {
            eprintln!("{message}");
            std::process::exit(2);
        }
    }
}

fn bench(arguments: &Arguments) -> Result<(), String> {
    let tokenizer = tokenizers::Tokenizer::from_file(&arguments.tokenizer).map_err(|e| e.to_string())?;
    let eos = arguments.eos.iter().map(|&id| TokenId::new(id)).collect();
    let load = LoadOptions::default().eos(eos);
    let options = json_schema::Options::default().property_order(arguments.order);
    let settings = Settings {
        repeat: arguments.repeat,
        isolate: arguments.isolate,
        digest: arguments.digest.is_some(),
        warm: arguments.warm,
        sweep: arguments.sweep,
        time_limit: arguments.time_limit,
    };
    let mut engines: Vec<Box<dyn Engine>> = Vec::new();
    if !arguments.peer_alone {
        let vocabulary = Vocabulary::from_file(&arguments.tokenizer, &load).map_err(|e| e.to_string())?;
        let engine = Grammata::new(Arc::new(vocabulary), options);
        if !arguments.arms.is_empty() {
            return compare(arguments, &engine, settings, &tokenizer);
        }
        engines.push(Box::new(match &arguments.mask_files {
            Some(folder) => {
                std::fs::create_dir_all(folder).map_err(|e| format!("`{}`: {e}", folder.display()))?;
                engine.with_files(folder.clone(), arguments.budget())
            }
            None => engine,
        }));
    }
    if arguments.peer {
        engines.push(peer(arguments)?);
    }
    let mut bench = Bench {
        words: engines.iter().map(|engine| vec![0; engine.mask_words()]).collect(),
        tallies: engines.iter().map(|engine| Tally::new(engine.name())).collect(),
        engines,
        tokenizer,
        settings,
        out: create(&arguments.out)?,
        digests: create(&arguments.digest)?,
        order: arguments.order,
        given: arguments.given,
        written: Vec::new(),
    };
    let mut each = summary::Each::default();
    let base = memory("VmRSS");
    let begin = Instant::now();
    let mut schemas = 0;
    for schema in schemas_of(arguments)? {
        let schema = schema?;
        let start = Instant::now();
        let outcomes = bench.schema(&schema, schemas).map_err(|e| e.to_string())?;
        if arguments.each {
            bench
                .engines
                .iter()
                .zip(&outcomes)
                .for_each(|(engine, outcome)| each.add(engine.name(), &schema, outcome));
        }
        if arguments.rest {
            std::thread::sleep(start.elapsed() / 10);
        }
        schemas += 1;
    }
    for out in bench.out.iter_mut().chain(&mut bench.digests) {
        out.flush().map_err(|e| e.to_string())?;
    }
    if arguments.each {
        println!("{each}\n");
    }
    println!("{}", summary::show(&bench.tallies));
    if !bench.written.is_empty() {
        println!("{}", written(&bench.written));
    }
    if let (Some(folder), Some(archive)) = (&arguments.mask_files, &arguments.archive) {
        let vocabulary = Vocabulary::from_file(&arguments.tokenizer, &load).map_err(|e| e.to_string())?;
        println!("{}", archive::pack(Arc::new(vocabulary), folder, archive).map_err(|e| e.to_string())?);
    }
    if let Some(folder) = &arguments.plot {
        std::fs::create_dir_all(folder).map_err(|e| format!("`{}`: {e}", folder.display()))?;
        let plots = [("tbm", "Time between masks"), ("ttfm", "Time to the first mask")];
        for ((name, title), curves) in plots.into_iter().zip(summary::curves(&bench.tallies)) {
            let path = folder.join(format!("maskbench-{name}.svg"));
            plot::tails(&path, title, &curves).map_err(|e| format!("`{}`: {e}", path.display()))?;
        }
    }
    if let Some(path) = &arguments.record {
        std::fs::write(path, summary::record(&bench.tallies))
            .map_err(|e| format!("`{}`: {e}", path.display()))?;
    }
    println!(
        "{schemas} schemas in {:.1} s; memory of the process: {} MiB before the first schema, {} MiB at the peak",
        begin.elapsed().as_secs_f64(),
        base / 1024,
        memory("VmHWM") / 1024
    );
    Ok(())
}

/// Returns the schemas to run, as the arguments select them.
fn schemas_of(arguments: &Arguments) -> Result<impl Iterator<Item = Result<Schema, String>> + '_, String> {
    let all: Box<dyn Iterator<Item = _>> = match arguments.data.to_str() {
        Some("special") => Box::new(special::all().into_iter().map(Ok)),
        Some("overlap") => Box::new(overlap::all().map(Ok)),
        _ => data::read(&arguments.data)?,
    };
    let some = all.skip(arguments.offset).step_by(arguments.every);
    let wanted = |schema: &Result<Schema, String>| {
        schema.as_ref().map_or(true, |schema| wanted(schema, &arguments.only))
    };
    Ok(some.filter(wanted).take(arguments.limit))
}

/// Returns the tests of a schema as tokens.
fn tokens_of(tokenizer: &tokenizers::Tokenizer, schema: &Schema) -> Result<Vec<Tokens>, String> {
    let tests = schema.tests.iter().map(|test| {
        let encoding = tokenizer.encode_fast(test.text.as_str(), false);
        let encoding = encoding.map_err(|e| format!("{}: {e}", schema.id))?;
        Ok(Tokens { valid: test.valid, tokens: encoding.get_ids().to_vec() })
    });
    tests.collect()
}

/// Compares regimes. Missing mask files are written first; if there were any, a new process does the comparison.
fn compare(
    arguments: &Arguments,
    base: &Grammata,
    settings: Settings,
    tokenizer: &tokenizers::Tokenizer,
) -> Result<(), String> {
    let tests = |schema: Result<Schema, String>| {
        let schema = schema?;
        let tests = tokens_of(tokenizer, &schema)?;
        Ok((schema, tests))
    };
    let plan = Plan {
        regimes: arguments.arms.clone(),
        random: arguments.random,
        folder: arguments.mask_files.clone(),
        budget: arguments.budget(),
    };
    let begin = Instant::now();
    let written = arms::write(base, &plan, &mut schemas_of(arguments)?.map(tests))?;
    if written > 0 {
        println!("{written} mask files written in {:.1} s", begin.elapsed().as_secs_f64());
    }
    if arguments.write {
        return Ok(());
    }
    if written > 0 {
        let program = std::env::current_exe().map_err(|e| e.to_string())?;
        let status = std::process::Command::new(program).args(std::env::args_os().skip(1)).status();
        return match status.map_err(|e| e.to_string())?.success() {
            true => Ok(()),
            false => Err("the process that measures has failed".to_owned()),
        };
    }
    let digests = create(&arguments.digest)?.map(|file| Box::new(file) as Box<dyn Write>);
    let peers = || if arguments.peer { Ok(vec![peer(arguments)?]) } else { Ok(Vec::new()) };
    let mut arms = Arms::new(base, plan, settings, digests, &peers)?;
    for (number, schema) in schemas_of(arguments)?.map(tests).enumerate() {
        let (schema, tests) = schema?;
        arms.schema(&schema, &tests, number).map_err(|e| e.to_string())?;
    }
    println!("{}{:.1} s", arms.show()?, begin.elapsed().as_secs_f64());
    Ok(())
}

/// Creates a file to write to, if there is a path.
fn create(path: &Option<PathBuf>) -> Result<Option<BufWriter<File>>, String> {
    let create = |path: &PathBuf| File::create(path).map_err(|e| format!("`{}`: {e}", path.display()));
    Ok(path.as_ref().map(create).transpose()?.map(BufWriter::new))
}

#[cfg(feature = "peers")]
fn peer(arguments: &Arguments) -> Result<Box<dyn Engine>, String> {
    let peer = llguidance_engine::Llguidance::new(&arguments.tokenizer, &arguments.eos)?;
    Ok(Box::new(peer))
}

#[cfg(not(feature = "peers"))]
fn peer(_: &Arguments) -> Result<Box<dyn Engine>, String> {
    Err("`--peer` needs the peers: cargo bench --bench maskbench --features peers".to_owned())
}

/// Returns whether `--only` names the schema, or a keyword in its text.
fn wanted(schema: &Schema, only: &[String]) -> bool {
    only.is_empty()
        || only.iter().any(|word| schema.id == *word || schema.text.contains(&format!("\"{word}\"")))
}

/// Returns a value of `/proc/self/status`, in KiB; 0 if it is not available.
fn memory(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok()).unwrap_or_default()
}

/// The engines and their results so far.
struct Bench {
    engines: Vec<Box<dyn Engine>>,
    /// For each engine a buffer for masks; `tallies` has their results.
    words: Vec<Vec<u32>>,
    tallies: Vec<Tally>,
    tokenizer: tokenizers::Tokenizer,
    settings: Settings,
    out: Option<BufWriter<File>>,
    digests: Option<BufWriter<File>>,
    order: PropertyOrder,
    given: Given,
    /// The times and sizes of the mask files that were written.
    written: Vec<Written>,
}

/// Returns a report of the times and sizes of mask files.
fn written(all: &[Written]) -> String {
    let of = |field: &dyn Fn(&Written) -> u64| {
        let mut values: Vec<u64> = all.iter().map(field).collect();
        values.sort_unstable();
        let at = |thousandth: usize| values[(values.len() - 1) * thousandth / 1000];
        let sum: u64 = values.iter().sum();
        format!("mean {}, p50 {}, p99 {}, max {}", sum / values.len() as u64, at(500), at(990), at(1000))
    };
    let bytes: usize = all.iter().map(|written| written.bytes).sum();
    format!(
        "{} mask files written, {:.1} MiB\n  µs: {}\n  bytes: {}\n  places: {}",
        all.len(),
        bytes as f64 / f64::from(1 << 20),
        of(&|written| u64::try_from(written.time.as_micros()).unwrap_or(u64::MAX)),
        of(&|written| written.bytes as u64),
        of(&|written| written.states as u64),
    )
}

impl Bench {
    /// Runs one schema on all engines. Each engine runs first in turn.
    fn schema(&mut self, schema: &Schema, number: usize) -> std::io::Result<Vec<Outcome>> {
        let mut tests = tokens_of(&self.tokenizer, schema).map_err(std::io::Error::other)?;
        let valid = tests.iter().filter(|test| test.valid);
        let known: Vec<Vec<u32>> = match self.given {
            Given::None => Vec::new(),
            Given::All => valid.map(|test| test.tokens.clone()).collect(),
            Given::Half => valid.step_by(2).map(|test| test.tokens.clone()).collect(),
        };
        if self.given == Given::Half {
            tests.retain(|test| !test.valid || !known.contains(&test.tokens));
        }
        self.written
            .extend(self.engines.iter().filter_map(|engine| engine.write_masks(&schema.text, &known)));
        let count = self.engines.len();
        let mut outcomes: Vec<Option<Outcome>> = self.engines.iter().map(|_| None).collect();
        for turn in 0..count {
            let place = (number + turn) % count;
            let engine = &*self.engines[place];
            let words = &mut self.words[place];
            outcomes[place] = Some(run::run(engine, &schema.text, &tests, self.settings, words));
        }
        let outcomes: Vec<Outcome> = outcomes.into_iter().flatten().collect();
        let common = outcomes.iter().all(Outcome::compiled);
        let decode = |tokens: &[u32]| self.tokenizer.decode(tokens, false).unwrap_or_default();
        for ((engine, tally), outcome) in self.engines.iter().zip(&mut self.tallies).zip(&outcomes) {
            if let Some(out) = &mut self.out {
                writeln!(out, "{}", record::line(engine.name(), schema, &tests, outcome, &decode))?;
            }
            if let Some(digests) = &mut self.digests {
                let order = ORDERS.iter().find(|named| named.1 == self.order).map_or("", |named| named.0);
                writeln!(digests, "{}", record::digest(engine.name(), schema, order, outcome))?;
            }
            tally.add(&schema.id, outcome, common);
        }
        Ok(outcomes)
    }
}
