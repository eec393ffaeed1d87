//! Many decoders on one model, fed in batches.

use crate::choice::Chosen;
use crate::decoder::Decoder;
use crate::event::{Event, Poll};
use crate::logits::Logits;
use crate::model::Model;
use crate::overlap::{Portion, feed_meanwhile};
use grammata::error::Result;
use std::time::Duration;

/// Runs decoders of sequences of one model until all have ended or failed. All that need logits are fed in one batch.
/// `on_event` is called with the index of a decoder and each of its events. An error of a decoder is its last event,
/// and the others continue. The sequences stay open; [`Decoder::close`] closes them.
///
/// The time of a batch counts in the timings of each decoder that it fed.
///
/// # Errors
/// Errors of [`Model::truncate`](crate::Model::truncate) and [`Model::feed`](crate::Model::feed). After an error of
/// `feed`, every decoder is as it was before that batch.
pub fn run_together(
    model: &mut dyn Model,
    decoders: &mut [Decoder<'_>],
    on_event: &mut dyn FnMut(usize, Result<Event>),
) -> Result<()> {
    let mut running: Vec<usize> = (0..decoders.len()).collect();
    loop {
        let mut waiting = Vec::with_capacity(running.len());
        for place in running {
            let Some(decoder) = decoders.get_mut(place) else { continue };
            if needs_logits(decoder, model, &mut |event| on_event(place, event))? {
                waiting.push(place);
            }
        }
        running = waiting;
        if running.is_empty() {
            return Ok(());
        }
        let portions: Vec<(usize, Portion)> = running.iter().map(|&place| (place, Portion::All)).collect();
        let (logits, time) = feed_together(model, decoders, &portions)?;
        supply_together(decoders, &portions, &logits, time);
    }
}

/// Feeds portions of decoders in one batch, and computes their open masks meanwhile. `portions` holds indices of
/// decoders, in ascending order. Returns the logits and the time of the run.
///
/// # Errors
/// A failure of the model.
pub(super) fn feed_together<'m>(
    model: &'m mut dyn Model,
    decoders: &mut [Decoder<'_>],
    portions: &[(usize, Portion)],
) -> Result<(Logits<'m>, Duration)> {
    let (mut batch, mut masks) = (Vec::with_capacity(portions.len()), Vec::new());
    let mut portions = portions.iter().peekable();
    for (place, decoder) in decoders.iter_mut().enumerate() {
        if let Some(&(_, portion)) = portions.next_if(|(next, _)| *next == place) {
            let (feed, mask) = decoder.run(portion);
            batch.push(feed);
            masks.extend(mask);
        }
    }
    feed_meanwhile(model, &batch, masks)
}

/// Supplies the decoders that were fed all of their tokens with the rows that they requested, and records what the
/// others were fed. A device makes the first choices of all of them together; if it fails at that, each decoder asks it
/// alone. A decoder that fails returns its error, after the events that are queued, when it is polled.
pub(super) fn supply_together(
    decoders: &mut [Decoder<'_>],
    portions: &[(usize, Portion)],
    logits: &Logits<'_>,
    time: Duration,
) {
    let mut row = 0;
    let mut firsts = vec![None; decoders.len()];
    for &(place, portion) in portions {
        let Some((decoder, first)) = decoders.get_mut(place).zip(firsts.get_mut(place)) else { continue };
        match portion {
            Portion::First(count) => decoder.came_first(count, time),
            Portion::All => {
                *first = Some(row);
                row += decoder.row_count();
            }
        }
    }
    let mut chosen: Vec<Option<Result<Chosen>>> = decoders.iter().map(|_| None).collect();
    if let Logits::Device(device) = logits {
        let (mut choices, mut slots) = (Vec::new(), Vec::new());
        for ((decoder, first), slot) in decoders.iter_mut().zip(&firsts).zip(&mut chosen) {
            if let Some(choice) = first.and_then(|first| decoder.first_choice(first)) {
                choices.push(choice);
                slots.push(slot);
            }
        }
        // the model already holds the tokens, so an error here must not let the batch be fed again
        for (slot, made) in slots.into_iter().zip(device.choose(&choices).unwrap_or_default()) {
            *slot = Some(made);
        }
    }
    for ((decoder, first), chosen) in decoders.iter_mut().zip(firsts).zip(chosen) {
        if let Some(first) = first {
            // the decoder fails with this error when it is polled next
            let _ = decoder.supply_chosen(logits, first, time, chosen);
        }
    }
}

/// Passes the events of one decoder to `on_event` until it needs logits. Returns false if the decoder has ended or
/// failed.
///
/// # Errors
/// A failure of the model.
pub(super) fn needs_logits(
    decoder: &mut Decoder<'_>,
    model: &mut dyn Model,
    on_event: &mut dyn FnMut(Result<Event>),
) -> Result<bool> {
    loop {
        let event = match decoder.poll_ahead() {
            Ok(Poll::Feed) => match decoder.look_up() {
                Ok(()) => return Ok(true),
                Err(error) => Err(error),
            },
            Ok(Poll::Rewind) => {
                decoder.rewind(model)?;
                continue;
            }
            Ok(Poll::Event(event)) => Ok(event),
            Err(error) => Err(error),
        };
        let last = matches!(event, Ok(Event::Finished(_)) | Err(_));
        on_event(event);
        if last {
            return Ok(false);
        }
    }
}
