//! The loop with given tokens: each engine does the same work, and so does the model.

use crate::engine::Session;
use grammata_decode::ort::OrtModel;
use grammata_decode::{Feed, Logits, Model, Rows, Sampler, SamplingParams, SequenceId};
use std::time::{Duration, Instant};

/// A sequence to feed.
pub(crate) struct Script {
    pub(crate) schema: usize,
    pub(crate) prompt: Vec<u32>,
    pub(crate) output: Vec<u32>,
}

/// When masks are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// Between two runs of the model.
    Between,
    /// On another thread, during the run.
    During,
}

/// The times of one replay.
#[derive(Default)]
pub(crate) struct Times {
    /// All steps after the prompts.
    pub(crate) wall: Duration,
    pub(crate) steps: usize,
    /// Each mask.
    pub(crate) fills: Vec<Duration>,
    /// Each move past a token.
    pub(crate) accepts: Vec<Duration>,
    /// Tokens that the engine accepted although its mask lacked them. llguidance's mask has one token where bytes are
    /// forced.
    pub(crate) lacking: usize,
}

/// Feeds the scripts together, a token a step, and chooses greedily under the masks of `sessions`; without sessions,
/// from all tokens. The choice is dropped, and the script's token is taken.
pub(crate) fn replay(
    model: &mut OrtModel,
    scripts: &[Script],
    mut sessions: Option<&mut [Box<dyn Session>]>,
    words: usize,
    when: When,
) -> Result<Times, String> {
    let text = |error: grammata::error::Error| error.to_string();
    let mut ids: Vec<SequenceId> = Vec::new();
    for script in scripts {
        let id = model.open().map_err(text)?;
        ids.push(id);
        let tokens = &script.prompt[..script.prompt.len() - 1];
        if !tokens.is_empty() {
            model.feed(&[Feed { sequence: id, tokens, rows: Rows::None }]).map_err(text)?;
        }
    }
    for session in sessions.iter_mut().flat_map(|sessions| sessions.iter_mut()) {
        session.reset()?;
    }
    let mut sampler = Sampler::new(SamplingParams::default()).map_err(text)?;
    let mut times = Times::default();
    let mut masks = vec![vec![0_u32; words]; scripts.len()];
    let longest = scripts.iter().map(|script| script.output.len()).max().unwrap_or(0);
    for step in 0..longest {
        let start = Instant::now();
        let live: Vec<usize> = (0..scripts.len()).filter(|&at| step < scripts[at].output.len()).collect();
        let last = |at: usize| match step.checked_sub(1) {
            None => scripts[at].prompt.last(),
            Some(before) => scripts[at].output.get(before),
        };
        let last: Vec<u32> = live.iter().filter_map(|&at| last(at).copied()).collect();
        let feeds = live.iter().zip(last.chunks(1));
        let batch: Vec<Feed<'_>> =
            feeds.map(|(&at, tokens)| Feed { sequence: ids[at], tokens, rows: Rows::Last }).collect();
        let fill = |masks: &mut [Vec<u32>], sessions: &mut [Box<dyn Session>]| {
            let filled = live.iter().map(|&at| {
                let start = Instant::now();
                sessions[at].fill(&mut masks[at])?;
                Ok(start.elapsed())
            });
            filled.collect::<Result<Vec<Duration>, String>>()
        };
        let logits = match (&mut sessions, when) {
            (Some(sessions), When::During) => {
                let (mut filled, masks) = (Ok(Vec::new()), &mut masks);
                let logits = rayon::in_place_scope(|scope| {
                    scope.spawn(|_| filled = fill(masks, sessions));
                    model.feed(&batch)
                });
                times.fills.extend(filled?);
                logits
            }
            (Some(sessions), When::Between) => {
                let logits = model.feed(&batch);
                times.fills.extend(fill(&mut masks, sessions)?);
                logits
            }
            (None, _) => model.feed(&batch),
        };
        let logits = logits.map_err(text)?;
        let Logits::Host(rows) = &logits else { return Err("the logits are not on the host".to_owned()) };
        for (&at, row) in live.iter().zip(rows) {
            let mask = sessions.is_some().then_some(&masks[at][..]);
            std::hint::black_box(sampler.sample(row, mask).map_err(text)?);
            let taken = scripts[at].output[step];
            if let Some(mask) = mask
                && mask.get(taken as usize / 32).is_none_or(|word| word >> (taken % 32) & 1 == 0)
            {
                times.lacking += 1;
            }
            // the last token may be an end, past which engines do not move
            if let Some(sessions) = &mut sessions
                && step + 1 < scripts[at].output.len()
            {
                let start = Instant::now();
                sessions[at].accept(taken)?;
                times.accepts.push(start.elapsed());
            }
        }
        times.wall += start.elapsed();
        times.steps += 1;
    }
    for id in ids {
        model.close(id);
    }
    Ok(times)
}
