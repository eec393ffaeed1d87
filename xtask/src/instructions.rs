//! A ratchet on instruction counts. The counts of `benches/instructions`, measured by callgrind, may not exceed the
//! record by more than a few percent. Counts do not depend on the load of a machine.

use crate::command::{self, Result, cargo, in_parallel, root, succeeds};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

/// The file with the recorded counts: lines `name = instructions`.
const RECORD: &str = "benches/instructions/record.txt";

/// The arguments that build the program to measure.
const BUILD: [&str; 5] = ["build", "--profile", "quick", "--package", "instructions"];

/// Percent by which a count may rise before it is an error, or fall before a new record is suggested.
const TOLERANCE: f64 = 5.0;

/// Measures the counts, and compares them with the record or, with `bless`, writes a new record.
pub fn run(bless: bool) -> Result {
    valgrind()?;
    command::run(&mut cargo(&BUILD))?;
    let program = program()?;
    let listed = output(&mut Command::new(&program))?;
    let names: Vec<&str> = listed.lines().collect();
    let counts = in_parallel(&names, |name| Ok(((*name).to_owned(), count(&program, name)?)))?;
    let counts: BTreeMap<String, u64> = counts.into_iter().collect();
    let path = root().join(RECORD);
    if bless {
        let record = counts.iter().map(|(name, count)| format!("{name} = {count}\n")).collect::<String>();
        return std::fs::write(&path, record).map_err(|e| format!("cannot write {RECORD}: {e}"));
    }
    let record = std::fs::read_to_string(&path).map_err(|e| format!("cannot read {RECORD}: {e}"))?;
    compare(&parse(&record)?, &counts)
}

fn parse(record: &str) -> Result<BTreeMap<String, u64>> {
    let line = |line: &str| {
        let (name, count) = line.split_once(" = ")?;
        Some((name.to_owned(), count.parse().ok()?))
    };
    let lines =
        record.lines().map(|text| line(text).ok_or(format!("{RECORD}: `{text}` is not `name = count`")));
    lines.collect()
}

/// Prints all changes. It is an error if a count rose too much or is not on record, or if a recorded bench does not
/// exist.
fn compare(record: &BTreeMap<String, u64>, counts: &BTreeMap<String, u64>) -> Result {
    let mut worse = String::new();
    for (name, &count) in counts {
        let Some(&known) = record.get(name) else {
            let _ = write!(worse, " `{name}` is not on record.");
            continue;
        };
        let change = (count as f64 / known as f64 - 1.0) * 100.0;
        println!("{name:12} {count:>14} instructions, {change:+.1} % from the record");
        if change > TOLERANCE {
            let _ = write!(worse, " `{name}` rose by {change:.1} %.");
        } else if change < -TOLERANCE {
            println!("             better: record it with `cargo xtask instructions --bless`");
        }
    }
    for name in record.keys().filter(|name| !counts.contains_key(*name)) {
        let _ = write!(worse, " `{name}` is on record, but there is no such bench.");
    }
    if worse.is_empty() {
        return Ok(());
    }
    Err(format!(
        "instructions:{worse} At most {TOLERANCE} % more are allowed; if there is a reason for more, record it with \
         `cargo xtask instructions --bless`"
    ))
}

/// Measures the instructions of one bench.
fn count(program: &PathBuf, name: &str) -> Result<u64> {
    let mut command = Command::new("valgrind");
    command.args([
        "--tool=callgrind",
        "--callgrind-out-file=/dev/null",
        "--toggle-collect=*instructions::measured*",
    ]);
    command.arg(program).arg(name).current_dir(root());
    let output = command.output().map_err(|e| format!("cannot run valgrind: {e}"))?;
    let report = String::from_utf8_lossy(&output.stderr);
    let collected = report.lines().find_map(|line| line.split("Collected :").nth(1)?.trim().parse().ok());
    match collected {
        Some(count) if output.status.success() && count > 0 => Ok(count),
        _ => Err(format!("valgrind counted nothing for `{name}`:\n{report}")),
    }
}

/// Returns the path of the program that [`BUILD`] builds.
fn program() -> Result<PathBuf> {
    let messages = output(cargo(&BUILD).arg("--message-format=json"))?;
    let executable = |line: &str| {
        let path = line.split("\"executable\":\"").nth(1)?.split('"').next()?;
        line.contains("\"name\":\"instructions\"").then(|| PathBuf::from(path))
    };
    messages.lines().find_map(executable).ok_or("cargo names no program for `instructions`".to_owned())
}

fn output(command: &mut Command) -> Result<String> {
    let output = command.output().map_err(|e| format!("cannot run {command:?}: {e}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// Installs valgrind with apt-get if it is missing. It is an error if it is missing then.
pub fn valgrind() -> Result {
    let there = || succeeds(Command::new("valgrind").arg("--version"));
    if there() {
        return Ok(());
    }
    println!("valgrind is missing: installing it");
    for arguments in [&["update"][..], &["install", "--yes", "valgrind"]] {
        if let Err(error) = command::run(&mut command::command("apt-get", arguments)) {
            println!("{error}");
        }
    }
    if there() {
        Ok(())
    } else {
        Err("valgrind is needed: install it with the system's package manager".to_owned())
    }
}
