//! How the program fails: exit codes, the file, line and excerpt of errors, errors as JSON, and help texts.

use crate::cli::{json, refused, run};
use serde_json::{Value, json as value};
use std::path::Path;

struct Files(tempfile::TempDir);

impl Files {
    fn of(files: &[(&str, &str)]) -> Files {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        Files(folder)
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }
}

const EXIT_CODES: [(i32, &str); 6] = [
    (0, "done: every text is accepted, the output is complete, nothing differs"),
    (1, "rejected or different: a text, a plan, a call, an answer of an API, a file"),
    (2, "unusable: the arguments, a file, a grammar, a model or a command"),
    (3, "incomplete: a generated text, a plan or a session ended early, by a limit or by its user"),
    (4, "too expensive: a limit on the cost of the input was exceeded (`--set-limit`)"),
    (141, "closed: standard output was closed before everything was written"),
];

#[test]
fn exit_codes_are_documented_once_and_in_every_help_text() {
    let root = Path::new(crate::ROOT);
    let page = std::fs::read_to_string(root.join("docs/cli.md")).unwrap();
    for command in
        ["", "mask", "check", "explain", "enumerate", "count", "graph", "generate", "vocab", "plan"]
    {
        let arguments: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        let help = run(&arguments).out;
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        for (code, meaning) in EXIT_CODES {
            assert!(help.contains(&format!("{code} {meaning}")), "{command}: {code}");
            assert!(page.contains(&format!("| {code} | {meaning} |")), "docs/cli.md: {code}");
        }
    }
}

#[test]
fn every_limit_is_documented() {
    let page = std::fs::read_to_string(Path::new(crate::ROOT).join("docs/cli.md")).unwrap();
    let limits = serde_json::to_value(grammata::Limits::default()).unwrap();
    for name in limits.as_object().unwrap().keys() {
        assert!(page.contains(&format!("`{name}`")), "docs/cli.md: {name}");
    }
}

/// All commands that read a grammar or a tokenizer have the same exit code for the same kind of failure.
#[test]
fn every_command_has_the_same_exit_codes() {
    let files = Files::of(&[
        ("good.regex", "[ab]{3}\n"),
        ("broken.regex", "(\n"),
        ("spec.toml", "kind = 'cfg'\nsymbols = ['a']\nstart = 's'\nrules = { s = ['a', 'a s'] }\n"),
        ("broken.toml", "kind = 'cfg'\n"),
    ]);
    let commands: [&[&str]; 6] = [
        &["mask"],
        &["check", "--text", "aab"],
        &["explain", "--text", "aa"],
        &["enumerate"],
        &["count"],
        &["graph"],
    ];
    let ends = |command: &[&str], grammar: &str, more: &[&str]| {
        let path = files.path(grammar);
        let arguments: Vec<&str> =
            command.iter().copied().chain([path.as_str()]).chain(more.iter().copied()).collect();
        let run = run(&arguments);
        (run.code, run.err)
    };
    for command in commands {
        assert_eq!(ends(command, "good.regex", &[]).0, 0, "{command:?}");
        for (grammar, more) in
            [("broken.regex", &[][..]), ("missing.regex", &[]), ("good.regex", &["--no-such"])]
        {
            assert_eq!(ends(command, grammar, more).0, 2, "{command:?} {grammar}");
        }
        for limit in ["source_bytes=1", "grammar_nodes=1", "automaton_states=1"] {
            let (code, err) = ends(command, "good.regex", &["--set-limit", limit]);
            assert_eq!(code, 4, "{command:?} {limit}: {err}");
            let name = limit.split('=').next().unwrap();
            let of_file = err.starts_with("error[cli/too-long]");
            assert!(of_file || err.contains(&format!("`--set-limit {name}=N`")), "{err}");
        }
    }
    for command in [&["plan", "count"][..], &["plan", "enumerate"], &["plan", "explain"]] {
        assert_eq!(ends(command, "broken.toml", &[]).0, 2, "{command:?}");
        assert_eq!(ends(command, "spec.toml", &["--set-limit", "source_bytes=1"]).0, 4, "{command:?}");
    }
    assert_eq!(ends(&["check", "--text", "x"], "good.regex", &[]).0, 1);
    assert_eq!(ends(&["explain", "--text", "x"], "good.regex", &[]).0, 1);
    assert_eq!(ends(&["mask", "--prefix", "x"], "good.regex", &[]).0, 1);
    let vocab = run(&["vocab", "tests/data/smollm2/tokenizer.json", "--set-limit", "tokenizer_bytes=9"]);
    assert_eq!(vocab.code, 4, "{}", vocab.err);
}

#[test]
fn errors_name_the_file_and_show_the_line() {
    let files = Files::of(&[
        ("g.gbnf", "root ::= value \";\"\nvalue ::= strng | number\nnumber := [0-9]+\nstring ::= 'x'\n"),
        ("s.json", "{\n  \"type\": \"object\",\n\t\"minProperties\": \"0\"\n}\n"),
        ("p.regex", "a(b"),
        (
            "a.toml",
            "kind = 'nfa'\nsymbols = ['x']\nstart = 'a'\naccepting = ['stop']\n[[transitions]]\nfrom = 'a'\ninput = 'y'\nto = 'stopp'\n",
        ),
    ]);
    let err = refused("gbnf/undefined-rule", &["count", &files.path("g.gbnf")]);
    let at = format!(
        "  at: {}:2:11\n  2 | value ::= strng | number\n    |           ^^^^^\n  help: did you mean `string`?\n",
        files.path("g.gbnf")
    );
    assert!(err.contains(&at), "{err}");
    assert_eq!(err.matches("error[").count(), 3, "{err}");
    assert!(err.contains("did you mean `::=`?") && err.contains("double quotes: `\"x\"`"), "{err}");
    let err = refused("json-schema/invalid-keyword", &["count", &files.path("s.json")]);
    let at = format!(
        "  at: {}:3:2 (#/minProperties)\n  3 |     \"minProperties\": \"0\"\n    |     ^",
        files.path("s.json")
    );
    assert!(err.contains(&at), "{err}");
    let err = refused("regex/unclosed-group", &["count", &files.path("p.regex")]);
    assert!(err.contains(&format!("  at: {}:1:2\n  1 | a(b\n    |  ^", files.path("p.regex"))), "{err}");
    let err = refused("automaton-spec/undefined", &["count", &files.path("a.toml")]);
    assert_eq!(err.matches("error[").count(), 2, "{err}");
    assert!(
        err.contains(&format!(
            "  at: {}:7:1 (#/transitions/0/input)\n  7 | input = 'y'\n",
            files.path("a.toml")
        )),
        "{err}"
    );
    assert!(err.contains("a.toml:8:1 (#/transitions/0/to)") && err.contains("did you mean `stop`?"), "{err}");
}

#[test]
fn errors_are_json_where_results_are() {
    let files = Files::of(&[("g.gbnf", "root ::= a\n"), ("p.regex", "a*")]);
    let found = json(2, &["count", &files.path("g.gbnf"), "--output-format=json"]);
    assert_eq!((&found["exit_code"], &found["diagnostics_truncated"]), (&2.into(), &false.into()));
    let error = &found["diagnostics"][0];
    let expected = value!({
        "severity": "error", "code": "gbnf/undefined-rule", "message": "the rule `a` is not defined", "file": files.path("g.gbnf"),
        "place": "line 1, column 10", "line": 1, "column": 10, "source": "root ::= a", "rendered": false,
        "found": null, "cause": null, "allowed": null, "help": "add a rule `a ::= …`",
    });
    assert_eq!(*error, expected);
    assert_eq!(
        json(1, &["mask", &files.path("p.regex"), "--prefix", "b", "--output-format=json"])["exit_code"],
        1
    );
    let limited =
        json(4, &["count", &files.path("p.regex"), "--set-limit", "grammar_nodes=1", "--output-format=json"]);
    assert_eq!(limited["diagnostics"][0]["code"], "limit/exceeded");
    assert_eq!(limited["diagnostics"][0]["line"], 1);
    let usage = json(2, &["count", &files.path("p.regex"), "--output-format=json", "--no-such-option"]);
    assert_eq!(usage["diagnostics"][0]["code"], "cli/usage");
    assert!(usage["diagnostics"][0]["message"].as_str().unwrap().contains("--no-such-option"), "{usage}");
    let missing = json(2, &["vocab", "no/such.json", "--output-format=json"]);
    assert_eq!(
        (&missing["diagnostics"][0]["file"], &missing["diagnostics"][0]["line"]),
        (&"no/such.json".into(), &Value::Null)
    );
}

#[test]
fn help_names_options_of_the_program() {
    let files =
        Files::of(&[("g.gbnf", "start ::= \"a\"\n"), ("list.json", r#"["a", "b"]"#), ("p.regex", "a")]);
    let err = refused("gbnf/no-root", &["count", &files.path("g.gbnf")]);
    assert!(err.contains("`--root`, for instance to `start`"), "{err}");
    assert_eq!(run(&["count", &files.path("g.gbnf"), "--root", "start"]).out, "1\n");
    let err = refused("vocabulary/no-eos", &["vocab", &files.path("list.json")]);
    assert!(err.contains("`--eos`") && !err.contains("LoadOptions"), "{err}");
    let err = refused("io/file", &["count", &files.path("p.regx")]);
    assert!(err.contains(&format!("did you mean `{}`?", files.path("p.regex"))), "{err}");
    let unknown = run(&["count", &files.path("p.regex"), "--set-limit", "cache_byte=1"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("did you mean `cache_bytes`?"), "{}", unknown.err);
}

#[test]
fn values_that_begin_with_a_minus_sign_are_values() {
    let found = json(0, &["check", "grammars/json", "--text", "-1", "--output-format=json"]);
    assert_eq!(found["accepted"], 1);
    let wrong = run(&["count", "grammars/json", "--timeout"]);
    assert_eq!(wrong.code, 2);
    assert!(!wrong.err.contains("-- --timeout"), "{}", wrong.err);
    let negative =
        run(&["generate", "grammars/json", "--model", "x", "--prompt", "a", "--temperature", "-1"]);
    assert!(negative.err.contains("it must be a number, 0 or more"), "{}", negative.err);
    let prompt = run(&["generate", "grammars/json", "--model", "x"]);
    assert!(prompt.err.contains("--prompt-file"), "{}", prompt.err);
}

#[test]
fn check_and_explain_say_the_same_of_what_is_found() {
    for (text, found) in [("é", "\"é\""), ("\"\n", "\"\\n\""), ("x", "\"x\"")] {
        let line = format!("  found: {found}\n");
        for command in ["check", "explain"] {
            let run = run(&[command, "grammars/json", "--text", text]);
            assert_eq!(run.code, 1);
            assert!(run.out.contains(&line), "{command}: {}", run.out);
        }
    }
}

#[cfg(feature = "ort")]
#[test]
fn a_model_that_is_not_there_is_no_folder_without_a_tokenizer() {
    let err = refused(
        "cli/no-model",
        &["generate", "grammars/json", "--model", "tests/data/tiny-decoder/model.onx", "--prompt", "a"],
    );
    assert!(err.contains("did you mean `tests/data/tiny-decoder/model.onnx`"), "{err}");
}
