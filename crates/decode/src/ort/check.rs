//! A check of a device: compares its choices with those of the host, on random logits.

use super::chooser::{Chooser, Placed};
use super::copied::Counts;
use super::errors;
use super::locate::environment;
use super::session::{Device, Runtime};
use crate::choice::{Choice, Chosen, HostChooser};
use crate::mask::allows;
use crate::sampling::SamplingParams;
use crate::scores::log_probability_of;
use grammata::error::Result;
use half::f16;
use ort::memory::AllocationDevice;
use ort::value::{DynTensor, Tensor};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Numbers that are at most this far from a boundary between two tokens may fall on either side of it, because a device
/// computes with 32-bit floats and the host with 64-bit floats.
pub const BOUNDARY: f64 = 1e-5;

/// The size and the seed of a comparison with random cases.
#[derive(Clone, Copy, Debug)]
pub struct ChoiceCases {
    /// Number of logits of a row.
    pub vocabulary: usize,
    /// Number of rows in one batch, one choice for each.
    pub batch: usize,
    /// Number of batches.
    pub rounds: usize,
    /// Whether the logits are 16-bit floats instead of 32-bit floats. Many of them are then equal.
    pub half: bool,
    /// Seed of the random numbers.
    pub seed: u64,
}

/// How the choices of a device compare with those of the host.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct ChoiceReport {
    /// Number of choices that were compared.
    pub choices: usize,
    /// Number of logits for which device and host differ after mask and penalty. Zeros of either sign are equal.
    pub masked_logits: usize,
    /// Number of choices that differ away from any boundary, that fail differently, or whose log-probability error is
    /// NaN.
    pub wrong: usize,
    /// Number of choices that differ, but where the token of the device is in the range of ids that the host chooses if
    /// the uniform number, top-p and min-p are changed by up to [`BOUNDARY`]. These choices are not wrong.
    pub at_boundaries: usize,
    /// The greatest difference of the log-probabilities of equal choices.
    pub log_probability_error: f64,
    /// Total time of the device for the choices, including the copies of random logits to it.
    pub time: Duration,
}

impl ChoiceReport {
    /// Returns whether no masked logit and no choice is wrong. Choices at boundaries do not count as wrong.
    pub fn is_right(&self) -> bool {
        self.masked_logits == 0 && self.wrong == 0
    }
}

/// Compares choices of `device` with those of the host, on random logits, masks and settings.
///
/// # Errors
/// `decode/ort-missing` or `decode/ort-unusable`: ONNX Runtime is missing or cannot be used. `decode/model-run`: the
/// device cannot be used.
pub fn check_choices(device: Device, cases: &ChoiceCases) -> Result<ChoiceReport> {
    let runtime = Runtime::new(environment()?, device, 0);
    let mut chooser = Chooser::new(runtime, cases.vocabulary, cases.half, Arc::new(Counts::default()));
    let mut random = ChaCha8Rng::seed_from_u64(cases.seed);
    let mut report = ChoiceReport::default();
    for _ in 0..cases.rounds {
        let drawn: Vec<Drawn> = (0..cases.batch).map(|_| Drawn::new(&mut random, cases)).collect();
        let tensor = tensor(&drawn, cases)?;
        let choices: Vec<Choice<'_>> = drawn.iter().map(Drawn::choice).collect();
        let placed = |(place, choice)| Placed { place, choice };
        let placed: Vec<Placed<'_>> = choices.iter().enumerate().map(placed).collect();
        let start = Instant::now();
        let chosen = chooser.choose(&tensor, &placed)?;
        report.time += start.elapsed();
        let masked = chooser.masked(&tensor, &placed)?;
        for ((drawn, chosen), masked) in drawn.iter().zip(chosen).zip(masked.chunks(cases.vocabulary)) {
            drawn.compare(chosen, masked, &mut report);
        }
    }
    Ok(report)
}

/// Returns the median time of 25 runs, in each of which `device` makes `batch` choices with `sampling` from rows of
/// `vocabulary` logits in its memory. The time includes the copies of masks to the device and of tokens from it.
///
/// # Errors
/// Errors of [`check_choices`].
pub fn time_choices(
    device: Device,
    vocabulary: usize,
    batch: usize,
    sampling: &SamplingParams,
) -> Result<Duration> {
    let runtime = Runtime::new(environment()?, device, 0);
    let mut chooser = Chooser::new(runtime, vocabulary, false, Arc::new(Counts::default()));
    let cases = ChoiceCases { vocabulary, batch, rounds: 1, half: false, seed: 1 };
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let drawn: Vec<Drawn> = (0..batch).map(|_| Drawn::new(&mut random, &cases)).collect();
    let mut logits = tensor(&drawn, &cases)?;
    if let Device::Cuda(number) = device {
        let number = i32::try_from(number).unwrap_or(i32::MAX);
        logits = logits.to(AllocationDevice::CUDA, number).map_err(errors::run)?;
    }
    let mask = vec![u32::MAX / 3; vocabulary.div_ceil(32)];
    let choice = Choice { row: 0, mask: Some(&mask), sampling, penalised: &[], uniform: 0.5, scored: false };
    let placed: Vec<Placed<'_>> = (0..batch).map(|place| Placed { place, choice: &choice }).collect();
    let mut times = Vec::new();
    for _ in 0..25 {
        let start = Instant::now();
        chooser.choose(&logits, &placed)?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    Ok(times.get(times.len() / 2).copied().unwrap_or_default())
}

/// A random row of logits and the parameters of its choice.
struct Drawn {
    logits: Vec<f32>,
    mask: Option<Vec<u32>>,
    sampling: SamplingParams,
    penalised: Vec<u32>,
    uniform: f64,
}

impl Drawn {
    fn new(random: &mut ChaCha8Rng, cases: &ChoiceCases) -> Drawn {
        let size = cases.vocabulary;
        let scale = [1.0, 8.0, 30.0][random.random_range(0..3)];
        let coarse = random.random_bool(0.3);
        let logits = (0..size).map(|_| {
            let logit: f32 = (random.random::<f32>() - 0.5) * scale;
            let odd = random.random_range(0..2000);
            let logit = match odd {
                0 => f32::NAN,
                1 => f32::NEG_INFINITY,
                2 => -0.0,
                3 if random.random_bool(0.01) => f32::INFINITY,
                _ if coarse => logit.round(),
                _ => logit,
            };
            if cases.half { f16::from_f32(logit).to_f32() } else { logit }
        });
        let logits = logits.collect();
        let density = [0.001, 0.1, 0.9][random.random_range(0..3)];
        let mask = random.random_bool(0.9).then(|| {
            // a mask may be a word shorter or longer than the vocabulary
            let words = (size.div_ceil(32) + random.random_range(0..3)).saturating_sub(1);
            let bit = |_| u32::from(random.random_bool(density));
            (0..words * 32).map(bit).collect::<Vec<u32>>()
        });
        let pack =
            |bits: Vec<u32>| bits.chunks(32).map(|c| (0..).zip(c).map(|(i, b)| b << i).sum()).collect();
        let temperature = [0.0, 0.2, 1.0, 2.5][random.random_range(0..4)];
        let sampling = SamplingParams::default()
            .temperature(temperature)
            .top_k([0, 0, 1, 5, 40, 300][random.random_range(0..6)])
            .top_p([1.0, 1.0, 0.5, 0.9, 0.99][random.random_range(0..5)])
            .min_p([0.0, 0.0, 0.05, 0.5][random.random_range(0..4)])
            .repetition_penalty([1.0, 1.3, 0.7][random.random_range(0..3)]);
        let penalised = match sampling.repetition_penalty == 1.0 {
            true => Vec::new(),
            false => {
                let count = random.random_range(0..40);
                (0..count).map(|_| random.random_range(0..size as u32 + 2)).collect()
            }
        };
        Drawn { logits, mask: mask.map(pack), sampling, penalised, uniform: random.random() }
    }

    fn choice(&self) -> Choice<'_> {
        Choice {
            row: 0,
            mask: self.mask.as_deref(),
            sampling: &self.sampling,
            penalised: &self.penalised,
            uniform: self.uniform,
            scored: true,
        }
    }

    fn compare(&self, chosen: Result<Chosen>, masked: &[f32], report: &mut ChoiceReport) {
        let same = |(token, (&masked, &logit)): (usize, (&f32, &f32))| {
            let expected = self.masked(token as u32, logit);
            // neither number is NaN; `Where` on the CPU turns minus zero into zero, which `==` ignores
            masked == expected
        };
        let pairs = masked.iter().zip(&self.logits).enumerate();
        report.masked_logits += pairs.filter(|&pair| !same(pair)).count();
        report.choices += 1;
        let expected = HostChooser::default().choose(&self.logits, &self.choice());
        match (chosen, expected) {
            (Ok(chosen), Ok(expected)) if chosen.token == expected => {
                let right = log_probability_of(&self.logits, expected);
                let found = chosen.log_probability.unwrap_or(f64::NAN);
                let error = if right == found { 0.0 } else { (right - found).abs() };
                if error.is_nan() {
                    report.wrong += 1;
                }
                report.log_probability_error = report.log_probability_error.max(error);
            }
            (Ok(chosen), Ok(expected)) if self.is_near(chosen.token, expected) => report.at_boundaries += 1,
            (Err(found), Err(expected)) if found.code() == expected.code() => {}
            _ => report.wrong += 1,
        }
    }

    /// Returns the logit of `token` after mask and penalty, as the host computes it.
    fn masked(&self, token: u32, logit: f32) -> f32 {
        if logit.is_nan() || self.mask.as_ref().is_some_and(|mask| !allows(mask, token)) {
            return f32::NEG_INFINITY;
        }
        let penalty = self.sampling.repetition_penalty;
        match self.penalised.contains(&token) {
            true if logit > 0.0 => logit / penalty,
            true => logit * penalty,
            false => logit,
        }
    }

    /// Returns whether `token` is in the range of tokens that the host chooses if the uniform number, top-p and min-p
    /// are changed by up to [`BOUNDARY`] in either direction.
    fn is_near(&self, token: u32, expected: u32) -> bool {
        let mut host = HostChooser::default();
        let mut seen = vec![expected];
        for uniform in [-BOUNDARY, 0.0, BOUNDARY] {
            for part in [1.0 - BOUNDARY as f32, 1.0, 1.0 + BOUNDARY as f32] {
                let SamplingParams { top_p, min_p, .. } = self.sampling;
                let top_p = if top_p < 1.0 { top_p * part } else { top_p };
                let sampling = self.sampling.clone().top_p(top_p).min_p(min_p * part);
                let uniform = (self.uniform + uniform).clamp(0.0, 1.0 - f64::EPSILON);
                seen.extend(
                    host.choose(&self.logits, &Choice { uniform, sampling: &sampling, ..self.choice() }),
                );
            }
        }
        let (least, most) = (seen.iter().min(), seen.iter().max());
        least.is_some_and(|&least| least <= token) && most.is_some_and(|&most| token <= most)
    }
}

fn tensor(drawn: &[Drawn], cases: &ChoiceCases) -> Result<DynTensor> {
    let logits = drawn.iter().flat_map(|drawn| drawn.logits.iter().copied());
    let shape = [cases.batch, 1, cases.vocabulary];
    let tensor = match cases.half {
        true => {
            Tensor::from_array((shape, logits.map(f16::from_f32).collect::<Vec<_>>())).map(Tensor::upcast)
        }
        false => Tensor::from_array((shape, logits.collect::<Vec<_>>())).map(Tensor::upcast),
    };
    tensor.map_err(errors::run)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares choices of the CPU with those of the host. Needs ONNX Runtime, which `cargo xtask setup` installs.
    #[track_caller]
    fn agrees(vocabulary: usize, batch: usize, rounds: usize, half: bool) {
        let cases = ChoiceCases { vocabulary, batch, rounds, half, seed: vocabulary as u64 };
        let report = check_choices(Device::Cpu, &cases).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(report.choices, batch * rounds);
        assert!(report.is_right(), "{report:?}");
        assert!(report.at_boundaries * 100 <= report.choices + 100, "{report:?}");
        assert!(report.log_probability_error < 1e-4, "{report:?}");
    }

    #[test]
    fn a_graph_chooses_what_the_host_chooses() {
        agrees(1000, 1, 100, false);
        agrees(1000, 32, 8, false);
        agrees(1000, 7, 20, true);
        agrees(33, 5, 60, false);
        agrees(1, 2, 10, false);
        agrees(256, 3, 20, true);
    }

    #[test]
    fn a_graph_chooses_from_large_vocabularies() {
        agrees(32_000, 4, 3, true);
        agrees(49_152, 2, 3, false);
        agrees(262_144, 1, 2, false);
    }
}
