//! `grammata plan travel`: trips from tables and queries in the formats of the TravelPlanner benchmark.

use super::chooser::ChooserArgs;
use crate::cli::output::{Exit, Failure, Output};
use crate::cli::{errors, source};
use crate::error::Result;
use crate::limits::Limits;
use crate::plan::travel::{Itinerary, Query, Report, Score, TravelTables, check, travel_spec};
use crate::plan::{Chooser, PlanAutomaton, Questions, SearchOptions, search};
use crate::syntax::automaton_spec::{Format, Options, Spec};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

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
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    only: Vec<usize>,
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
    chooser: ChooserArgs,
    /// Write the trips, a JSON array of days a line
    #[arg(long, conflicts_with = "spec")]
    json: bool,
}

fn text(path: &Path) -> Result<String> {
    let bytes = source::read(path, Limits::default().source_bytes)?;
    String::from_utf8(bytes).map_err(|e| errors::not_utf8(path, e.utf8_error().valid_up_to()))
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let tables = TravelTables::read(&arguments.tables, &Limits::default())?;
    let queries = text(&arguments.queries)?;
    let lines: Vec<&str> = queries.lines().filter(|line| !line.trim().is_empty()).collect();
    let numbers: Vec<usize> =
        if arguments.only.is_empty() { (0..lines.len()).collect() } else { arguments.only.clone() };
    let given = arguments.evaluate.as_deref().map(text).transpose()?;
    let given: Option<Vec<&str>> = given.as_deref().map(|text| text.lines().collect());
    let mut scores = Vec::new();
    for (place, &number) in numbers.iter().enumerate() {
        let line = lines.get(number).ok_or_else(|| errors::no_such_task(number, lines.len()))?;
        let query = Query::parse(line)?;
        if arguments.spec {
            output.json(&travel_spec(&tables, &query, arguments.candidates)?)?;
            continue;
        }
        let trip = match &given {
            Some(given) => itinerary(given.get(place).copied().unwrap_or("null"))?,
            None => plan(arguments, &tables, &query)?,
        };
        let score = check(&tables, &query, trip.as_ref());
        if arguments.json {
            output.json(&json!(trip))?;
        } else {
            show(number, trip.as_ref().filter(|_| given.is_none()), &score, output)?;
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

fn plan(arguments: &Arguments, tables: &TravelTables, query: &Query) -> Result<Option<Itinerary>> {
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
    let mut chooser: Box<dyn Chooser> = arguments.chooser.simple()?;
    let outcome = search(&mut plans, &mut *chooser, &questions, &SearchOptions::default())?;
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
