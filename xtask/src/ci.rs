//! What continuous integration runs.
//!
//! All steps share one profile and one set of features, so that dependencies are built once for checking (lints,
//! documentation) and once for running (tests). The fuzz targets need an instrumented build of their own.

use crate::command::{self, Result, cargo, root, succeeds};
use crate::{instructions, test};
use std::path::Path;
use std::time::Instant;

/// Seconds that each fuzz target runs.
const FUZZ_SECONDS: u32 = 20;

type Step = (&'static str, fn() -> Result);

const STEPS: [Step; 8] = [
    ("format", format),
    ("lints", lints),
    ("documentation", documentation),
    ("features", features),
    ("tests", test::run),
    ("instructions", instructions),
    ("licences", licences),
    ("fuzzing", fuzzing),
];

/// Runs all steps; the first that fails ends it.
pub fn run() -> Result {
    let start = Instant::now();
    let mut times = Vec::new();
    for (name, step) in STEPS {
        println!("\n== {name}");
        let begun = Instant::now();
        step().map_err(|error| format!("ci failed at `{name}` after {}: {error}", minutes(start)))?;
        times.push(format!("{name} {}", minutes(begun)));
    }
    println!("\nci passed in {} ({})", minutes(start), times.join(", "));
    Ok(())
}

fn minutes(start: Instant) -> String {
    let seconds = start.elapsed().as_secs();
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

fn format() -> Result {
    command::run(&mut cargo(&["fmt", "--all", "--check"]))
}

fn lints() -> Result {
    let arguments =
        ["clippy", "--workspace", "--all-targets", "--features", "ort", "--", "--deny", "warnings"];
    command::run(&mut cargo(&arguments))
}

fn documentation() -> Result {
    command::run(cargo(&["doc", "--no-deps", "--features", "ort"]).env("RUSTDOCFLAGS", "--deny warnings"))
}

/// The library alone, and with CUDA: checked only.
fn features() -> Result {
    command::run(&mut cargo(&["check", "--no-default-features"]))?;
    command::run(&mut cargo(&["check", "--features", "cuda"]))
}

/// The ratchet on instructions.
fn instructions() -> Result {
    instructions::run(false)
}

/// Licences, doubled and yanked dependencies by `deny.toml`. cargo-deny takes longer to build than everything else
/// here, so it is used where it is installed.
fn licences() -> Result {
    if !succeeds(&mut cargo(&["deny", "--version"])) {
        println!("skipped: cargo-deny is not installed (`cargo install cargo-deny --locked`, some minutes)");
        return Ok(());
    }
    command::run(&mut cargo(&["deny", "--all-features", "check", "bans", "licenses", "sources"]))
}

/// Each fuzz target for [`FUZZ_SECONDS`], with the committed seeds. Stable Rust takes the instrumentation with
/// RUSTC_BOOTSTRAP; without the address sanitizer it is five times as fast, and there is no unsafe code to watch.
fn fuzzing() -> Result {
    let fuzz = root().join("fuzz");
    if !fuzz.join("Cargo.toml").is_file() {
        println!("skipped: there is no folder fuzz/");
        return Ok(());
    }
    test::tool("fuzz", "cargo-fuzz")?;
    let listed =
        cargo(&["fuzz", "list"]).output().map_err(|e| format!("cannot list the fuzz targets: {e}"))?;
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    if listed.trim().is_empty() {
        return Err("fuzz/ has no targets".to_owned());
    }
    let time = format!("-max_total_time={FUZZ_SECONDS}");
    for target in listed.split_whitespace() {
        // new inputs go to the first folder; the seeds stay as they are committed
        let (corpus, seeds) = (format!("fuzz/corpus/{target}"), format!("fuzz/seeds/{target}"));
        std::fs::create_dir_all(root().join(&corpus)).map_err(|e| format!("cannot make {corpus}: {e}"))?;
        seed_from_grammars(target, &root().join(&corpus))?;
        let mut arguments = vec!["fuzz", "run", "--sanitizer", "none", target, &corpus];
        if root().join(&seeds).is_dir() {
            arguments.push(&seeds);
        }
        arguments.extend([
            "--",
            &time,
            "-timeout=10",
            "-rss_limit_mb=4096",
            "-verbosity=0",
            "-print_final_stats=1",
        ]);
        command::run(cargo(&arguments).env("RUSTC_BOOTSTRAP", "1"))?;
    }
    Ok(())
}

/// Copies the shipped grammars that a front end reads into its corpus: without them a fuzzer hardly gets past the
/// first line.
fn seed_from_grammars(target: &str, corpus: &Path) -> Result {
    let name = match target {
        "gbnf" => "grammar.gbnf",
        "automaton_spec" => "spec.toml",
        "json_schema" => "schema.json",
        "regex" => "pattern.regex",
        _ => return Ok(()),
    };
    let grammars = root().join("grammars");
    let entries =
        std::fs::read_dir(&grammars).map_err(|e| format!("cannot read {}: {e}", grammars.display()))?;
    for folder in entries.flatten().map(|entry| entry.path()) {
        let (source, seed) = (folder.join(name), folder.file_name().unwrap_or_default().to_owned());
        if source.is_file() {
            std::fs::copy(&source, corpus.join(seed)).map_err(|e| format!("cannot seed {target}: {e}"))?;
        }
    }
    Ok(())
}
