//! Writes errors, warnings, notes and progress to standard error. A failure to write there never fails a command.
//!
//! No text of input reaches standard error with control characters: diagnostics have none, notes are escaped, and lines
//! of summaries and dialogues keep only their line ends.

use crate::io::report::{DiagnosticReport, translated};
use clap::builder::styling::{AnsiColor, Style};
use grammata::diagnostic::{Diagnostic, visible, visible_lines};
use grammata::error::{CUT, Error};
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How much is written to standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Verbosity {
    /// Errors only.
    Quiet,
    #[default]
    Normal,
    /// Also the time of each stage.
    Verbose,
}

/// The settings of one run of the program, and the diagnostics so far.
#[derive(Debug, Default)]
struct State {
    verbosity: Verbosity,
    diagnostics: Vec<DiagnosticReport>,
    is_truncated: bool,
}

// a global, because warnings are shown by functions far below the command that reports them
static STATE: Mutex<State> =
    Mutex::new(State { verbosity: Verbosity::Normal, diagnostics: Vec::new(), is_truncated: false });

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Resets the state for a new run of the program.
pub(crate) fn begin() {
    *state() = State::default();
}

pub(crate) fn set_verbosity(verbosity: Verbosity) {
    state().verbosity = verbosity;
}

fn verbosity() -> Verbosity {
    state().verbosity
}

/// Takes the diagnostics of the run for its JSON object, and whether they are incomplete because reading stopped early.
pub(crate) fn collected() -> (Vec<DiagnosticReport>, bool) {
    let mut state = state();
    (std::mem::take(&mut state.diagnostics), state.is_truncated)
}

/// Records a diagnostic for the JSON object, without writing it.
pub(crate) fn collect(severity: &'static str, diagnostic: &Diagnostic) {
    state().diagnostics.push(DiagnosticReport::new(severity, diagnostic));
}

fn line(color: AnsiColor, word: &str, rest: &str) {
    let style = Style::new().bold().fg_color(Some(color.into()));
    // colours are dropped where they are not wanted; an error is ignored, because it cannot be reported anywhere
    let _ = writeln!(anstream::stderr().lock(), "{style}{word}{style:#}{rest}");
}

/// Records and writes the diagnostics of an error.
pub(crate) fn error(error: &Error) {
    error.diagnostics().for_each(|diagnostic| finding("error", diagnostic));
    if error.is_cut() {
        state().is_truncated = true;
        note(CUT);
    }
}

/// Records a warning, and writes it unless the run is quiet.
pub(crate) fn warning(diagnostic: &Diagnostic) {
    finding("warning", diagnostic);
}

/// Records a diagnostic with this severity (`error`, `warning` or `note`) and writes it. Quiet runs write errors only.
pub(crate) fn finding(severity: &'static str, diagnostic: &Diagnostic) {
    collect(severity, diagnostic);
    show(severity, diagnostic);
}

/// Writes a diagnostic without recording it. Quiet runs write errors only.
pub(crate) fn show(severity: &str, diagnostic: &Diagnostic) {
    let color = match severity {
        "error" => AnsiColor::Red,
        _ if verbosity() == Verbosity::Quiet => return,
        "warning" => AnsiColor::Yellow,
        _ => AnsiColor::Cyan,
    };
    line(color, severity, &translated(diagnostic).to_string());
}

/// Writes a note of one line, with control characters escaped, unless the run is quiet.
pub(crate) fn note(text: &str) {
    if verbosity() != Verbosity::Quiet {
        line(AnsiColor::Cyan, "note", &format!(": {}", visible(text)));
    }
}

/// Whether the run also writes how long its stages took.
pub(crate) fn is_verbose() -> bool {
    verbosity() == Verbosity::Verbose
}

/// Writes a line of a summary, unless the run is quiet.
pub fn plain(text: &str) {
    if verbosity() != Verbosity::Quiet {
        say(text);
    }
}

/// Writes a line of a dialogue, also in a quiet run.
pub(crate) fn say(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{}", visible_lines(text));
}

/// Shows on a terminal that a stage is in progress. At the end it notes the time of a stage that took more than a
/// second on a terminal, and with `--verbose` of every stage.
pub struct Progress {
    what: &'static str,
    start: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Begins a stage, named by a participle such as "reading the tokenizer".
    pub(crate) fn start(what: &'static str) -> Progress {
        Progress::with(what, ProgressStyle::with_template("{spinner} {msg} {elapsed}").ok())
    }

    /// Begins a stage that shows the number of tokens a language model was fed, which `tokens` counts.
    #[cfg_attr(not(feature = "ort"), allow(dead_code))]
    pub(crate) fn with_tokens(what: &'static str, tokens: Arc<AtomicUsize>) -> Progress {
        let count = move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
            // a failure to draw is ignored
            let _ = write!(out, "{}", tokens.load(Ordering::Relaxed));
        };
        let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}, {tokens} tokens");
        Progress::with(what, style.ok().map(|style| style.with_key("tokens", count)))
    }

    /// Begins a stage of `total` items, which may be done in parallel. [`advance`](Progress::advance) counts them.
    pub fn with_total(what: &'static str, total: u64) -> Progress {
        let style = ProgressStyle::with_template("{spinner} {msg} {pos} of {len}, {elapsed}");
        let progress = Progress::with(what, style.ok());
        if let Some(bar) = &progress.bar {
            bar.set_length(total);
        }
        progress
    }

    /// Counts an item as done.
    pub fn advance(&self) {
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
    }

    fn with(what: &'static str, style: Option<ProgressStyle>) -> Progress {
        let is_shown = std::io::stderr().is_terminal() && verbosity() != Verbosity::Quiet;
        let bar = is_shown.then(|| {
            let bar = ProgressBar::new_spinner().with_message(what);
            if let Some(style) = style {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Progress { what, start: Instant::now(), bar }
    }

    /// Ends the stage and returns its time.
    pub fn finish(mut self) -> Duration {
        let elapsed = self.start.elapsed();
        let is_long = self.bar.is_some() && elapsed > Duration::from_secs(1);
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        if is_long || is_verbose() {
            note(&format!("{} took {elapsed:.1?}", self.what));
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
