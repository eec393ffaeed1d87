//! `grammata compile` and `grammata inspect`, and mask files in place of grammars.

use crate::cli::{json, out, refused, run};
use std::path::Path;

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    folder
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_mask_file_stands_for_its_grammar() {
    let folder = folder(&[("p.regex", "(ab|c){1,3}\n"), ("lines", "abc\ncab\n")]);
    let path = |name: &str| text(&folder.path().join(name));
    let (grammar, file) = (path("p.regex"), path("p.gmask"));
    let made =
        json(0, &["compile", &grammar, "-o", &file, "--corpus", &path("lines"), "--output-format=json"]);
    let made = &made["grammars"][0];
    assert_eq!(made["bytes"], std::fs::metadata(&file).unwrap().len());
    assert_eq!(made["written"], true);
    let lazy = json(0, &["mask", &grammar, "--prefix", "ab", "--output-format=json"]);
    let read = json(0, &["mask", &file, "--prefix", "ab", "--output-format=json"]);
    assert_eq!(lazy["tokens"], read["tokens"]);
    out(0, &["check", &file, "--text", "abc"]);
    assert_eq!(run(&["check", &file, "--text", "abd"]).code, 1);
    assert_eq!(out(0, &["count", &file]), out(0, &["count", &grammar]));
    refused("cli/option-not-for-kind", &["mask", &file, "--whitespace", "compact"]);
    let tokenizer = ["--tokenizer", "tests/data/smollm2/tokenizer.json"];
    refused("mask-file/other-vocabulary", &[&["mask", &file][..], &tokenizer].concat());
    std::fs::write(&file, b"{}").unwrap();
    refused("mask-file/no-mask-file", &["mask", &file]);
    refused("mask-file/no-mask-file", &["inspect", &file]);
    refused("io/file", &["compile", &grammar, "-o", &path("none/p.gmask")]);
}

/// A tokenizer file does not say which tokens end a text, so a mask file compiled with it may have other end tokens
/// than the model.
#[test]
fn a_mask_file_of_a_model_has_its_end_tokens() {
    let folder = folder(&[("p.regex", "(ab|c){1,3}\n"), ("config.json", r#"{"eos_token_id": 2}"#)]);
    let path = |name: &str| text(&folder.path().join(name));
    let smollm2 = "tests/data/smollm2/tokenizer.json";
    std::fs::copy(Path::new(crate::ROOT).join(smollm2), folder.path().join("tokenizer.json")).unwrap();
    let (model, grammar) = (text(folder.path()), path("p.regex"));
    let (by_name, of_model) = (path("a.gmask"), path("b.gmask"));
    out(0, &["compile", &grammar, "--tokenizer", smollm2, "-o", &by_name]);
    out(0, &["compile", &grammar, "--model", &model, "-o", &of_model]);
    assert_eq!(
        json(0, &["inspect", &by_name, "--output-format=json"])["end_tokens"],
        serde_json::json!([0, 2])
    );
    assert_eq!(
        json(0, &["inspect", &of_model, "--output-format=json"])["end_tokens"],
        serde_json::json!([2])
    );
    out(0, &["check", &of_model, "--model", &model, "--text", "abc"]);
    out(0, &["check", &by_name, "--tokenizer", smollm2, "--text", "abc"]);
    out(0, &["check", &by_name, "--model", &model, "--eos", "0", "--eos", "2", "--text", "abc"]);
    let wrong = run(&["check", &by_name, "--model", &model, "--text", "abc"]);
    let expected = format!(
        "error[mask-file/other-vocabulary] a mask file for another vocabulary: same tokens, other end tokens\n  \
         at: {by_name} (mask file)\n  found: end tokens 0, 2\n  allowed: end tokens 2\n  help: give the settings of the file (`--eos`), or \
         compile it again; `grammata compile --model FOLDER` takes the model's end tokens\n"
    );
    assert_eq!((wrong.code, wrong.err.as_str()), (2, expected.as_str()));
    let both = run(&["check", &by_name, "--model", &model, "--width", "49200", "--text", "abc"]);
    for part in [
        "other end tokens, other width\n",
        "found: end tokens 0, 2, width 49152\n",
        "(`--eos` and `--width`)",
    ] {
        assert!(both.err.contains(part), "{}", both.err);
    }
    let wide = run(&["check", &by_name, "--tokenizer", smollm2, "--width", "49200", "--text", "abc"]);
    assert!(wide.err.contains("found: width 49152\n  allowed: width 49200\n"), "{}", wide.err);
    // a vocabulary with other tokens
    let other = run(&["check", &by_name, "--text", "abc"]);
    assert!(other.err.contains("found: the fingerprint "), "{}", other.err);
    refused("io/file", &["check", &grammar, "--model", &path("none"), "--text", "abc"]);
    assert_eq!(run(&["check", &grammar, "--model", &model, "--tokenizer", smollm2, "--text", "a"]).code, 2);
}

#[test]
fn inspect_says_what_a_file_holds_and_what_differs() {
    let folder = folder(&[("p.regex", "(ab|c){1,3}\n")]);
    let path = |name: &str| text(&folder.path().join(name));
    out(0, &["compile", &path("p.regex"), "-o", &path("a.gmask")]);
    out(0, &["compile", &path("p.regex"), "-o", &path("b.gmask"), "--states", "3"]);
    // the command reads text; the error names the kind of file that was given
    let error = refused("cli/mask-file", &["schema-report", &path("a.gmask")]);
    assert!(error.contains("a.gmask") && error.contains("grammata inspect"), "{error}");
    let found = json(0, &["inspect", &path("b.gmask"), "--output-format=json"]);
    assert_eq!((&found["places"], &found["section_states"]), (&3.into(), &48.into()));
    let shown = out(0, &["inspect", &path("b.gmask")]);
    assert!(shown.lines().any(|line| line.split_whitespace().eq(["places", "3"])), "{shown}");
    let grammar = out(0, &["inspect", &path("a.gmask"), "--grammar"]);
    assert!(grammar.contains("::="), "{grammar}");
    let same = out(0, &["inspect", &path("a.gmask"), "--diff", &path("a.gmask")]);
    assert_eq!(same, "their contents are equal\n");
    let differs = json(1, &["inspect", &path("b.gmask"), "--diff", &path("a.gmask"), "--output-format=json"]);
    let differs = &differs["differences"];
    assert_eq!(differs["places"][0], 3);
    assert!(differs.get("grammar").is_none(), "{differs}");
    // a section that only one of the files has
    out(0, &["compile", &path("p.regex"), "-o", &path("c.gmask"), "--token-index"]);
    let section = "section_token_index";
    for (a, b, there) in [("a.gmask", "c.gmask", 1), ("c.gmask", "a.gmask", 0)] {
        let differs = json(1, &["inspect", &path(a), "--diff", &path(b), "--output-format=json"]);
        let differs = &differs["differences"];
        assert!(differs[section][there].is_u64() && differs[section][1 - there].is_null(), "{differs}");
        assert!(differs.get("section_about").is_none(), "{differs}");
    }
}

/// Compiles the files of a folder in parallel. Failures are reported, and existing results are kept.
#[test]
fn a_folder_of_grammars_is_compiled_and_resumed() {
    let files = [("a.regex", "a+"), ("b.json", r#"{"type": "boolean"}"#), ("c.gbnf", "root ::= \"x\"")];
    let folder = folder(&files);
    let (from, to) = (text(folder.path()), text(&folder.path().join("masks")));
    let shown = out(0, &["compile", &from, "--each", "-o", &to]);
    assert!(shown.contains("3 grammars in ") && shown.contains("0 left as they were, 0 failed"), "{shown}");
    std::fs::write(folder.path().join("d.gbnf"), "root ::= nothing").unwrap();
    let again = run(&["compile", &from, "--each", "-o", &to]);
    assert_eq!(again.code, 2);
    assert!(again.out.contains("3 left as they were, 1 failed"), "{}", again.out);
    assert!(again.err.contains("d.gbnf"), "{}", again.err);
    std::fs::remove_file(folder.path().join("d.gbnf")).unwrap();
    let other = out(0, &["compile", &from, "--each", "-o", &to, "--states", "2", "--output-format=json"]);
    assert!(other.contains("\"written\":true"), "{other}");
}

/// A folder is compiled into one archive, whose contents are listed, and from which files are extracted.
#[test]
fn files_that_are_no_grammars_of_texts_are_skipped_by_name() {
    let plans = "kind = \"dfa\"\nstart = \"a\"\naccepting = [\"a\"]\nlimits = { max_cost = 1 }\n\
        symbols = { x = { cost = 1 } }\ntransitions = [{ from = \"a\", input = \"x\", to = \"a\" }]\n";
    let folder = folder(&[
        ("a.regex", "[ab]"),
        ("any.json", "{}"),
        ("plans.toml", plans),
        ("schema.json", "{\"title\": \"t\", \"enum\": [1]}"),
        ("simulation.json", "{\"procedure\": \"p\", \"users\": []}"),
        ("tools.json", "[{\"name\": \"t\", \"inputSchema\": {\"type\": \"object\"}}]"),
        ("words.txt", "a"),
    ]);
    // `schema.json` makes a folder one grammar
    std::fs::rename(folder.path().join("schema.json"), folder.path().join("one.json")).unwrap();
    let to = tempfile::tempdir().unwrap();
    let run = run(&["compile", &text(folder.path()), "--each", "-o", &text(to.path())]);
    assert_eq!(run.code, 0, "{}", run.err);
    for skipped in ["plans.toml skipped", "simulation.json skipped", "tools.json skipped", "1 file skipped"] {
        assert!(run.err.contains(skipped), "{}", run.err);
    }
    let mut made: Vec<String> = std::fs::read_dir(to.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    made.sort();
    assert_eq!(made, ["a.regex.gmask", "any.json.gmask", "one.json.gmask"]);
    assert!(run.out.contains("3 grammars in "), "{}", run.out);
}

#[test]
fn a_folder_of_grammars_becomes_an_archive() {
    let files = [("a.regex", "a+"), ("b.json", r#"{"type": "boolean"}"#), ("c.gbnf", "root ::= \"x\"")];
    let folder = folder(&files);
    let elsewhere = tempfile::tempdir().unwrap();
    let path = |name: &str| text(&elsewhere.path().join(name));
    let (from, archive) = (text(folder.path()), path("all.gmasks"));
    let shown = out(0, &["compile", &from, "--archive", &archive]);
    assert!(shown.contains("3 grammars in ") && shown.contains("all.gmasks: 3 mask files in "), "{shown}");
    // the archive is the same if mask files are also written to a folder
    let again = path("again.gmasks");
    for kept in ["0 left as they were", "3 left as they were"] {
        let shown = out(0, &["compile", &from, "-o", &path("masks"), "--archive", &again]);
        assert!(shown.contains(kept), "{shown}");
        assert!(std::fs::read(&archive).unwrap() == std::fs::read(&again).unwrap());
    }
    let found = json(0, &["compile", &from, "--archive", &again, "--output-format=json"]);
    assert_eq!(found["archive"]["mask_files"], 3);
    assert_eq!(found["grammars"].as_array().map(Vec::len), Some(3));
    assert_eq!(out(0, &["inspect", &archive, "--names"]), "a.regex\nb.json\nc.gbnf\n");
    let found = json(0, &["inspect", &archive, "--output-format=json"]);
    assert_eq!(found["mask_files"], 3);
    assert_eq!(found["bytes"], std::fs::metadata(&archive).unwrap().len());
    let alone = path("masks/b.json.gmask");
    let one = json(0, &["inspect", &archive, "--name", "b.json", "--output-format=json"]);
    assert_eq!(one, json(0, &["inspect", &alone, "--output-format=json"]));
    let same = out(0, &["inspect", &archive, "--name", "b.json", "--diff", &alone]);
    assert_eq!(same, "their contents are equal\n");
    out(0, &["inspect", &archive, "--name", "b.json", "-o", &path("b.gmask")]);
    assert!(std::fs::read(path("b.gmask")).unwrap() == std::fs::read(&alone).unwrap());
    out(0, &["check", &path("b.gmask"), "--text", "true"]);
    let missing = refused("cli/no-such-name", &["inspect", &archive, "--name", "b.jsn"]);
    assert!(missing.contains("b.json"), "{missing}");
    refused("cli/name-needed", &["inspect", &archive, "--grammar"]);
    refused("mask-file/no-mask-file", &["mask", &archive]);
    refused("mask-file/no-archive", &["inspect", &alone, "--names"]);
    refused("mask-file/no-archive", &["inspect", &alone, "--name", "b.json"]);
    // a grammar that cannot be compiled is left out and reported
    std::fs::write(folder.path().join("d.gbnf"), "root ::= nothing").unwrap();
    let failed = run(&["compile", &from, "--archive", &again]);
    assert_eq!(failed.code, 2);
    assert!(failed.out.contains("1 failed") && failed.out.contains("3 mask files"), "{}", failed.out);
}
