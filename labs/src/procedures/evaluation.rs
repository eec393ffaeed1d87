//! The evaluation of arms over simulated users: records of sessions, and a report.

use super::arm::ARMS;
use super::judge::Judgement;
use grammata_agents_drive::procedures::{Ending, Entry, Record};
use grammata_report::statistics::{bootstrap, sign_test, wilson};
use grammata_report::{Bar, Plot, Report, Table, Transcript, Turn};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The record of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionRecord {
    /// The arm.
    pub arm: String,
    /// The procedure and the user, `procedure/user`.
    pub user: String,
    /// The kind of user: `iw` in the workflow, `oow` out of it.
    pub kind: String,
    /// The measures.
    pub judgement: Judgement,
    /// Number of steps that were refused or could not be read.
    pub refusals: usize,
    /// How the session ended: `left`, `turns`, `stalled` or the code of an error.
    pub ending: String,
    /// Number of prompts that the agent answered.
    pub calls: usize,
    /// Number of tokens fed to the model.
    pub tokens: usize,
    /// Seconds in the model.
    pub model_seconds: f64,
    /// Total seconds of the agent.
    pub seconds: f64,
    /// The lines of the transcript, as speaker and text.
    pub lines: Vec<(String, String)>,
    /// The events, as `verify` reads them.
    pub events: Vec<Value>,
}

impl SessionRecord {
    /// Creates the record of a session of an arm with a user.
    pub fn of(arm: &str, user: &str, kind: &str, judgement: Judgement, record: &Record) -> SessionRecord {
        let ending = match &record.ending {
            Ending::Left => "left".to_owned(),
            Ending::Turns => "turns".to_owned(),
            Ending::Stalled => "stalled".to_owned(),
            Ending::Failed(error) => error.code().to_owned(),
        };
        let line = |(_, entry): &(usize, Entry)| {
            let (speaker, text) = entry.line();
            (speaker.to_owned(), text)
        };
        SessionRecord {
            arm: arm.to_owned(),
            user: user.to_owned(),
            kind: kind.to_owned(),
            judgement,
            refusals: record.refusals,
            ending,
            calls: record.usage.calls,
            tokens: record.usage.tokens,
            model_seconds: record.usage.model.as_secs_f64(),
            seconds: record.usage.all.as_secs_f64(),
            lines: record.entries.iter().map(line).collect(),
            events: record.events(),
        }
    }
}

/// Formats a share with its interval, in per cent; `-` without trials.
fn share(successes: usize, trials: usize) -> String {
    match wilson(successes, trials) {
        Some(interval) => format!(
            "{:.1} [{:.1}, {:.1}]",
            100.0 * interval.mean,
            100.0 * interval.low,
            100.0 * interval.high
        ),
        None => "-".to_owned(),
    }
}

/// Formats a mean with its interval, each times `factor`; `-` without values.
fn mean(values: &[f64], factor: f64) -> String {
    match bootstrap(values, 0) {
        Some(interval) => format!(
            "{:.1} [{:.1}, {:.1}]",
            factor * interval.mean,
            factor * interval.low,
            factor * interval.high
        ),
        None => "-".to_owned(),
    }
}

/// Formats the F1 score, the harmonic mean of precision and recall, over summed counts, in per cent; 0 if it is
/// undefined.
fn f1(counts: impl Iterator<Item = (usize, usize, usize)>) -> String {
    let (both, made, expected) =
        counts.fold((0, 0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1, sum.2 + one.2));
    let all = 2 * both + made + expected;
    format!("{:.1}", if all == 0 { 0.0 } else { 200.0 * both as f64 / all as f64 })
}

/// Returns the report: sessions in and out of the workflow, compliance, cost, paired comparisons, and the transcript of
/// each arm's first session.
pub fn report(title: &str, records: &[SessionRecord]) -> Report {
    let arms: BTreeSet<&str> = records.iter().map(|record| record.arm.as_str()).collect();
    let of = |arm: &str, kind: Option<&str>| -> Vec<&SessionRecord> {
        let is_of =
            |record: &&SessionRecord| record.arm == arm && kind.is_none_or(|kind| record.kind == kind);
        records.iter().filter(is_of).collect()
    };
    let mut report = Report::new(title);
    let named: Vec<String> = ARMS
        .iter()
        .filter(|arm| arms.contains(arm.name))
        .map(|arm| format!("{}: {}", arm.name, arm.description))
        .collect();
    report.text(format!("Arms. {}.", named.join("; ")));
    report.text("Intervals are 95 %: of shares by Wilson's score, of means by the percentile bootstrap.");
    for (kind, heading) in [("iw", "Sessions in the workflow"), ("oow", "Sessions that leave the workflow")] {
        if records.iter().any(|record| record.kind == kind) {
            report.heading(heading);
            report.table(sessions(&arms, |arm| of(arm, Some(kind)), kind == "oow"));
        }
    }
    report.heading("Compliance");
    report.text("Steps that break the procedure, judged as `guarded` in all arms.");
    report.table(compliance(&arms, |arm| of(arm, None)));
    let bars = arms.iter().filter_map(|arm| {
        let records = of(arm, None);
        let wrong = records.iter().map(|record| record.judgement.wrong()).sum();
        let steps: usize = records.iter().map(|record| record.judgement.steps).sum();
        Some(Bar { label: (*arm).to_owned(), value: wilson(wrong, steps)? })
    });
    report.plot(Plot { caption: "Share of steps that break the procedure".to_owned(), bars: bars.collect() });
    report.heading("Cost");
    report.table(cost(&arms, |arm| of(arm, None)));
    report.heading("Paired comparisons");
    report.text("Success on the same users: McNemar's exact test.");
    report.table(pairs(&arms, |arm| of(arm, None)));
    for arm in &arms {
        if let Some(record) = of(arm, None).first() {
            report.transcript(transcript(record));
        }
    }
    report
}

/// Returns the transcript of a session.
pub fn transcript(record: &SessionRecord) -> Transcript {
    let turn = |(speaker, text): &(String, String)| Turn {
        speaker: speaker.clone(),
        text: text.clone(),
        note: None,
    };
    Transcript {
        caption: format!("{}, {}", record.user, record.arm),
        turns: record.lines.iter().map(turn).collect(),
    }
}

fn row(cells: impl IntoIterator<Item = String>) -> Vec<String> {
    cells.into_iter().collect()
}

fn columns(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn sessions<'r>(
    arms: &BTreeSet<&str>,
    of: impl Fn(&str) -> Vec<&'r SessionRecord>,
    is_outside: bool,
) -> Table {
    let mut names = vec!["arm", "sessions", "success %", "progress %", "tool F1"];
    if is_outside {
        names.extend(["adequate %", "messages to the next step"]);
    }
    let rows = arms.iter().filter(|arm| !of(arm).is_empty()).map(|arm| {
        let records = of(arm);
        let successes = records.iter().filter(|record| record.judgement.success).count();
        let progress: Vec<f64> = records.iter().map(|record| record.judgement.progress()).collect();
        let mut cells = row([
            (*arm).to_owned(),
            records.len().to_string(),
            share(successes, records.len()),
            mean(&progress, 100.0),
            f1(records.iter().map(|record| record.judgement.tools)),
        ]);
        if is_outside {
            let adequate = records.iter().map(|record| record.judgement.adequate).sum();
            let outside = records.iter().map(|record| record.judgement.outside).sum();
            let distance: usize = records.iter().map(|record| record.judgement.distance).sum();
            cells.push(share(adequate, outside));
            cells.push(if outside == 0 {
                "-".to_owned()
            } else {
                format!("{:.1}", distance as f64 / outside as f64)
            });
        }
        cells
    });
    Table { columns: columns(&names), rows: rows.collect() }
}

fn compliance<'r>(arms: &BTreeSet<&str>, of: impl Fn(&str) -> Vec<&'r SessionRecord>) -> Table {
    let rows = arms.iter().map(|arm| {
        let records = of(arm);
        let steps: usize = records.iter().map(|record| record.judgement.steps).sum();
        let wrong = records.iter().map(|record| record.judgement.wrong()).sum();
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        for (reason, count) in records.iter().flat_map(|record| &record.judgement.violations) {
            *reasons.entry(reason).or_default() += count;
        }
        let reasons: Vec<String> =
            reasons.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
        let refusals: usize = records.iter().map(|record| record.refusals).sum();
        row([
            (*arm).to_owned(),
            steps.to_string(),
            share(wrong, steps),
            reasons.join(", "),
            refusals.to_string(),
        ])
    });
    Table {
        columns: columns(&["arm", "steps", "wrong %", "reasons", "refused or unread"]),
        rows: rows.collect(),
    }
}

fn cost<'r>(arms: &BTreeSet<&str>, of: impl Fn(&str) -> Vec<&'r SessionRecord>) -> Table {
    let rows = arms.iter().map(|arm| {
        let records = of(arm);
        let values = |value: &dyn Fn(&SessionRecord) -> f64| {
            records.iter().map(|record| value(record)).collect::<Vec<f64>>()
        };
        let seconds: f64 = values(&|record| record.seconds).iter().sum();
        let model: f64 = values(&|record| record.model_seconds).iter().sum();
        let outside = if seconds > 0.0 { 100.0 * (seconds - model) / seconds } else { 0.0 };
        row([
            (*arm).to_owned(),
            mean(&values(&|record| record.calls as f64), 1.0),
            mean(&values(&|record| record.tokens as f64), 1.0),
            mean(&values(&|record| record.seconds), 1.0),
            format!("{outside:.0}"),
        ])
    });
    let names = ["arm", "prompts a session", "tokens fed", "seconds", "% of it outside of the model"];
    Table { columns: columns(&names), rows: rows.collect() }
}

fn pairs<'r>(arms: &BTreeSet<&str>, of: impl Fn(&str) -> Vec<&'r SessionRecord>) -> Table {
    let mut rows = Vec::new();
    for (place, first) in arms.iter().enumerate() {
        for second in arms.iter().skip(place + 1) {
            let others: BTreeMap<&str, &SessionRecord> =
                of(second).into_iter().map(|record| (record.user.as_str(), record)).collect();
            let value = |record: &SessionRecord| f64::from(u8::from(record.judgement.success));
            let pairs: Vec<(f64, f64)> = of(first)
                .into_iter()
                .filter_map(|record| Some((value(record), value(others.get(record.user.as_str())?))))
                .collect();
            let test = sign_test(pairs.iter().copied());
            rows.push(row([
                format!("{first}, {second}"),
                pairs.len().to_string(),
                test.better.to_string(),
                test.worse.to_string(),
                format!("{:.3}", test.p),
            ]));
        }
    }
    Table { columns: columns(&["arms", "users", "only the first", "only the second", "p"]), rows }
}
