//! Log-probabilities from logits.

use super::mask::{allowed_chunks, bits};

/// The log-softmax of a row of logits, stored so that the log-probability of a token is the difference of two numbers.
/// Logits that are NaN count as minus infinity. If some logits are plus infinity, they share the whole probability.
#[derive(Clone, Copy, Debug)]
pub struct LogSoftmax {
    greatest: f32,
    /// logarithm of the sum of exp(logit - greatest)
    total: f64,
}

impl LogSoftmax {
    /// Computes the log-softmax of `logits` at temperature 1.
    pub fn of(logits: &[f32]) -> LogSoftmax {
        // `max` skips NaN
        let greatest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let total: f64 = logits.iter().map(|&logit| below(logit, greatest).exp()).sum();
        LogSoftmax { greatest, total: total.ln() }
    }

    /// Returns the natural log-probability of a token with this logit. It is at most 0 for a logit of the row, and
    /// minus infinity if the logit is NaN or minus infinity, or no logit of the row is above minus infinity.
    pub fn at(&self, logit: f32) -> f64 {
        match self.total.is_finite() {
            true => below(logit, self.greatest) - self.total,
            false => f64::NEG_INFINITY,
        }
    }
}

/// Returns the probability, at temperature 1, of the tokens of a row that `mask` does not allow; 1 if no logit of the
/// row is above minus infinity.
pub(super) fn refused_mass(row: &[f32], mask: &[u32]) -> f64 {
    let scores = LogSoftmax::of(row);
    let allowed = allowed_chunks(row, Some(mask)).flat_map(|(_, word, chunk)| {
        bits(word).filter_map(move |bit| chunk.get(bit)).map(|&logit| scores.at(logit).exp())
    });
    (1.0 - allowed.sum::<f64>()).max(0.0)
}

/// Returns the probability of all tokens except one that has this log-probability, which is the only one allowed.
pub(super) fn refused_mass_of_forced(log_probability: f64) -> f64 {
    -log_probability.exp_m1()
}

/// Returns `logit - greatest`. The result is minus infinity if `logit` is NaN or minus infinity, and 0 if both are plus
/// infinity.
fn below(logit: f32, greatest: f32) -> f64 {
    if logit.is_nan() || logit == f32::NEG_INFINITY {
        return f64::NEG_INFINITY;
    }
    if logit == greatest { 0.0 } else { f64::from(logit) - f64::from(greatest) }
}

/// Returns the score of an output of `length` tokens: its log-probability divided by `length` (0 counts as 1) to the
/// power `exponent`. Exponent 0 ranks by probability, which favours short outputs; 1 by the mean log-probability of a
/// token.
pub(super) fn normalised(log_probability: f64, length: usize, exponent: f64) -> f64 {
    log_probability / (length.max(1) as f64).powf(exponent)
}

/// The log-probability of a token, and the most probable tokens at its position.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Score {
    pub(super) log_probability: f64,
    pub(super) alternatives: Vec<(u32, f64)>,
}

impl Score {
    /// Returns the score of a token without alternatives.
    pub(super) fn alone(log_probability: f64) -> Score {
        Score { log_probability, alternatives: Vec::new() }
    }

    /// Computes the score of a token in a row of logits, with at most `count` alternatives.
    pub(super) fn of(row: &[f32], token: u32, count: usize) -> Score {
        let scores = LogSoftmax::of(row);
        let logit = row.get(token as usize).copied().unwrap_or(f32::NEG_INFINITY);
        Score { log_probability: scores.at(logit), alternatives: most_probable(row, count, scores) }
    }
}

/// Returns the tokens with the greatest logits, the greatest first and by id if several are equal.
fn most_probable(row: &[f32], count: usize, scores: LogSoftmax) -> Vec<(u32, f64)> {
    if count == 0 {
        return Vec::new();
    }
    let mut found: Vec<(u32, f32)> = Vec::with_capacity(count + 1);
    for (token, &logit) in row.iter().enumerate() {
        let is_among = found.len() < count || found.last().is_some_and(|&(_, least)| logit > least);
        if logit.is_nan() || logit == f32::NEG_INFINITY || !is_among {
            continue;
        }
        let place = found.partition_point(|&(_, other)| other >= logit);
        found.insert(place, (token as u32, logit));
        found.truncate(count);
    }
    found.into_iter().map(|(token, logit)| (token, scores.at(logit))).collect()
}

/// Returns the natural log-probability of a token in a row of logits, at temperature 1; minus infinity if the row has
/// no such token.
pub(super) fn log_probability_of(row: &[f32], token: u32) -> f64 {
    let logit = row.get(token as usize).copied().unwrap_or(f32::NEG_INFINITY);
    LogSoftmax::of(row).at(logit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_logits_have_probabilities() {
        let of = |logits: &[f32], token: usize| LogSoftmax::of(logits).at(logits[token]).exp();
        let (nan, inf) = (f32::NAN, f32::INFINITY);
        assert!((of(&[0.0, 0.0, nan], 0) - 0.5).abs() < 1e-12);
        assert_eq!(of(&[0.0, nan], 1), 0.0);
        assert_eq!(of(&[0.0, -inf], 1), 0.0);
        assert_eq!(of(&[nan, -inf], 0), 0.0);
        assert_eq!(of(&[nan, -inf], 1), 0.0);
        assert!((of(&[inf, 3.0, inf], 2) - 0.5).abs() < 1e-12);
        assert_eq!(of(&[inf, 3.0, inf], 1), 0.0);
        assert!((of(&[-3e38, 3e38], 1) - 1.0).abs() < 1e-12);
    }
}
