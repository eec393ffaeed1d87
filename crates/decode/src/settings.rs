//! Reads the files of a model's folder. The folder is untrusted, and so are its links and the types of its files: only
//! regular files within it are opened, and reads are limited in size.

use super::errors;
use grammata::error::Result;
use grammata::limits::Limits;
use grammata_base::files;
use std::path::{Path, PathBuf};

/// Finds the file `name` of `folder`, with its links resolved. `None` if there is no such file.
///
/// A link may lead to anywhere in the folder. In the cache of Hugging Face's `huggingface_hub`, whose folders
/// `<repository>/snapshots/<revision>` hold links to `<repository>/blobs`, it may lead to anywhere in the repository.
///
/// # Errors
/// The file is not a regular file (a folder, a pipe, a device), is outside of that folder, or cannot be reached.
pub(super) fn find(folder: &Path, name: &str) -> Result<Option<PathBuf>> {
    if !is_there(folder, name) {
        return Ok(None);
    }
    files::find(folder, Path::new(name), &root(folder)?)
}

/// Returns whether `name` exists in `folder`, even as a dangling link. A name whose metadata cannot be read counts.
fn is_there(folder: &Path, name: &str) -> bool {
    let metadata = folder.join(name).symlink_metadata();
    !metadata.is_err_and(|cause| cause.kind() == std::io::ErrorKind::NotFound)
}

/// The folder that the links of `folder` may not leave.
fn root(folder: &Path) -> Result<PathBuf> {
    let real = files::resolved(folder)?;
    let snapshots = real.parent().filter(|parent| parent.file_name().is_some_and(|name| name == "snapshots"));
    let repository = snapshots.and_then(Path::parent).filter(|root| root.join("blobs").is_dir());
    Ok(repository.map_or_else(|| real.clone(), Path::to_owned))
}

/// The text of a file; None if there is no such file.
pub(super) fn read_text(folder: &Path, name: &str, limits: &Limits) -> Result<Option<String>> {
    if !is_there(folder, name) {
        return Ok(None);
    }
    let path = folder.join(name);
    let too_large = |_| errors::settings_size(&path, limits.source_bytes);
    let bytes = files::read_within(folder, Path::new(name), &root(folder)?, limits.source_bytes, too_large)?;
    let text = bytes.map(String::from_utf8).transpose();
    text.map_err(|cause| errors::not_utf8(&path, cause.utf8_error().valid_up_to()))
}

/// A JSON object.
pub(super) type Settings = serde_json::Map<String, serde_json::Value>;

/// Reads the settings in a JSON file; they are empty if there is no such file.
pub(super) fn read_settings(folder: &Path, name: &str, limits: &Limits) -> Result<Settings> {
    let Some(text) = read_text(folder, name, limits)? else { return Ok(Settings::new()) };
    match serde_json::from_str(&text) {
        Ok(serde_json::Value::Object(settings)) => Ok(settings),
        Ok(_) => Err(errors::settings(&folder.join(name), "JSON that is not an object", "")),
        Err(e) => Err(errors::settings_json(&folder.join(name), &text, &e)),
    }
}

/// A token is a string, or an object with its `content`.
pub(super) fn token_text(value: &serde_json::Value) -> Option<String> {
    value.as_str().or_else(|| value.get("content")?.as_str()).map(str::to_owned)
}
