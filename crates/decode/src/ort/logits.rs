//! The logits of a batch, in the tensors that the runs of the model returned.

use super::chooser::{Chooser, Placed};
use super::copied::{Counts, count};
use super::errors;
use super::session::Device;
use crate::choice::{Choice, Chosen};
use crate::logits::{DeviceLogits, DeviceRow, Logits};
use grammata::error::Result;
use half::f16;
use ort::memory::AllocationDevice;
use ort::value::DynTensor;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The rows of logits that a batch requested.
#[derive(Debug)]
pub(super) struct KeptLogits {
    /// number of logits of a row
    width: usize,
    /// whether the tensors hold 16-bit floats instead of 32-bit floats
    half: bool,
    /// the device that holds the tensors; `None` if they are on the host
    device: Option<OnDevice>,
    parts: Vec<Part>,
    /// for each row, the index of its part and its index within the part
    order: Vec<(usize, usize)>,
}

/// The device whose memory holds logits, and its chooser.
#[derive(Clone, Debug)]
pub(super) struct OnDevice {
    pub(super) device: Device,
    pub(super) chooser: Arc<Mutex<Chooser>>,
    pub(super) counts: Arc<Counts>,
}

/// Rows from one run of the model.
#[derive(Debug)]
enum Part {
    /// A tensor of 32-bit floats on the host.
    Tensor(DynTensor),
    /// Rows that were copied from a tensor of 32-bit or 16-bit floats.
    Copied(Vec<f32>),
    /// A tensor on the device, and a copy of all its rows on the host once one of them was requested.
    Device(DynTensor, OnceLock<Vec<f32>>),
}

impl KeptLogits {
    /// Creates an object without parts, for `rows` rows of `width` logits that are pushed later.
    pub(super) fn new(rows: usize, width: usize, half: bool, device: Option<OnDevice>) -> KeptLogits {
        KeptLogits { width, half, device, parts: Vec::new(), order: vec![(0, 0); rows] }
    }

    /// Stores rows of `tensor`, which has the shape `[sequences, positions, width]`. `wanted` holds, for each row, its
    /// index in the answer and its index in the tensor, `sequence * positions + position`. On the host, a tensor of
    /// 32-bit floats is kept if all of its rows are requested in order. Otherwise the requested rows are copied and the
    /// tensor is freed, because the logits of a prompt take some hundred megabytes.
    pub(super) fn push(&mut self, tensor: DynTensor, wanted: &[(usize, usize)]) -> ort::Result<()> {
        let places = wanted.iter().map(|&(_, place)| place);
        let (part, in_place) = if self.device.is_some() {
            (Part::Device(tensor, OnceLock::new()), true)
        } else if self.half {
            (Part::Copied(widened(&tensor, places, self.width)?), false)
        } else {
            let (_, all) = tensor.try_extract_tensor::<f32>()?;
            if places.clone().eq(0..all.len() / self.width.max(1)) {
                (Part::Tensor(tensor), true)
            } else {
                let rows = places.flat_map(|place| slice(all, place, self.width));
                (Part::Copied(rows.copied().collect()), false)
            }
        };
        for (copied, &(row, place)) in wanted.iter().enumerate() {
            if let Some(entry) = self.order.get_mut(row) {
                *entry = (self.parts.len(), if in_place { place } else { copied });
            }
        }
        self.parts.push(part);
        Ok(())
    }

    pub(super) fn view(&self) -> Result<Logits<'_>> {
        if self.device.is_some() {
            return Ok(Logits::Device(self));
        }
        let rows = (0..self.order.len()).map(|row| self.on_host(row)).collect::<Result<_>>()?;
        Ok(Logits::Host(rows))
    }

    fn part(&self, row: usize) -> Option<(&Part, usize)> {
        self.order.get(row).and_then(|&(part, place)| Some((self.parts.get(part)?, place)))
    }

    /// Returns a row in host memory. A tensor on the device is copied to the host as a whole when its first row is
    /// requested.
    fn on_host(&self, row: usize) -> Result<&[f32]> {
        let (part, place) = self.part(row).ok_or_else(|| crate::errors::row(row, self.order.len()))?;
        let all = match part {
            Part::Tensor(tensor) => tensor.try_extract_tensor::<f32>().map_err(errors::run)?.1,
            Part::Copied(rows) => rows,
            Part::Device(tensor, copy) => match copy.get() {
                Some(copy) => copy,
                None => {
                    let copied = self.copied(tensor).map_err(errors::run)?;
                    copy.get_or_init(|| copied)
                }
            },
        };
        Ok(slice(all, place, self.width))
    }

    fn copied(&self, tensor: &DynTensor) -> ort::Result<Vec<f32>> {
        if let Some(device) = &self.device {
            let bytes = if self.half { size_of::<f16>() } else { size_of::<f32>() };
            count(&device.counts.logits, tensor.shape().num_elements() * bytes);
        }
        let tensor = tensor.to(AllocationDevice::CPU, 0)?;
        match self.half {
            true => widened(&tensor, 0..tensor.shape().num_elements() / self.width.max(1), self.width),
            false => Ok(tensor.try_extract_tensor::<f32>()?.1.to_vec()),
        }
    }
}

impl DeviceLogits for KeptLogits {
    fn len(&self) -> usize {
        self.order.len()
    }

    fn row(&self, index: usize) -> Option<DeviceRow> {
        let (Part::Device(tensor, _), place) = self.part(index)? else { return None };
        let (device, index) = match self.device.as_ref()?.device {
            Device::Cpu => ("Cpu", 0),
            Device::Cuda(number) => ("Cuda", number),
        };
        let bytes = if self.half { size_of::<f16>() } else { size_of::<f32>() };
        let address = (tensor.data_ptr() as usize).checked_add(place * self.width * bytes)?;
        Some(DeviceRow { device, index, address, length: self.width, half: self.half })
    }

    fn copy(&self, index: usize, out: &mut Vec<f32>) -> Result<()> {
        let row = self.on_host(index)?;
        out.clear();
        out.extend_from_slice(row);
        Ok(())
    }

    /// Runs the graph once for each tensor that has a row to choose from.
    fn choose(&self, choices: &[Choice<'_>]) -> Result<Vec<Result<Chosen>>> {
        let mut chosen: Vec<Option<Result<Chosen>>> = choices.iter().map(|_| None).collect();
        let device = self.device.as_ref().ok_or_else(|| crate::errors::row(0, 0))?;
        let mut chooser = device.chooser.lock().unwrap_or_else(PoisonError::into_inner);
        for (number, part) in self.parts.iter().enumerate() {
            let Part::Device(tensor, _) = part else { continue };
            let here = |choice: &Choice<'_>| {
                self.order.get(choice.row).filter(|order| order.0 == number).map(|order| order.1)
            };
            let both = choices.iter().zip(&mut chosen);
            let (placed, slots): (Vec<Placed<'_>>, Vec<&mut Option<Result<Chosen>>>) = both
                .filter_map(|(choice, slot)| Some((Placed { place: here(choice)?, choice }, slot)))
                .unzip();
            if placed.is_empty() {
                continue;
            }
            for (slot, made) in slots.into_iter().zip(chooser.choose(tensor, &placed)?) {
                *slot = Some(made);
            }
        }
        let missing = |choice: &Choice<'_>| crate::errors::row(choice.row, self.order.len());
        chosen.into_iter().zip(choices).map(|(made, choice)| made.ok_or_else(|| missing(choice))).collect()
    }
}

fn slice<T>(all: &[T], row: usize, width: usize) -> &[T] {
    all.get(row * width..(row + 1) * width).unwrap_or_default()
}

/// Returns the given rows of a tensor of 16-bit floats as 32-bit floats, one after the other.
fn widened(tensor: &DynTensor, rows: impl Iterator<Item = usize>, width: usize) -> ort::Result<Vec<f32>> {
    let (_, all) = tensor.try_extract_tensor::<f16>()?;
    Ok(rows.flat_map(|row| slice(all, row, width)).map(|x| x.to_f32()).collect())
}
