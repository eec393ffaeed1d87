//! Probability distributions from logits.

use grammata::vocabulary::TokenId;
use grammata_decode::LogSoftmax;

/// The distribution of the next token, with its logits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Distribution<'a> {
    logits: &'a [f32],
    softmax: LogSoftmax,
}

impl<'a> Distribution<'a> {
    pub(super) fn of(logits: &'a [f32]) -> Distribution<'a> {
        Distribution { logits, softmax: LogSoftmax::of(logits) }
    }

    /// Returns the natural logarithm of the probability of a token.
    pub(super) fn of_token(&self, token: TokenId) -> f64 {
        let logit = self.logits.get(token.get() as usize);
        logit.map_or(f64::NEG_INFINITY, |&logit| self.softmax.at(logit))
    }

    /// Returns the natural logarithm of the probability that the next token is one of `tokens`, which are distinct.
    pub(super) fn of_any(&self, tokens: impl IntoIterator<Item = TokenId>) -> f64 {
        tokens.into_iter().map(|token| self.of_token(token).exp()).sum::<f64>().min(1.0).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_leave_out_what_is_no_number() {
        let of = |logits: &[f32], tokens: &[u32]| {
            Distribution::of(logits).of_any(tokens.iter().copied().map(TokenId::new)).exp()
        };
        assert!((of(&[0.0, 0.0, f32::NAN], &[0]) - 0.5).abs() < 1e-12);
        assert!((of(&[0.0, 0.0, f32::NEG_INFINITY], &[0, 1]) - 1.0).abs() < 1e-12);
        assert!((of(&[0.0, f32::INFINITY], &[1]) - 1.0).abs() < 1e-12);
        assert_eq!(of(&[0.0, f32::NAN], &[1, 7]), 0.0);
        assert_eq!(of(&[f32::NAN, f32::NEG_INFINITY], &[0]), 0.0);
        assert_eq!(of(&[], &[0]), 0.0);
    }
}
