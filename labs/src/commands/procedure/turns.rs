//! `grammata-lab procedure turns`: judges recorded sessions of people, step by step.

use crate::procedures::{Confusion, Recorded, Turns, replay};
use grammata::error::Result;
use grammata::limits::Limits;
use grammata_agents::procedures::{self, Event, Mode, Procedure};
use grammata_agents_drive::procedures::{Agent, AgentOptions, Mask};
use grammata_cli::args::limits::LimitArgs;
use grammata_cli::args::source;
use grammata_cli::cmd::procedure::ModeName;
use grammata_cli::cmd::procedure::model::ModelArgs;
use grammata_cli::cmd::procedure::run::procedure;
use grammata_cli::io::output::{Exit, Failure, Output};
use grammata_report::statistics::wilson;
use grammata_report::{Report, Table};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

/// Judges what people did by procedures, and with `--model` asks at each of their steps what the model would have done after the
/// same beginning. SESSIONS are JSON lines with `id`, `kind`, `tasks` (names of procedures) and `events`. Writes a report.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Arguments {
    /// The sessions
    #[arg(value_name = "SESSIONS")]
    sessions: PathBuf,
    /// The folder that has the procedure of each task, as TASK.yaml
    #[arg(long, value_name = "FOLDER")]
    procedures: PathBuf,
    /// How much of a procedure binds
    #[arg(long, value_enum, default_value_t = ModeName::Guarded)]
    mode: ModeName,
    /// Judge the arguments of calls too
    #[arg(long)]
    arguments: bool,
    /// Conditions on what users decide are open: for sessions that do not say what users decided
    #[arg(long)]
    open_decisions: bool,
    /// Only the first N sessions of each kind
    #[arg(long, value_name = "N")]
    first: Option<usize>,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    limits: LimitArgs,
}

/// The counts over the sessions of one kind.
#[derive(Default)]
struct Counts {
    sessions: usize,
    whole: usize,
    steps: usize,
    wrong: usize,
    reasons: BTreeMap<String, usize>,
    turns: Turns,
}

/// A function that replays the events of a session and asks an agent at each step.
type Replay<'r> = dyn FnMut(&Procedure, &[serde_json::Value]) -> Result<Turns> + 'r;

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.limits.get();
    let text = source::text(&arguments.sessions, &limits)?;
    let sessions = Recorded::read(&text, &limits)
        .map_err(|error| error.in_file(&source::name_of(&arguments.sessions)))?;
    let binding = AgentOptions::default().mask(Mask::Open(arguments.mode.into()));
    let counts =
        with_agent(arguments, &binding, &limits, |replay| count(arguments, &sessions, &limits, replay))?;
    let mut report = Report::new(format!("Sessions of people, {}", Mode::from(arguments.mode)));
    report.heading("What the procedures permit").table(permitted(&counts));
    if counts.values().any(|counts| counts.turns.turns > 0) {
        report.heading("What the agent would have done").table(predicted(&counts));
    }
    output.write_all(report.to_markdown().as_bytes())?;
    Ok(Exit::Done)
}

/// Calls `work` with a replay function, or with `None` if no model is named. A model that this build cannot run is an
/// error.
fn with_agent<R>(
    arguments: &Arguments,
    binding: &AgentOptions,
    limits: &Limits,
    work: impl FnOnce(Option<&mut Replay<'_>>) -> Result<R>,
) -> Result<R> {
    #[cfg(feature = "ort")]
    if let Some(mut model) = grammata_cli::cmd::procedure::model::LoadedModel::load(&arguments.model, limits)?
    {
        return work(Some(&mut |procedure, events| {
            one(procedure, binding, &mut model.agent(limits)?, events, limits)
        }));
    }
    #[cfg(not(feature = "ort"))]
    if arguments.model.model.is_some() {
        return Err(grammata_cli::io::errors::no_onnx_runtime());
    }
    let _ = (arguments, binding, limits);
    work(None)
}

#[cfg_attr(not(feature = "ort"), allow(dead_code))] // called only where a model can run
fn one(
    procedure: &Procedure,
    binding: &AgentOptions,
    agent: &mut dyn Agent,
    events: &[serde_json::Value],
    limits: &Limits,
) -> Result<Turns> {
    let (workflow, _) = grammata_cli::cmd::procedure::workflow(procedure, binding.mode(), limits)?;
    replay(&[workflow], binding, agent, events)
}

fn count(
    arguments: &Arguments,
    sessions: &[Recorded],
    limits: &Limits,
    mut replay: Option<&mut Replay<'_>>,
) -> Result<BTreeMap<String, Counts>> {
    let mut procedures: BTreeMap<String, Procedure> = BTreeMap::new();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut all: BTreeMap<String, Counts> = BTreeMap::new();
    for session in sessions {
        let number = seen.entry(&session.kind).or_default();
        *number += 1;
        if arguments.first.is_some_and(|most| *number > most) {
            continue;
        }
        for task in &session.tasks {
            if !procedures.contains_key(task) {
                procedures.insert(task.clone(), read(arguments, task, limits)?);
            }
            let Some(procedure) = procedures.get(task) else { continue };
            let events = session.events_of(procedure);
            let trace: Vec<Event> = events.iter().filter_map(Event::of).collect();
            let (verdict, _) =
                procedures::verify(procedure, arguments.mode.into(), &trace, arguments.arguments);
            let counts = all.entry(session.kind.clone()).or_default();
            counts.sessions += 1;
            counts.whole += usize::from(verdict.violations.is_empty());
            counts.steps += verdict.steps;
            counts.wrong += verdict.violations.len();
            for violation in &verdict.violations {
                *counts.reasons.entry(violation.obstacle.code().to_owned()).or_default() += 1;
            }
            if let Some(replay) = &mut replay {
                counts.turns.add(&replay(procedure, &events)?);
            }
        }
    }
    Ok(all)
}

/// Reads the procedure of a task. The name is from the file of sessions, so it must not lead out of the folder.
fn read(arguments: &Arguments, task: &str, limits: &Limits) -> Result<Procedure> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ');
    if task.is_empty() || !task.chars().all(is_part) {
        return Err(crate::commands::errors::task_name(task));
    }
    let mut procedure = procedure(&arguments.procedures.join(format!("{task}.yaml")), limits)?;
    if arguments.open_decisions {
        procedure.open_decisions();
    }
    Ok(procedure)
}

fn share(count: usize, of: usize) -> String {
    wilson(count, of).map_or_else(String::new, |share| {
        format!("{:.1} [{:.1}, {:.1}]", 100.0 * share.mean, 100.0 * share.low, 100.0 * share.high)
    })
}

fn f1((both, made, right): Confusion) -> String {
    let all = 2 * both + made + right;
    format!("{:.1}", if all == 0 { 0.0 } else { 200.0 * both as f64 / all as f64 })
}

fn table(columns: &[&str], rows: Vec<Vec<String>>) -> Table {
    Table { columns: columns.iter().map(|name| (*name).to_owned()).collect(), rows }
}

fn permitted(counts: &BTreeMap<String, Counts>) -> Table {
    let row = |(kind, counts): (&String, &Counts)| {
        let reasons: Vec<String> =
            counts.reasons.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
        vec![
            kind.clone(),
            counts.sessions.to_string(),
            share(counts.whole, counts.sessions),
            counts.steps.to_string(),
            counts.wrong.to_string(),
            share(counts.wrong, counts.steps),
            reasons.join(", "),
        ]
    };
    let columns = ["kind", "sessions", "whole %", "steps", "wrong", "wrong %", "reasons"];
    table(&columns, counts.iter().map(row).collect())
}

fn predicted(counts: &BTreeMap<String, Counts>) -> Table {
    let row = |(kind, counts): (&String, &Counts)| {
        let turns = &counts.turns;
        vec![
            kind.clone(),
            turns.turns.to_string(),
            share(turns.passed, turns.turns),
            f1(turns.tools),
            f1(turns.values),
            f1(turns.arguments),
        ]
    };
    let columns = ["kind", "turns", "pass %", "tool F1", "parameter F1", "by name and value"];
    table(&columns, counts.iter().map(row).collect())
}
