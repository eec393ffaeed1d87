//! The times of a generation, and how many steps they cover.

use std::fmt;
use std::time::Duration;

/// Times and counts of one generation. Durations are wall-clock time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Total time of the model's runs up to the first logits. They feed the prompt, and the tokens that the grammar
    /// forces right after it.
    pub prefill: Duration,
    /// Number of tokens that the runs of the prefill fed.
    pub prefill_tokens: usize,
    /// Total time of the runs of the model after the prefill.
    pub model: Duration,
    /// Number of runs of the model after the prefill.
    pub model_steps: usize,
    /// Number of tokens that were the only ones allowed. They are fed together with the next token that needs a run of
    /// the model.
    pub forced_tokens: usize,
    /// Number of tokens that drafts proposed and that were added to a run of the model.
    pub drafted_tokens: usize,
    /// Number of proposed tokens that were then chosen.
    pub accepted_tokens: usize,
    /// Total time of filling masks and of moving the constraint past the tokens of these masks. In exact sampling under
    /// a constraint, only moves past forced tokens that are fed ahead of a draw count.
    pub mask: Duration,
    /// The longest time that was counted as one mask: filling it, again if too little budget is left for the drawn token,
    /// and the move of the constraint that followed. In exact sampling under a constraint, the masks after a text and
    /// after the forced tokens that follow it count as one, with the moves between them.
    pub mask_max: Duration,
    /// Number of masks that [`mask`](field@Timings::mask) covers: one for each token under a constraint. In exact
    /// sampling under a constraint, one for each text after which logits were requested.
    pub masks: usize,
    /// Number of masks that were left open for the run of the model, to be computed on another thread.
    pub overlapped_masks: usize,
    /// Number of masks left open for the run of the model that were not ready when the run ended.
    pub late_masks: usize,
    /// Total time that logits waited for masks left open for the run of the model.
    pub mask_wait: Duration,
    /// Total time of choosing tokens from logits.
    pub sampling: Duration,
    /// Time from the end of the prefill to the end of the generation.
    pub decode: Duration,
    /// Number of generated tokens, including an end token.
    pub tokens: usize,
}

impl Timings {
    /// Returns the mean time of one mask with its move of the constraint; zero without masks.
    pub fn mask_mean(&self) -> Duration {
        mean(self.mask, self.masks)
    }

    /// Returns the mean time of a run of the model after the prefill; zero without such a run.
    pub fn model_mean(&self) -> Duration {
        mean(self.model, self.model_steps)
    }

    /// Returns the number of tokens generated per second after the prefill. The first token comes from the prefill and
    /// does not count. `None` with fewer than two tokens, or if [`decode`](field@Timings::decode) is zero.
    pub fn tokens_per_second(&self) -> Option<f64> {
        let tokens = self.tokens.checked_sub(1).filter(|&n| n > 0)?;
        let seconds = self.decode.as_secs_f64();
        (seconds > 0.0).then(|| tokens as f64 / seconds)
    }

    /// Counts a mask that was left open for the run of the model, and for which the logits waited for `wait`.
    pub(super) fn add_overlapped(&mut self, wait: Duration) {
        self.overlapped_masks += 1;
        self.late_masks += usize::from(!wait.is_zero());
        self.mask_wait += wait;
    }

    pub(super) fn add_mask(&mut self, time: Duration) {
        self.mask += time;
        self.mask_max = self.mask_max.max(time);
        self.masks += 1;
    }
}

fn mean(total: Duration, count: usize) -> Duration {
    u32::try_from(count).ok().and_then(|n| total.checked_div(n)).unwrap_or_default()
}

impl fmt::Display for Timings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "prefill {} tokens in {:.1?}", self.prefill_tokens, self.prefill)?;
        write!(f, "; {} tokens generated, {} forced", self.tokens, self.forced_tokens)?;
        if let Some(rate) = self.tokens_per_second() {
            write!(f, ", {rate:.1} tokens/s")?;
        }
        if self.model_steps > 0 {
            write!(f, "; model {:.2?} a step", self.model_mean())?;
        }
        if self.masks > 0 {
            write!(f, "; mask {:.2?} mean, {:.2?} max", self.mask_mean(), self.mask_max)?;
            write!(f, ", {} during the model's run, {} late", self.overlapped_masks, self.late_masks)?;
        }
        Ok(())
    }
}
