//! Masks within a budget, compared with masks without one.
//!
//! `cargo bench --bench budgets -- [--schemas FILE.jsonl] [--walks N] [--room N] [--documents yes]`; the default
//! schemas are those of `tests/data/maskbench-sample.jsonl`, the tokenizer is SmolLM2's. For each schema, N walks (3 by
//! default) go to the end within budgets of up to `--room` tokens more than the least (60 by default). With
//! `--documents yes` the walks follow the valid documents of the schema instead, within a budget of `--room` tokens
//! more than the document takes; `--report FILE` then writes, for each mask of the first pass, the numbers of tokens
//! that it and the mask without a budget allow, and at every eighth place the least budget that is granted. With
//! `--thought N` there is one grammar in place of the schemas: a thought of at most N tokens before an answer.
//!
//! At each step the mask is computed without a budget ("plain") and within the rest of it ("within"); and without one
//! with the question whether the next token fits the budget ("asked"), as decoders do. Each is computed by a compiled
//! grammar of its own, so that none finds what another has made. Printed are the first visits (the grammar is new) and
//! a second walk along the same tokens: means, medians and p99 of the masks, the ratio of the means, and the median and
//! p99 over the schemas of each schema's ratio.

#![allow(clippy::print_stdout)]

use grammata::grammar::Grammar;
use grammata::syntax::{gbnf, json_schema};
use grammata::{CompiledGrammar, Compiler, Result, TokenId, TokenMask, Vocabulary};
use std::hint::black_box;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The number of the most expensive schemas that are named.
const WORST: usize = 12;

/// Times of masks without and within a budget, in microseconds.
#[derive(Default)]
struct Sums {
    plain: Vec<f64>,
    within: Vec<f64>,
    /// Times of a plain mask together with the check whether one token fits the budget, as a decoder does.
    asked: Vec<f64>,
    /// For each schema, the sum of its masks within budgets divided by that of its plain masks.
    ratios: Vec<f64>,
    /// For each schema, the sum of its masks within budgets in microseconds, and its name.
    worst: Vec<(f64, String)>,
    /// The number of masks of the schemas in `ratios`.
    counted: usize,
}

impl Sums {
    fn add(&mut self, [plain, within, asked]: [Duration; 3]) {
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        self.plain.push(micros(plain));
        self.within.push(micros(within));
        self.asked.push(micros(asked));
    }

    /// Ends the masks of one schema: adds its sum and its ratio, unless it has no masks.
    fn end_schema(&mut self, name: &str) {
        let sum = |times: &[f64]| times.iter().sum::<f64>();
        if self.counted < self.plain.len() {
            self.worst.push((sum(&self.within[self.counted..]), name.to_owned()));
            self.ratios.push(sum(&self.within[self.counted..]) / sum(&self.plain[self.counted..]));
            self.counted = self.plain.len();
        }
    }

    fn show(&mut self, name: &str) {
        let masks = self.plain.len();
        let mean = |times: &[f64]| times.iter().sum::<f64>() / masks.max(1) as f64;
        let ratio = mean(&self.within) / mean(&self.plain);
        println!(
            "{name}: {masks} masks, ratio of means {ratio:.2}, of schemas' median {:.2} and p99 {:.2}",
            at(&mut self.ratios, 0.5),
            at(&mut self.ratios, 0.99)
        );
        self.worst.sort_by(|one, other| other.0.total_cmp(&one.0));
        for (time, name) in self.worst.iter().take(WORST) {
            println!("  {name}: {time:.0} µs within budgets");
        }
        let arms = [("plain", &mut self.plain), ("within", &mut self.within), ("asked", &mut self.asked)];
        for (arm, times) in arms {
            let mean = mean(times);
            let (median, p99, most) = (at(times, 0.5), at(times, 0.99), at(times, 1.0));
            println!(
                "  {arm:<6} mean {mean:>9.2} µs   median {median:>8.2}   p99 {p99:>9.2}   max {most:>10.2}"
            );
        }
    }
}

/// Sorts the values, and returns the one at this share of them (0 the least, 1 the greatest); NaN without values.
fn at(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1);
    values.get((last as f64 * share).round() as usize).copied().unwrap_or(f64::NAN)
}

fn main() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut schemas: PathBuf = root.join("tests/data/maskbench-sample.jsonl");
    let (mut walks, mut room, mut along_documents, mut report) = (3, 60, false, None);
    let mut thought: Option<usize> = None;
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(name) = arguments.next() {
        let value = arguments.next().unwrap_or_default();
        match &*name {
            "--schemas" => schemas = value.into(),
            "--walks" => walks = value.parse().expect("a number"),
            "--room" => room = value.parse().expect("a number"),
            "--documents" => along_documents = value == "yes",
            "--thought" => thought = Some(value.parse().expect("a number")),
            "--report" => report = Some(std::fs::File::create(value).expect("the report can be written")),
            _ => panic!("unknown argument {name}"),
        }
    }
    let file = root.join("tests/data/smollm2/tokenizer.json");
    let vocabulary = Arc::new(Vocabulary::from_file(&file, &Default::default())?);
    let compiler = Compiler::new(vocabulary);
    compiler.prepare()?;
    let (mut first, mut again) = (Sums::default(), Sums::default());
    let mut report = report.map(std::io::BufWriter::new);
    let (mut distances, mut at_most, mut unknown) = (0, 0, 0);
    let mut missed = Missed::default();
    let mut random = 26u64;
    let mut below = |limit: usize| {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((random >> 33) as usize) % limit.max(1)
    };
    if let Some(most) = thought {
        let grammar = format!(
            "root ::= @max_tokens({most}, @text(\"</think>\")) \"{{\\\"answer\\\": \" (\"true\" | \"false\") \"}}\""
        );
        let grammar = gbnf::compile(&grammar, &gbnf::Options::default())?.grammar;
        let arms = Arms::new(&compiler, &grammar)?;
        // the budget is ample until the thought must end
        let tokens = walk(&arms, most + 100, &mut first, |allowed, _| allowed[below(allowed.len())])?;
        walk(&arms, most + 100, &mut again, |_, place| tokens[place])?;
        first.end_schema("thought");
        again.end_schema("thought");
        first.show("first");
        again.show("again");
        return Ok(());
    }
    for line in std::fs::read_to_string(schemas).expect("the file of schemas can be read").lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("a line is a JSON object");
        let name = line["id"].as_str().unwrap_or("?");
        let schema = match &line["schema"] {
            serde_json::Value::String(text) => text.clone(),
            schema => schema.to_string(),
        };
        let Ok(schema) = json_schema::compile(&schema, &json_schema::Options::generation()) else { continue };
        if along_documents {
            for text in line["tests"].as_array().into_iter().flatten().filter(|test| test["valid"] == true) {
                let text = text["text"].as_str().unwrap_or_default();
                let Some(tokens) = compiler.vocabulary().encode_greedy(text.as_bytes()) else { continue };
                let arms = Arms::new(&compiler, &schema.grammar)?;
                follow(
                    &arms,
                    &tokens,
                    tokens.len() + room,
                    &mut first,
                    &mut missed,
                    |place, within, plain| {
                        let Some(report) = &mut report else { return };
                        let (within, plain) = (within.len(), plain.len());
                        writeln!(report, "{name}\t{place}\t{within}\t{plain}")
                            .expect("the report can be written");
                    },
                )?;
                follow(
                    &arms,
                    &tokens,
                    tokens.len() + room,
                    &mut again,
                    &mut Missed::default(),
                    |_, _, _| (),
                )?;
                if let Some(report) = &mut report {
                    for (place, least) in least_budgets(&arms.within, &tokens)? {
                        writeln!(report, "{name}\t{place}\tleast\t{least}")
                            .expect("the report can be written");
                    }
                }
            }
            first.end_schema(name);
            again.end_schema(name);
            continue;
        }
        for _ in 0..walks {
            let arms = Arms::new(&compiler, &schema.grammar)?;
            let Some(least) = arms.within.matcher().distance()?.known() else { break };
            let budget = least + below(room);
            // the first visit chooses the tokens
            let tokens = walk(&arms, budget, &mut first, |allowed, _| allowed[below(allowed.len())])?;
            walk(&arms, budget, &mut again, |_, place| tokens[place])?;
            let counts = arms.within.statistics();
            distances += counts.distances;
            at_most += counts.distances_at_most;
            unknown += counts.distances_unknown;
        }
        first.end_schema(name);
        again.end_schema(name);
    }
    first.show("first");
    again.show("again");
    match along_documents {
        true => println!("{missed:?}"),
        false => println!("{distances} distances, {at_most} at most, {unknown} unknown"),
    }
    Ok(())
}

/// A grammar, compiled for each arm.
struct Arms {
    plain: CompiledGrammar,
    within: CompiledGrammar,
    asked: CompiledGrammar,
}

impl Arms {
    fn new(compiler: &Compiler, grammar: &Grammar) -> Result<Arms> {
        let compile = || compiler.detached().compile(grammar);
        Ok(Arms { plain: compile()?, within: compile()?, asked: compile()? })
    }
}

/// Walks to the end within a budget, and returns the chosen tokens.
fn walk(
    arms: &Arms,
    budget: usize,
    sums: &mut Sums,
    mut choose: impl FnMut(&[TokenId], usize) -> TokenId,
) -> Result<Vec<TokenId>> {
    let (mut plain, mut within, mut asked) =
        (arms.plain.matcher(), arms.within.matcher(), arms.asked.matcher());
    let mut tokens = Vec::new();
    while !within.is_finished() && tokens.len() < budget {
        let start = Instant::now();
        black_box(plain.mask()?);
        let middle = Instant::now();
        let mask = black_box(within.mask_within(budget - tokens.len())?);
        let end = Instant::now();
        let allowed: Vec<TokenId> = mask.iter().collect();
        let token = choose(&allowed, tokens.len());
        let again = Instant::now();
        black_box(asked.mask()?);
        black_box(asked.is_token_allowed_within(token, budget - tokens.len())?);
        sums.add([middle - start, end - middle, again.elapsed()]);
        for matcher in [&mut plain, &mut within, &mut asked] {
            matcher.accept_token(token)?;
        }
        tokens.push(token);
    }
    Ok(tokens)
}

/// How often documents were not followed to their end.
#[derive(Debug, Default)]
struct Missed {
    /// The budget forbids a token that the plain mask allows.
    tokens: usize,
    /// No completion within the budget is known at the beginning.
    budgets: usize,
    /// No completion within the budget is known after tokens that were allowed: a broken promise.
    dead_ends: usize,
}

/// The least budgets that are granted along a document, at every eighth place.
fn least_budgets(compiled: &CompiledGrammar, tokens: &[TokenId]) -> Result<Vec<(usize, usize)>> {
    let (mut matcher, mut all) = (compiled.matcher(), Vec::new());
    for (place, &token) in tokens.iter().enumerate() {
        if place % 8 == 0 {
            let (mut low, mut high) = (0, 4096);
            while low < high {
                let middle = usize::midpoint(low, high);
                match matcher.fork().check_budget(middle) {
                    Ok(()) => high = middle,
                    Err(_) => low = middle + 1,
                }
            }
            all.push((place, low));
        }
        if !matcher.is_token_allowed(token)? {
            break;
        }
        matcher.accept_token(token)?;
    }
    Ok(all)
}

/// Follows a document while its tokens are allowed, and counts in `missed` what the budget forbids. `each` gets each
/// place, the mask there within the budget, and the one without.
fn follow(
    arms: &Arms,
    tokens: &[TokenId],
    budget: usize,
    sums: &mut Sums,
    missed: &mut Missed,
    mut each: impl FnMut(usize, &TokenMask, &TokenMask),
) -> Result<()> {
    let (mut plain, mut within, mut asked) =
        (arms.plain.matcher(), arms.within.matcher(), arms.asked.matcher());
    for (place, &token) in tokens.iter().enumerate() {
        let start = Instant::now();
        let allowed = plain.mask()?;
        let middle = Instant::now();
        let Ok(mask) = within.mask_within(budget - place) else {
            missed.budgets += usize::from(place == 0);
            missed.dead_ends += usize::from(place > 0);
            return Ok(());
        };
        let end = Instant::now();
        black_box(asked.mask()?);
        black_box(asked.is_token_allowed_within(token, budget - place)?);
        sums.add([middle - start, end - middle, end.elapsed()]);
        each(place, &mask, &allowed);
        if !allowed.contains(token) {
            return Ok(());
        }
        if !mask.contains(token) {
            missed.tokens += 1;
            return Ok(());
        }
        for matcher in [&mut plain, &mut within, &mut asked] {
            matcher.accept_token(token)?;
        }
    }
    Ok(())
}
