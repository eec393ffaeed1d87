//! The costs of forks, truncations, batches and drafts on a model: `cargo run --profile quick --features ort --example
//! sequence_costs` (after `cargo xtask setup`; another model's folder may be named).
#![allow(clippy::print_stdout)] // an example prints its results

use grammata::matcher::Constraint;
use grammata::syntax::json_schema;
use grammata::vocabulary::{LoadOptions, TokenId, Vocabulary};
use grammata::{Compiler, Limits, Result};
use grammata_decode::ort::{ModelOptions, OrtModel};
use grammata_decode::{
    Feed, ForcedDraft, Generation, GenerationOptions, Model, ModelFolder, NgramDraft, PromptTokenizer, Rows,
    SequenceId, generate, speculative,
};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Each figure is the median of this many measurements.
const REPEATS: usize = 7;

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| ".models/smollm2".to_owned());
    let limits = Limits::default();
    let folder = ModelFolder::open(Path::new(&path), &limits)?;
    let options = ModelOptions::default().context_length(folder.context_length);
    let mut model = OrtModel::load(&folder.model, &options)?;
    let length = folder.context_length.unwrap_or(4096).min(620) - 120;
    let vocabulary = model.vocabulary_size() as u32;
    let tokens: Vec<u32> = (0..length as u32).map(|i| (i * 7919 + 40) % vocabulary).collect();

    let feed = |model: &mut OrtModel, sequence, tokens: &[u32]| -> Result<()> {
        model.feed(&[Feed { sequence, tokens, rows: Rows::Last }]).map(|_| ())
    };
    let first = model.open()?;
    feed(&mut model, first, &tokens)?;
    println!("sequence of {length} tokens");
    let mut measure = |what: &str, work: &mut dyn FnMut(&mut OrtModel) -> Result<SequenceId>| -> Result<()> {
        let mut times = Vec::new();
        for _ in 0..REPEATS {
            let start = Instant::now();
            let sequence = work(&mut model)?;
            times.push(start.elapsed());
            model.close(sequence);
        }
        println!("  {what}: {:.2?}", median(times));
        Ok(())
    };
    measure("fork", &mut |model| model.fork(first))?;
    measure("fork and feed one token", &mut |model| {
        let sequence = model.fork(first)?;
        feed(model, sequence, &[7])?;
        Ok(sequence)
    })?;
    measure("fork, cut to half and feed one token", &mut |model| {
        let sequence = model.fork(first)?;
        model.truncate(sequence, length / 2)?;
        feed(model, sequence, &[7])?;
        Ok(sequence)
    })?;
    measure("feed all again, and one token", &mut |model| {
        let sequence = model.open()?;
        feed(model, sequence, &[&tokens[..], &[7]].concat())?;
        Ok(sequence)
    })?;
    batches(&mut model, first)?;
    drafts(&mut model, &folder)?;
    Ok(())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Measures forks that are fed one token each: in a batch of constant order, in a batch whose order changes, and one by
/// one.
fn batches(model: &mut OrtModel, first: SequenceId) -> Result<()> {
    for count in [1, 2, 4, 8] {
        let mut forks = (0..count).map(|_| model.fork(first)).collect::<Result<Vec<_>>>()?;
        let mut times = [Vec::new(), Vec::new(), Vec::new()];
        for (kind, times) in times.iter_mut().enumerate() {
            for _ in 0..REPEATS {
                if kind == 1 {
                    forks.reverse();
                }
                let feeds: Vec<Feed<'_>> =
                    forks.iter().map(|&sequence| Feed { sequence, tokens: &[7], rows: Rows::Last }).collect();
                let start = Instant::now();
                match kind {
                    2 => feeds.chunks(1).try_for_each(|feed| model.feed(feed).map(|_| ()))?,
                    _ => model.feed(&feeds).map(|_| ())?,
                }
                times.push(start.elapsed());
            }
        }
        let [same, changed, alone] = times.map(median);
        println!(
            "  {count} forks, one token each: in a batch {same:.2?}, in changing order {changed:.2?}, one by one {alone:.2?}"
        );
        forks.into_iter().for_each(|fork| model.close(fork));
    }
    Ok(())
}

/// Generates a JSON text with and without drafts, and prints the times.
fn drafts(model: &mut OrtModel, folder: &ModelFolder) -> Result<()> {
    let limits = Limits::default();
    let tokenizer = PromptTokenizer::from_file(&folder.tokenizer, &limits)?;
    let record = r#"{"name":"Ada Lovelace","profession":"mathematician","known_for":["the first program","notes on the Analytical Engine"]}"#;
    let prompt = format!("Copy this JSON and nothing else: {record}\n");
    let prompt = tokenizer.encode(&prompt, false)?;
    let eos = folder.end_tokens.iter().map(|&id| TokenId::new(id)).collect();
    let vocabulary = Arc::new(Vocabulary::from_file(&folder.tokenizer, &LoadOptions::default().eos(eos))?);
    let schema = r#"{"type":"object","properties":{"name":{"type":"string"},"profession":{"type":"string"},
        "known_for":{"type":"array","items":{"type":"string"},"maxItems":3}},"required":["name","profession","known_for"],
        "additionalProperties":false}"#;
    let options = json_schema::Options::default().whitespace(json_schema::Whitespace::Compact);
    let grammar = json_schema::compile(schema, &options)?.grammar;
    let compiled = Compiler::new(Arc::clone(&vocabulary)).compile(&grammar)?;
    let options = GenerationOptions::default().end_tokens(folder.end_tokens.clone()).max_tokens(60);
    let show = |what: &str, generation: &Generation| {
        let timings = &generation.timings;
        println!(
            "  {what}: {} tokens in {:.2?}, {} steps; {} of {} drafted tokens right",
            timings.tokens,
            timings.decode,
            timings.model_steps,
            timings.accepted_tokens,
            timings.drafted_tokens
        );
    };
    let mut constraint = compiled.matcher();
    let plain =
        generate(model, &*vocabulary, Some(&mut constraint as &mut dyn Constraint), &prompt, &options)?;
    println!("{}", plain.text);
    show("without drafts", &plain);
    for most in [4, 8] {
        let mut constraint = compiled.matcher();
        let mut draft = NgramDraft::default();
        let found =
            speculative(model, &*vocabulary, Some(&mut constraint), &prompt, &options, &mut draft, most)?;
        show(&format!("n-gram drafts of {most}"), &found);
        println!("  the same text: {}", found.text == plain.text);
    }
    let mut constraint = compiled.matcher();
    let found =
        speculative(model, &*vocabulary, Some(&mut constraint), &prompt, &options, &mut ForcedDraft, 8)?;
    show("forced drafts", &found);
    println!("  the same text: {}", found.text == plain.text);
    Ok(())
}
