//! Calls compared with their texts and requests in all call formats: in small random documents, in the operations of
//! the shipped documents, and in those of a folder.
//!
//! `GRAMMATA_OPENAPI=FOLDER` adds the OpenAPI documents below that folder: JSON or YAML, also several in one JSON
//! object, also compressed with gzip. A folder that is missing or has no OpenAPI document is an error. `GRAMMATA_CALLS`
//! sets the number of random calls for each format, `GRAMMATA_WALKS` that of the walks under masks; `cargo xtask full
//! calls` sets both.

use super::properties::cases;
use grammata::Limits;
use grammata_agents::tools::{Call, CallFormat, Document, ReadOptions, ToolSet, read};
use grammata_testing::round_trips::{Arguments, REQUESTS, Written, documents_agree, tools_round_trip};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

#[test]
fn words_and_calls_of_small_documents_read_back() {
    let mut wrong = Vec::new();
    for seed in 0..u64::from(cases(30)) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let bytes: Vec<u8> = (0..200).map(|_| random.random()).collect();
        let mut choices = grammata_testing::generate::Choices::new(&bytes);
        let document = grammata_testing::requests::random_api(&mut choices).to_string();
        let mut draw = |bound: usize| random.random_range(0..bound.max(1));
        if let Err(found) = documents_agree(&document, &Limits::default(), true, &mut draw) {
            wrong.push(format!("seed {seed}: {found}\n{document}"));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// The seeds of the fuzz target are documents with callable tools, and pass the fuzz target.
#[test]
fn seeds_read_back() {
    let folder = Path::new(crate::ROOT).join("fuzz/seeds/tools_round_trip");
    for (path, text) in documents(&folder) {
        assert!(set(&text).unwrap().callable().count() > 0, "{}", path.display());
        tools_round_trip(text.as_bytes());
    }
}

/// Returns the texts of the OpenAPI documents below a folder, with their paths.
fn documents(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let entries =
            std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let plain = name.strip_suffix(".gz").unwrap_or(&name);
            if path.is_dir() {
                open.push(path);
            } else if [".json", ".yaml", ".yml"].iter().any(|end| plain.ends_with(end)) {
                let bytes = std::fs::read(&path).unwrap();
                let text = match name.ends_with(".gz") {
                    true => {
                        let mut text = String::new();
                        flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).map(|_| text)
                    }
                    false => String::from_utf8(bytes).map_err(std::io::Error::other),
                };
                let Ok(text) = text else { continue };
                found.extend(apis(&text).into_iter().map(|text| (path.clone(), text)));
            }
        }
    }
    found
}

/// Returns the OpenAPI documents in a text: the text itself, or those among the members of its object.
fn apis(text: &str) -> Vec<String> {
    let is_api = |value: &Value| value["openapi"].is_string() || value["swagger"].is_string();
    match serde_json::from_str::<Value>(text) {
        Ok(value) if is_api(&value) => vec![text.to_owned()],
        Ok(Value::Object(members)) => {
            members.values().filter(|value| is_api(value)).map(Value::to_string).collect()
        }
        Ok(_) => Vec::new(),
        Err(_) if text.contains("openapi:") || text.contains("swagger:") => vec![text.to_owned()],
        Err(_) => Vec::new(),
    }
}

fn set(text: &str) -> Option<ToolSet> {
    let options = ReadOptions::default().server(Some("https://h.example".to_owned()));
    read([Document { label: "doc", text }], &options).ok()
}

fn number(name: &str) -> Option<usize> {
    std::env::var(name).ok().and_then(|number| number.parse().ok())
}

/// Counts of what was checked in a format.
#[derive(Debug, Default)]
struct Tally {
    tools: usize,
    walks: usize,
    calls: usize,
    /// Calls that the format cannot write.
    unwritten: usize,
}

/// A walk and a call of each operation in one of the formats that write requests, and of some operations in other
/// formats. With `GRAMMATA_CALLS` all formats are checked.
#[test]
fn calls_of_real_documents_read_back() {
    let mut texts = vec![(
        PathBuf::from(crate::ROOT).join("catalogues/services/openapi.json"),
        include_str!("../../../../catalogues/services/openapi.json").to_owned(),
    )];
    if let Some(folder) = std::env::var_os("GRAMMATA_OPENAPI").map(PathBuf::from) {
        let found = documents(&folder);
        assert!(!found.is_empty(), "no OpenAPI document below {}", folder.display());
        texts.extend(found);
    }
    let sets: Vec<(PathBuf, ToolSet)> =
        texts.into_iter().filter_map(|(path, text)| Some((path, set(&text)?))).collect();
    let operations: usize = sets.iter().map(|(_, set)| set.callable().count()).sum();
    let (calls, walks) = (number("GRAMMATA_CALLS"), number("GRAMMATA_WALKS"));
    let names: Vec<&str> = CallFormat::names().collect();
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut random = ChaCha8Rng::seed_from_u64(number("GRAMMATA_SEED").unwrap_or(7) as u64);
    for (at, (path, set, tool)) in
        sets.iter().flat_map(|(path, set)| set.callable().map(move |tool| (path, set, tool))).enumerate()
    {
        if calls.is_some() && at % 100 == 0 {
            let done: usize = tallies.values().map(|tally| tally.walks + tally.calls).sum();
            eprintln!("{at} of {operations} operations, {done} walks and calls, {} differ", wrong.len());
        }
        let arguments = Arguments::of(tool, &Limits::default());
        let mut draw = |bound: usize| random.random_range(0..bound.max(1));
        // with numbers set, the checks are spread over the operations; otherwise there is one of each
        let left = |all: Option<usize>, done: usize, most: usize| match all {
            Some(all) => (all * (at + 1)).div_ceil(operations).saturating_sub(done).min(most),
            None => 1,
        };
        let most =
            names.iter().map(|name| left(calls, tallies.get(name).map_or(0, |tally| tally.calls), 100)).max();
        let drawn: Vec<Call> =
            (0..most.unwrap_or(0)).filter_map(|_| arguments.call(&tool.name, &mut draw)).collect();
        for (place, name) in names.iter().enumerate() {
            // by default each operation gets one of the formats that write requests, and seldom another format
            let is_turn = match REQUESTS.iter().position(|known| known == name) {
                Some(place) => at % REQUESTS.len() == place,
                None => at % 23 == 0 && (at / 23 + place) % 7 == 0,
            };
            if calls.is_none() && !is_turn {
                continue;
            }
            let Some(written) = Written::new(name, set, (tool, &arguments), Limits::default()) else {
                continue;
            };
            let tally = tallies.entry(name).or_default();
            tally.tools += 1;
            for _ in 0..left(walks, tally.walks, 20) {
                let Some(text) = written.word(&mut draw) else { continue };
                tally.walks += 1;
                wrong.extend(
                    written.word_agrees(&text).err().map(|error| format!("{}: {error}", path.display())),
                );
            }
            for call in drawn.iter().take(left(calls, tally.calls, 100)) {
                match written.call_agrees(call) {
                    Ok(true) => tally.calls += 1,
                    Ok(false) => tally.unwritten += 1,
                    Err(error) => wrong.push(format!("{}: {error}", path.display())),
                }
            }
        }
    }
    eprintln!("{operations} operations of {} documents: {tallies:#?}", sets.len());
    assert!(tallies.len() > REQUESTS.len() && tallies.values().all(|tally| tally.walks > 0), "{tallies:?}");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
