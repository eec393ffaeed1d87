//! Speculative decoding.

use super::generate::finish;
use crate::constraint::Constraint;
use crate::decoder::Decoder;
use crate::draft::Draft;
use crate::model::Model;
use crate::options::{Generation, GenerationOptions};
use crate::output::Detokenizer;
use grammata::error::Result;

/// Generates as [`generate`](super::generate) does, while each run of the model verifies up to `most` tokens that `draft`
/// proposes ([`Decoder::next_drafted`]). [`Timings`](crate::Timings) counts proposals and those that were right.
///
/// The output is that of [`generate`](super::generate) for a model whose logits do not depend on how many tokens it is fed
/// at once; kernels that round differently can turn a near tie.
///
/// # Errors
/// As of [`Decoder::new`] and [`Decoder::next_drafted`].
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
