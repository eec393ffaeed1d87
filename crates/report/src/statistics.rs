//! Confidence intervals of means and shares, and tests whether one arm of an experiment is better than another.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Number of resamples of a bootstrap.
const RESAMPLES: usize = 1_000;

/// The 97.5th percentile of the standard normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// An estimate of a mean or share with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The mean of the values, or the share of successes.
    pub mean: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// Returns the mean and the sample standard deviation (divisor n - 1). The deviation of a single value is 0. `None`
/// without values.
pub fn mean_and_deviation(values: &[f64]) -> Option<(f64, f64)> {
    if values.is_empty() {
        return None;
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((mean, if values.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 }))
}

/// Returns the quantile of the values at `share`, by linear interpolation between the two neighbouring order
/// statistics. `share` is clamped to [0, 1]: 0 gives the minimum, 1 the maximum. `None` without values.
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let position = share.clamp(0.0, 1.0) * sorted.len().checked_sub(1)? as f64;
    let (below, above) = (sorted.get(position.floor() as usize)?, sorted.get(position.ceil() as usize)?);
    Some(below + (above - below) * position.fract())
}

/// Returns the 95 % score interval (Wilson 1927) of the share of `successes` in `trials`. `None` without trials, or
/// with more successes than trials.
pub fn wilson(successes: usize, trials: usize) -> Option<Interval> {
    if trials == 0 || successes > trials {
        return None;
    }
    let (n, mean) = (trials as f64, successes as f64 / trials as f64);
    let scale = 1.0 + Z * Z / n;
    let centre = (mean + Z * Z / (2.0 * n)) / scale;
    let half = Z / scale * (mean * (1.0 - mean) / n + Z * Z / (4.0 * n * n)).sqrt();
    Some(Interval { mean, low: (centre - half).max(0.0), high: (centre + half).min(1.0) })
}

/// Returns the 95 % percentile bootstrap interval (Efron 1979) of the mean, from 1,000 resamples. Equal seeds and
/// values give equal intervals. `None` without values.
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
    // as many resamples are below the interval as above it
    let outside = RESAMPLES * 25 / 1_000;
    let at = |index: usize| means.get(index).copied().unwrap_or_default();
    let mean = values.iter().sum::<f64>() / count as f64;
    Some(Interval { mean, low: at(outside), high: at(RESAMPLES - 1 - outside) })
}

/// The result of a paired comparison of two arms over the same units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignTest {
    /// Number of units for which the first arm is better.
    pub better: usize,
    /// Number of units for which the second arm is better.
    pub worse: usize,
    /// The two-sided p-value: the probability of a difference between `better` and `worse` at least this large if both
    /// arms are equally good. From 0 to 1.
    pub p: f64,
}

/// Returns the exact sign test over pairs of values of a first and a second arm, where the greater value is better.
/// Pairs of equal values do not count. For values 0 and 1 it is McNemar's exact test.
pub fn sign_test(pairs: impl IntoIterator<Item = (f64, f64)>) -> SignTest {
    let (mut better, mut worse) = (0, 0);
    for (first, second) in pairs {
        better += usize::from(first > second);
        worse += usize::from(first < second);
    }
    let (count, fewer) = (better + worse, better.min(worse));
    // in each iteration, the logarithm of the probability of `i` successes in `count` fair trials
    let mut logarithm = -(count as f64) * std::f64::consts::LN_2;
    let mut tail = logarithm.exp();
    for i in 1..=fewer {
        logarithm += ((count - i + 1) as f64 / i as f64).ln();
        tail += logarithm.exp();
    }
    SignTest { better, worse, p: (2.0 * tail).min(1.0) }
}
