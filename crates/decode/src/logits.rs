//! Views of the logits that a model computed.

use super::choice::{Choice, Chosen, HostChooser};
use super::errors;
use super::scores::log_probability_of;
use grammata::error::Result;
use std::fmt;

/// Logits of the rows that a batch requested, one logit in each row for each token of the model. They are borrowed from
/// the model until it is fed again.
#[derive(Debug)]
pub enum Logits<'m> {
    /// Rows in the memory of the host.
    Host(Vec<&'m [f32]>),
    /// Rows that the model left in the memory of its device. They can be used there or copied to the host.
    Device(&'m dyn DeviceLogits),
}

/// Rows of logits in the memory of a device.
pub trait DeviceLogits: fmt::Debug {
    /// Returns the number of rows.
    fn len(&self) -> usize;

    /// Returns whether there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the address of a row, for a kernel that runs on the device; `None` if there is no such row.
    fn row(&self, index: usize) -> Option<DeviceRow>;

    /// Copies a row to the host as 32-bit floats. The row replaces the contents of `out`.
    ///
    /// # Errors
    /// `decode/row-range`: there is no such row; or a failure of the device.
    fn copy(&self, index: usize, out: &mut Vec<f32>) -> Result<()>;

    /// Makes the given choices, each from a row, and returns the results in the same order. The default copies the rows
    /// to the host and chooses there; a device that can choose sends only the results. A choice can fail on its own,
    /// like [`Sampler::sample`](super::Sampler::sample), without affecting the others.
    ///
    /// # Errors
    /// `decode/row-range`: there is no such row; or a failure of the device.
    fn choose(&self, choices: &[Choice<'_>]) -> Result<Vec<Result<Chosen>>> {
        let (mut row, mut host) = (Vec::new(), HostChooser::default());
        let choose = |choice: &Choice<'_>| {
            self.copy(choice.row, &mut row)?;
            let token = host.choose(&row, choice);
            let score = |token| choice.scored.then(|| log_probability_of(&row, token));
            Ok(token.map(|token| Chosen { token, log_probability: score(token) }))
        };
        choices.iter().map(choose).collect()
    }
}

/// The place of a row of logits in the memory of a device: contiguous, valid until the model is fed again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceRow {
    /// The device's name as its runtime gives it, such as `Cpu` or `Cuda`.
    pub device: &'static str,
    /// The device's number, from 0.
    pub index: u32,
    /// Address of the first logit in the address space of the device.
    pub address: usize,
    /// Number of logits.
    pub length: usize,
    /// Whether the logits are 16-bit floats instead of 32-bit floats.
    pub half: bool,
}

impl Logits<'_> {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        match self {
            Logits::Host(rows) => rows.len(),
            Logits::Device(device) => device.len(),
        }
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a row in host memory: borrowed if it is there, otherwise copied into `buffer`.
    ///
    /// # Errors
    /// `decode/row-range`: there is no such row; or a failure of the device.
    pub fn row<'a>(&'a self, index: usize, buffer: &'a mut Vec<f32>) -> Result<&'a [f32]> {
        match self {
            Logits::Host(rows) => rows.get(index).copied().ok_or_else(|| errors::row(index, rows.len())),
            Logits::Device(device) => {
                device.copy(index, buffer)?;
                Ok(buffer)
            }
        }
    }
}
