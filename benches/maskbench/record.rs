//! The records of a run: one JSON line for each schema and engine. Times are in microseconds.

use super::data::Schema;
use super::run::{Failure, Outcome, Status, Times, Tokens};
use serde_json::{Value, json};
use sha2::Digest;
use std::fmt::Write;

/// The tokens shown before and after a failure.
const BEFORE: usize = 24;
const AFTER: usize = 6;

/// The number of the slowest masks that are shown with their places.
const SLOWEST: usize = 3;

/// Returns the JSON line of one outcome. `decode` turns tokens into text.
pub(crate) fn line(
    engine: &str,
    schema: &Schema,
    tests: &[Tokens],
    outcome: &Outcome,
    decode: &dyn Fn(&[u32]) -> String,
) -> Value {
    let mut line = json!({
        "id": schema.id,
        "engine": engine,
        "status": outcome.status.name(),
        "schema_bytes": schema.text.len(),
        "num_tests": tests.len(),
        "compile_us": microseconds(outcome.compile.as_nanos() as u64),
    });
    if let Some(refusal) = &outcome.refusal {
        line["compile_error"] = json!(cut(&refusal.message, 2000));
        line["code"] = json!(refusal.code);
        line["keyword"] = json!(refusal.keyword);
        return line;
    }
    if let Some((name, time)) = outcome.first_part {
        line[name] = microseconds(time.as_nanos() as u64);
    }
    line["first_mask_us"] = microseconds(outcome.first_mask.as_nanos() as u64);
    if let Some(message) = &outcome.first_mask_error {
        line["first_mask_error"] = json!(cut(message, 600));
    }
    line["ttfm_us"] = microseconds(outcome.ttfm().as_nanos() as u64);
    line["num_tokens"] = json!(outcome.times.len());
    line["num_valid_tests"] = json!(outcome.right[1]);
    line["num_invalid_tests"] = json!(outcome.right[0]);
    line["invalid_accepted_but_eos_refused"] = json!(outcome.end_refused);
    line["reset_us"] = outcome.resets.iter().map(|&time| microseconds(time)).collect();
    line["mask_us"] = part(&outcome.times, |times| times.mask);
    line["commit_us"] = part(&outcome.times, |times| times.commit);
    if !outcome.warm.is_empty() {
        line["warm_mask_us"] = part(&outcome.warm, |times| times.mask);
        line["warm_commit_us"] = part(&outcome.warm, |times| times.commit);
    }
    line["slowest"] = slowest(tests, outcome, decode);
    line["statistics"] = outcome.statistics.clone();
    if let Some(last) = outcome.failures.last() {
        line["validation_error"] =
            json!(format!("test #{}: {}: {}", last.test, last.status.name(), cut(&last.message, 600)));
    }
    line["fails"] = outcome.failures.iter().map(|failure| failed(failure, tests, decode)).collect();
    line
}

/// Returns the line with the digest of one outcome, separated by tabs. A schema without masks has the digest of no
/// bytes.
pub(crate) fn digest(engine: &str, schema: &Schema, order: &str, outcome: &Outcome) -> String {
    let mut line = format!("{}\t{engine}\t{order}\t{}\t", schema.id, outcome.status.name());
    for byte in outcome.digest.clone().unwrap_or_default().finalize() {
        let _ = write!(line, "{byte:02x}");
    }
    line
}

/// Returns the slowest masks of the first pass, with their places and the text before them.
fn slowest(tests: &[Tokens], outcome: &Outcome, decode: &dyn Fn(&[u32]) -> String) -> Value {
    let places = outcome.walked.iter().enumerate();
    let places = places.flat_map(|(test, &count)| (0..count).map(move |at| (test, at)));
    let mut all: Vec<_> = outcome.times.iter().map(|times| times.mask + times.commit).zip(places).collect();
    all.sort_unstable_by(|a, b| b.cmp(a));
    let shown = all.iter().take(SLOWEST).map(|&(time, (test, at))| {
        let tokens = tests.get(test).and_then(|test| test.tokens.get(at.saturating_sub(BEFORE)..=at));
        let (token, before) = tokens.and_then(<[u32]>::split_last).unwrap_or((&0, &[]));
        let (before, token) = (decode(before), decode(&[*token]));
        json!({"us": microseconds(time), "test": test, "at": at, "before": before, "tok": token})
    });
    shown.collect()
}

fn failed(failure: &Failure, tests: &[Tokens], decode: &dyn Fn(&[u32]) -> String) -> Value {
    let test = tests.get(failure.test);
    let tokens = test.map_or(&[][..], |test| &test.tokens);
    let part = |from: usize, to: usize| decode(tokens.get(from..to.min(tokens.len())).unwrap_or_default());
    let at = failure.at.min(tokens.len());
    let kind = match failure.status {
        Status::InvalidAccepted => "should_reject",
        Status::ValidRejected if failure.at == tokens.len() => "valid_but_not_accepting_eos",
        Status::ValidRejected => "should_accept",
        Status::Timeout => "timeout",
        Status::Pass | Status::Unsatisfiable | Status::CompileError | Status::Crash => "exn",
    };
    json!({
        "i": failure.test,
        "valid": test.map(|test| test.valid),
        "kind": kind,
        "at": failure.at,
        "msg": cut(&failure.message, 1200),
        "ctx": {
            "before": part(at.saturating_sub(BEFORE), at),
            "tok": part(at, at + 1),
            "after": part(at + 1, at + AFTER),
        },
    })
}

fn part(times: &[Times], of: impl Fn(&Times) -> u64) -> Value {
    times.iter().map(|times| microseconds(of(times))).collect()
}

fn microseconds(nanoseconds: u64) -> Value {
    json!(nanoseconds as f64 / 1000.0)
}

fn cut(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
