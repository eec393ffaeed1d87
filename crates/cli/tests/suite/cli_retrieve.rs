//! `grammata retrieve`: search by words; with the feature `ort` also by vectors of a tiny encoder, with queries of a
//! tiny decoder.

use crate::cli::{json, out, refused, run_with};
use crate::retrieve_files::{Files, strs};
use serde_json::json;

#[test]
fn the_shipped_catalogue_is_searched_by_the_words_of_sentences() {
    let found = json(
        0,
        &["retrieve", "search", "Convert text to SQL. Book a restaurant.", "-k", "3", "--output-format=json"],
    );
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
fn what_is_missing_is_named() {
    let files = Files::new();
    let wrong: [(&str, &[&str], &[&str]); 3] = [
        ("cli/needs-model", &["search", "x"], &["--query-mode", "intents"]),
        ("cli/needs-embedder", &["search", "x"], &["--ranker", "hybrid"]),
        ("cli/needs-examples", &["search", "x"], &["--query-mode", "few-shot", "--model", "m.onnx"]),
    ];
    for (code, command, more) in wrong {
        refused(code, &strs(&files.arguments(command, more)));
    }
    files.write("broken.jsonl", "{\"id\": \"1\"}");
    let error =
        refused("retrieval/line", &["retrieve", "search", "x", "--catalogue", &files.path("broken.jsonl")]);
    assert!(error.contains("broken.jsonl"), "{error}");
}

/// The tools of one server are an OpenAPI document, those of another one a report of `tools list`.
#[test]
fn tools_of_many_servers_are_served() {
    let files = Files::new();
    let services = "catalogues/services/openapi.json";
    let report = out(0, &["tools", "list", services, "--output-format=json"]);
    files.write("again.json", &report);
    files.write("mcp.json", r#"{"tools": [{"name": "feed", "description": "Feeds the elephant.", "inputSchema": {"type": "object"}}]}"#);
    let (again, mcp) = (files.path("again.json"), files.path("mcp.json"));
    let ask = |arguments: serde_json::Value| {
        let params = json!({ "name": "search_tools", "arguments": arguments });
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let run = run_with(&["retrieve", "serve", services, &again, &mcp], &format!("{request}\n"));
        assert_eq!((run.code, run.err.as_str()), (0, ""));
        let answer: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        answer["result"].clone()
    };
    let elephants = ask(json!({ "query": "food for an elephant", "count": 1 }));
    let found = &elephants["structuredContent"]["tools"][0];
    assert_eq!((&found["server"], &found["name"]), (&json!("mcp"), &json!("feed")), "{elephants}");
    // both servers have the same tools with the same schemas
    let of = |server: &str| {
        let mut found = ask(json!({ "query": "restaurant", "count": 4, "server": server }));
        let tools = found["structuredContent"]["tools"].as_array_mut().unwrap();
        assert_eq!(tools.len(), 4);
        tools.iter_mut().for_each(|tool| tool["server"] = "".into());
        tools.sort_by_key(|tool| tool["name"].as_str().unwrap().to_owned());
        tools.clone()
    };
    assert_eq!(of("openapi"), of("again"));
    for wrong in [
        json!({}),
        json!({ "query": " " }),
        json!({ "query": "x", "count": 0 }),
        json!({ "query": "x", "server": 1 }),
    ] {
        assert_eq!(ask(wrong.clone())["isError"], true, "{wrong}");
    }
    assert_eq!(json(2, &["retrieve", "serve", services, "--output-format=json"])["exit_code"], 2);
}

/// Tools with odd names and descriptions are indexed, and tools that match equally well keep their order.
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
            &strs(&files.arguments(
                &["search", request],
                &["--output-format=json", "-k", "2", "--template", "description"],
            )),
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
    assert!(error.contains("the feature `ort`"), "{error}");
}

#[cfg(feature = "ort")]
mod with_onnx_runtime {
    use super::*;
    use crate::cli::run;
    use std::path::{Path, PathBuf};

    const DECODER: &str = "tests/data/tiny-decoder";
    const PROMPT: &str = "Name.\n---\n{{ request }}:";

    /// Creates a folder with a tiny encoder, and returns its path.
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
            let found =
                json(0, &[&search[..], &["--ranker", ranker, "-k", "3", "--output-format=json"]].concat());
            assert_eq!(found["tools"].as_array().unwrap().len(), 3);
            assert_eq!(found["tools"][0]["id"], "1", "{ranker}: {found}");
        }
        // a long request is truncated to the encoder's maximum length, with a warning
        let long = "a cat sat on the mat ".repeat(900);
        let search = [
            "retrieve",
            "search",
            &long,
            "--index",
            &index,
            "--embedder",
            &encoder,
            "--query-mode",
            "utterance",
        ];
        let found = run(&[&search[..], &["-k", "1", "--output-format=json"]].concat());
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

    /// While an index is replaced, a reader sees the old or the new one.
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
                let found = json(0, &[&search[..], &["--ranker", "dense", "--output-format=json"]].concat());
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
            let model = [
                "--model",
                DECODER,
                "--threads",
                "1",
                "--prompt-template",
                &prompt,
                "--query-format",
                format,
            ];
            let more = [&model[..], &["--max-tokens", "60", "--output-format=json"]].concat();
            let found = json(0, &strs(&files.arguments(&["search", "the cat"], &more)));
            assert_eq!((&found["mode"], &found["format"]), (&"zero-shot".into(), &format.into()));
            assert!(found["raw"].is_string());
            assert_eq!(found["queries"].as_array().unwrap().last().unwrap()["text"], "the cat");
            let text = out(0, &strs(&files.arguments(&["search", "the cat"], &model)));
            assert!(text.starts_with("queries (zero-shot):\n"), "{text}");
        }
        // the default prompt is longer than the context of this decoder, which is an error; the prompt is not shortened
        let more = ["--model", DECODER, "--threads", "1"];
        refused("decode/prompt-too-long", &strs(&files.arguments(&["search", "the cat"], &more)));
    }
}
