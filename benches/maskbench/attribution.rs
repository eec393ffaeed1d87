//! What the time of masks is spent on: records of single masks, summed up over bands of their times.

use super::statistics::percentile;
use grammata::attribution::Cause;
use std::collections::{BTreeSet, HashMap};

/// Measurements of one piece of work. Times are in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Measured {
    pub(crate) total: u64,
    /// The causes that took some time, each without the causes inside it. The rest of the total is unmarked.
    pub(crate) causes: Box<[(Cause, u64)]>,
    /// The parts of the causes' times that were wasted.
    pub(crate) in_vain: Box<[(Cause, u64)]>,
    pub(crate) allocations: u64,
    /// Bytes allocated.
    pub(crate) bytes: u64,
    /// Time of allocating and freeing large blocks; it is part of the causes' time.
    pub(crate) large: u64,
    /// Page faults.
    pub(crate) faults: u64,
    /// Involuntary context switches.
    pub(crate) preemptions: u64,
}

impl Measured {
    /// Returns the time of a cause. The time of `Unmarked` is the rest of the total.
    pub(crate) fn of(&self, cause: Cause) -> u64 {
        match cause {
            Cause::Unmarked => self.total - self.causes.iter().map(|&(_, time)| time).sum::<u64>(),
            cause => self.causes.iter().find(|of| of.0 == cause).map_or(0, |of| of.1),
        }
    }

    /// Returns the part of a cause's time that was wasted.
    pub(crate) fn in_vain(&self, cause: Cause) -> u64 {
        self.in_vain.iter().find(|of| of.0 == cause).map_or(0, |of| of.1)
    }
}

/// The kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Work {
    /// Compiling a grammar.
    Compile,
    /// The first mask of a grammar that was just compiled.
    FirstMask,
    /// The mask before token `at` of a test, and accepting the token.
    Mask { test: usize, at: usize },
}

/// A measurement and its work.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// The number of the schema in the run.
    pub(crate) schema: usize,
    pub(crate) work: Work,
    pub(crate) measured: Measured,
}

/// The bands of masks, sorted by time: the name of a band, and the thousandths at which it begins and ends.
pub(crate) const BANDS: [(&str, usize, usize); 6] = [
    ("all", 0, 1000),
    ("to p50", 0, 500),
    ("p50–p90", 500, 900),
    ("p90–p99", 900, 990),
    ("p99–p99.9", 990, 999),
    ("p99.9–max", 999, 1000),
];

/// Returns the part of a sorted list between two thousandths, by nearest rank.
pub(crate) fn band<T>(sorted: &[T], (from, to): (usize, usize)) -> &[T] {
    let rank = |thousandths: usize| (sorted.len() * thousandths).div_ceil(1000);
    &sorted[rank(from)..rank(to)]
}

/// The distribution of one quantity over some records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Row {
    /// The sum of the quantity, divided by the sum of the records' total times.
    pub(crate) share: f64,
    /// The number of records in which the quantity is not 0.
    pub(crate) records: usize,
    /// The mean over all records, including those in which the quantity is 0.
    pub(crate) mean: f64,
    pub(crate) p99: u64,
    pub(crate) p999: u64,
    pub(crate) max: u64,
}

impl Row {
    /// Computes the distribution of a quantity; `None` if there are no records.
    pub(crate) fn of(records: &[&Record], quantity: impl Fn(&Measured) -> u64) -> Option<Row> {
        let mut values: Vec<u64> = records.iter().map(|record| quantity(&record.measured)).collect();
        values.sort_unstable();
        let total: u64 = records.iter().map(|record| record.measured.total).sum();
        let sum: u64 = values.iter().sum();
        Some(Row {
            share: sum as f64 / total.max(1) as f64,
            records: values.iter().filter(|&&value| value > 0).count(),
            mean: sum as f64 / values.len() as f64,
            p99: percentile(&values, 990)?,
            p999: percentile(&values, 999)?,
            max: percentile(&values, 1000)?,
        })
    }
}

/// The number of the slowest masks that are listed.
pub(crate) const WORST: usize = 50;

/// All records of a run.
#[derive(Debug, Default)]
pub(crate) struct Attribution {
    records: Vec<Record>,
    /// The names of the schemas, by number.
    schemas: Vec<String>,
    /// The shortest of the repeated measurements of each piece of work, in nanoseconds.
    again: HashMap<(usize, Work), u64>,
    /// The time of a page fault, in nanoseconds.
    pub(crate) fault: f64,
}

impl Attribution {
    /// Creates an attribution without records; `fault` is the time of a page fault in nanoseconds.
    pub(crate) fn new(fault: f64) -> Attribution {
        Attribution { fault, ..Attribution::default() }
    }

    /// Adds the measurements of the next schema.
    pub(crate) fn add(&mut self, schema: &str, measured: Vec<(Work, Measured)>) {
        let number = self.schemas.len();
        self.schemas.push(schema.to_owned());
        let records = measured.into_iter().map(|(work, measured)| Record { schema: number, work, measured });
        self.records.extend(records);
    }

    /// Adds the measurements of a schema that was run again.
    pub(crate) fn add_again(&mut self, schema: usize, measured: Vec<(Work, Measured)>) {
        for (work, Measured { total, .. }) in measured {
            let shortest = self.again.entry((schema, work)).or_insert(total);
            *shortest = total.min(*shortest);
        }
    }

    /// Returns the records whose work satisfies `is`, the fastest first. Records that were preempted are left out.
    pub(crate) fn sorted(&self, is: impl Fn(Work) -> bool) -> Vec<&Record> {
        let records = self.records.iter().filter(|record| is(record.work));
        let mut sorted: Vec<&Record> = records.filter(|record| record.measured.preemptions == 0).collect();
        sorted.sort_by_key(|record| record.measured.total);
        sorted
    }

    /// Returns the masks that were preempted.
    pub(crate) fn preempted(&self) -> Vec<&Record> {
        let preempted = self.records.iter().filter(|record| record.measured.preemptions > 0);
        preempted.filter(|record| is_mask(record.work)).collect()
    }

    /// Returns the slowest masks that were not preempted, the slowest first, at most [`WORST`].
    pub(crate) fn worst(&self) -> Vec<&Record> {
        self.sorted(is_mask).into_iter().rev().take(WORST).collect()
    }

    /// Returns the numbers of the schemas that have the slowest masks.
    pub(crate) fn worst_schemas(&self) -> BTreeSet<usize> {
        self.worst().iter().map(|record| record.schema).collect()
    }

    /// Returns the name of a record's schema.
    pub(crate) fn schema(&self, record: &Record) -> &str {
        &self.schemas[record.schema]
    }

    /// Returns the shortest of the repeated measurements of a record's work; `None` if there are none.
    pub(crate) fn again(&self, record: &Record) -> Option<u64> {
        self.again.get(&(record.schema, record.work)).copied()
    }
}

/// Returns whether a piece of work is a mask of a test.
pub(crate) fn is_mask(work: Work) -> bool {
    matches!(work, Work::Mask { .. })
}
