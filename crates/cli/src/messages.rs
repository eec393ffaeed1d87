//! Standard error: errors, warnings, notes and progress. Writing there never fails a command.

use super::report::translated;
use clap::builder::styling::{AnsiColor, Style};
use grammata::diagnostic::Diagnostic;
use grammata::error::{CUT, Error};
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

fn line(color: AnsiColor, word: &str, rest: &str) {
    let style = Style::new().bold().fg_color(Some(color.into()));
    // the colours are dropped where they are not wanted; a closed stream leaves nobody to tell
    let _ = writeln!(anstream::stderr().lock(), "{style}{word}{style:#}{rest}");
}

/// An error, in the form of its `Display`.
pub(super) fn error(error: &Error) {
    for diagnostic in error.diagnostics() {
        line(AnsiColor::Red, "error", &translated(diagnostic).to_string());
    }
    if error.is_cut() {
        note(CUT);
    }
}

/// A warning.
pub(super) fn warning(diagnostic: &Diagnostic) {
    line(AnsiColor::Yellow, "warning", &translated(diagnostic).to_string());
}

/// A finding of this severity: `error`, `warning` or `note`.
pub(super) fn finding(severity: &str, diagnostic: &Diagnostic) {
    let color = match severity {
        "error" => AnsiColor::Red,
        "warning" => AnsiColor::Yellow,
        _ => AnsiColor::Cyan,
    };
    line(color, severity, &translated(diagnostic).to_string());
}

/// A remark of one line.
pub(super) fn note(text: &str) {
    line(AnsiColor::Cyan, "note", &format!(": {text}"));
}

/// A line as it is.
#[cfg_attr(not(feature = "ort"), allow(dead_code))] // the summary of a generation
pub fn plain(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// Shows that something takes its time, and says how long it took if that was more than a second; only
/// where standard error is a terminal.
pub(super) struct Progress {
    what: &'static str,
    start: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Begins `what` (a participle: "reading the tokenizer").
    pub(super) fn start(what: &'static str) -> Progress {
        Progress::with(what, ProgressStyle::with_template("{spinner} {msg} {elapsed}").ok())
    }

    /// Begins `what`, in which a language model is fed the tokens that `tokens` counts.
    #[cfg_attr(not(feature = "ort"), allow(dead_code))]
    pub(super) fn with_tokens(what: &'static str, tokens: Arc<AtomicUsize>) -> Progress {
        let count = move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
            // what is drawn is best effort
            let _ = write!(out, "{}", tokens.load(Ordering::Relaxed));
        };
        let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}, {tokens} tokens");
        Progress::with(what, style.ok().map(|style| style.with_key("tokens", count)))
    }

    fn with(what: &'static str, style: Option<ProgressStyle>) -> Progress {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner().with_message(what);
            if let Some(style) = style {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Progress { what, start: Instant::now(), bar }
    }

    /// Ends it and gives the time it took.
    pub(super) fn finish(mut self) -> Duration {
        let elapsed = self.start.elapsed();
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
            if elapsed > Duration::from_secs(1) {
                note(&format!("{} took {elapsed:.1?}", self.what));
            }
        }
        elapsed
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
