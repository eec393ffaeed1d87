//! Masks per second by threads: matchers on one compiled grammar, and batches over a pool.
//!
//! `cargo bench --bench threads -- [--tokenizer tokenizer.json] [--threads N] [--seconds S]`; the default tokenizer is
//! the one in `tests/data`. Every thread walks along the accepted examples of `grammars/` repeatedly, and requests the
//! mask before each token. Figures are medians of five rounds, in which the numbers of threads take turns.

#![allow(clippy::print_stdout)]

mod support;

use comfy_table::{Table, presets};
use grammata::serve::{accept_tokens, fill_masks};
use grammata::syntax::parse;
use grammata::{CompiledGrammar, Compiler, Matcher, Result, TokenId, Vocabulary};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use support::{Shipped, shipped, walk};

const ROUNDS: usize = 5;

/// Sequences in a batch.
const BATCH: usize = 256;

/// A compiled grammar, and the tokens of an example that it accepts.
struct Work {
    name: String,
    compiled: CompiledGrammar,
    tokens: Vec<TokenId>,
}

/// Returns the masks per second over some work on a number of threads.
type Measure<'a> = &'a dyn Fn(&[&Work], usize) -> f64;

fn main() {
    let mut tokenizer = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/smollm2/tokenizer.json");
    let mut most = std::thread::available_parallelism().map_or(2, |n| n.get());
    let mut seconds = 0.5;
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(name) = arguments.next() {
        let value = arguments.next().expect("a value after each option");
        match name.as_str() {
            "--tokenizer" => tokenizer = PathBuf::from(value),
            "--threads" => most = value.parse().expect("a number of threads"),
            "--seconds" => seconds = value.parse().expect("a number of seconds"),
            other => panic!("unknown argument `{other}`: there are --tokenizer, --threads and --seconds"),
        }
    }
    if let Err(error) = run(&tokenizer, most, Duration::from_secs_f64(seconds)) {
        println!("{error}");
        std::process::exit(1);
    }
}

fn run(tokenizer: &Path, most: usize, time: Duration) -> Result<()> {
    let vocabulary = Arc::new(Vocabulary::from_file(tokenizer, &Default::default())?);
    let compiler = Compiler::new(Arc::clone(&vocabulary));
    let mut all = Vec::new();
    for Shipped { name, source, examples } in
        shipped(&Path::new(env!("CARGO_MANIFEST_DIR")).join("grammars"))?
    {
        let compiled = compiler.detached().compile(&parse(&source)?.grammar)?;
        for example in examples {
            // the walk also computes all masks once
            walk(&compiled, &example, &mut vec![0; vocabulary.mask_words()], |matcher, words| {
                matcher.fill_mask(words)
            })?;
            let tokens = vocabulary.encode_greedy(&example).expect("the tokenizer spells every example");
            all.push(Work { name: name.clone(), compiled: compiled.clone(), tokens });
        }
    }
    let one: Vec<&Work> = all.iter().max_by_key(|work| work.tokens.len()).into_iter().collect();
    let every: Vec<&Work> = all.iter().collect();
    let pools = (1..=most).map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().expect("threads"));
    let pools: Vec<rayon::ThreadPool> = pools.collect();
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["masks per second", "threads", "median", "of one thread"]);
    let by_copy = |work: &[&Work], threads: usize| on_threads(work, threads, time, true);
    let by_reference = |work: &[&Work], threads: usize| on_threads(work, threads, time, false);
    let batch = |work: &[&Work], threads: usize| in_batches(work, &pools[threads - 1], time);
    let name = one.first().map_or("", |work| &work.name);
    let kinds: [(String, &[&Work], Measure<'_>); 5] = [
        (format!("{name}, into buffers"), &one, &by_copy),
        (format!("{name}, by reference"), &one, &by_reference),
        ("all grammars, into buffers".to_owned(), &every, &by_copy),
        ("all grammars, by reference".to_owned(), &every, &by_reference),
        (format!("all grammars, batches of {BATCH}"), &every, &batch),
    ];
    for (name, work, measure) in kinds {
        let mut rates = vec![Vec::new(); most];
        for _ in 0..ROUNDS {
            rates.iter_mut().enumerate().for_each(|(n, rates)| rates.push(measure(work, n + 1)));
        }
        let medians = rates.iter_mut().map(|rates| {
            rates.sort_by(f64::total_cmp);
            rates[ROUNDS / 2]
        });
        let medians: Vec<f64> = medians.collect();
        for (n, median) in medians.iter().enumerate() {
            let ratio = format!("{:.2} x", median / medians[0]);
            table.add_row([&name, &(n + 1).to_string(), &format!("{:.2} M", median / 1e6), &ratio]);
        }
    }
    println!("{table}");
    Ok(())
}

/// Returns the masks per second of `threads` threads together.
fn on_threads(work: &[&Work], threads: usize, time: Duration, copy: bool) -> f64 {
    let counts: Vec<f64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|n| scope.spawn(move || masks(work, n, time, copy))).collect();
        threads.into_iter().map(|thread| thread.join().expect("the thread ends well")).collect()
    });
    counts.iter().sum()
}

/// Returns the masks per second of one thread, which begins at its own example.
fn masks(work: &[&Work], first: usize, time: Duration, copy: bool) -> f64 {
    let mut words = vec![0; work[0].compiled.vocabulary().mask_words()];
    let (mut count, mut at, begin) = (0, first * 7, Instant::now());
    while begin.elapsed() < time {
        let work = work[at % work.len()];
        let mut matcher = work.compiled.matcher();
        for &token in &work.tokens {
            if copy {
                matcher.fill_mask(&mut words).expect("a mask");
            } else {
                assert!(matcher.with_mask(|mask| mask.contains(token)).expect("a mask"));
            }
            matcher.accept_token(token).expect("it was accepted before");
        }
        count += work.tokens.len();
        at += 1;
    }
    count as f64 / begin.elapsed().as_secs_f64()
}

/// Returns the masks per second of batches on a pool; sequences that end start again.
fn in_batches(work: &[&Work], pool: &rayon::ThreadPool, time: Duration) -> f64 {
    let row = work[0].compiled.vocabulary().mask_words();
    let mut rows = vec![0; row * BATCH];
    let mut matchers: Vec<Matcher> = (0..BATCH).map(|n| work[n % work.len()].compiled.matcher()).collect();
    let (mut count, begin) = (0, Instant::now());
    while begin.elapsed() < time {
        let filled = pool.install(|| fill_masks(&mut matchers, &mut rows, row));
        assert!(filled.iter().all(|result| result.is_ok()));
        let tokens: Vec<TokenId> = (0..BATCH)
            .map(|n| {
                let tokens = &work[n % work.len()].tokens;
                if matchers[n].steps() == tokens.len() {
                    matchers[n].reset();
                }
                tokens[matchers[n].steps()]
            })
            .collect();
        let accepted = pool.install(|| accept_tokens(&mut matchers, &tokens));
        assert!(accepted.iter().all(|result| result.is_ok()));
        count += BATCH;
    }
    count as f64 / begin.elapsed().as_secs_f64()
}
