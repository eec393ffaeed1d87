//! Extraction of queries from a model's output.

use super::parse::parse_lines;
use super::{Dropped, Format, Mode, Reason};
use grammata::vocabulary::{TokenId, Vocabulary};
use grammata_decode::{FinishReason, Generation};
use serde::Deserialize;
use std::ops::Range;

/// A query that a model wrote.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Written {
    /// The text.
    pub text: String,
    /// The only category in which the query searches; `None` for all categories.
    pub category: Option<String>,
    /// The sum of the log-probabilities of the tokens that begin within the query's text or one byte before it (with
    /// the preceding line end or quote). `None` if there are none, or if their log-probabilities are not known.
    pub log_probability: Option<f64>,
    /// The number of the query's tokens; 0 if the query does not occur literally in the output, or if a chat model
    /// wrote it.
    pub tokens: usize,
}

/// The output of a model for a request, and its queries.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// The unchanged output.
    pub raw: String,
    /// The queries. If empty, the request alone is searched.
    pub queries: Vec<Written>,
    /// Lines of the output that are not in `queries`, with the reasons.
    pub dropped: Vec<Dropped>,
    /// The text that the end of the output cut off: the unfinished line or, in JSON, all after the last complete query.
    /// `None` if nothing was cut off.
    pub cut: Option<String>,
    /// The number of generated tokens.
    pub tokens: usize,
    /// The log-probability of the whole text, if known.
    pub log_probability: Option<f64>,
}

/// Extracts the queries from an output in a format. Raw output is [parsed](super::parse). Lines constrained by a
/// grammar are split at line ends; of lines that differ only in case, only the first is a query. In JSON, the members
/// of `queries` are the queries; there are none if the JSON is invalid. In the mode `reasoned`, a first line `Needs:`
/// is left out, except in JSON. If a limit on tokens or on the context ended the output, or if the output was
/// abandoned, the unfinished line (in JSON, all after the last complete query) is cut off.
pub fn read(generation: &Generation, format: Format, mode: Mode, vocabulary: &Vocabulary) -> Draft {
    let is_cut = matches!(
        generation.finish,
        FinishReason::TokenLimit { .. } | FinishReason::ContextLimit { .. } | FinishReason::Abandoned
    );
    let scored = !generation.log_probabilities.is_empty();
    let mut draft = Draft {
        raw: generation.text.clone(),
        tokens: generation.tokens.len(),
        log_probability: scored.then(|| generation.log_probability()),
        ..Draft::default()
    };
    let places = match format {
        Format::Json => draft.read_json(is_cut),
        _ => draft.read_lines(format, mode, is_cut),
    };
    let lines = LineTokens::of(generation, vocabulary);
    for (query, place) in draft.queries.iter_mut().zip(places) {
        if let Some(place) = place {
            lines.score(query, &place);
        }
    }
    draft
}

#[derive(Deserialize)]
struct Json {
    queries: Vec<JsonQuery>,
}

#[derive(Deserialize)]
struct JsonQuery {
    description: String,
    category: Option<String>,
}

/// The place of a query's text in the output; `None` if the output spells the text differently.
type Spelled = Option<Range<usize>>;

impl Draft {
    /// Reads the queries of lines. Returns the place of each.
    fn read_lines(&mut self, format: Format, mode: Mode, is_cut: bool) -> Vec<Spelled> {
        let raw = std::mem::take(&mut self.raw);
        let (mut text, mut cut) = (raw.as_str(), None);
        if is_cut {
            let (whole, rest) = raw.rsplit_once('\n').unwrap_or(("", &raw));
            (text, cut) = (whole, (!rest.is_empty()).then(|| rest.to_owned()));
        }
        if mode == Mode::Reasoned
            && let Some(rest) = text.trim_start().strip_prefix("Needs:")
        {
            text = rest.split_once('\n').map_or("", |(_, lines)| lines);
        }
        let (queries, lines, dropped) = match format {
            Format::Raw => {
                let (parsed, lines) = parse_lines(text);
                (parsed.queries, lines, parsed.dropped)
            }
            _ => {
                let (lines, dropped) = without_repeats(text);
                (lines.iter().map(|line| (*line).to_owned()).collect(), lines, dropped)
            }
        };
        let place = |(query, line): (&String, &str)| {
            // the line is a part of the output
            let start = line.as_ptr().addr() - raw.as_ptr().addr() + line.find(query.as_str())?;
            Some(start..start + query.len())
        };
        let places = queries.iter().zip(lines).map(place).collect();
        self.queries = queries.into_iter().map(|text| Written { text, ..Written::default() }).collect();
        (self.raw, self.cut, self.dropped) = (raw, cut, dropped);
        places
    }

    /// Reads the queries of JSON. Returns the place of each query, including the quotes.
    fn read_json(&mut self, is_cut: bool) -> Vec<Spelled> {
        let whole = if is_cut { complete(&self.raw) } else { None };
        if let Some(length) = whole {
            self.cut = self.raw.get(length..).map(str::to_owned);
        } else if is_cut {
            self.cut = Some(self.raw.clone());
        }
        let text = match whole {
            Some(length) => format!("{}]}}", self.raw.get(..length).unwrap_or_default()),
            None => self.raw.clone(),
        };
        let queries = serde_json::from_str::<Json>(&text).map(|json| json.queries).unwrap_or_default();
        let written = |query: JsonQuery| Written {
            text: query.description,
            category: query.category,
            ..Written::default()
        };
        self.queries = queries.into_iter().map(written).collect();
        let key = "\"description\"";
        let mut values = self.raw.match_indices(key).filter_map(|(at, _)| {
            // another member may have the text of the key as its value
            Some(self.raw[at + key.len()..].trim_start().strip_prefix(':')?.trim_start())
        });
        let place = |query: &Written| {
            let value = values.next()?;
            let text = serde_json::to_string(&query.text).ok().filter(|text| value.starts_with(text))?;
            let start = self.raw.len() - value.len();
            Some(start..start + text.len())
        };
        self.queries.iter().map(place).collect()
    }
}

/// Returns the lines of an output of a grammar; of lines that differ only in case, only the first. Also returns the
/// dropped lines.
fn without_repeats(text: &str) -> (Vec<&str>, Vec<Dropped>) {
    let (mut queries, mut dropped): (Vec<&str>, Vec<Dropped>) = Default::default();
    for line in text.split('\n').filter(|line| !line.is_empty()) {
        if queries.iter().any(|query| query.to_lowercase() == line.to_lowercase()) {
            dropped.push(Dropped { line: line.to_owned(), reason: Reason::Repeated });
        } else {
            queries.push(line);
        }
    }
    (queries, dropped)
}

/// Returns the length of the longest prefix of a JSON text that ends after a query; `None` if no such prefix ends at
/// one of the last 64 closing braces.
fn complete(raw: &str) -> Option<usize> {
    let ends = raw.char_indices().rev().filter(|&(_, c)| c == '}').map(|(at, _)| at + 1);
    // a brace may also be part of a description
    ends.take(64).find(|&end| {
        let text = format!("{}]}}", raw.get(..end).unwrap_or_default());
        serde_json::from_str::<Json>(&text).is_ok()
    })
}

/// The start of each token in an output, with the token's log-probability.
struct LineTokens {
    starts: Vec<(usize, Option<f64>)>,
}

impl LineTokens {
    fn of(generation: &Generation, vocabulary: &Vocabulary) -> LineTokens {
        let mut at = 0;
        let starts = generation.tokens.iter().enumerate().map(|(number, &token)| {
            let start = at;
            at += vocabulary.bytes(TokenId::new(token)).map_or(0, <[u8]>::len);
            (start, generation.log_probabilities.get(number).copied())
        });
        LineTokens { starts: starts.collect() }
    }

    /// Counts the tokens that begin within a query's text, and adds up their log-probabilities. A token that begins one
    /// byte before, with the preceding line end or quote, belongs to the query.
    fn score(&self, query: &mut Written, place: &Range<usize>) {
        let place = place.start.saturating_sub(1)..place.end;
        let within = self.starts.iter().filter(|(at, _)| place.contains(at));
        let within: Vec<Option<f64>> = within.map(|&(_, log_probability)| log_probability).collect();
        query.tokens = within.len();
        query.log_probability = if within.is_empty() { None } else { within.into_iter().sum() };
    }
}
