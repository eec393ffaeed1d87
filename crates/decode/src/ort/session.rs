//! Sessions: a model file loaded on a device.

use super::errors;
use super::locate::environment;
use grammata::diagnostic::Diagnostic;
use grammata::error::Result;
use ort::environment::Environment;
use ort::memory::{AllocationDevice, AllocatorType, MemoryInfo, MemoryType};
use ort::session::Session;
use ort::session::builder::{GraphOptimizationLevel, SessionBuilder};
use std::path::Path;

/// A device that runs a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Device {
    /// The CPU.
    #[default]
    Cpu,
    /// An NVIDIA GPU by its number, from 0. Needs the feature `cuda` and an ONNX Runtime built for CUDA; otherwise a
    /// model is loaded on the CPU, and a notice says so.
    Cuda(u32),
}

/// The settings of all sessions on one device.
#[derive(Clone, Debug)]
pub(super) struct Runtime {
    environment: Environment,
    pub(super) device: Device,
    threads: usize,
}

impl Runtime {
    pub(super) fn new(environment: Environment, device: Device, threads: usize) -> Runtime {
        Runtime { environment, device, threads }
    }

    /// Returns a builder of sessions with the settings of this runtime.
    pub(super) fn builder(&self) -> ort::Result<SessionBuilder> {
        let mut builder = Session::builder(&self.environment)?
            .with_optimization_level(GraphOptimizationLevel::All)
            .map_err(plain)?;
        if self.threads > 0 {
            builder = builder.with_intra_threads(self.threads).map_err(plain)?;
        }
        match self.device {
            Device::Cpu => Ok(builder),
            Device::Cuda(number) => with_cuda(builder, number),
        }
    }

    /// Returns the description of the memory of the device, as ONNX Runtime needs it.
    pub(super) fn memory(&self) -> Result<MemoryInfo<'static>> {
        let (device, number) = match self.device {
            Device::Cpu => (AllocationDevice::CPU, 0),
            Device::Cuda(number) => (AllocationDevice::CUDA, i32::try_from(number).unwrap_or(i32::MAX)),
        };
        MemoryInfo::new(device, number, AllocatorType::Device, MemoryType::Default).map_err(errors::run)
    }
}

/// Returns the description of host memory to which a device writes its results.
pub(super) fn host_memory() -> Result<MemoryInfo<'static>> {
    MemoryInfo::new(AllocationDevice::CPU, 0, AllocatorType::Device, MemoryType::CPUOutput)
        .map_err(errors::run)
}

/// A session, the settings that it was loaded with, and notices for the caller.
pub(super) struct Loaded {
    pub(super) session: Session,
    pub(super) runtime: Runtime,
    pub(super) notices: Vec<Diagnostic>,
}

/// Loads the model `path` on `device` with `threads` threads per operator (0: as many as there are cores). If the
/// session cannot be created on a device other than the CPU, the CPU is used and a notice says so.
pub(super) fn load(path: &Path, device: Device, threads: usize) -> Result<Loaded> {
    let environment = environment()?;
    // the file is opened first, so that a wrong path is not reported as a wrong model
    grammata_base::files::open(path)?;
    let mut notices = Vec::new();
    let mut runtime = Runtime::new(environment, device, threads);
    let commit = |runtime: &Runtime| runtime.builder().and_then(|mut builder| builder.commit_from_file(path));
    let session = match commit(&runtime) {
        Err(reason) if device != Device::Cpu => {
            notices.push(errors::no_cuda(reason));
            runtime.device = Device::Cpu;
            commit(&runtime)
        }
        session => session,
    };
    let session = session.map_err(|e| errors::model_file(path, e))?;
    Ok(Loaded { session, runtime, notices })
}

/// Converts an error that holds a builder to one without it. Only its code and message are used.
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
    // TF32 keeps 10 bits of a product: the same text in other pieces would get other logits
    let provider =
        ort::ep::CUDA::default().with_device_id(number).with_tf32(false).build().error_on_failure();
    builder.with_execution_providers([provider]).map_err(plain)
}

#[cfg(not(feature = "cuda"))]
fn with_cuda(_: SessionBuilder, _: u32) -> ort::Result<SessionBuilder> {
    Err(ort::Error::new("this build of Grammata has no feature `cuda`"))
}
