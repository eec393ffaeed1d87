//! Finding and loading ONNX Runtime's shared library.
//!
//! `ort` panics if its library is missing and it was not told where to look. So every use of `ort` in this crate begins
//! with [`environment`], which returns an error instead.

use super::errors;
use grammata::error::Result;
use ort::environment::Environment;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The environment of ONNX Runtime. It is stored here because `ort` allows one per process and itself keeps only a weak
/// reference to it.
static ENVIRONMENT: Mutex<Option<Environment>> = Mutex::new(None);

/// Returns the path of ONNX Runtime's library: the value of ORT_DYLIB_PATH as an absolute path, if it is set and not
/// empty; otherwise the library in the nearest folder `.ort` that has one, in the current folder or a folder above it;
/// otherwise the library next to the executable. `None` if there is none: the loader of the system then searches for
/// it.
///
/// # Errors
/// `decode/ort-missing`: ORT_DYLIB_PATH is set but is not the path of a file.
pub fn locate() -> Result<Option<PathBuf>> {
    if let Some(path) = std::env::var_os("ORT_DYLIB_PATH").filter(|p| !p.is_empty()).map(PathBuf::from) {
        // made absolute, because `ort` would look next to the executable first
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

/// Returns ONNX Runtime's description of its build. Loads the library if it is not loaded.
///
/// # Errors
/// `decode/ort-missing` or `decode/ort-unusable`: the library is missing or cannot be used.
pub fn library_info() -> Result<&'static str> {
    environment()?;
    Ok(ort::info())
}

/// Returns the environment of the process. The first successful call loads the library.
///
/// # Errors
/// Errors of [`locate`]; `decode/ort-missing` or `decode/ort-unusable`: the library is missing or cannot be used.
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
