//! Named steps that run one after the other. The first that fails ends the run.

use crate::command::Result;
use std::time::Instant;

/// The name of a step, and its function.
pub type Step = (&'static str, fn() -> Result);

/// Runs the named steps of `task`, or all, and prints how long each took. An unknown name is an error.
pub fn run(task: &str, steps: &[Step], names: &[String]) -> Result {
    let known: Vec<&str> = steps.iter().map(|(name, _)| *name).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(format!("{task} has no step `{unknown}`; its steps are {}", known.join(", ")));
    }
    let chosen = |(name, _): &&Step| names.is_empty() || names.iter().any(|chosen| chosen == name);
    let start = Instant::now();
    let mut times = Vec::new();
    for (name, step) in steps.iter().filter(chosen) {
        println!("\n== {name}");
        let begun = Instant::now();
        step().map_err(|error| format!("{task} failed at `{name}` after {}: {error}", minutes(start)))?;
        times.push(format!("{name} {}", minutes(begun)));
    }
    println!("\n{task} passed in {} ({})", minutes(start), times.join(", "));
    Ok(())
}

fn minutes(start: Instant) -> String {
    let seconds = start.elapsed().as_secs();
    format!("{}:{:02}", seconds / 60, seconds % 60)
}
