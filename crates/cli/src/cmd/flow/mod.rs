//! `grammata flow`: domains of customer-care flows.

mod graph;
mod lookahead;
pub mod model;
mod run;

use crate::args::limits::LimitArgs;
use crate::args::source;
use crate::io::output::{Exit, Failure, Output};
use crate::io::text::counted;
use crate::io::{errors, messages};
use clap::{Subcommand, ValueEnum};
use grammata::diagnostic::Place;
use grammata::error::{Error, Result};
use grammata::limits::Limits;
use grammata::transitions::{Counts, TransitionSystem};
use grammata_agents::flows::{FlowAutomaton, FlowDomain, FlowOptions, Level, Names, Thoughts, Within, spec};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Customer-care flows: domains of APIs, steps and flows in TOML.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Check a domain, and count its plans
    Check(Check),
    /// Write the plans of a domain as a plan spec in JSON, which `grammata plan` reads
    Spec(PlanArgs),
    /// Show the possible calls after some calls: the steps and flows that each keeps, the plans left, and their lengths
    Lookahead(lookahead::Arguments),
    /// Draw the flows, with the position of a plan and the possible next calls
    Graph(graph::Arguments),
    /// Write the plan of a customer's query with a language model
    Run(Box<run::Arguments>),
}

#[derive(Debug, clap::Args)]
struct Check {
    #[command(flatten)]
    domain: DomainArgs,
    #[command(flatten)]
    limits: LimitArgs,
}

/// A domain, or several as one.
#[derive(Debug, clap::Args)]
struct DomainArgs {
    /// The domain, a file in TOML
    #[arg(value_name = "DOMAIN")]
    domain: PathBuf,
    /// Another domain, whose APIs, steps and flows are added
    #[arg(long = "merge", value_name = "DOMAIN")]
    others: Vec<PathBuf>,
    /// Prefix the names of merged domains: `DOMAIN__NAME`, except for the prelude and the end
    #[arg(long, requires = "others")]
    apart: bool,
    /// Leave flows out that no plan can follow, with a warning, instead of refusing the domain
    #[arg(long)]
    allow_infeasible: bool,
}

impl DomainArgs {
    fn read(&self, limits: &Limits) -> Result<FlowDomain> {
        if self.others.is_empty() {
            return read(&self.domain, limits, self.allow_infeasible);
        }
        let mut texts = Vec::new();
        for path in std::iter::once(&self.domain).chain(&self.others) {
            let text = source::text(path, limits)?;
            // shows the warnings of each file; an error in one file is reported with the name of that file
            read_text(&text, path, limits, self.allow_infeasible)?;
            texts.push(text);
        }
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let names = if self.apart { Names::Apart } else { Names::Shared };
        FlowDomain::merge(&texts, names, limits, self.allow_infeasible)
    }

    /// Adds the flow's place and the file to an error, unless there are several domains.
    fn at_flow(&self, error: Error, flow: usize) -> Error {
        match self.others.is_empty() {
            true => error
                .or_at(&Place::Pointer(format!("/flows/{flow}")))
                .in_file(&self.domain.display().to_string()),
            false => error,
        }
    }
}

/// Which plans of which domain.
#[derive(Debug, clap::Args)]
struct PlanArgs {
    #[command(flatten)]
    domain: DomainArgs,
    /// Rules of a plan: 2 names of APIs, 3 also bounds on calls, 4 also data, 5 also the APIs of one flow, 6 also its
    /// steps
    #[arg(long, value_name = "2-6", default_value_t = 6, value_parser = clap::value_parser!(u8).range(2..=6))]
    level: u8,
    /// The order of the APIs of a step
    #[arg(long, value_enum, default_value_t = Order::Any)]
    api_order: Order,
    /// The flow, by its id; any of them unless given
    #[arg(long, value_name = "ID")]
    flow: Option<String>,
    /// Name in each call of a text the API that made each input: `FindFlight(airport_code=GetAirports)`; from level 4
    /// on
    #[arg(long)]
    arguments: bool,
    /// An answer that is known beforehand, of an API with outcomes; may be given several times
    #[arg(long = "known", value_name = "API=OUTCOME")]
    answer: Vec<String>,
    /// The number of intents: a plan has the body of one flow for each
    #[arg(long, value_name = "N", default_value_t = 1)]
    intents: usize,
    #[command(flatten)]
    limits: LimitArgs,
}

impl PlanArgs {
    fn domain(&self) -> Result<FlowDomain> {
        self.domain.read(&self.limits.get())
    }

    fn options(&self, domain: &FlowDomain) -> Result<FlowOptions> {
        let flow = match &self.flow {
            None => None,
            Some(id) => {
                let known = domain.flows.iter().map(|flow| flow.id.as_str());
                Some(domain.flow(id).ok_or_else(|| errors::no_such_flow(id, known))?)
            }
        };
        let within = if self.api_order == Order::Any { Within::Any } else { Within::Declared };
        let (level, limits) = (Level::of(self.level)?, self.limits.get());
        let answers = self.answer.iter().map(|answer| domain.answer(answer)).collect::<Result<_>>()?;
        Ok(FlowOptions::default()
            .level(level)
            .within(within)
            .flow(flow)
            .intents(self.intents)
            .by_step(false)
            .arguments(self.arguments)
            .answers(answers)
            .limits(limits))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Order {
    /// Any order that the data allow
    Any,
    /// The order of the file
    Declared,
}

/// What is written with calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ThoughtsName {
    /// Nothing
    None,
    /// A thought before each call
    Free,
    /// A thought that begins with the text of its step; level 6 only
    Stated,
    /// The reason after each call
    After,
    /// Like free, after a line that lists the possible calls
    Guided,
}

impl From<ThoughtsName> for Thoughts {
    fn from(name: ThoughtsName) -> Thoughts {
        match name {
            ThoughtsName::None => Thoughts::None,
            ThoughtsName::Free => Thoughts::Free,
            ThoughtsName::Stated => Thoughts::Stated,
            ThoughtsName::After => Thoughts::After,
            ThoughtsName::Guided => Thoughts::Guided,
        }
    }
}

/// Reads the name of a call as plans write it: `Name`, `Name()`, `Name()=outcome`, or as an item of a list in JSON.
fn call_name(written: &str) -> std::result::Result<String, std::convert::Infallible> {
    let name = written.trim_matches(|c: char| c.is_whitespace() || matches!(c, '[' | ']' | '"'));
    Ok(name.replacen("()", "", 1))
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    match &arguments.command {
        Command::Check(arguments) => check(arguments, output),
        Command::Spec(arguments) => write_spec(arguments, output),
        Command::Lookahead(arguments) => lookahead::run(arguments, output),
        Command::Graph(arguments) => graph::run(arguments, output),
        Command::Run(arguments) => run::run(arguments, output),
    }
}

/// Reads a domain, and writes its warnings to standard error.
///
/// # Errors
/// The file cannot be read or is not a domain, or no plan can follow one of its flows and `allow_infeasible` is false.
pub fn read(path: &Path, limits: &Limits, allow_infeasible: bool) -> Result<FlowDomain> {
    read_text(&source::text(path, limits)?, path, limits, allow_infeasible)
}

fn read_text(text: &str, path: &Path, limits: &Limits, allow_infeasible: bool) -> Result<FlowDomain> {
    let domain = FlowDomain::read_with(text, limits, allow_infeasible)
        .map_err(|error| error.in_file(&path.display().to_string()))?;
    domain.warnings.iter().for_each(messages::warning);
    Ok(domain)
}

/// The head of the report. The member `flows` follows.
#[derive(Serialize)]
struct DomainReport<'a> {
    /// The name of the domain.
    domain: &'a str,
    /// Number of APIs.
    apis: usize,
}

/// The report on a flow. The numbers of its plans are strings of digits, or `infinite`.
#[derive(Serialize)]
struct FlowReport<'a> {
    id: &'a str,
    plans_in_order: &'a str,
    plans_in_any_order: &'a str,
}

fn check(arguments: &Check, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.limits.get();
    let domain = arguments.domain.read(&limits)?;
    let (apis, flows) = (counted(domain.apis.len(), "API"), counted(domain.flows.len(), "flow"));
    if output.is_json() {
        output.report(&DomainReport { domain: &domain.name, apis: domain.apis.len() })?;
        output.list("flows")?;
    } else {
        writeln!(output, "{}: {apis}, {flows}; plans that the data allow:", domain.name)?;
    }
    for (flow, found) in domain.flows.iter().enumerate() {
        let mut counts = Vec::new();
        for level in [Level::Steps, Level::Apis] {
            let count = count(&domain, level, Some(flow), &limits);
            counts.push(count.map_err(|error| arguments.domain.at_flow(error, flow))?);
        }
        match output.is_json() {
            true => output.item(&FlowReport {
                id: &found.id,
                plans_in_order: &counts[0],
                plans_in_any_order: &counts[1],
            })?,
            false => {
                writeln!(
                    output,
                    "  {}: {} in its steps' order, {} in any order",
                    found.id, counts[0], counts[1]
                )?;
            }
        }
    }
    Ok(Exit::Done)
}

fn count(domain: &FlowDomain, level: Level, flow: Option<usize>, limits: &Limits) -> Result<String> {
    let options = FlowOptions::default().level(level).flow(flow).limits(limits.clone());
    let mut automaton = FlowAutomaton::new(domain, options)?;
    let start = automaton.start();
    Ok(Counts::default().count(&mut automaton, &start)?.to_string())
}

fn write_spec(arguments: &PlanArgs, output: &mut Output) -> Result<Exit, Failure> {
    let domain = arguments.domain()?;
    let options = arguments.options(&domain)?;
    output.document("spec", &spec(&mut FlowAutomaton::new(&domain, options)?)?)?;
    Ok(Exit::Done)
}
