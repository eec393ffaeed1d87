//! `grammata tools`: output and errors of its commands. Without the feature `ort`, `generate` says how to build with
//! it; with it, a tiny decoder writes a turn.

use crate::cli::{json, refused, run};

/// Returns a document with one tool, `f`, that has the given description.
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
        .chain(&["--call-format", "json"])
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
    let found = json(2, &["tools", "check", path(&file), "--output-format=json"]);
    assert_eq!(found["diagnostics"].as_array().map(Vec::len), Some(121));
}

#[test]
fn errors_within_arguments_point_into_them() {
    let schema = r#"{"type": "object", "properties": {"a": {"type": "integer",
      "minimum": 5, "maximum": 1}}, "required": ["a"]}"#;
    let file = file(&format!("{{\"tools\": [{{\"name\": \"t\",\n\"inputSchema\": {schema}}}]}}"));
    let found = json(2, &["tools", "check", path(&file), "--output-format=json"]);
    let finding = &found["diagnostics"][0];
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
    let arguments = ["tools", "grammar", path(&file), "--call-format", "json", "--choice", "required"];
    let error = refused("tools/no-tools", &arguments);
    assert!(error.contains(&format!("at: {}", path(&file))), "{error}");
    assert!(error.contains("bad: the arguments of a call are an object"), "{error}");
}

#[cfg(not(feature = "ort"))]
#[test]
fn without_onnx_runtime_it_says_how_to_build() {
    let file = tool("");
    let error = refused("cli/no-onnx-runtime", &arguments(&file, &["--request", "x"]));
    assert!(error.contains("the feature `ort`"), "{error}");
}

#[cfg(feature = "ort")]
mod with_onnx_runtime {
    use super::{arguments, refused, tool};
    use crate::cli::json;

    #[test]
    fn a_turn_is_a_call_of_a_tool() {
        let file = tool("");
        for choose in ["tokens", "exact"] {
            let more = [
                "--request",
                "x",
                "-k",
                "0",
                "--detail",
                "names",
                "--choose",
                choose,
                "--output-format=json",
            ];
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
            super::run(&arguments(&file, &["--request", "x", "-k", "0", "--detail", "names", "--quiet"]));
        let request = "POST https://h/a\nX-Key: k\nContent-Type: application/json\n\n{\"b\":true}\n";
        assert!(shown.code == 0 && shown.out.ends_with(request), "{}{}", shown.out, shown.err);
    }

    #[test]
    fn a_request_without_a_word_of_a_tool_is_refused() {
        let error = refused("cli/no-tool-found", &arguments(&tool("Waters plants."), &["--request", "x"]));
        assert!(error.contains("`-k 0`"), "{error}");
    }

    /// Returns the number of tokens of a prompt that is too long, from the error.
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
}
