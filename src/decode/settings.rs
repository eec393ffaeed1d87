//! The settings files that Hugging Face's tools put beside a model.

use super::errors;
use crate::error::{Error, Result};
use crate::limits::Limits;
use std::path::Path;

/// The text of a file; None if there is no such file.
pub(super) fn read_text(path: &Path, limits: &Limits) -> Result<Option<String>> {
    let file_error = |e: std::io::Error| Error::io(path, &e);
    let size = match std::fs::metadata(path) {
        Ok(metadata) => metadata.len(),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(file_error(e)),
    };
    if size > limits.source_bytes as u64 {
        return Err(Limits::exceeded("source_bytes", limits.source_bytes, format!("{size} bytes")));
    }
    std::fs::read_to_string(path).map(Some).map_err(file_error)
}

/// A JSON object.
pub(super) type Settings = serde_json::Map<String, serde_json::Value>;

/// The settings in a JSON file; none if there is no such file.
pub(super) fn read_settings(path: &Path, limits: &Limits) -> Result<Settings> {
    let Some(text) = read_text(path, limits)? else { return Ok(Settings::new()) };
    match serde_json::from_str(&text) {
        Ok(serde_json::Value::Object(settings)) => Ok(settings),
        Ok(_) => Err(errors::settings(path, "JSON that is no object")),
        Err(e) => Err(errors::settings(path, e.to_string())),
    }
}

/// A token is a string, or an object with its `content`.
pub(super) fn token_text(value: &serde_json::Value) -> Option<String> {
    value.as_str().or_else(|| value.get("content")?.as_str()).map(str::to_owned)
}
