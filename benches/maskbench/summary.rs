//! The tables at the end of a run.

use super::data::Schema;
use super::run::{Outcome, Status};
use super::statistics::{grouped, mean, percentile, share_over};
use comfy_table::{Cell, CellAlignment, Table};
use std::fmt;

/// Thousandths and their names.
const PERCENTILES: [(usize, &str); 8] = [
    (250, "p25"),
    (500, "p50"),
    (750, "p75"),
    (900, "p90"),
    (950, "p95"),
    (990, "p99"),
    (999, "p99.9"),
    (1000, "max"),
];

const MILLISECOND: u64 = 1_000_000;

/// Times of the schemas that an engine compiles, in nanoseconds.
#[derive(Debug, Default)]
struct Samples {
    tbm: Vec<u64>,
    warm: Vec<u64>,
    /// Times of masks that another process had computed.
    explored: Vec<u64>,
    ttfm: Vec<u64>,
}

impl Samples {
    fn add(&mut self, outcome: &Outcome) {
        self.tbm.extend(outcome.times.iter().map(|times| times.mask + times.commit));
        let explored = outcome.times.iter().filter(|times| times.explored);
        self.explored.extend(explored.map(|times| times.mask + times.commit));
        self.warm.extend(outcome.warm.iter().map(|times| times.mask + times.commit));
        self.ttfm.push(u64::try_from(outcome.ttfm().as_nanos()).unwrap_or(u64::MAX));
    }

    fn lists(&self) -> [(&'static str, &Vec<u64>); 4] {
        let of_files = ("TBM of mask files", &self.explored);
        [("TBM", &self.tbm), of_files, ("TBM warm", &self.warm), ("TTFM", &self.ttfm)]
    }
}

/// The results of one engine over all schemas.
#[derive(Debug)]
pub(crate) struct Tally {
    name: &'static str,
    statuses: Vec<Status>,
    refusals: Vec<(String, String)>,
    /// The number of valid instances that were rejected, and of invalid ones that were accepted.
    wrong: [usize; 2],
    /// Ids of the schemas with wrong results, except compile errors.
    ids: Vec<(Status, String)>,
    /// How often each of the engine's strategies computed tokens of masks, in the engine's order, if it says so.
    strategies: Vec<(String, u64)>,
    /// Times of the schemas that all engines compile; `alone` has those of the other schemas that this engine compiles.
    common: Samples,
    alone: Samples,
}

impl Tally {
    /// Returns an empty tally for an engine.
    pub(crate) fn new(name: &'static str) -> Tally {
        Tally {
            name,
            statuses: Vec::new(),
            refusals: Vec::new(),
            wrong: [0; 2],
            ids: Vec::new(),
            strategies: Vec::new(),
            common: Samples::default(),
            alone: Samples::default(),
        }
    }

    /// Adds a schema; `common` says whether all engines compile it.
    pub(crate) fn add(&mut self, id: &str, outcome: &Outcome, common: bool) {
        self.statuses.push(outcome.status);
        match &outcome.refusal {
            Some(refusal) => self.refusals.push((refusal.code.clone(), refusal.keyword.clone())),
            None if outcome.status != Status::Pass => self.ids.push((outcome.status, id.to_owned())),
            None => {}
        }
        for failure in &outcome.failures {
            self.wrong[0] += usize::from(failure.status == Status::ValidRejected);
            self.wrong[1] += usize::from(failure.status == Status::InvalidAccepted);
        }
        for (name, count) in outcome.statistics["strategies"].as_object().into_iter().flatten() {
            let count = count.as_u64().unwrap_or_default();
            match self.strategies.iter_mut().find(|known| known.0 == *name) {
                Some(known) => known.1 += count,
                None => self.strategies.push((name.clone(), count)),
            }
        }
        if outcome.compiled() {
            if common { self.common.add(outcome) } else { self.alone.add(outcome) }
        }
    }

    /// Returns the number of schemas with this outcome.
    pub(crate) fn count(&self, status: Status) -> usize {
        self.statuses.iter().filter(|&&found| found == status).count()
    }
}

/// The report with a line for each schema and engine.
#[derive(Debug, Default)]
pub(crate) struct Each(Vec<Vec<String>>);

impl Each {
    /// Adds the line of a schema and an engine.
    pub(crate) fn add(&mut self, engine: &str, schema: &Schema, outcome: &Outcome) {
        let times: Vec<u64> = outcome.times.iter().map(|times| times.mask + times.commit).collect();
        let times = sorted(&times, &[]);
        let mut cells = vec![
            schema.id.clone(),
            format!("{:.1}", schema.text.len() as f64 / 1000.0),
            engine.to_owned(),
            outcome.status.name().to_owned(),
            if outcome.compiled() { microseconds(outcome.ttfm().as_nanos() as f64) } else { String::new() },
            times.len().to_string(),
            mean(&times).map_or_else(String::new, microseconds),
        ];
        let places = [500, 990, 1000].map(|place| percentile(&times, place));
        cells.extend(places.map(|time| time.map_or_else(String::new, |time| microseconds(time as f64))));
        self.0.push(cells);
    }
}

impl fmt::Display for Each {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = empty_table();
        table.set_header([
            "schema", "kB", "engine", "status", "TTFM µs", "masks", "mean µs", "p50", "p99", "max",
        ]);
        self.0.iter().for_each(|line| {
            table.add_row(line);
        });
        write!(f, "{}", right_align(table))
    }
}

/// Returns the times of the schemas that all engines compile, one curve for each engine: the times of tokens, and the
/// times to the first mask.
pub(crate) fn curves(tallies: &[Tally]) -> [Vec<(String, Vec<u64>)>; 2] {
    let of = |times: fn(&Samples) -> &Vec<u64>| {
        tallies.iter().map(|tally| (tally.name.to_owned(), sorted(times(&tally.common), &[]))).collect()
    };
    [of(|samples| &samples.tbm), of(|samples| &samples.ttfm)]
}

/// Returns all tables as text.
pub(crate) fn show(tallies: &[Tally]) -> String {
    let mut text = format!("{}\n", statuses(tallies));
    for tally in tallies {
        text.push_str(&listed(tally));
    }
    for tally in tallies.iter().filter(|tally| !tally.refusals.is_empty()) {
        text.push_str(&format!("\ncompile errors of {}\n{}\n", tally.name, refusals(tally)));
    }
    for tally in tallies.iter().filter(|tally| !tally.strategies.is_empty()) {
        text.push_str(&format!("\nshare of masks by strategy of {}\n{}\n", tally.name, strategies(tally)));
    }
    for tally in tallies {
        let explored = tally.common.explored.len() + tally.alone.explored.len();
        let all = tally.common.tbm.len() + tally.alone.tbm.len();
        if explored > 0 {
            let share = explored as f64 * 100.0 / all as f64;
            text.push_str(&format!(
                "\n{}: {explored} of {all} masks from mask files, {share:.1} %\n",
                tally.name
            ));
        }
    }
    if let [one] = tallies {
        let mut times = table();
        for (what, values) in one.common.lists() {
            row(&mut times, &format!("{} {what}", one.name), &sorted(values, &[]));
        }
        return format!("{text}\ntimes in µs, all schemas that compile\n{}\n", right_align(times));
    }
    let mut all = table();
    for tally in tallies {
        for ((what, together), (_, alone)) in tally.common.lists().into_iter().zip(tally.alone.lists()) {
            row(&mut all, &format!("{} {what}", tally.name), &sorted(together, alone));
        }
    }
    format!(
        "{text}\ntimes in µs, all schemas that the engine compiles\n{}\n\n{}\n",
        right_align(all),
        common(tallies)
    )
}

/// Returns the figures of a run, one a line: the engine's name, the figure's and a number, with tabs between them. Counts
/// of schemas have the names of [`Status`], times (in nanoseconds, of the schemas that all engines compile) names such as
/// `TBM p99`; `TBM > 1 ms` is a share.
pub(crate) fn record(tallies: &[Tally]) -> String {
    let mut text = String::new();
    for tally in tallies {
        let mut line =
            |name: &str, number: f64| text.push_str(&format!("{}\t{name}\t{number}\n", tally.name));
        line("schemas", tally.statuses.len() as f64);
        line("schemas of times", tally.common.ttfm.len() as f64);
        Status::ALL.iter().for_each(|&status| line(status.name(), tally.count(status) as f64));
        for (what, values) in tally.common.lists() {
            let times = sorted(values, &[]);
            let Some(mean) = mean(&times) else { continue };
            line(&format!("{what} count"), times.len() as f64);
            line(&format!("{what} mean"), mean);
            for (place, name) in PERCENTILES {
                line(&format!("{what} {name}"), percentile(&times, place).unwrap_or_default() as f64);
            }
            line(&format!("{what} > 1 ms"), share_over(&times, MILLISECOND));
        }
    }
    text
}

/// Returns the times of the schemas that all engines compile, and the ratios of the other engines' times to the first
/// engine's.
fn common(tallies: &[Tally]) -> String {
    let mut common = table();
    for tally in tallies {
        for (what, together) in tally.common.lists() {
            row(&mut common, &format!("{} {what}", tally.name), &sorted(together, &[]));
        }
    }
    if let [first, others @ ..] = tallies {
        for other in others {
            for ((what, ours), (_, theirs)) in first.common.lists().into_iter().zip(other.common.lists()) {
                ratio(&mut common, &format!("{} / {} {what}", other.name, first.name), ours, theirs);
            }
        }
    }
    let schemas = tallies.first().map_or(0, |tally| tally.common.ttfm.len());
    format!("times in µs, the {schemas} schemas that all engines compile\n\n{}", right_align(common))
}

fn statuses(tallies: &[Tally]) -> Table {
    let mut table = empty_table();
    table.set_header(["schemas"].into_iter().chain(tallies.iter().map(|tally| tally.name)));
    let mut line = |name: &str, count: &dyn Fn(&Tally) -> String| {
        table.add_row([name.to_owned()].into_iter().chain(tallies.iter().map(count)));
    };
    line("all", &|tally| tally.statuses.len().to_string());
    for status in Status::ALL {
        line(status.name(), &|tally| {
            let count = tally.count(status);
            let share = 100.0 * count as f64 / tally.statuses.len().max(1) as f64;
            format!("{count} ({share:.1} %)")
        });
    }
    line("instances: valid rejected", &|tally| tally.wrong[0].to_string());
    line("instances: invalid accepted", &|tally| tally.wrong[1].to_string());
    right_align(table)
}

/// Lists ids of schemas with wrong results, worst kind first, at most 20 of each kind.
fn listed(tally: &Tally) -> String {
    let mut text = String::new();
    for status in Status::ALL.into_iter().rev() {
        let ids: Vec<&str> =
            tally.ids.iter().filter(|found| found.0 == status).map(|found| found.1.as_str()).collect();
        if let [first @ .., _] = &ids[..] {
            let shown = &ids[..ids.len().min(20)];
            let more = if first.len() >= 20 { ", …" } else { "" };
            text.push_str(&format!("{} {}: {}{more}\n", tally.name, status.name(), shown.join(", ")));
        }
    }
    text
}

fn refusals(tally: &Tally) -> Table {
    let mut table = empty_table();
    table.set_header(["code", "keyword", "schemas"]);
    for ((code, keyword), count) in grouped(tally.refusals.iter().cloned()) {
        table.add_row([code, keyword, count.to_string()]);
    }
    table
}

/// Returns the table of how often each strategy computed the tokens of a residual or configuration.
fn strategies(tally: &Tally) -> Table {
    let all: u64 = tally.strategies.iter().map(|strategy| strategy.1).sum();
    let mut table = empty_table();
    table.set_header(["strategy", "count", "share"]);
    for (name, count) in &tally.strategies {
        let share = 100.0 * *count as f64 / all.max(1) as f64;
        table.add_row([name.clone(), count.to_string(), format!("{share:.2} %")]);
    }
    right_align(table)
}

/// Returns an empty table of times.
pub(crate) fn table() -> Table {
    let mut table = empty_table();
    let names = PERCENTILES.iter().map(|percentile| percentile.1);
    table.set_header(["", "count", "mean"].into_iter().chain(names).chain(["> 1 ms"]));
    table
}

fn empty_table() -> Table {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::ASCII_MARKDOWN);
    table
}

/// Aligns all columns but the first to the right.
pub(crate) fn right_align(mut table: Table) -> Table {
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn sorted(values: &[u64], more: &[u64]) -> Vec<u64> {
    let mut sorted: Vec<u64> = values.iter().chain(more).copied().collect();
    sorted.sort_unstable();
    sorted
}

/// Adds a row with the distribution of some times, in nanoseconds and sorted, if there are any.
pub(crate) fn row(table: &mut Table, name: &str, sorted: &[u64]) {
    let Some(mean) = mean(sorted) else { return };
    let mut cells = vec![name.to_owned(), sorted.len().to_string(), microseconds(mean)];
    let places = PERCENTILES.iter().filter_map(|place| percentile(sorted, place.0));
    cells.extend(places.map(|nanoseconds| microseconds(nanoseconds as f64)));
    cells.push(format!("{:.2} %", 100.0 * share_over(sorted, MILLISECOND)));
    table.add_row(cells.into_iter().map(Cell::new));
}

fn ratio(table: &mut Table, name: &str, ours: &[u64], theirs: &[u64]) {
    let (ours, theirs) = (sorted(ours, &[]), sorted(theirs, &[]));
    let (Some(our_mean), Some(their_mean)) = (mean(&ours), mean(&theirs)) else { return };
    let mut cells = vec![name.to_owned(), String::new(), times(their_mean / our_mean)];
    cells.extend(PERCENTILES.iter().filter_map(|place| {
        let (ours, theirs) = (percentile(&ours, place.0)?, percentile(&theirs, place.0)?);
        Some(times(theirs as f64 / ours.max(1) as f64))
    }));
    table.add_row(cells.into_iter().map(Cell::new));
}

fn times(ratio: f64) -> String {
    format!("{ratio:.2} x")
}

fn microseconds(nanoseconds: f64) -> String {
    format!("{:.2}", nanoseconds / 1000.0)
}
