//! `grammata mask`: which tokens may come after a prefix.

use super::output::{Exit, Failure, Output};
use super::session::Session;
use super::source::{self, SourceArgs};
use super::special::SpecialArgs;
use super::text::{counted, in_text, quoted};
use super::tokens::{self, TokenizerArgs};
use grammata::error::Result;
use grammata::matcher::Matcher;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Times the mask is asked for again.
const REPEATS: usize = 101;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
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
    /// Only tokens after which the text can be complete within N tokens, the next one among them
    #[arg(long, value_name = "N")]
    budget: Option<usize>,
    /// The most tokens to list; 0 lists all
    #[arg(long, value_name = "N", default_value_t = 40)]
    limit: usize,
    /// Write one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
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
    let mask = match arguments.budget {
        Some(budget) => matcher.mask_within(budget).map_err(|error| in_text(error, &prefix, &name))?,
        None => matcher.mask()?,
    };
    let first = start.elapsed();
    let distances = match arguments.budget {
        Some(_) => Some((matcher.distance()?, matcher.distance_in_bytes()?)),
        None => None,
    };
    let repeated = repeated(&mut matcher)?;
    let end_allowed = matcher.is_accepting();
    let most = if arguments.limit == 0 { usize::MAX } else { arguments.limit };
    let shown: Vec<_> = mask.iter().take(most).collect();
    if arguments.json {
        let mut value = json!({
            "grammar": session.grammar_name,
            "vocabulary": session.vocabulary_name,
            "prefix": super::text::json_bytes(&prefix),
            "allowed": mask.len(),
            "total": vocabulary.width(),
            "end_allowed": end_allowed,
            "prepare_ns": nanoseconds(session.prepare_time),
            "compile_ns": nanoseconds(session.compile_time),
            "first_mask_ns": nanoseconds(first),
            "repeated_mask_ns": nanoseconds(repeated),
            "tokens": shown.iter().map(|&id| tokens::json(vocabulary, id)).collect::<Vec<_>>(),
            "tokens_left_out": mask.len() - shown.len(),
        });
        if let (Some((tokens, bytes)), Some(budget)) = (distances, arguments.budget) {
            value["budget"] = json!(budget);
            value["distance"] = json!({ "tokens": tokens.to_string(), "bytes": bytes.to_string() });
        }
        output.json(&value)?;
        return Ok(Exit::Done);
    }
    writeln!(output, "grammar     {}", session.grammar_name)?;
    writeln!(output, "vocabulary  {}", session.vocabulary_name)?;
    writeln!(output, "prefix      {} ({})", quoted(&prefix), counted(prefix.len(), "byte"))?;
    writeln!(output, "allowed     {} of {} tokens", mask.len(), vocabulary.width())?;
    if let Some((tokens, bytes)) = distances {
        writeln!(output, "distance    {tokens} tokens, {bytes} bytes")?;
    }
    writeln!(output, "the end     {}", if end_allowed { "is allowed" } else { "is not allowed" })?;
    writeln!(output, "prepared    the vocabulary in {:.1?}, once for all grammars", session.prepare_time)?;
    writeln!(output, "compiled    the grammar in {:.1?}", session.compile_time)?;
    writeln!(output, "mask time   {first:.1?} first, {repeated:.1?} repeated")?;
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

/// The middle of [`REPEATS`] times.
fn repeated(matcher: &mut Matcher) -> Result<Duration> {
    let mut times = Vec::with_capacity(REPEATS);
    for _ in 0..REPEATS {
        let start = Instant::now();
        matcher.mask()?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    Ok(times.get(REPEATS / 2).copied().unwrap_or_default())
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
