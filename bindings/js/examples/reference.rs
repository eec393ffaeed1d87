//! What the package must do: walks through grammars, as the engine takes them on the machine that builds it.
//!
//! `reference TOKENIZER CASES RANDOM STEPS` reads the cases, an array of objects with `name`, `notation` and `text`,
//! draws RANDOM further schemas, and prints a line of JSON for each: the code of its error, or walks with at most STEPS
//! tokens each, the digest of each mask, of each mask within a budget, and the time of each mask in nanoseconds. The tests
//! in `tests/masks.mjs` take the same walks through the package.

use grammata::automaton::Automaton;
use grammata::automaton::samples::{Distribution, samples};
use grammata::automaton::words::Letter;
use grammata::syntax::json_schema::Whitespace;
use grammata::syntax::{Notation, Source, json_schema, lark, parse};
use grammata::vocabulary::LoadOptions;
use grammata::{CompiledGrammar, Compiler, Diagnostic, Error, ErrorKind, Result, TokenId, Vocabulary};
use grammata_testing::generate::{Choices, random_schema};
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

/// Walks through each grammar of the cases; a random schema has one.
const WALKS: usize = 3;

/// Tokens of the budget at the beginning of a walk.
const BUDGET: usize = 40;

/// The digest of a mask, as `tests/digest.mjs` computes it: two hashes of 32 bits.
fn digest(words: &[u32]) -> String {
    let (mut first, mut second) = (0x811c_9dc5_u32, 1_u32);
    for &word in words {
        first = (first ^ word).wrapping_mul(0x0100_0193);
        second = second.wrapping_add(word).wrapping_mul(0x85eb_ca6b);
        second ^= second >> 15;
    }
    format!("{first:08x}{second:08x}")
}

/// A word of the grammar as tokens, to walk along; none if it has token terminals or no short word is found.
fn plan(compiled: &CompiledGrammar, random: &mut ChaCha8Rng) -> Vec<TokenId> {
    let mut word = || -> Result<Vec<Letter>> {
        let automaton = Automaton::new(compiled.grammar(), compiled.automaton().limits())?;
        samples(&automaton, Distribution::Walk, 300)?.draw(random)
    };
    let bytes: Option<Vec<u8>> = word().ok().and_then(|word| {
        let byte = |letter: &Letter| match letter {
            Letter::Byte(byte) => Some(*byte),
            Letter::Token(_) => None,
        };
        word.iter().map(byte).collect()
    });
    bytes.and_then(|bytes| compiled.vocabulary().encode_greedy(&bytes)).unwrap_or_default()
}

/// A walk: mostly along a word of the grammar, and once in a while to any token that the mask has.
fn walk(compiled: &CompiledGrammar, steps: usize, random: &mut ChaCha8Rng) -> Result<Value> {
    let mut plan = plan(compiled, random).into_iter();
    let mut matcher = compiled.matcher();
    let mut words = vec![0; compiled.vocabulary().mask_words()];
    let (mut tokens, mut masks, mut within, mut nanos) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for step in 0..steps {
        let begun = Instant::now();
        matcher.fill_mask(&mut words)?;
        nanos.push(begun.elapsed().as_nanos() as u64);
        masks.push(digest(&words));
        let mut bounded = words.clone();
        within.push(match matcher.fill_mask_within(BUDGET.saturating_sub(step), &mut bounded) {
            Ok(()) => digest(&bounded),
            Err(error) => error.code().to_owned(),
        });
        let allowed: Vec<u32> = (0..32 * words.len() as u32)
            .filter(|&id| words[id as usize / 32] >> (id % 32) & 1 == 1)
            .collect();
        if allowed.is_empty() {
            break;
        }
        let end = matcher.compiled().end_tokens().iter().copied().find(|end| allowed.contains(&end.get()));
        let any = TokenId::new(allowed[random.random_range(0..allowed.len())]);
        let strays = random.random_range(0..16) == 0;
        let next = match plan.next().filter(|token| !strays && allowed.contains(&token.get())) {
            Some(token) => token,
            None => {
                plan = Vec::new().into_iter();
                end.filter(|_| !strays).unwrap_or(any)
            }
        };
        matcher.accept_token(next)?;
        tokens.push(next.get());
    }
    Ok(json!({ "tokens": tokens, "masks": masks, "within": within, "nanos": nanos }))
}

fn unknown(notation: &str) -> Error {
    Error::new(ErrorKind::Usage, Diagnostic::new("reference/notation", "no such notation").found(notation))
}

fn run(compiler: &Compiler, case: &Value, walks: usize, steps: usize, seed: u64) -> Result<Value> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let text = |name: &str| case[name].as_str().unwrap_or_default();
    let notation = Notation::ALL.into_iter().find(|notation| notation.id() == text("notation"));
    let source = match notation {
        // the package has the defaults of the other packages, which bound white space
        Some(Notation::JsonSchema) => {
            let options = json_schema::Options::default().whitespace(Whitespace::Short);
            Source::JsonSchema(text("text").to_owned(), options.grammars(Some(lark::IN_STRINGS)))
        }
        notation => Source::new(notation.ok_or_else(|| unknown(text("notation")))?, text("text")),
    };
    let begun = Instant::now();
    let compiled = compiler.compile(&parse(&source)?.grammar)?;
    let compile = begun.elapsed().as_nanos() as u64;
    let walks: Vec<Value> = (0..walks).map(|_| walk(&compiled, steps, &mut random)).collect::<Result<_>>()?;
    Ok(json!({ "walks": walks, "compileNanos": compile }))
}

fn print(mut case: Value, result: Result<Value>) -> std::io::Result<()> {
    case["error"] = result.as_ref().err().map(Error::code).into();
    case["result"] = result.unwrap_or_default();
    writeln!(std::io::stdout().lock(), "{case}")
}

fn all(arguments: &[String]) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let [tokenizer, cases, count, steps] = arguments else {
        return Err("usage: reference TOKENIZER CASES RANDOM STEPS".into());
    };
    let (count, steps): (u64, usize) = (count.parse()?, steps.parse()?);
    let vocabulary = Vocabulary::from_file(tokenizer, &LoadOptions::default())?;
    let compiler = Compiler::new(Arc::new(vocabulary));
    compiler.prepare()?;
    let cases: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(cases)?)?;
    for (seed, case) in (0..).zip(cases) {
        let result = run(&compiler, &case, WALKS, steps, seed);
        print(case, result)?;
    }
    for seed in 0..count {
        let mut bytes = vec![0; 300];
        ChaCha8Rng::seed_from_u64(seed).fill_bytes(&mut bytes);
        let text = random_schema(&mut Choices::new(&bytes)).to_string();
        let case =
            json!({ "name": format!("random schema {seed}"), "notation": "json-schema", "text": text });
        let result = run(&compiler, &case, 1, steps, seed);
        print(case, result)?;
    }
    Ok(())
}

fn main() -> ExitCode {
    match all(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("reference: {error}");
            ExitCode::FAILURE
        }
    }
}
