//! `grammata procedure run`: runs one session of an agent with a user and APIs.

use super::model::ModelArgs;
use super::{FileArgs, ModeName, folder_of, format};
use crate::args::deadline::deadline;
use crate::args::endpoint::{self, EndpointArgs};
use crate::args::source;
use crate::draw::svg;
use crate::io::output::{Exit, Failure, Output};
use crate::io::{errors, messages};
use clap::ValueEnum;
use grammata::error::{Error, Result};
use grammata::limits::Limits;
use grammata_agents::plan::Environment;
use grammata_agents::procedures::{Procedure, StepFormat, Texts, Workflow};
use grammata_agents_drive::procedures::{
    self as driver, Agent, AgentOptions, AskedUser, ChatAgent, ChatUser, CommandApis, Controllers, Ending,
    Mask, Record, RuleAgent, RunOptions, ScriptedUser, Simulation, User, UserScript,
};
use grammata_report::{Report, Transcript, Turn};
use serde::Serialize;
use serde_json::Value;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The user is a person (questions on standard error, messages on standard input, an empty line ends) or one of a simulation;
/// the APIs are those of the simulation or a command. The transcript is one line an event. The exit code is 3 if the session
/// ended before it was complete, 2 if an API could not be called, and 1 if an API's result cannot be followed.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    file: FileArgs,
    /// Another procedure that may interrupt the session
    #[arg(long = "with", value_name = "FILE")]
    others: Vec<PathBuf>,
    /// A simulation: APIs and scripted users
    #[arg(long, value_name = "FILE", help_heading = "User and APIs")]
    simulation: Option<PathBuf>,
    /// The user: a name of the simulation; without it a person is asked
    #[arg(long, value_name = "NAME", requires = "simulation", help_heading = "User and APIs")]
    user: Option<String>,
    /// This model plays the user of the simulation; it is told what that user knows and wants
    #[arg(long, value_name = "PATH", requires = "user", help_heading = "User and APIs")]
    user_model: Option<PathBuf>,
    /// The user of the simulation is played by the model behind this chat server
    #[arg(
        hide_short_help = true,
        long,
        value_name = "URL",
        requires = "user",
        conflicts_with = "user_model",
        help_heading = "User and APIs"
    )]
    user_endpoint: Option<String>,
    /// That server's name of the model
    #[arg(
        hide_short_help = true,
        long,
        value_name = "NAME",
        requires = "user_endpoint",
        help_heading = "User and APIs"
    )]
    user_endpoint_model: Option<String>,
    /// The user of the simulation is played by a command: it reads a line of JSON with `question`, and writes a message
    #[arg(hide_short_help = true, long, value_name = "CMD", requires = "user", conflicts_with_all = ["user_model", "user_endpoint"], help_heading = "User and APIs")]
    user_command: Option<String>,
    /// A command that carries calls out: it reads `{"action": API, "arguments": {…}}` and writes `{"data": {SLOT: VALUE}}`
    #[arg(long, value_name = "CMD", help_heading = "User and APIs")]
    apis: Option<String>,
    /// Seconds that the command may take for a call
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = deadline, help_heading = "User and APIs")]
    deadline: Duration,
    #[command(flatten)]
    binding: Binding,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    chat: EndpointArgs,
    /// Write the session with its picture to a file, as HTML or Markdown by its name
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Write the events to a file as JSON lines, which `verify` reads
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
}

/// How the agent is bound.
#[derive(Debug, clap::Args)]
pub(super) struct Binding {
    /// How much of the procedure binds the agent
    #[arg(long, value_enum, default_value_t = ModeName::Guarded, help_heading = "Agent")]
    mode: ModeName,
    /// The published controllers instead of masks over nodes: refusals after an act was written
    #[arg(long, value_enum, value_name = "HOW", help_heading = "Agent")]
    published: Option<Published>,
    /// The texts of answers
    #[arg(long, value_enum, default_value_t = TextsName::Verbatim, help_heading = "Agent")]
    answer_texts: TextsName,
    /// How steps are written
    #[arg(long, value_enum, default_value_t = FormatName::Published, help_heading = "Agent")]
    step_format: FormatName,
    /// Steps are turns in this call format of tools: a name, or a file of TOML. Answers are their text
    #[arg(hide_short_help = true, long, value_name = "NAME", conflicts_with_all = ["step_format", "thought"], help_heading = "Agent")]
    call_format: Option<String>,
    /// Of more open calls than N offer those that fit the user's last message best, and those that lead on
    #[arg(hide_short_help = true, long, value_name = "N", help_heading = "Agent")]
    retrieve: Option<usize>,
    /// Let the agent write a thought of at most N characters before a step
    #[arg(long, value_name = "N", help_heading = "Agent")]
    thought: Option<u32>,
    /// Show the agent the text of the procedure
    #[arg(long, help_heading = "Agent")]
    procedure_text: bool,
    /// The prompt of a step, as a Jinja template
    #[arg(long, value_name = "FILE", help_heading = "Agent")]
    step_template: Option<PathBuf>,
    /// Arguments may have values that nobody said
    #[arg(long, help_heading = "Agent")]
    no_provenance: bool,
    /// Do not bound acts that bring the end no nearer
    #[arg(long, help_heading = "Agent")]
    no_progress: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Published {
    /// As in the paper: calls and answers, five tries a turn
    Paper,
    /// As in the published code: calls only, no bound on refusals
    Code,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TextsName {
    /// The reference text with its values
    Verbatim,
    /// Any text that has the values
    Guided,
    /// Any text
    Free,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FormatName {
    /// Lines with labels
    Published,
    /// One JSON object
    Json,
}

impl Binding {
    fn options(&self, limits: &Limits) -> Result<AgentOptions> {
        let template = self.step_template.as_deref().map(|path| source::text(path, limits)).transpose()?;
        let controllers = self.published.map(|published| match published {
            Published::Paper => Controllers::PAPER,
            Published::Code => Controllers::CODE,
        });
        let calls = self
            .call_format
            .as_deref()
            .map(|name| crate::cmd::tools::grammar::format(name, limits))
            .transpose()?;
        let mask = if controllers.is_some() { Mask::Form } else { Mask::Open(self.mode.into()) };
        Ok(AgentOptions::default()
            .mask(mask)
            .narrow(controllers.is_none())
            .claims(controllers.is_none())
            .texts(match self.answer_texts {
                TextsName::Verbatim => Texts::Verbatim,
                TextsName::Guided => Texts::Guided,
                TextsName::Free => Texts::Free,
            })
            .format(match self.step_format {
                FormatName::Published => StepFormat::Published,
                FormatName::Json => StepFormat::Json,
            })
            .calls(calls)
            .nearest(self.retrieve)
            .thought(self.thought)
            .procedure(self.procedure_text)
            .template(template)
            .provenance(!self.no_provenance)
            .progress(!self.no_progress)
            .controllers(controllers))
    }
}

/// Reads a procedure from a file.
pub fn procedure(path: &Path, limits: &Limits) -> Result<Procedure> {
    let text = source::text(path, limits)?;
    let source = grammata::diagnostic::Source::new(&text, grammata::diagnostic::Notation::Text);
    Procedure::read_in(&text, format(path), folder_of(path), limits)
        .map_err(|error| error.in_source(&source).in_file(&source::name_of(path)))
}

/// Reads a simulation from a file.
pub fn simulation(path: &Path, limits: &Limits) -> Result<Simulation> {
    let text = source::text(path, limits)?;
    Simulation::read(&text, limits).map_err(|error| error.in_file(&source::name_of(path)))
}

/// An environment without APIs: every call fails.
fn no_apis(
    _: &grammata::syntax::automaton_spec::Spec,
    _: &grammata_agents::plan::Step,
) -> Result<grammata_agents::plan::Observation> {
    Err(errors::no_apis())
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.file.limits.get();
    let mut procedures = vec![arguments.file.read()?];
    for path in &arguments.others {
        procedures.push(procedure(path, &limits)?);
    }
    let binding = arguments.binding.options(&limits)?;
    let workflows = procedures
        .iter()
        .map(|procedure| Workflow::new(procedure, binding.mode(), &limits))
        .collect::<Result<Vec<_>>>()?;
    let simulation = match &arguments.simulation {
        Some(path) => Some(simulation(path, &limits)?),
        None => None,
    };
    let script: Option<&UserScript> = match (&simulation, &arguments.user) {
        (Some(simulation), Some(name)) => Some(simulation.user(name).ok_or_else(|| {
            errors::no_such_user(name, simulation.users.iter().map(|user| user.id.as_str()))
        })?),
        _ => None,
    };
    let mut environment: Box<dyn Environment> = match (&arguments.apis, &simulation) {
        (Some(command), _) => Box::new(CommandApis::new(command, arguments.deadline, &procedures)),
        (None, Some(simulation)) => Box::new(simulation.apis()),
        (None, None) => Box::new(no_apis),
    };
    let users = simulation.iter().flat_map(|simulation| &simulation.users);
    let users: Vec<&str> = users.map(|user| user.id.as_str()).collect();
    let record = with_user(arguments, script, &limits, |user| {
        with_agent(arguments, script, &users, &limits, |agent| {
            driver::run(&workflows, &binding, agent, user, &mut *environment, &RunOptions::default())
        })
    })?;
    write(arguments, &workflows[0], &record, output)?;
    Ok(match &record.ending {
        Ending::Failed(error) => {
            output.flush()?;
            messages::error(error);
            Exit::of(error)
        }
        Ending::Left | Ending::Turns | Ending::Stalled if record.is_complete => Exit::Done,
        Ending::Left | Ending::Turns | Ending::Stalled => Exit::Cut,
    })
}

/// Returns a user who is a person: the agent's texts go to standard error, messages are lines of standard input, and a
/// blank line or its end ends the session.
fn person() -> AskedUser<'static> {
    let mut lines = std::io::stdin().lock().lines();
    let say = |text: &str| {
        messages::say(&format!("agent: {text}"));
        Ok(())
    };
    let ask = move || match lines.next().transpose() {
        Ok(line) => Ok(line.filter(|line| !line.trim().is_empty())),
        Err(cause) => Err(Error::io(Path::new("-"), &cause)),
    };
    AskedUser::new(say, ask)
}

/// Runs a session with the user of the arguments. Without a script that is a person; otherwise a chat model, a local
/// model or, if no model is named, the script itself.
fn with_user<R>(
    arguments: &Arguments,
    script: Option<&UserScript>,
    limits: &Limits,
    session: impl FnOnce(&mut dyn User) -> Result<R>,
) -> Result<R> {
    let Some(script) = script else { return session(&mut person()) };
    let chat = EndpointArgs {
        endpoint_model: arguments.user_endpoint_model.clone(),
        policy_command: arguments.user_command.clone(),
        ..arguments.chat.with_server(arguments.user_endpoint.clone())
    };
    if let Some(mut model) = chat.load(arguments.model.temperature, arguments.model.seed)? {
        return session(&mut ChatUser::new(&mut *model, script, limits)?);
    }
    #[cfg(feature = "ort")]
    if arguments.user_model.is_some() {
        let model = ModelArgs { model: arguments.user_model.clone(), ..arguments.model.clone() };
        if let Some(mut model) = super::model::LoadedModel::load(&model, limits)? {
            return session(&mut model.user(script, limits)?);
        }
    }
    #[cfg(not(feature = "ort"))]
    if arguments.user_model.is_some() {
        return Err(errors::no_onnx_runtime());
    }
    let _ = limits;
    session(&mut ScriptedUser::new(script))
}

/// Runs a session with the agent of the arguments: a model that is asked by chat, a local model, or the reference
/// agent. `users` are the names of the simulation's users, for an error.
fn with_agent<R>(
    arguments: &Arguments,
    script: Option<&UserScript>,
    users: &[&str],
    limits: &Limits,
    session: impl FnOnce(&mut dyn Agent) -> Result<R>,
) -> Result<R> {
    if let Some(mut model) = arguments.chat.load(arguments.model.temperature, arguments.model.seed)? {
        let record = session(&mut ChatAgent::new(&mut *model, limits));
        endpoint::report(&model.usage());
        return record;
    }
    #[cfg(feature = "ort")]
    if let Some(mut model) = super::model::LoadedModel::load(&arguments.model, limits)? {
        return session(&mut model.agent(limits)?);
    }
    #[cfg(not(feature = "ort"))]
    if arguments.model.model.is_some() {
        return Err(errors::no_onnx_runtime());
    }
    let _ = limits;
    let script = script.ok_or_else(|| errors::needs_agent(users))?;
    session(&mut RuleAgent::new(script.slots.clone(), script.prose.clone()))
}

/// The report on a session.
#[derive(Serialize)]
struct SessionReport<'a> {
    /// The name of the procedure.
    procedure: &'a str,
    /// Whether a closing answer was said.
    complete: bool,
    /// The events, as `procedure verify` reads them.
    events: &'a [Value],
}

/// Writes the transcript, and the files of events and of the report if they are requested.
fn write(
    arguments: &Arguments,
    workflow: &Workflow<'_>,
    record: &Record,
    output: &mut Output,
) -> Result<(), Failure> {
    let events = record.events();
    if let Some(path) = &arguments.events {
        let lines: String = events.iter().map(|event| format!("{event}\n")).collect();
        std::fs::write(path, lines).map_err(|cause| Error::io(path, &cause))?;
    }
    if output.is_json() {
        let (procedure, complete) = (&record.procedure, record.is_complete);
        output.report(&SessionReport { procedure, complete, events: &events })?;
    } else {
        for (depth, entry) in &record.entries {
            let (speaker, text) = entry.line();
            writeln!(output, "{}{speaker}: {text}", "  ".repeat(*depth))?;
        }
        let state = if record.is_complete { "complete" } else { "not complete" };
        writeln!(output, "the session is {state}")?;
    }
    let Some(path) = &arguments.report else { return Ok(()) };
    output.flush()?;
    let turns = record.entries.iter().map(|(_, entry)| {
        let (speaker, text) = entry.line();
        Turn { speaker: speaker.to_owned(), text, note: entry.node().map(str::to_owned) }
    });
    let mut report = Report::new(format!("A session of {}", record.procedure));
    report.transcript(Transcript { caption: record.procedure.clone(), turns: turns.collect() });
    let dot = driver::picture(workflow, record)?;
    if !dot.is_empty() {
        let caption =
            "the states that the session went through, the open steps (dashed) and the blocked ones";
        report.figure(svg::render(dot)?, caption);
    }
    let is_html = path.extension().is_some_and(|extension| extension == "html");
    let text = if is_html { report.to_html() } else { report.to_markdown() };
    std::fs::write(path, text).map_err(|cause| Error::io(path, &cause))?;
    Ok(())
}
