//! The command-line program, run as a process: every subcommand, its exit codes, its JSON and its errors.

pub(crate) use crate::process::{json, out, refused, run, run_with};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

const PERSON: &str = "grammars/person";
const TOKENIZER: &str = "tests/data/smollm2/tokenizer.json";

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    folder
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn usage_errors_end_with_2() {
    for arguments in
        [&["nothing"][..], &["mask"], &["mask", PERSON, "--kind", "yacc"], &["count", "--limit", "x"]]
    {
        let run = run(arguments);
        assert_eq!((run.code, run.out.as_str()), (2, ""));
        assert!(run.err.contains("Usage") || run.err.contains("--help"), "{}", run.err);
    }
    assert_eq!(run(&["--version"]).out, format!("grammata {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn mask_lists_the_allowed_tokens() {
    let pattern = folder(&[("p.regex", "(ab|c){1,3}\n")]);
    let pattern = pattern.path().join("p.regex");
    let shown = out(0, &["mask", text(&pattern), "--prefix", "ab"]);
    assert!(shown.contains("built in: the 256 single bytes"), "{shown}");
    assert!(shown.contains("3 of 257 tokens"), "{shown}");
    assert!(shown.contains("the end     is allowed"), "{shown}");
    assert!(
        shown.contains("      97  \"a\"\n      99  \"c\"\n     256  <end>  (end of sequence)\n"),
        "{shown}"
    );
    let found = json(0, &["mask", text(&pattern), "--prefix", "ab", "--output-format=json", "--limit", "1"]);
    assert_eq!(found["allowed"], 3);
    assert_eq!(found["total"], 257);
    assert_eq!(found["end_allowed"], true);
    assert_eq!(found["tokens"], serde_json::json!([{ "id": 97, "text": "a" }]));
    assert_eq!(found["tokens_left_out"], 2);
    assert!(found["first_mask_seconds"].is_f64() && found["repeated_mask_seconds"].is_f64());
}

#[test]
fn mask_reads_tokenizers_and_prefix_files() {
    let folder = folder(&[("p.regex", "hello( world)?"), ("prefix", "hel")]);
    let path = |name: &str| text(&folder.path().join(name)).to_owned();
    let arguments = [
        "mask",
        &path("p.regex"),
        "--prefix-file",
        &path("prefix"),
        "--tokenizer",
        TOKENIZER,
        "--output-format=json",
    ];
    let found = json(0, &arguments);
    let tokens: Vec<&str> =
        found["tokens"].as_array().unwrap().iter().map(|t| t["text"].as_str().unwrap()).collect();
    assert!(tokens.contains(&"lo") && tokens.contains(&"l"), "{tokens:?}");
    assert!(tokens.iter().all(|token| "lo world".starts_with(token)), "{tokens:?}");
    assert_eq!(found["total"], 49152);
    // loading the vocabulary counts as preparation, not as compilation of the grammar
    assert!(found["prepare_seconds"].as_f64() > found["compile_seconds"].as_f64(), "{found}");
}

#[test]
fn a_prefix_that_leaves_the_grammar_ends_with_1() {
    let run = run(&["mask", PERSON, "--prefix", "["]);
    assert_eq!((run.code, run.out.as_str()), (1, ""));
    assert!(run.err.starts_with("error[matcher/rejected]"), "{}", run.err);
    assert!(run.err.contains("at: --prefix:1:1 (byte 0)\n  1 | [\n    | ^\n"), "{}", run.err);
}

#[test]
fn check_says_where_and_what_was_expected() {
    let folder = folder(&[
        ("g.gbnf", "root ::= \"a\" root \"b\" | \"\"\n"),
        ("good", "aabb"),
        ("line", "ab\r\n"),
        ("bad", "aab\nb"),
    ]);
    let path = |name: &str| text(&folder.path().join(name)).to_owned();
    assert_eq!(out(0, &["check", &path("g.gbnf"), &path("good")]), format!("{}: accepted\n", path("good")));
    let line = out(0, &["check", &path("g.gbnf"), &path("line")]);
    assert_eq!(line, format!("{}: accepted (without its last line break)\n", path("line")));
    out(1, &["check", &path("g.gbnf"), &path("line"), "--exact"]);
    let bad = out(1, &["check", &path("g.gbnf"), &path("good"), &path("bad")]);
    let expected = format!(
        "{}: accepted\n{}: rejected\n  at: byte 3, line 1, column 4\n  found: \"\\n\"\n  expected: `b` (rule `root`)\n\
         2 texts, 1 rejected\n",
        path("good"),
        path("bad")
    );
    assert_eq!(bad, expected);
    let unfinished = out(1, &["check", &path("g.gbnf"), "--text", "aab"]);
    assert!(unfinished.contains("found: the end of the text"), "{unfinished}");
}

#[test]
fn check_counts_lines_and_characters() {
    let folder = folder(&[("p.regex", "é\n(é\\xFF|éx)")]);
    let pattern = folder.path().join("p.regex");
    let found = json(1, &["check", text(&pattern), "--text", "é\néy", "--output-format=json"]);
    let place = &found["texts"][0]["rejection"];
    assert_eq!((&place["byte"], &place["line"], &place["column"]), (&5.into(), &2.into(), &2.into()));
    assert_eq!(place["found"], serde_json::json!({ "text": "y" }));
    assert_eq!(place["expected"][0]["byte_ranges"], serde_json::json!([["78", "78"], ["c3", "c3"]]));
    assert_eq!((&found["accepted"], &found["rejected"]), (&0.into(), &1.into()));
}

#[test]
fn check_reads_standard_input_once() {
    let run = run_with(&["check", "grammars/iso-dates", "-"], "2026-11-21\n");
    assert_eq!((run.code, run.out.as_str()), (0, "standard input: accepted (without its last line break)\n"));
    let run = run_with(&["check", "-", "--kind", "regex", "--text", "aaa"], "a+\n");
    assert_eq!((run.code, run.out.as_str()), (0, "--text: accepted\n"));
    refused("cli/standard-input-twice", &["check", "-", "--kind", "regex", "-"]);
}

#[test]
fn names_of_special_tokens_stand_for_them_if_asked_for() {
    let folder = folder(&[("g.gbnf", "root ::= <repo_name> [a-zé]+ <file_sep> \"<file_sep>\"*\n")]);
    let grammar = folder.path().join("g.gbnf");
    let check = |code: i32, more: &[&str]| {
        let arguments =
            [&["check", text(&grammar), "--tokenizer", TOKENIZER, "--output-format=json"][..], more].concat();
        json(code, &arguments)["texts"][0].clone()
    };
    let special = |code: i32, word: &str| check(code, &["--parse-special", "--text", word]);
    assert_eq!(special(0, "<repo_name>é<file_sep>")["tokens"], 3);
    assert_eq!(special(0, "<repo_name>é<file_sep><|im_end|>")["tokens"], 4);
    assert_eq!(check(1, &["--text", "<repo_name>é<file_sep>"])["rejection"]["byte"], 0);
    let rejected = |word: &str| special(1, word)["rejection"].clone();
    let found = rejected("<repo_name>é<repo_name>");
    assert_eq!((&found["byte"], &found["column"]), (&13.into(), &13.into()));
    assert_eq!(found["found"], serde_json::json!({ "text": "<repo_name>" }));
    // the grammar has no special token there, so the second name would have to be text
    assert_eq!(rejected("<repo_name>é<file_sep><file_sep>")["byte"], 23);
    let found = rejected("<repo_name>é<file_sep><|im_end|>\nx");
    assert_eq!(
        (&found["byte"], &found["expected"], &found["may_end"]),
        (&33.into(), &serde_json::json!([]), &true.into())
    );
    let unfinished = rejected("<repo_name>é");
    assert_eq!((&unfinished["byte"], &unfinished["found"]), (&13.into(), &serde_json::Value::Null));
    let masked = ["mask", text(&grammar), "--tokenizer", TOKENIZER, "--parse-special", "--prefix"];
    let found = json(0, &[&masked[..], &["<repo_name>ab", "--output-format=json", "--limit", "1"]].concat());
    assert_eq!(
        (&found["tokens"][0]["special"], &found["end_allowed"]),
        (&"<file_sep>".into(), &false.into())
    );
    let error = run(&[&masked[..], &["<repo_name>ab\n"]].concat());
    assert_eq!(error.code, 1);
    assert!(error.err.contains("at: --prefix:1:14 (byte 13)"), "{}", error.err);
}

#[test]
fn check_with_a_tokenizer_looks_into_every_mask() {
    let run = run(&["check", "grammars/json", "--text", "{\"a\": [true, 12]}", "--tokenizer", TOKENIZER]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(
        run.out.starts_with("--text: accepted, ") && run.out.ends_with(" tokens in their masks\n"),
        "{}",
        run.out
    );
    let found = json(
        1,
        &["check", "grammars/json", "--text", "[1}", "--tokenizer", TOKENIZER, "--output-format=json"],
    );
    assert_eq!(found["texts"][0]["rejection"]["byte"], 2);
}

#[test]
fn shipped_grammars_take_their_examples() {
    let grammars = std::fs::read_dir(Path::new(crate::ROOT).join("grammars")).unwrap();
    let mut checked = 0;
    // the first three have presets, domains of flows and procedures, which are not grammars; the examples of a spec
    // with outcomes are plans
    let others = ["calls", "flows", "procedures", "customer-service"];
    for folder in grammars.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        if others.iter().any(|other| folder.ends_with(other)) {
            continue;
        }
        let found = json(0, &["check", text(&folder), "--examples", "--output-format=json"]);
        assert_eq!(found["unexpected"], 0);
        checked += found["texts"].as_array().unwrap().len();
    }
    assert!(checked > 50, "only {checked} examples");
}

#[test]
fn wrong_examples_are_reported() {
    let folder =
        folder(&[("pattern.regex", "a+"), ("accept/one", "ab"), ("reject/two", "aa"), ("reject/three", "b")]);
    let shown = out(1, &["check", text(folder.path()), "--examples"]);
    assert!(shown.contains("accept/one: rejected, but it must be accepted\n  at: byte 1"), "{shown}");
    assert!(shown.contains("reject/two: accepted, but it must be rejected\n"), "{shown}");
    assert!(shown.contains("reject/three: rejected, as expected\n"), "{shown}");
    assert!(shown.ends_with("3 texts, 2 not as expected\n"), "{shown}");
    refused("cli/no-examples", &["check", PERSON, "--examples=src"]);
}

#[test]
fn explain_names_rule_and_schema_path() {
    let shown = out(1, &["explain", PERSON, "--text", "{\"name\": 1"]);
    assert!(shown.starts_with("the text leaves the grammar\n  at: byte 9, line 1, column 10\n"), "{shown}");
    assert!(shown.contains("/properties/name"), "{shown}");
    let found = json(0, &["explain", PERSON, "--text", "{\"na", "--output-format=json"]);
    assert_eq!(
        (&found["viable"], &found["may_end"], &found["byte"]),
        (&true.into(), &false.into(), &4.into())
    );
    assert_eq!(found["forced"]["text"], "me\"");
    assert_eq!(found["expected"][0]["byte_ranges"], serde_json::json!([["6d", "6d"]]));
}

#[test]
fn explain_takes_a_token() {
    let shown = out(0, &["explain", "grammars/json", "--text", "[", "--token", "49"]);
    assert!(shown.starts_with("token 49: \"1\": allowed\n"), "{shown}");
    let shown = out(1, &["explain", "grammars/json", "--text", "[", "--token", "256"]);
    assert!(shown.starts_with("token 256: <end>  (end of sequence): not allowed\n"), "{shown}");
    refused("cli/no-such-token", &["explain", "grammars/json", "--text", "[", "--token", "257"]);
}

#[test]
fn count_is_exact() {
    let folder = folder(&[("p.regex", "[0-9]{40}|x"), ("g.gbnf", "root ::= \"a\" root | \"b\"")]);
    let path = |name: &str| text(&folder.path().join(name)).to_owned();
    let digits = format!("1{}1", "0".repeat(39));
    assert_eq!(out(0, &["count", &path("p.regex"), "--dialect", "ecma"]), format!("{digits}\n"));
    assert_eq!(
        json(0, &["count", &path("p.regex"), "--dialect", "ecma", "--output-format=json"])["count"],
        *digits
    );
    assert_eq!(out(0, &["count", &path("g.gbnf")]), "infinite\n");
    let found = json(0, &["count", &path("g.gbnf"), "--output-format=json"]);
    assert_eq!((&found["finite"], &found["count"]), (&false.into(), &Value::Null));
}

#[test]
fn enumerate_lists_words() {
    let folder = folder(&[("p.regex", "(?s-u:[ab]{2}|\\n\"|\\xFF)")]);
    let pattern = folder.path().join("p.regex");
    let all = out(0, &["enumerate", text(&pattern)]);
    assert_eq!(all, "\"\\n\\\"\"\n\"aa\"\n\"ab\"\n\"ba\"\n\"bb\"\n\"\\xFF\"\n");
    let some = run(&["enumerate", text(&pattern), "--offset", "1", "--limit", "2", "--raw"]);
    assert_eq!((some.code, some.out.as_str()), (0, "aa\nab\n"));
    assert!(some.err.starts_with("note: there are more words"), "{}", some.err);
    let found = json(0, &["enumerate", text(&pattern), "--offset", "4", "--output-format=json"]);
    assert_eq!(found["words"], serde_json::json!([{ "text": "bb" }, { "hex": "ff" }]));
    assert_eq!(found["more"], false);
    // a search that fails midway still completes the JSON object
    let endless = folder.path().join("endless.regex");
    std::fs::write(&endless, "(a*b){1,3}|c").unwrap();
    let bound = ["--limit", "0", "--set-limit", "words_work=300", "--output-format=json"];
    let found = json(4, &[&["enumerate", text(&endless)], &bound[..]].concat());
    assert_eq!(found["words"][0], serde_json::json!({ "text": "b" }));
    assert_eq!(
        (&found["diagnostics"][0]["code"], &found["exit_code"]),
        (&"limit/exceeded".into(), &4.into())
    );
}

#[test]
fn sample_draws_words() {
    let folder = folder(&[("p.regex", "(?s-u:[ab]{2}|\\xFF)"), ("long.regex", "(abc){4}")]);
    let pattern = text(&folder.path().join("p.regex")).to_owned();
    for more in [&[][..], &["--uniform"]] {
        let all = out(0, &[&["sample", &pattern, "--words", "200"], more].concat());
        let words: BTreeSet<&str> = all.lines().collect();
        assert_eq!(words, BTreeSet::from(["\"aa\"", "\"ab\"", "\"ba\"", "\"bb\"", "\"\\xFF\""]), "{more:?}");
        assert_eq!(all, out(0, &[&["sample", &pattern, "--words", "200"], more].concat()), "equal seeds");
        assert_ne!(all, out(0, &[&["sample", &pattern, "--words", "200", "--seed", "1"], more].concat()));
    }
    let found = json(0, &["sample", &pattern, "--words", "1", "--max-bytes", "1", "--output-format=json"]);
    assert_eq!(found["words"], serde_json::json!([{ "hex": "ff" }]));
    assert_eq!((&found["seed"], &found["uniform"]), (&0.into(), &false.into()));
    assert_eq!(
        json(0, &["sample", &pattern, "--words", "0", "--output-format=json"])["words"],
        serde_json::json!([])
    );
    let long = text(&folder.path().join("long.regex")).to_owned();
    assert_eq!(out(0, &["sample", &long, "--words", "1", "--max-bytes", "12", "--raw"]), "abcabcabcabc\n");
    let failed = run(&["sample", &long, "--max-bytes", "11"]);
    assert!(failed.code != 0 && failed.out.is_empty(), "{}", failed.err);
    for part in ["automaton/no-word", "words of 12 bytes and more", "--max-bytes"] {
        assert!(failed.err.contains(part), "{}", failed.err);
    }
}

#[test]
fn graph_draws_dot_and_svg() {
    let folder = folder(&[("p.regex", "(\"|<&|b){1,3}")]);
    let pattern = text(&folder.path().join("p.regex")).to_owned();
    let dot = out(0, &["graph", &pattern]);
    assert!(dot.starts_with("digraph") && dot.contains("label=\"\\\" b\""), "{dot}");
    let picture = folder.path().join("p.svg");
    assert_eq!(out(0, &["graph", &pattern, "--format", "svg", "-o", text(&picture)]), "");
    let svg = std::fs::read_to_string(&picture).unwrap();
    assert!(svg.contains("<svg") && svg.trim_end().ends_with("</svg>") && svg.contains("&lt;"), "{svg}");
    let part = run(&["graph", &pattern, "--max-states", "2"]);
    assert!(part.err.starts_with("note: only the first 2 states"), "{}", part.err);
    refused("cli/drawing-too-large", &["graph", "grammars/json", "--format", "svg", "--max-states", "5000"]);
}

#[test]
fn vocab_describes_a_tokenizer() {
    let shown = out(0, &["vocab", TOKENIZER]);
    assert!(shown.contains("49152 token ids") && shown.contains("<|im_end|>"), "{shown}");
    let found = json(0, &["vocab", TOKENIZER, "--output-format=json", "--width", "49200"]);
    assert_eq!((&found["width"], &found["unused"]), (&49200.into(), &48.into()));
    assert_eq!(found["eos"], serde_json::json!([0, 2]));
    assert_eq!(found["fingerprint"].as_str().unwrap().len(), 64);
    let encoded = json(0, &["vocab", TOKENIZER, "--encode", "hello wörld", "--output-format=json"]);
    let texts = encoded["tokens"].as_array().unwrap().iter().map(|token| token["text"].as_str().unwrap());
    assert_eq!(texts.collect::<String>(), "hello wörld");
    assert_eq!(out(0, &["vocab", TOKENIZER, "--token", "2"]), "2  <|im_end|>  (end of sequence)\n");
    refused("cli/no-such-token", &["vocab", TOKENIZER, "--token", "50000"]);
}

#[test]
fn vocab_counts_duplicates_and_missing_bytes() {
    let folder = folder(&[("list.json", r#"["a", "b", "a", "<end>"]"#)]);
    let list = text(&folder.path().join("list.json")).to_owned();
    let found = json(0, &["vocab", &list, "--eos", "3", "--output-format=json"]);
    assert_eq!((&found["duplicates"], &found["ordinary"]), (&1.into(), &3.into()));
    assert_eq!(found["missing_bytes"].as_array().unwrap().len(), 254);
    refused("cli/not-encodable", &["vocab", &list, "--eos", "3", "--encode", "abc"]);
}

#[test]
fn kinds_are_told_by_name_and_content() {
    let spec = "{\"kind\": \"dfa\", \"symbols\": [\"x\"], \"start\": \"s\", \"accepting\": [\"t\"], \
                \"transitions\": [{\"from\": \"s\", \"input\": \"x\", \"to\": \"t\"}]}";
    let folder = folder(&[
        ("spec/spec.json", spec),
        ("schema.json", "{\"enum\": [\"a\", \"b\", null]}"),
        ("two/schema.json", "true"),
        ("two/grammar.gbnf", "root ::= \"a\""),
        ("empty/readme", ""),
        ("pattern", "ab?"),
    ]);
    let path = |name: &str| text(&folder.path().join(name)).to_owned();
    assert_eq!(out(0, &["count", &path("spec")]), "1\n");
    assert_eq!(out(0, &["count", &path("spec/spec.json")]), "1\n");
    assert_eq!(out(0, &["count", &path("schema.json"), "--numbers", "plain"]), "3\n");
    assert_eq!(out(0, &["count", &path("pattern"), "--kind", "regex"]), "2\n");
    refused("cli/unknown-kind", &["count", &path("pattern")]);
    refused("cli/several-grammars", &["count", &path("two")]);
    refused("cli/no-grammar", &["count", &path("empty")]);
    refused("cli/unknown-kind", &["count", "-"]);
}

#[test]
fn options_reach_the_front_ends() {
    let spec = "[parameters]\nsteps = { default = 2, min = 1, max = 9 }\n# ---\nkind = \"cfg\"\n\
                symbols = [\"L\", \"R\"]\nstart = \"walk\"\n[rules]\n\
                walk = [\"{% for s in range(steps) %}step {% endfor %}\"]\nstep = [\"L\", \"R\"]\n";
    let folder = folder(&[
        ("walk.toml", spec),
        (
            "o.json",
            r#"{"type":"object","properties":{"a":{"const":"x"},"b":{"const":"y"}},"required":["a","b"],"additionalProperties":false}"#,
        ),
        ("g.gbnf", "root ::= \"x\" other\nother ::= \"y\" | \"z\"\n"),
        ("p.regex", "^a"),
    ]);
    let path = |name: &str| text(&folder.path().join(name)).to_owned();
    assert_eq!(out(0, &["count", &path("walk.toml"), "--param", "steps=5"]), "32\n");
    assert_eq!(out(0, &["count", &path("o.json"), "--whitespace", "compact", "--numbers", "plain"]), "1\n");
    assert_eq!(
        out(
            0,
            &[
                "count",
                &path("o.json"),
                "--whitespace",
                "compact",
                "--numbers",
                "plain",
                "--property-order",
                "any"
            ]
        ),
        "2\n"
    );
    assert_eq!(out(0, &["count", &path("o.json")]), "infinite\n");
    assert_eq!(out(0, &["enumerate", &path("g.gbnf"), "--root", "other"]), "\"y\"\n\"z\"\n");
    assert_eq!(out(0, &["check", &path("p.regex"), "--search", "--text", "abc"]), "--text: accepted\n");
    refused("automaton-spec/parameter", &["count", &path("walk.toml"), "--param", "stps=5"]);
    refused(
        "cli/parameter-twice",
        &["count", &path("walk.toml"), "--param", "steps=5", "--param", "steps=6"],
    );
    refused("cli/option-not-for-kind", &["count", &path("walk.toml"), "--whitespace", "free"]);
    refused("cli/option-not-for-kind", &["count", &path("g.gbnf"), "--search"]);
    refused("cli/needs-tokenizer", &["mask", &path("g.gbnf"), "--width", "300"]);
}

#[test]
fn errors_and_warnings_go_to_standard_error() {
    let folder = folder(&[
        ("broken.gbnf", "root ::= \"a\n"),
        ("unused.gbnf", "root ::= \"a\"\nother ::= \"b\"\n"),
        ("bytes.gbnf", ""),
    ]);
    std::fs::write(folder.path().join("bytes.gbnf"), b"root ::= \"\xFF\"").unwrap();
    let path = |name: &str| text(&folder.path().join(name)).to_owned();
    refused("io/file", &["count", &path("missing.gbnf")]);
    refused("io/file", &["mask", PERSON, "--tokenizer", &path("missing.json")]);
    refused("io/file", &["check", PERSON, &path("missing.txt")]);
    refused("cli/not-utf8", &["count", &path("bytes.gbnf")]);
    refused("cli/nothing-to-check", &["check", PERSON]);
    let error = run(&["count", &path("broken.gbnf")]);
    assert_eq!((error.code, error.out.as_str()), (2, ""));
    assert!(
        error.err.starts_with("error[gbnf/") && error.err.contains("broken.gbnf:1:10\n"),
        "{}",
        error.err
    );
    let warned = run(&["count", &path("unused.gbnf"), "--output-format=json"]);
    assert_eq!(warned.code, 0);
    assert!(warned.err.starts_with("warning[gbnf/"), "{}", warned.err);
    assert!(serde_json::from_str::<Value>(&warned.out).is_ok(), "{}", warned.out);
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_quietly() {
    use std::io::Read;
    use std::process::{Command, Stdio};

    // words are written as they are found, in JSON, too
    for (form, expected) in [(&[][..], b"\"\"\n"), (&["--output-format=json"][..], b"{\"v")] {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("grammata"))
            .current_dir(crate::ROOT)
            .args(["enumerate", "-", "--kind", "regex", "--limit", "0"])
            .args(form)
            .stdin(Stdio::from(std::fs::File::open(pattern_file().path()).unwrap()))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut beginning = [0; 3];
        child.stdout.take().unwrap().read_exact(&mut beginning).unwrap();
        // the pipe is closed here, before the program has written all
        let output = child.wait_with_output().unwrap();
        assert_eq!(&beginning, expected);
        assert_eq!(output.status.code(), Some(141));
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    }
}

#[cfg(unix)]
fn pattern_file() -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "a*\n").unwrap();
    file
}
