//! Several samples, ranked.

use super::together::run_together;
use crate::decoder::Decoder;
use crate::model::Model;
use crate::options::{Generation, GenerationOptions};
use crate::output::Detokenizer;
use crate::scores::normalised;
use grammata::error::Result;
use grammata::matcher::Constraint;

/// Draws `count` outputs, computed in batches, and ranks them, best first: by log-probability divided by the number of
/// tokens to the power of `length_exponent`. 0 ranks by probability, 1 by the mean per token. Equals are ordered by
/// their index.
///
/// The output of index i is what [`generate`](super::generate) returns with the seed `options.sampling.seed` + i (a
/// wrapping addition). The prompt is fed once, except its last token, which is fed for each output. Log-probabilities
/// are computed even if `options` does not request them. `constraint` is not moved.
///
/// # Errors
/// Errors of [`Decoder::new`], [`Decoder::prefill`], [`Decoder::fork`] and [`Decoder::next`]. If several outputs fail,
/// the first error that occurs is returned.
pub fn best_of(
    model: &mut dyn Model,
    detokenizer: &dyn Detokenizer,
    constraint: Option<&dyn Constraint>,
    prompt: &[u32],
    options: &GenerationOptions,
    count: usize,
    length_exponent: f64,
) -> Result<Vec<Generation>> {
    let constraint = constraint.map(Constraint::fork);
    let options = GenerationOptions { log_probabilities: true, ..options.clone() };
    let mut decoders = vec![Decoder::new(model, detokenizer, constraint, prompt, &options)?];
    let run = run(model, &mut decoders, options.sampling.seed, count);
    let generations: Vec<Generation> = decoders.into_iter().map(|decoder| decoder.close(model)).collect();
    run?;
    let scored = generations.into_iter().map(|generation| {
        let length = generation.tokens.len();
        (normalised(generation.log_probability(), length, length_exponent), generation)
    });
    let mut scored: Vec<(f64, Generation)> = scored.collect();
    // a stable sort, so that equals stay in order
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    Ok(scored.into_iter().map(|(_, generation)| generation).take(count).collect())
}

fn run(model: &mut dyn Model, decoders: &mut Vec<Decoder<'_>>, seed: u64, count: usize) -> Result<()> {
    if let Some(first) = decoders.first_mut() {
        first.prefill(model)?;
    }
    for number in 1..count {
        let fork = decoders.first().map(|first| first.fork(model, seed.wrapping_add(number as u64)));
        decoders.extend(fork.transpose()?);
    }
    let mut failure = None;
    run_together(model, decoders, &mut |_, event| failure = failure.take().or(event.err()))?;
    failure.map_or(Ok(()), Err)
}
