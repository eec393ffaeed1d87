//! The files of a model's folder. The folder comes from outside, and so do its links and the kinds of its files: only
//! regular files within it are opened, and no more than a limit is read of them.

use super::errors;
use crate::error::{Error, Result};
use crate::limits::Limits;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The file `name` of `folder` with its links followed; None if there is none.
///
/// A link may lead to anywhere in the folder. In the cache of Hugging Face's `huggingface_hub`, whose folders
/// `<repository>/snapshots/<revision>` hold links to `<repository>/blobs`, it may lead to anywhere in the repository.
///
/// # Errors
/// The file is no regular file (a folder, a pipe, a device), lies elsewhere, or cannot be reached.
pub(super) fn find(folder: &Path, name: &str) -> Result<Option<PathBuf>> {
    let path = folder.join(name);
    let real = match path.canonicalize() {
        Ok(real) => real,
        // a link to nothing is no missing file
        Err(e) if e.kind() == std::io::ErrorKind::NotFound && path.symlink_metadata().is_err() => {
            return Ok(None);
        }
        Err(e) => return Err(Error::io(&path, &e)),
    };
    let root = root(folder)?;
    if !real.starts_with(&root) {
        return Err(errors::outside_folder(&path, &real, &root));
    }
    // asked before it is opened: to open a pipe waits for its other end
    let metadata = real.metadata().map_err(|e| Error::io(&path, &e))?;
    if !metadata.is_file() {
        return Err(errors::no_regular_file(&path, metadata.file_type()));
    }
    Ok(Some(real))
}

/// The folder that the links of `folder` may not leave.
fn root(folder: &Path) -> Result<PathBuf> {
    // `.` for the folder of a bare file name
    let named = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let real = named.canonicalize().map_err(|e| Error::io(folder, &e))?;
    let snapshots = real.parent().filter(|parent| parent.file_name().is_some_and(|name| name == "snapshots"));
    let repository = snapshots.and_then(Path::parent).filter(|root| root.join("blobs").is_dir());
    Ok(repository.map_or_else(|| real.clone(), Path::to_owned))
}

/// The text of a file; None if there is no such file.
pub(super) fn read_text(folder: &Path, name: &str, limits: &Limits) -> Result<Option<String>> {
    let Some(real) = find(folder, name)? else { return Ok(None) };
    let path = folder.join(name);
    let file_error = |e: std::io::Error| Error::io(&path, &e);
    let mut bytes = Vec::new();
    let file = std::fs::File::open(&real).map_err(file_error)?;
    // a file may grow, or be larger than it says
    file.take(limits.source_bytes as u64 + 1).read_to_end(&mut bytes).map_err(file_error)?;
    if bytes.len() > limits.source_bytes {
        return Err(errors::settings_size(&path, limits.source_bytes));
    }
    String::from_utf8(bytes).map(Some).map_err(|e| errors::not_utf8(&path, e.utf8_error().valid_up_to()))
}

/// A JSON object.
pub(super) type Settings = serde_json::Map<String, serde_json::Value>;

/// The settings in a JSON file; none if there is no such file.
pub(super) fn read_settings(folder: &Path, name: &str, limits: &Limits) -> Result<Settings> {
    let Some(text) = read_text(folder, name, limits)? else { return Ok(Settings::new()) };
    match serde_json::from_str(&text) {
        Ok(serde_json::Value::Object(settings)) => Ok(settings),
        Ok(_) => Err(errors::settings(&folder.join(name), "JSON that is no object", "")),
        Err(e) => Err(errors::settings_json(&folder.join(name), &text, &e)),
    }
}

/// A token is a string, or an object with its `content`.
pub(super) fn token_text(value: &serde_json::Value) -> Option<String> {
    value.as_str().or_else(|| value.get("content")?.as_str()).map(str::to_owned)
}
