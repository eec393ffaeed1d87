//! How long a generation took, and where the time went.

use std::fmt;
use std::time::Duration;

/// Times of one generation. Durations are wall-clock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// The model's steps up to the first logits: the prompt, and the tokens that the grammar forces right after it.
    pub prefill: Duration,
    /// Tokens in these steps.
    pub prefill_tokens: usize,
    /// The model's other steps together.
    pub model: Duration,
    /// Number of those steps.
    pub model_steps: usize,
    /// Tokens that were the only ones allowed. They are fed together with the next token that needs a step.
    pub forced_tokens: usize,
    /// Tokens that a draft proposed and the model was fed.
    pub drafted_tokens: usize,
    /// Those of them that were also chosen.
    pub accepted_tokens: usize,
    /// Filling masks and moving the constraint, together.
    pub mask: Duration,
    /// The slowest single mask, with its move.
    pub mask_max: Duration,
    /// Number of masks.
    pub masks: usize,
    /// Masks that were computed on another thread while the model ran.
    pub overlapped_masks: usize,
    /// Those of them that were not ready when the model was.
    pub late_masks: usize,
    /// How long the logits waited for these, together.
    pub mask_wait: Duration,
    /// Sampling, together.
    pub sampling: Duration,
    /// From the end of the prefill to the end of the generation.
    pub decode: Duration,
    /// Tokens generated, the end-of-sequence token among them.
    pub tokens: usize,
}

impl Timings {
    /// Mean time of one mask with its move; zero without a constraint.
    pub fn mask_mean(&self) -> Duration {
        mean(self.mask, self.masks)
    }

    /// Mean time of one step of the model after the prefill.
    pub fn model_mean(&self) -> Duration {
        mean(self.model, self.model_steps)
    }

    /// Generated tokens a second after the prefill; the first token comes from the prefill and does not count. None
    /// with fewer than two tokens.
    pub fn tokens_per_second(&self) -> Option<f64> {
        let tokens = self.tokens.checked_sub(1).filter(|&n| n > 0)?;
        let seconds = self.decode.as_secs_f64();
        (seconds > 0.0).then(|| tokens as f64 / seconds)
    }

    /// Counts a mask that was computed while the model ran, and for which the logits waited.
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
