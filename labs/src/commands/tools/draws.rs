//! The random numbers of a run.

use grammata_decode::SamplingParams;
use sha2::{Digest, Sha256};

/// Seeds that depend only on a seed, a task and the number of generations of the output so far. So they are the same
/// for all arms, in any order of tasks, and in a continued run.
#[derive(Debug)]
pub(super) struct Draws {
    /// The sampling temperature; 0 is greedy.
    temperature: f32,
    task: String,
    seed: u64,
    generations: u64,
}

impl Draws {
    pub(super) fn new(temperature: f32) -> Draws {
        Draws { temperature, task: String::new(), seed: 0, generations: 0 }
    }

    /// Begins an output of a task.
    pub(super) fn begin(&mut self, task: &str, seed: u64) {
        *self = Draws { task: task.to_owned(), seed, ..Draws::new(self.temperature) };
    }

    /// Returns the sampling settings of the output's next generation.
    pub(super) fn next(&mut self) -> SamplingParams {
        let digest = Sha256::digest(format!("{} {} {}", self.seed, self.generations, self.task));
        self.generations += 1;
        let seed = digest.iter().take(8).fold(0, |seed, &byte| seed << 8 | u64::from(byte));
        SamplingParams::default().temperature(self.temperature).seed(seed)
    }
}
