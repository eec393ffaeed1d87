//! Tables and plots of a run.

use super::judge::Fault;
use super::record::{Arm, Record};
use crate::evaluation::statistics::{Interval, quantile, sign_test, wilson};
use crate::evaluation::{Bar, Plot, Report, Table};
use serde_json::{Value, json};

/// The records of an arm, in the order of the tasks.
pub(super) struct OfArm<'r> {
    pub(super) arm: Arm,
    pub(super) records: Vec<&'r Record>,
}

impl OfArm<'_> {
    fn count(&self, is_counted: impl Fn(&Record) -> bool) -> usize {
        self.records.iter().filter(|record| is_counted(record)).count()
    }

    fn rate(&self, is_counted: impl Fn(&Record) -> bool) -> Option<Interval> {
        wilson(self.count(is_counted), self.records.len())
    }

    fn mean(&self, value: impl Fn(&Record) -> f64) -> f64 {
        self.records.iter().map(|record| value(record)).sum::<f64>() / self.records.len().max(1) as f64
    }
}

fn percent(interval: Option<Interval>) -> String {
    interval.map_or_else(String::new, |all| {
        format!("{:.1} % [{:.1}, {:.1}]", 100.0 * all.mean, 100.0 * all.low, 100.0 * all.high)
    })
}

/// What is compared of each arm.
pub(super) fn table(arms: &[OfArm<'_>]) -> Table {
    let columns = [
        "arm",
        "outputs",
        "with a fault",
        "right",
        "valid but wrong",
        "tokens",
        "forced",
        "model calls",
        "mask ms",
        "median s",
    ];
    let rows = arms.iter().map(|of| {
        let times: Vec<f64> = of.records.iter().map(|record| record.time_ms / 1e3).collect();
        vec![
            of.arm.name().to_owned(),
            of.records.len().to_string(),
            percent(of.rate(|record| record.fault.is_some())),
            percent(of.rate(|record| record.right)),
            percent(of.rate(|record| record.fault.is_none() && !record.right)),
            format!("{:.1}", of.mean(|record| record.tokens as f64)),
            format!("{:.1}", of.mean(|record| record.forced_tokens as f64)),
            format!("{:.1}", of.mean(|record| record.model_calls as f64)),
            format!("{:.2}", of.mean(|record| record.mask_ms)),
            format!("{:.2}", quantile(&times, 0.5).unwrap_or_default()),
        ]
    });
    Table { columns: columns.map(str::to_owned).to_vec(), rows: rows.collect() }
}

/// How many outputs have each fault.
pub(super) fn faults(arms: &[OfArm<'_>]) -> Table {
    let is_there = |fault: &Fault| arms.iter().any(|of| of.count(|record| record.fault == Some(*fault)) > 0);
    let kinds: Vec<Fault> = Fault::ALL.into_iter().filter(is_there).collect();
    let columns = ["arm".to_owned(), "none".to_owned()]
        .into_iter()
        .chain(kinds.iter().map(|fault| fault.name().to_owned()));
    let rows = arms.iter().map(|of| {
        let counts = kinds.iter().map(|fault| of.count(|record| record.fault == Some(*fault)).to_string());
        let none = of.count(|record| record.fault.is_none()).to_string();
        [of.arm.name().to_owned(), none].into_iter().chain(counts).collect()
    });
    Table { columns: columns.collect(), rows: rows.collect() }
}

/// Each pair of arms over the tasks: McNemar's exact test of faults and of right answers.
pub(super) fn pairs(arms: &[OfArm<'_>]) -> Table {
    let mut rows = Vec::new();
    for (at, first) in arms.iter().enumerate() {
        for second in &arms[at + 1..] {
            let test = |value: fn(&Record) -> bool| {
                let number = |record: &Record| f64::from(u8::from(value(record)));
                let both = first.records.iter().zip(&second.records);
                let test = sign_test(both.map(|(a, b)| (number(b), number(a))));
                format!("{} / {}, p = {:.2e}", test.better, test.worse, test.p)
            };
            rows.push(vec![
                format!("{} against {}", second.arm.name(), first.arm.name()),
                test(|record| record.fault.is_none()),
                test(|record| record.right),
            ]);
        }
    }
    Table {
        columns: ["arms", "without a fault: only the one / only the other", "right"]
            .map(str::to_owned)
            .to_vec(),
        rows,
    }
}

fn plot(arms: &[OfArm<'_>], caption: &str, is_counted: impl Fn(&Record) -> bool) -> Plot {
    let bar = |of: &OfArm<'_>| Some(Bar { label: of.arm.name().to_owned(), value: of.rate(&is_counted)? });
    Plot { caption: caption.to_owned(), bars: arms.iter().filter_map(bar).collect() }
}

pub(super) fn report(title: &str, settings: &Value, arms: &[OfArm<'_>]) -> Report {
    let mut report = Report::new(title);
    report
        .text(format!("Settings: {settings}"))
        .heading("Arms")
        .text("Shares with Wilson's 95 % intervals; means of tokens, model calls and milliseconds spent on masks; the median time of an output.")
        .table(table(arms))
        .plot(plot(arms, "Share of outputs with a fault", |record| record.fault.is_some()))
        .plot(plot(arms, "Share of outputs that are right", |record| record.right))
        .heading("Faults by kind")
        .table(faults(arms))
        .heading("Pairs of arms")
        .table(pairs(arms));
    report
}

pub(super) fn to_json(settings: &Value, arms: &[OfArm<'_>]) -> Value {
    let arms = arms.iter().map(|of| {
        let faults: serde_json::Map<String, Value> = Fault::ALL
            .into_iter()
            .map(|fault| (fault.name().to_owned(), json!(of.count(|record| record.fault == Some(fault)))))
            .collect();
        json!({
            "arm": of.arm, "outputs": of.records.len(), "faults": faults,
            "right": of.rate(|record| record.right), "fault": of.rate(|record| record.fault.is_some()),
            "tokens": of.mean(|record| record.tokens as f64), "model_calls": of.mean(|record| record.model_calls as f64),
        })
    });
    json!({"settings": settings, "arms": arms.collect::<Vec<_>>()})
}
