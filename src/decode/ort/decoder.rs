//! The decoder: one sequence, its cache and its last logits.

use super::errors;
use super::interface::{Interface, PastShape};
use super::session::{Device, Loaded, load};
use crate::decode::model::LanguageModel;
use crate::diagnostic::Diagnostic;
use crate::error::Result;
use half::f16;
use ort::memory::{AllocationDevice, Allocator, AllocatorType, MemoryInfo, MemoryType};
use ort::session::{IoBinding, Session};
use ort::value::{DynTensor, DynValue, PrimitiveTensorElementType, Tensor, TensorElementType};
use std::path::Path;

/// How a decoder is loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DecoderOptions {
    /// Threads of one operator; 0 (the default) takes one a core.
    pub threads: usize,
    /// Where it runs; the processor by default.
    pub device: Device,
    /// The model's context in tokens, as [`ModelFolder`](crate::decode::ModelFolder) reads it. Unknown by default: a
    /// sequence that is too long is then an error of the model.
    pub context_length: Option<usize>,
}

/// A language model in an ONNX file.
///
/// The cache stays on the device between steps; only the logits come back, borrowed where they are 32-bit floats.
#[derive(Debug)]
pub struct OrtDecoder {
    session: Session,
    binding: IoBinding,
    interface: Interface,
    past_names: Vec<String>,
    present_names: Vec<String>,
    device: Device,
    cache_memory: MemoryInfo<'static>,
    logits_memory: MemoryInfo<'static>,
    context_length: Option<usize>,
    notices: Vec<Diagnostic>,
    /// the sequence
    tokens: Vec<i64>,
    /// how many of `tokens` the cache holds: all, or none after a truncation that the device could not do
    cached: usize,
    past: Vec<DynValue>,
    logits: Option<DynValue>,
    /// 16-bit logits of the last position as 32-bit ones
    widened: Vec<f32>,
}

impl OrtDecoder {
    /// Loads the model at `path`.
    ///
    /// # Errors
    /// ONNX Runtime is missing, the file cannot be read or is no model, or its inputs and outputs are not those of
    /// [`Interface`].
    pub fn load(path: &Path, options: &DecoderOptions) -> Result<OrtDecoder> {
        let Loaded { session, memory, device, notices } = load(path, options.device, options.threads)?;
        let interface = Interface::of(&session)?;
        let logits_memory =
            MemoryInfo::new(AllocationDevice::CPU, 0, AllocatorType::Device, MemoryType::CPUOutput);
        let mut decoder = OrtDecoder {
            binding: session.create_binding().map_err(errors::run)?,
            past_names: interface.past_names(),
            present_names: interface.present_names(),
            device,
            cache_memory: memory,
            logits_memory: logits_memory.map_err(errors::run)?,
            context_length: options.context_length,
            notices,
            tokens: Vec::new(),
            cached: 0,
            past: Vec::new(),
            logits: None,
            widened: Vec::new(),
            session,
            interface,
        };
        decoder.clear_cache()?;
        Ok(decoder)
    }

    /// The model's form.
    pub fn interface(&self) -> &Interface {
        &self.interface
    }

    /// Where the model runs.
    pub fn device(&self) -> Device {
        self.device
    }

    /// What the caller should be told: that CUDA could not be used, for instance.
    pub fn notices(&self) -> &[Diagnostic] {
        &self.notices
    }

    fn clear_cache(&mut self) -> Result<()> {
        let empty: Result<Vec<DynValue>> = self.interface.past.iter().map(empty_past).collect();
        self.past = empty?;
        self.cached = 0;
        Ok(())
    }

    /// Runs the model on the tokens after the cached ones; the cache and the logits change only if it succeeds.
    fn run(&mut self) -> Result<()> {
        let (start, end) = (self.cached, self.tokens.len());
        let new = self.tokens.get(start..).unwrap_or_default().to_vec();
        let positions: Vec<i64> = (start as i64..end as i64).collect();
        let present = self.bind_and_run(new, positions).map_err(errors::run);
        // the binding would keep the last cache alive beside the next one
        self.binding.clear();
        let (logits, present) = present?;
        self.check(&logits, &present, end)?;
        self.past = present;
        self.logits = Some(logits);
        self.cached = end;
        Ok(())
    }

    fn bind_and_run(&mut self, new: Vec<i64>, positions: Vec<i64>) -> ort::Result<(DynValue, Vec<DynValue>)> {
        let count = new.len();
        let binding = &mut self.binding;
        binding.bind_input("input_ids", &Tensor::from_array(([1, count], new))?)?;
        let total = self.cached + count;
        binding.bind_input("attention_mask", &Tensor::from_array(([1, total], vec![1_i64; total]))?)?;
        if self.interface.position_ids {
            binding.bind_input("position_ids", &Tensor::from_array(([1, count], positions))?)?;
        }
        for (name, value) in self.past_names.iter().zip(&self.past) {
            binding.bind_input(name, value)?;
        }
        // bound anew each step, because the shapes grow
        binding.bind_output_to_device("logits", &self.logits_memory)?;
        for name in &self.present_names {
            binding.bind_output_to_device(name, &self.cache_memory)?;
        }
        let mut outputs = self.session.run_binding(binding)?;
        let mut take = |name: &str| {
            outputs.remove(name).ok_or_else(|| ort::Error::new(format!("the model gave no output `{name}`")))
        };
        let logits = take("logits")?;
        let present = self.present_names.iter().map(|name| take(name)).collect::<ort::Result<_>>()?;
        Ok((logits, present))
    }

    /// A model may give other shapes than it announced.
    fn check(&self, logits: &DynValue, present: &[DynValue], length: usize) -> Result<()> {
        let shape = shape_of(logits);
        if !matches!(shape, [1, n, v] if *n > 0 && *v == self.interface.vocabulary as i64) {
            return Err(errors::interface("the model gave logits of another shape", format!("{shape:?}")));
        }
        for ((value, expected), name) in present.iter().zip(&self.interface.past).zip(&self.present_names) {
            let shape = shape_of(value);
            if shape != [1, expected.heads as i64, length as i64, expected.size as i64] {
                return Err(errors::interface(
                    format!("the model gave `{name}` of another shape"),
                    format!("{shape:?}"),
                ));
            }
        }
        Ok(())
    }

    /// The logits of the last position.
    fn last_logits(&mut self) -> Result<&[f32]> {
        let size = self.interface.vocabulary;
        let Some(logits) = &self.logits else { return Err(errors::no_tokens()) };
        if !self.interface.half_logits {
            let (_, all) = logits.try_extract_tensor::<f32>().map_err(errors::run)?;
            return Ok(all.get(all.len().saturating_sub(size)..).unwrap_or_default());
        }
        let (_, all) = logits.try_extract_tensor::<f16>().map_err(errors::run)?;
        let last = all.get(all.len().saturating_sub(size)..).unwrap_or_default();
        self.widened.clear();
        self.widened.extend(last.iter().map(|x| x.to_f32()));
        Ok(&self.widened)
    }
}

impl LanguageModel for OrtDecoder {
    fn vocabulary_size(&self) -> usize {
        self.interface.vocabulary
    }

    fn context_length(&self) -> Option<usize> {
        self.context_length
    }

    fn length(&self) -> usize {
        self.tokens.len()
    }

    fn step(&mut self, tokens: &[u32]) -> Result<&[f32]> {
        if tokens.is_empty() {
            return Err(errors::no_tokens());
        }
        if let Some(&bad) = tokens.iter().find(|&&token| token as usize >= self.interface.vocabulary) {
            return Err(errors::token(bad, self.interface.vocabulary));
        }
        let before = self.tokens.len();
        if let Some(limit) = self.context_length.filter(|&limit| before + tokens.len() > limit) {
            return Err(errors::context(before + tokens.len(), limit));
        }
        self.tokens.extend(tokens.iter().map(|&token| i64::from(token)));
        if let Err(error) = self.run() {
            self.tokens.truncate(before);
            return Err(error);
        }
        self.last_logits()
    }

    /// Cuts the cache where the processor can read it. Elsewhere the tokens that stay are fed again with the next step.
    fn truncate(&mut self, length: usize) -> Result<()> {
        if length > self.tokens.len() {
            return Err(errors::truncate(length, self.tokens.len()));
        }
        if length == self.tokens.len() {
            return Ok(());
        }
        if length == 0 || length > self.cached || self.device != Device::Cpu {
            self.clear_cache()?;
        } else {
            let shapes = self.interface.past.iter();
            let cut: ort::Result<Vec<_>> =
                self.past.iter().zip(shapes).map(|(v, s)| cut_past(v, s, length)).collect();
            self.past = cut.map_err(errors::run)?;
            self.cached = length;
        }
        self.tokens.truncate(length);
        self.logits = None;
        Ok(())
    }
}

fn shape_of(value: &DynValue) -> &[i64] {
    value.dtype().tensor_shape().map_or(&[], |shape| &shape[..])
}

fn empty_past(shape: &PastShape) -> Result<DynValue> {
    let kind = if shape.half { TensorElementType::Float16 } else { TensorElementType::Float32 };
    let dimensions = [1, shape.heads, 0, shape.size];
    Ok(DynTensor::new(&Allocator::default(), kind, dimensions).map_err(errors::run)?.into_dyn())
}

fn cut_past(value: &DynValue, shape: &PastShape, length: usize) -> ort::Result<DynValue> {
    if shape.half { cut_rows::<f16>(value, shape, length) } else { cut_rows::<f32>(value, shape, length) }
}

/// The first `length` rows of every head.
fn cut_rows<T: PrimitiveTensorElementType + Copy + std::fmt::Debug + 'static>(
    value: &DynValue,
    shape: &PastShape,
    length: usize,
) -> ort::Result<DynValue> {
    let (dimensions, all) = value.try_extract_tensor::<T>()?;
    let before = dimensions.get(2).and_then(|&n| usize::try_from(n).ok()).unwrap_or(0);
    let mut kept: Vec<T> = Vec::with_capacity(shape.heads * length * shape.size);
    for head in all.chunks_exact((before * shape.size).max(1)) {
        kept.extend(head.iter().take(length * shape.size));
    }
    Ok(Tensor::from_array(([1, shape.heads, length, shape.size], kept))?.into_dyn())
}
