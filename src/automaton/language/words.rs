//! The words of a language: their number, and the words themselves.
//!
//! Configurations are deterministic, so each word is visited once however many derivations it has. Dead configurations
//! are never visited, so every path leads to a word, unless it runs out of names that must differ. The configurations
//! form a [transition system](crate::transitions) whose labels are sets of letters: bytes and token terminals.

use super::configurations::Configurations;
use crate::automaton::program::automaton::Automaton;
use crate::automaton::program::ids::{StateId, TerminalId};
use crate::automaton::run::lazy::Lazy;
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind, Result};
use crate::grammar::{Expression, Grammar};
use crate::limits::LimitKind;
use crate::transitions::{Counts, List, TransitionSystem};
use crate::work::Budget;

pub use crate::automaton::program::letter::Letter;
pub use crate::transitions::Count;

/// Counts the words of an automaton's language exactly. A token terminal counts as one letter regardless of its tokens.
/// A language is infinite if a configuration recurs on the path to a word, or if a construct nests in itself.
///
/// # Errors
/// `automaton/words-undecided` if a limit (`words_work`, `cache_bytes`, `lockstep_search`) is reached before the answer
/// is known: the language is too large, or infinite through nesting inside an intersection. Errors of deferred
/// lowering.
pub fn count(automaton: &Automaton) -> Result<Count> {
    count_within(automaton, &Budget::of_words(automaton.limits())).map_err(|error| match error.kind() {
        ErrorKind::Limit => undecided(&error),
        _ => error,
    })
}

/// Counts words, with the budget for each of two counts: with names of objects that may be equal, and without.
fn count_within(automaton: &Automaton, budget: &Budget) -> Result<Count> {
    let count = count_words(&mut budgeted(automaton, budget)?)?;
    if count == Count::Infinite || !automaton.has_names() {
        // duplicate names cannot make a language infinite: lists end when no names are left
        return Ok(count);
    }
    count_words(&mut budgeted(automaton, budget)?.following_names())
}

/// Counts the words from a start state, without the empty word. Spends the given budget. Names of objects may be equal.
pub(in crate::automaton) fn count_from(
    automaton: &Automaton,
    start: StateId,
    budget: &Budget,
) -> Result<Count> {
    let mut configurations = Configurations::new(automaton)?;
    configurations.tables.work = budget.clone();
    configurations.start.configuration =
        Lazy::new(automaton, &mut configurations.tables).start_of(Some(start), false)?;
    let count = count_words(&mut configurations);
    budget.settle(&configurations.tables.work);
    count
}

/// Configurations with a budget of work.
pub(super) fn budgeted<'a>(automaton: &'a Automaton, budget: &Budget) -> Result<Configurations<'a>> {
    let mut configurations = Configurations::new(automaton)?;
    configurations.tables.work = budget.clone();
    Ok(configurations)
}

fn count_words(configurations: &mut Configurations<'_>) -> Result<Count> {
    let start = configurations.start();
    Counts::default().count(configurations, &start)
}

/// A token terminal in the notation in which its grammar is displayed; empty if the expression is not a token terminal.
pub fn terminal_text(grammar: &Grammar, terminal: TerminalId) -> String {
    match grammar.expression(terminal.expression()) {
        Expression::Token(terminal) => terminal.to_string(),
        _ => String::new(),
    }
}

/// Lists the words of an automaton's language. A finite language is listed in order of bytes. A language that is
/// infinite, or takes more than a quarter of `words_work` to count, is listed by length, and words of equal length in
/// order of bytes.
///
/// # Errors
/// Limits: `cache_bytes` and `lockstep_search`; errors of deferred lowering. Each item may also be an error of deferred
/// lowering, or of the limits `words_work` (from one word to the next), `cache_bytes` and `lockstep_search`.
pub fn enumerate(automaton: &Automaton) -> Result<Words<'_>> {
    let is_finite = match count_within(automaton, &Budget::of_counting(automaton.limits())) {
        Ok(count) => count != Count::Infinite,
        // a language that is too large to count can still be listed by length
        Err(error) if error.kind() == ErrorKind::Limit => false,
        Err(error) => return Err(error),
    };
    let configurations = budgeted(automaton, &Budget::of_words(automaton.limits()))?.following_names();
    Ok(Words { configurations, list: is_finite.then(List::depth_first), has_failed: false })
}

fn undecided(cause: &Error) -> Error {
    let limit = cause.limit().map_or("words_work", LimitKind::name);
    let diagnostic = cause.diagnostic();
    let found =
        [Some(diagnostic.message()), diagnostic.found_text()].into_iter().flatten().collect::<Vec<_>>();
    Error::new(
        ErrorKind::Limit,
        Diagnostic::new("automaton/words-undecided", "whether the language is finite was not found out")
            .limit(cause.limit())
            .found(found.join(": "))
            .allowed("languages with a finite number of configurations, within the limits")
            .help(format!(
                "nesting without bound makes a language infinite: bound it, bound repeats more narrowly, or raise \
                 the limit (`Limits::{limit}`)"
            )),
    )
}

/// An iterator over the words of a language; created by [`enumerate`].
pub struct Words<'a> {
    configurations: Configurations<'a>,
    /// `None` until the length of a shortest word of an infinite language is known.
    list: Option<List<Configurations<'a>>>,
    has_failed: bool,
}

impl Words<'_> {
    fn advance(&mut self) -> Result<Option<Vec<Letter>>> {
        if self.list.is_none() {
            let Some(length) = self.configurations.shortest()? else { return Ok(None) };
            self.list = Some(List::by_length(length));
        }
        match &mut self.list {
            Some(list) => list.next(&mut self.configurations),
            None => Ok(None),
        }
    }
}

impl Iterator for Words<'_> {
    type Item = Result<Vec<Letter>>;

    fn next(&mut self) -> Option<Result<Vec<Letter>>> {
        if self.has_failed {
            return None;
        }
        self.configurations.tables.work = Budget::of_words(self.configurations.automaton.limits());
        let word = self.advance().transpose();
        self.has_failed = matches!(word, Some(Err(_)));
        word
    }
}
