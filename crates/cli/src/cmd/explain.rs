//! `grammata explain`: what a grammar expects at a place.

use crate::args::session::Session;
use crate::args::source::{self, Origin, SourceArgs};
use crate::args::special::{Piece, SpecialArgs};
use crate::args::tokens::{self, TokenizerArgs};
use crate::io::errors;
use crate::io::output::{Exit, Failure, Output};
use crate::io::text::{character_at, found_at, hex, in_text, json_bytes, line_column, quoted};
use grammata::error::{ErrorKind, Result};
use grammata::matcher::{Explanation, Matcher};
use grammata::vocabulary::TokenId;
use serde::Serialize;
use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    tokenizer: TokenizerArgs,
    #[command(flatten)]
    given: Text,
    #[command(flatten)]
    special: SpecialArgs,
    /// A token to explain after the text
    #[arg(long, value_name = "ID")]
    token: Option<u32>,
}

/// Where the text is from.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct Text {
    /// The text to explain
    #[arg(long, value_name = "TEXT", allow_negative_numbers = true)]
    text: Option<String>,
    /// A file with the text to explain, taken byte for byte
    #[arg(long, value_name = "FILE")]
    text_file: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.source.limits.get();
    let session = Session::new(&arguments.source, &arguments.tokenizer, &limits)?;
    let text = match (&arguments.given.text, &arguments.given.text_file) {
        (_, Some(path)) => source::read(path, limits.source_bytes)?,
        (text, None) => text.clone().unwrap_or_default().into_bytes(),
    };
    let token = arguments.token.map(TokenId::new);
    if let Some(token) = token.filter(|token| token.index() >= session.compiled.vocabulary().width()) {
        return Err(errors::no_such_token(token.get(), session.compiled.vocabulary().width()).into());
    }
    let mut matcher = session.compiled.matcher();
    let name = arguments.given.text_file.as_deref().map_or("--text".to_owned(), source::name_of);
    let pieces = arguments.special.pieces(session.compiled.vocabulary(), &text);
    // explains the token if there is one, otherwise the text after the last special token
    let start = match (token, pieces.last()) {
        (Some(_), _) => text.len(),
        (None, Some(Piece { token: None, start, .. })) => *start,
        (None, _) => text.len(),
    };
    let (before, rest) = text.split_at(start);
    arguments.special.accept(&mut matcher, before).map_err(|error| in_text(error, &text, &name))?;
    let accepted = matcher.byte_count();
    let explanation = match token {
        None => matcher.explain(rest)?,
        Some(token) => matcher.explain_token(token)?,
    };
    let rest = rest.to_vec();
    // special tokens have names in the text, but no bytes in the matcher
    let at = start + explanation.position() - accepted;
    // the mask decides about a token, because a token may also end the text
    let (allowed, whole) = match token {
        None => (explanation.is_viable(), text),
        Some(token) => {
            let bytes = session.compiled.vocabulary().bytes(token).unwrap_or_default();
            (matcher.mask()?.contains(token), [text.as_slice(), bytes].concat())
        }
    };
    let forced = forced(&matcher, &explanation, (&rest, token))?;
    if output.is_json() {
        let (line, column) = line_column(&whole, at);
        let token = token.map(|token| tokens::json(session.compiled.vocabulary(), token));
        output.report(&Report {
            grammar: &session.origin,
            viable: allowed,
            may_end: explanation.may_end(),
            byte: at,
            line,
            column,
            found: explanation.found().map(|_| json_bytes(character_at(&whole, at))),
            token,
            expected: explanation.expected().iter().map(ExpectationReport::new).collect(),
            forced: json_bytes(&forced),
        })?;
    } else {
        if let Some(token) = token {
            let standing = if allowed { "allowed" } else { "not allowed" };
            let shown = tokens::show(session.compiled.vocabulary(), token);
            writeln!(output, "token {token}: {shown}: {standing}")?;
        }
        write_explanation(output, &explanation, &whole, at)?;
        if !forced.is_empty() {
            writeln!(output, "every completion begins with {}", quoted(&forced))?;
        }
    }
    Ok(if allowed { Exit::Done } else { Exit::Rejected })
}

/// Returns the bytes with which every completion begins after `rest`, or after the token if there is one. The matcher
/// has accepted the text before. Empty if the explanation is not viable, or if no byte is forced.
fn forced(
    matcher: &Matcher,
    explanation: &Explanation,
    (rest, token): (&[u8], Option<TokenId>),
) -> Result<Vec<u8>> {
    if !explanation.is_viable() {
        return Ok(Vec::new());
    }
    let mut ahead = matcher.fork();
    match token {
        None => ahead.accept_bytes(rest)?,
        Some(token) => match ahead.accept_token(token) {
            // the token was explained as the end of the text
            Err(error) if error.kind() == ErrorKind::Rejected => {}
            accepted => accepted?,
        },
    }
    ahead.forced_bytes()
}

/// The report: what the grammar expects after a text, as JSON.
#[derive(Serialize)]
struct Report<'a> {
    grammar: &'a Origin,
    viable: bool,
    may_end: bool,
    byte: usize,
    line: usize,
    column: usize,
    /// Null if the whole text is viable.
    found: Option<Value>,
    token: Option<Value>,
    expected: Vec<ExpectationReport>,
    forced: Value,
}

/// What one rule expects at a place, in JSON.
#[derive(Serialize)]
pub(crate) struct ExpectationReport {
    rule: String,
    label: Option<String>,
    /// The first and the last byte of each range, in hexadecimal digits.
    byte_ranges: Vec<[String; 2]>,
    tokens: Vec<String>,
}

impl ExpectationReport {
    pub(crate) fn new(expectation: &grammata::matcher::Expectation) -> ExpectationReport {
        ExpectationReport {
            rule: expectation.rule.to_string(),
            label: expectation.label.as_ref().map(ToString::to_string),
            byte_ranges: expectation.bytes.ranges().map(|(low, high)| [hex(&[low]), hex(&[high])]).collect(),
            tokens: expectation.terminals.iter().map(ToString::to_string).collect(),
        }
    }
}

fn write_explanation(
    output: &mut Output,
    explanation: &Explanation,
    whole: &[u8],
    at: usize,
) -> std::io::Result<()> {
    let (line, column) = line_column(whole, at);
    let standing = match (explanation.found(), explanation.may_end()) {
        (Some(_), _) => "the text leaves the grammar",
        (None, true) => "the text is a word of the grammar",
        (None, false) => "the text is a prefix of a word",
    };
    writeln!(output, "{standing}")?;
    writeln!(output, "  at: byte {}, line {line}, column {column}", at)?;
    if !explanation.accepted_tail().is_empty() {
        writeln!(output, "  after: {}", quoted(explanation.accepted_tail()))?;
    }
    if explanation.found().is_some() {
        writeln!(output, "  found: {}", found_at(whole, at))?;
    }
    for (index, expectation) in explanation.expected().iter().enumerate() {
        writeln!(output, "  {} {expectation}", if index == 0 { "expected:" } else { "      or:" })?;
    }
    match (explanation.may_end(), explanation.expected().is_empty()) {
        (true, true) => writeln!(output, "  expected: the end"),
        (true, false) => writeln!(output, "        or: the end"),
        (false, _) => Ok(()),
    }
}
