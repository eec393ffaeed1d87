//! `grammata plan travel`: trips from tables and queries in the formats of the TravelPlanner benchmark.

use super::policy::{Kind, PolicyArgs};
use super::tasks;
use crate::cli::output::{Exit, Failure, Output};
use crate::cli::{errors, source};
use crate::error::Result;
use crate::limits::Limits;
use crate::plan::policy::FirstPolicy;
use crate::plan::search::Greedy;
use crate::plan::travel::{Itinerary, Query, Report, Score, TravelTables, check, travel_spec};
use crate::plan::{PlanAutomaton, Policy, Problem, Questions, Search, SearchOptions};
use crate::syntax::automaton_spec::{Format, Options, Spec};
use serde_json::{Value, json};
use std::io::Write;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Plans a trip for each query and measures the trips: delivered ones, constraints of common sense and of the queries kept
/// (of all constraints, and trips that keep all), and trips that keep everything.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// A folder with flights.csv, distances.csv, restaurants.csv, attractions.csv, accommodations.csv and cities.csv
    #[arg(value_name = "TABLES")]
    tables: PathBuf,
    /// The queries, a JSON object a line
    #[arg(long, value_name = "FILE")]
    queries: PathBuf,
    /// Only these queries of the file, counted from 0
    #[arg(long, value_name = "N,N-N,…", value_delimiter = ',', value_parser = tasks::range)]
    only: Vec<RangeInclusive<usize>>,
    /// The most candidates for each meal, night, attraction and transport
    #[arg(long, value_name = "N", default_value_t = 5)]
    candidates: usize,
    /// Write the plan spec of each query instead, in JSON
    #[arg(long)]
    spec: bool,
    /// Measure the trips of this file instead: a JSON array of days a line, `null` for none
    #[arg(long, value_name = "FILE", conflicts_with = "spec")]
    evaluate: Option<PathBuf>,
    #[command(flatten)]
    policy: PolicyArgs,
    /// Write the trips, a JSON array of days a line
    #[arg(long, conflicts_with = "spec")]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    if arguments.spec || arguments.evaluate.is_some() {
        return all(arguments, &mut FirstPolicy, output);
    }
    match arguments.policy.kind() {
        Kind::Model => with_model(arguments, output),
        _ => all(arguments, &mut *arguments.policy.simple()?, output),
    }
}

#[cfg(not(feature = "ort"))]
fn with_model(_: &Arguments, _: &mut Output) -> Result<Exit, Failure> {
    Err(errors::no_onnx_runtime().into())
}

#[cfg(feature = "ort")]
fn with_model(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    use super::policy::PromptMode;
    match arguments.policy.prompt_mode {
        PromptMode::Answer | PromptMode::Likelihood => {}
        PromptMode::Whole => return Err(super::errors::not_for_trips("whole").into()),
        PromptMode::Free => return Err(super::errors::not_for_trips("free").into()),
    }
    let mut model = super::model::LoadedModel::load(&arguments.policy, &Limits::default())?;
    let mut policy = model.policy()?;
    all(arguments, &mut policy, output)
}

/// Plans and measures the trips of all queries.
fn all(arguments: &Arguments, policy: &mut dyn Policy, output: &mut Output) -> Result<Exit, Failure> {
    let tables = TravelTables::read(&arguments.tables, &Limits::default())?;
    let queries = tasks::lines(&arguments.queries, &arguments.only, &Limits::default())?;
    let given = arguments.evaluate.as_ref().map(|path| source::text(path, &Limits::default())).transpose()?;
    let given: Option<Vec<&str>> = given.as_deref().map(|text| text.lines().collect());
    let mut scores = Vec::new();
    for (place, (number, line)) in queries.iter().enumerate() {
        let query = Query::parse(line)?;
        if arguments.spec {
            output.json(&travel_spec(&tables, &query, arguments.candidates)?)?;
            continue;
        }
        let trip = match &given {
            Some(given) => itinerary(given.get(place).copied().unwrap_or("null"))?,
            None => plan(arguments, policy, &tables, &query)?,
        };
        let score = check(&tables, &query, trip.as_ref());
        if arguments.json {
            output.json(&json!(trip))?;
        } else {
            show(*number, trip.as_ref().filter(|_| given.is_none()), &score, output)?;
        }
        scores.push(score);
    }
    if arguments.spec {
        return Ok(Exit::Done);
    }
    let report = Report::of(&scores);
    if !arguments.json {
        let rates = [
            ("delivered", report.delivery),
            ("common sense, constraints", report.commonsense_micro),
            ("common sense, trips", report.commonsense_macro),
            ("asked for, constraints", report.hard_micro),
            ("asked for, trips", report.hard_macro),
            ("everything", report.final_pass),
        ];
        for (name, rate) in rates {
            writeln!(output, "{name:25}  {:5.1} %", 100.0 * rate)?;
        }
    }
    Ok(if report.final_pass < 1.0 { Exit::Rejected } else { Exit::Done })
}

fn itinerary(line: &str) -> Result<Option<Itinerary>> {
    serde_json::from_str(line).map_err(|cause| errors::not_a_trip(&cause.to_string()))
}

fn plan(
    arguments: &Arguments,
    policy: &mut dyn Policy,
    tables: &TravelTables,
    query: &Query,
) -> Result<Option<Itinerary>> {
    let value: Value = travel_spec(tables, query, arguments.candidates)?;
    let options = Options { format: Format::Json, ..Options::default() };
    let spec = match Spec::read(&value.to_string(), &options) {
        Ok(spec) => spec,
        // some slot has no candidate at all
        Err(error) if error.code() == "automaton-spec/empty-language" => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut plans = PlanAutomaton::new(spec)?;
    let questions = Questions::new(plans.spec(), None)?;
    let options = SearchOptions::default();
    let outcome = Greedy.run(&mut Problem::new(&mut plans, policy, &questions, &options))?;
    Ok(outcome.plan.map(|plan| Itinerary::of(&plan, plans.spec())))
}

fn show(number: usize, trip: Option<&Itinerary>, score: &Score, output: &mut Output) -> std::io::Result<()> {
    writeln!(output, "query {number}: {}", if score.delivered { "a trip" } else { "no trip" })?;
    for day in trip.into_iter().flat_map(|trip| &trip.days) {
        writeln!(output, "  day {}: {}", day.days, day.current_city)?;
        let slots = [
            ("transportation", &day.transportation),
            ("breakfast", &day.breakfast),
            ("lunch", &day.lunch),
            ("attraction", &day.attraction),
            ("dinner", &day.dinner),
            ("accommodation", &day.accommodation),
        ];
        for (name, what) in slots.into_iter().filter(|(_, what)| *what != "-") {
            writeln!(output, "    {name}: {}", what.trim_end_matches(';'))?;
        }
    }
    for check in score.checks.iter().filter(|check| score.delivered && !check.kept) {
        writeln!(output, "  not kept: {}", check.name)?;
    }
    Ok(())
}
