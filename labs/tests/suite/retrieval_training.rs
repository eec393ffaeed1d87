//! Training data: drafts that are drawn again after an interruption, pools of tools, and readers of other sets.

use grammata::{Diagnostic, Error, ErrorKind, Limits, Result};
use grammata_agents::retrieval::readers::{toolbench, toolret};
use grammata_agents::retrieval::requests::Request;
use grammata_agents::retrieval::{Catalogue, Tool};
use grammata_labs::retrieval::metrics::Relevance;
use grammata_labs::retrieval::pools::{Pool, check_disjoint, pool_of, side};
use grammata_labs::retrieval::training::{
    DraftRecord, PromptForm, TrainingOptions, TrainingRequest, TrainingSummary, draft_seed,
    write_training_data,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

fn requests(count: usize) -> Vec<TrainingRequest> {
    let request = |number: usize| TrainingRequest {
        id: format!("q{number}"),
        instruction: "Name tools.".into(),
        rest: format!("Human: wish {number}\nAnswer:\n"),
        relevant: vec![format!("t{number}")],
        target: "Grants a wish".into(),
    };
    (0..count).map(request).collect()
}

/// Drafts that depend on their seeds alone; `fails_at` is the number of the request that fails.
fn draw(request: &TrainingRequest, seeds: &[u64], iteration: usize) -> Vec<DraftRecord> {
    let record = |(draft, &seed): (usize, &u64)| DraftRecord {
        id: request.id.clone(),
        iteration,
        draft,
        seed,
        completion: format!("Grants wish {}", seed % 1_000),
        queries: vec![format!("Grants wish {}", seed % 1_000)],
        tokens: 3 + (seed % 5) as usize,
        logprob: Some(-((seed % 70) as f64) / 8.0),
        reward: (seed % 11) as f64 / 10.0,
        recall: (seed % 3) as f64 / 2.0,
        hits: (seed % 3) as usize,
        ranking: vec![format!("t{}", seed % 7)],
    };
    seeds.iter().enumerate().map(record).collect()
}

fn options() -> TrainingOptions {
    TrainingOptions::default().drafts(4)
}

fn write(folder: &Path, options: &TrainingOptions, most: usize) -> Result<TrainingSummary> {
    let settings = json!({ "model": "m", "r": 0.05 });
    let mut drawn = 0;
    write_training_data(folder, &requests(6), options, &settings, &Limits::default(), |request, seeds| {
        if drawn == most {
            return Err(Error::new(ErrorKind::Model, Diagnostic::new("test/model", "the model fails")));
        }
        drawn += 1;
        Ok(draw(request, seeds, options.iteration))
    })
}

fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    entries.map(|path| (name(&path), std::fs::read_to_string(&path).unwrap())).collect()
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// T25.
#[test]
fn an_interrupted_run_ends_in_the_same_bytes() {
    let whole = tempfile::tempdir().unwrap();
    let summary = write(whole.path(), &options(), usize::MAX).unwrap();
    assert_eq!((summary.requests, summary.drawn), (6, 6));
    let expected = files(whole.path());
    let names: Vec<&str> = expected.keys().map(String::as_str).collect();
    assert_eq!(names, ["drafts.jsonl", "manifest.json", "preferences.jsonl", "rejection.jsonl", "sft.jsonl"]);
    for killed_after in 0..6 {
        let folder = tempfile::tempdir().unwrap();
        let error = write(folder.path(), &options(), killed_after).unwrap_err();
        assert_eq!(error.code(), "test/model");
        // also if the interruption came while a line was being written
        let path = folder.path().join("drafts.jsonl");
        let mut text = std::fs::read_to_string(&path).unwrap();
        text.push_str(&expected["drafts.jsonl"][text.len()..text.len() + 100]);
        std::fs::write(&path, text).unwrap();
        let summary = write(folder.path(), &options(), usize::MAX).unwrap();
        assert_eq!(summary.drawn, 6 - killed_after);
        assert_eq!(files(folder.path()), expected);
        assert_eq!(write(folder.path(), &options(), 0).unwrap().drawn, 0, "nothing is drawn twice");
        assert_eq!(files(folder.path()), expected);
    }
}

#[test]
fn files_have_what_trainers_read() {
    let folder = tempfile::tempdir().unwrap();
    let summary = write(folder.path(), &options(), usize::MAX).unwrap();
    let text = files(folder.path());
    let drafts = lines(&text["drafts.jsonl"]);
    assert_eq!(drafts.len(), 24);
    let best = |id: &str| {
        let own = drafts.iter().filter(|draft| draft["id"] == id);
        own.map(|draft| draft["reward"].as_f64().unwrap()).fold(0.0, f64::max)
    };
    let kept = lines(&text["rejection.jsonl"]);
    assert_eq!(kept.len(), summary.selected.kept.len());
    assert!(!kept.is_empty());
    for line in &kept {
        assert_eq!(line["reward"].as_f64().unwrap(), best(line["id"].as_str().unwrap()));
        assert!(line["prompt"].as_str().unwrap().starts_with("Name tools.\nHuman: wish "));
        assert!(line["completion"].is_string() && line["iteration"] == 1);
    }
    let pairs = lines(&text["preferences.jsonl"]);
    assert_eq!(pairs.len(), summary.preferences);
    for pair in &pairs {
        let reward = |name: &str| pair[name].as_f64().unwrap();
        assert!(reward("reward_chosen") - reward("reward_rejected") >= 0.1);
        assert_ne!(pair["chosen"], pair["rejected"]);
    }
    let sft = lines(&text["sft.jsonl"]);
    assert_eq!(
        sft[2],
        json!({
            "id": "q2", "prompt": "Name tools.\nHuman: wish 2\nAnswer:\n", "completion": "Grants a wish",
            "relevant": ["t2"]
        })
    );
    let manifest: Value = serde_json::from_str(&text["manifest.json"]).unwrap();
    let counts = &manifest["counts"];
    let count = |name: &str| counts[name].as_u64().unwrap();
    let reasons = ["kept", "not_best", "outside_p_top", "below_r_min", "below_min_hits"];
    assert_eq!(reasons.map(count).iter().sum::<u64>(), count("drafts"));
    let histogram = manifest["rewards"]["histogram"].as_array().unwrap();
    assert_eq!(histogram.iter().map(|bin| bin.as_u64().unwrap()).sum::<u64>(), 24);

    let folder = tempfile::tempdir().unwrap();
    let chat = options().prompts(PromptForm::Chat);
    write(folder.path(), &chat, usize::MAX).unwrap();
    let sft = lines(&files(folder.path())["sft.jsonl"]);
    assert_eq!(sft[0]["prompt"][0], json!({ "role": "system", "content": "Name tools." }));
    assert_eq!(sft[0]["completion"], json!([{ "role": "assistant", "content": "Grants a wish" }]));
    assert!(sft[0].get("messages").is_none());
}

#[test]
fn another_run_does_not_go_on_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &options(), usize::MAX).unwrap();
    for other in [options().iteration(2), options().drafts(5), options().seed(1)] {
        let error = write(folder.path(), &other, usize::MAX).unwrap_err();
        assert_eq!(error.code(), "retrieval/other-run");
    }
    let path = folder.path().join("drafts.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"draft\":0", "\"draft\":7")).unwrap();
    assert_eq!(write(folder.path(), &options(), 9).unwrap_err().code(), "retrieval/other-run");
    std::fs::write(&path, "{}\n").unwrap();
    assert_eq!(write(folder.path(), &options(), 9).unwrap_err().code(), "retrieval/draft-line");
}

#[test]
fn seeds_are_those_of_names() {
    let names = [(0, "a", 1, 0), (1, "a", 1, 0), (0, "b", 1, 0), (0, "a", 2, 0), (0, "a", 1, 1)];
    let seeds: HashSet<u64> = names.iter().map(|&(s, id, t, n)| draft_seed(s, id, t, n)).collect();
    assert_eq!(seeds.len(), names.len());
    assert_eq!(draft_seed(0, "a", 1, 0), draft_seed(0, "a", 1, 0));
}

fn tool(id: &str, service: &str) -> Tool {
    Tool { id: id.into(), name: id.into(), tool: service.into(), ..Tool::default() }
}

fn request(id: &str, query: &str, relevant: &[&str]) -> Request {
    let line = json!({ "id": id, "query": query, "relevant": relevant }).to_string();
    Request::from_json_lines(&line, &Limits::default()).unwrap().remove(0)
}

/// T26.
#[test]
fn pools_are_of_whole_services() {
    let tools: Vec<Tool> =
        (0..400).map(|number| tool(&format!("t{number}"), &format!("service {}", number / 4))).collect();
    let pools: Vec<Pool> = tools.iter().map(|tool| pool_of(tool, 20)).collect();
    assert!(pools.chunks(4).all(|service| service.iter().all(|pool| pool == &service[0])));
    let outside = pools.iter().filter(|pool| **pool == Pool::Out).count();
    assert!((40..=120).contains(&outside), "{outside} of 400");
    assert!(tools.iter().all(|tool| pool_of(tool, 0) == Pool::In && pool_of(tool, 100) == Pool::Out));

    let catalogue = Catalogue::new(tools, &Limits::default()).unwrap();
    let id = |pool: Pool| format!("t{}", pools.iter().position(|p| *p == pool).unwrap());
    let (inside, outside) = (id(Pool::In), id(Pool::Out));
    let of = |relevant: &[&str]| side(&request("q", "wish", relevant), &catalogue, 20).unwrap();
    assert_eq!(of(&[&inside]), Some(Pool::In));
    assert_eq!(of(&[&outside]), Some(Pool::Out));
    assert_eq!(of(&[&inside, &outside]), None);
    let error = side(&request("q", "wish", &["nobody"]), &catalogue, 20).unwrap_err();
    assert_eq!(error.code(), "retrieval/unknown-tool");

    let training = [request("1", "first wish", &["t1"]), request("2", "second wish", &["t1"])];
    assert!(check_disjoint(&training, &[request("3", "third wish", &["t1"])]).is_ok());
    for test in [request("2", "another", &["t1"]), request("9", " First  WISH ", &["t1"])] {
        assert_eq!(check_disjoint(&training, &[test]).unwrap_err().code(), "retrieval/training-in-test");
    }
}

#[test]
fn toolbench_files_are_read() {
    let text = json!([
        { "query_id": 7, "query": "Songs", "relevant APIs": [["Music", "find"], ["Music", "find"], ["Maps", "route"]],
          "api_list": [
            { "category_name": "Fun", "tool_name": "Music", "api_name": "find", "api_description": "Finds songs", "method": "GET" },
            { "category_name": "Travel", "tool_name": "Maps", "api_name": "route", "api_description": null },
            { "tool_name": "Music", "api_name": "find", "api_description": "again" } ] },
        { "query_id": "none", "query": "Nothing", "api_list": [] }
    ]);
    let set = toolbench(&text.to_string(), &Limits::default()).unwrap();
    let tools: Vec<(&str, &str)> =
        set.catalogue.tools().iter().map(|t| (t.id.as_str(), t.description.as_str())).collect();
    assert_eq!(tools, [("Music/find", "Finds songs"), ("Maps/route", "")]);
    assert_eq!((set.requests.len(), set.requests[0].id.as_str()), (1, "7"));
    assert_eq!(set.requests[0].relevant, [["Music/find"], ["Maps/route"]]);
    assert_eq!(Relevance::of_request(&set.requests[0], &set.catalogue).unwrap().count(), 2);
    let error = toolbench("[{\"query\": 1}]", &Limits::default()).unwrap_err();
    assert_eq!(error.code(), "retrieval/line");
    let twice = json!([text[0], text[0]]).to_string();
    assert_eq!(toolbench(&twice, &Limits::default()).unwrap_err().code(), "retrieval/request-id");
    let small = Limits::default().catalogue_bytes(10);
    assert_eq!(toolbench(&twice, &small).unwrap_err().kind(), ErrorKind::Limit);
}

#[test]
fn toolret_files_are_read() {
    let lines = [
        json!({ "id": "q1", "query": "Songs", "instruction": "x", "labels": [
            { "id": "a", "doc": { "name": "find", "description": "Finds songs" }, "relevance": 1 },
            { "id": "b", "doc": "Plays songs", "relevance": 0 },
            { "id": "c", "doc": "{\"name\": \"stop\", \"description\": \"Stops songs\"}", "relevance": 1.0 } ] }),
        json!({ "id": "q2", "query": "Nothing", "labels": [{ "id": "a", "doc": "again", "relevance": 0 }] }),
    ];
    let text = lines.map(|line| line.to_string()).join("\n");
    let set = toolret(&text, &Limits::default()).unwrap();
    let tools: Vec<(&str, &str, &str)> = set
        .catalogue
        .tools()
        .iter()
        .map(|t| (t.id.as_str(), t.name.as_str(), t.description.as_str()))
        .collect();
    assert_eq!(
        tools,
        [("a", "find", "Finds songs"), ("b", "b", "Plays songs"), ("c", "stop", "Stops songs")]
    );
    assert_eq!(set.requests.len(), 1);
    assert_eq!(set.requests[0].relevant, [["a"], ["c"]]);
    let error = toolret("\n{\"id\": 1}", &Limits::default()).unwrap_err();
    assert_eq!(error.code(), "retrieval/line");
}
