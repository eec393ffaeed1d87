//! Tables and plots of the results.

use super::fault::Fault;
use super::record::{Arm, Record};
use grammata_report::statistics::{Interval, quantile, sign_test, wilson};
use grammata_report::{Bar, Plot, Report, Table};
use serde_json::{Value, json};

/// The reader that judges outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    Strict,
    Lenient,
}

/// The records of an arm as judged by a reader, in the order of tasks and seeds.
pub(super) struct OfArm<'r> {
    arm: Arm,
    reader: Reader,
    records: Vec<&'r Record>,
    /// Number of outputs per task; those of a task are adjacent.
    seeds: usize,
}

/// A reader's result for an output.
#[derive(Clone, Copy)]
struct Found {
    fault: Option<Fault>,
    right: bool,
}

impl Found {
    fn is_wrong(self) -> bool {
        self.fault.is_some()
    }
}

/// Groups the records by arm. Arms whose records all have a lenient result are added a second time, with the lenient
/// reader.
pub(super) fn of_arms<'r>(arms: &[Arm], records: &'r [Record], seeds: usize) -> Vec<OfArm<'r>> {
    let mut made = Vec::new();
    for &arm in arms {
        let records: Vec<&Record> = records.iter().filter(|record| record.arm == arm).collect();
        let has_both = !records.is_empty() && records.iter().all(|record| record.lenient.is_some());
        made.push(OfArm { arm, reader: Reader::Strict, records: records.clone(), seeds });
        if has_both {
            made.push(OfArm { arm, reader: Reader::Lenient, records, seeds });
        }
    }
    made
}

impl OfArm<'_> {
    fn label(&self) -> String {
        match self.reader {
            Reader::Strict => self.arm.name().to_owned(),
            Reader::Lenient => format!("{}, lenient reader", self.arm.name()),
        }
    }

    fn found(&self, record: &Record) -> Found {
        match (self.reader, record.lenient) {
            (Reader::Lenient, Some(lenient)) => Found { fault: lenient.fault, right: lenient.right },
            _ => Found { fault: record.fault, right: record.right },
        }
    }

    fn count(&self, is_counted: impl Fn(Found) -> bool) -> usize {
        self.records.iter().filter(|record| is_counted(self.found(record))).count()
    }

    fn rate(&self, is_counted: impl Fn(Found) -> bool) -> Option<Interval> {
        wilson(self.count(is_counted), self.records.len())
    }

    fn tasks(&self) -> usize {
        self.records.len() / self.seeds
    }

    /// Returns, for each task, the share of its outputs that count.
    fn by_task(&self, is_counted: fn(Found) -> bool) -> impl Iterator<Item = f64> {
        self.records.chunks(self.seeds).map(move |outputs| {
            let counted = outputs.iter().filter(|record| is_counted(self.found(record))).count();
            counted as f64 / outputs.len() as f64
        })
    }

    /// Returns the share of outputs whose calls contain the whole path of the answer. `None` if the answers are no
    /// paths.
    fn paths(&self) -> Option<Interval> {
        let known: Vec<bool> = self.records.iter().filter_map(|record| record.has_path).collect();
        wilson(known.iter().filter(|&&has_path| has_path).count(), known.len())
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

/// Returns the table that compares the arms.
pub(super) fn table(arms: &[OfArm<'_>]) -> Table {
    let columns = [
        "arm",
        "tasks",
        "outputs",
        "with a fault",
        "right",
        "correct path",
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
            of.label(),
            of.tasks().to_string(),
            of.records.len().to_string(),
            percent(of.rate(Found::is_wrong)),
            percent(of.rate(|found| found.right)),
            percent(of.paths().filter(|_| of.reader == Reader::Strict)),
            percent(of.rate(|found| !found.is_wrong() && !found.right)),
            format!("{:.1}", of.mean(|record| record.tokens as f64)),
            format!("{:.1}", of.mean(|record| record.forced_tokens as f64)),
            format!("{:.1}", of.mean(|record| record.model_calls as f64)),
            format!("{:.2}", of.mean(|record| record.mask_ms)),
            format!("{:.2}", quantile(&times, 0.5).unwrap_or_default()),
        ]
    });
    Table { columns: columns.map(str::to_owned).to_vec(), rows: rows.collect() }
}

/// Returns the table with the number of outputs per fault.
pub(super) fn faults(arms: &[OfArm<'_>]) -> Table {
    let is_there = |fault: &Fault| arms.iter().any(|of| of.count(|found| found.fault == Some(*fault)) > 0);
    let kinds: Vec<Fault> = Fault::ALL.into_iter().filter(is_there).collect();
    let columns = ["arm".to_owned(), "none".to_owned()]
        .into_iter()
        .chain(kinds.iter().map(|fault| fault.name().to_owned()));
    let rows = arms.iter().map(|of| {
        let counts = kinds.iter().map(|fault| of.count(|found| found.fault == Some(*fault)).to_string());
        let none = of.count(|found| found.fault.is_none()).to_string();
        [of.label(), none].into_iter().chain(counts).collect()
    });
    Table { columns: columns.collect(), rows: rows.collect() }
}

/// Returns the table of pairs of arms: the exact sign test over the tasks' shares of outputs. With one output per task
/// it is McNemar's test. Tasks are independent; the outputs of one task are not.
pub(super) fn pairs(arms: &[OfArm<'_>]) -> Table {
    let mut rows = Vec::new();
    for (at, first) in arms.iter().enumerate() {
        // both readers of an arm judge the same outputs, so they are not paired
        for second in arms[at + 1..].iter().filter(|second| second.arm != first.arm) {
            let test = |value: fn(Found) -> bool| {
                let test = sign_test(second.by_task(value).zip(first.by_task(value)));
                format!("{} / {}, p = {:.2e}", test.better, test.worse, test.p)
            };
            rows.push(vec![
                format!("{} against {}", second.label(), first.label()),
                test(|found| !found.is_wrong()),
                test(|found| found.right),
            ]);
        }
    }
    Table {
        columns: ["arms", "tasks with fewer faults: the one / the other", "tasks with more right answers"]
            .map(str::to_owned)
            .to_vec(),
        rows,
    }
}

fn plot(arms: &[OfArm<'_>], caption: &str, is_counted: impl Fn(Found) -> bool) -> Plot {
    let bar = |of: &OfArm<'_>| Some(Bar { label: of.label(), value: of.rate(&is_counted)? });
    Plot { caption: caption.to_owned(), bars: arms.iter().filter_map(bar).collect() }
}

pub(super) fn report(title: &str, settings: &Value, arms: &[OfArm<'_>]) -> Report {
    let mut report = Report::new(title);
    report
        .text(format!("Settings: {settings}"))
        .heading("Arms")
        .text("Shares of outputs with Wilson's 95 % intervals, which take the outputs of one task as independent; means of tokens, model calls and milliseconds spent on masks; the median time of an output.")
        .table(table(arms))
        .plot(plot(arms, "Share of outputs with a fault", Found::is_wrong))
        .plot(plot(arms, "Share of outputs that are right", |found| found.right))
        .heading("Faults by kind")
        .table(faults(arms))
        .heading("Pairs of arms")
        .table(pairs(arms));
    report
}

pub(super) fn to_json(settings: &Value, arms: &[OfArm<'_>]) -> Value {
    let judged = |of: &OfArm<'_>| {
        let faults: serde_json::Map<String, Value> = Fault::ALL
            .into_iter()
            .map(|fault| (fault.name().to_owned(), json!(of.count(|found| found.fault == Some(fault)))))
            .collect();
        json!({"faults": faults, "fault": of.rate(Found::is_wrong), "right": of.rate(|found| found.right)})
    };
    let mut made: Vec<Value> = Vec::new();
    for of in arms {
        let mut value = judged(of);
        match (of.reader, made.last_mut()) {
            (Reader::Lenient, Some(strict)) => strict["lenient"] = value,
            _ => {
                value["arm"] = json!(of.arm);
                value["tasks"] = json!(of.tasks());
                value["outputs"] = json!(of.records.len());
                value["correct_path"] = json!(of.paths());
                value["tokens"] = json!(of.mean(|record| record.tokens as f64));
                value["model_calls"] = json!(of.mean(|record| record.model_calls as f64));
                made.push(value);
            }
        }
    }
    json!({"settings": settings, "arms": made})
}
