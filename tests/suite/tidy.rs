//! The habits of this repository that a compiler does not check: the order of the rooms, a doc comment at the
//! top of each file, the length of files, and nothing left undone.

use std::path::{Path, PathBuf};

const LONGEST: usize = 600;

/// The rooms, each with the rooms that it may use beside `diagnostic`, `error` and `limits`.
const ROOMS: &[(&str, &[&str])] = &[
    ("evaluation", &[]),
    ("grammar", &[]),
    ("vocabulary", &[]),
    ("template", &[]),
    ("syntax", &["grammar", "template"]),
    ("transitions", &[]),
    ("automaton", &["grammar", "transitions"]),
    ("mask", &["automaton", "grammar", "vocabulary"]),
    ("matcher", &["automaton", "grammar", "mask", "vocabulary"]),
    ("serve", &["grammar", "mask", "matcher", "syntax", "vocabulary"]),
    ("decode", &["matcher", "template", "vocabulary"]),
    (
        "plan",
        &[
            "automaton",
            "decode",
            "grammar",
            "mask",
            "matcher",
            "syntax",
            "template",
            "transitions",
            "vocabulary",
        ],
    ),
    ("retrieval", &["decode", "evaluation", "grammar", "mask", "syntax", "template", "vocabulary"]),
    (
        "procedures",
        &["decode", "evaluation", "grammar", "mask", "plan", "syntax", "transitions", "vocabulary"],
    ),
    (
        "flows",
        &["decode", "evaluation", "grammar", "mask", "matcher", "template", "transitions", "vocabulary"],
    ),
    ("testing", &["decode", "grammar", "mask", "matcher", "plan", "procedures", "syntax", "vocabulary"]),
    (
        "cli",
        &[
            "automaton",
            "decode",
            "evaluation",
            "flows",
            "grammar",
            "mask",
            "matcher",
            "plan",
            "procedures",
            "retrieval",
            "syntax",
            "transitions",
            "vocabulary",
        ],
    ),
];

/// Front ends that may use a sibling.
const SIBLINGS: &[(&str, &str)] = &[("json_schema", "regex"), ("automaton_spec", "json_schema")];

fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("target") {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    found.sort();
    found
}

/// The room of a file: the first folder or file below `src`.
fn room(path: &Path) -> String {
    let below = path.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap();
    let first = below.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
    first.trim_end_matches(".rs").to_owned()
}

#[test]
fn rooms_use_only_rooms_before_them() {
    let mut wrong = Vec::new();
    for (path, text) in sources("src") {
        let room = room(&path);
        let Some((_, allowed)) = ROOMS.iter().find(|(name, _)| *name == room) else { continue };
        // tests may use what is there for tests
        let is_test = path.ends_with("tests.rs");
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            for (other, _) in ROOMS.iter().filter(|(other, _)| *other != room && !allowed.contains(other)) {
                if is_test && *other == "testing" {
                    continue;
                }
                if line.contains(&format!("crate::{other}::")) || line.contains(&format!("crate::{other};")) {
                    wrong.push(format!("{}: {}", path.display(), line.trim()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn front_ends_do_not_know_each_other() {
    let front_ends = ["automaton_spec", "gbnf", "json_schema", "regex"];
    let mut wrong = Vec::new();
    for (path, text) in sources("src/syntax") {
        let Some(own) = front_ends.iter().find(|name| path.iter().any(|part| part == **name)) else {
            continue;
        };
        for other in front_ends.iter().filter(|other| other != &own && !SIBLINGS.contains(&(own, other))) {
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            wrong.extend(
                code.filter(|line| line.contains(&format!("syntax::{other}")))
                    .map(|line| format!("{}: {line}", path.display())),
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn only_one_room_knows_onnx_runtime() {
    let ort = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/decode/ort");
    for (path, text) in sources("src").into_iter().filter(|(path, _)| !path.starts_with(&ort)) {
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let uses = code.filter(|line| line.starts_with("use ort::") || line.contains(" ::ort::"));
        assert_eq!(uses.count(), 0, "{}", path.display());
    }
}

#[test]
fn files_are_short_documented_and_finished() {
    let mut wrong = Vec::new();
    for folder in ["src", "tests", "xtask", "benches", "examples", "fuzz/fuzz_targets"] {
        for (path, text) in sources(folder) {
            let name = path.display();
            if !text.starts_with("//!") {
                wrong.push(format!("{name}: no doc comment at the top"));
            }
            if text.lines().count() > LONGEST {
                wrong.push(format!("{name}: {} lines", text.lines().count()));
            }
            for mark in
                [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("#[ign", "ore"), concat!("todo", "!(")]
            {
                if text.contains(mark) {
                    wrong.push(format!("{name}: {mark}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
