//! One output of one sequence.

use crate::decode::constraint::Constraint;
use crate::decode::decoder::Decoder;
use crate::decode::event::Event;
use crate::decode::model::Model;
use crate::decode::options::{Generation, GenerationOptions};
use crate::decode::output::Detokenizer;
use crate::error::Result;

/// Generates from `prompt` with `model`, under `constraint` if there is one: a [`Decoder`] run to its end.
///
/// # Errors
/// As of [`Decoder::new`] and [`Decoder::next`].
pub fn generate(
    model: &mut dyn Model,
    detokenizer: &dyn Detokenizer,
    constraint: Option<&mut dyn Constraint>,
    prompt: &[u32],
    options: &GenerationOptions,
) -> Result<Generation> {
    let constraint = constraint.map(|constraint| Box::new(constraint) as Box<dyn Constraint + '_>);
    let decoder = Decoder::new(model, detokenizer, constraint, prompt, options)?;
    finish(decoder, model, |decoder, model| decoder.next(model))
}

/// Pulls events to the end and closes the sequence, after an error too.
pub(super) fn finish<'c>(
    mut decoder: Decoder<'c>,
    model: &mut dyn Model,
    mut next: impl FnMut(&mut Decoder<'c>, &mut dyn Model) -> Result<Event>,
) -> Result<Generation> {
    let ended = loop {
        match next(&mut decoder, model) {
            Ok(Event::Finished(_)) => break Ok(()),
            Ok(_) => {}
            Err(error) => break Err(error),
        }
    };
    let generation = decoder.close(model);
    ended.map(|()| generation)
}
