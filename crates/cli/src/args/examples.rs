//! The examples that come with a grammar: files in `accept/` and `reject/`.

use crate::io::errors;
use grammata::error::{Error, Result};
use std::path::{Path, PathBuf};

/// Returns the files directly in `folder/accept` with `true`, since they must be accepted, and then those directly in
/// `folder/reject` with `false`. Each group is sorted by path. A missing subfolder counts as empty.
///
/// # Errors
/// `cli/no-examples`: neither subfolder holds a file. `io/file`: a subfolder cannot be read.
pub(crate) fn find(folder: &Path) -> Result<Vec<(PathBuf, bool)>> {
    let mut found = Vec::new();
    for (name, accepted) in [("accept", true), ("reject", false)] {
        let folder = folder.join(name);
        if folder.is_dir() {
            found.extend(files(&folder)?.into_iter().map(|path| (path, accepted)));
        }
    }
    if found.is_empty() { Err(errors::examples_need_folder(folder)) } else { Ok(found) }
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let io = |cause| Error::io(folder, &cause);
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(io)? {
        let path = entry.map_err(io)?.path();
        if path.is_file() {
            paths.push(path);
        }
    }
    paths.sort_unstable();
    Ok(paths)
}
