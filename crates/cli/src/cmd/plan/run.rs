//! `grammata plan run`: searches for plans with a policy, or lets a model write them.

use super::policy::{Kind, PolicyArgs, Prompting};
use super::reward;
use super::search::SearchArgs;
use super::show::{self, StepReport};
use super::spec::SpecArgs;
use super::tasks::{self, Description};
use crate::args::deadline::deadline;
use crate::args::endpoint;
#[cfg(not(feature = "ort"))]
use crate::io::errors;
use crate::io::messages::{self, Progress};
use crate::io::output::{Exit, Failure, Output, seconds};
use grammata::error::{Error, Result};
use grammata_agents::plan::policy::WeightedPolicy;
use grammata_agents::plan::{
    Conflicts, Episode, Event, Outcome, Plan, PlanAutomaton, Policy, Problem, Questions, ReadPlan, Verdict,
    policy_rows,
};
use grammata_agents_drive::chat::{self, Chat, Form, Request};
use grammata_agents_drive::plan::ChatPolicy;
use serde::Serialize;
use serde_json::Value;
use std::io::Write;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The plan is a table in the order of execution. A policy is only offered what still leads to a finished plan, but by
/// `--strategy backtracking`. The exit code is 1 if there is no plan, or a plan that was written freely is wrong.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    pub(super) spec: SpecArgs,
    /// The task to plan, as it appears in the questions
    #[arg(long, value_name = "TEXT", help_heading = "Task")]
    pub(super) task: Option<String>,
    /// A file of tasks, one a line: a description, or `{"task": TEXT, "parameters": {NAME: VALUE}}`
    #[arg(long, value_name = "FILE", conflicts_with = "task", help_heading = "Task")]
    pub(super) tasks: Option<PathBuf>,
    /// Only these tasks of the file, counted from 0
    #[arg(
        long,
        value_name = "N,N-N,…",
        value_delimiter = ',',
        value_parser = tasks::range,
        requires = "tasks",
        help_heading = "Task"
    )]
    pub(super) only: Vec<RangeInclusive<usize>>,
    #[command(flatten)]
    pub(super) policy: PolicyArgs,
    /// Show a model that is asked for the whole plan N short plans of the spec
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Policy")]
    pub(super) shown_plans: usize,
    #[command(flatten)]
    pub(super) search: SearchArgs,
    /// Show the attempts on standard error
    #[arg(long, help_heading = "Search")]
    pub(super) trace: bool,
    /// Make N plans a task
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Rewards")]
    pub(super) samples: usize,
    /// A command that reads a plan as JSON and writes its reward, a number
    #[arg(long, value_name = "CMD", help_heading = "Rewards")]
    pub(super) reward: Option<String>,
    /// Seconds that the command may take for a plan
    #[arg(hide_short_help = true, long, value_name = "SECONDS", default_value = "30", value_parser = deadline, help_heading = "Rewards")]
    pub(super) deadline: Duration,
    /// Append each choice to a file, a JSON object a line: task, sample, step, prompt, options, completion, chosen,
    /// logprob, reward, advantage
    #[arg(hide_short_help = true, long, value_name = "FILE", requires = "reward", help_heading = "Rewards")]
    pub(super) policy_data: Option<PathBuf>,
    /// Write the plan with the spec's template `plan`
    #[arg(long)]
    pub(super) rendered: bool,
}

/// A task with its plan automaton and questions.
pub(super) struct Task {
    pub(super) name: String,
    pub(super) plans: PlanAutomaton,
    pub(super) questions: Questions,
}

/// The result of a task.
#[derive(Debug, Default)]
pub(super) struct Made {
    pub(super) outcome: Outcome,
    /// The text that a model wrote, if it is not a plan of the spec.
    pub(super) wrong: Option<String>,
    pub(super) time: Duration,
}

/// A function that makes the plan of a task.
type Maker<'m> = dyn FnMut(&mut Task) -> Result<Made> + 'm;

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let tasks = descriptions(arguments)?;
    match arguments.policy.kind() {
        Kind::Model => with_model(arguments, tasks, output),
        Kind::Chat => with_chat(arguments, tasks, output),
        _ => {
            let mut policy = arguments.policy.simple()?;
            let mut maker = |task: &mut Task| by_choices(task, &mut *policy, arguments);
            // a spinner would overwrite the dialogue
            let is_dialogue = arguments.policy.kind() == Kind::Ask;
            let progress = || (!is_dialogue).then(|| Progress::start("planning"));
            let (exit, _) = all(arguments, tasks, (&mut maker, &progress), output)?;
            Ok(exit)
        }
    }
}

/// Returns the tasks given by the arguments: one, or those of a file.
fn descriptions(arguments: &Arguments) -> Result<Vec<Description>> {
    match &arguments.tasks {
        None => Ok(vec![Description { task: arguments.task.clone(), ..Description::default() }]),
        Some(path) => tasks::descriptions(path, &arguments.only, &arguments.spec.limits.get()),
    }
}

/// Builds a task from its description: the spec with its parameters, and the questions.
fn task(arguments: &Arguments, description: &Description) -> Result<Task> {
    let Description { name, task, parameters } = description;
    let spec = arguments.spec.read_with(parameters)?;
    let questions = Questions::new(&spec, task.as_deref())?;
    if let Some(warning) = arguments.spec.unset(parameters, &spec).filter(|_| arguments.task.is_some()) {
        messages::warning(&warning);
    }
    Ok(Task { name: name.clone(), plans: PlanAutomaton::new(spec)?, questions })
}

/// Searches for a plan, choice by choice, with a policy.
fn by_choices(task: &mut Task, policy: &mut dyn Policy, arguments: &Arguments) -> Result<Made> {
    let options = arguments.search.options().trace(arguments.trace);
    let start = Instant::now();
    let mut policy = WeightedPolicy::new(policy, arguments.search.heuristics());
    let mut problem = Problem::new(&mut task.plans, &mut policy, &task.questions, &options);
    let outcome = arguments.search.strategy().run(&mut problem)?;
    Ok(Made { outcome, wrong: None, time: start.elapsed() })
}

/// Totals over all plans.
#[derive(Debug, Default)]
struct Sums {
    plans: usize,
    valid: usize,
    questions: usize,
    backtracks: usize,
    rewards: f64,
    time: Duration,
}

/// Runs all tasks and writes their plans. `progress` starts a progress display for one plan.
fn all(
    arguments: &Arguments,
    tasks: Vec<Description>,
    (make, progress): (&mut Maker<'_>, &dyn Fn() -> Option<Progress>),
    output: &mut Output,
) -> Result<(Exit, Sums), Failure> {
    let mut sums = Sums::default();
    let single = is_single(arguments);
    if output.is_json() {
        output.list("plans")?;
    }
    for (place, description) in tasks.into_iter().enumerate() {
        let mut task = task(arguments, &description)?;
        if place == 0 {
            task.plans.spec().warnings().iter().for_each(messages::warning);
        }
        let mut episodes = Vec::new();
        let mut made_plans: Vec<Option<Plan>> = Vec::new();
        for _ in 0..arguments.samples {
            let progress = progress();
            let made = make(&mut task)?;
            drop(progress);
            made_plans.push(made.outcome.plan.clone());
            if arguments.trace {
                output.flush()?;
                trace(&task, &made.outcome.trace);
            }
            let mut reward = None;
            let mut valid = false;
            if let Some(plan) = &made.outcome.plan {
                // checks the plan again, independently of the search
                let walk = task.plans.walk(plan)?;
                valid = walk.is_some_and(|walk| task.plans.is_complete(walk.position().state));
                if let Some(command) = arguments.reward.as_ref().filter(|_| valid) {
                    let (task, spec) = (task.questions.task(), task.plans.spec());
                    let worth = reward::reward(command, arguments.deadline, task, plan, spec)?;
                    episodes.push(Episode { decisions: made.outcome.decisions.clone(), reward: worth });
                    sums.rewards += worth;
                    reward = Some(worth);
                }
            }
            sums.plans += 1;
            sums.valid += usize::from(valid);
            sums.questions += made.outcome.questions;
            sums.backtracks += made.outcome.backtracks;
            sums.time += made.time;
            write(arguments, &task, &made, (valid, reward), output)?;
            output.flush()?;
        }
        if let [first, others @ ..] = made_plans.as_slice()
            && !others.is_empty()
            && others.iter().all(|other| other == first)
        {
            messages::note(&all_alike(arguments, &task.name, made_plans.len()));
        }
        if let Some(path) = &arguments.policy_data {
            append(path, &policy_rows(task.questions.task(), &episodes))?;
        }
    }
    if !single {
        messages::plain(&format!(
            "{} of {} plans are valid; {} questions, {} steps taken back, {:.1?}",
            sums.valid, sums.plans, sums.questions, sums.backtracks, sums.time
        ));
        if arguments.reward.is_some() {
            messages::plain(&format!("mean reward {:.3}", sums.rewards / sums.valid.max(1) as f64));
        }
    }
    Ok((if sums.valid == sums.plans { Exit::Done } else { Exit::Rejected }, sums))
}

/// A plan in JSON, an item of the member `plans`.
#[derive(Serialize)]
struct PlanReport<'a> {
    /// The text of the task.
    task: &'a str,
    /// The steps, in the order of execution. Null if there is no plan.
    steps: Option<Vec<StepReport<'a>>>,
    /// Whether it is a plan of the spec.
    valid: bool,
    /// Number of questions that the policy was asked.
    questions: usize,
    /// Number of steps that the search took back.
    backtracks: usize,
    seconds: f64,
    /// Left out without `--reward`, and if the plan is not valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    reward: Option<f64>,
    /// The text of a model that is not a plan. Left out if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<&'a str>,
}

fn write(
    arguments: &Arguments,
    task: &Task,
    made: &Made,
    (valid, reward): (bool, Option<f64>),
    output: &mut Output,
) -> Result<(), Failure> {
    let spec = task.plans.spec();
    let single = is_single(arguments);
    if output.is_json() {
        output.item(&PlanReport {
            task: task.questions.task(),
            steps: made.outcome.plan.as_ref().map(|plan| show::steps(plan, spec)),
            valid,
            questions: made.outcome.questions,
            backtracks: made.outcome.backtracks,
            seconds: seconds(made.time),
            reward,
            written: made.wrong.as_deref(),
        })?;
        return Ok(());
    }
    match (&made.outcome.plan, &made.wrong) {
        (Some(plan), _) if single && arguments.rendered => {
            write!(output, "{}", task.questions.plan(spec, plan)?)?;
        }
        (Some(plan), _) if single => show::table(plan, spec, output)?,
        (Some(plan), _) if task.name.is_empty() => writeln!(output, "{}", show::line(plan, spec))?,
        (Some(plan), _) => writeln!(output, "{}: {}", task.name, show::line(plan, spec))?,
        (None, Some(wrong)) => {
            let wrong = grammata::diagnostic::excerpt(wrong.trim());
            writeln!(output, "{}{}not a plan: {wrong}", task.name, if single { "" } else { ": " })?;
        }
        (None, None) => {
            writeln!(output, "{}{}there is no plan", task.name, if single { "" } else { ": " })?;
            if let Some(conflict) = Conflicts::new(task.plans.shared_spec()).of(&Plan::default())? {
                output.flush()?;
                messages::plain(show::conflict(&conflict).trim_end());
            }
        }
    }
    if let Some(reward) = reward.filter(|_| single) {
        writeln!(output, "reward {reward}")?;
    }
    Ok(())
}

/// Returns whether there is only one plan, which is written as a table.
fn is_single(arguments: &Arguments) -> bool {
    arguments.tasks.is_none() && arguments.samples == 1
}

/// Returns the note that all samples of a task are the same plan, with a remedy if there is one.
fn all_alike(arguments: &Arguments, name: &str, samples: usize) -> String {
    let of = if name.is_empty() { String::new() } else { format!(" of task {name}") };
    let cure = match arguments.policy.kind() {
        Kind::Model if arguments.policy.temperature == 0.0 => ": --temperature T varies a model's choices",
        Kind::First | Kind::Adversarial => ": --policy random varies choices",
        _ => "",
    };
    let no_use = if arguments.policy_data.is_some() { ", so every advantage is 0" } else { "" };
    format!("all {samples} plans{of} are the same{no_use}{cure}")
}

/// Appends rows to a file, one JSON object per line.
fn append(path: &Path, rows: &[Value]) -> Result<()> {
    let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|cause| Error::io(path, &cause))
}

fn trace(task: &Task, events: &[Event]) {
    for event in events {
        messages::plain(&match event {
            Event::Took { depth, step, choices } => {
                let text = step.text(task.plans.spec());
                format!("{}took {} (of {choices})", "  ".repeat(*depth), text.trim())
            }
            Event::WentBack { depth } => format!("{}dead end: back", "  ".repeat(*depth)),
        });
    }
}

/// Asks a model by chat, for each choice or for the whole plan.
fn with_chat(arguments: &Arguments, tasks: Vec<Description>, output: &mut Output) -> Result<Exit, Failure> {
    let policy = &arguments.policy;
    let model = policy.chat.load(policy.temperature, policy.seed)?;
    let mut model = model.ok_or_else(crate::io::errors::needs_model)?;
    let mut maker = |task: &mut Task| match arguments.policy.prompt_mode {
        Prompting::Choice(_) => by_choices(task, &mut ChatPolicy::new(&mut *model), arguments),
        Prompting::Whole => whole(task, &mut *model, arguments, true),
        Prompting::Free => whole(task, &mut *model, arguments, false),
    };
    let made = all(arguments, tasks, (&mut maker, &|| Some(Progress::start("planning"))), output);
    endpoint::report(&model.usage());
    Ok(made?.0)
}

/// Asks a model for the whole plan. With `is_checked`, an answer that is not a plan is refused once, with the reason,
/// and a second such answer is an error; otherwise the answer is kept as written.
fn whole(task: &mut Task, model: &mut dyn Chat, arguments: &Arguments, is_checked: bool) -> Result<Made> {
    const MOST_TOKENS: u32 = 2_048;
    let start = Instant::now();
    let request = Request::new(prompt(task, arguments.shown_plans, true)?, Form::Text, MOST_TOKENS);
    let mut made = Made::default();
    let sources = task.plans.sources();
    let mut check = |text: &str| -> Result<std::result::Result<Plan, String>> {
        let read = ReadPlan::parse(text, task.plans.spec());
        // an answer that is not a plan is wrong, not an error
        Ok(match read.and_then(|read| task.plans.verify(&read, &sources)) {
            Ok(Verdict::Valid(plan)) => Ok(plan),
            Ok(_) => Err("it is none of the plans that the spec allows".to_owned()),
            Err(error) => Err(error.diagnostic().message().to_owned()),
        })
    };
    if is_checked {
        made.outcome.plan = Some(chat::ask(model, request, |answer| check(&answer.text))?);
    } else {
        let answer = model.ask(&request)?;
        match check(&answer.text)? {
            Ok(plan) => made.outcome.plan = Some(plan),
            Err(_) => made.wrong = Some(answer.text),
        }
    }
    made.outcome.questions = 1;
    made.time = start.elapsed();
    Ok(made)
}

#[cfg(not(feature = "ort"))]
fn with_model(_: &Arguments, _: Vec<Description>, _: &mut Output) -> Result<Exit, Failure> {
    Err(errors::no_onnx_runtime().into())
}

/// Returns the prompt for a whole plan, with at most `examples` plans. With `executed` it asks for one line per step in
/// the order of execution, otherwise for a word of the spec.
fn prompt(task: &mut Task, examples: usize, executed: bool) -> Result<String> {
    use grammata_agents::plan::{Objective, PartialPlan, Step};
    let mut shown = Vec::new();
    // the shortest plan after each possible first action that takes no set
    let start = PartialPlan::new(&task.plans);
    for successor in task.plans.live_successors(&start)? {
        if shown.len() == examples {
            break;
        }
        let mut walk = start.clone();
        walk.push(Step::of(successor.action), successor.to);
        if task.plans.spec().symbols().get(successor.action).is_some_and(|symbol| symbol.set.is_none()) {
            shown.extend(task.plans.completion(&walk, Objective::Steps)?);
        }
    }
    Ok(task.questions.whole(&task.plans, &shown, executed))
}

#[cfg(feature = "ort")]
fn with_model(arguments: &Arguments, tasks: Vec<Description>, output: &mut Output) -> Result<Exit, Failure> {
    use super::model::LoadedModel;
    use crate::io::text::counted;
    use grammata::mask::Compiler;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    const MOST_TOKENS: usize = 120;
    let limits = arguments.spec.limits.get();
    let mut model = LoadedModel::load(&arguments.policy, arguments.policy_data.is_some(), &limits)?;
    let compiler = Compiler::new(Arc::clone(model.vocabulary()));
    let mut policy = model.policy()?;
    let tokens = Arc::new(AtomicUsize::new(0));
    let counted_tokens = Arc::clone(&tokens);
    policy.observe(move |used| counted_tokens.store(used.tokens, Ordering::Relaxed));
    let progress = || Some(Progress::with_tokens("planning", Arc::clone(&tokens)));
    let mut maker = |task: &mut Task| {
        let start = Instant::now();
        let mut made = Made::default();
        match arguments.policy.prompt_mode {
            Prompting::Choice(_) => return by_choices(task, &mut policy, arguments),
            Prompting::Whole => {
                let compiled = compiler.compile(&task.plans.spec().grammar()?)?;
                let prompt = prompt(task, arguments.shown_plans, false)?;
                let written = policy.write(&prompt, Some(&compiled), MOST_TOKENS)?;
                if written.is_complete {
                    made.outcome.plan = task.plans.read_word(&written.text)?;
                    made.outcome.score = Some(written.log_probability);
                }
                made.wrong = Some(written.text);
            }
            Prompting::Free => {
                let prompt = prompt(task, arguments.shown_plans, true)?;
                let written = policy.write(&prompt, None, MOST_TOKENS)?;
                let read = ReadPlan::parse(&written.text, task.plans.spec());
                let sources = task.plans.sources();
                // an answer that is not a plan is wrong, not an error
                made.outcome.plan = match read.and_then(|read| task.plans.verify(&read, &sources)) {
                    Ok(Verdict::Valid(plan)) if written.is_complete => Some(plan),
                    _ => None,
                };
                made.wrong = Some(written.text);
            }
        }
        if made.outcome.plan.is_some() {
            made.wrong = None;
        }
        made.outcome.questions = 1;
        made.time = start.elapsed();
        Ok(made)
    };
    let (exit, _) = all(arguments, tasks, (&mut maker, &progress), output)?;
    let used = policy.usage();
    messages::plain(&format!(
        "{}, {} over {} in {:.1?}",
        counted(used.calls, "model call"),
        counted(used.runs, "run"),
        counted(used.tokens, "token"),
        used.time
    ));
    Ok(exit)
}
