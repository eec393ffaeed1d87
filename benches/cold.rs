//! Warm sequences next to a cold grammar: the time of known masks while another thread compiles and explores.
//!
//! `cargo bench --bench cold -- [--tokenizer tokenizer.json] [--seconds S]`; the default tokenizer is the one in
//! `tests/data`. One thread requests the masks of 256 sequences in turn, all of which are known, and times each. Next
//! to it there is no other thread; or a thread that only counts, which shows the cost of the machine itself; or a
//! thread that repeatedly compiles a slow grammar and draws random texts of it; or a thread that draws new texts of the
//! grammar of the sequences. Each mask of a random text is new.
//!
//! Then it measures the wait for the lock of a grammar: alone, while the grammar is warmed up on a separate thread, and
//! while another sequence explores it.

#![allow(clippy::print_stdout)]

use comfy_table::{Table, presets};
use grammata::explore::ExploreBudget;
use grammata::syntax::json_schema;
use grammata::{CompiledGrammar, Compiler, Matcher, Result, TokenId, Vocabulary};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The number of sequences whose masks are requested in turn.
const SEQUENCES: usize = 256;
/// The most tokens of a random text.
const TOKENS: usize = 200;

fn main() {
    let mut tokenizer = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/smollm2/tokenizer.json");
    let mut seconds = 5.0;
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(name) = arguments.next() {
        let value = arguments.next().expect("a value after each option");
        match name.as_str() {
            "--tokenizer" => tokenizer = PathBuf::from(value),
            "--seconds" => seconds = value.parse().expect("a number of seconds"),
            other => panic!("unknown argument `{other}`: there are --tokenizer and --seconds"),
        }
    }
    if let Err(error) = run(&tokenizer, Duration::from_secs_f64(seconds)) {
        println!("{error}");
        std::process::exit(1);
    }
}

/// Returns the schema of an object of strings that need long runs of letters of any script: its masks are wide, slow
/// and many.
fn slow(number: usize) -> String {
    let property = |n: usize| {
        let pattern = format!("^(\\\\p{{L}}{{2,{}}}[ -]){{1,9}}\\\\p{{Lu}}[a-z{n}]{{3,}}$", 8 + n);
        format!("\"p{number}_{n}\": {{\"type\": \"string\", \"pattern\": \"{pattern}\"}}")
    };
    let properties: Vec<String> = (0..8).map(property).collect();
    format!("{{\"type\": \"object\", \"properties\": {{{}}}}}", properties.join(", "))
}

fn compile(compiler: &Compiler, schema: &str) -> Result<CompiledGrammar> {
    let options = json_schema::Options::default().whitespace(json_schema::Whitespace::Compact);
    compiler.compile(&json_schema::compile(schema, &options)?.grammar)
}

/// Draws a pseudo-random number by xorshift (Marsaglia 2003).
fn draw(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state as usize
}

/// Draws a random text of at most [`TOKENS`] tokens and computes its masks. Returns its tokens without the end token.
fn explore(compiled: &CompiledGrammar, state: &mut u64, masks: &AtomicUsize) -> Result<Vec<TokenId>> {
    let mut matcher = compiled.matcher();
    let mut tokens = Vec::new();
    while tokens.len() < TOKENS && !matcher.is_finished() {
        let mask = matcher.mask()?;
        masks.fetch_add(1, Relaxed);
        let allowed: Vec<TokenId> =
            mask.iter().filter(|&token| !compiled.vocabulary().is_eos(token)).collect();
        let Some(&token) = allowed.get(draw(state) % allowed.len().max(1)) else { break };
        matcher.accept_token(token)?;
        tokens.push(token);
    }
    Ok(tokens)
}

/// A sequence and the tokens that it accepts again and again.
type Warm = (Matcher, Vec<TokenId>);

/// Requests the masks of the sequences in turn for some time. Returns the time of each mask in nanoseconds, sorted.
fn ask(warm: &mut [Warm], time: Duration) -> Result<Vec<u64>> {
    let mut words = vec![0; warm[0].0.compiled().vocabulary().mask_words()];
    let (mut took, begin) = (Vec::new(), Instant::now());
    while begin.elapsed() < time {
        for (matcher, tokens) in &mut *warm {
            if matcher.steps() == tokens.len() {
                matcher.reset();
            }
            let start = Instant::now();
            matcher.fill_mask(&mut words)?;
            took.push(start.elapsed().as_nanos() as u64);
            matcher.accept_token(tokens[matcher.steps()])?;
        }
    }
    took.sort_unstable();
    Ok(took)
}

/// Returns the times to take the lock of a grammar and to count under it, in nanoseconds, sorted. They are measured
/// about every 100 microseconds.
fn wait(compiled: &CompiledGrammar, time: Duration) -> Vec<u64> {
    let (mut took, begin) = (Vec::new(), Instant::now());
    while begin.elapsed() < time {
        let start = Instant::now();
        // the call takes the lock of the grammar as a sequence does
        black_box(compiled.statistics());
        took.push(start.elapsed().as_nanos() as u64);
        let pause = Instant::now();
        while pause.elapsed() < Duration::from_micros(100) {
            std::hint::spin_loop();
        }
    }
    took.sort_unstable();
    took
}

/// Returns the schema of an object like those of most schemas.
fn ordinary(number: usize) -> String {
    format!(
        r#"{{"type": "object", "required": ["id{number}", "name"], "properties": {{"id{number}": {{"type": "integer"}},
            "name": {{"type": "string", "maxLength": 80}}, "kind": {{"enum": ["a{number}", "b{number}", "c"]}},
            "tags": {{"type": "array", "items": {{"type": "string"}}}}, "when": {{"type": "string", "format": "date-time"}},
            "place": {{"type": "object", "properties": {{"x": {{"type": "number"}}, "y": {{"type": "number"}}}}}}}}}}"#
    )
}

/// Measures the waits alone, during warming up, and with another sequence. Each part of 50 milliseconds has a newly
/// compiled grammar.
fn waits(compiler: &Compiler, time: Duration) -> Result<Table> {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["beside", "locks", "p50 (µs)", "p99", "p99.9", "max"]);
    let kinds = [
        ("nothing", 0, true),
        ("warming up", 1, true),
        ("a sequence that explores", 2, true),
        ("warming up an ordinary grammar", 1, false),
        ("a sequence that explores an ordinary one", 2, false),
    ];
    for (name, kind, is_slow) in kinds {
        let (mut took, mut number) = (Vec::new(), 0);
        let begin = Instant::now();
        while begin.elapsed() < time {
            number += 1;
            let schema = if is_slow { slow(number) } else { ordinary(number) };
            let compiled = compile(&compiler.detached(), &schema)?;
            let part = Duration::from_millis(50);
            let budget = ExploreBudget::default().states(usize::MAX).work(u64::MAX).bytes(usize::MAX);
            let warm = (kind == 1).then(|| compiled.warm(budget.time(part)));
            let ended = AtomicBool::new(false);
            took.extend(std::thread::scope(|scope| {
                if kind == 2 {
                    scope.spawn(|| {
                        let (mut state, masks) = (number as u64 | 1, AtomicUsize::new(0));
                        while !ended.load(Relaxed) {
                            if explore(&compiled, &mut state, &masks).is_err() {
                                break;
                            }
                        }
                    });
                }
                let took = wait(&compiled, part);
                ended.store(true, Relaxed);
                took
            }));
            drop(warm);
        }
        took.sort_unstable();
        let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize] as f64 / 1e3;
        let figures = [0.5, 0.99, 0.999, 1.0].map(|share| format!("{:.1}", at(share)));
        let count = took.len().to_string();
        table.add_row([name, &count].into_iter().chain(figures.iter().map(String::as_str)));
    }
    Ok(table)
}

/// One round of the work of a thread that runs next to the sequences. It gets the number of the round, and counts the
/// masks that it computes.
type Beside<'a> = &'a (dyn Fn(usize, &AtomicUsize) -> Result<()> + Sync);

fn run(tokenizer: &Path, time: Duration) -> Result<()> {
    let vocabulary = Arc::new(Vocabulary::from_file(tokenizer, &Default::default())?);
    let compiler = Compiler::new(vocabulary);
    let compiled = compile(&compiler, &slow(0))?;
    let (mut state, none) = (1, AtomicUsize::new(0));
    let mut warm: Vec<Warm> = Vec::new();
    while warm.len() < SEQUENCES {
        let tokens = explore(&compiled, &mut state, &none)?;
        warm.push((compiled.matcher(), tokens));
    }
    let state = |number: usize| 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(number as u64 + 2) | 1;
    let count = |_: usize, _: &AtomicUsize| {
        (0..1_000_000u64).for_each(|n| _ = black_box(n));
        Ok(())
    };
    let cold = |number: usize, masks: &AtomicUsize| {
        explore(&compile(&compiler, &slow(number + 1))?, &mut state(number), masks).map(drop)
    };
    let same = |number: usize, masks: &AtomicUsize| explore(&compiled, &mut state(number), masks).map(drop);
    let kinds: [(&str, Option<Beside<'_>>); 4] = [
        ("nothing", None),
        ("a thread that counts", Some(&count)),
        ("another grammar, compiled and explored", Some(&cold)),
        ("the same grammar, explored", Some(&same)),
    ];
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["beside", "masks", "p50 (µs)", "p99", "p99.9", "max", "new masks beside"]);
    for (name, beside) in kinds {
        let (ended, masks) = (AtomicBool::new(false), AtomicUsize::new(0));
        let took = std::thread::scope(|scope| {
            let thread = beside.map(|beside| {
                let (ended, masks) = (&ended, &masks);
                scope.spawn(move || {
                    (0..).take_while(|_| !ended.load(Relaxed)).try_for_each(|n| beside(n, masks))
                })
            });
            let took = ask(&mut warm, time);
            ended.store(true, Relaxed);
            thread.map_or(Ok(()), |thread| thread.join().expect("the thread ends well")).and(took)
        })?;
        let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize] as f64 / 1e3;
        let figures = [0.5, 0.99, 0.999, 1.0].map(|share| format!("{:.1}", at(share)));
        let (count, new) = (took.len().to_string(), masks.load(Relaxed).to_string());
        let figures = figures.iter().map(String::as_str);
        table.add_row([name, &count].into_iter().chain(figures).chain([new.as_str()]));
    }
    println!("{table}\n\n{}", waits(&compiler, time)?);
    Ok(())
}
