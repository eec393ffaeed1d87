//! Runs the fuzz targets: a short run of each, or a long one under the address sanitizer.

use crate::command::{self, Result, root};
use crate::tools::FUZZ;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Settings of a run of all targets.
#[derive(Clone, Copy)]
pub struct Run {
    /// CPU seconds of all targets together; each target takes an equal part.
    pub seconds: u32,
    /// The least seconds for each target, so that more targets do not make each run too short to find anything.
    pub least: u32,
    /// Whether to run under the address sanitizer, which takes about five times as long for the same inputs.
    pub address_sanitizer: bool,
}

impl Run {
    /// Runs each target on the committed seeds, as many at a time as there are cores.
    pub fn run(self) -> Result {
        FUZZ.install()?;
        let targets = targets()?;
        let seconds = (self.seconds / targets.len() as u32).max(self.least);
        let time = format!("-max_total_time={seconds}");
        let sanitizer = if self.address_sanitizer { "address" } else { "none" };
        command::run(&mut fuzz(&["build", "--sanitizer", sanitizer]))?;
        let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..cores.min(targets.len()) {
                scope.spawn(|| {
                    while let Some(target) = targets.get(next.fetch_add(1, Ordering::Relaxed)) {
                        if let Err(error) = run_one(target, &[&time], sanitizer) {
                            failed.lock().unwrap_or_else(PoisonError::into_inner).push(error);
                        }
                    }
                });
            }
        });
        let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
    }
}

/// Creates a command of cargo-fuzz. RUSTC_BOOTSTRAP lets stable Rust compile the instrumentation.
fn fuzz(arguments: &[&str]) -> Command {
    let mut command = FUZZ.command(arguments);
    command.env("RUSTC_BOOTSTRAP", "1");
    command
}

/// Runs a target on `count` inputs of at most 256 bytes under the address sanitizer. Long inputs are allowed from the
/// start.
pub fn inputs(target: &str, count: u32) -> Result {
    FUZZ.install()?;
    run_one(target, &[&format!("-runs={count}"), "-len_control=0", "-max_len=256"], "address")
}

/// Runs a target within libFuzzer's `bounds`, and prints its output after it has ended.
fn run_one(target: &str, bounds: &[&str], sanitizer: &str) -> Result {
    // libFuzzer writes new inputs to the first folder, so the committed seeds do not change
    let (corpus, seeds) = (format!("fuzz/corpus/{target}"), format!("fuzz/seeds/{target}"));
    std::fs::create_dir_all(root().join(&corpus)).map_err(|e| format!("cannot make {corpus}: {e}"))?;
    seed_from_grammars(target, &root().join(&corpus))?;
    let mut arguments = vec!["run", "--sanitizer", sanitizer, target, &corpus];
    if root().join(&seeds).is_dir() {
        arguments.push(&seeds);
    }
    arguments.push("--");
    arguments.extend(bounds);
    arguments.extend(["-timeout=10", "-rss_limit_mb=4096", "-verbosity=0", "-print_final_stats=1"]);
    let mut command = fuzz(&arguments);
    let shown = command::show(&command);
    let output = command.output().map_err(|e| format!("cannot run `{shown}`: {e}"))?;
    let said = [output.stdout, output.stderr].concat();
    println!("$ {shown}\n{}", String::from_utf8_lossy(&said));
    if output.status.success() { Ok(()) } else { Err(format!("`{shown}` failed ({})", output.status)) }
}

/// Returns the names of the targets. An empty list is an error.
fn targets() -> Result<Vec<String>> {
    let listed =
        FUZZ.command(&["list"]).output().map_err(|e| format!("cannot list the fuzz targets: {e}"))?;
    let names = String::from_utf8_lossy(&listed.stdout);
    let targets: Vec<String> = names.split_whitespace().map(str::to_owned).collect();
    if targets.is_empty() {
        return Err(format!("no fuzz targets are listed: {}", String::from_utf8_lossy(&listed.stderr)));
    }
    Ok(targets)
}

/// Copies shipped grammars that a target can read into its corpus: without them a fuzzer hardly gets past the first
/// line. Targets without such grammars get none.
fn seed_from_grammars(target: &str, corpus: &Path) -> Result {
    let folder = match target {
        "flow" => Some(("flows", "toml")),
        "procedure" => Some(("procedures", "yaml")),
        _ => None,
    };
    if let Some((folder, extension)) = folder {
        let folder = root().join("grammars").join(folder);
        let entries =
            std::fs::read_dir(&folder).map_err(|e| format!("cannot read {}: {e}", folder.display()))?;
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.extension().is_some_and(|found| found == extension) {
                let seed = corpus.join(path.file_name().unwrap_or_default());
                std::fs::copy(&path, seed).map_err(|e| format!("cannot seed {target}: {e}"))?;
            }
        }
    }
    let name = match target {
        "gbnf" => "grammar.gbnf",
        "automaton_spec" | "plan_spec" | "spec_template" => "spec.toml",
        "json_schema" | "json_schema_differential" => "schema.json",
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
