//! Several outputs of exact sampling.

use crate::decoder::Decoder;
use crate::event::Event;
use crate::model::Model;
use crate::options::{Generation, GenerationOptions};
use crate::output::Detokenizer;
use grammata::error::Result;
use grammata::matcher::Constraint;

/// Draws `count` independent outputs from the model's distribution conditioned on `constraint`
/// ([`ExactSampling`](crate::ExactSampling)), one after another. Prefixes that were found to be refused for one output
/// are remembered for the next, so later outputs take fewer tries on average.
///
/// Samples exactly even if `options` does not ask for it, then with the default settings of exact sampling. The first
/// output is what [`generate`](super::generate) returns with the same settings. `constraint` is not moved. An output
/// that is not found has an empty text and ends with [`FinishReason::Exhausted`](crate::FinishReason::Exhausted).
///
/// # Errors
/// Errors of [`Decoder::new`] and [`Decoder::next`], for the first output that fails.
pub fn exact_samples(
    model: &mut dyn Model,
    detokenizer: &dyn Detokenizer,
    constraint: &dyn Constraint,
    prompt: &[u32],
    options: &GenerationOptions,
    count: usize,
) -> Result<Vec<Generation>> {
    let exact = Some(options.exact.clone().unwrap_or_default());
    let options = GenerationOptions { exact, ..options.clone() };
    let mut decoder = Decoder::new(model, detokenizer, Some(constraint.fork()), prompt, &options)?;
    let outputs = draw(&mut decoder, model, count);
    decoder.close(model);
    outputs
}

fn draw(decoder: &mut Decoder<'_>, model: &mut dyn Model, count: usize) -> Result<Vec<Generation>> {
    let mut outputs = Vec::new();
    while outputs.len() < count {
        if let Event::Finished(_) = decoder.next(model)? {
            outputs.push(decoder.again()?);
        }
    }
    Ok(outputs)
}
