//! `grammata-lab tools eval`: journals that are kept, seeds, and outputs of a tiny decoder.
#![cfg(feature = "ort")]

use crate::lab::{json, refused};

const RELATIONS: [&str; 6] = ["--format", "relation", "--level", "signature", "--max-tokens", "24"];

fn file(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

/// Returns the report of `tools eval` on a stored journal whose model does not exist.
fn of_kept_journal(name: &str, more: &[&str]) -> serde_json::Value {
    let kept = std::fs::read(format!("{}/labs/results/tools/{name}.jsonl", crate::ROOT)).unwrap();
    let copy = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(copy.path(), &kept).unwrap();
    let (set, tasks) = (tools_of(name), format!("examples/data/tools/{name}.jsonl"));
    let journal = copy.path().to_str().unwrap();
    let settings =
        ["tools", "eval", &set, "--tasks", &tasks, "--model", ".models/smollm2", "--journal", journal];
    let found =
        json(0, &settings.iter().chain(more).chain(&["--output-format=json"]).copied().collect::<Vec<_>>());
    assert_eq!(std::fs::read(copy.path()).unwrap(), kept, "it is left as it was");
    found
}

fn tools_of(name: &str) -> String {
    format!("examples/data/tools/{name}.tools.json")
}

#[test]
fn a_complete_journal_is_summed_up_without_its_model() {
    let found = of_kept_journal("relations", &RELATIONS);
    let of = |arm: usize, name: &str| found["arms"][arm][name].clone();
    assert_eq!(
        (of(0, "arm"), of(0, "outputs"), of(0, "faults")["name"].clone()),
        ("free".into(), 47.into(), 35.into())
    );
    assert_eq!(
        (of(1, "arm"), of(1, "outputs"), of(1, "fault")["mean"].clone()),
        ("full".into(), 47.into(), 0.0.into())
    );
    // both readers judge a journal that was written when there was only one reader
    let lenient = of(0, "lenient");
    assert_eq!((&lenient["faults"]["name"], &lenient["faults"]["cut"]), (&35.into(), &12.into()));
    assert!(of(1, "lenient").is_null(), "a grammar needs no lenience");
}

#[test]
fn a_journal_that_lacks_an_output_or_has_other_settings_is_not() {
    let all = std::fs::read_to_string(format!("{}/labs/results/tools/relations.jsonl", crate::ROOT)).unwrap();
    let copy = tempfile::NamedTempFile::new().unwrap();
    let mut lines: Vec<&str> = all.lines().collect();
    let full = lines.iter().rposition(|line| line.contains(r#""arm":"full","#)).unwrap();
    lines.remove(full);
    std::fs::write(copy.path(), format!("{}\n", lines.join("\n"))).unwrap();
    let (set, tasks) = (tools_of("relations"), "examples/data/tools/relations.jsonl");
    let journal = copy.path().to_str().unwrap();
    let begin =
        ["tools", "eval", &set, "--tasks", tasks, "--model", ".models/not-there", "--journal", journal];
    refused("evaluation/settings", &begin.iter().chain(&RELATIONS).copied().collect::<Vec<_>>());
    let mut begin = begin;
    begin[6] = ".models/smollm2";
    for other in [&["--examples", "1"][..], &["--temperature", "0.5"], &["--to-end"]] {
        refused(
            "evaluation/settings",
            &begin.iter().chain(&RELATIONS).chain(other).copied().collect::<Vec<_>>(),
        );
    }
    begin[6] = ".models/smollm2-not-there";
    std::fs::write(copy.path(), lines.join("\n").replacen(".models/smollm2", begin[6], 1) + "\n").unwrap();
    refused("cli/no-model", &begin.iter().chain(&RELATIONS).copied().collect::<Vec<_>>());
}

#[test]
fn seeds_need_a_temperature_and_are_summed_up_together() {
    let record = |seed: u64, fault: Option<&str>| {
        serde_json::json!({"id": format!("relation-12 full seed-{seed}"), "record": {"arm": "full", "text": "country", "fault": fault,
            "tool": "country", "arguments": {}, "right": fault.is_none(), "tokens": 1, "model_calls": 1, "forced_tokens": 0, "mask_ms": 0.0,
            "time_ms": 1.0}})
    };
    let settings = |temperature: f64| {
        serde_json::json!({"settings": {"model": "m", "tasks": "relations.jsonl", "format": "relation", "level": null,
            "max_tokens": 256, "temperature": temperature}})
    };
    let journal = tempfile::NamedTempFile::new().unwrap();
    let lines = [settings(0.7), record(0, None), record(1, Some("cut")), record(2, None)];
    std::fs::write(journal.path(), lines.map(|line| format!("{line}\n")).concat()).unwrap();
    let (set, path) = (tools_of("relations"), journal.path().to_str().unwrap());
    let begin =
        ["tools", "eval", &set, "--tasks", "examples/data/tools/relations.jsonl", "--format", "relation"];
    let rest = ["--arm", "full", "--only", "relation-12", "--model", "m", "--journal", path];
    let with = |more: &[&'static str]| begin.iter().chain(&rest).chain(more).copied().collect::<Vec<&str>>();
    let found = json(0, &with(&["--temperature", "0.7", "--seeds", "3", "--output-format=json"]));
    let arm = &found["arms"][0];
    assert_eq!((&arm["tasks"], &arm["outputs"], &arm["faults"]["cut"]), (&1.into(), &3.into(), &1.into()));
    assert_eq!((&found["settings"]["temperature"], &found["settings"]["seeds"]), (&0.7.into(), &3.into()));
    // fewer seeds are summarised from the journal, more seeds need the model
    assert_eq!(json(0, &with(&["--temperature", "0.7", "--output-format=json"]))["arms"][0]["outputs"], 1);
    refused("cli/no-model", &with(&["--temperature", "0.7", "--seeds", "4"]));
    refused("evaluation/settings", &with(&["--temperature", "0.5", "--seeds", "3"]));
    refused("evaluation/settings", &with(&[]));
    refused("cli/seeds-alike", &with(&["--seeds", "3"]));
    refused("decode/sampling", &with(&["--temperature=-1"]));
    refused("decode/sampling", &with(&["--temperature", "nan"]));
}

/// A whole run of a tiny model whose context has 128 tokens.
#[test]
fn drawn_outputs_are_the_same_again_and_go_on_with_more_seeds() {
    let tools = file(
        r#"{"tools": [{"name": "f", "inputSchema": {"type": "object"}}, {"name": "gg", "inputSchema": {"type": "object"}}]}"#,
    );
    let tasks =
        file(r#"[{"id": "t", "question": "x", "tool": "f"}, {"id": "u", "question": "y", "tool": "gg"}]"#);
    let path = |file: &tempfile::NamedTempFile| file.path().to_str().unwrap().to_owned();
    let run = |journal: &tempfile::NamedTempFile, seeds: &str| {
        let (tools, tasks, journal) = (path(&tools), path(&tasks), path(journal));
        let begin = [
            "tools",
            "eval",
            &tools,
            "--tasks",
            &tasks,
            "--model",
            "tests/data/tiny-decoder",
            "--threads",
            "1",
        ];
        let arms = ["--arm", "free", "--arm", "full", "--arm", "full+exact"];
        let rest = [
            "--format",
            "relation",
            "--examples",
            "0",
            "--max-tokens",
            "6",
            "--temperature",
            "1.5",
            "--seeds",
            seeds,
        ];
        let found =
            json(0, &[&begin[..], &arms, &rest, &["--journal", &journal, "--output-format=json"]].concat());
        let text = std::fs::read_to_string(&journal).unwrap();
        let texts: std::collections::BTreeMap<String, String> = text
            .lines()
            .skip(1)
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .map(|line| (line["id"].as_str().unwrap().to_owned(), line["record"]["text"].to_string()))
            .collect();
        (found, texts)
    };
    let [one, other] = [file(""), file("")];
    let (found, texts) = run(&one, "2");
    assert_eq!(texts.len(), 2 * 3 * 2);
    assert_ne!(texts["t free seed-0"], texts["t free seed-1"]);
    assert_eq!((&found["arms"][1]["tasks"], &found["arms"][1]["outputs"]), (&2.into(), &4.into()));
    assert_eq!([1, 2].map(|arm: usize| found["arms"][arm]["fault"]["mean"].clone()), [0.0, 0.0], "{found}");
    assert_eq!(run(&other, "2").1, texts);
    let (_, more) = run(&other, "3");
    assert_eq!(more.len(), 2 * 3 * 3);
    assert!(texts.iter().all(|(id, text)| more[id] == *text));
}
