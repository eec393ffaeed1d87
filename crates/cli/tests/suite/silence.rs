//! Nothing that the user gives is ignored silently: an option without an effect is an error, or there is a warning.

use crate::process::{json, out, run};

const TOOLS: &str = "catalogues/services/openapi.json";

/// Arguments, exit code, and a part of standard error.
const ROWS: &[(&[&str], i32, &str)] = &[
    (&["tools", "prompt", TOOLS, "--tool", "searchRestaurant"], 2, "did you mean `searchRestaurants`"),
    (&["tools", "list", TOOLS, "--label", "a", "--label", "b"], 2, "error[cli/too-many-labels]"),
    (&["tools", "list", TOOLS, "--hide", "cuisin"], 0, "did you mean `cuisine`?"),
    (
        &["tools", "grammar", TOOLS, "--call-format", "json", "--show", "--text", "x"],
        2,
        "cannot be used with",
    ),
    (
        &["retrieve", "search", "--toolbench", "tools.json", "--where", "kind=a", "x"],
        2,
        "cannot be used with",
    ),
    (&["plan", "enumerate", "grammars/daily-plan", "--shortest", "--limit", "3"], 2, "cannot be used with"),
    (&["plan", "enumerate", "grammars/daily-plan", "--cheapest", "--offset", "2"], 2, "cannot be used with"),
    (
        &["plan", "enumerate", "grammars/daily-plan", "--sample", "2", "--within", "1"],
        0,
        "warning[cli/option-unused]",
    ),
    (&["plan", "enumerate", "grammars/daily-plan", "--offset", "88"], 0, "warning[cli/nothing-listed]"),
    (&["enumerate", "grammars/daily-plan", "--offset", "88"], 0, "warning[cli/nothing-listed]"),
    (&["retrieve", "search", " "], 2, "error[cli/empty-request]"),
    (&["enumerate", "grammars/json", "--limit", "-1"], 2, "invalid value '-1' for '--limit <N>'"),
    (&["plan", "count", "grammars/daily-plan", "--within", "-1"], 2, "invalid value '-1' for '--within <N>'"),
    (&["count", "-e", "a+\nb"], 2, "error[cli/unknown-kind]"),
    (&["count", "-e", "true"], 2, "error[cli/unknown-kind]"),
    (&["count", "-e", "a+", "--kind", "regex", "grammars/json"], 2, "error[cli/grammar-twice]"),
    (&["count"], 2, "<GRAMMAR>"),
];

#[test]
fn options_without_an_effect_are_named() {
    for &(arguments, code, says) in ROWS {
        let run = run(arguments);
        assert_eq!(run.code, code, "{arguments:?}: {}", run.err);
        assert!(run.err.contains(says), "{arguments:?}: {}", run.err);
    }
    let far = run(&["check", "grammars/json", "--file", "x"]);
    assert!(far.err.contains("unexpected argument '--file'") && !far.err.contains("similar"), "{}", far.err);
    let near = run(&["check", "grammars/json", "--tex", "x"]);
    assert!(near.err.contains("'--text'"), "{}", near.err);
    let counted = json(0, &["tools", "list", TOOLS, "--count", "--output-format=json"]);
    assert_eq!(counted["callable"], 528);
}

#[test]
fn grammars_are_taken_from_the_command_line() {
    assert_eq!(out(0, &["count", "-e", "(ab|c){1,3}", "--kind", "regex"]), "14\n");
    assert_eq!(out(0, &["enumerate", "-e", "-?[01]", "--kind", "regex", "--limit", "1", "-q"]), "\"-0\"\n");
    let schema = ["--expression", r#"{"type": "boolean"}"#, "--kind", "json-schema"];
    let found = json(0, &[&["check"][..], &schema, &["--text", "true", "--output-format=json"]].concat());
    assert_eq!(found["grammar"], serde_json::json!({ "path": "--expression", "kind": "json-schema" }));
    // with `-e`, the positional arguments are texts to check
    let file = "grammars/iso-dates/accept/leap-century";
    let files: Vec<_> = std::fs::read_dir(format!("{}/grammars/json/accept", crate::ROOT)).unwrap().collect();
    let name = files[0].as_ref().unwrap().path();
    let shown = run(&["check", "-e", "(?s).*", "--kind", "regex", name.to_str().unwrap()]);
    assert!(shown.code == 0 && shown.out.contains(": accepted"), "{file}: {}{}", shown.out, shown.err);
    let error = run(&["count", "-e", "root ::= a", "--kind", "gbnf"]);
    assert!(error.err.contains("at: --expression:1:10"), "{}", error.err);
}

/// Folders are read recursively. Files whose names are not those of grammars are skipped with a note.
#[test]
fn grammars_of_a_tree_of_folders_are_compiled() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("a.regex", "a+"),
        ("README.md", "# Grammars"),
        (".gitattributes", "* text"),
        ("domain.toml", "kind = 'flow'"),
        ("inner/b.gbnf", "root ::= \"b\""),
        ("person/schema.json", r#"{"type": "boolean"}"#),
        ("person/accept/true.json", "true"),
    ];
    for (name, content) in files {
        let path = folder.path().join("from").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let made =
        run(&["compile", &path("from"), "--each", "-o", &path("to"), "--archive", &path("all.gmasks")]);
    assert_eq!(made.code, 0, "{}", made.err);
    assert!(made.err.contains("note: 3 files skipped, not grammars by name"), "{}", made.err);
    assert!(folder.path().join("to/inner/b.gbnf.gmask").is_file());
    let names = out(0, &["inspect", &path("all.gmasks"), "--names"]);
    assert_eq!(names, "a.regex\ninner/b.gbnf\nperson\n");
}

/// `explain` reads the names of special tokens as `check` does.
#[test]
fn special_tokens_are_explained() {
    let tokenizer = "tests/data/smollm2/tokenizer.json";
    let grammar = [
        "explain",
        "-e",
        "root ::= <repo_name> [a-z]+ <file_sep>",
        "--kind",
        "gbnf",
        "--tokenizer",
        tokenizer,
    ];
    let explain = |code, text: &str| {
        json(code, &[&grammar[..], &["--parse-special", "--text", text, "--output-format=json"]].concat())
    };
    let found = explain(0, "<repo_name>ab");
    assert_eq!(
        (&found["byte"], &found["viable"], &found["may_end"]),
        (&13.into(), &true.into(), &false.into())
    );
    let found = explain(1, "<repo_name>a1");
    assert_eq!((&found["byte"], &found["column"]), (&12.into(), &13.into()));
    assert_eq!(found["found"], serde_json::json!({ "text": "1" }));
    let found = explain(0, "<repo_name>ab<file_sep>");
    assert_eq!((&found["byte"], &found["may_end"]), (&23.into(), &true.into()));
}

/// Errors in YAML documents have a line and a column.
#[test]
fn yaml_documents_have_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.yaml");
    let text = "openapi: 3.1.0\nservers: [{url: https://h}]\npaths:\n  /books:\n    post:\n      operationId: add\n\
                \x20     requestBody:\n        content:\n          image/png: {}\n";
    std::fs::write(&path, text).unwrap();
    let found = json(2, &["tools", "check", path.to_str().unwrap(), "--output-format=json"]);
    let error = &found["diagnostics"][0];
    assert_eq!((&error["line"], &error["column"]), (&8.into(), &9.into()), "{error}");
    assert_eq!(error["place"], "#/paths/~1books/post/requestBody/content");
}
