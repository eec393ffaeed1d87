//! The attribution of a run as Markdown. Times are in microseconds.

use super::attribution::{Attribution, BANDS, Measured, Record, Row, Work, band, is_mask};
use grammata::attribution::Cause;
use std::fmt::Write;

/// Returns the whole page.
pub(crate) fn page(all: &Attribution) -> String {
    let mut page =
        "# What masks' time is spent on\n\nTimes in µs. Causes exclude each other and add up to the whole; \
                    `of it` rows are parts \
                    of them, and so is what strategies did in vain.\n\n"
            .to_owned();
    let masks = all.sorted(is_mask);
    let preempted = all.preempted();
    let sum = |records: &[&Record]| records.iter().map(|record| record.measured.total).sum::<u64>();
    let share = sum(&preempted) as f64 / (sum(&preempted) + sum(&masks)).max(1) as f64;
    let longest = preempted.iter().map(|record| record.measured.total).max().unwrap_or_default();
    let _ = writeln!(
        page,
        "{} masks; {} more were preempted and are left out: {} of the time, the longest {}. A page fault takes {:.2} here.\n",
        masks.len(),
        preempted.len(),
        percent(share),
        microseconds(longest as f64),
        all.fault / 1000.0,
    );
    shares(&mut page, &masks);
    for (name, from, to) in BANDS {
        section(&mut page, &format!("Masks: {name}"), band(&masks, (from, to)), all.fault);
    }
    for (name, work) in [("First mask", Work::FirstMask), ("Compile", Work::Compile)] {
        section(&mut page, name, &all.sorted(|of| of == work), all.fault);
    }
    worst(&mut page, all);
    page
}

/// Writes the table with the share of each cause in each band.
fn shares(page: &mut String, masks: &[&Record]) {
    let _ = writeln!(page, "## Shares\n\n| | {} |", BANDS.map(|band| band.0).join(" | "));
    let _ = writeln!(page, "|---|{}", "--:|".repeat(BANDS.len()));
    let bands = BANDS.map(|(_, from, to)| band(masks, (from, to)));
    let means = bands.map(|band| Row::of(band, |measured| measured.total).map_or(0.0, |row| row.mean));
    let _ = writeln!(page, "| mean | {} |", means.map(microseconds).join(" | "));
    for cause in Cause::ALL {
        let rows = bands.map(|band| Row::of(band, |measured| measured.of(cause)));
        if rows.iter().flatten().any(|row| row.records > 0) {
            let cells = rows.map(|row| row.map_or(String::new(), |row| percent(row.share)));
            let _ = writeln!(page, "| {} | {} |", cause.name(), cells.join(" | "));
        }
    }
    page.push('\n');
}

/// Writes the tables of some records under a title; nothing if there are no records.
fn section(page: &mut String, title: &str, records: &[&Record], fault: f64) {
    let Some(whole) = Row::of(records, |measured| measured.total) else { return };
    let _ = writeln!(page, "## {title}\n\n{} measured\n", records.len());
    let _ = writeln!(
        page,
        "| cause | share | in vain | in | mean | p99 | p99.9 | max |\n|---|--:|--:|--:|--:|--:|--:|--:|"
    );
    let mut line = |name: &str, row: Row, in_vain: Option<Row>, unit: f64| {
        let _ = writeln!(
            page,
            "| {name} | {} | {} | {} | {} | {} | {} | {} |",
            percent(row.share * unit),
            in_vain.filter(|in_vain| in_vain.records > 0).map_or(String::new(), |row| percent(row.share)),
            row.records,
            microseconds(row.mean * unit),
            microseconds(row.p99 as f64 * unit),
            microseconds(row.p999 as f64 * unit),
            microseconds(row.max as f64 * unit),
        );
    };
    line("whole", whole, None, 1.0);
    let rows = Cause::ALL.map(|cause| (cause, Row::of(records, |measured| measured.of(cause))));
    let mut rows: Vec<(Cause, Row)> =
        rows.into_iter().filter_map(|(cause, row)| Some((cause, row?))).collect();
    rows.retain(|(_, row)| row.records > 0);
    rows.sort_by(|a, b| b.1.share.total_cmp(&a.1.share));
    rows.into_iter().for_each(|(cause, row)| {
        line(cause.name(), row, Row::of(records, |measured| measured.in_vain(cause)), 1.0);
    });
    type Quantity = fn(&Measured) -> u64;
    let parts: [(&str, Quantity, f64); 2] = [
        ("of it large blocks", |measured| measured.large, 1.0),
        ("of it page faults, estimated", |measured| measured.faults, fault),
    ];
    for (name, quantity, unit) in parts {
        if let Some(row) = Row::of(records, quantity) {
            line(name, row, None, unit);
        }
    }
    let counts: [(&str, Quantity); 3] = [
        ("allocations", |measured| measured.allocations),
        ("bytes allocated", |measured| measured.bytes),
        ("page faults", |measured| measured.faults),
    ];
    let _ = writeln!(page, "\n| | in | mean | p99 | p99.9 | max |\n|---|--:|--:|--:|--:|--:|");
    for (name, quantity) in counts {
        if let Some(Row { records, mean, p99, p999, max, .. }) = Row::of(records, quantity) {
            let _ = writeln!(page, "| {name} | {records} | {mean:.1} | {p99} | {p999} | {max} |");
        }
    }
    page.push('\n');
}

/// Writes the table of the slowest masks.
fn worst(page: &mut String, all: &Attribution) {
    page.push_str(
        "## The slowest masks\n\n`again`: the shortest of the repeated runs, which share nothing with other schemas.\n\n\
         | schema | test, token | µs | again | causes | allocations, KiB | large blocks | faults |\n\
         |---|--:|--:|--:|---|--:|--:|--:|\n",
    );
    for record in all.worst() {
        let Record { work, measured, .. } = record;
        let place = match work {
            Work::Mask { test, at } => format!("{test}, {at}"),
            Work::Compile | Work::FirstMask => String::new(),
        };
        let again = all.again(record).map_or(String::new(), |time| microseconds(time as f64));
        let _ = writeln!(
            page,
            "| {} | {place} | {} | {again} | {} | {}, {} | {} | {} |",
            all.schema(record),
            microseconds(measured.total as f64),
            causes(measured),
            measured.allocations,
            measured.bytes >> 10,
            microseconds(measured.large as f64),
            measured.faults,
        );
    }
}

/// Returns the causes that took at least a hundredth of the time, the largest first.
fn causes(measured: &Measured) -> String {
    let mut causes: Vec<(u64, Cause)> = Cause::ALL.map(|cause| (measured.of(cause), cause)).to_vec();
    causes.retain(|&(time, _)| time * 100 >= measured.total.max(1));
    causes.sort_by_key(|&(time, _)| std::cmp::Reverse(time));
    let named = causes.iter().map(|&(time, cause)| format!("{} {}", cause.name(), microseconds(time as f64)));
    named.collect::<Vec<_>>().join(", ")
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn microseconds(nanoseconds: f64) -> String {
    match nanoseconds / 1000.0 {
        long if long >= 100.0 => format!("{long:.0}"),
        short if short >= 10.0 => format!("{short:.1}"),
        tiny => format!("{tiny:.2}"),
    }
}
