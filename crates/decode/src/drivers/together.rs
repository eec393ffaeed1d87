//! Many decoders on one model, fed in batches.

use crate::decoder::Decoder;
use crate::event::{Event, Poll};
use crate::model::{Feed, Model};
use grammata::error::Result;
use std::time::Instant;

/// Runs decoders of sequences of one model to their ends. All that need logits are fed in one batch. `on_event` gets each
/// event with the place of its decoder; the error of a decoder is its last event, and the others go on. The sequences stay
/// open ([`Decoder::close`]).
///
/// The time of a batch counts in the timings of each decoder that it fed.
///
/// # Errors
/// A failure of the model; every decoder is then as before the batch.
pub fn run_together(
    model: &mut dyn Model,
    decoders: &mut [Decoder<'_>],
    on_event: &mut dyn FnMut(usize, Result<Event>),
) -> Result<()> {
    let mut running: Vec<usize> = (0..decoders.len()).collect();
    loop {
        running.retain(|&place| {
            decoders.get_mut(place).is_some_and(|decoder| needs_logits(place, decoder, on_event))
        });
        if running.is_empty() {
            return Ok(());
        }
        let batch: Vec<Feed<'_>> =
            running.iter().filter_map(|&place| decoders.get(place)).map(Decoder::feed).collect();
        let start = Instant::now();
        let logits = model.feed(&batch)?;
        let time = start.elapsed();
        let mut row = 0;
        for &place in &running {
            let Some(decoder) = decoders.get_mut(place) else { continue };
            let rows = decoder.row_count();
            // an error is the next event of the decoder
            let _ = decoder.supply(&logits, row, time);
            row += rows;
        }
    }
}

/// Reports the events of one decoder until it needs logits; false if it has ended.
fn needs_logits(
    place: usize,
    decoder: &mut Decoder<'_>,
    on_event: &mut dyn FnMut(usize, Result<Event>),
) -> bool {
    loop {
        let polled = decoder.poll();
        let event = match polled {
            Ok(Poll::Feed) => return true,
            Ok(Poll::Event(event)) => Ok(event),
            Err(error) => Err(error),
        };
        let last = matches!(event, Ok(Event::Finished(_)) | Err(_));
        on_event(place, event);
        if last {
            return false;
        }
    }
}
