//! The JSON Schema Test Suite, if the environment variable `JSON_SCHEMA_TEST_SUITE` names a checkout of it:
//!
//! ```sh
//! git clone --depth 1 https://github.com/json-schema-org/JSON-Schema-Test-Suite
//! JSON_SCHEMA_TEST_SUITE=$PWD/JSON-Schema-Test-Suite cargo xtask test json_schema_test_suite
//! ```
//!
//! `tests/cases/json_schema_test_suite.json` holds what is expected of each draft: how many tests come out in
//! which class, and every test that does not pass. No valid instance may be accepted wrongly. With
//! `UPDATE_JSON_SCHEMA_TEST_SUITE=1` the file is written anew.

use crate::language::Language;
use grammata::syntax::json_schema::{Documents, Formats, JsonSchemaOptions, PropertyOrder, compile};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How a test came out, the most harmful first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Class {
    /// An invalid instance is in the language.
    WrongAccept,
    /// A valid instance is not.
    WrongReject,
    /// The schema does not compile.
    Refused,
    Pass,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Counts {
    wrong_accept: usize,
    wrong_reject: usize,
    refused: usize,
    pass: usize,
}

impl Counts {
    fn add(&mut self, class: Class) {
        *match class {
            Class::WrongAccept => &mut self.wrong_accept,
            Class::WrongReject => &mut self.wrong_reject,
            Class::Refused => &mut self.refused,
            Class::Pass => &mut self.pass,
        } += 1;
    }
}

/// What is expected of a draft.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Draft {
    counts: Counts,
    /// `file: group: test` of valid instances that are not in the language.
    wrong_rejects: Vec<String>,
    /// For each code of an error, `file: group` of the schemas that it refuses.
    refused: BTreeMap<String, Vec<String>>,
}

type Ratchet = BTreeMap<String, Draft>;

const DRAFTS: &[&str] = &["draft3", "draft4", "draft6", "draft7", "draft2019-09", "draft2020-12"];

fn ratchet_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/json_schema_test_suite.json")
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in
        std::fs::read_dir(folder).expect("a folder of tests").map(|entry| entry.expect("an entry").path())
    {
        if entry.is_dir() {
            files(&entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "json") {
            found.push(entry);
        }
    }
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

/// The documents that the suite expects to be served at `http://localhost:1234/`.
fn remotes() -> Documents {
    let mut documents = Documents::default();
    documents.set_resolver(|uri| {
        let path = uri.strip_prefix("http://localhost:1234/").ok_or("not served")?;
        let checkout = std::env::var_os("JSON_SCHEMA_TEST_SUITE").map(PathBuf::from).ok_or("no checkout")?;
        let text = std::fs::read_to_string(checkout.join("remotes").join(path)).map_err(|e| e.to_string())?;
        serde_json::from_str(&text).map_err(|e| e.to_string())
    });
    documents
}

/// Runs all tests below a folder.
fn run(folder: &Path, draft: &str) -> (Draft, Vec<String>) {
    let mut all = Vec::new();
    files(folder, &mut all);
    all.sort();
    let (mut outcome, mut wrong_accepts) = (Draft::default(), Vec::new());
    for path in all {
        let name = path.strip_prefix(folder).expect("below it").with_extension("");
        let name = name.display().to_string();
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let groups: Vec<Group> = serde_json::from_str(&text).expect("a list of groups");
        for Group { description: group, mut schema, tests } in groups {
            if let Value::Object(map) = &mut schema
                && !map.contains_key("$schema")
            {
                let uri = match draft {
                    "draft2019-09" | "draft2020-12" => {
                        format!("https://json-schema.org/{}/schema", draft.replacen("draft", "draft/", 1))
                    }
                    old => format!("http://json-schema.org/{}/schema#", old.replace("draft", "draft-0")),
                };
                map.insert("$schema".into(), uri.into());
            }
            let formats = if folder.ends_with("format")
                || name.starts_with("optional/format")
                || name == "format" && draft.len() == 6
            {
                Formats::Assert
            } else {
                Formats::Annotate
            };
            let options = JsonSchemaOptions {
                property_order: PropertyOrder::Any,
                formats,
                documents: remotes(),
                ..Default::default()
            };
            let language = match compile(&schema.to_string(), &options) {
                Ok(compiled) => Language::new(&compiled.grammar),
                // what nothing satisfies is refused, rightly if no instance is valid
                Err(error)
                    if error.code() == "json-schema/unsatisfiable"
                        && tests.iter().all(|test| !test.valid) =>
                {
                    tests.iter().for_each(|_| outcome.counts.add(Class::Pass));
                    continue;
                }
                Err(error) => {
                    tests.iter().for_each(|_| outcome.counts.add(Class::Refused));
                    outcome
                        .refused
                        .entry(error.code().to_owned())
                        .or_default()
                        .push(format!("{name}: {group}"));
                    continue;
                }
            };
            for Test { description, data, valid } in tests {
                let test = format!("{name}: {group}: {description}");
                let class = match language.accepts(data.to_string().as_bytes()) {
                    true if !valid => Class::WrongAccept,
                    false if valid => Class::WrongReject,
                    _ => Class::Pass,
                };
                outcome.counts.add(class);
                match class {
                    Class::WrongAccept => wrong_accepts.push(test),
                    Class::WrongReject => outcome.wrong_rejects.push(test),
                    Class::Refused | Class::Pass => {}
                }
            }
        }
    }
    (outcome, wrong_accepts)
}

#[test]
fn the_test_suite_comes_out_as_recorded() {
    let recorded = std::fs::read_to_string(ratchet_file()).unwrap_or_default();
    let recorded: Ratchet = serde_json::from_str(&recorded).unwrap_or_default();
    let Some(checkout) = std::env::var_os("JSON_SCHEMA_TEST_SUITE").map(PathBuf::from) else {
        return;
    };
    let _ = recorded;
    for draft in DRAFTS {
        let folder = checkout.join("tests").join(draft);
        if !folder.is_dir() {
            continue;
        }
        let folder = match std::env::var("ONLY") {
            Ok(o) => folder.join(o),
            Err(_) => folder,
        };
        let (outcome, wrong_accepts) = run(&folder, draft);
        println!("{draft} {:#?}", outcome);
        println!("WRONG ACCEPTS {wrong_accepts:#?}");
    }
}
