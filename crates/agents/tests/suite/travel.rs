//! Trips: plans for the small tables of `grammars/travel`, and their measures.

use crate::trips::{Itinerary, Query, Report, Score, TravelTables, check, travel_spec};
use grammata::Limits;
use grammata::syntax::automaton_spec::{Format, Options, Spec};
use grammata_agents::plan::policy::RandomPolicy;
use grammata_agents::plan::search::Greedy;
use grammata_agents::plan::{PlanAutomaton, Problem, Questions, Search, SearchOptions};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(crate::ROOT).join("grammars/travel")
}

fn tables() -> TravelTables {
    TravelTables::read(&folder().join("tables"), &Limits::default()).unwrap()
}

fn queries() -> Vec<Query> {
    let text = std::fs::read_to_string(folder().join("queries.jsonl")).unwrap();
    text.lines().map(|line| Query::parse(line).unwrap()).collect()
}

fn automaton(tables: &TravelTables, query: &Query) -> PlanAutomaton {
    let spec = travel_spec(tables, query, 3).unwrap().to_string();
    let options = Options::default().format(Format::Json);
    PlanAutomaton::new(Spec::read(&spec, &options).unwrap()).unwrap()
}

fn trip(plans: &mut PlanAutomaton, seed: u64) -> Option<Itinerary> {
    let questions = Questions::new(plans.spec(), None).unwrap();
    let options = SearchOptions::default();
    let mut policy = RandomPolicy::new(seed);
    let outcome = Greedy.run(&mut Problem::new(plans, &mut policy, &questions, &options)).unwrap();
    assert_eq!(outcome.backtracks, 0);
    outcome.plan.map(|plan| Itinerary::of(&plan, plans.spec()))
}

#[test]
fn every_trip_keeps_every_constraint() {
    let (tables, queries) = (tables(), queries());
    let mut scores = Vec::new();
    for query in &queries[..4] {
        let mut plans = automaton(&tables, query);
        for seed in 0..40 {
            let trip = trip(&mut plans, seed);
            let score = check(&tables, query, trip.as_ref());
            let broken: Vec<&str> =
                score.checks.iter().filter(|check| !check.kept).map(|check| check.name).collect();
            assert!(score.delivered && broken.is_empty(), "{query:?}\n{broken:?}\n{trip:#?}");
            scores.push(score);
        }
    }
    let report = Report::of(&scores);
    let all = [report.delivery, report.commonsense_micro, report.commonsense_macro, report.hard_micro];
    assert_eq!((all, report.hard_macro, report.final_pass), ([1.0; 4], 1.0, 1.0));
}

#[test]
fn what_no_money_buys_is_not_planned() {
    let (tables, query) = (tables(), queries().remove(4));
    let mut plans = automaton(&tables, &query);
    assert_eq!(plans.count().unwrap().to_string(), "0");
    assert_eq!(trip(&mut plans, 0), None);
}

#[test]
fn measures_tell_what_is_broken() {
    let (tables, query) = (tables(), queries().remove(1));
    let good = trip(&mut automaton(&tables, &query), 1).unwrap();
    let broken = |change: &dyn Fn(&mut Itinerary)| {
        let mut trip = good.clone();
        change(&mut trip);
        let score = check(&tables, &query, Some(&trip));
        score.checks.iter().filter(|check| !check.kept).map(|check| check.name).collect::<Vec<_>>()
    };
    let none: [&str; 0] = [];
    assert_eq!(broken(&|_| {}), none);
    assert!(broken(&|trip| drop(trip.days.pop())).contains(&"complete information"));
    assert!(
        broken(&|trip| trip.days[1].lunch = trip.days[1].dinner.clone()).contains(&"diverse restaurants")
    );
    assert!(
        broken(&|trip| trip.days[1].lunch = "Nowhere, Brightwater".to_owned())
            .contains(&"within the sandbox")
    );
    assert!(
        broken(&|trip| trip.days[1].attraction = "Amberton City Park, Amberton;".to_owned())
            .contains(&"within the current city")
    );
    assert!(
        broken(&|trip| trip.days[2].current_city = "from Brightwater to Amberton".to_owned())
            .contains(&"reasonable city route")
    );
    assert!(
        broken(&|trip| trip.days[1].attraction = trip.days[0].attraction.clone())
            .contains(&"diverse attractions")
    );
    assert!(
        broken(&|trip| trip.days[1].accommodation = "Suite Brightwater, Brightwater".to_owned())
            .contains(&"minimum nights")
    );
    let mixed = |trip: &mut Itinerary| {
        trip.days[0].transportation = "Self-driving, from Larkfield to Brightwater".to_owned();
        trip.days[2].transportation = "Taxi, from Brightwater to Larkfield".to_owned();
    };
    assert!(broken(&mixed).contains(&"non-conflicting transport"));
    let poor = Query { budget: Some(10), ..query.clone() };
    assert!(
        check(&tables, &poor, Some(&good)).checks.iter().any(|check| check.name == "budget" && !check.kept)
    );
    let report = Report::of(&[
        check(&tables, &query, Some(&good)),
        check(&tables, &poor, Some(&good)),
        Score::default(),
    ]);
    assert!((report.delivery, report.commonsense_macro) == (2.0 / 3.0, 2.0 / 3.0), "{report:?}");
    assert_eq!((report.hard_macro, report.final_pass), (1.0 / 3.0, 1.0 / 3.0));
}

#[test]
fn queries_and_tables_that_are_wrong_are_refused() {
    let good = std::fs::read_to_string(folder().join("queries.jsonl")).unwrap();
    let good = good.lines().next().unwrap();
    for bad in [
        good.replace("\"days\": 3", "\"days\": 4"),
        good.replace("\"people_number\": 1", "\"people_number\": 0"),
        "{}".to_owned(),
    ] {
        assert_eq!(Query::parse(&bad).unwrap_err().code(), "travel/query", "{bad}");
    }
    let nowhere = Query { dest: "Nowhere".to_owned(), ..Query::parse(good).unwrap() };
    assert_eq!(travel_spec(&tables(), &nowhere, 3).unwrap_err().code(), "travel/query");
    let copy = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(folder().join("tables")).unwrap() {
        let path = file.unwrap().path();
        std::fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
    }
    let read = || TravelTables::read(copy.path(), &Limits::default());
    assert_eq!(read().unwrap(), tables());
    std::fs::write(copy.path().join("flights.csv"), "Flight Number,Price\nF1,\"1,200\"\n").unwrap();
    assert!(read().unwrap_err().to_string().contains("no column `DepTime`"));
    std::fs::write(
        copy.path().join("distances.csv"),
        "origin,destination,distance\n\"A\",\"B \"\"b\"\"\",far\n",
    )
    .unwrap();
    std::fs::copy(folder().join("tables/flights.csv"), copy.path().join("flights.csv")).unwrap();
    let error = read().unwrap_err().to_string();
    assert!(error.contains("column `distance`") && error.contains("line 2, column 15"), "{error}");
    // the place of an error is right after a blank line and a cell of two lines
    std::fs::write(copy.path().join("distances.csv"), "origin,destination,distance\n\n\"A\nx\",B,far\n")
        .unwrap();
    let error = read().unwrap_err().to_string();
    assert!(error.contains("line 4, column 6"), "{error}");
}

/// Converts JSON to TOML with integers as numbers. Serialising `serde_json` numbers directly would make maps of them.
fn toml_of(value: &serde_json::Value) -> toml::Value {
    use serde_json::Value;
    match value {
        Value::Number(number) => toml::Value::Integer(number.as_i64().unwrap()),
        Value::String(text) => toml::Value::String(text.clone()),
        Value::Array(list) => toml::Value::Array(list.iter().map(toml_of).collect()),
        Value::Object(object) => {
            toml::Value::Table(object.iter().map(|(name, value)| (name.clone(), toml_of(value))).collect())
        }
        Value::Null | Value::Bool(_) => panic!("there are none in a spec of a trip"),
    }
}

/// The shipped spec is made from the tables and the first query.
#[test]
fn the_shipped_spec_is_made_from_the_tables() {
    let spec = travel_spec(&tables(), &queries()[0], 2).unwrap();
    let path = folder().join("spec.toml");
    let head =
        "# A trip of three days, made from `tables` and the first of `queries.jsonl`. See README.md.\n\n";
    let made = format!("{head}{}", toml::to_string(&toml_of(&spec)).unwrap());
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), made, "UPDATE_SNAPSHOTS=1 writes it anew");
}
