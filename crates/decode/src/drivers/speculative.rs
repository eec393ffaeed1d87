//! Speculative decoding.

use super::generate::finish;
use crate::decoder::Decoder;
use crate::draft::Draft;
use crate::model::Model;
use crate::options::{Generation, GenerationOptions};
use crate::output::Detokenizer;
use grammata::error::Result;
use grammata::matcher::Constraint;

/// Generates like [`generate`](super::generate), where each run of the model verifies up to `most` tokens that `draft`
/// proposes ([`Decoder::next_drafted`]). [`Timings`](crate::Timings) counts the proposals and the accepted ones.
///
/// The output is that of [`generate`](super::generate) if the model's logits do not depend on how many tokens a run is
/// fed. With kernels that round differently, a near tie can be decided differently.
///
/// # Errors
/// Errors of [`Decoder::new`] and [`Decoder::next_drafted`].
pub fn speculative(
    model: &mut dyn Model,
    detokenizer: &dyn Detokenizer,
    constraint: Option<&mut dyn Constraint>,
    prompt: &[u32],
    options: &GenerationOptions,
    draft: &mut dyn Draft,
    most: usize,
) -> Result<Generation> {
    let constraint = constraint.map(|constraint| Box::new(constraint) as Box<dyn Constraint + '_>);
    let decoder = Decoder::new(model, detokenizer, constraint, prompt, options)?;
    finish(decoder, model, |decoder, model| decoder.next_drafted(model, draft, most))
}
