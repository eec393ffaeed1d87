//! Evaluation: statistics compared with tables, resumed journals, reports with hostile text.

use grammata_report::statistics::{Interval, bootstrap, mean_and_deviation, quantile, sign_test, wilson};
use grammata_report::{Bar, Journal, Plot, Report, Table, Transcript, Turn};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

#[test]
fn intervals_and_sign_tests_are_those_of_the_tables() {
    assert_eq!(bootstrap(&[], 1), None);
    let same = bootstrap(&[0.5; 30], 1).unwrap();
    assert_eq!((same.mean, same.low, same.high), (0.5, 0.5, 0.5));
    // the mean of 400 fair coins has the standard error 0.025
    let coins: Vec<f64> = (0..400).map(|i| f64::from(i % 2)).collect();
    let interval = bootstrap(&coins, 1).unwrap();
    assert_eq!(interval.mean, 0.5);
    for (found, expected) in [(interval.low, 0.451), (interval.high, 0.549)] {
        assert!((found - expected).abs() < 0.006, "{interval:?}");
    }
    assert_eq!(bootstrap(&coins, 1), Some(interval));
    assert_ne!(bootstrap(&coins, 2), Some(interval));
    // better, worse, two-sided binomial probability
    let table = [
        (0, 0, 1.0),
        (1, 0, 1.0),
        (5, 5, 1.0),
        (5, 0, 0.0625),
        (0, 5, 0.0625),
        (9, 1, 0.021484375),
        (60, 40, 0.05688793364098081),
        (3000, 2000, 1.6e-45),
    ];
    for (better, worse, p) in table {
        let wins = std::iter::repeat_n((1.0, 0.0), better);
        let losses = std::iter::repeat_n((0.0, 1.0), worse);
        let found = sign_test(wins.chain(losses).chain([(0.5, 0.5)]));
        assert_eq!((found.better, found.worse), (better, worse));
        assert!(
            (found.p - p).abs() <= p * 1e-9 || p < 1e-9 && found.p < 1e-9,
            "{better}, {worse}: {}",
            found.p
        );
    }
}

#[test]
fn wilson_intervals_are_those_of_the_literature() {
    // Newcombe, Statistics in Medicine 17 (1998), table I: the score method without continuity correction
    let table = [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (29, 29, 0.8830, 1.0000),
    ];
    for (successes, trials, low, high) in table {
        let found = wilson(successes, trials).unwrap();
        assert!((found.low - low).abs() < 6e-5 && (found.high - high).abs() < 6e-5, "{found:?}");
        assert!((found.mean - successes as f64 / trials as f64).abs() < 1e-12);
    }
    assert_eq!(wilson(0, 0), None);
    assert_eq!(wilson(3, 2), None);
}

#[test]
fn means_deviations_and_quantiles() {
    assert_eq!(mean_and_deviation(&[]), None);
    assert_eq!(mean_and_deviation(&[3.0]), Some((3.0, 0.0)));
    assert_eq!(mean_and_deviation(&[2.0, 4.0, 4.0, 6.0]), Some((4.0, (8.0f64 / 3.0).sqrt())));
    assert_eq!(quantile(&[], 0.5), None);
    for (share, expected) in [(0.0, 1.0), (0.5, 2.5), (0.9, 3.7), (1.0, 4.0), (7.0, 4.0)] {
        let found = quantile(&[4.0, 1.0, 3.0, 2.0], share).unwrap();
        assert!((found - expected).abs() < 1e-12, "{share}: {found}");
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Record {
    arm: String,
    edits: f64,
}

fn record(arm: &str, edits: f64) -> Record {
    Record { arm: arm.to_owned(), edits }
}

fn journal(folder: &Path) -> PathBuf {
    folder.join("run.jsonl")
}

#[test]
fn a_journal_is_resumed_where_it_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let path = journal(folder.path());
    let settings = serde_json::json!({"seed": 7});
    let mut first = Journal::open(&path, &settings).unwrap();
    first.append("a/1", record("a", 0.5)).unwrap();
    assert_eq!(first.append("a/1", record("a", 1.0)).unwrap_err().code(), "evaluation/repeated-record");
    assert_eq!(first.get_or_run("b/1", || Ok(record("b", 2.0))).unwrap(), &record("b", 2.0));
    drop(first);
    let whole = std::fs::read_to_string(&path).unwrap();
    // wherever the process is killed, complete lines are kept and the rest is run again
    for cut in 0..=whole.len() {
        std::fs::write(&path, &whole.as_bytes()[..cut]).unwrap();
        let mut again = Journal::open(&path, &settings).unwrap();
        let kept = whole[..cut].matches('\n').count().saturating_sub(1);
        assert_eq!(again.records().len(), kept);
        let mut ran = 0;
        for (id, arm, edits) in [("a/1", "a", 0.5), ("b/1", "b", 2.0)] {
            let run = || {
                ran += 1;
                Ok(record(arm, edits))
            };
            again.get_or_run(id, run).unwrap();
        }
        assert_eq!(ran, 2 - kept);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), whole, "cut at {cut}");
    }
}

#[test]
fn a_journal_of_another_run_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = journal(folder.path());
    let open = |text: &str| {
        std::fs::write(&path, text).unwrap();
        Journal::<Record>::open(&path, &serde_json::json!({"seed": 7})).unwrap_err()
    };
    let head = "{\"settings\":{\"seed\":7}}\n";
    let good = "{\"id\":\"x\",\"record\":{\"arm\":\"a\",\"edits\":1}}\n";
    let table = [
        ("{\"settings\":{\"seed\":8}}\n".to_owned(), "evaluation/settings"),
        ("{}\n".to_owned(), "evaluation/settings"),
        ("no JSON\n".to_owned(), "evaluation/record"),
        (format!("{head}{good}{good}"), "evaluation/repeated-record"),
        (format!("{head}{{\"id\":3}}\n"), "evaluation/record"),
        (format!("{head}{{\"id\":\"y\",\"record\":{{\"arm\":1}}}}\n"), "evaluation/record"),
    ];
    for (text, code) in table {
        assert_eq!(open(&text).code(), code, "{text}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "a refused file is left as it was");
    }
    std::fs::write(&path, b"\xff\n").unwrap();
    let error = Journal::<Record>::open(&path, &0).unwrap_err();
    assert_eq!(error.code(), "evaluation/record");
}

#[test]
fn reports_show_text_from_outside_as_text() {
    let hostile = "<script>alert(1)</script> | a *b* `c`\n</div>\u{1b}[2J";
    let mut report = Report::new(hostile);
    report.heading(hostile).text(hostile);
    report.table(Table { columns: vec![hostile.into(), "n".into()], rows: vec![vec![hostile.into()]] });
    let bar = |label: &str, mean| Bar { label: label.into(), value: Interval { mean, low: 0.5, high: 2.0 } };
    let bars = vec![bar(hostile, 1.0), bar("not a number", f64::NAN)];
    report.plot(Plot { caption: hostile.into(), bars });
    report.figure("<svg/>", hostile);
    let turn = Turn { speaker: hostile.into(), text: hostile.into(), note: Some(hostile.into()) };
    report.transcript(Transcript { caption: hostile.into(), turns: vec![turn] });
    let (html, markdown) = (report.to_html(), report.to_markdown());
    assert!(!html.contains("<script") && !html.contains('\u{1b}'), "{html}");
    assert!(!markdown.replace(r"\<", "").contains('<') && !markdown.contains('\u{1b}'), "{markdown}");
    assert!(!html.contains("</div>\u{fffd}"), "{html}");
    // in Markdown, everything that could begin markup has its backslash, and cells stay on their line
    assert!(markdown.contains(r"\<script\>alert(1)\</script\> \| a \*b\* \`c\` \</div\>"), "{markdown}");
    let rows: Vec<&str> = markdown.lines().filter(|line| line.starts_with('|')).collect();
    assert!(rows.iter().all(|row| row.ends_with('|')), "{rows:?}");
    assert!(html.contains("<rect") && !html.contains("NaN\" height"), "{html}");
}

/// A text is written as a paragraph, even if its first line begins like a list, a rule, the underline of a heading or
/// indented code.
#[test]
fn lines_that_begin_like_blocks_are_paragraphs() {
    for (text, escaped) in [
        ("- a", r"\- a"),
        ("+ a", r"\+ a"),
        ("1. a", r"1\. a"),
        ("12) a", r"12\) a"),
        ("---", r"\---"),
        ("===", r"\==="),
        ("     a", "a"),
        (" - a", r"\- a"),
        ("a - b", "a - b"),
        ("1a", "1a"),
        ("7", "7"),
        ("", ""),
    ] {
        let mut report = Report::new("t");
        report.text(text);
        report.plot(Plot { caption: text.into(), bars: Vec::new() });
        let turn = Turn { speaker: "s".into(), text: format!("x\n{text}\ny"), note: None };
        report.transcript(Transcript { caption: "c".into(), turns: vec![turn] });
        let markdown = report.to_markdown();
        assert!(markdown.starts_with(&format!("# t\n\n{escaped}\n\n{escaped}\n\n|")), "{markdown}");
        assert!(markdown.ends_with(&format!(": x\\\n  {escaped}\\\n  y\n")), "{markdown}");
    }
}

/// A journal must be a regular file, since it is also written to.
#[cfg(unix)]
#[test]
fn journals_are_regular_files() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in [&pipe, folder.path(), std::path::Path::new("/dev/zero")] {
        let opened = grammata_report::Journal::<u32>::open(path, &1);
        assert_eq!(opened.unwrap_err().code(), "io/no-file", "{}", path.display());
    }
}
