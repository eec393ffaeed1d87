//! Reads the files of a model's folder. The folder is untrusted, and so are its links and the types of its files. Only
//! regular files within it are opened, and reads are limited in size.

use super::errors;
use grammata::error::Result;
use grammata::limits::Limits;
use grammata_base::files;
use std::path::{Path, PathBuf};

/// Finds the file `name` of `folder`, with its links resolved. `None` if there is no such file.
///
/// A link may lead to any file in the folder. The cache of Hugging Face's `huggingface_hub` has folders
/// `<repository>/snapshots/<revision>` that hold links to `<repository>/blobs`; in such a folder, a link may lead to
/// any file in the repository.
///
/// # Errors
/// The file is not a regular file (a folder, a pipe, a device), is outside the folder or repository, or cannot be
/// reached.
pub(super) fn find(folder: &Path, name: &str) -> Result<Option<PathBuf>> {
    if !is_there(folder, name) {
        return Ok(None);
    }
    files::find(folder, Path::new(name), &root(folder)?)
}

/// Returns whether `name` exists in `folder`, also as a dangling link, or has metadata that cannot be read.
fn is_there(folder: &Path, name: &str) -> bool {
    let metadata = folder.join(name).symlink_metadata();
    !metadata.is_err_and(|cause| cause.kind() == std::io::ErrorKind::NotFound)
}

/// Returns the folder that links in `folder` may not lead out of: the repository in the cache of `huggingface_hub`,
/// otherwise `folder` with its links resolved.
fn root(folder: &Path) -> Result<PathBuf> {
    let real = files::resolved(folder)?;
    let snapshots = real.parent().filter(|parent| parent.file_name().is_some_and(|name| name == "snapshots"));
    let repository = snapshots.and_then(Path::parent).filter(|root| root.join("blobs").is_dir());
    Ok(repository.map_or_else(|| real.clone(), Path::to_owned))
}

/// Returns the text of the file `name` of `folder`; `None` if there is no such file.
///
/// # Errors
/// Errors of [`find`]; the file cannot be read, has more than `limits.source_bytes` bytes, or is not UTF-8.
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

/// The members of a settings file, which is a JSON object.
pub(super) type Settings = serde_json::Map<String, serde_json::Value>;

/// Reads the JSON object in the file `name` of `folder`; empty if there is no such file.
///
/// # Errors
/// Errors of [`read_text`]; `decode/settings`: the file is not a JSON object.
pub(super) fn read_settings(folder: &Path, name: &str, limits: &Limits) -> Result<Settings> {
    let Some(text) = read_text(folder, name, limits)? else { return Ok(Settings::new()) };
    match serde_json::from_str(&text) {
        Ok(serde_json::Value::Object(settings)) => Ok(settings),
        Ok(_) => Err(errors::settings(&folder.join(name), "JSON that is not an object", "")),
        Err(e) => Err(errors::settings_json(&folder.join(name), &text, &e)),
    }
}

/// Returns the text of a token in a settings file: the value itself if it is a string, or the member `content` of an
/// object. `None` for any other value.
pub(super) fn token_text(value: &serde_json::Value) -> Option<String> {
    value.as_str().or_else(|| value.get("content")?.as_str()).map(str::to_owned)
}
