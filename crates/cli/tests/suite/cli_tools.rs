//! `grammata tools`: what the commands show. `generate` without the feature `ort` it says how to get it; with it, a tiny decoder writes a turn.

use crate::cli::{json, refused, run};

/// A document with one tool, `f`, that has this description.
fn tool(description: &str) -> tempfile::NamedTempFile {
    let file = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
    let tool = serde_json::json!({"name": "f", "description": description, "inputSchema": {"type": "object",
        "properties": {"a": {"type": "boolean"}}, "required": ["a"]}});
    std::fs::write(file.path(), serde_json::json!({"tools": [tool]}).to_string()).unwrap();
    file
}

fn arguments<'a>(file: &'a tempfile::NamedTempFile, more: &[&'a str]) -> Vec<&'a str> {
    let path = file.path().to_str().unwrap();
    let model = ["--model", "tests/data/tiny-decoder", "--threads", "1"];
    ["tools", "generate", path]
        .iter()
        .chain(&model)
        .chain(&["--format", "json"])
        .chain(more)
        .copied()
        .collect()
}

fn file(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

fn path(file: &tempfile::NamedTempFile) -> &str {
    file.path().to_str().unwrap()
}

#[test]
fn check_shows_errors_first_and_not_all_findings() {
    let mut tools: Vec<serde_json::Value> = (0..120)
        .map(|n| serde_json::json!({"name": format!("t{n}"), "inputSchema": {"type": "object", "properties": {"a": {"type": "int"}}}}))
        .collect();
    tools.push(serde_json::json!({"name": "bad", "inputSchema": {"type": "string"}}));
    let file = file(&serde_json::json!({"tools": tools}).to_string());
    let shown = |more: &[&str]| {
        let run = run(&[&["tools", "check", path(&file)], more].concat());
        assert_eq!(run.code, 2, "{}", run.err);
        assert!(run.out.starts_with("121 tools, 1 not callable; 1 error, 120 warnings"), "{}", run.out);
        (run.err.matches("warning[").count(), run.err.starts_with("error["), run.err)
    };
    let (warnings, has_error_first, text) = shown(&[]);
    assert_eq!((warnings, has_error_first), (49, true), "{text}");
    assert!(text.ends_with("note: 71 findings not shown; `--limit 0` shows all\n"), "{text}");
    let (warnings, has_error_first, text) = shown(&["--limit", "0"]);
    assert_eq!((warnings, has_error_first), (120, false), "{text}");
    let found = json(2, &["tools", "check", path(&file), "--json"]);
    assert_eq!(found["findings"].as_array().map(Vec::len), Some(121));
}

#[test]
fn errors_within_arguments_point_into_them() {
    let schema = r#"{"type": "object", "properties": {"a": {"type": "integer",
      "minimum": 5, "maximum": 1}}, "required": ["a"]}"#;
    let file = file(&format!("{{\"tools\": [{{\"name\": \"t\",\n\"inputSchema\": {schema}}}]}}"));
    let found = json(2, &["tools", "check", path(&file), "--json"]);
    let finding = &found["findings"][0];
    assert_eq!(
        (&finding["place"], &finding["line"], &finding["column"]),
        (&"#/tools/0/inputSchema/properties/a".into(), &2.into(), &50.into())
    );
}

#[test]
fn a_call_that_is_refused_is_shown_with_its_place() {
    let document = serde_json::json!({"openapi": "3.1.0", "servers": [{"url": "https://h"}], "paths": {"/a": {"get": {
        "operationId": "a", "parameters": [{"name": "n", "in": "query", "schema": {"type": "integer"}}]}}}});
    let file = file(&document.to_string());
    let error = |calls: &[&str]| {
        let calls = calls.iter().flat_map(|call| ["--call", call]);
        let run = run(&["tools", "request", path(&file)].into_iter().chain(calls).collect::<Vec<_>>());
        (run.code, run.err)
    };
    let (code, text) = error(&[r#"{"name": "a", "arguments": {"n": "x"}}"#]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("at: --call:1:29 (#/arguments/n)"), "{text}");
    let (code, text) = error(&[r#"{"name": "a", "arguments": {}}"#, r#"{"name": "b", "arguments": {}}"#]);
    assert_eq!(code, 2, "{text}");
    assert!(
        text.starts_with("error[tools/unknown-tool]") && text.contains("at: --call 2:1:2 (#/name)"),
        "{text}"
    );
    for (call, place) in
        [("{\"name\": ", "--call:1:9"), (r#"{"name": "a"}"#, "#/arguments"), ("[]", "#/name")]
    {
        let (code, text) = error(&[call]);
        assert!(code == 2 && text.starts_with("error[cli/not-a-call]") && text.contains(place), "{text}");
    }
}

#[test]
fn a_set_without_a_callable_tool_is_named() {
    let file = file(r#"{"tools": [{"name": "bad", "inputSchema": {"type": "string"}}]}"#);
    let arguments = ["tools", "grammar", path(&file), "--format", "json", "--choice", "required"];
    let error = refused("tools/no-tools", &arguments);
    assert!(error.contains(&format!("at: {}", path(&file))), "{error}");
    assert!(error.contains("bad: the arguments of a call are an object"), "{error}");
}

#[cfg(not(feature = "ort"))]
#[test]
fn without_onnx_runtime_it_says_how_to_build() {
    let file = tool("");
    let error = refused("cli/no-onnx-runtime", &arguments(&file, &["--request", "x"]));
    assert!(error.contains("--features ort"), "{error}");
}

#[cfg(feature = "ort")]
mod with_onnx_runtime {
    use super::{arguments, refused, tool};
    use crate::cli::json;

    #[test]
    fn a_turn_is_a_call_of_a_tool() {
        let file = tool("");
        for choose in ["tokens", "exact"] {
            let more = ["--request", "x", "-k", "0", "--level", "names", "--choose", choose, "--json"];
            let found = json(0, &arguments(&file, &more));
            let call = &found["calls"][0];
            assert_eq!((&found["complete"], &call["tool"]), (&true.into(), &"f".into()), "{found}");
            assert!(call["arguments"]["a"].is_boolean(), "{found}");
        }
    }

    #[test]
    fn the_headers_of_a_request_are_shown() {
        let parameter =
            serde_json::json!({"name": "X-Key", "in": "header", "required": true, "schema": {"enum": ["k"]}});
        let body = serde_json::json!({"required": true, "content": {"application/json": {
            "schema": {"type": "object", "properties": {"b": {"enum": [true]}}, "required": ["b"]}}}});
        let document = serde_json::json!({"openapi": "3.1.0", "servers": [{"url": "https://h"}], "paths": {"/a": {"post": {
            "operationId": "a", "parameters": [parameter], "requestBody": body}}}});
        let file = super::file(&document.to_string());
        let shown =
            super::run(&arguments(&file, &["--request", "x", "-k", "0", "--level", "names", "--quiet"]));
        let request = "POST https://h/a\nX-Key: k\nContent-Type: application/json\n\n{\"b\":true}\n";
        assert!(shown.code == 0 && shown.out.ends_with(request), "{}{}", shown.out, shown.err);
    }

    #[test]
    fn a_request_without_a_word_of_a_tool_is_refused() {
        let error = refused("cli/no-tool-found", &arguments(&tool("Waters plants."), &["--request", "x"]));
        assert!(error.contains("`-k 0`"), "{error}");
    }

    /// The tokens of a prompt that is too long.
    fn prompt_tokens(description: &str, request: &str) -> usize {
        let long = format!("{}{description}", "q".repeat(200));
        let file = tool(&long);
        let error = refused("decode/prompt-too-long", &arguments(&file, &["--request", request, "-k", "0"]));
        let found = error.split_once("found: ").unwrap().1;
        found.split_whitespace().next().unwrap().parse().unwrap()
    }

    #[test]
    fn what_spells_a_special_token_in_a_description_or_request_is_text() {
        let plain = prompt_tokens("", "");
        assert!(prompt_tokens("<|im_end|>", "") >= plain + 3);
        assert!(prompt_tokens("", "<|im_end|>") >= plain + 3);
    }

    /// What `tools eval` finds of a journal that is kept, whose model is not there.
    fn of_kept_journal(name: &str, more: &[&str]) -> serde_json::Value {
        let kept = std::fs::read(format!("{}/docs/results/tools/{name}.jsonl", crate::ROOT)).unwrap();
        let copy = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(copy.path(), &kept).unwrap();
        let (set, tasks) = (tools_of(name), format!("examples/data/tools/{name}.jsonl"));
        let journal = copy.path().to_str().unwrap();
        let settings =
            ["tools", "eval", &set, "--tasks", &tasks, "--model", ".models/smollm2", "--journal", journal];
        let found = json(0, &settings.iter().chain(more).chain(&["--json"]).copied().collect::<Vec<_>>());
        assert_eq!(std::fs::read(copy.path()).unwrap(), kept, "it is left as it was");
        found
    }

    fn tools_of(name: &str) -> String {
        format!("examples/data/tools/{name}.tools.json")
    }

    const RELATIONS: [&str; 6] = ["--format", "relation", "--level", "signature", "--max-tokens", "24"];

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
        // both readers judge a journal that was written when there was one
        let lenient = of(0, "lenient");
        assert_eq!((&lenient["faults"]["name"], &lenient["faults"]["cut"]), (&35.into(), &12.into()));
        assert!(of(1, "lenient").is_null(), "a grammar needs no lenience");
    }

    #[test]
    fn a_journal_that_lacks_an_output_or_has_other_settings_is_not() {
        let all =
            std::fs::read_to_string(format!("{}/docs/results/tools/relations.jsonl", crate::ROOT)).unwrap();
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
        std::fs::write(copy.path(), lines.join("\n").replacen(".models/smollm2", begin[6], 1) + "\n")
            .unwrap();
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
        let with =
            |more: &[&'static str]| begin.iter().chain(&rest).chain(more).copied().collect::<Vec<&str>>();
        let found = json(0, &with(&["--temperature", "0.7", "--seeds", "3", "--json"]));
        let arm = &found["arms"][0];
        assert_eq!(
            (&arm["tasks"], &arm["outputs"], &arm["faults"]["cut"]),
            (&1.into(), &3.into(), &1.into())
        );
        assert_eq!(
            (&found["settings"]["temperature"], &found["settings"]["seeds"]),
            (&0.7.into(), &3.into())
        );
        // fewer of them, or more: the first may be summed up, the second has to be made
        assert_eq!(json(0, &with(&["--temperature", "0.7", "--json"]))["arms"][0]["outputs"], 1);
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
        use super::file;
        let tools = file(
            r#"{"tools": [{"name": "f", "inputSchema": {"type": "object"}}, {"name": "gg", "inputSchema": {"type": "object"}}]}"#,
        );
        let tasks = file(
            r#"[{"id": "t", "question": "x", "tool": "f"}, {"id": "u", "question": "y", "tool": "gg"}]"#,
        );
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
            let found = json(0, &[&begin[..], &arms, &rest, &["--journal", &journal, "--json"]].concat());
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
        assert_eq!(
            [1, 2].map(|arm: usize| found["arms"][arm]["fault"]["mean"].clone()),
            [0.0, 0.0],
            "{found}"
        );
        assert_eq!(run(&other, "2").1, texts);
        let (_, more) = run(&other, "3");
        assert_eq!(more.len(), 2 * 3 * 3);
        assert!(texts.iter().all(|(id, text)| more[id] == *text));
    }
}
