//! Extraction of queries from output that a model wrote without a grammar.

use super::{MOST_QUERIES, MOST_WORDS};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// The result of parsing an output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// At most five queries of at most 19 words. If empty, search with the request alone.
    pub queries: Vec<String>,
    /// The other lines that are not empty, in the order in which they were dropped.
    pub dropped: Vec<Dropped>,
}

/// A line that is not among the queries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropped {
    /// The line, trimmed.
    pub line: String,
    /// The reason why `line` is not among the queries.
    pub reason: Reason,
}

/// The reason why a line is not among the queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The line belongs to, or follows, an invented turn of the dialogue.
    Dialogue,
    /// The line opens or closes a code block.
    Fence,
    /// The line has no list marker, but other lines do.
    NoMarker,
    /// The line introduces the list of queries.
    Introduction,
    /// The line closes the list of queries.
    Closing,
    /// The line contains no letter.
    NoLetter,
    /// An earlier query is equal, ignoring case.
    Repeated,
    /// The line is a query, but there were already five queries.
    Surplus,
}

/// Parses queries, one per line.
///
/// Removes a leading `Answer:`, and cuts the output at a line that begins with `Human:` or `Answer:`. If any line has a
/// list marker (a dash, a bullet, a number or a letter), only lines with a marker count; otherwise phrases that
/// introduce or close the list are dropped. Markers, `**`, backticks and outer quotes are removed, and each query is
/// cut to 19 words. Only the first five distinct queries are kept.
pub fn parse(output: &str) -> Parsed {
    parse_lines(output).0
}

/// Parses queries like [`parse`]. Also returns the trimmed line of each query.
pub(super) fn parse_lines(output: &str) -> (Parsed, Vec<&str>) {
    let mut parsed = Parsed::default();
    let lines = parsed.lines(output);
    let lines = if lines.iter().any(|line| without_marker(line).is_some()) {
        let (marked, others) = lines.into_iter().partition(|line| without_marker(line).is_some());
        parsed.drop_all(others, Reason::NoMarker);
        marked
    } else {
        parsed.without_phrases(lines)
    };
    let lines = parsed.add_all(lines);
    (parsed, lines)
}

/// Parses texts that are each a query, such as the texts of a list: cleans the texts like the lines of [`parse`], and
/// keeps the first five distinct ones.
pub(super) fn parse_texts<'t>(texts: impl IntoIterator<Item = &'t str>) -> Parsed {
    let mut parsed = Parsed::default();
    parsed.add_all(texts.into_iter().map(str::trim).collect());
    parsed
}

impl Parsed {
    /// Adds the query of each line, if the query has a letter, is new and is among the first five. Returns the lines of
    /// the added queries.
    fn add_all<'t>(&mut self, lines: Vec<&'t str>) -> Vec<&'t str> {
        let mut seen = HashSet::new();
        let mut kept = Vec::new();
        for line in lines {
            let query = clean(line);
            let reason = if !query.chars().any(char::is_alphabetic) {
                Reason::NoLetter
            } else if !seen.insert(query.to_lowercase()) {
                Reason::Repeated
            } else if self.queries.len() == MOST_QUERIES {
                Reason::Surplus
            } else {
                self.queries.push(query);
                kept.push(line);
                continue;
            };
            self.drop_all(vec![line], reason);
        }
        kept
    }

    fn drop_all(&mut self, lines: Vec<&str>, reason: Reason) {
        self.dropped.extend(lines.into_iter().map(|line| Dropped { line: line.to_owned(), reason }));
    }

    /// Returns the trimmed lines of the answer, without empty lines, fences and the text after the answer.
    fn lines<'t>(&mut self, output: &'t str) -> Vec<&'t str> {
        let output = output.trim_start();
        let output = output.strip_prefix("Answer:").unwrap_or(output);
        let all: Vec<&str> = output.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let is_turn = |line: &&str| line.starts_with("Human:") || line.starts_with("Answer:");
        let (answer, after) = all.split_at(all.iter().position(is_turn).unwrap_or(all.len()));
        self.drop_all(after.to_vec(), Reason::Dialogue);
        let (fences, lines) = answer.iter().partition(|line| line.starts_with("```"));
        self.drop_all(fences, Reason::Fence);
        lines
    }

    /// Returns the lines without the lines that introduce or close the list.
    fn without_phrases<'t>(&mut self, lines: Vec<&'t str>) -> Vec<&'t str> {
        let first = lines.iter().position(|line| !introduces(line)).unwrap_or(lines.len());
        let (introduction, rest) = lines.split_at(first);
        let last = rest.iter().rposition(|line| !closes(line)).map_or(0, |index| index + 1);
        let (list, closing) = rest.split_at(last);
        self.drop_all(introduction.to_vec(), Reason::Introduction);
        self.drop_all(closing.to_vec(), Reason::Closing);
        list.to_vec()
    }
}

fn introduces(line: &str) -> bool {
    const PHRASES: [&str; 6] = ["here is", "here are", "i can", "i will", "i'd", "to help"];
    const EXCLAMATIONS: [&str; 6] = ["sure", "certainly", "of course", "okay", "ok", "great"];
    let line = line.to_lowercase();
    let exclaims =
        |word: &&str| line.strip_prefix(*word).is_some_and(|rest| rest.starts_with([',', '.', '!', ':']));
    line.ends_with(':')
        || PHRASES.iter().any(|phrase| begins_with(&line, phrase))
        || EXCLAMATIONS.iter().any(exclaims)
}

fn closes(line: &str) -> bool {
    const PHRASES: [&str; 11] = [
        "these api",
        "these apis",
        "these tool",
        "these tools",
        "this api",
        "this apis",
        "this tool",
        "this tools",
        "i hope",
        "let me know",
        "note that",
    ];
    let line = line.to_lowercase();
    line.starts_with("note:") || PHRASES.iter().any(|phrase| begins_with(&line, phrase))
}

/// Returns whether a line begins with a phrase that ends at a word boundary.
fn begins_with(line: &str, phrase: &str) -> bool {
    line.strip_prefix(phrase).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

/// Returns the text after a list marker; `None` if the line has no marker. A marker is a dash or bullet, a single star,
/// or a number of at most two digits or a letter, with punctuation.
fn without_marker(line: &str) -> Option<&str> {
    if let Some(rest) = line.strip_prefix(['-', '•', '–', '—']) {
        return Some(rest);
    }
    if let Some(rest) = line.strip_prefix('*') {
        return (!rest.starts_with('*')).then_some(rest);
    }
    let numbered = line.strip_prefix('(').unwrap_or(line);
    let rest = numbered.trim_start_matches(|c: char| c.is_ascii_digit());
    if (1..=2).contains(&(numbered.len() - rest.len())) {
        // not the decimal point of 2.5
        let rest = rest.strip_prefix(['.', ')', ':'])?;
        return rest.starts_with(|c: char| !c.is_ascii_digit()).then_some(rest);
    }
    let lettered = line.strip_prefix(|c: char| c.is_ascii_alphabetic())?.strip_prefix(['.', ')'])?;
    lettered.starts_with(char::is_whitespace).then_some(lettered)
}

/// Returns the query of a line: without marker, backticks, `**` and outer quotes, cut to 19 words.
fn clean(line: &str) -> String {
    const QUOTES: [char; 6] = ['"', '\'', '“', '”', '‘', '’'];
    let line = without_marker(line).unwrap_or(line).replace('`', "").replace("**", "");
    let line = line.trim();
    let inner = line.strip_prefix(QUOTES).and_then(|rest| rest.strip_suffix(QUOTES));
    inner.unwrap_or(line).split_whitespace().take(MOST_WORDS).collect::<Vec<_>>().join(" ")
}
