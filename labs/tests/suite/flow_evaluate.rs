//! `grammata-lab flow evaluate` without a model: journals and reports of random logits.

use crate::lab::{out, refused, run};
use serde_json::Value;
use std::path::Path;

fn domain(name: &str) -> String {
    format!("{}/grammars/flows/{name}.toml", crate::ROOT)
}

/// The arguments of an experiment on two domains, with one query a flow.
fn experiment(name: &str, journal: &Path, seed: &str) -> Vec<String> {
    let (trips, banking, queries) = (domain("trip-booking"), domain("banking"), domain("queries"));
    let journal = journal.to_str().unwrap();
    let words = [
        "flow",
        "evaluate",
        &trips,
        &banking,
        "--queries",
        &queries,
        "--experiment",
        name,
        "--random-logits",
        "--seed",
        seed,
        "--per-flow",
        "1",
        "--journal",
        journal,
    ];
    words.map(str::to_owned).to_vec()
}

fn strs(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

fn records(journal: &Path) -> Vec<(String, Value)> {
    let text = std::fs::read_to_string(journal).unwrap();
    let lines = text.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.map(|line| (line["id"].as_str().unwrap().to_owned(), line["record"].clone())).collect()
}

#[test]
fn no_change_of_a_domain_lets_a_plan_break_it() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("changes.jsonl");
    let arguments = experiment("changes", &journal, "0");
    let report = out(0, &strs(&arguments));
    let records = records(&journal);
    let of = |arm: &str| records.iter().filter(|(id, _)| id.starts_with(arm)).collect::<Vec<_>>();
    // banking has no steps that can change places; an added flow has a query too
    let counts = [("unchanged", 6), ("steps swapped", 3), ("APIs renamed", 6), ("a flow added", 8)];
    for (change, count) in counts {
        for which in ["relevant flow", "all flows"] {
            let arm = format!("{change}, {which}");
            let of_arm = of(&arm);
            assert_eq!(of_arm.len(), count, "{arm}");
            for (id, record) in of_arm {
                assert_eq!(record["violates"], false, "{id}: {record}");
                let plan = &record["plan"];
                for share in ["hallucinated", "inconsistent_apis"] {
                    assert_eq!(plan[share].as_f64(), Some(0.0), "{id}: {plan}");
                }
                assert!(plan["finished"] == true && plan["parsable"] == true, "{id}: {plan}");
                assert!(record["compile_seconds"].as_f64().unwrap() > 0.0, "{id}: {record}");
                if which == "relevant flow" {
                    let edits = (plan["api_edits"].as_u64(), plan["step_edits"].as_u64());
                    assert_eq!(edits, (Some(0), Some(0)), "{id}: {plan}");
                    assert_eq!(plan["right_plan"], true, "{id}: {plan}");
                }
            }
        }
    }
    let had = |id: &str| {
        let found = records.iter().find(|(known, _)| known == id);
        found.unwrap_or_else(|| panic!("{id}")).1["was_plan"].as_bool().unwrap()
    };
    assert!(had("unchanged, relevant flow/trip-booking/book_car/0"));
    assert!(!had("steps swapped, relevant flow/trip-booking/book_car/0"), "the old order");
    assert!(had("steps swapped, relevant flow/trip-booking/book_hotel/0"), "this flow has no such steps");
    assert!(!had("APIs renamed, all flows/banking/open_account/0"));
    assert!(!had("a flow added, relevant flow/trip-booking/added/0"));
    assert!(report.contains("| trip-booking | a flow added | 4 | 4 | 13 |"), "{report}");
    // plans in the journal are not made again
    assert_eq!(out(0, &strs(&arguments)), report);
    assert_eq!(self::records(&journal).len(), records.len());
    refused("evaluation/settings", &strs(&experiment("changes", &journal, "1")));
}

/// Any experiment runs without a model, and equal seeds write equal plans.
#[test]
fn random_logits_take_the_place_of_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let texts = |file: &str, seed: &str| -> Vec<Value> {
        let journal = folder.path().join(file);
        out(0, &strs(&experiment("plain", &journal, seed)));
        records(&journal).iter().map(|(_, record)| record["text"].clone()).collect()
    };
    let first = texts("a.jsonl", "0");
    assert_eq!(first.len(), 12, "the most similar flow needs an encoder");
    assert_eq!(texts("b.jsonl", "0"), first);
    assert_ne!(texts("c.jsonl", "3"), first);
    let mut without = experiment("plain", &folder.path().join("d.jsonl"), "0");
    without.retain(|word| !["--random-logits", "--seed", "0"].contains(&word.as_str()));
    let found = run(&strs(&without));
    assert!(found.code == 2 && found.err.contains("--model"), "{}", found.err);
}
