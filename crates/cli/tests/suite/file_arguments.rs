//! Each command that reads a file gets something that is not an ordinary file. No command waits forever, follows a link
//! out of a document's folder, or reads without a limit.

#![cfg(unix)]

use assert_cmd::Command;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

const SCHEMA: &str = "grammars/person";
const TOKENIZER: &str = "tests/data/smollm2/tokenizer.json";

/// The arguments of each command, in which `FILE` is replaced by the path; and whether the command refuses a pipe
/// without reading it.
const READERS: &[(&[&str], bool)] = &[
    (&["check", "FILE", "--kind", "regex", "--text", "a"], false),
    (&["count", "FILE", "--kind", "gbnf"], false),
    (&["count", "FILE", "--kind", "spec"], false),
    (&["schema-report", "FILE"], false),
    (&["check", SCHEMA, "FILE"], false),
    (&["explain", SCHEMA, "--text-file", "FILE"], false),
    (&["mask", SCHEMA, "--tokenizer", "FILE"], false),
    (&["mask", SCHEMA, "--tokenizer", TOKENIZER, "--prefix-file", "FILE"], false),
    (&["compile", SCHEMA, "--tokenizer", TOKENIZER, "--corpus", "FILE", "-o", "/dev/null/none"], false),
    (&["vocab", "FILE"], false),
    (&["inspect", "FILE"], true),
    (&["tools", "list", "FILE"], false),
    (&["tools", "check", "FILE"], false),
    (&["procedure", "check", "FILE"], false),
    (&["flow", "check", "FILE"], false),
    (&["plan", "count", "FILE"], false),
    (&["retrieve", "search", "x", "--catalogue", "FILE"], false),
];

struct Ended {
    exit: Option<i32>,
    error: String,
    time: Duration,
}

fn run(arguments: &[&str], file: &str) -> Ended {
    let start = Instant::now();
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("grammata"));
    command.current_dir(crate::ROOT).env("NO_COLOR", "1").env("GRAMMATA_PIPE_DEADLINE", "200");
    let arguments = arguments.iter().map(|&argument| if argument == "FILE" { file } else { argument });
    let output = command.args(arguments).timeout(Duration::from_secs(60)).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    Ended { exit: output.status.code(), error, time: start.elapsed() }
}

fn make_pipe(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn every_reader_ends_with_an_error_that_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (pipe, inner, large) = (path("pipe"), path("folder"), path("large"));
    make_pipe(Path::new(&pipe));
    std::fs::create_dir(&inner).unwrap();
    // a sparse file takes no space on the disk
    std::fs::File::create(&large).unwrap().set_len(1 << 40).unwrap();
    let refused = |file: &str, codes: &[&str], exits: &[i32]| {
        for (arguments, is_regular_only) in READERS {
            let codes = if *is_regular_only && file == pipe { &["io/no-file"][..] } else { codes };
            let Ended { exit, error, time } = run(arguments, file);
            let has_code = codes.iter().any(|code| error.contains(&format!("error[{code}]")));
            assert!(has_code && error.contains(file), "{arguments:?} {file}: {exit:?} {error}");
            assert!(exit.is_some_and(|exit| exits.contains(&exit)), "{arguments:?} {file}: {exit:?} {error}");
            assert!(time < Duration::from_secs(30), "{arguments:?} {file}: {time:?}");
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| refused(&pipe, &["io/slow-pipe"], &[2]));
        scope.spawn(|| refused("/dev/zero", &["io/no-file"], &[2]));
        // a folder may be given instead of the grammar in it
        scope.spawn(|| refused(&inner, &["io/no-file", "cli/no-grammar"], &[2]));
        scope.spawn(|| refused(&large, &["limit/exceeded", "cli/too-long"], &[4]));
    });
}

/// A pipe with a writer is read like a file.
#[test]
fn a_pipe_with_a_writer_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    make_pipe(&pipe);
    let writer = {
        let pipe = pipe.clone();
        std::thread::spawn(move || std::fs::write(pipe, "a+").unwrap())
    };
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("grammata"));
    let arguments = ["check", &pipe.display().to_string(), "--kind", "regex", "--text", "aa"];
    let output = command.args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    writer.join().unwrap();
}

/// The schema of an action's arguments must be a regular file within the spec's folder.
#[test]
fn schemas_of_arguments_stay_in_the_folder_of_their_spec() {
    let [folder, outside] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let at = |name: &str| folder.path().join(name);
    std::fs::write(outside.path().join("secret.json"), "{}").unwrap();
    symlink("/dev/zero", at("zero.json")).unwrap();
    symlink(outside.path().join("secret.json"), at("link.json")).unwrap();
    symlink(outside.path(), at("elsewhere")).unwrap();
    std::fs::write(at("good.json"), r#"{"type": "object", "additionalProperties": false}"#).unwrap();
    symlink("good.json", at("within.json")).unwrap();
    std::fs::create_dir(at("folder.json")).unwrap();
    make_pipe(&at("pipe.json"));
    std::fs::File::create(at("large.json")).unwrap().set_len(1 << 40).unwrap();
    let count = |name: &str| {
        let spec = format!(
            "kind = \"cfg\"\nsymbols = {{a = {{text = \"a {{}}\", arguments = \"{name}\"}}}}\n\
             start = \"w\"\nrules = {{w = [\"a\"]}}\n"
        );
        std::fs::write(at("spec.toml"), spec).unwrap();
        run(&["count", "FILE"], &folder.path().display().to_string())
    };
    for (name, exit, part) in [
        ("good.json", 0, ""),
        ("within.json", 0, ""),
        ("zero.json", 2, "leads out of its folder"),
        ("link.json", 2, "leads out of its folder"),
        ("elsewhere/secret.json", 2, "leads out of its folder"),
        ("folder.json", 2, "a folder"),
        ("pipe.json", 2, "a pipe"),
        ("none.json", 2, "no such file"),
        ("../secret.json", 2, "leads out of the folder"),
        ("large.json", 4, "large.json"),
    ] {
        let ended = count(name);
        assert_eq!(ended.exit, Some(exit), "{name}: {}", ended.error);
        assert!(ended.error.contains(part), "{name}: {}", ended.error);
        assert!(ended.time < Duration::from_secs(30), "{name}: {:?}", ended.time);
    }
}
