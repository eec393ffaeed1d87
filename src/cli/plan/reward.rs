//! Rewards of plans: a user's command says what a plan is worth.

use super::show;
use crate::cli::errors;
use crate::error::Result;
use crate::plan::Plan;
use crate::syntax::automaton_spec::Spec;
use serde_json::json;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

/// Bytes that are read of what the command writes.
const MOST_OUTPUT: u64 = 1 << 16;

/// Runs `sh -c COMMAND` with the plan as JSON on its standard input; the first word that it writes is the reward.
///
/// # Errors
/// The command cannot be run, fails, or does not write a number.
pub(super) fn reward(command: &str, task: &str, plan: &Plan, spec: &Spec) -> Result<f64> {
    let fail = |found: String| errors::reward(command, &found);
    let mut child = Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|cause| fail(cause.to_string()))?;
    let input = json!({ "task": task, "steps": show::json(plan, spec), "cost": plan.cost(spec) }).to_string();
    if let Some(mut stdin) = child.stdin.take() {
        // a command that does not read its input closes it: that is its own affair
        let _ = stdin.write_all(input.as_bytes()).and_then(|()| stdin.write_all(b"\n"));
    }
    let mut written = String::new();
    if let Some(stdout) = child.stdout.take() {
        stdout.take(MOST_OUTPUT).read_to_string(&mut written).map_err(|cause| fail(cause.to_string()))?;
    }
    let status = child.wait().map_err(|cause| fail(cause.to_string()))?;
    if !status.success() {
        return Err(fail(status.to_string()));
    }
    let number = written.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    number.filter(|number| number.is_finite()).ok_or_else(|| fail(written.trim().to_owned()))
}
