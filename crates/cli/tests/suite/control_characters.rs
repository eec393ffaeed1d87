//! Control characters, line ends and marks of direction in names never reach a terminal or a log raw: each reader gets
//! a document with them in its names, and so do arguments.

use crate::process::run_with;
use grammata::diagnostic::is_hidden;
use serde_json::Value;

/// The characters within a string of JSON, TOML or YAML.
const ESCAPED: &str = "a\\u001b[31mX\\u001b]0;pwn\\u0007\\u001b[2J\\u009b\\u202e\\nerror[x] forged";
/// The same as they are.
const RAW: &str = "a\u{1b}[31mX\u{1b}]0;pwn\u{7}\u{1b}[2J\u{9b}\u{202e}\nerror[x] forged";

/// Documents by file name, in which `NAME` is replaced, and the arguments of the command that reads them.
const DOCUMENTS: &[(&str, &str, &[&str])] = &[
    ("s.json", r#"{"properties":{"NAME":{"minimum":"x"}}}"#, &["count"]),
    ("s.json", r#"{"properties":{"NAME":{"unknown NAME":1}}}"#, &["count"]),
    ("s.json", r##"{"$defs":{"NAME":{"type":"NAME"}},"$ref":"#/$defs/NAME"}"##, &["check", "--text", "1"]),
    ("s.json", r#"{"$ref":"NAME"}"#, &["count"]),
    ("s.json", r#"{"properties":{"NAME":{"pattern":"NAME("}}}"#, &["mask"]),
    ("s.json", r#"{"NAME":1,"NAME":2"#, &["explain", "--text", "1"]),
    ("g.gbnf", "root ::= NAME\n", &["count"]),
    ("g.gbnf", "root ::= \"a\" 'NAME' ::=\n", &["enumerate"]),
    ("g.gbnf", "root ::= @regex(\"NAME(\")\nNAME ::= \"b\"\n", &["count"]),
    ("g.lark", "start: NAME \"NAME\" /NAME(/\n", &["count"]),
    ("g.lark", "start: \"a\" %json {\"NAME\": 1, \"type\": \"NAME\"}\n", &["count"]),
    ("g.lark", "start.2 NAME: \"NAME\"\n%import NAME.NAME\n", &["check", "--text", "NAME"]),
    ("p.regex", "NAME(", &["count"]),
    ("p.regex", "(?<NAME>a)NAME[", &["count"]),
    (
        "t.json",
        r#"{"type":"structural_tag","format":{"type":"NAME","NAME":1}}"#,
        &["count", "--kind", "structural-tag"],
    ),
    (
        "t.json",
        r#"{"type":"structural_tag","format":{"type":"json_schema","json_schema":{"type":"NAME"}}}"#,
        &["count", "--kind", "structural-tag"],
    ),
    (
        "a.toml",
        "kind = \"nfa\"\nstart = \"NAME\"\naccepting = [\"NAME\"]\n[symbols]\n\"NAME\" = 3\n",
        &["count"],
    ),
    ("a.toml", "kind = \"cfg\"\nstart = \"s\"\n[rules]\n\"s\" = [\"NAME\"]\n", &["count"]),
    ("a.json", r#"{"kind":"NAME","NAME":1}"#, &["count", "--kind", "spec"]),
    ("p.toml", "kind = \"nfa\"\nNAME = 1\n", &["plan", "count"]),
    ("p.yaml", "Name: NAME\nProcedure: NAME\nNAME: [\n", &["procedure", "check"]),
    (
        "p.yaml",
        "Name: \"NAME\"\nDesc: \"NAME\"\nAPIs:\n- name: \"NAME\"\n  NAME: 1\nProcedure: |\n  \"NAME\"\n",
        &["procedure", "check"],
    ),
    ("m.json", r#"{"tools":[{"name":"NAME","inputSchema":{"type":"NAME"}}]}"#, &["tools", "check"]),
    (
        "m.json",
        r#"{"tools":[{"name":"f","description":"NAME","inputSchema":{"type":"object","properties":{"NAME":{"$ref":"NAME"}}}}]}"#,
        &["tools", "check"],
    ),
    (
        "o.json",
        r#"{"openapi":"3.0.0","info":{"title":"NAME","version":"1"},"paths":{"/NAME":{"get":{"operationId":"NAME","parameters":[{"name":"NAME","in":"NAME"}]}}}}"#,
        &["tools", "check"],
    ),
    ("o.yaml", "openapi: 3.0.0\npaths:\n  \"/NAME\":\n    NAME: {\n", &["tools", "list"]),
    (
        "tokenizer.json",
        r#"{"model":{"type":"NAME","vocab":{"NAME":0}},"added_tokens":[{"content":"NAME"}]}"#,
        &["vocab"],
    ),
    ("x.gmask", "NAME", &["inspect"]),
    ("NAME.zip", "NAME", &["count"]),
];

/// The program's own sequences for colours: `ESC [ digits m`.
fn without_colors(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let sequence = after.strip_prefix("\u{1b}[").unwrap_or("x");
        let digits = sequence.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
        assert!(sequence[digits..].starts_with('m') && digits < 6, "not a colour: {after:?}");
        rest = &sequence[digits + 1..];
    }
    out + rest
}

#[track_caller]
fn check_text(text: &str, what: &str) {
    // the input has a colour of its own, which must not get through either
    assert!(!text.contains("\u{1b}[31mX"), "{what}: {text:?}");
    let text = without_colors(text);
    for line in text.lines() {
        assert!(!line.contains(is_hidden), "{what}: {line:?}");
        assert!(!line.starts_with("error[x]"), "{what}: {text}");
    }
    assert!(text.chars().all(|c| !is_hidden(c) || c == '\n'), "{what}: {text:?}");
}

/// Runs the program with three forms of output. Returns the number of runs that reported something.
fn check_runs(arguments: &[&str], what: &str) -> usize {
    let mut reported = 0;
    for form in [&[][..], &["--color", "always"], &["--output-format", "json"]] {
        let all: Vec<&str> = arguments.iter().chain(form).copied().collect();
        let run = run_with(&all, "");
        reported += usize::from(!run.err.is_empty());
        check_text(&run.err, what);
        if form.contains(&"json") && !run.out.is_empty() {
            check_text(&run.out, what);
            assert_eq!(run.out.lines().count(), 1, "{what}: {}", run.out);
            serde_json::from_str::<Value>(&run.out).unwrap();
        }
    }
    reported
}

#[test]
fn no_reader_writes_control_characters_to_a_terminal_or_a_log() {
    let mut runs = 0;
    for (name, document, command) in DOCUMENTS {
        for characters in [ESCAPED, RAW] {
            let folder = tempfile::tempdir().unwrap();
            // file names may have control characters, too
            let name = name.replace("NAME", "f\u{1b}[31mX\u{202e}\nerror[x] forged");
            let path = folder.path().join(&name);
            std::fs::write(&path, document.replace("NAME", characters)).unwrap();
            let path = path.to_str().unwrap();
            let place = command.iter().take_while(|word| !word.starts_with("--")).count();
            let (words, options) = command.split_at(place);
            let arguments: Vec<&str> =
                words.iter().copied().chain([path]).chain(options.iter().copied()).collect();
            runs += check_runs(&arguments, document);
        }
    }
    assert!(runs > DOCUMENTS.len() * 4, "{runs} of {}", DOCUMENTS.len() * 6);
}

#[test]
fn arguments_are_shown_escaped() {
    let schema = "grammars/person/schema.json";
    let reported: usize = [
        &["count", RAW][..],
        &[RAW],
        &["count", schema, &format!("--{RAW}")],
        &["count", schema, "--root", RAW],
        &["count", schema, "--set-limit", RAW],
        &["count", schema, "--kind", RAW],
        &["check", schema, "--text", RAW],
        &["mask", schema, "--prefix", RAW],
        &["explain", schema, "--text", RAW],
        &["vocab", RAW],
        &["plan", "count", RAW],
        &["plan", "count", "grammars/plans/house.toml", "--param", RAW],
        &["procedure", "check", RAW],
        &["tools", "request", "catalogues/none.json", "--call", RAW],
        &["guard", RAW, "--", "true"],
        &["guard", "grammars/procedures/taxi_order.yaml", "--http", RAW],
        &["tag", RAW],
        &["flow", "check", RAW],
    ]
    .into_iter()
    .map(|arguments| check_runs(arguments, &format!("{arguments:?}")))
    .sum();
    assert!(reported > 30, "{reported}");
}
