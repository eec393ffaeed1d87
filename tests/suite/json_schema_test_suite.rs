//! The JSON Schema Test Suite at commit 44401e0 (2026). Drafts 7 and 2020-12 are in `tests/data`. The record covers all
//! drafts from 3 on, which need a checkout:
//!
//! ```sh
//! git clone https://github.com/json-schema-org/JSON-Schema-Test-Suite && git -C JSON-Schema-Test-Suite checkout 44401e0
//! JSON_SCHEMA_TEST_SUITE=$PWD/JSON-Schema-Test-Suite cargo xtask test json_schema_test_suite
//! ```
//!
//! `tests/cases/json_schema_test_suite.json` has, for each draft, the number of tests in each class, and every test
//! that does not pass, with the reason. No invalid instance may be accepted. With `UPDATE_JSON_SCHEMA_TEST_SUITE=1` the
//! file is rewritten; reasons stay with their tests, and tests without a reason must be given one.

use crate::language::Language;
use grammata::syntax::json_schema::{self, Documents, Formats, PropertyOrder, compile};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const UNEXPLAINED: &str = "unexplained";
/// The prefix of the names of tests in which formats are assertions; elsewhere they are annotations.
const FORMATS: &str = "optional/format";

/// The number of tests of each result, the most harmful first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Counts {
    /// An invalid instance is in the language.
    wrong_accept: usize,
    /// A valid instance is not in the language.
    wrong_reject: usize,
    /// The schema does not compile.
    refused: usize,
    pass: usize,
}

/// The expected results of a draft.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Draft {
    counts: Counts,
    /// The wrongly rejected tests, as `file: group: test`, by the reason for the rejection.
    wrong_reject: BTreeMap<String, Vec<String>>,
    /// The groups whose schema does not compile, as `file: group`, by the code of the error.
    refused: BTreeMap<String, Vec<String>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Ratchet {
    /// The files of optional behaviour that is not supported, by the reason.
    not_run: BTreeMap<String, Vec<String>>,
    drafts: BTreeMap<String, Draft>,
}

#[derive(Deserialize)]
struct Group {
    description: String,
    schema: Value,
    tests: Vec<Test>,
}

#[derive(Deserialize)]
struct Test {
    description: String,
    data: Value,
    valid: bool,
}

fn ratchet_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/json_schema_test_suite.json")
}

/// Returns the folder of the suite: the checkout that `JSON_SCHEMA_TEST_SUITE` names, or the part in this repository.
fn checkout() -> PathBuf {
    std::env::var_os("JSON_SCHEMA_TEST_SUITE")
        .map_or_else(|| Path::new(crate::ROOT).join("tests/data/json-schema-test-suite"), PathBuf::from)
}

/// Returns the documents that the suite expects to be served at `http://localhost:1234/`.
fn remotes() -> Documents {
    let mut documents = Documents::default();
    documents.set_resolver(|uri| {
        let path = uri.strip_prefix("http://localhost:1234/").ok_or("not served")?;
        let text =
            std::fs::read_to_string(checkout().join("remotes").join(path)).map_err(|e| e.to_string())?;
        serde_json::from_str(&text).map_err(|e| e.to_string())
    });
    documents
}

fn recorded() -> Ratchet {
    let text = std::fs::read_to_string(ratchet_file()).expect("the file is there");
    serde_json::from_str(&text).expect("a ratchet")
}

/// Returns the test files below a folder, by their paths without the extension.
fn files(folder: &Path) -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(inside) = open.pop() {
        for entry in std::fs::read_dir(&inside).expect("a folder of tests") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "json") {
                let name = path.strip_prefix(folder).expect("below it").with_extension("");
                found.insert(name.display().to_string(), path);
            }
        }
    }
    found
}

/// Returns the `$schema` of a draft from the name of its folder.
fn dialect(draft: &str) -> String {
    match draft.strip_prefix("draft") {
        Some(number) if number.len() == 1 => format!("http://json-schema.org/draft-0{number}/schema#"),
        Some(date) => format!("https://json-schema.org/draft/{date}/schema"),
        None => draft.to_owned(),
    }
}

/// Runs the tests of a draft. Returns the results, and the wrongly accepted tests separately.
fn run(folder: &Path, draft: &str, not_run: &[String]) -> (Draft, Vec<String>) {
    let (mut outcome, mut wrong_accepts) = (Draft::default(), Vec::new());
    for (name, path) in files(folder).into_iter().filter(|(name, _)| !not_run.contains(name)) {
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let groups: Vec<Group> = serde_json::from_str(&text).expect("a list of groups");
        for Group { description: group, mut schema, tests } in groups {
            if let Value::Object(map) = &mut schema {
                map.entry("$schema").or_insert_with(|| dialect(draft).into());
            }
            let formats = if name.starts_with(FORMATS) { Formats::Assert } else { Formats::Annotate };
            let options = json_schema::Options::default()
                .property_order(PropertyOrder::Any)
                .formats(formats)
                .documents(remotes());
            let language = match compile(&schema.to_string(), &options) {
                Ok(compiled) => Some(Language::new(&compiled.grammar)),
                // a schema without valid instances is rightly refused
                Err(error) if error.code() == "json-schema/unsatisfiable" => None,
                Err(error) => {
                    outcome.counts.refused += tests.len();
                    outcome.refused.entry(error.code().into()).or_default().push(format!("{name}: {group}"));
                    continue;
                }
            };
            for Test { description, data, valid } in tests {
                let text = data.to_string();
                let test = format!("{name}: {group}: {description}");
                match language.as_ref().is_some_and(|language| language.accepts(text.as_bytes())) {
                    true if !valid => {
                        outcome.counts.wrong_accept += 1;
                        wrong_accepts.push(format!("{draft}: {test}"));
                    }
                    false if valid => {
                        outcome.counts.wrong_reject += 1;
                        outcome.wrong_reject.entry(UNEXPLAINED.into()).or_default().push(test);
                    }
                    _ => outcome.counts.pass += 1,
                }
            }
        }
    }
    (outcome, wrong_accepts)
}

/// Gives the tests of `draft` the reasons that they have in `known`.
fn explain(draft: &mut Draft, known: &Draft) {
    for test in draft.wrong_reject.remove(UNEXPLAINED).unwrap_or_default() {
        let reason = known.wrong_reject.iter().find(|(_, tests)| tests.contains(&test));
        let reason = reason.map_or(UNEXPLAINED, |(reason, _)| reason.as_str());
        draft.wrong_reject.entry(reason.to_owned()).or_default().push(test);
    }
}

#[test]
fn the_test_suite_comes_out_as_recorded() {
    let (recorded, checkout) = (recorded(), checkout());
    let not_run = recorded.not_run.values().flatten().cloned().collect::<Vec<_>>();
    let (mut now, mut wrong_accepts) =
        (Ratchet { not_run: recorded.not_run, ..Ratchet::default() }, Vec::new());
    let mut ran = 0;
    for (draft, known) in &recorded.drafts {
        let folder = checkout.join("tests").join(draft);
        if !folder.is_dir() {
            // with a part of the suite, missing tests are neither checked nor changed
            now.drafts.insert(draft.clone(), known.clone());
            continue;
        }
        ran += 1;
        let (mut outcome, wrong) = run(&folder, draft, &not_run);
        explain(&mut outcome, known);
        now.drafts.insert(draft.clone(), outcome);
        wrong_accepts.extend(wrong);
    }
    assert!(ran >= 2, "fewer than two drafts in {}", checkout.display());
    if std::env::var_os("UPDATE_JSON_SCHEMA_TEST_SUITE").is_some() {
        let text = serde_json::to_string_pretty(&now).expect("a ratchet is JSON");
        std::fs::write(ratchet_file(), text + "\n").expect("a writable file");
    }
    assert!(wrong_accepts.is_empty(), "{wrong_accepts:#?}");
    for (draft, outcome) in &now.drafts {
        let known = &recorded.drafts[draft];
        assert_eq!(
            outcome, known,
            "{draft}: run with UPDATE_JSON_SCHEMA_TEST_SUITE=1 and look at the change"
        );
    }
}

/// The record is consistent. This also runs without the test suite.
#[test]
fn the_record_is_complete() {
    let recorded = recorded();
    assert!(!recorded.drafts.is_empty());
    for (name, draft) in &recorded.drafts {
        assert_eq!(draft.counts.wrong_accept, 0, "{name}");
        assert!(draft.counts.pass > 500, "{name}");
        let rejected: usize = draft.wrong_reject.values().map(Vec::len).sum();
        assert_eq!(rejected, draft.counts.wrong_reject, "{name}");
        assert!(!draft.wrong_reject.contains_key(UNEXPLAINED), "{name}");
        assert_eq!(draft.refused.is_empty(), draft.counts.refused == 0, "{name}");
    }
}
