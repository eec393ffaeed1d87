//! The examples of the documentation are true: every command in a `console` block is run, and must write what the block
//! shows.
//!
//! A command begins with `$ `, continues in lines that begin with `> `, and is run by `sh` in the root folder of the
//! repository. A block shows standard output first, then standard error, then the exit code if it is not 0. A block
//! after the line `<!-- not checked: REASON -->` is skipped; such blocks show times, or need a model or a set-up.
#![cfg(unix)]

use crate::pages::{Example, examples, page, root, shell};
use grammata::syntax::json_schema::{self, compile};
use std::path::PathBuf;

/// The pages, each with the least number of commands that must be checked on it.
const PAGES: &[(&str, usize)] = &[
    ("README.md", 7),
    ("docs/budgets.md", 4),
    ("docs/cli.md", 16),
    ("docs/deployment.md", 10),
    ("docs/endpoint.md", 2),
    ("docs/flows.md", 7),
    ("docs/guard.md", 5),
    ("docs/plans.md", 25),
    ("docs/procedures.md", 4),
    ("docs/procedures-tools.md", 3),
    ("docs/retrieval.md", 3),
    ("docs/structural-tags.md", 3),
    ("docs/syntax.md", 25),
    ("docs/tools.md", 5),
    ("docs/tutorial.md", 6),
    ("grammars/README.md", 2),
];

/// How the pages run the example `travel`. The test runs it in this process, because cargo would have to build it
/// first.
const TRAVEL: &str = "cargo run --quiet --profile quick --example travel -- ";

/// Returns what a command writes, in the form of the pages.
fn run(command: &str) -> String {
    if let Some(arguments) = command.strip_prefix(TRAVEL) {
        let arguments: Vec<String> = arguments.split_whitespace().map(str::to_owned).collect();
        // the example's tables are named relative to the root folder
        std::env::set_current_dir(root()).unwrap();
        let mut written = Vec::new();
        let code = crate::trips::run(&arguments, &mut written).unwrap();
        let written = String::from_utf8(written).unwrap();
        return if code == 0 { written } else { format!("{written}(exit code {code})\n") };
    }
    shell(command, &PathBuf::from(assert_cmd::cargo::cargo_bin!("grammata")))
}

#[test]
fn commands_write_what_the_pages_say() {
    let mut wrong = Vec::new();
    for &(name, least) in PAGES {
        let examples = examples(&page(name));
        assert!(examples.len() >= least, "{name}: only {} commands are checked", examples.len());
        // commands of the laboratory are checked by its own tests
        for Example { line, command, output } in
            examples.into_iter().filter(|example| !example.command.starts_with("grammata-lab "))
        {
            let written = run(&command);
            if written.trim_end() != output.trim_end() {
                wrong.push(format!("{name}:{line}: $ {command}\n{written}"));
            }
        }
    }
    assert!(wrong.is_empty(), "these write something else:\n{}", wrong.join("\n"));
}

/// Every keyword in the table of JSON Schema keywords is supported.
#[test]
fn keywords_listed_as_read_are() {
    let text = page("docs/syntax.md");
    let table = text.split_once("| read | how |").and_then(|(_, rest)| rest.split_once("\n\n")).unwrap().0;
    let cells = table.lines().filter_map(|line| line.split('|').nth(1));
    let keywords: Vec<&str> = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    assert!(keywords.len() >= 40, "{keywords:?}");
    for keyword in keywords {
        // an unsupported keyword is refused for all values
        let is_refused = |value: &&str| {
            let error = compile(&format!("{{{keyword:?}: {value}}}"), &json_schema::Options::default());
            error.is_err_and(|error| error.code() == "json-schema/unsupported-keyword")
        };
        assert!(!["{}", "[]", "1", "true"].iter().all(is_refused), "{keyword}");
    }
}

/// Returns the names of the pages that this repository maintains.
fn pages() -> Vec<String> {
    let mut pages: Vec<String> = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(str::to_owned).into();
    for folder in ["docs", "docs/design", "benches/history", "grammars"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".md") {
                pages.push(format!("{folder}/{name}"));
            }
        }
    }
    assert!(pages.len() > 20, "{pages:?}");
    pages
}

#[test]
fn links_lead_somewhere() {
    let mut wrong = Vec::new();
    for name in pages() {
        let text = page(&name);
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap();
            let folder = root().join(&name).parent().unwrap().to_owned();
            if !target.contains("://") && !file.is_empty() && !folder.join(file).exists() {
                wrong.push(format!("{name}: {target}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// New readers read these pages to the end, so their length is bounded. README has a whole program to copy.
#[test]
fn front_pages_are_short() {
    for (name, most) in [("README.md", 240), ("docs/architecture.md", 150), ("docs/performance.md", 150)] {
        let lines = page(name).lines().count();
        assert!(lines <= most, "{name}: {lines} lines, {most} are allowed");
    }
}

/// Every `.rs` file that the pages on architecture and design name exists.
#[test]
fn files_that_are_named_exist() {
    let mut files = Vec::new();
    let mut open = ["src", "crates", "labs", "tests", "benches"].map(|folder| root().join(folder)).to_vec();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { open.push(path) } else { files.push(path) }
        }
    }
    let mut wrong = Vec::new();
    for name in pages().iter().filter(|name| name.contains("architecture") || name.contains("design/")) {
        let text = page(name);
        for named in text.split('`').skip(1).step_by(2).filter(|named| named.ends_with(".rs")) {
            if !files.iter().any(|file| file.ends_with(named)) {
                wrong.push(format!("{name}: {named}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The page on security names every limit, for those who run a server.
#[test]
fn every_limit_is_in_the_page_on_security() {
    let text = page("docs/security.md");
    let limits = serde_json::to_value(grammata::Limits::default()).unwrap();
    let missing: Vec<&String> =
        limits.as_object().unwrap().keys().filter(|name| !text.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Each Rust block of these pages is a part of an example, and examples are compiled.
#[test]
fn code_is_compiled() {
    let text = ["README.md", "docs/library.md", "docs/plans.md", "docs/retrieval.md", "docs/security.md"]
        .map(page)
        .concat();
    let files: Vec<String> = std::fs::read_dir(root().join("examples"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| std::fs::read_to_string(path).unwrap())
        .map(|source| without_indent(&source))
        .collect();
    let blocks: Vec<&str> =
        text.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() >= 5, "{}", blocks.len());
    for block in blocks {
        let code = without_indent(block);
        assert!(files.iter().any(|file| file.contains(&code)), "no example has this code:\n{block}");
    }
}

/// What a reader copies from these pages compiles: the first block of each example has all `use` lines of the example,
/// and README's program is the whole example.
#[test]
fn code_has_its_imports() {
    let mut examples = 0;
    for name in ["README.md", "docs/library.md"] {
        let text = page(name);
        let blocks: Vec<&str> =
            text.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
        for entry in std::fs::read_dir(root().join("examples")).unwrap() {
            let path = entry.unwrap().path();
            let Ok(source) = std::fs::read_to_string(&path) else { continue };
            let plain = without_indent(&source);
            let Some(first) = blocks.iter().find(|block| plain.contains(&without_indent(block))) else {
                continue;
            };
            let imports: String =
                source.split_inclusive(";\n").filter(|item| item.starts_with("use ")).collect();
            let begin = source.find("\nuse ").map_or(0, |at| at + 1);
            let all = source[begin..].split("\n\n").next().unwrap_or_default();
            assert!(
                all.lines().count() >= imports.lines().count() && all.starts_with("use "),
                "{}",
                path.display()
            );
            assert!(first.starts_with(all), "{name}: {} without\n{all}", path.display());
            examples += 1;
            if name == "README.md" {
                assert_eq!(**first, source[begin..], "README.md has a part of {}", path.display());
            }
        }
    }
    assert!(examples >= 8, "{examples}");
}

fn without_indent(source: &str) -> String {
    source.lines().map(|line| format!("{}\n", line.trim_start())).collect()
}
