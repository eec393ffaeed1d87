//! `grammata retrieve`: search and measurement by words; with the feature `ort` vectors of a tiny encoder, and queries and
//! drafts of a tiny decoder.

use crate::cli::{json, out, refused, run};
use serde_json::json;
use std::path::{Path, PathBuf};

/// A folder with tools and requests.
struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Files {
        let files = Files(tempfile::tempdir().unwrap());
        let tool = |id: &str, name: &str, category: &str, description: &str| {
            json!({ "id": id, "name": name, "category": category, "description": description }).to_string()
        };
        let tools = [
            tool("1", "cats", "pets", "a cat sat on the mat"),
            tool("2", "dogs", "pets", "a dog ran under the tree"),
            tool("3", "colours", "art", "red and blue"),
        ];
        files.write("tools.jsonl", &tools.join("\n"));
        let requests = [
            json!({ "id": "q1", "query": "the cat on the mat. red or blue?", "relevant": ["1", "3"], "split": "x" }),
            json!({ "id": "q2", "query": "where did the dog run", "relevant": ["2"], "split": "y" }),
            json!({ "id": "q3", "query": "a tree", "relevant_any": [["1", "2"]], "split": "y" }),
        ];
        files.write("requests.jsonl", &requests.map(|request| request.to_string()).join("\n"));
        files
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn arguments(&self, command: &[&str], more: &[&str]) -> Vec<String> {
        let catalogue = ["--catalogue".to_owned(), self.path("tools.jsonl")];
        let given = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        [given(&["retrieve"]), given(command), catalogue.to_vec(), given(more)].concat()
    }
}

fn strs(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

#[test]
fn the_shipped_catalogue_is_searched_by_the_words_of_sentences() {
    let found =
        json(0, &["retrieve", "search", "Convert text to SQL. Book a restaurant.", "-k", "3", "--json"]);
    let ids: Vec<&str> =
        found["tools"].as_array().unwrap().iter().map(|tool| tool["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 3);
    assert_eq!(ids[0], "mt002", "AI2sql: converts a natural language text into an SQL query");
    assert_eq!(found["queries"][0]["source"], "sentence");
    let text = out(0, &["retrieve", "search", "Convert text to SQL. Book a restaurant.", "-k", "3"]);
    assert!(text.contains("1. sentence  \"Convert text to SQL.\""), "{text}");
    assert!(text.contains("AI2sql (query 1): Converts a natural language text"), "{text}");
}

#[test]
fn figures_are_those_of_the_requests() {
    let files = Files::new();
    let requests = files.path("requests.jsonl");
    let journal = files.path("journal.jsonl");
    let base = ["--requests", &requests, "-k", "2", "--mode", "utterance"];
    let found = json(0, &strs(&files.arguments(&["evaluate"], &[&base[..], &["--json"]].concat())));
    assert_eq!(found["requests"], 3);
    // q1: both tools first; q2: rank 1; q3: `a tree` finds dogs first
    assert_eq!(found["metrics"]["MMRR"]["mean"].as_f64().unwrap(), 1.0);
    assert_eq!(found["metrics"]["complete"]["mean"].as_f64().unwrap(), 1.0);
    let some = [&base[..], &["--where", "split=y", "--journal", &journal]].concat();
    let text = out(0, &strs(&files.arguments(&["evaluate"], &some)));
    assert!(text.starts_with("3 tools, 2 of 2 requests, k = 2\n"), "{text}");
    let kept = std::fs::read_to_string(&journal).unwrap();
    assert_eq!(kept.lines().count(), 3);
    // it goes on where it ended, and gives the same
    assert_eq!(out(0, &strs(&files.arguments(&["evaluate"], &some))), text);
    assert_eq!(std::fs::read_to_string(&journal).unwrap(), kept);
    let (page, report) = (files.path("report.html"), files.path("report.md"));
    for report in [&page, &report] {
        let more = [&base[..], &["--compare", &journal, "--report", report]].concat();
        let text = out(0, &strs(&files.arguments(&["evaluate"], &more)));
        assert!(text.contains("better 0, worse 0"), "{text}");
    }
    assert!(std::fs::read_to_string(page).unwrap().starts_with("<!doctype html>"));
    assert!(std::fs::read_to_string(report).unwrap().contains("| MMRR |"));
    let ceiling = ["--requests", &requests, "-k", "2", "--ceiling", "--sample", "1"];
    let text = out(0, &strs(&files.arguments(&["evaluate"], &ceiling)));
    assert!(text.starts_with("3 tools, 1 of 1 requests"), "{text}");
}

#[test]
fn what_is_missing_is_named() {
    let files = Files::new();
    let requests = files.path("requests.jsonl");
    let wrong: [(&str, &[&str], &[&str]); 6] = [
        ("cli/needs-model", &["search", "x"], &["--mode", "intents"]),
        ("cli/needs-embedder", &["search", "x"], &["--ranker", "hybrid"]),
        ("cli/no-requests", &["evaluate"], &["--requests", &requests, "--where", "split=z"]),
        ("cli/needs-examples", &["search", "x"], &["--mode", "few_shot", "--model", "m.onnx"]),
        ("io/file", &["evaluate"], &["--requests", "no/such/file"]),
        ("cli/needs-model", &["drafts"], &["--requests", &requests, "--output", "x", "--mode", "zero_shot"]),
    ];
    for (code, command, more) in wrong {
        refused(code, &strs(&files.arguments(command, more)));
    }
    files.write("broken.jsonl", "{\"id\": \"1\"}");
    let error =
        refused("retrieval/line", &["retrieve", "search", "x", "--catalogue", &files.path("broken.jsonl")]);
    assert!(error.contains("broken.jsonl"), "{error}");
}

/// T18: tools with odd descriptions are indexed, and found in their order.
#[test]
fn odd_tools_are_indexed() {
    let files = Files::new();
    let odd = [
        ("a", "getPM2.5Level", ""),
        ("b", "requestFirst Aid Assistance", "twice"),
        ("c", "Download/Stream", "twice"),
        ("d", "🎸", "天气 预报"),
        ("e", "html", "<b onclick=\"x()\">bold</b>\u{7}\u{202e}"),
    ];
    let long = "weather forecast ".repeat(500);
    let line = |(id, name, text): (&str, &str, &str)| json!({ "id": id, "name": name, "description": text });
    let mut lines: Vec<String> = odd.into_iter().map(|tool| line(tool).to_string()).collect();
    lines.push(line(("f", "long", &long)).to_string());
    files.write("tools.jsonl", &lines.join("\n"));
    let first = |request: &str| {
        let found = json(
            0,
            &strs(
                &files.arguments(&["search", request], &["--json", "-k", "2", "--template", "description"]),
            ),
        );
        let ids =
            found["tools"].as_array().unwrap().iter().map(|tool| tool["id"].as_str().unwrap().to_owned());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(first("pm2 5 level"), ["a"]);
    assert_eq!(first("twice"), ["b", "c"]);
    assert_eq!(first("天气"), ["d"]);
    assert_eq!(first("bold"), ["e"]);
    assert_eq!(first("forecast"), ["f"]);
    let text = out(0, &strs(&files.arguments(&["search", "bold"], &["-k", "1"])));
    assert!(!text.contains('\u{7}'), "{text}");
}

#[cfg(not(feature = "ort"))]
#[test]
fn without_onnx_runtime_it_says_how_to_build() {
    let error = refused("cli/no-onnx-runtime", &["retrieve", "search", "x", "--model", "x.onnx"]);
    assert!(error.contains("--features ort"), "{error}");
}

#[cfg(feature = "ort")]
mod with_onnx_runtime {
    use super::*;

    const DECODER: &str = "tests/data/tiny-decoder";
    const PROMPT: &str = "Name.\n---\n{{ request }}:";

    /// A folder with a tiny encoder.
    fn encoder(files: &Files) -> String {
        let data: PathBuf = Path::new(crate::ROOT).join("tests/data/tiny-embedder");
        let folder = files.0.path().join("encoder");
        std::fs::create_dir(&folder).unwrap();
        std::fs::copy(data.join("pooled.onnx"), folder.join("model.onnx")).unwrap();
        std::fs::copy(data.join("tokenizer.json"), folder.join("tokenizer.json")).unwrap();
        std::fs::write(folder.join("sentence_bert_config.json"), r#"{"max_seq_length": 12}"#).unwrap();
        folder.to_str().unwrap().to_owned()
    }

    #[test]
    fn an_index_is_made_and_searched() {
        let files = Files::new();
        let (encoder, index) = (encoder(&files), files.path("tools.index"));
        let make = files.arguments(&["index"], &["--embedder", &encoder, "--output", &index]);
        assert_eq!(out(0, &strs(&make)), "3 tools; 3 documents embedded, 0 of them cut\n");
        assert_eq!(out(0, &strs(&make)), "3 tools; 0 documents embedded, 0 of them cut\n");
        for ranker in ["dense", "hybrid"] {
            let search =
                ["retrieve", "search", "a cat sat on the mat", "--index", &index, "--embedder", &encoder];
            let found = json(0, &[&search[..], &["--ranker", ranker, "-k", "3", "--json"]].concat());
            assert_eq!(found["tools"].as_array().unwrap().len(), 3);
            assert_eq!(found["tools"][0]["id"], "1", "{ranker}: {found}");
        }
        // T19: a long request is embedded as far as the encoder reads, with a warning
        let long = "a cat sat on the mat ".repeat(900);
        let search =
            ["retrieve", "search", &long, "--index", &index, "--embedder", &encoder, "--mode", "utterance"];
        let found = run(&[&search[..], &["-k", "1", "--json"]].concat());
        assert_eq!(found.code, 0, "{}", found.err);
        assert!(
            found.err.contains("warning[cli/text-cut]") && found.out.contains("\"embedded_tokens\":"),
            "{}",
            found.err
        );

        let mut bytes = std::fs::read(&index).unwrap();
        bytes[100] ^= 1;
        std::fs::write(&index, bytes).unwrap();
        let search = ["retrieve", "search", "cat", "--index", &index, "--embedder", &encoder];
        assert!(refused("retrieval/index-file", &search).contains("tools.index"));
    }

    /// T31.
    #[test]
    fn a_reader_sees_the_old_or_the_new_index() {
        let files = Files::new();
        let (encoder, index) = (encoder(&files), files.path("tools.index"));
        let all = std::fs::read_to_string(files.path("tools.jsonl")).unwrap();
        files.write("two.jsonl", &all.lines().take(2).collect::<Vec<_>>().join("\n"));
        let catalogues = [files.path("tools.jsonl"), files.path("two.jsonl")];
        let make = |catalogue: &str| {
            out(
                0,
                &["retrieve", "index", "--catalogue", catalogue, "--embedder", &encoder, "--output", &index],
            )
        };
        make(&catalogues[0]);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| (1..9).for_each(|turn| drop(make(&catalogues[turn % 2]))));
            let mut seen = Vec::new();
            while !writer.is_finished() || seen.is_empty() {
                let search =
                    ["retrieve", "search", "red and blue", "--index", &index, "--embedder", &encoder];
                let found = json(0, &[&search[..], &["--ranker", "dense", "--json"]].concat());
                seen.push(found["tools"].as_array().unwrap().len());
            }
            assert!(seen.iter().all(|count| [2, 3].contains(count)), "{seen:?}");
        });
    }

    #[test]
    fn a_model_writes_queries_in_every_format() {
        let files = Files::new();
        files.write("prompt.txt", PROMPT);
        let prompt = files.path("prompt.txt");
        for format in ["raw", "lines", "json", "grounded"] {
            let model = ["--model", DECODER, "--threads", "1", "--prompt", &prompt, "--format", format];
            let more = [&model[..], &["--max-tokens", "60", "--json"]].concat();
            let found = json(0, &strs(&files.arguments(&["search", "the cat"], &more)));
            assert_eq!((&found["mode"], &found["format"]), (&"zero_shot".into(), &format.into()));
            assert!(found["raw"].is_string());
            assert_eq!(found["queries"].as_array().unwrap().last().unwrap()["text"], "the cat");
            let text = out(0, &strs(&files.arguments(&["search", "the cat"], &model)));
            assert!(text.starts_with("queries (zero_shot):\n"), "{text}");
        }
        // the default prompt is longer than the context of this decoder: an error, not a shorter prompt
        let more = ["--model", DECODER, "--threads", "1"];
        refused("decode/prompt-too-long", &strs(&files.arguments(&["search", "the cat"], &more)));
    }

    fn training(files: &Files, folder: &str, threads: &str) -> std::collections::BTreeMap<String, String> {
        let (prompt, requests) = (files.path("prompt.txt"), files.path("requests.jsonl"));
        let folder = files.path(folder);
        let more = ["--model", DECODER, "--threads", threads, "--prompt", &prompt, "--requests", &requests];
        let more =
            [&more[..], &["--output", &folder, "--drafts", "3", "--max-tokens", "30", "-k", "2"]].concat();
        let run = run(&strs(&files.arguments(&["drafts"], &more)));
        assert_eq!(run.code, 0, "{}", run.err);
        let entries = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        entries
            .map(|path| {
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                (name, std::fs::read_to_string(path).unwrap())
            })
            .collect()
    }

    /// T25 by the program.
    #[test]
    fn drafts_are_the_same_bytes_again() {
        let files = Files::new();
        files.write("prompt.txt", PROMPT);
        let first = training(&files, "a", "1");
        assert_eq!(first["drafts.jsonl"].lines().count(), 9);
        assert_eq!(first["sft.jsonl"].lines().count(), 3);
        assert_eq!(training(&files, "b", "2"), first);
        // all but some bytes of the drafts are lost
        let path = files.path("b/drafts.jsonl");
        std::fs::write(&path, &first["drafts.jsonl"][..first["drafts.jsonl"].len() / 2]).unwrap();
        assert_eq!(training(&files, "b", "1"), first);
    }
}
