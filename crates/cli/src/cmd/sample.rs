//! `grammata sample`: draws random words.

use crate::args::source::{self, Origin, SourceArgs};
use crate::io::messages::Progress;
use crate::io::output::{Exit, Failure, Output};
use crate::io::words;
use grammata::automaton::samples::{Distribution, samples};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::Serialize;

/// Each word is a line, as in `enumerate`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    source: SourceArgs,
    /// How many words to draw
    #[arg(long, value_name = "N", default_value_t = 10)]
    words: usize,
    /// Equal seeds draw alike
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// The most bytes of a word
    #[arg(long, value_name = "BYTES", default_value_t = 200)]
    max_bytes: usize,
    /// Draw each word of at most `--max-bytes` bytes with the same probability; most words are long
    #[arg(long)]
    uniform: bool,
    /// Write the words as they are, each with a line end
    #[arg(long)]
    raw: bool,
}

/// The report. The member `words` follows.
#[derive(Serialize)]
struct Report<'a> {
    grammar: &'a Origin,
    seed: u64,
    max_bytes: usize,
    uniform: bool,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.source.limits.get();
    let loaded = source::load(&arguments.source, &limits)?;
    loaded.warn();
    let progress = Progress::start("drawing words");
    let automaton = loaded.automaton(&limits)?;
    let locate = |error| loaded.locate(error);
    let distribution = if arguments.uniform { Distribution::Uniform } else { Distribution::Walk };
    let mut samples = samples(&automaton, distribution, arguments.max_bytes).map_err(locate)?;
    let mut random = ChaCha8Rng::seed_from_u64(arguments.seed);
    let mut drawn = Vec::new();
    // the first word is drawn before the report begins, so that a language without words gives an error alone
    if arguments.words > 0 {
        drawn.push(samples.draw(&mut random).map_err(locate)?);
    }
    progress.finish();
    if output.is_json() {
        let Arguments { seed, max_bytes, uniform, .. } = *arguments;
        output.report(&Report { grammar: &loaded.origin, seed, max_bytes, uniform })?;
        output.list("words")?;
    }
    for _ in 0..arguments.words {
        let word = match drawn.pop() {
            Some(word) => word,
            None => samples.draw(&mut random).map_err(locate)?,
        };
        words::write(&loaded.grammar, &word, arguments.raw, output)?;
    }
    Ok(Exit::Done)
}
