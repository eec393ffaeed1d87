//! Hostile inputs for every reader, each in its own process under a memory limit and a clock.
//!
//! Requirements for every input: no crash, no abort, at most [`SECONDS`] for each operation, at most [`CEILING_KIB`] of
//! address space, and a place in every refusal. A process reads and compiles one input and walks through at most 24
//! masks, with the default limits.
//!
//! There are families of inputs, with one input for each size, and a thousand random inputs from a fixed seed
//! ([`generated`]). Each random input has at most [`WHOLE_SECONDS`] in total. By default the last size of each family
//! and one in [`SHARE`] random inputs are run. `GRAMMATA_HOSTILE=all` runs all of them, and prints the slowest and the
//! largest; `GRAMMATA_HOSTILE_ONLY=Tools` runs only the random inputs of the kinds whose names begin with `Tools`.

#![allow(clippy::print_stdout)]

mod build;
mod child;
mod generated;
mod json_schemas;
mod notations;
mod templates;
mod tokenizers;

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Address space of a process, in KiB: 1 GiB for the work and 256 MiB for the program and its stacks.
const CEILING_KIB: u64 = (1 << 20) + (1 << 18);

/// The most CPU seconds of one operation: reading and compiling an input, a mask, or an accepted token. Without
/// optimisation everything takes about six times as long, hence the larger bound.
const SECONDS: f64 = if cfg!(debug_assertions) { 24.0 } else { 4.0 };
/// The most CPU seconds for all operations on one random input.
const WHOLE_SECONDS: f64 = if cfg!(debug_assertions) { 12.0 } else { 2.0 };
/// One in this many random inputs is run by default.
const SHARE: usize = 20;
/// Wall-clock time for all operations on one input; generous, because the machine may be busy.
const DEADLINE: Duration = Duration::from_secs(if cfg!(debug_assertions) { 120 } else { 60 });

/// The environment variable with the kind of input to read. With it and [`FILE`] set, this test program reads that
/// input.
const KIND: &str = "GRAMMATA_HOSTILE_KIND";
const FILE: &str = "GRAMMATA_HOSTILE_FILE";

/// The kinds of input, each with its own reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    JsonSchema,
    Regex,
    Gbnf,
    Spec,
    Tokenizer,
    ChatTemplate,
    ModelFolder,
    Tools,
    Procedure,
    Trace,
    Flow,
    Plan,
    MaskFile,
}

impl Kind {
    const ALL: [Kind; 13] = [
        Kind::JsonSchema,
        Kind::Regex,
        Kind::Gbnf,
        Kind::Spec,
        Kind::Tokenizer,
        Kind::ChatTemplate,
        Kind::ModelFolder,
        Kind::Tools,
        Kind::Procedure,
        Kind::Trace,
        Kind::Flow,
        Kind::Plan,
        Kind::MaskFile,
    ];

    fn name(self) -> String {
        format!("{self:?}")
    }
}

/// One input.
struct Case {
    name: String,
    kind: Kind,
    input: Vec<u8>,
}

/// Returns inputs of one form, one for each size; the size is the last word of the name.
fn family(kind: Kind, name: &str, sizes: &[usize], input: impl Fn(usize) -> String) -> Vec<Case> {
    let case = |&n: &usize| Case { name: format!("{name} {n}"), kind, input: input(n).into_bytes() };
    sizes.iter().map(case).collect()
}

/// The result of running one input.
struct Outcome {
    name: String,
    seconds: f64,
    /// Seconds of the longest operation.
    longest: f64,
    /// CPU seconds of all operations.
    processor: f64,
    /// The peak resident memory in KiB; 0 if it is unknown.
    peak: u64,
    /// `accepted`, or the error's code.
    verdict: String,
    wrong: Option<String>,
}

fn run(case: &Case) -> Outcome {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(&case.input).expect("a written file");
    let program = std::env::current_exe().expect("this program");
    let begun = Instant::now();
    let mut child = Command::new("sh")
        .args(["-c", &format!("ulimit -v {CEILING_KIB}; exec \"$0\" \"$@\"")])
        .arg(program)
        .args(["--exact", "child::reads_one_input", "--nocapture", "--test-threads", "1"])
        .env(KIND, case.kind.name())
        .env(FILE, file.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a process");
    let deadline = begun + DEADLINE;
    let ended = loop {
        match child.try_wait().expect("a process to wait for") {
            Some(status) => break Some(status),
            None if Instant::now() > deadline => {
                child.kill().expect("a process to end");
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let seconds = begun.elapsed().as_secs_f64();
    let output = child.wait_with_output().expect("the output");
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let field = |name: &str| {
        let line = stdout.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        line.unwrap_or_default().to_owned()
    };
    let verdict = field("verdict");
    let longest = field("longest").parse().unwrap_or(seconds);
    let processor = field("processor").parse().unwrap_or(seconds);
    let wrong = match ended {
        None => Some(format!("no end after {DEADLINE:?}")),
        Some(status) if !status.success() || verdict.is_empty() => {
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            Some(format!("{status}: {}", stderr.lines().take(4).collect::<Vec<_>>().join(" / ")))
        }
        Some(_) if longest > SECONDS => Some(format!("an operation of {longest:.2} s")),
        Some(_) if verdict != "accepted" && field("place").is_empty() => {
            Some(format!("no place: {}", field("error")))
        }
        Some(_) => None,
    };
    let peak = field("peak").parse().unwrap_or(0);
    Outcome { name: case.name.clone(), seconds, longest, processor, peak, verdict, wrong }
}

/// Returns whether all inputs are run instead of a share.
fn tries_all() -> bool {
    std::env::var("GRAMMATA_HOSTILE").is_ok_and(|value| value == "all")
}

/// Runs the inputs of a reader, or only the last of each family. Panics with a list of the inputs that broke a
/// requirement.
fn attack(cases: Vec<Case>) {
    let all = tries_all();
    let family = |case: &Case| case.name.rsplit_once(' ').map(|parts| parts.0.to_owned());
    let mut outcomes: Vec<Outcome> = Vec::new();
    let mut before = None;
    for case in cases.iter().rev() {
        let this = family(case);
        if all || this != before {
            outcomes.push(run(case));
        }
        before = this;
    }
    judge(outcomes);
}

/// Runs the random inputs; each may use [`WHOLE_SECONDS`] of CPU time in total.
fn attack_at_random() {
    let only = std::env::var("GRAMMATA_HOSTILE_ONLY").unwrap_or_default();
    let cases = generated::cases(if tries_all() { 1 } else { SHARE }, &only);
    let outcomes = cases.map(|case| {
        let mut outcome = run(&case);
        if outcome.wrong.is_none() && outcome.processor > WHOLE_SECONDS {
            outcome.wrong = Some(format!("{:.2} s of a processor", outcome.processor));
        }
        outcome
    });
    judge(outcomes.collect());
}

/// Panics with a list of the outcomes that are wrong. If all inputs were run, first prints the slowest and the largest.
fn judge(mut outcomes: Vec<Outcome>) {
    if tries_all() {
        report(&mut outcomes);
    }
    let wrong: Vec<String> = outcomes
        .iter()
        .filter_map(|outcome| {
            let reason = outcome.wrong.as_ref()?;
            Some(format!("{} ({:.2} s, {} KiB): {reason}", outcome.name, outcome.seconds, outcome.peak))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {} inputs:\n{}", wrong.len(), outcomes.len(), wrong.join("\n"));
}

fn report(outcomes: &mut [Outcome]) {
    let refused = outcomes.iter().filter(|outcome| outcome.verdict != "accepted").count();
    println!("{} inputs, {refused} refused", outcomes.len());
    let line = |o: &Outcome| {
        println!(
            "{:>8.2} s, longest {:>6.2} s {:>8} KiB  {}  {}",
            o.seconds, o.longest, o.peak, o.name, o.verdict
        );
    };
    outcomes.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    outcomes.iter().take(8).for_each(line);
    outcomes.sort_by_key(|outcome| std::cmp::Reverse(outcome.peak));
    outcomes.iter().take(4).for_each(line);
}

#[test]
fn json_schemas() {
    attack(json_schemas::cases());
}

#[test]
fn regular_expressions() {
    attack(notations::regexes());
}

#[test]
fn gbnf() {
    attack(notations::gbnf());
}

#[test]
fn automaton_specs() {
    attack(notations::specs());
}

#[test]
fn tokenizer_files() {
    attack(tokenizers::cases());
}

#[test]
fn chat_templates() {
    attack(templates::chat());
}

#[test]
fn model_folders() {
    attack(templates::folders());
}

#[test]
fn random_inputs() {
    attack_at_random();
}

#[test]
fn random_inputs_are_the_same_each_time() {
    let cases: Vec<Case> = generated::cases(SHARE, "").collect();
    let again: Vec<Case> = generated::cases(SHARE, "").collect();
    assert!(cases.iter().all(|case| case.input.len() <= generated::MOST_BYTES));
    assert!(cases.iter().zip(&again).all(|(one, other)| one.name == other.name && one.input == other.input));
    for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::ModelFolder) {
        assert!(cases.iter().any(|case| case.kind == kind), "{kind:?}");
    }
    assert_eq!(generated::count(), 1_000);
}

#[test]
fn there_are_enough_inputs() {
    let all = [
        json_schemas::cases(),
        notations::regexes(),
        notations::gbnf(),
        notations::specs(),
        tokenizers::cases(),
        templates::chat(),
        templates::folders(),
    ];
    assert!(all.iter().map(Vec::len).sum::<usize>() >= 1000, "{:?}", all.map(|cases| cases.len()));
}
