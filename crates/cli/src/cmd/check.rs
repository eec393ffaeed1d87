//! `grammata check`: accepts or rejects texts.

use crate::args::examples;
use crate::args::session::Session;
use crate::args::source::{self, Origin, SourceArgs, is_standard_input};
use crate::args::special::{Piece, SpecialArgs};
use crate::args::tokens::TokenizerArgs;
use crate::cmd::explain::ExpectationReport;
use crate::io::errors;
use crate::io::output::{Exit, Failure, Output};
use crate::io::text::{character_at, counted, in_text, json_bytes, line_column, quoted};
use grammata::error::Result;
use grammata::matcher::{Explanation, Matcher};
use serde::Serialize;
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Maximum bytes of a file or of standard input. The bound is needed because the matcher keeps all of them in memory.
const TEXT_BYTES: usize = 256 << 20;
/// Maximum bytes that the matcher accepts or explains in one call.
const CHUNK: usize = 1 << 16;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    source: SourceArgs,
    /// Files to check, `-` for standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    tokenizer: TokenizerArgs,
    /// A text to check; may be repeated
    #[arg(long, value_name = "TEXT", allow_negative_numbers = true)]
    text: Vec<String>,
    #[command(flatten)]
    special: SpecialArgs,
    /// Check that the files in accept/ are accepted and those in reject/ rejected, byte for byte; in the grammar's folder, or FOLDER
    #[arg(long, value_name = "FOLDER", num_args = 0..=1, require_equals = true)]
    examples: Option<Option<PathBuf>>,
    /// A line break at the end of a file counts; by default it is left out where the text is rejected only for it
    #[arg(long)]
    exact: bool,
}

/// A text that was checked, and its verdict.
pub(crate) struct Checked {
    name: String,
    verdict: Verdict,
    /// For an example: whether it should be accepted.
    expected: Option<bool>,
}

/// Whether the grammar accepts a text, and how.
struct Verdict {
    accepted: bool,
    /// Whether the file's last line break was ignored.
    line_end_left_out: bool,
    bytes: usize,
    /// With a tokenizer, for an accepted text: the number of tokens, each found in its mask.
    tokens: Option<usize>,
    rejection: Option<Rejection>,
}

/// Where and why a text is rejected.
struct Rejection {
    explanation: Explanation,
    /// Offset of the rejected byte or special token in the text; the text's length if the text may not end.
    byte: usize,
    /// Whether a token ended the text before this place.
    ended: bool,
    line: usize,
    column: usize,
    /// The special token or the character at this place, or the byte if no character begins there; empty at the end.
    found: Vec<u8>,
}

impl Checked {
    fn is_as_it_should_be(&self) -> bool {
        self.verdict.accepted == self.expected.unwrap_or(true)
    }
}

pub(crate) fn run(mut arguments: Arguments, output: &mut Output) -> Result<Exit, Failure> {
    // with a grammar on the command line, every path names a text
    if arguments.source.expression.is_some()
        && let Some(file) = arguments.source.grammar.take()
    {
        arguments.files.insert(0, file);
    }
    let arguments = &arguments;
    let from_input = arguments.files.iter().filter(|file| is_standard_input(file)).count();
    if from_input + usize::from(arguments.source.is_standard_input()) > 1 {
        return Err(errors::standard_input_twice().into());
    }
    let examples = match &arguments.examples {
        None => Vec::new(),
        Some(folder) => examples::find(folder.as_deref().unwrap_or(arguments.source.path()))?,
    };
    if arguments.files.is_empty() && arguments.text.is_empty() && arguments.examples.is_none() {
        return Err(errors::nothing_to_check().into());
    }
    let session = Session::new(&arguments.source, &arguments.tokenizer, &arguments.source.limits.get())?;
    let mut checker = Checker { arguments, matcher: session.compiled.matcher(), all: Vec::new() };
    for (index, text) in arguments.text.iter().enumerate() {
        let name =
            if arguments.text.len() == 1 { "--text".to_owned() } else { format!("--text {}", index + 1) };
        checker.take(name, text.as_bytes(), false, None, output)?;
    }
    for path in &arguments.files {
        checker.file(path, None, output)?;
    }
    for (path, should_be_accepted) in &examples {
        checker.file(path, Some(*should_be_accepted), output)?;
    }
    let all = checker.all;
    let wrong = all.iter().filter(|checked| !checked.is_as_it_should_be()).count();
    if output.is_json() {
        let accepted = all.iter().filter(|checked| checked.verdict.accepted).count();
        output.report(&Report {
            grammar: &session.origin,
            texts: all.iter().map(TextReport::new).collect(),
            accepted,
            rejected: all.len() - accepted,
            unexpected: wrong,
        })?;
    } else if arguments.examples.is_some() {
        writeln!(output, "{}, {wrong} not as expected", counted(all.len(), "text"))?;
    } else if all.len() > 1 {
        writeln!(output, "{}, {wrong} rejected", counted(all.len(), "text"))?;
    }
    Ok(if wrong == 0 { Exit::Done } else { Exit::Rejected })
}

struct Checker<'a> {
    arguments: &'a Arguments,
    matcher: Matcher,
    all: Vec<Checked>,
}

impl Checker<'_> {
    fn file(&mut self, path: &Path, expected: Option<bool>, output: &mut Output) -> Result<(), Failure> {
        let bytes = source::read(path, TEXT_BYTES)?;
        let name =
            if is_standard_input(path) { "standard input".to_owned() } else { path.display().to_string() };
        // examples are data, so their line breaks count
        let may_leave_line_end = !self.arguments.exact && expected.is_none();
        self.take(name, &bytes, may_leave_line_end, expected, output)
    }

    fn take(
        &mut self,
        name: String,
        bytes: &[u8],
        may_leave_line_end: bool,
        expected: Option<bool>,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let locate = |error| in_text(error, bytes, &name);
        let mut verdict = self.verdict(bytes).map_err(locate)?;
        if let (false, true, Some(shorter)) = (verdict.accepted, may_leave_line_end, without_line_end(bytes))
        {
            let second = self.verdict(shorter).map_err(locate)?;
            if second.accepted {
                verdict = Verdict { line_end_left_out: true, ..second };
            }
        }
        let checked = Checked { name, verdict, expected };
        if !output.is_json() {
            write_checked(&checked, output)?;
        }
        self.all.push(checked);
        Ok(())
    }

    fn verdict(&mut self, bytes: &[u8]) -> Result<Verdict> {
        self.matcher.reset();
        let vocabulary = std::sync::Arc::clone(self.matcher.compiled().vocabulary());
        let (mut tokens, mut rejected) = (0, None);
        for piece in self.arguments.special.pieces(&vocabulary, bytes) {
            let before = self.matcher.byte_count();
            match self.accept(piece)? {
                Taken::Tokens(more) => tokens += more,
                stopped => {
                    rejected = Some((piece, before, matches!(stopped, Taken::Ended)));
                    break;
                }
            }
        }
        let accepted = rejected.is_none() && self.matcher.is_accepting();
        let rejection = match rejected {
            None if accepted => None,
            None => {
                let start = bytes.len();
                let end = Piece { start, bytes: &[], token: None };
                Some(self.rejection(bytes, (end, self.matcher.byte_count(), false))?)
            }
            Some(rejected) => Some(self.rejection(bytes, rejected)?),
        };
        let with_tokens = rejection.is_none() && self.arguments.tokenizer.path().is_some();
        let tokens = with_tokens.then_some(tokens);
        Ok(Verdict { accepted, line_end_left_out: false, bytes: bytes.len(), tokens, rejection })
    }

    /// Accepts a part of a text. If it is rejected, the matcher may have accepted some of it.
    fn accept(&mut self, piece: Piece<'_>) -> Result<Taken> {
        let vocabulary = std::sync::Arc::clone(self.matcher.compiled().vocabulary());
        let tokens = match (piece.token, self.arguments.tokenizer.path()) {
            (Some(token), _) => vec![token],
            (None, Some(_)) => {
                vocabulary.encode_greedy(piece.bytes).ok_or_else(|| errors::not_encodable(piece.bytes))?
            }
            (None, None) => {
                for chunk in piece.bytes.chunks(CHUNK) {
                    if let Some(stopped) = stopped(self.matcher.accept_bytes(chunk))? {
                        return Ok(stopped);
                    }
                }
                return Ok(Taken::Tokens(0));
            }
        };
        for &token in &tokens {
            let is_allowed = self.matcher.mask()?.contains(token);
            if let Some(stopped) = stopped(self.matcher.accept_token(token))? {
                return Ok(stopped);
            }
            if !is_allowed {
                return Ok(Taken::Rejected);
            }
        }
        Ok(Taken::Tokens(tokens.len()))
    }

    /// Explains the rejection of a part of the text. The matcher had accepted `before` bytes at the start of that part.
    fn rejection(
        &mut self,
        bytes: &[u8],
        (piece, before, ended): (Piece<'_>, usize, bool),
    ) -> Result<Rejection> {
        let rest = piece.bytes.get(self.matcher.byte_count() - before..).unwrap_or_default();
        let rest = if piece.token.is_some() || ended { &[] } else { rest.get(..CHUNK).unwrap_or(rest) };
        let explanation = self.matcher.explain(rest)?;
        let byte = piece.start + explanation.position() - before;
        let (line, column) = line_column(bytes, byte);
        let found = match piece.token {
            Some(_) => piece.bytes,
            None => character_at(bytes, byte),
        };
        Ok(Rejection { explanation, byte, ended, line, column, found: found.to_vec() })
    }
}

/// Whether the matcher accepts a part of a text.
enum Taken {
    /// Accepted, with the number of tokens; 0 without a tokenizer, unless `--parse-special` finds special tokens of the
    /// built-in vocabulary.
    Tokens(usize),
    Rejected,
    /// Rejected, because a token ended the text.
    Ended,
}

/// Converts a result of the matcher: `None` if it accepted, the way in which a rejection stopped the text, or any other
/// error.
fn stopped(result: Result<()>) -> Result<Option<Taken>> {
    match result {
        Ok(()) => Ok(None),
        Err(error) if error.code() == "matcher/ended" => Ok(Some(Taken::Ended)),
        Err(error) if error.kind() == grammata::ErrorKind::Rejected => Ok(Some(Taken::Rejected)),
        Err(error) => Err(error),
    }
}

fn without_line_end(bytes: &[u8]) -> Option<&[u8]> {
    let shorter = bytes.strip_suffix(b"\n")?;
    Some(shorter.strip_suffix(b"\r").unwrap_or(shorter))
}

fn write_checked(checked: &Checked, output: &mut Output) -> std::io::Result<()> {
    let Verdict { accepted, line_end_left_out, tokens, ref rejection, .. } = checked.verdict;
    if let Some(false) = checked.expected {
        let standing = if accepted { "accepted, but it must be rejected" } else { "rejected, as expected" };
        return writeln!(output, "{}: {standing}", checked.name);
    }
    let Some(Rejection { explanation, byte, ended, line, column, found }) = rejection else {
        let note = if line_end_left_out { " (without its last line break)" } else { "" };
        let tokens = tokens.map(|n| format!(", {} in their masks", counted(n, "token"))).unwrap_or_default();
        return writeln!(output, "{}: accepted{tokens}{note}", checked.name);
    };
    let but = if checked.expected.is_some() { ", but it must be accepted" } else { "" };
    writeln!(output, "{}: rejected{but}", checked.name)?;
    writeln!(output, "  at: byte {byte}, line {line}, column {column}")?;
    match found.is_empty() {
        false => writeln!(output, "  found: {}", quoted(found))?,
        true => writeln!(output, "  found: the end of the text")?,
    }
    match ended {
        true => writeln!(output, "  expected: the end"),
        false => writeln!(output, "  expected: {}", explanation.expected_text()),
    }
}

/// The report on all texts.
#[derive(Serialize)]
struct Report<'a> {
    grammar: &'a Origin,
    texts: Vec<TextReport<'a>>,
    accepted: usize,
    rejected: usize,
    /// Number of unexpected results: examples with the wrong verdict, and other texts that are rejected.
    unexpected: usize,
}

/// The report on one text.
#[derive(Serialize)]
struct TextReport<'a> {
    name: &'a str,
    accepted: bool,
    bytes: usize,
    line_end_left_out: bool,
    /// For an example only.
    should_be_accepted: Option<bool>,
    /// With a tokenizer, for an accepted text only.
    tokens: Option<usize>,
    rejection: Option<RejectionReport>,
}

/// Where and why a text is rejected.
#[derive(Serialize)]
struct RejectionReport {
    byte: usize,
    line: usize,
    column: usize,
    /// Null at the end of the text.
    found: Option<Value>,
    expected: Vec<ExpectationReport>,
    may_end: bool,
}

impl TextReport<'_> {
    fn new(checked: &Checked) -> TextReport<'_> {
        let verdict = &checked.verdict;
        TextReport {
            name: &checked.name,
            accepted: verdict.accepted,
            bytes: verdict.bytes,
            line_end_left_out: verdict.line_end_left_out,
            should_be_accepted: checked.expected,
            tokens: verdict.tokens,
            rejection: verdict.rejection.as_ref().map(RejectionReport::new),
        }
    }
}

impl RejectionReport {
    fn new(rejection: &Rejection) -> RejectionReport {
        let Rejection { explanation, byte, ended, line, column, found } = rejection;
        let expected = explanation.expected().iter().filter(|_| !ended);
        RejectionReport {
            byte: *byte,
            line: *line,
            column: *column,
            found: (!found.is_empty()).then(|| json_bytes(found)),
            expected: expected.map(ExpectationReport::new).collect(),
            may_end: *ended || explanation.may_end(),
        }
    }
}
