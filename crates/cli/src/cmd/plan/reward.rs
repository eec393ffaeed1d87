//! Rewards of plans, which a user's command computes.

use super::show::{self, StepReport};
use crate::io::errors;
use grammata::error::Result;
use grammata::syntax::automaton_spec::Spec;
use grammata_agents::plan::Plan;
use grammata_process::{ShellError, run_shell};
use serde::Serialize;
use std::time::Duration;

/// Maximum bytes that the command may write.
const MOST_OUTPUT: u64 = 1 << 16;

/// What the command reads: one line of JSON.
#[derive(Serialize)]
struct Input<'a> {
    /// The text of the task.
    task: &'a str,
    /// The plan, in the order of execution.
    steps: Vec<StepReport<'a>>,
    /// The sum of the costs of its actions.
    cost: u64,
}

/// Runs `sh -c COMMAND` with the plan as JSON on its standard input. The reward is the first word that it writes.
///
/// # Errors
/// The command cannot be run, fails, takes longer than `deadline`, writes too much, or does not write a finite number.
pub(super) fn reward(command: &str, deadline: Duration, task: &str, plan: &Plan, spec: &Spec) -> Result<f64> {
    let fail = |found: &str| errors::reward(command, found);
    let input = Input { task, steps: show::steps(plan, spec), cost: plan.cost(spec) };
    let input = serde_json::to_string(&input).map_err(|cause| fail(&cause.to_string()))?;
    let written =
        run_shell(command, format!("{input}\n"), deadline, MOST_OUTPUT).map_err(|error| match error {
            ShellError::Failed(found) => fail(&found),
            ShellError::Timeout => errors::reward_timeout(command, deadline),
        })?;
    let written = String::from_utf8_lossy(&written);
    let number = written.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    number.filter(|number| number.is_finite()).ok_or_else(|| fail(written.trim()))
}
