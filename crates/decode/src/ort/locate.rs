//! Finding and loading ONNX Runtime's shared library.
//!
//! `ort` panics when its library is missing and it was not told where to look; so every use of it here begins with
//! [`environment`], which reports instead.

use super::errors;
use grammata::error::Result;
use ort::environment::Environment;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// `ort` allows one environment a process and keeps only a weak hold of it.
static ENVIRONMENT: Mutex<Option<Environment>> = Mutex::new(None);

/// Where ONNX Runtime's library is: ORT_DYLIB_PATH if it is set; else the folder `.ort` of the current folder or of the
/// nearest folder above it that has one; else beside the executable. None leaves it to the system's loader.
///
/// # Errors
/// ORT_DYLIB_PATH is set and names no file.
pub fn locate() -> Result<Option<PathBuf>> {
    if let Some(path) = std::env::var_os("ORT_DYLIB_PATH").filter(|p| !p.is_empty()).map(PathBuf::from) {
        // made absolute, because `ort` would look beside the executable first
        let path = std::path::absolute(&path).unwrap_or(path);
        return if path.is_file() { Ok(Some(path)) } else { Err(errors::library_path(&path)) };
    }
    let current = std::env::current_dir().unwrap_or_default();
    let executable = std::env::current_exe().unwrap_or_default();
    let places = current
        .ancestors()
        .map(|folder| folder.join(".ort"))
        .chain(executable.parent().map(Path::to_path_buf));
    Ok(places.map(|folder| folder.join(library_name())).find(|path| path.is_file()))
}

/// What the library says of its build. Loads it.
///
/// # Errors
/// The library is missing or cannot be used.
pub fn library_info() -> Result<&'static str> {
    environment()?;
    Ok(ort::info())
}

/// The process's environment; the first call loads the library.
pub(super) fn environment() -> Result<Environment> {
    let mut slot = ENVIRONMENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(environment) = slot.as_ref() {
        return Ok(environment.clone());
    }
    let found = locate()?;
    let path = found.clone().unwrap_or_else(|| PathBuf::from(library_name()));
    let builder = ort::init_from(&path).map_err(|e| match found {
        Some(_) => errors::library_unusable(&path, e),
        None => errors::library_missing("ORT_DYLIB_PATH, .ort/ and the executable's folder", &e.to_string()),
    })?;
    let environment = builder
        .with_name("grammata")
        .with_telemetry(false)
        .build()
        .map_err(|e| errors::library_unusable(&path, e))?;
    *slot = Some(environment.clone());
    Ok(environment)
}

fn library_name() -> &'static str {
    if cfg!(target_os = "windows") {
        "onnxruntime.dll"
    } else if cfg!(target_os = "macos") {
        "libonnxruntime.dylib"
    } else {
        "libonnxruntime.so"
    }
}
