//! Sessions: a model file loaded on a device.

use super::errors;
use super::locate::environment;
use grammata::diagnostic::Diagnostic;
use grammata::error::Result;
use ort::memory::{AllocationDevice, AllocatorType, MemoryInfo, MemoryType};
use ort::session::Session;
use ort::session::builder::{GraphOptimizationLevel, SessionBuilder};
use std::path::Path;

/// Where a model runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Device {
    /// The processor.
    #[default]
    Cpu,
    /// An NVIDIA device by its number, from 0. Needs the feature `cuda`, and an ONNX Runtime built for it; otherwise
    /// the processor is used and a notice says so.
    Cuda(u32),
}

/// A session, the memory its cache lies in, and what the caller should be told.
pub(super) struct Loaded {
    pub(super) session: Session,
    pub(super) memory: MemoryInfo<'static>,
    pub(super) device: Device,
    pub(super) notices: Vec<Diagnostic>,
}

/// Loads `path` on `device` with `threads` threads (0: as many as there are cores).
pub(super) fn load(path: &Path, device: Device, threads: usize) -> Result<Loaded> {
    let environment = environment()?;
    // the file is opened first, so that a wrong path is not reported as a wrong model
    grammata_base::files::open(path)?;
    let mut notices = Vec::new();
    if let Device::Cuda(number) = device {
        let builder = builder(&environment, threads).map_err(|e| errors::model_file(path, e))?;
        match with_cuda(builder, number).and_then(|mut builder| builder.commit_from_file(path)) {
            Ok(session) => return loaded(session, device, notices),
            Err(reason) => notices.push(errors::no_cuda(reason)),
        }
    }
    let session = builder(&environment, threads)
        .and_then(|mut builder| builder.commit_from_file(path))
        .map_err(|e| errors::model_file(path, e))?;
    loaded(session, Device::Cpu, notices)
}

fn loaded(session: Session, device: Device, notices: Vec<Diagnostic>) -> Result<Loaded> {
    let memory = match device {
        Device::Cpu => MemoryInfo::new(AllocationDevice::CPU, 0, AllocatorType::Device, MemoryType::Default),
        Device::Cuda(number) => {
            let number = i32::try_from(number).unwrap_or(i32::MAX);
            MemoryInfo::new(AllocationDevice::CUDA, number, AllocatorType::Device, MemoryType::Default)
        }
    };
    Ok(Loaded { session, memory: memory.map_err(errors::run)?, device, notices })
}

fn builder(environment: &ort::environment::Environment, threads: usize) -> ort::Result<SessionBuilder> {
    let mut builder =
        Session::builder(environment)?.with_optimization_level(GraphOptimizationLevel::All).map_err(plain)?;
    if threads > 0 {
        builder = builder.with_intra_threads(threads).map_err(plain)?;
    }
    Ok(builder)
}

/// The error of a builder's method holds the builder; only its message is of use.
fn plain(error: ort::Error<SessionBuilder>) -> ort::Error {
    ort::Error::new_with_code(error.code(), error.message())
}

#[cfg(feature = "cuda")]
fn with_cuda(builder: SessionBuilder, number: u32) -> ort::Result<SessionBuilder> {
    // the CUDA libraries need not be on the loader's path
    if let Some(folder) = std::env::var_os("CUDA_LIB_PATH") {
        ort::ep::cuda::preload_dylibs(Some(Path::new(&folder)), None)?;
    }
    let number = i32::try_from(number).map_err(|_| ort::Error::new("no CUDA device has this number"))?;
    let provider = ort::ep::CUDA::default().with_device_id(number).build().error_on_failure();
    builder.with_execution_providers([provider]).map_err(plain)
}

#[cfg(not(feature = "cuda"))]
fn with_cuda(_: SessionBuilder, _: u32) -> ort::Result<SessionBuilder> {
    Err(ort::Error::new("this build of Grammata has no feature `cuda`"))
}
