//! The command line of the example, which plans and measures trips.

use super::errors;
use super::{Itinerary, Query, Report, Score, TravelTables, check, travel_spec};
use grammata::syntax::automaton_spec::{Format, Options, Spec};
use grammata::{Error, Limits, Result};
use grammata_agents::plan::policy::{FirstPolicy, RandomPolicy};
use grammata_agents::plan::search::{Greedy, SearchOptions};
use grammata_agents::plan::{PlanAutomaton, Policy, Problem, Questions, Search};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The arguments of the command.
#[derive(Default)]
struct Arguments {
    tables: PathBuf,
    queries: PathBuf,
    /// The index of the only query to use, counted from 0; `None` for all queries.
    only: Option<usize>,
    /// The most candidates for each meal, night, attraction and transport.
    candidates: usize,
    /// The seed of random choices. Without it the first choice is taken.
    seed: Option<u64>,
    /// Whether to write the plan spec of each query in JSON, instead of planning.
    spec: bool,
    /// A file of trips to measure instead of planning: a JSON array of days a line, `null` for no trip.
    evaluate: Option<PathBuf>,
    /// Whether to write the trips in JSON, an array of days a line.
    json: bool,
}

impl Arguments {
    fn parse(arguments: &[String]) -> Result<Arguments> {
        let mut parsed = Arguments { candidates: 5, ..Arguments::default() };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value =
                || rest.next().ok_or_else(|| errors::usage(&format!("`{argument}` without a value")));
            let number = |text: &String| text.parse().map_err(|_| errors::usage(text));
            match argument.as_str() {
                "--queries" => parsed.queries = value()?.into(),
                "--only" => parsed.only = Some(number(value()?)? as usize),
                "--candidates" => parsed.candidates = number(value()?)? as usize,
                "--seed" => parsed.seed = Some(number(value()?)?),
                "--spec" => parsed.spec = true,
                "--evaluate" => parsed.evaluate = Some(value()?.into()),
                "--json" => parsed.json = true,
                other if other.starts_with("--") || parsed.tables != PathBuf::new() => {
                    return Err(errors::usage(other));
                }
                tables => parsed.tables = tables.into(),
            }
        }
        match parsed.tables == PathBuf::new() || parsed.queries == PathBuf::new() {
            true => Err(errors::usage("no tables, or no queries")),
            false => Ok(parsed),
        }
    }
}

/// Plans and measures trips as the arguments say. Returns the exit code: 0 if all trips satisfy everything, or if plan
/// specs are written; otherwise 1.
pub fn run(arguments: &[String], output: &mut dyn Write) -> Result<u8> {
    let arguments = Arguments::parse(arguments)?;
    let tables = TravelTables::read(&arguments.tables, &Limits::default())?;
    let queries = read(&arguments.queries)?;
    let given = arguments.evaluate.as_deref().map(read).transpose()?;
    let given: Option<Vec<&str>> = given.as_deref().map(|text| text.lines().collect());
    let written = |cause| Error::io(Path::new("standard output"), &cause);
    let mut scores = Vec::new();
    for (number, line) in queries.lines().enumerate() {
        if line.trim().is_empty() || arguments.only.is_some_and(|only| only != number) {
            continue;
        }
        let query = Query::parse(line)?;
        if arguments.spec {
            writeln!(output, "{}", travel_spec(&tables, &query, arguments.candidates)?).map_err(written)?;
            continue;
        }
        let trip = match &given {
            Some(given) => itinerary(given.get(number).copied().unwrap_or("null"))?,
            None => plan(&arguments, &tables, &query)?,
        };
        let score = check(&tables, &query, trip.as_ref());
        if arguments.json {
            writeln!(output, "{}", serde_json::json!(trip)).map_err(written)?;
        } else {
            show(number, trip.as_ref().filter(|_| given.is_none()), &score, output).map_err(written)?;
        }
        scores.push(score);
    }
    if arguments.spec {
        return Ok(0);
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
            writeln!(output, "{name:25}  {:5.1} %", 100.0 * rate).map_err(written)?;
        }
    }
    Ok(u8::from(report.final_pass < 1.0))
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|cause| Error::io(path, &cause))
}

fn itinerary(line: &str) -> Result<Option<Itinerary>> {
    serde_json::from_str(line).map_err(|cause| errors::not_a_trip(&cause.to_string()))
}

fn plan(arguments: &Arguments, tables: &TravelTables, query: &Query) -> Result<Option<Itinerary>> {
    let value = travel_spec(tables, query, arguments.candidates)?;
    let options = Options::default().format(Format::Json);
    let spec = match Spec::read(&value.to_string(), &options) {
        Ok(spec) => spec,
        // some slot has no candidate
        Err(error) if error.code() == "automaton-spec/empty-language" => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut plans = PlanAutomaton::new(spec)?;
    let questions = Questions::new(plans.spec(), None)?;
    let mut policy: Box<dyn Policy> = match arguments.seed {
        Some(seed) => Box::new(RandomPolicy::new(seed)),
        None => Box::new(FirstPolicy),
    };
    let options = SearchOptions::default();
    let outcome = Greedy.run(&mut Problem::new(&mut plans, &mut *policy, &questions, &options))?;
    Ok(outcome.plan.map(|plan| Itinerary::of(&plan, plans.spec())))
}

fn show(
    number: usize,
    trip: Option<&Itinerary>,
    score: &Score,
    output: &mut dyn Write,
) -> std::io::Result<()> {
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
