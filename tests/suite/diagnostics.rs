//! The whole text of every error and warning, pinned in `tests/diagnostics/<topic>/<case>.{in,out}`.
//!
//! A new pair of files is a new test. `UPDATE_DIAGNOSTICS=1` rewrites the `.out` files, whose diff is then to be
//! reviewed. A topic is a function from the bytes of the input, without one line end at the end, to the text.

use grammata::automaton::Automaton;
use grammata::syntax::{gbnf, json_schema, lark, regex, structural_tag};
use grammata::{Limits, Result};
use std::path::Path;

fn check(topic: &str, run: impl Fn(&[u8]) -> String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics").join(topic);
    let update = std::env::var_os("UPDATE_DIAGNOSTICS").is_some_and(|v| v == "1");
    let mut inputs: Vec<_> = std::fs::read_dir(&folder)
        .expect("the topic has a folder")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "in"))
        .collect();
    inputs.sort();
    assert!(!inputs.is_empty(), "{topic} has no cases");
    let mut wrong = Vec::new();
    for input in inputs {
        let bytes = std::fs::read(&input).expect("the input can be read");
        let now = run(bytes.strip_suffix(b"\n").unwrap_or(&bytes)) + "\n";
        let output = input.with_extension("out");
        if update {
            std::fs::write(&output, now).expect("the output can be written");
            continue;
        }
        let pinned = std::fs::read_to_string(&output).unwrap_or_else(|_| "(no file)\n".to_owned());
        if pinned != now {
            wrong.push(format!("{}\n--- pinned\n{pinned}--- now\n{now}", input.display()));
        }
    }
    assert!(wrong.is_empty(), "{}\nset UPDATE_DIAGNOSTICS=1 to pin anew", wrong.join("\n"));
}

fn show<T>(result: Result<T>, warnings: impl Fn(&T) -> Vec<String>) -> String {
    match result {
        Err(error) => error.to_string(),
        Ok(value) => {
            let warnings = warnings(&value);
            if warnings.is_empty() { "no error, no warning".to_owned() } else { warnings.join("\n") }
        }
    }
}

#[test]
fn gbnf_texts() {
    check("gbnf", |bytes| {
        show(gbnf::compile_bytes(bytes, &gbnf::Options::default()), |compiled| {
            compiled.warnings.iter().map(|w| format!("warning{w}")).collect()
        })
    });
}

#[test]
fn structural_tag_texts() {
    check("structural-tag", |bytes| {
        let tag = str::from_utf8(bytes).expect("tags are text");
        show(structural_tag::compile(tag, &structural_tag::Options::default()), |compiled| {
            compiled.warnings.iter().map(|w| format!("warning{w}")).collect()
        })
    });
}

#[test]
fn lark_texts() {
    check("lark", |bytes| {
        let grammar = str::from_utf8(bytes).expect("grammars are text");
        show(lark::compile(grammar, &lark::Options::default()), |compiled| {
            compiled.warnings.iter().map(|w| format!("warning{w}")).collect()
        })
    });
}

fn run_regex(bytes: &[u8], dialect: regex::Dialect) -> String {
    let pattern = str::from_utf8(bytes).expect("patterns are text");
    let options = regex::Options::default().dialect(dialect);
    show(regex::compile(pattern, &options), |_| Vec::new())
}

#[test]
fn regex_texts() {
    check("regex", |bytes| run_regex(bytes, regex::Dialect::Rust));
}

#[test]
fn regex_ecma_texts() {
    check("regex-ecma", |bytes| run_regex(bytes, regex::Dialect::Ecma262));
}

/// Errors that are found only when a grammar is lowered. The inputs are JSON Schemas, with a limit of 400 states.
#[test]
fn engine_texts() {
    check("engine", |bytes| {
        let schema = str::from_utf8(bytes).expect("schemas are text");
        let limits = Limits::default().automaton_states(400);
        let lowered = json_schema::compile(schema, &Default::default())
            .and_then(|compiled| Automaton::new(&compiled.grammar, &limits));
        show(lowered, |_| Vec::new())
    });
}
