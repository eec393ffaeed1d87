//! Masks within a budget beside masks without one.
//!
//! `cargo bench --bench budgets -- [--schemas FILE.jsonl] [--walks N] [--room N]`; the default schemas are those of
//! `tests/data/maskbench-sample.jsonl`, the tokenizer is SmolLM2's. For each schema, N walks (3 by default) go to the end within
//! budgets of up to `--room` tokens more than the least (60 by default). At each place the mask is asked for without and within what is left of the
//! budget, each of a compiled grammar of its own, so that neither finds what the other has made. Means of the first visits of a walk
//! (its grammar is new) and of going along the same tokens again.

#![allow(clippy::print_stdout)]

use grammata::syntax::json_schema;
use grammata::{CompiledGrammar, Compiler, Result, TokenId, Vocabulary};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time of masks without and within a budget, and how many there were of each.
#[derive(Default)]
struct Sums {
    plain: Duration,
    within: Duration,
    masks: u32,
}

impl Sums {
    fn show(&self, name: &str) {
        let mean = |time: Duration| time.as_secs_f64() * 1e6 / f64::from(self.masks.max(1));
        let (plain, within) = (mean(self.plain), mean(self.within));
        println!(
            "{name:<6} {:>6} masks   plain {plain:>9.2} µs   within {within:>9.2} µs   ratio {:.2}",
            self.masks,
            within / plain
        );
    }
}

fn main() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut schemas: PathBuf = root.join("tests/data/maskbench-sample.jsonl");
    let (mut walks, mut room) = (3, 60);
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(name) = arguments.next() {
        let value = arguments.next().unwrap_or_default();
        match &*name {
            "--schemas" => schemas = value.into(),
            "--walks" => walks = value.parse().expect("a number"),
            "--room" => room = value.parse().expect("a number"),
            _ => panic!("unknown argument {name}"),
        }
    }
    let file = root.join("tests/data/smollm2/tokenizer.json");
    let vocabulary = Arc::new(Vocabulary::from_file(&file, &Default::default())?);
    let compiler = Compiler::new(vocabulary);
    compiler.prepare()?;
    let (mut first, mut again) = (Sums::default(), Sums::default());
    let (mut distances, mut at_most, mut unknown) = (0, 0, 0);
    let mut random = 26u64;
    let mut below = |limit: usize| {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((random >> 33) as usize) % limit.max(1)
    };
    for line in std::fs::read_to_string(schemas).expect("the file of schemas can be read").lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("a line is a JSON object");
        let schema = match &line["schema"] {
            serde_json::Value::String(text) => text.clone(),
            schema => schema.to_string(),
        };
        let Ok(schema) = json_schema::compile(&schema, &json_schema::Options::generation()) else { continue };
        for _ in 0..walks {
            let plain = compiler.apart().compile(&schema.grammar)?;
            let within = compiler.apart().compile(&schema.grammar)?;
            let Some(least) = within.matcher().distance()?.known() else { break };
            let budget = least + below(room);
            // the first visit chooses the tokens
            let tokens =
                walk(&plain, &within, budget, &mut first, |allowed, _| allowed[below(allowed.len())])?;
            walk(&plain, &within, budget, &mut again, |_, place| tokens[place])?;
            let counts = within.statistics();
            distances += counts.distances;
            at_most += counts.distances_at_most;
            unknown += counts.distances_unknown;
        }
    }
    first.show("first");
    again.show("again");
    println!("{distances} distances, {at_most} at most, {unknown} unknown");
    Ok(())
}

/// Walks to the end within a budget along the tokens that are chosen, which are given back.
fn walk(
    plain: &CompiledGrammar,
    within: &CompiledGrammar,
    budget: usize,
    sums: &mut Sums,
    mut choose: impl FnMut(&[TokenId], usize) -> TokenId,
) -> Result<Vec<TokenId>> {
    let (mut plain, mut within) = (plain.matcher(), within.matcher());
    let mut tokens = Vec::new();
    while !within.is_finished() && tokens.len() < budget {
        let start = Instant::now();
        black_box(plain.mask()?);
        let middle = Instant::now();
        let mask = black_box(within.mask_within(budget - tokens.len())?);
        sums.within += middle.elapsed();
        sums.plain += middle - start;
        sums.masks += 1;
        let allowed: Vec<TokenId> = mask.iter().collect();
        let token = choose(&allowed, tokens.len());
        plain.accept_token(token)?;
        within.accept_token(token)?;
        tokens.push(token);
    }
    Ok(tokens)
}
