//! Beam search.

use crate::errors;
use crate::finish::FinishReason;
use crate::mask::top;
use crate::model::{Feed, Model, Rows};
use crate::output::{Bounds, Detokenizer, Output, check_prompt};
use crate::scores::{LogSoftmax, normalised};
use crate::sequences::SequenceId;
use grammata::error::Result;
use grammata::matcher::Constraint;

grammata_base::options! {
    /// Settings of [`beam_search`].
    #[derive(Clone, Debug)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
    #[non_exhaustive]
    pub struct BeamOptions {
        /// The most hypotheses that are kept, ended ones included; at least 1. 4 by default.
        pub width: usize = 4,
        /// Hypotheses are ranked by log-probability divided by the number of tokens to the power of this exponent. 0,
        /// the default, ranks by probability, which favours short ones; 1 ranks by the mean per token.
        pub length_exponent: f64 = 0.0,
        /// The most tokens of a hypothesis, without the prompt. 512 by default.
        pub max_tokens: usize = 512,
        /// Whether the constraint must make each hypothesis complete within `max_tokens` and the context, as in
        /// [`GenerationOptions::complete`](crate::GenerationOptions::complete). True by default.
        pub complete: bool = true,
        /// Ids of tokens that end a hypothesis. None by default. Under a constraint, such a token ends a hypothesis
        /// only if nothing may follow it.
        pub end_tokens: Vec<u32>,
        /// Texts at which a hypothesis ends; they are not part of its text. None by default.
        pub stop: Vec<String>,
        /// The length in tokens of sequences that may not be repeated. A token is forbidden if it completes a sequence
        /// of this length that the prompt and the hypothesis already contain. 0, the default, forbids none. If a
        /// constraint allows only forbidden tokens, the hypothesis has no extension; with
        /// [`complete`](BeamOptions::complete) forbidden tokens are then allowed, because completeness takes
        /// precedence.
        pub no_repeat: usize,
    }
}

/// An output of [`beam_search`].
#[derive(Clone, Debug, PartialEq)]
pub struct Hypothesis {
    /// The text, without a stop string. Invalid UTF-8 is replaced by U+FFFD.
    pub text: String,
    /// All tokens, including the one that ended the hypothesis.
    pub tokens: Vec<u32>,
    /// Natural log-probability that the model gives the tokens, among all of its tokens, not only the allowed ones.
    pub log_probability: f64,
    /// The log-probability divided by the number of tokens to the power of [`BeamOptions::length_exponent`]. Greater is
    /// better.
    pub score: f64,
    /// Why the hypothesis ended.
    pub finish: FinishReason,
}

/// Searches for outputs of the greatest probability (Lowerre 1976). Returns at most `width` hypotheses, the best first.
///
/// Each step extends every hypothesis that has not ended by every allowed token, and keeps the best `width` of the
/// extended and the ended ones. The search stops when all hypotheses that are kept have ended. Hypotheses are fed in
/// one batch. Among hypotheses of equal score, ended ones come first, then extensions of a better hypothesis, then
/// those with a lower last token. If a word cannot be extended under the constraint, its hypothesis ends without the
/// probability of an end token. `constraint` is not moved.
///
/// # Errors
/// `decode/empty-prompt`; `decode/prompt-too-long`; `decode/empty-stop`; `decode/beam`: the width is 0 or the length
/// exponent is not finite; no hypothesis is left, because no token is allowed (`decode/empty-mask`) or no allowed token
/// has a probability (`decode/no-candidate`); `decode/logits`: a row of logits has the wrong length; errors of the
/// model and the constraint.
pub fn beam_search(
    model: &mut dyn Model,
    detokenizer: &dyn Detokenizer,
    constraint: Option<&dyn Constraint>,
    prompt: &[u32],
    options: &BeamOptions,
) -> Result<Vec<Hypothesis>> {
    check_prompt(prompt, model.context_length())?;
    if options.width == 0 || !options.length_exponent.is_finite() {
        return Err(errors::beam(options.width, options.length_exponent));
    }
    let output = Output::new(constraint.map(Constraint::fork), &options.stop)?;
    let sequence = model.open()?;
    let first =
        Beam { sequence, pending: prompt.to_vec(), length: prompt.len(), output, log_probability: 0.0 };
    let bounds = Bounds {
        tokens: options.max_tokens,
        context: model.context_length(),
        end: &options.end_tokens,
        complete: options.complete,
    };
    let mut search = Search {
        model,
        detokenizer,
        prompt,
        options,
        bounds,
        live: vec![first],
        ended: Vec::new(),
        opened: vec![sequence],
    };
    let found = search.run();
    for sequence in search.opened {
        search.model.close(sequence);
    }
    found?;
    Ok(search.ended)
}

/// A hypothesis that has not ended.
struct Beam {
    sequence: SequenceId,
    /// tokens that the model was not fed yet
    pending: Vec<u32>,
    /// number of tokens of the prompt and the hypothesis
    length: usize,
    output: Output<'static>,
    log_probability: f64,
}

/// A candidate for a hypothesis of the next step.
struct Candidate {
    score: f64,
    log_probability: f64,
    /// an ended hypothesis, or a live one with the token that extends it
    from: Origin,
}

#[derive(Clone, Copy)]
enum Origin {
    Ended(usize),
    Live(usize, u32),
}

struct Search<'a> {
    model: &'a mut dyn Model,
    detokenizer: &'a dyn Detokenizer,
    prompt: &'a [u32],
    options: &'a BeamOptions,
    bounds: Bounds<'a>,
    /// best first
    live: Vec<Beam>,
    /// best first
    ended: Vec<Hypothesis>,
    opened: Vec<SequenceId>,
}

impl Search<'_> {
    fn run(&mut self) -> Result<()> {
        self.stop_at_limits()?;
        while !self.live.is_empty() {
            let candidates = self.candidates()?;
            self.keep(candidates)?;
            self.stop_at_limits()?;
        }
        Ok(())
    }

    /// Ends the hypotheses that are complete or at a limit, and sorts the ended ones, best first.
    fn stop_at_limits(&mut self) -> Result<()> {
        for mut beam in std::mem::take(&mut self.live) {
            match beam.output.limit(&self.bounds, beam.length)? {
                Some(reason) => {
                    self.close(beam.sequence);
                    self.end(beam.output, beam.log_probability, reason);
                }
                None => self.live.push(beam),
            }
        }
        // a stable sort, so that equals stay in order
        self.ended.sort_by(|a, b| b.score.total_cmp(&a.score));
        Ok(())
    }

    fn end(&mut self, mut output: Output<'_>, log_probability: f64, finish: FinishReason) {
        output.finish(&finish);
        let Output { text, tokens, .. } = output;
        let score = normalised(log_probability, tokens.len(), self.options.length_exponent);
        self.ended.push(Hypothesis { text, tokens, log_probability, score, finish });
    }

    fn close(&mut self, sequence: SequenceId) {
        self.model.close(sequence);
        self.opened.retain(|&open| open != sequence);
    }

    /// Returns the best `width` candidates, best first, among the extensions of live hypotheses and the ended ones.
    fn candidates(&mut self) -> Result<Vec<Candidate>> {
        let vocabulary = self.model.vocabulary_size();
        let mut masks = Vec::with_capacity(self.live.len());
        for beam in &mut self.live {
            let mut mask = Vec::new();
            let count = self.detokenizer.token_count();
            let budget = beam.output.budget(&self.bounds, beam.length);
            let mut masked = beam.output.fill_mask(&mut mask, count, budget)?;
            // if only repeating tokens complete the hypothesis in time, they are allowed
            let within = budget.is_some().then(|| mask.clone());
            for token in repeating(self.prompt, &beam.output.tokens, self.options.no_repeat) {
                if !std::mem::replace(&mut masked, true) {
                    mask = vec![u32::MAX; vocabulary.div_ceil(32)];
                }
                if let Some(word) = mask.get_mut(token as usize / 32) {
                    *word &= !(1 << (token % 32));
                }
            }
            if let Some(within) = within.filter(|_| mask.iter().all(|&word| word == 0)) {
                mask = within;
            }
            masks.push(masked.then_some(mask));
        }
        let feed = |beam: &Beam| (beam.sequence, beam.pending.clone());
        let fed: Vec<(SequenceId, Vec<u32>)> = self.live.iter().map(feed).collect();
        let batch: Vec<Feed<'_>> =
            fed.iter().map(|(s, tokens)| Feed { sequence: *s, tokens, rows: Rows::Last }).collect();
        let logits = self.model.feed(&batch)?;
        let mut candidates: Vec<Candidate> = Vec::new();
        let ended = self.ended.iter().enumerate();
        candidates.extend(ended.map(|(place, hypothesis)| Candidate {
            score: hypothesis.score,
            log_probability: hypothesis.log_probability,
            from: Origin::Ended(place),
        }));
        let mut buffer = Vec::new();
        let mut dead_end = None;
        for (place, (beam, mask)) in self.live.iter().zip(&masks).enumerate() {
            let row = logits.row(place, &mut buffer)?;
            if row.len() != vocabulary {
                return Err(errors::logits_length(row.len(), vocabulary));
            }
            let softmax = LogSoftmax::of(row);
            let best = match top(row, mask.as_deref(), self.options.width) {
                Ok(best) => best,
                // the other hypotheses may still have extensions
                Err(error) => {
                    dead_end = dead_end.or(Some(error));
                    continue;
                }
            };
            candidates.extend(best.into_iter().map(|(token, logit)| {
                let log_probability = beam.log_probability + softmax.at(logit);
                let length = beam.output.tokens.len() + 1;
                let score = normalised(log_probability, length, self.options.length_exponent);
                Candidate { score, log_probability, from: Origin::Live(place, token) }
            }));
        }
        if let Some(error) = dead_end.filter(|_| candidates.is_empty()) {
            return Err(error);
        }
        // a stable sort, so that equals stay in order
        candidates.sort_by(|a, b| b.score.total_cmp(&a.score));
        candidates.truncate(self.options.width);
        Ok(candidates)
    }

    /// Turns the candidates into the hypotheses of the next step. Of the extensions of one hypothesis, the first that
    /// has not ended takes over its sequence, and the others fork it. Sequences without such an extension are closed.
    fn keep(&mut self, candidates: Vec<Candidate>) -> Result<()> {
        let before = std::mem::take(&mut self.live);
        let mut ended: Vec<Option<Hypothesis>> =
            std::mem::take(&mut self.ended).into_iter().map(Some).collect();
        let mut taken = vec![false; before.len()];
        for Candidate { log_probability, from, .. } in candidates {
            let (place, token) = match from {
                Origin::Ended(place) => {
                    self.ended.extend(ended.get_mut(place).and_then(Option::take));
                    continue;
                }
                Origin::Live(place, token) => (place, token),
            };
            let (Some(parent), Some(taken)) = (before.get(place), taken.get_mut(place)) else { continue };
            let mut output = parent.output.fork();
            if let Some(reason) = output.push(token, self.detokenizer, &self.bounds)? {
                self.end(output, log_probability, reason);
                continue;
            }
            let mut sequence = parent.sequence;
            if std::mem::replace(taken, true) {
                sequence = self.model.fork(sequence)?;
                self.opened.push(sequence);
            }
            let length = parent.length + 1;
            self.live.push(Beam { sequence, pending: vec![token], length, output, log_probability });
        }
        for (beam, _) in before.iter().zip(taken).filter(|(_, taken)| !taken) {
            self.close(beam.sequence);
        }
        Ok(())
    }
}

/// Returns the tokens that would complete a sequence of `length` tokens that `prompt` and `tokens` together already
/// contain; none if `length` is 0.
fn repeating(prompt: &[u32], tokens: &[u32], length: usize) -> Vec<u32> {
    let all = [prompt, tokens].concat();
    let Some(last) = length.checked_sub(1).and_then(|before| all.len().checked_sub(before)) else {
        return Vec::new();
    };
    let (end, windows) = (&all[last..], all.windows(length));
    windows.filter(|window| window.starts_with(end)).filter_map(|window| window.last().copied()).collect()
}
