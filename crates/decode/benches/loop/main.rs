//! Decoding on the CPU, in one run: tokens a second with and without a grammar, and the time of masks in the loop.
//!
//! Arguments: the folder of a model; `--tokens N` (64), `--batches 1,4,16`, `--repeat N` (3), `--json FILE`.
//!
//! 1. The driver generates greedily under eight schemas: without a grammar, with it, with masks computed while the
//!    model runs, and with prompt lookup. Each schema is compiled anew for each repetition, so nothing is known of it.
//! 2. The outputs are fed again, a token a step: without masks, with Grammata's, with Grammata's during the run, and
//!    with llguidance's (feature `peers`). The first repetition is the first sequence of a schema, later ones find what
//!    the first computed.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod engine;
#[cfg(feature = "peers")]
mod peer;
mod replay;
#[path = "../support/mod.rs"]
mod support;

use engine::{Engine, Grammata, Session};
use grammata::limits::Limits;
use grammata::matcher::Constraint;
use grammata::vocabulary::{LoadOptions, TokenId, Vocabulary};
use grammata_decode::ort::{ModelOptions, OrtModel, library_info};
use grammata_decode::{
    Decoder, Generation, GenerationOptions, Model, ModelFolder, PromptTokenizer, Timings, run_together,
};
use replay::{Script, Times, When, replay};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use support::{PROMPTS, SCHEMAS};

type Result<T> = std::result::Result<T, String>;

struct Arguments {
    model: PathBuf,
    tokens: usize,
    batches: Vec<usize>,
    repeat: usize,
    json: Option<PathBuf>,
}

/// A model, and the engines.
struct Bench {
    arguments: Arguments,
    model: OrtModel,
    tokenizer: PromptTokenizer,
    vocabulary: Arc<Vocabulary>,
    ends: Vec<u32>,
    grammata: Grammata,
    peers: Vec<Box<dyn Engine>>,
    json: Vec<Value>,
}

/// How the driver generates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Unconstrained,
    Constrained,
    Overlap,
    Lookup,
}

impl Mode {
    const ALL: [Mode; 4] = [Mode::Unconstrained, Mode::Constrained, Mode::Overlap, Mode::Lookup];

    fn name(self) -> &'static str {
        match self {
            Mode::Unconstrained => "no grammar",
            Mode::Constrained => "grammar, forced tokens together",
            Mode::Overlap => "the same, masks during the run",
            Mode::Lookup => "the same, prompt lookup of 4",
        }
    }
}

fn main() -> ExitCode {
    match arguments().and_then(Bench::open).and_then(|mut bench| bench.run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn arguments() -> Result<Arguments> {
    let (mut model, mut tokens, mut batches, mut repeat, mut json) = (None, 64, vec![1, 4, 16], 3, None);
    let mut given = std::env::args().skip(1);
    while let Some(argument) = given.next() {
        let mut value = || given.next().ok_or_else(|| format!("{argument} needs a value"));
        let number = |text: String| text.parse::<usize>().map_err(|error| format!("{text}: {error}"));
        match argument.as_str() {
            "--tokens" => tokens = number(value()?)?,
            "--repeat" => repeat = number(value()?)?,
            "--batches" => {
                batches =
                    value()?.split(',').map(|text| number(text.to_owned())).collect::<Result<Vec<_>>>()?;
            }
            "--json" => json = Some(PathBuf::from(value()?)),
            // what cargo gives to every bench
            "--bench" => {}
            _ => model = Some(PathBuf::from(argument)),
        }
    }
    let model = model.ok_or("the folder of a model is missing")?;
    Ok(Arguments { model, tokens, batches, repeat: repeat.max(1), json })
}

fn text(error: grammata::error::Error) -> String {
    error.to_string()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Mean, median, 99th percentile and greatest of some times, in microseconds.
fn spread(times: &[Duration]) -> [f64; 4] {
    let mut sorted: Vec<f64> = times.iter().map(|time| time.as_secs_f64() * 1e6).collect();
    sorted.sort_by(f64::total_cmp);
    let at = |thousandths: usize| {
        let rank = (sorted.len() * thousandths).div_ceil(1000).max(1) - 1;
        sorted.get(rank).copied().unwrap_or(f64::NAN)
    };
    [sorted.iter().sum::<f64>() / sorted.len() as f64, at(500), at(990), at(1000)]
}

impl Bench {
    fn open(arguments: Arguments) -> Result<Bench> {
        let limits = Limits::default();
        let parts = ModelFolder::open(&arguments.model, &limits).map_err(text)?;
        let tokenizer = PromptTokenizer::from_file(&parts.tokenizer, &limits).map_err(text)?;
        let ends: Vec<TokenId> = parts.end_tokens.iter().map(|&id| TokenId::new(id)).collect();
        let loaded = Vocabulary::from_file(&parts.tokenizer, &LoadOptions::default().eos(ends));
        let vocabulary = Arc::new(loaded.map_err(text)?);
        let options = ModelOptions::default().context_length(parts.context_length);
        let model = OrtModel::load(&parts.model, &options).map_err(text)?;
        let grammata = Grammata::new(&vocabulary).map_err(text)?;
        let peers = peers(&parts.tokenizer, &parts.end_tokens)?;
        let ends = parts.end_tokens;
        Ok(Bench { arguments, model, tokenizer, vocabulary, ends, grammata, peers, json: Vec::new() })
    }

    fn run(&mut self) -> Result<()> {
        let Arguments { model, tokens, repeat, .. } = &self.arguments;
        println!("ONNX Runtime: {}; model {}\n", library_info().map_err(text)?, model.display());
        println!(
            "At most {tokens} tokens an output, greedy, complete within them; medians of {repeat} runs.\n"
        );
        let mut scripts = Vec::new();
        println!("## Tokens a second of the driver, first outputs under a schema\n");
        println!(
            "| batch | mode | tokens | forced | runs of the model | tokens/s | masks | during the run | late | waited us, together |"
        );
        println!("|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|");
        for batch in self.arguments.batches.clone() {
            scripts.push((batch, self.drive(batch)?));
        }
        println!("\n## The same tokens, one a step\n");
        println!(
            "| batch | masks | sequences | steps | ms a step | over no masks | tokens/s | not in masks |"
        );
        println!("|--:|---|--:|--:|--:|--:|--:|--:|");
        let mut masks = Vec::new();
        for (batch, scripts) in scripts {
            self.replay(batch, scripts, &mut masks)?;
        }
        println!("\n## Masks in the loop, microseconds\n");
        println!(
            "| batch | engine | sequence of a schema | masks | mask: mean | p50 | p99 | greatest | move: mean | p99 | both: mean |"
        );
        println!("|--:|---|---|--:|--:|--:|--:|--:|--:|--:|--:|");
        for row in masks {
            println!("{row}");
        }
        if let Some(path) = &self.arguments.json {
            let report = json!({"model": self.arguments.model, "tokens": self.arguments.tokens,
                "repeat": self.arguments.repeat, "rows": self.json});
            std::fs::write(path, format!("{report:#}\n")).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// The requests of a batch size: numbers of a schema and a prompt, at least one for each schema.
    fn requests(batch: usize) -> Vec<usize> {
        (0..SCHEMAS.len().div_ceil(batch) * batch).collect()
    }

    /// Generates in all modes; returns the constrained outputs.
    fn drive(&mut self, batch: usize) -> Result<Vec<Script>> {
        let mut scripts = Vec::new();
        let mut rates: Vec<Vec<f64>> = vec![Vec::new(); Mode::ALL.len()];
        let mut last: Vec<Vec<Generation>> = vec![Vec::new(); Mode::ALL.len()];
        for _ in 0..self.arguments.repeat {
            for (at, mode) in Mode::ALL.into_iter().enumerate() {
                let (outputs, time) = self.generate(batch, mode)?;
                let tokens: usize = outputs.iter().map(|output| output.tokens.len()).sum();
                rates[at].push(tokens as f64 / time.as_secs_f64());
                last[at] = outputs;
            }
        }
        for ((mode, rates), outputs) in Mode::ALL.into_iter().zip(rates).zip(&last) {
            let sum = |count: fn(&Timings) -> usize| outputs.iter().map(|o| count(&o.timings)).sum::<usize>();
            let tokens: usize = outputs.iter().map(|output| output.tokens.len()).sum();
            let wait: Duration = outputs.iter().map(|output| output.timings.mask_wait).sum();
            let (forced, runs) = (sum(|t| t.forced_tokens), sum(|t| t.model_steps) + outputs.len());
            let (masks, during, late) =
                (sum(|t| t.masks), sum(|t| t.overlapped_masks), sum(|t| t.late_masks));
            let (name, rate) = (mode.name(), median(rates.clone()));
            println!(
                "| {batch} | {name} | {tokens} | {forced} | {runs} | {rate:.1} | {masks} | {during} | {late} | {:.0} |",
                wait.as_secs_f64() * 1e6
            );
            self.json.push(json!({"table": "driver", "batch": batch, "mode": name, "tokens": tokens,
                "forced": forced, "runs": runs, "tokens_per_second": rates, "masks": masks, "during": during,
                "late": late, "wait_us": wait.as_secs_f64() * 1e6}));
        }
        for (number, output) in Bench::requests(batch).into_iter().zip(&last[1]) {
            let prompt = self.tokenizer.encode(PROMPTS[number % PROMPTS.len()], true).map_err(text)?;
            scripts.push(Script { schema: number % SCHEMAS.len(), prompt, output: output.tokens.clone() });
        }
        Ok(scripts)
    }

    /// Generates the outputs of all requests, `batch` at a time; the time includes prompts, not compiling.
    fn generate(&mut self, batch: usize, mode: Mode) -> Result<(Vec<Generation>, Duration)> {
        let options = GenerationOptions::default()
            .max_tokens(self.arguments.tokens)
            .end_tokens(self.ends.clone())
            .overlap(matches!(mode, Mode::Overlap | Mode::Lookup))
            .prompt_lookup(if mode == Mode::Lookup { 4 } else { 0 });
        let engine = self.grammata.detached();
        let matchers =
            SCHEMAS.iter().map(|schema| engine.matcher(schema)).collect::<grammata::Result<Vec<_>>>();
        let matchers = matchers.map_err(text)?;
        let (mut outputs, mut time) = (Vec::new(), Duration::ZERO);
        for numbers in Bench::requests(batch).chunks(batch) {
            let mut prompts = Vec::new();
            for &number in numbers {
                prompts.push(self.tokenizer.encode(PROMPTS[number % PROMPTS.len()], true).map_err(text)?);
            }
            let start = Instant::now();
            let mut decoders = Vec::new();
            for (&number, prompt) in numbers.iter().zip(&prompts) {
                let matcher = matchers[number % SCHEMAS.len()].fork();
                let constraint =
                    (mode != Mode::Unconstrained).then(|| Box::new(matcher) as Box<dyn Constraint>);
                let decoder = Decoder::new(&mut self.model, &*self.vocabulary, constraint, prompt, &options);
                decoders.push(decoder.map_err(text)?);
            }
            let mut failed = None;
            let run = run_together(&mut self.model, &mut decoders, &mut |_, event| {
                failed = failed.take().or(event.err());
            });
            run.map_err(text)?;
            time += start.elapsed();
            for decoder in decoders {
                outputs.push(decoder.close(&mut self.model as &mut dyn Model));
            }
            if let Some(error) = failed {
                return Err(error.to_string());
            }
        }
        Ok((outputs, time))
    }

    /// Replays the scripts of a batch size with each engine.
    fn replay(&mut self, batch: usize, scripts: Vec<Script>, masks: &mut Vec<String>) -> Result<()> {
        let words = self.vocabulary.mask_words();
        // engines that know nothing of each other: one tries the scripts
        let [trial, between, during] = [(); 3].map(|()| self.grammata.detached());
        let peers = self.peers.iter().map(|peer| (peer.name(), &**peer, When::Between));
        let engines: Vec<(&str, &dyn Engine, When)> = [
            ("Grammata", &between as &dyn Engine, When::Between),
            ("Grammata, during the run", &during, When::During),
        ]
        .into_iter()
        .chain(peers)
        .collect();
        // an engine that refuses a schema or a token of one leaves the schema out for all
        let walks = |engine: &dyn Engine, script: &Script| -> Result<()> {
            let mut session = engine.session(SCHEMAS[script.schema])?;
            let moves = script.output.len().saturating_sub(1);
            script.output[..moves].iter().try_for_each(|&token| session.accept(token))
        };
        let (mut kept, mut left_out) = (Vec::new(), 0);
        for script in scripts {
            let mut tried =
                std::iter::once(&trial as &dyn Engine).chain(self.peers.iter().map(|peer| &**peer));
            let refusal = tried.find_map(|engine| Some((engine.name(), walks(engine, &script).err()?)));
            match refusal {
                None => kept.push(script),
                Some((name, error)) => {
                    left_out += 1;
                    eprintln!(
                        "schema {} is left out: {name}: {}",
                        script.schema,
                        error.lines().next().unwrap_or("")
                    );
                }
            }
        }
        if kept.is_empty() {
            return Err("no output is left".to_owned());
        }
        let mut sessions: Vec<Option<Vec<Box<dyn Session>>>> = vec![None];
        for (_, engine, _) in &engines {
            let made = kept.iter().map(|script| engine.session(SCHEMAS[script.schema]));
            sessions.push(Some(made.collect::<Result<Vec<_>>>()?));
        }
        let mut measured: Vec<Vec<Times>> = sessions.iter().map(|_| Vec::new()).collect();
        for round in 0..self.arguments.repeat + 1 {
            for turn in 0..sessions.len() {
                // each round begins with another engine
                let at = (turn + round) % sessions.len();
                let when = at.checked_sub(1).map_or(When::Between, |engine| engines[engine].2);
                let mut all = Times::default();
                let mut scripts = &kept[..];
                let mut rest = sessions[at].as_deref_mut();
                while !scripts.is_empty() {
                    let count = batch.min(scripts.len());
                    let (now, later) = scripts.split_at(count);
                    let (mine, others) = match rest.take() {
                        None => (None, None),
                        Some(rest) => {
                            let (mine, others) = rest.split_at_mut(count);
                            (Some(mine), Some(others))
                        }
                    };
                    let times = replay(&mut self.model, now, mine, words, when)?;
                    all.wall += times.wall;
                    all.steps += times.steps;
                    all.fills.extend(times.fills);
                    all.accepts.extend(times.accepts);
                    (scripts, rest) = (later, others);
                }
                measured[at].push(all);
            }
        }
        let tokens: usize = kept.iter().map(|script| script.output.len()).sum();
        let names = std::iter::once("none").chain(engines.iter().map(|(name, ..)| *name));
        for (name, times) in names.zip(&measured) {
            let lacking = times[0].lacking;
            if lacking > 0 && name.starts_with("Grammata") {
                return Err(format!("{lacking} tokens that {name} accepts are not in its masks"));
            }
            // the first round is the first sequence of a schema
            let ratios = times.iter().zip(&measured[0]).skip(1);
            let ratios: Vec<f64> =
                ratios.map(|(with, without)| with.wall.as_secs_f64() / without.wall.as_secs_f64()).collect();
            let steps = times[0].steps;
            let step = median(times.iter().skip(1).map(|t| milliseconds(t.wall) / steps as f64).collect());
            println!(
                "| {batch} | {name} | {} | {steps} | {step:.3} | {:.4} | {:.1} | {lacking} |",
                kept.len(),
                median(ratios.clone()),
                tokens as f64 / (step * steps as f64 / 1e3),
            );
            self.json.push(json!({"table": "replay", "batch": batch, "masks": name, "left_out": left_out,
                "sequences": kept.len(), "steps": steps, "tokens": tokens, "lacking": lacking, "step_ms": step, "over_none": ratios}));
            if times[0].fills.is_empty() {
                continue;
            }
            let later = |pick: fn(&Times) -> &Vec<Duration>| {
                times.iter().skip(1).flat_map(|t| pick(t).iter().copied()).collect::<Vec<Duration>>()
            };
            let first = (times[0].fills.clone(), times[0].accepts.clone());
            let rows = [("first", first), ("later", (later(|t| &t.fills), later(|t| &t.accepts)))];
            for (which, (fills, accepts)) in rows {
                let ([mean, half, high, most], [mean_move, _, high_move, _]) =
                    (spread(&fills), spread(&accepts));
                masks.push(format!(
                    "| {batch} | {name} | {which} | {} | {mean:.1} | {half:.1} | {high:.1} | {most:.1} | {mean_move:.1} | {high_move:.1} | {:.1} |",
                    fills.len(),
                    mean + mean_move,
                ));
                self.json.push(json!({"table": "masks", "batch": batch, "engine": name, "sequence": which,
                    "masks": fills.len(), "mask_us": {"mean": mean, "p50": half, "p99": high, "max": most},
                    "move_us": {"mean": mean_move, "p99": high_move}}));
            }
        }
        Ok(())
    }
}

/// The other engines that were built in.
#[cfg(feature = "peers")]
fn peers(tokenizer: &Path, ends: &[u32]) -> Result<Vec<Box<dyn Engine>>> {
    Ok(vec![Box::new(peer::Llguidance::new(tokenizer, ends)?)])
}

#[cfg(not(feature = "peers"))]
fn peers(_: &Path, _: &[u32]) -> Result<Vec<Box<dyn Engine>>> {
    Ok(Vec::new())
}
