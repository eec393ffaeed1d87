//! One output of one sequence.

use crate::decoder::Decoder;
use crate::event::Event;
use crate::model::Model;
use crate::options::{Generation, GenerationOptions};
use crate::output::Detokenizer;
use grammata::error::Result;
use grammata::matcher::Constraint;
use std::ops::ControlFlow;

/// Generates from `prompt` with `model`, under `constraint` if there is one: runs a [`Decoder`] to its end.
///
/// # Errors
/// Errors of [`Decoder::new`] and [`Decoder::next`].
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

/// Generates like [`generate`], and calls `on_event` with each event. If `on_event` returns `Break`, the output is what
/// was generated so far, with [`FinishReason::Abandoned`](crate::FinishReason::Abandoned) unless the decoder had ended.
///
/// # Errors
/// Errors of [`generate`].
pub fn generate_with(
    model: &mut dyn Model,
    detokenizer: &dyn Detokenizer,
    constraint: Option<&mut dyn Constraint>,
    prompt: &[u32],
    options: &GenerationOptions,
    on_event: &mut dyn FnMut(&Event) -> ControlFlow<()>,
) -> Result<Generation> {
    let constraint = constraint.map(|constraint| Box::new(constraint) as Box<dyn Constraint + '_>);
    let mut decoder = Decoder::new(model, detokenizer, constraint, prompt, options)?;
    let ended = loop {
        match decoder.next(model) {
            Ok(event) if on_event(&event).is_break() || matches!(event, Event::Finished(_)) => break Ok(()),
            Ok(_) => {}
            Err(error) => break Err(error),
        }
    };
    let generation = decoder.close(model);
    ended.map(|()| generation)
}

/// Calls `next` until the decoder ends or fails, then closes its sequence. Returns the output, or the error of `next`.
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
