//! `grammata-lab procedure evaluate`: runs arms over simulated users, with a journal and a report.

use crate::procedures::{ARMS, Arm, SessionRecord, judge};
use grammata::error::Result;
use grammata::limits::Limits;
use grammata_agents::procedures::Procedure;
use grammata_agents_drive::procedures::{Agent, RuleAgent, RunOptions, ScriptedUser, Simulation, UserScript};
use grammata_cli::args::limits::LimitArgs;
use grammata_cli::args::source;
use grammata_cli::cmd::procedure::model::ModelArgs;
use grammata_cli::cmd::procedure::run::{procedure, simulation};
use grammata_cli::io::messages;
use grammata_cli::io::output::{Exit, Failure, Output};
use grammata_report::Journal;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Runs each user of simulations under each arm. The procedure of a simulation is beside its folder, or in it. Without a model
/// the agent is the reference agent, which follows the text. The report is on standard output.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Arguments {
    /// Simulations
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The arms: A0 (no mask), A1 (the form of steps), A2 (the published controllers), A3 (graph), A4 (guarded), A5 (guarded,
    /// arguments, claims), A6 (strict), A7 (A5 with text and thoughts), A8 (A5 without provenance and progress)
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_value = "A5")]
    arms: Vec<String>,
    /// Only the first N users of each simulation that stay in the workflow, and the first N that leave it
    #[arg(long, value_name = "N")]
    users: Option<usize>,
    /// Messages of a user, at most
    #[arg(long, value_name = "N", default_value_t = 20)]
    messages: usize,
    /// Acts of the agent in one turn, at most
    #[arg(long, value_name = "N", default_value_t = 6)]
    acts: usize,
    /// Begin no session after this many seconds
    #[arg(long, value_name = "S")]
    seconds: Option<u64>,
    /// Keep the sessions in a file of JSON lines, and do not repeat those that it has
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    #[command(flatten)]
    model: ModelArgs,
    /// Write the report as HTML
    #[arg(long)]
    html: bool,
    #[command(flatten)]
    limits: LimitArgs,
}

/// A simulation with its procedure, and the indices of the chosen users.
struct Unit {
    procedure: Procedure,
    simulation: Simulation,
    users: Vec<usize>,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.limits.get();
    let mut arms = Vec::with_capacity(arguments.arms.len());
    for name in &arguments.arms {
        let known = ARMS.iter().map(|arm| arm.name);
        arms.push(Arm::named(name).ok_or_else(|| crate::commands::errors::no_such_arm(name, known))?);
    }
    let units = units(arguments, &limits)?;
    let records = with_model(arguments, &units, &arms, &limits)?;
    if output.is_json() {
        output.list("sessions")?;
        for record in &records {
            output.item(record)?;
        }
        return Ok(Exit::Done);
    }
    let report = crate::procedures::report("Procedures: arms over simulated users", &records);
    let text = if arguments.html { report.to_html() } else { report.to_markdown() };
    output.write_all(text.as_bytes())?;
    Ok(Exit::Done)
}

fn units(arguments: &Arguments, limits: &Limits) -> Result<Vec<Unit>> {
    let mut units = Vec::with_capacity(arguments.files.len());
    for path in &arguments.files {
        let simulation = simulation(path, limits)?;
        let name = format!("{}.yaml", simulation.procedure);
        let here = path.with_file_name(&name);
        let folder = path.parent().and_then(|folder| folder.parent()).map(|folder| folder.join(&name));
        let file = folder.filter(|path| path.exists()).unwrap_or(here);
        let procedure = procedure(&file, limits)?;
        let mut users = Vec::new();
        for kind in ["iw", "oow"] {
            let of_kind = (0..simulation.users.len()).filter(|&user| simulation.users[user].kind == kind);
            users.extend(of_kind.take(arguments.users.unwrap_or(usize::MAX)));
        }
        units.push(Unit { procedure, simulation, users });
    }
    Ok(units)
}

/// Returns the id of a session in journals.
fn id(arm: &Arm, unit: &Unit, user: &UserScript) -> String {
    format!("{}/{}/{}", arm.name, unit.simulation.procedure, user.id)
}

/// Runs all sessions that are not in the journal. Arms take turns, so that a run that ends early has sessions of all of
/// them.
fn sessions(
    arguments: &Arguments,
    units: &[Unit],
    arms: &[Arm],
    session: &mut dyn FnMut(&Unit, &UserScript, &Arm) -> Result<SessionRecord>,
) -> Result<Vec<SessionRecord>> {
    let model = &arguments.model;
    let settings = json!({
        "model": model.model.as_ref().map(|path| source::name_of(path)),
        "temperature": model.temperature,
        "seed": model.seed,
        "messages": arguments.messages,
        "acts": arguments.acts,
    });
    let mut journal: Option<Journal<SessionRecord>> = match &arguments.journal {
        Some(path) => Some(Journal::open(path, &settings)?),
        None => None,
    };
    let start = Instant::now();
    let is_late = || arguments.seconds.is_some_and(|most| start.elapsed() >= Duration::from_secs(most));
    let most = units.iter().map(|unit| unit.users.len()).max().unwrap_or(0);
    let mut records = Vec::new();
    // the first user of each simulation, then the second users, and so on
    for place in 0..most {
        for unit in units {
            let Some(user) = unit.users.get(place).map(|&user| &unit.simulation.users[user]) else {
                continue;
            };
            for arm in arms {
                let id = id(arm, unit, user);
                if let Some(known) = journal.as_ref().and_then(|journal| journal.get(&id)) {
                    records.push(known.clone());
                    continue;
                }
                if is_late() {
                    continue;
                }
                let record = session(unit, user, arm)?;
                messages::plain(&format!(
                    "{id}: {}, {} of {} goals, {} of {} steps wrong, {:.1} s",
                    if record.judgement.success { "success" } else { "no success" },
                    record.judgement.made,
                    record.judgement.expected,
                    record.judgement.wrong(),
                    record.judgement.steps,
                    record.seconds
                ));
                if let Some(journal) = &mut journal {
                    journal.append(id, record.clone())?;
                }
                records.push(record);
            }
        }
    }
    Ok(records)
}

/// Runs one session with an agent. A procedure that cannot be supervised in a mode is bound by the rules of the mode
/// only.
fn one(
    unit: &Unit,
    user: &UserScript,
    arm: &Arm,
    agent: &mut dyn Agent,
    options: &RunOptions,
) -> Result<SessionRecord> {
    let (workflow, _) =
        grammata_cli::cmd::procedure::workflow(&unit.procedure, arm.options.mode(), &options.limits)?;
    let mut script = ScriptedUser::new(user);
    let mut apis = unit.simulation.apis();
    let record = grammata_agents_drive::procedures::run(
        &[workflow],
        &arm.options,
        agent,
        &mut script,
        &mut apis,
        options,
    )?;
    let judgement = judge(&unit.procedure, user, &record);
    let name = format!("{}/{}", unit.simulation.procedure, user.id);
    Ok(SessionRecord::of(arm.name, &name, &user.kind, judgement, &record))
}

fn with_model(
    arguments: &Arguments,
    units: &[Unit],
    arms: &[Arm],
    limits: &Limits,
) -> Result<Vec<SessionRecord>> {
    let (user_messages, acts) = (arguments.messages, arguments.acts);
    let options = RunOptions::default().user_messages(user_messages).acts(acts).limits(limits.clone());
    #[cfg(feature = "ort")]
    if let Some(mut model) = grammata_cli::cmd::procedure::model::LoadedModel::load(&arguments.model, limits)?
    {
        return sessions(arguments, units, arms, &mut |unit, user, arm| {
            one(unit, user, arm, &mut model.agent(limits)?, &options)
        });
    }
    #[cfg(not(feature = "ort"))]
    if arguments.model.model.is_some() {
        return Err(grammata_cli::io::errors::no_onnx_runtime());
    }
    sessions(arguments, units, arms, &mut |unit, user, arm| {
        let mut agent = RuleAgent::new(user.slots.clone(), user.prose.clone());
        one(unit, user, arm, &mut agent, &options)
    })
}
