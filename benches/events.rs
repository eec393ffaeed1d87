//! The cost of events: masks and steps along documents, with a matcher that reports events and with one that does not.
//!
//! `cargo bench --bench events -- [--schemas FILE.jsonl[.gz]] [--count N] [--long MIB]`; the default schemas are those
//! of `tests/data/maskbench-sample.jsonl`, the tokenizer is SmolLM2's. Documents of up to N schemas (1,000 by default)
//! are followed token by token: a mask, then the step, as a decoder does. Each matcher has a compiled grammar of its
//! own; the order of the two alternates from document to document. Printed are the times of the first visits and those
//! of the fastest of eight further walks along the same tokens, with masks and of steps alone. `--long` follows a text of this many MiB.

#![allow(clippy::print_stdout)]

use flate2::read::MultiGzDecoder;
use grammata::matcher::EventMatcher;
use grammata::syntax::json_schema;
use grammata::{CompiledGrammar, Compiler, Result, TokenId, Vocabulary};
use serde_json::Value;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The number of walks after the first one.
const AGAIN: usize = 8;

/// Times without and with events.
#[derive(Default)]
struct Times([Duration; 2]);

impl Times {
    fn show(&self, name: &str, tokens: usize) {
        let micros = |time: Duration| time.as_secs_f64() * 1e6 / tokens as f64;
        let [plain, events] = self.0.map(micros);
        let percent = 100.0 * (events / plain - 1.0);
        println!("{name}: {plain:.3} µs a token, {events:.3} with events, {percent:+.1} %");
    }
}

/// Follows the tokens and returns the time. With `words` the mask before each token is computed.
fn walk(mut matcher: EventMatcher, tokens: &[TokenId], words: Option<&mut [u32]>) -> Result<Duration> {
    let mut words = words;
    let start = Instant::now();
    for &token in tokens {
        if let Some(words) = words.as_deref_mut() {
            matcher.matcher().fill_mask(words)?;
        }
        matcher.accept_token(token)?;
        if let Some(event) = matcher.new_events().last() {
            black_box(event.bytes());
        }
    }
    Ok(start.elapsed())
}

fn lines(path: &Path) -> Vec<Value> {
    let file = std::fs::File::open(path).expect("the file of schemas can be opened");
    let reader: Box<dyn Read> = match path.extension().is_some_and(|extension| extension == "gz") {
        true => Box::new(MultiGzDecoder::new(file)),
        false => Box::new(file),
    };
    let lines = BufReader::new(reader).lines();
    lines.map(|line| serde_json::from_str(&line.expect("UTF-8")).expect("JSON")).collect()
}

/// A text of many values: a list of objects.
fn long(compiled: &CompiledGrammar, mib: usize) -> Result<()> {
    let item = r#"{"name": "Ada", "tags": ["a", "bc"], "numbers": [1, 2.5, -3e7], "ok": true}"#;
    let mut text = String::from("[");
    while text.len() < mib << 20 {
        text.push_str(item);
        text.push_str(", ");
    }
    text.push_str("null]");
    let Some(mut tokens) = compiled.vocabulary().encode_greedy(text.as_bytes()) else { return Ok(()) };
    tokens.push(compiled.vocabulary().eos()[0]);
    for matcher in [EventMatcher::from(compiled.matcher()), compiled.json_events()] {
        let mut matcher = matcher;
        let start = Instant::now();
        for &token in &tokens {
            matcher.accept_token(token)?;
            black_box(matcher.new_events().len());
        }
        let (time, events) = (start.elapsed(), matcher.events().len());
        println!("{} bytes, {} tokens, {events} events in {time:.2?}", text.len(), tokens.len());
    }
    Ok(())
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let option = |name: &str| arguments.iter().position(|a| a == name).and_then(|at| arguments.get(at + 1));
    let number = |name: &str| option(name).and_then(|number| number.parse::<usize>().ok());
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = root.join("tests/data/smollm2/tokenizer.json");
    let vocabulary = Arc::new(Vocabulary::from_file(file, &Default::default())?);
    if let Some(mib) = number("--long") {
        let schema = json_schema::compile("{}", &json_schema::Options::default())?;
        return long(&Compiler::new(vocabulary).compile(&schema.grammar)?, mib);
    }
    let sample = root.join("tests/data/maskbench-sample.jsonl");
    let lines = lines(option("--schemas").map_or(&*sample, Path::new));
    let count = number("--count").unwrap_or(1_000).min(lines.len());
    let mut words = vec![0; vocabulary.mask_words()];
    let (mut first, mut again, mut steps) = (Times::default(), Times::default(), Times::default());
    let (mut documents, mut tokens) = (0, 0);
    for place in 0..count {
        let line = &lines[place * lines.len() / count];
        let source = line["schema"].as_str().map_or_else(|| line["schema"].to_string(), str::to_owned);
        let valid = line["tests"].as_array().into_iter().flatten().find(|test| test["valid"] == true);
        let Some(valid) = valid else { continue };
        let text = valid["text"].as_str().map_or_else(|| valid["data"].to_string(), str::to_owned);
        let Some(mut ids) = vocabulary.encode_greedy(text.as_bytes()) else { continue };
        ids.push(vocabulary.eos()[0]);
        let Ok(schema) = json_schema::compile(&source, &json_schema::Options::default()) else { continue };
        let compile = || Compiler::new(Arc::clone(&vocabulary)).compile(&schema.grammar);
        let Ok(tried) = compile() else { continue };
        if tried.matcher().validate_tokens(&ids)? < ids.len() {
            continue;
        }
        let (Ok(plain), Ok(other)) = (compile(), compile()) else { continue };
        let makes: [&dyn Fn() -> EventMatcher; 2] = [&|| plain.matcher().into(), &|| other.json_events()];
        let mut least = [[Duration::MAX; 2]; 2];
        for round in 0..=AGAIN {
            for turn in 0..2 {
                let arm = (turn + documents + round) % 2;
                let time = walk(makes[arm](), &ids, Some(&mut words))?;
                if round == 0 {
                    first.0[arm] += time;
                    continue;
                }
                least[0][arm] = least[0][arm].min(time);
                least[1][arm] = least[1][arm].min(walk(makes[arm](), &ids, None)?);
            }
        }
        let [masks, alone] = least;
        again.0.iter_mut().zip(masks).for_each(|(sum, time)| *sum += time);
        steps.0.iter_mut().zip(alone).for_each(|(sum, time)| *sum += time);
        documents += 1;
        tokens += ids.len();
    }
    println!("{documents} documents, {tokens} tokens");
    first.show("masks and steps, first visits", tokens);
    again.show("masks and steps, again", tokens);
    steps.show("steps alone, again", tokens);
    Ok(())
}
