//! `grammata plan chat`: executes a plan step by step in an environment.

use super::policy::{Kind, PolicyArgs};
use super::show::{self, StepReport};
use super::spec::SpecArgs;
use crate::args::deadline::deadline;
use crate::args::source;
#[cfg(not(feature = "ort"))]
use crate::io::errors;
use crate::io::messages;
use crate::io::output::{Exit, Failure, Output};
use grammata::error::Result;
use grammata_agents::plan::{Environment, Observation, Planner, Policy, Questions, Step};
use grammata_agents_drive::plan::{ChatPolicy, CommandEnvironment, MockEnvironment};
use serde::Serialize;
use serde_json::{Map, Value};
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

/// Only steps are offered after each of whose outcomes the plan can still be finished. The environment says what came of a
/// step: a file of answers, or a command. Without one, the first outcome always comes.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    spec: SpecArgs,
    /// The task, as it appears in the questions
    #[arg(long, value_name = "TEXT", help_heading = "Task")]
    task: Option<String>,
    /// A TOML file of answers: for each action `[[ID]]` tables with `when`, `outcome`, `facts`, `data`, `fail`, `timeout`
    #[arg(long, value_name = "FILE", help_heading = "Environment")]
    environment: Option<PathBuf>,
    /// A command that reads a step as JSON and writes its result: `{"outcome": NAME, "facts": {…}, "data": …}`
    #[arg(long, value_name = "CMD", conflicts_with = "environment", help_heading = "Environment")]
    environment_command: Option<String>,
    /// Seconds that the command may take for a step
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = deadline, help_heading = "Environment")]
    deadline: Duration,
    /// The number of retries of a step that fails or takes too long
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Environment")]
    retries: usize,
    #[command(flatten)]
    policy: PolicyArgs,
    /// After this many steps, offer only actions that finish the plan in the fewest steps
    #[arg(long, value_name = "N", default_value_t = 100, help_heading = "Search")]
    max_free_steps: usize,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    match arguments.policy.kind() {
        Kind::Model => with_model(arguments, output),
        Kind::Chat => with_chat(arguments, output),
        _ => {
            let mut policy = arguments.policy.simple()?;
            chat(arguments, &mut *policy, output)
        }
    }
}

#[cfg(not(feature = "ort"))]
fn with_model(_: &Arguments, _: &mut Output) -> Result<Exit, Failure> {
    Err(errors::no_onnx_runtime().into())
}

#[cfg(feature = "ort")]
fn with_model(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let mut model = super::model::LoadedModel::load(&arguments.policy, false, &arguments.spec.limits.get())?;
    let mut policy = model.policy()?;
    chat(arguments, &mut policy, output)
}

fn with_chat(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let policy = &arguments.policy;
    let model = policy.chat.load(policy.temperature, policy.seed)?;
    let mut model = model.ok_or_else(crate::io::errors::needs_model)?;
    let exit = chat(arguments, &mut ChatPolicy::new(&mut *model), output);
    crate::args::endpoint::report(&model.usage());
    exit
}

/// A step that was carried out, in JSON.
#[derive(Serialize)]
struct EventReport<'a> {
    step: StepReport<'a>,
    /// The observed result of the step.
    observation: &'a Observation,
    /// The facts of the spec after the step, by name: `true`, `false` or a value; null for a fact without a value.
    facts: Map<String, Value>,
    /// The ids of the actions that may come next.
    next: &'a [&'a str],
    /// Whether the plan may end here.
    may_end: bool,
}

/// The end of the report, after the member `events`.
#[derive(Serialize)]
struct Report<'a> {
    /// The plan, in the order of execution.
    steps: Vec<StepReport<'a>>,
}

fn chat(arguments: &Arguments, policy: &mut dyn Policy, output: &mut Output) -> Result<Exit, Failure> {
    let plans = arguments.spec.load()?;
    let questions = Questions::new(plans.spec(), arguments.task.as_deref())?;
    let mut environment = environment(arguments, &plans)?;
    let mut planner = Planner::new(plans)?.with_max_free_steps(arguments.max_free_steps);
    if output.is_json() {
        output.list("events")?;
    }
    while let Some(step) = planner.choose(policy, &questions)? {
        let observation = execute(arguments, &mut planner, &mut *environment, step)?;
        write_step(&mut planner, &observation, output)?;
        output.flush()?;
    }
    let spec = planner.spec();
    if output.is_json() {
        output.report(&Report { steps: show::steps(planner.plan(), spec) })?;
    } else {
        let steps = crate::io::text::counted(planner.plan().steps.len(), "step");
        writeln!(output, "finished: {steps}")?;
    }
    Ok(Exit::Done)
}

fn environment(
    arguments: &Arguments,
    plans: &grammata_agents::plan::PlanAutomaton,
) -> Result<Box<dyn Environment>> {
    if let Some(command) = &arguments.environment_command {
        return Ok(Box::new(CommandEnvironment::new(command, arguments.deadline)));
    }
    if let Some(path) = &arguments.environment {
        let text = source::text(path, plans.limits())?;
        let mock = MockEnvironment::parse(&text, plans.spec());
        return Ok(Box::new(mock.map_err(|error| error.in_file(&path.display().to_string()))?));
    }
    Ok(Box::new(|spec: &grammata::syntax::automaton_spec::Spec, step: &Step| {
        let first = spec.symbols().get(step.action).and_then(|symbol| symbol.outcomes.first().cloned());
        Ok(Observation { outcome: first, ..Observation::default() })
    }))
}

/// Executes a step. After a failure or a timeout it is tried again, at most `--retries` times.
fn execute(
    arguments: &Arguments,
    planner: &mut Planner,
    environment: &mut dyn Environment,
    step: Step,
) -> Result<Observation> {
    let mut tries = 0;
    loop {
        match planner.execute(environment, step.clone()) {
            Ok(observation) => return Ok(observation.clone()),
            Err(error)
                if tries < arguments.retries
                    && matches!(error.code(), "environment/failed" | "environment/timeout") =>
            {
                tries += 1;
                messages::warning(error.diagnostic());
            }
            Err(error) => return Err(error),
        }
    }
}

fn write_step(planner: &mut Planner, observation: &Observation, output: &mut Output) -> Result<(), Failure> {
    let next = planner.next()?;
    let spec = planner.spec();
    let mut open: Vec<&str> = Vec::new();
    for symbol in next.actions().iter().filter_map(|&action| spec.symbols().get(action)) {
        open.push(&symbol.id);
    }
    let plan = planner.plan();
    let Some(step) = plan.steps.last() else { return Ok(()) };
    if output.is_json() {
        output.item(&EventReport {
            step: StepReport::new(step, spec),
            observation,
            facts: planner.facts(),
            next: &open,
            may_end: next.may_end(),
        })?;
        return Ok(());
    }
    writeln!(output, "{}  {}", plan.steps.len(), step.line(spec).trim())?;
    if observation.data != Value::Null {
        writeln!(output, "   {}", observation.data)?;
    }
    if next.may_end() && !open.is_empty() {
        open.push("the end");
    }
    if !open.is_empty() {
        writeln!(output, "   next: {}", open.join(", "))?;
    }
    Ok(())
}
