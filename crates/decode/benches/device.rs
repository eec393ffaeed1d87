//! Checks a device and measures decoding on it: `cargo xtask device-check`.
//!
//! Arguments: `--cuda N` or `--cpu`, `--quick` (small vocabularies and batches), `--models-only`,
//! `--jobs FILE` (a JSON array of objects with a `schema`: generates a thousand times under them and writes JSON Lines), and folders of models.
//! Writes a report in Markdown; ends with 1 if something is wrong.

#![allow(clippy::print_stdout, clippy::print_stderr, clippy::expect_used)]

use grammata::limits::Limits;
use grammata::matcher::Constraint;
use grammata::syntax::json_schema;
use grammata::vocabulary::{LoadOptions, TokenId, Vocabulary};
use grammata::{Compiler, Result};
use grammata_decode::ort::{
    ChoiceCases, Device, ModelOptions, OrtModel, check_choices, library_info, time_choices,
};
use grammata_decode::{
    Choice, Decoder, Feed, GenerationOptions, Logits, Model, ModelFolder, NgramDraft, PromptTokenizer, Rows,
    SamplingParams, SequenceId, run_together, speculative,
};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[path = "support/sequences.rs"]
mod sequences;
mod support;

use sequences::check_sequences;
use support::{PROMPTS, SCHEMAS};

const BATCHES: [usize; 4] = [1, 4, 16, 32];
const TOKENS: usize = 96;

fn main() -> ExitCode {
    match run() {
        Ok(0) => ExitCode::SUCCESS,
        Ok(wrong) => {
            println!("\n**{wrong} checks failed**");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The number of checks that failed.
fn run() -> Result<usize> {
    let mut device = Device::Cuda(0);
    let mut models = Vec::new();
    let (mut quick, mut models_only) = (false, false);
    let mut jobs = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--cpu" => device = Device::Cpu,
            "--quick" => quick = true,
            "--models-only" => models_only = true,
            "--jobs" => jobs = arguments.next().map(PathBuf::from),
            "--cuda" => {
                let number = arguments.next().and_then(|number| number.parse().ok());
                device = Device::Cuda(number.unwrap_or(0));
            }
            // what cargo gives to every bench
            "--bench" => {}
            folder => models.push(PathBuf::from(folder)),
        }
    }
    println!("# Device check\n\nONNX Runtime: {}\n\ndevice: {device:?}\n", library_info()?);
    let mut wrong = 0;
    if !models_only {
        wrong += choices(device, quick)?;
        times(device, quick)?;
        wrong += sequences(device)?;
    }
    for folder in models {
        wrong += match &jobs {
            Some(jobs) => many(device, &folder, jobs)?,
            None => generations(device, &folder, quick)?,
        };
    }
    Ok(wrong)
}

/// Compares the choices of the device with those of the host.
fn choices(device: Device, quick: bool) -> Result<usize> {
    println!("## Choices, compared with the host\n");
    println!(
        "| vocabulary | batch | logits | choices | masked logits that differ | wrong | within 1e-5 of a boundary | greatest error of a log-probability | ms a batch |"
    );
    println!("|--:|--:|---|--:|--:|--:|--:|--:|--:|");
    let mut wrong = 0;
    for vocabulary in [1000, 32_000, 49_152, 128_256, 262_144] {
        for (batch, half) in [(1, false), (8, true), (32, false)] {
            if quick && vocabulary * batch > 2_000_000 {
                continue;
            }
            let rounds = (4_000_000 / (vocabulary * batch)).clamp(2, 64);
            let cases = ChoiceCases { vocabulary, batch, rounds, half, seed: 1 };
            let report = check_choices(device, &cases)?;
            wrong += usize::from(!report.is_right());
            println!(
                "| {vocabulary} | {batch} | {} | {} | {} | {} | {} | {:.1e} | {:.2} |",
                if half { "f16" } else { "f32" },
                report.choices,
                report.masked_logits,
                report.wrong,
                report.at_boundaries,
                report.log_probability_error,
                milliseconds(report.time) / rounds as f64,
            );
        }
    }
    Ok(wrong)
}

/// How long choices take from logits that are on the device.
fn times(device: Device, quick: bool) -> Result<()> {
    println!("\n## Time of choices from logits on the device, ms a batch, medians of 25\n");
    println!("| vocabulary | batch | greedy | temperature | top-k 40 and top-p 0.9 |\n|--:|--:|--:|--:|--:|");
    for (vocabulary, batch) in [(49_152, 1), (49_152, 32), (128_256, 1), (128_256, 32), (262_144, 32)] {
        if quick && vocabulary * batch > 200_000 {
            continue;
        }
        let sampled = SamplingParams::default().temperature(1.0);
        let samplings = [SamplingParams::default(), sampled.clone(), sampled.top_k(40).top_p(0.9)];
        let times = samplings.map(|sampling| time_choices(device, vocabulary, batch, &sampling));
        let mut row = format!("| {vocabulary} | {batch} |");
        for time in times {
            row += &format!(" {:.3} |", milliseconds(time?));
        }
        println!("{row}");
    }
    Ok(())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Forks, cuts and batches of different lengths on the device, against one sequence fed from its beginning.
fn sequences(device: Device) -> Result<usize> {
    let folder = ["tests/data/tiny-decoder", "../../tests/data/tiny-decoder"].map(Path::new);
    let folder = folder.into_iter().find(|folder| folder.is_dir()).unwrap_or(folder[0]);
    println!("\n## Forks, cuts and batches of the tiny decoder\n");
    let mut wrong = 0;
    for (name, tolerance) in [("model.onnx", 1e-3), ("model-f16.onnx", 5e-2)] {
        let checked = check_sequences(device, &folder.join(name), 1)?;
        for notice in &checked.notices {
            println!("{notice}");
            wrong += 1;
        }
        let worst = checked.difference;
        wrong += usize::from(worst > tolerance);
        println!("- `{name}`: greatest difference of a logit {worst:.1e} (allowed {tolerance:.0e})");
    }
    Ok(wrong)
}

/// A model that records its input.
struct Recorder<'m> {
    model: &'m mut OrtModel,
    /// of each run the sequences, their tokens and the number of rows wanted
    runs: Vec<Vec<(SequenceId, Vec<u32>)>>,
    times: Vec<Duration>,
}

impl Model for Recorder<'_> {
    fn vocabulary_size(&self) -> usize {
        self.model.vocabulary_size()
    }
    fn context_length(&self) -> Option<usize> {
        self.model.context_length()
    }
    fn open(&mut self) -> Result<SequenceId> {
        self.model.open()
    }
    fn fork(&mut self, sequence: SequenceId) -> Result<SequenceId> {
        self.model.fork(sequence)
    }
    fn truncate(&mut self, sequence: SequenceId, length: usize) -> Result<()> {
        self.model.truncate(sequence, length)
    }
    fn close(&mut self, sequence: SequenceId) {
        self.model.close(sequence);
    }
    fn length(&self, sequence: SequenceId) -> Result<usize> {
        self.model.length(sequence)
    }
    fn feed(&mut self, batch: &[Feed<'_>]) -> Result<Logits<'_>> {
        self.runs.push(batch.iter().map(|feed| (feed.sequence, feed.tokens.to_vec())).collect());
        let start = Instant::now();
        let logits = self.model.feed(batch)?;
        self.times.push(start.elapsed());
        Ok(logits)
    }
}

/// Generates under schemas in batches, on the device and with logits on the host, and the same tokens without masks.
fn generations(device: Device, folder: &Path, quick: bool) -> Result<usize> {
    let limits = Limits::default();
    let parts = ModelFolder::open(folder, &limits)?;
    let tokenizer = PromptTokenizer::from_file(&parts.tokenizer, &limits)?;
    let ends: Vec<TokenId> = parts.end_tokens.iter().map(|&id| TokenId::new(id)).collect();
    let vocabulary = Vocabulary::from_file(&parts.tokenizer, &LoadOptions::default().eos(ends))?;
    let vocabulary = Arc::new(vocabulary);
    println!("\n## {}\n", folder.display());
    println!(
        "{TOKENS} tokens at most, complete within them; 8 schemas and 4 prompts in turn; `replay` feeds the same tokens and takes the greatest logit without masks; warm, second of two runs\n"
    );
    println!(
        "| choices | logits | batch | complete | tokens | tokens/s | ms a step | of it the model | replay ms a step | constrained / replay | mask us mean | mask us max | sampling us a token | bytes a step: tokens | choices | chosen | logits |"
    );
    println!("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    let mut wrong = 0;
    for (place, on_device) in [("device", true), ("host", false)] {
        let options = ModelOptions::default()
            .device(device)
            .context_length(parts.context_length)
            .on_device(Some(on_device));
        let mut model = OrtModel::load(&parts.model, &options)?;
        let compiler = Compiler::new(Arc::clone(&vocabulary));
        let compile = |text: &&str| {
            compiler.compile(&json_schema::compile(text, &json_schema::Options::default())?.grammar)
        };
        let grammars = SCHEMAS.iter().map(compile).collect::<Result<Vec<_>>>()?;
        for (name, temperature, top_p) in [("greedy", 0.0, 1.0), ("top-p 0.9", 0.8, 0.9)] {
            for batch in BATCHES.into_iter().filter(|&batch| !quick || batch <= 4) {
                let sampling = SamplingParams::default().temperature(temperature).top_p(top_p);
                for warm in [false, true] {
                    let before = model.copied();
                    let mut recorder = Recorder { model: &mut model, runs: Vec::new(), times: Vec::new() };
                    let mut decoders = Vec::new();
                    for number in 0..batch {
                        let matcher = grammars[number % 8].matcher();
                        let options = GenerationOptions::default()
                            .max_tokens(TOKENS)
                            .end_tokens(parts.end_tokens.clone())
                            .sampling(sampling.clone().seed(number as u64));
                        let prompt = tokenizer.encode(PROMPTS[number % 4], true)?;
                        decoders.push(Decoder::new(
                            &mut recorder,
                            &*vocabulary,
                            Some(Box::new(matcher)),
                            &prompt,
                            &options,
                        )?);
                    }
                    let start = Instant::now();
                    run_together(&mut recorder, &mut decoders, &mut |_, event| {
                        if let Err(error) = event {
                            println!("{error}");
                        }
                    })?;
                    let time = start.elapsed();
                    let done: Vec<_> = decoders.into_iter().map(|d| d.close(&mut recorder)).collect();
                    let Recorder { runs, times, .. } = recorder;
                    let after = model.copied();
                    let complete = done
                        .iter()
                        .filter(|g| serde_json::from_str::<serde_json::Value>(&g.text).is_ok())
                        .count();
                    wrong += usize::from(complete < batch);
                    if !warm {
                        continue;
                    }
                    let replayed = replay(&mut model, &runs)?;
                    let tokens: usize = done.iter().map(|g| g.tokens.len()).sum();
                    let steps = runs.len().max(1) as f64;
                    let masks: usize = done.iter().map(|g| g.timings.masks).sum();
                    let mask: Duration = done.iter().map(|g| g.timings.mask).sum();
                    let mask_max = done.iter().map(|g| g.timings.mask_max).max().unwrap_or_default();
                    let sampling: Duration = done.iter().map(|g| g.timings.sampling).sum();
                    let a_step = |after: u64, before: u64| (after - before) as f64 / steps;
                    println!(
                        "| {name} | {place} | {batch} | {complete} | {tokens} | {:.0} | {:.2} | {:.2} | {:.2} | {:.2} | {:.1} | {:.0} | {:.1} | {:.0} | {:.0} | {:.0} | {:.0} |",
                        tokens as f64 / time.as_secs_f64(),
                        milliseconds(time) / steps,
                        milliseconds(times.iter().sum()) / steps,
                        milliseconds(replayed) / steps,
                        time.as_secs_f64() / replayed.as_secs_f64(),
                        milliseconds(mask) * 1000.0 / masks.max(1) as f64,
                        milliseconds(mask_max) * 1000.0,
                        milliseconds(sampling) * 1000.0 / tokens.max(1) as f64,
                        a_step(after.tokens, before.tokens),
                        a_step(after.choices, before.choices),
                        a_step(after.chosen, before.chosen),
                        a_step(after.logits, before.logits),
                    );
                }
            }
        }
    }
    Ok(wrong)
}

/// Generates a thousand outputs under the schemas of a file, in batches of 32 with random limits. Each output is
/// written with its limit as a line of JSON. Then generates some greedily, with speculation and without.
fn many(device: Device, folder: &Path, jobs: &Path) -> Result<usize> {
    let limits = Limits::default();
    let parts = ModelFolder::open(folder, &limits)?;
    let tokenizer = PromptTokenizer::from_file(&parts.tokenizer, &limits)?;
    let ends: Vec<TokenId> = parts.end_tokens.iter().map(|&id| TokenId::new(id)).collect();
    let vocabulary = Arc::new(Vocabulary::from_file(&parts.tokenizer, &LoadOptions::default().eos(ends))?);
    let text = std::fs::read_to_string(jobs).expect("the file of jobs");
    let jobs: Vec<serde_json::Value> = serde_json::from_str(&text).expect("a JSON array");
    let compiler = Compiler::new(Arc::clone(&vocabulary));
    let compile = |job: &serde_json::Value| {
        let schema = job.get("schema").unwrap_or(job).to_string();
        compiler.compile(&json_schema::compile(&schema, &json_schema::Options::default())?.grammar)
    };
    let grammars = jobs.iter().map(compile).collect::<Result<Vec<_>>>()?;
    let options = ModelOptions::default().device(device).context_length(parts.context_length);
    let mut model = OrtModel::load(&parts.model, &options)?;
    let mut random = 1_u64;
    // the least limit from a random one on within which a completion is known
    let mut limit = |grammar: usize| -> Result<usize> {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut limit = 20 + (random >> 33) as usize % 180;
        while grammars[grammar].matcher().check_budget(limit).is_err() && limit < 4000 {
            limit += 10;
        }
        Ok(limit)
    };
    let request = |number: usize, limit: usize| {
        GenerationOptions::default()
            .max_tokens(limit)
            .end_tokens(parts.end_tokens.clone())
            .sampling(SamplingParams::default().temperature(0.8).top_p(0.95).seed(number as u64))
    };
    let (mut wrong, start, mut tokens) = (0, Instant::now(), 0);
    for first in (0..1000).step_by(32) {
        let mut decoders = Vec::new();
        let mut made = Vec::new();
        for number in first..(first + 32).min(1000) {
            let grammar = number % grammars.len();
            let limit = limit(grammar)?;
            let prompt = tokenizer.encode(PROMPTS[number % 4], true)?;
            let matcher = Box::new(grammars[grammar].matcher());
            decoders.push(Decoder::new(
                &mut model,
                &*vocabulary,
                Some(matcher),
                &prompt,
                &request(number, limit),
            )?);
            made.push((grammar, limit));
        }
        run_together(&mut model, &mut decoders, &mut |place, event| {
            if let Err(error) = event {
                println!("{place}: {error}");
            }
        })?;
        for (decoder, (grammar, limit)) in decoders.into_iter().zip(made) {
            let output = decoder.close(&mut model);
            tokens += output.tokens.len();
            let whole = serde_json::from_str::<serde_json::Value>(&output.text).is_ok();
            wrong += usize::from(!whole || output.tokens.len() > limit);
            let line = serde_json::json!({"job": grammar, "limit": limit, "tokens": output.tokens.len(), "text": output.text});
            eprintln!("{line}");
        }
    }
    let time = start.elapsed().as_secs_f64();
    println!(
        "1000 outputs, {tokens} tokens, {:.0} tokens/s; {wrong} not whole or over their limit",
        tokens as f64 / time
    );
    let mut same = 0;
    for number in 0..20 {
        let mut texts = Vec::new();
        let prompt = tokenizer.encode(PROMPTS[number % 4], true)?;
        let limit = limit(number)?;
        let greedy = request(number, limit).sampling(SamplingParams::default());
        for draft in [0, 4] {
            let mut matcher = grammars[number].matcher();
            let constraint = Some(&mut matcher as &mut dyn Constraint);
            let output = speculative(
                &mut model,
                &*vocabulary,
                constraint,
                &prompt,
                &greedy,
                &mut NgramDraft::default(),
                draft,
            )?;
            texts.push(output.text);
        }
        same += usize::from(texts[0] == texts[1]);
    }
    println!("20 greedy texts with speculation and without: {same} equal");
    Ok(wrong)
}

/// Feeds the same again to new sequences, and takes the greatest logit of each row; how long that took.
fn replay(model: &mut OrtModel, runs: &[Vec<(SequenceId, Vec<u32>)>]) -> Result<Duration> {
    let mut ids: Vec<(SequenceId, SequenceId)> = Vec::new();
    let greedy = SamplingParams::default();
    let mut total = Duration::ZERO;
    for run in runs {
        for (old, _) in run {
            if !ids.iter().any(|(known, _)| known == old) {
                ids.push((*old, model.open()?));
            }
        }
        let new = |old: &SequenceId| ids.iter().find(|(known, _)| known == old).map_or(*old, |&(_, new)| new);
        let batch: Vec<Feed<'_>> =
            run.iter().map(|(old, tokens)| Feed { sequence: new(old), tokens, rows: Rows::Last }).collect();
        let start = Instant::now();
        let logits = model.feed(&batch)?;
        let choice =
            |row| Choice { row, mask: None, sampling: &greedy, penalised: &[], uniform: 0.0, scored: false };
        match &logits {
            Logits::Device(device) => {
                let choices: Vec<Choice<'_>> = (0..run.len()).map(choice).collect();
                for chosen in device.choose(&choices)? {
                    chosen?;
                }
            }
            Logits::Host(rows) => {
                let mut sampler = grammata_decode::Sampler::new(greedy.clone())?;
                for row in rows {
                    sampler.sample(row, None)?;
                }
            }
        }
        total += start.elapsed();
    }
    for (_, new) in ids {
        model.close(new);
    }
    Ok(total)
}
