//! How certain a mean over requests is, and whether one run is better than another.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Resamples of a bootstrap.
const RESAMPLES: usize = 1_000;

/// The mean of some values and the interval in which it lies with 95 % confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// The 2.5th percentile of the means of the resamples.
    pub low: f64,
    /// The 97.5th percentile.
    pub high: f64,
}

/// The percentile bootstrap (Efron 1979) of a mean, with 1,000 resamples; equal seeds give equal intervals. None of no
/// values.
pub fn bootstrap(values: &[f64], seed: u64) -> Option<Interval> {
    if values.is_empty() {
        return None;
    }
    let count = values.len();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let draw = || values.get(random.random_range(0..count)).copied().unwrap_or_default();
            std::iter::repeat_with(draw).take(count).sum::<f64>() / count as f64
        })
        .collect();
    means.sort_unstable_by(f64::total_cmp);
    // as many resamples lie below the interval as above it
    let outside = RESAMPLES * 25 / 1_000;
    let at = |index: usize| means.get(index).copied().unwrap_or_default();
    let mean = values.iter().sum::<f64>() / count as f64;
    Some(Interval { mean, low: at(outside), high: at(RESAMPLES - 1 - outside) })
}

/// A paired comparison of two runs over the same requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignTest {
    /// Requests for which the first run is better.
    pub better: usize,
    /// Requests for which the second run is better.
    pub worse: usize,
    /// The probability of a difference in their numbers at least as large if both runs were equally good (two-sided).
    pub p: f64,
}

/// The sign test over pairs of values, of which equal ones do not count.
pub fn sign_test(pairs: impl IntoIterator<Item = (f64, f64)>) -> SignTest {
    let (mut better, mut worse) = (0, 0);
    for (first, second) in pairs {
        better += usize::from(first > second);
        worse += usize::from(first < second);
    }
    let (count, fewer) = (better + worse, better.min(worse));
    // the logarithm of the probability of `i` successes in `count` fair trials, from i - 1 to i
    let mut logarithm = -(count as f64) * std::f64::consts::LN_2;
    let mut tail = logarithm.exp();
    for i in 1..=fewer {
        logarithm += ((count - i + 1) as f64 / i as f64).ln();
        tail += logarithm.exp();
    }
    SignTest { better, worse, p: (2.0 * tail).min(1.0) }
}
