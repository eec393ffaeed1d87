//! Outputs under JSON Schemas, within random budgets, in batches and with speculation: all are complete and valid.
//!
//! By default the test uses a sample of schemas and a model of random logits. `GRAMMATA_GENERATIONS` sets the number of
//! outputs. `GRAMMATA_SCHEMAS` names a file of JSON Lines with the member `schema`, or a folder of schemas, and
//! `GRAMMATA_MODEL` a folder with an ONNX model (`cargo xtask full generations`). Greedy texts with and without drafts
//! are compared, so the model must compute with 32-bit floats (`xtask/scripts/smollm2.py DEST --float`): with 8-bit
//! inputs its logits depend on the number of tokens of a run.

use grammata::matcher::Constraint;
use grammata::vocabulary::{LoadOptions, TokenId};
use grammata::{CompiledGrammar, Compiler, Vocabulary, syntax::json_schema};
use grammata_decode::{
    Feed, ForcedDraft, Generation, GenerationOptions, Model, NgramDraft, RandomLogits, Request, RequestId,
    Rows, SamplingParams, Scheduler, SchedulerOptions, generate, speculative,
};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most sequences of a batch.
const MOST_TOGETHER: usize = 16;
/// One in this many outputs is generated again greedily, with and without speculation.
const COMPARED: usize = 5;

const PROMPT: &str = "Write a record as JSON.";

/// A model with its vocabulary, and the prompt and end tokens of all its tasks.
struct Subject {
    model: Box<dyn Model>,
    vocabulary: Arc<Vocabulary>,
    prompt: Vec<u32>,
    ends: Vec<u32>,
}

struct Schema {
    name: String,
    compiled: CompiledGrammar,
    validator: jsonschema::Validator,
}

/// An output to generate: the index of its schema, and the options.
#[derive(Clone)]
struct Job {
    schema: usize,
    options: GenerationOptions,
}

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from)
}

fn model() -> Subject {
    #[cfg(all(feature = "ort", feature = "huggingface"))]
    if let Some(folder) = variable("GRAMMATA_MODEL") {
        return network(&folder);
    }
    let path = Path::new(crate::ROOT).join("tests/data/smollm2/tokenizer.json");
    let vocabulary = Arc::new(Vocabulary::from_file(&path, &LoadOptions::default()).unwrap());
    let ends = vocabulary.eos().iter().map(|token| token.get()).collect();
    let model = Box::new(RandomLogits::new(vocabulary.width(), 44));
    Subject { model, vocabulary, prompt: (100..140).collect(), ends }
}

#[cfg(all(feature = "ort", feature = "huggingface"))]
fn network(folder: &Path) -> Subject {
    use grammata::limits::Limits;
    use grammata_decode::ort::{ModelOptions, OrtModel};
    use grammata_decode::{ModelFolder, PromptTokenizer};
    let limits = Limits::default();
    let parts = ModelFolder::open(folder, &limits).unwrap();
    let tokenizer = PromptTokenizer::from_file(&parts.tokenizer, &limits).unwrap();
    let eos: Vec<TokenId> = parts.end_tokens.iter().map(|&id| TokenId::new(id)).collect();
    let vocabulary = Vocabulary::from_file(&parts.tokenizer, &LoadOptions::default().eos(eos)).unwrap();
    let options = ModelOptions::default().context_length(parts.context_length);
    Subject {
        model: Box::new(OrtModel::load(&parts.model, &options).unwrap()),
        vocabulary: Arc::new(vocabulary),
        prompt: tokenizer.encode(PROMPT, true).unwrap(),
        ends: parts.end_tokens,
    }
}

/// Returns the schemas with their names: the member `schema` of each line of a file, or each file of a folder.
fn schemas() -> Vec<(String, Value)> {
    let path = variable("GRAMMATA_SCHEMAS")
        .unwrap_or_else(|| Path::new(crate::ROOT).join("tests/data/maskbench-sample.jsonl"));
    let read =
        |path: &Path| std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    if path.is_dir() {
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let schema =
            |file: &PathBuf| (file.display().to_string(), serde_json::from_str(&read(file)).unwrap());
        return files.iter().map(schema).collect();
    }
    let line = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        // in some files the schema is a text
        let schema = match &row["schema"] {
            Value::String(text) => serde_json::from_str(text).unwrap(),
            schema => schema.clone(),
        };
        (row["id"].as_str().unwrap_or_default().to_owned(), schema)
    };
    read(&path).lines().filter(|text| !text.trim().is_empty()).map(line).collect()
}

/// Compiles the schemas. Those that do not compile, or that the validator does not support, are left out.
fn compiled(compiler: &Compiler) -> Vec<Schema> {
    let compile = |(name, schema): (String, Value)| {
        let grammar =
            json_schema::compile(&schema.to_string(), &json_schema::Options::default()).ok()?.grammar;
        let compiled = compiler.compile(&grammar).ok()?;
        let validator = jsonschema::options().should_validate_formats(true).build(&schema).ok()?;
        Some(Schema { name, compiled, validator })
    };
    schemas().into_iter().filter_map(compile).collect()
}

#[track_caller]
fn check(schema: &Schema, job: &Job, output: &Generation) {
    let what = format!("{}, {} tokens: {:?}", schema.name, job.options.max_tokens, output.text);
    assert!(output.finish.is_complete(), "{}: {what}", output.finish);
    assert!(output.tokens.len() <= job.options.max_tokens, "{} tokens: {what}", output.tokens.len());
    let value: Value = serde_json::from_str(&output.text).unwrap_or_else(|error| panic!("{error}: {what}"));
    assert!(schema.validator.is_valid(&value), "not valid: {what}");
}

#[test]
fn outputs_are_complete_and_valid() {
    let count = std::env::var("GRAMMATA_GENERATIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(50_usize);
    let Subject { mut model, vocabulary, prompt, ends } = model();
    let schemas = compiled(&Compiler::new(Arc::clone(&vocabulary)));
    assert!(schemas.len() > 5, "{} schemas", schemas.len());
    let mut random = ChaCha8Rng::seed_from_u64(44);
    let mut below = |bound: u32| random.next_u32() % bound;
    let mut jobs = Vec::new();
    for number in 0..count {
        let schema = number % schemas.len();
        // a random budget, raised until a completion within it is known
        let mut budget = 8 + below(120) as usize;
        while schemas[schema].compiled.matcher().check_budget(budget).is_err() && budget < 4000 {
            budget += 10;
        }
        let temperature = [0.0, 0.8, 1.5][below(3) as usize];
        let sampling = SamplingParams::default().temperature(temperature).seed(number as u64);
        let options = GenerationOptions::default()
            .max_tokens(budget)
            .end_tokens(ends.clone())
            .sampling(sampling)
            .overlap(below(4) > 0)
            .prompt_lookup([0, 4][below(2) as usize])
            .log_probabilities(below(4) == 0);
        jobs.push(Job { schema, options });
    }
    let (mut waiting, mut done) = (jobs.iter(), 0);
    while done < count {
        let batch = 1 + below(MOST_TOGETHER as u32) as usize;
        let options = SchedulerOptions::default().batch(batch).prompt_tokens(1 + below(60) as usize);
        let mut scheduler = Scheduler::new(&*vocabulary, options);
        let mut running: BTreeMap<RequestId, &Job> = BTreeMap::new();
        for job in waiting.by_ref().take(3 * batch) {
            let constraint: Box<dyn Constraint> = Box::new(schemas[job.schema].compiled.matcher());
            let request = Request::new(prompt.clone(), Some(constraint), job.options.clone());
            running.insert(scheduler.submit(request).unwrap(), job);
        }
        while !scheduler.is_empty() {
            for ended in scheduler.step(&mut *model, &mut |_, _| {}) {
                let job = running[&ended.id];
                let schema = &schemas[job.schema];
                let output = ended.result.unwrap_or_else(|error| panic!("{}: {error}", schema.name));
                check(schema, job, &output);
                done += 1;
            }
        }
        scheduler.close(&mut *model);
    }
    let (mut compared, mut ties) = (0, 0);
    for job in jobs.iter().step_by(COMPARED) {
        let schema = &schemas[job.schema];
        let options = job.options.clone().sampling(SamplingParams::default()).prompt_lookup(0);
        let mut matcher = schema.compiled.matcher();
        let plain = generate(&mut *model, &*vocabulary, Some(&mut matcher), &prompt, &options).unwrap();
        check(schema, job, &plain);
        for most in [2, 5] {
            let mut matcher = schema.compiled.matcher();
            let constraint = Some(&mut matcher as &mut dyn Constraint);
            let (mut lookup, mut forced) = (NgramDraft::default(), ForcedDraft);
            let draft: &mut dyn grammata_decode::Draft = if most == 2 { &mut forced } else { &mut lookup };
            let drafted =
                speculative(&mut *model, &*vocabulary, constraint, &prompt, &options, draft, most).unwrap();
            compared += 1;
            if drafted.tokens != plain.tokens {
                let what = format!("{}, drafts of {most}: {:?}, {:?}", schema.name, drafted.text, plain.text);
                check_tie(&mut *model, &prompt, &plain.tokens, &drafted.tokens, &what);
                ties += 1;
            }
        }
    }
    eprintln!("{compared} greedy outputs with drafts compared, {ties} parted at a tie");
    assert!(ties * 20 <= compared, "{ties} ties in {compared} outputs: are sums not of 32-bit floats?");
}

/// Checks that two greedy outputs first differ at a tie: at a position where the logits of the two tokens are as close
/// as rounding makes logits inexact. A pass over several tokens adds in another order than passes over one token, so
/// the greater of two such logits is not determined. The bound is twice the greatest difference between the logits of
/// both kinds of passes at that position.
#[track_caller]
fn check_tie(model: &mut dyn Model, prompt: &[u32], left: &[u32], right: &[u32], what: &str) {
    let parted = left.iter().zip(right).position(|(one, other)| one != other);
    let parted = parted.unwrap_or_else(|| panic!("one output is the beginning of the other: {what}"));
    let tokens = [prompt, &left[..parted]].concat();
    let together = last_logits(model, &tokens, tokens.len());
    let singly = last_logits(model, &tokens, 1);
    let inexact = together.iter().zip(&singly).map(|(one, other)| (one - other).abs()).fold(0.0, f32::max);
    let between = |logits: &[f32]| logits[left[parted] as usize] - logits[right[parted] as usize];
    let (together, singly) = (between(&together), between(&singly));
    eprintln!("logits that differ by {together} and {singly}, inexact by {inexact}: {what}");
    assert!(together.abs().min(singly.abs()) <= 2.0 * inexact, "{together}, {singly}, {inexact}: {what}");
}

/// Returns the logits after tokens that are fed in pieces of at most `most`.
fn last_logits(model: &mut dyn Model, tokens: &[u32], most: usize) -> Vec<f32> {
    let sequence = model.open().unwrap();
    let (mut row, mut buffer) = (Vec::new(), Vec::new());
    for piece in tokens.chunks(most) {
        let feed = Feed { sequence, tokens: piece, rows: Rows::Last };
        row = model.feed(&[feed]).unwrap().row(0, &mut buffer).unwrap().to_vec();
    }
    model.close(sequence);
    row
}
