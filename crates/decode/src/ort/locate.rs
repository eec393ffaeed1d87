//! Finding and loading ONNX Runtime's shared library.
//!
//! `ort` panics if its library is missing and it was not told where to look. So every use of it here begins with
//! [`environment`], which returns an error instead.

use super::errors;
use grammata::error::Result;
use ort::environment::Environment;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The environment, kept here because `ort` allows one per process and itself keeps only a weak reference to it.
static ENVIRONMENT: Mutex<Option<Environment>> = Mutex::new(None);

/// Returns the path of ONNX Runtime's library: ORT_DYLIB_PATH if it is set; otherwise the library in the nearest folder
/// `.ort`, of the current folder or of one above it, that has one; otherwise the library next to the executable. `None`
/// leaves the search to the system's loader.
///
/// # Errors
/// ORT_DYLIB_PATH is set and names no file.
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

/// Returns the library's description of its build. Loads the library if it is not loaded.
///
/// # Errors
/// The library is missing or cannot be used.
pub fn library_info() -> Result<&'static str> {
    environment()?;
    Ok(ort::info())
}

/// Returns the process's environment. The first successful call loads the library.
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
