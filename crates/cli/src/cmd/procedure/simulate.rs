//! `grammata procedure simulate`: runs many random sessions of a procedure and reports their outcomes.

use super::{FileArgs, ModeName};
use crate::args::source;
use crate::io::messages::Progress;
use crate::io::output::{Exit, Failure, Output};
use crate::io::text::counted;
use grammata::error::{Error, Result};
use grammata::limits::Limits;
use grammata_agents::procedures::{self, Event, Mode, NodeKind, Procedure, WalkOptions, random_walk};
use grammata_report::statistics::{quantile, wilson};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Runs sessions in which the agent does anything that is offered, the user says and decides anything, and the APIs answer
/// anything that their schemas allow, fail, or leave slots out. Each step is verified. The exit code is 1 if one is wrong.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    file: FileArgs,
    /// Number of sessions
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    sessions: u64,
    /// How much of the procedure binds the agent
    #[arg(long, value_enum, default_value_t = ModeName::Guarded)]
    mode: ModeName,
    /// The most acts of the agent in a session
    #[arg(long, value_name = "N", default_value_t = 24)]
    acts: usize,
    /// The share of calls that fail
    #[arg(long, value_name = "X", default_value_t = 0.125, value_parser = share)]
    errors: f64,
    /// A simulation, whose users' values are told
    #[arg(long, value_name = "FILE")]
    simulation: Option<PathBuf>,
    /// Equal seeds give equal sessions
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Write each session as one line, a JSON list of its events
    #[arg(long, value_name = "FILE")]
    traces: Option<PathBuf>,
}

fn share(text: &str) -> std::result::Result<f64, String> {
    let share = text.parse().ok().filter(|share: &f64| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "it must be a number from 0 to 1".to_owned())
}

/// The counts over all sessions.
#[derive(Default)]
struct Counts {
    complete: usize,
    steps: Vec<f64>,
    wrong: usize,
    first_wrong: Option<String>,
    /// For each node, how often it was called or said.
    taken: BTreeMap<String, usize>,
    /// For each API, how many of its results are errors.
    errors: BTreeMap<String, usize>,
}

/// The report.
#[derive(Serialize)]
struct Report<'a> {
    /// Number of sessions.
    sessions: u64,
    /// How much of the procedure binds the agent: `graph`, `guarded` or `strict`.
    mode: String,
    /// Whether the agent is kept from acts after which the end may be out of reach. False for a procedure that can be
    /// blocked: there only the rules of the mode bind.
    supervised: bool,
    /// Number of sessions in which a closing answer was said when it was allowed.
    complete: usize,
    /// Number of calls and answers of all sessions.
    steps: f64,
    /// Number of steps that break the procedure.
    wrong: usize,
    /// For each node, how often it was called or said.
    taken: &'a BTreeMap<String, usize>,
    /// For each API, how many of its results are errors.
    errors: &'a BTreeMap<String, usize>,
    /// The APIs and informs that no session reached.
    never: &'a [&'a str],
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.file.limits.get();
    let procedure = arguments.file.read()?;
    let mode: Mode = arguments.mode.into();
    let (workflow, is_supervised) = super::workflow(&procedure, mode, &limits)?;
    let known = known(arguments, &limits)?;
    let (acts, errors) = (arguments.acts, arguments.errors);
    let mut traces = arguments.traces.as_deref().map(create).transpose()?;
    let mut counts = Counts::default();
    let workflow = [workflow];
    let progress = Progress::with_total("simulating sessions", arguments.sessions);
    for number in 0..arguments.sessions {
        progress.advance();
        // every second agent makes a call with an effect whenever it can
        let options = WalkOptions::default().acts(acts).errors(errors).eager(number % 2 == 1);
        let walk = random_walk(&workflow, &known, &options, arguments.seed.wrapping_add(number));
        counts.add(&procedure, mode, &walk.events);
        if let (Some(file), Some(path)) = (&mut traces, &arguments.traces) {
            writeln!(file, "{}", Value::Array(walk.events)).map_err(|cause| Error::io(path, &cause))?;
        }
    }
    progress.finish();
    if let (Some(file), Some(path)) = (&mut traces, &arguments.traces) {
        file.flush().map_err(|cause| Error::io(path, &cause))?;
    }
    let never = never(&procedure, &counts);
    if output.is_json() {
        output.report(&Report {
            sessions: arguments.sessions,
            mode: mode.to_string(),
            supervised: is_supervised,
            complete: counts.complete,
            steps: counts.steps.iter().fold(0.0, |sum, steps| sum + steps),
            wrong: counts.wrong,
            taken: &counts.taken,
            errors: &counts.errors,
            never: &never,
        })?;
    } else {
        counts.write(arguments, mode, is_supervised, output)?;
        if !never.is_empty() {
            writeln!(output, "never: {}", never.join(", "))?;
        }
    }
    Ok(if counts.wrong == 0 { Exit::Done } else { Exit::Rejected })
}

/// Returns the values that the simulation's users tell, by slot, without duplicates.
fn known(arguments: &Arguments, limits: &Limits) -> Result<BTreeMap<String, Vec<Value>>> {
    let mut known: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    if let Some(path) = &arguments.simulation {
        let simulation = super::run::simulation(path, limits)?;
        for (slot, value) in simulation.users.into_iter().flat_map(|user| user.slots) {
            let values = known.entry(slot).or_default();
            if !values.contains(&value) {
                values.push(value);
            }
        }
    }
    Ok(known)
}

fn create(path: &Path) -> Result<std::io::BufWriter<std::fs::File>> {
    let file = std::fs::File::create(path).map_err(|cause| Error::io(path, &cause))?;
    Ok(std::io::BufWriter::new(file))
}

/// Returns the APIs and informs that no session reached.
fn never<'p>(procedure: &'p Procedure, counts: &Counts) -> Vec<&'p str> {
    let nodes = procedure.nodes().iter();
    let nodes = nodes.filter(|node| matches!(node.kind, NodeKind::Api | NodeKind::Inform));
    nodes.map(|node| node.name.as_str()).filter(|name| !counts.taken.contains_key(*name)).collect()
}

impl Counts {
    fn add(&mut self, procedure: &Procedure, mode: Mode, events: &[Value]) {
        let trace: Vec<Event> = events.iter().filter_map(Event::of).collect();
        let (verdict, _) = procedures::verify(procedure, mode, &trace, true);
        self.complete += usize::from(verdict.is_complete);
        self.steps.push(verdict.steps as f64);
        self.wrong += verdict.violations.len();
        if let (None, Some(first)) = (&self.first_wrong, verdict.violations.first()) {
            self.first_wrong = Some(format!("{}: {}", first.node, first.obstacle));
        }
        let mut last = None;
        for event in trace {
            match event {
                Event::Call(name, _) => {
                    *self.taken.entry(name.clone()).or_default() += 1;
                    last = Some(name);
                }
                Event::Say { answer, .. } => *self.taken.entry(answer).or_default() += 1,
                Event::Result(result) if result.contains_key("error") => {
                    if let Some(api) = last.take() {
                        *self.errors.entry(api).or_default() += 1;
                    }
                }
                _ => {}
            }
        }
    }

    fn write(
        &self,
        arguments: &Arguments,
        mode: Mode,
        is_supervised: bool,
        output: &mut Output,
    ) -> Result<(), Failure> {
        // `sum` of no floats is -0, which would be shown
        let steps = self.steps.iter().fold(0.0, |sum, steps| sum + steps);
        let sessions = counted(self.steps.len(), "session");
        let bound = if is_supervised { "" } else { ", not supervised: it can be blocked" };
        writeln!(output, "{}: {sessions}, {mode}{bound}", source::name_of(&arguments.file.file))?;
        let at = |q: f64| quantile(&self.steps, q).unwrap_or_default();
        writeln!(output, "steps     {steps}, a session p50 {:.0}, p99 {:.0}", at(0.5), at(0.99))?;
        writeln!(output, "wrong     {}", self.wrong)?;
        if let Some(first) = &self.first_wrong {
            writeln!(output, "          the first: {first}")?;
        }
        if let Some(share) = wilson(self.complete, self.steps.len()) {
            writeln!(
                output,
                "complete  {:.1} % [{:.1}, {:.1}]",
                100.0 * share.mean,
                100.0 * share.low,
                100.0 * share.high
            )?;
        }
        let width = self.taken.keys().map(|name| name.chars().count()).max().unwrap_or(0);
        for (name, count) in &self.taken {
            let errors = self.errors.get(name).map(|errors| format!(", {errors} errors"));
            writeln!(output, "  {name:<width$}  {count}{}", errors.unwrap_or_default())?;
        }
        Ok(())
    }
}
