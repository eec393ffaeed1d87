//! `grammata-lab retrieve`: measurement by words; with the feature `ort` drafts of a tiny decoder.

use crate::lab::{json, out, refused};
use crate::retrieve_files::{Files, strs};

#[test]
fn figures_are_those_of_the_requests() {
    let files = Files::new();
    let requests = files.path("requests.jsonl");
    let journal = files.path("journal.jsonl");
    let base = ["--requests", &requests, "-k", "2", "--query-mode", "utterance"];
    let found =
        json(0, &strs(&files.arguments(&["evaluate"], &[&base[..], &["--output-format=json"]].concat())));
    assert_eq!(found["requests"], 3);
    // q1: both tools first; q2: rank 1; q3: `a tree` finds dogs first
    assert_eq!(found["metrics"]["MMRR"]["mean"].as_f64().unwrap(), 1.0);
    assert_eq!(found["metrics"]["complete"]["mean"].as_f64().unwrap(), 1.0);
    let some = [&base[..], &["--where", "split=y", "--journal", &journal]].concat();
    let text = out(0, &strs(&files.arguments(&["evaluate"], &some)));
    assert!(text.starts_with("3 tools, 2 of 2 requests, k = 2\n"), "{text}");
    let kept = std::fs::read_to_string(&journal).unwrap();
    assert_eq!(kept.lines().count(), 3);
    // the run continues its journal, and gives the same result
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
    let wrong: [(&str, &[&str], &[&str]); 3] = [
        ("cli/no-requests", &["evaluate"], &["--requests", &requests, "--where", "split=z"]),
        ("io/file", &["evaluate"], &["--requests", "no/such/file"]),
        (
            "cli/needs-model",
            &["drafts"],
            &["--requests", &requests, "--output", "x", "--query-mode", "zero-shot"],
        ),
    ];
    for (code, command, more) in wrong {
        refused(code, &strs(&files.arguments(command, more)));
    }
}

#[cfg(feature = "ort")]
mod with_onnx_runtime {
    use crate::lab::run;
    use crate::retrieve_files::{Files, strs};

    const DECODER: &str = "tests/data/tiny-decoder";
    const PROMPT: &str = "Name.\n---\n{{ request }}:";

    fn training(files: &Files, folder: &str, threads: &str) -> std::collections::BTreeMap<String, String> {
        let (prompt, requests) = (files.path("prompt.txt"), files.path("requests.jsonl"));
        let folder = files.path(folder);
        let more =
            ["--model", DECODER, "--threads", threads, "--prompt-template", &prompt, "--requests", &requests];
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

    /// Equal arguments write files with equal bytes, also after an interruption.
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
