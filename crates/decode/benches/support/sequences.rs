//! A check of a device: compares sequences that are forked, truncated and fed in batches with new sequences that are
//! fed from their beginning. The bench `device` and the test `decode_device` include this file.

use grammata::diagnostic::Diagnostic;
use grammata::error::Result;
use grammata_decode::ort::{Device, ModelOptions, OrtModel};
use grammata_decode::{Feed, Logits, Model, Rows, SequenceId};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::Path;

/// The most sequences that are open together, without the new ones that they are compared with.
const SEQUENCES: usize = 8;
/// The most tokens of a sequence.
const TOKENS: usize = 60;

/// The result of comparing sequences on a device with new sequences that are fed from their beginning.
#[derive(Clone, Debug, Default)]
pub(crate) struct SequenceReport {
    /// Notices from loading the model, for instance that the device cannot be used.
    pub(crate) notices: Vec<Diagnostic>,
    /// Number of rows of logits that were compared.
    pub(crate) rows: usize,
    /// The greatest absolute difference of two logits; infinite if a difference is NaN.
    pub(crate) difference: f32,
}

/// Forks, truncates and feeds sequences of the model at `path` at random on `device`, in batches of different lengths,
/// and compares the logits of each feed with those of a new sequence of the same tokens. The model needs a context of
/// at least 60 tokens.
///
/// # Errors
/// Errors of [`OrtModel::load`] and of the model.
pub(crate) fn check_sequences(device: Device, path: &Path, seed: u64) -> Result<SequenceReport> {
    let options = ModelOptions::default().device(device).on_device(Some(true));
    let mut model = OrtModel::load(path, &options)?;
    let mut report = SequenceReport { notices: model.notices().to_vec(), ..SequenceReport::default() };
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut open: Vec<(SequenceId, Vec<u32>)> = Vec::new();
    for _ in 0..120 {
        change(&mut model, &mut open, &mut random)?;
        let mut fed: Vec<(SequenceId, Vec<u32>, Vec<u32>)> = Vec::new();
        for (id, tokens) in &mut open {
            let count = if random.random_bool(0.8) { 1 } else { random.random_range(2..7) };
            if random.random_bool(0.8) && tokens.len() + count <= TOKENS {
                let next = |_| random.random_range(0..model.vocabulary_size() as u32);
                let new: Vec<u32> = (0..count).map(next).collect();
                tokens.extend(&new);
                fed.push((*id, new, tokens.clone()));
            }
        }
        let feed = |(sequence, tokens, _): &'_ (SequenceId, Vec<u32>, Vec<u32>)| (*sequence, tokens.clone());
        let new: Vec<(SequenceId, Vec<u32>)> = fed.iter().map(feed).collect();
        let batch = new.iter().map(|(id, tokens)| Feed { sequence: *id, tokens, rows: Rows::Last });
        let found = rows(&model.feed(&batch.collect::<Vec<_>>())?)?;
        for ((_, _, tokens), found) in fed.iter().zip(found) {
            let fresh = model.open()?;
            let expected = rows(&model.feed(&[Feed { sequence: fresh, tokens, rows: Rows::Last }])?)?;
            model.close(fresh);
            for (a, b) in found.iter().zip(expected.iter().flatten()) {
                let difference = (a - b).abs();
                let difference = if difference.is_nan() { f32::INFINITY } else { difference };
                report.difference = report.difference.max(difference);
            }
            report.rows += 1;
        }
    }
    Ok(report)
}

/// Opens, forks, truncates or closes a random sequence, or does nothing.
fn change(
    model: &mut OrtModel,
    open: &mut Vec<(SequenceId, Vec<u32>)>,
    random: &mut ChaCha8Rng,
) -> Result<()> {
    let place = random.random_range(0..open.len().max(1));
    let room = open.len() < SEQUENCES;
    match (random.random_range(0..10), open.get_mut(place)) {
        (0 | 1, _) if room => open.push((model.open()?, Vec::new())),
        (2, Some((id, tokens))) => {
            let (id, tokens) = (model.fork(*id)?, tokens.clone());
            if room { open.push((id, tokens)) } else { model.close(id) }
        }
        (3, Some((id, tokens))) => {
            tokens.truncate(random.random_range(0..=tokens.len()));
            model.truncate(*id, tokens.len())?;
        }
        (4, Some((id, _))) => {
            model.close(*id);
            open.remove(place);
        }
        _ => {}
    }
    Ok(())
}

fn rows(logits: &Logits<'_>) -> Result<Vec<Vec<f32>>> {
    (0..logits.len()).map(|row| Ok(logits.row(row, &mut Vec::new())?.to_vec())).collect()
}
