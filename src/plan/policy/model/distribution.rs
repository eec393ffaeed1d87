//! The probabilities that logits give.

use crate::vocabulary::TokenId;

/// The softmax of logits. Those that are NaN count as minus infinity; plus infinity takes all of the probability.
#[derive(Clone, Copy, Debug)]
pub(super) struct Distribution<'a> {
    logits: &'a [f32],
    top: f32,
    /// the sum of exp(logit - top)
    sum: f64,
}

impl<'a> Distribution<'a> {
    pub(super) fn of(logits: &'a [f32]) -> Distribution<'a> {
        // max skips NaN
        let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum = logits.iter().map(|&logit| weight(logit, top)).sum();
        Distribution { logits, top, sum }
    }

    /// The natural logarithm of the probability that one of `tokens`, which are distinct, is next.
    pub(super) fn log_probability(&self, tokens: impl IntoIterator<Item = TokenId>) -> f64 {
        let logits = tokens.into_iter().filter_map(|token| self.logits.get(token.get() as usize));
        let of_tokens: f64 = logits.map(|&logit| weight(logit, self.top)).sum();
        // 0 of 0, where no logit is a number
        if of_tokens > 0.0 { (of_tokens / self.sum).ln() } else { f64::NEG_INFINITY }
    }
}

fn weight(logit: f32, top: f32) -> f64 {
    match logit {
        _ if logit.is_nan() || logit == f32::NEG_INFINITY => 0.0,
        // infinity too
        _ if logit == top => 1.0,
        _ => f64::from(logit - top).exp(),
    }
}

/// The same logarithms less that of their sum, so that their probabilities sum to 1; None if none of them is finite.
pub(super) fn normalised(scores: &[f64]) -> Option<Vec<f64>> {
    let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !top.is_finite() {
        return None;
    }
    let sum = scores.iter().map(|score| (score - top).exp()).sum::<f64>().ln() + top;
    Some(scores.iter().map(|score| score - sum).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_leave_out_what_is_no_number() {
        let of = |logits: &[f32], tokens: &[u32]| {
            Distribution::of(logits).log_probability(tokens.iter().copied().map(TokenId::new)).exp()
        };
        assert!((of(&[0.0, 0.0, f32::NAN], &[0]) - 0.5).abs() < 1e-12);
        assert!((of(&[0.0, 0.0, f32::NEG_INFINITY], &[0, 1]) - 1.0).abs() < 1e-12);
        assert!((of(&[0.0, f32::INFINITY], &[1]) - 1.0).abs() < 1e-12);
        assert_eq!(of(&[0.0, f32::NAN], &[1, 7]), 0.0);
        assert_eq!(of(&[f32::NAN, f32::NEG_INFINITY], &[0]), 0.0);
        assert_eq!(of(&[], &[0]), 0.0);
    }

    #[test]
    fn scores_are_normalised_without_overflow() {
        let scores = normalised(&[-1e6, -1e6 + 1.0, f64::NEG_INFINITY]).unwrap();
        let sum: f64 = scores.iter().map(|score| score.exp()).sum();
        assert!((sum - 1.0).abs() < 1e-9 && scores[2] == f64::NEG_INFINITY, "{scores:?}");
        assert_eq!(normalised(&[f64::NEG_INFINITY]), None);
    }
}
