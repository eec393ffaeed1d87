//! `grammata mask`: shows which tokens may follow a prefix.

use crate::args::session::Session;
use crate::args::source::{self, Origin, SourceArgs};
use crate::args::special::SpecialArgs;
use crate::args::tokens::{self, TokenizerArgs};
use crate::io::messages;
use crate::io::output::{Exit, Failure, Output, seconds};
use crate::io::text::{counted, in_text, quoted};
use grammata::error::Result;
use grammata::mask::{Distance, TokenMask};
use grammata::matcher::Matcher;
use serde::Serialize;
use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Number of times that the mask is computed again to measure it.
const REPEATS: usize = 101;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    tokenizer: TokenizerArgs,
    /// The text before the mask; empty by default
    #[arg(long, value_name = "TEXT", conflicts_with = "prefix_file", allow_negative_numbers = true)]
    prefix: Option<String>,
    /// A file with the text before the mask, taken byte for byte
    #[arg(long, value_name = "FILE")]
    prefix_file: Option<PathBuf>,
    #[command(flatten)]
    special: SpecialArgs,
    /// Only tokens after which the text can be completed within N tokens, including the next one
    #[arg(long, value_name = "N")]
    budget: Option<usize>,
    /// The most tokens to list; 0 lists all
    #[arg(long, value_name = "N", default_value_t = 40)]
    limit: usize,
}

/// The report: the tokens that may follow a prefix.
#[derive(Serialize)]
struct Report<'a> {
    grammar: &'a Origin,
    vocabulary: &'a str,
    prefix: Value,
    allowed: usize,
    total: usize,
    end_allowed: bool,
    budget: Option<usize>,
    /// With a budget only.
    distance: Option<DistanceReport>,
    prepare_seconds: f64,
    compile_seconds: f64,
    first_mask_seconds: f64,
    repeated_mask_seconds: f64,
    tokens: Vec<Value>,
    tokens_left_out: usize,
}

/// The known distance to the end. A number is null if no way to the end is known.
#[derive(Serialize)]
struct DistanceReport {
    tokens: Option<usize>,
    bytes: Option<usize>,
    /// Whether both distances are exact: each is the shortest one, or the end is known to be unreachable.
    exact: bool,
}

impl DistanceReport {
    fn new(tokens: Distance, bytes: Distance) -> DistanceReport {
        let is_exact = |distance| matches!(distance, Distance::Exact(_) | Distance::Unreachable);
        let exact = is_exact(tokens) && is_exact(bytes);
        DistanceReport { tokens: tokens.known(), bytes: bytes.known(), exact }
    }
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.source.limits.get();
    let session = Session::new(&arguments.source, &arguments.tokenizer, &limits)?;
    let prefix = match (&arguments.prefix, &arguments.prefix_file) {
        (Some(text), _) => text.clone().into_bytes(),
        (None, Some(path)) => source::read(path, limits.source_bytes)?,
        (None, None) => Vec::new(),
    };
    let vocabulary = session.compiled.vocabulary();
    let mut matcher = session.compiled.matcher();
    let name = arguments.prefix_file.as_deref().map_or("--prefix".to_owned(), source::name_of);
    arguments.special.accept(&mut matcher, &prefix).map_err(|error| in_text(error, &prefix, &name))?;
    let start = Instant::now();
    let mask = mask(&mut matcher, arguments.budget).map_err(|error| in_text(error, &prefix, &name))?;
    let first = start.elapsed();
    let distances = match arguments.budget {
        Some(_) => Some((matcher.distance()?, matcher.distance_in_bytes()?)),
        None => None,
    };
    // within a budget the same mask may take as long again, so it is computed only if its time is written
    let is_timed = output.is_json() || messages::is_verbose();
    let repeated = if is_timed { repeated(&mut matcher, arguments.budget)? } else { Duration::ZERO };
    let end_allowed = matcher.is_accepting();
    let most = if arguments.limit == 0 { usize::MAX } else { arguments.limit };
    let shown: Vec<_> = mask.iter().take(most).collect();
    if output.is_json() {
        output.report(&Report {
            grammar: &session.origin,
            vocabulary: &session.vocabulary_name,
            prefix: crate::io::text::json_bytes(&prefix),
            allowed: mask.len(),
            total: vocabulary.width(),
            end_allowed,
            budget: arguments.budget,
            distance: distances.map(|(tokens, bytes)| DistanceReport::new(tokens, bytes)),
            prepare_seconds: seconds(session.prepare_time),
            compile_seconds: seconds(session.compile_time),
            first_mask_seconds: seconds(first),
            repeated_mask_seconds: seconds(repeated),
            tokens: shown.iter().map(|&id| tokens::json(vocabulary, id)).collect(),
            tokens_left_out: mask.len() - shown.len(),
        })?;
        return Ok(Exit::Done);
    }
    if is_timed {
        messages::note(&format!("the first mask took {first:.1?}, the same mask again {repeated:.1?}"));
    }
    writeln!(output, "grammar     {}", session.origin)?;
    writeln!(output, "vocabulary  {}", session.vocabulary_name)?;
    writeln!(output, "prefix      {} ({})", quoted(&prefix), counted(prefix.len(), "byte"))?;
    writeln!(output, "allowed     {} of {} tokens", mask.len(), vocabulary.width())?;
    if let Some((tokens, bytes)) = distances {
        writeln!(output, "distance    {tokens} tokens, {bytes} bytes")?;
    }
    writeln!(output, "the end     {}", if end_allowed { "is allowed" } else { "is not allowed" })?;
    if !shown.is_empty() {
        writeln!(output, "\n{:>8}  token", "id")?;
    }
    for &id in &shown {
        writeln!(output, "{id:>8}  {}", tokens::show(vocabulary, id))?;
    }
    if shown.len() < mask.len() {
        writeln!(output, "… and {} more (--limit 0 lists all)", mask.len() - shown.len())?;
    }
    Ok(Exit::Done)
}

/// Computes the mask, within the budget if there is one.
fn mask(matcher: &mut Matcher, budget: Option<usize>) -> Result<Arc<TokenMask>> {
    match budget {
        Some(budget) => matcher.mask_within(budget),
        None => matcher.mask(),
    }
}

/// Returns the median of [`REPEATS`] times of computing the same mask again.
fn repeated(matcher: &mut Matcher, budget: Option<usize>) -> Result<Duration> {
    let mut times = Vec::with_capacity(REPEATS);
    for _ in 0..REPEATS {
        let start = Instant::now();
        mask(matcher, budget)?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    Ok(times.get(REPEATS / 2).copied().unwrap_or_default())
}
