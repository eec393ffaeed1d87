//! Writing files atomically.

use crate::error::{Error, Result};
use crate::files;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum number of temporary names tried if others are taken.
const ATTEMPTS: u32 = 100;

/// Number of temporary files that this process has made so far, used in their names.
static WRITTEN: AtomicU64 = AtomicU64::new(0);

/// Writes a file, given in pieces, to a temporary file in the same folder, syncs it, and renames it. A killed process
/// leaves the temporary file (`.NAME.PROCESS.NUMBER.part`). Of two concurrent writers, the one that renames last wins,
/// and both files are complete.
///
/// # Errors
/// `io/no-file` if the path is a folder or another file that is not regular; `io/file` if the file cannot be written.
pub(crate) fn save<'a>(path: &Path, pieces: impl IntoIterator<Item = &'a [u8]>) -> Result<()> {
    let io = |cause: std::io::Error| Error::io(path, &cause);
    // renaming must not replace a folder or a pipe
    if let Some(metadata) = std::fs::metadata(path).ok().filter(|metadata| !metadata.is_file()) {
        return Err(files::no_file(path, metadata.file_type()));
    }
    let (mut file, beside) = beside(path).map_err(io)?;
    let written = pieces.into_iter().try_for_each(|piece| file.write_all(piece));
    let written = written.and_then(|()| file.sync_all());
    drop(file);
    let renamed = written.and_then(|()| std::fs::rename(&beside, path));
    if let Err(cause) = renamed {
        // the temporary file is useless now, even if it is complete
        let _ = std::fs::remove_file(&beside);
        return Err(io(cause));
    }
    // syncing the folder makes the new name durable, where folders can be synced
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

fn beside(path: &Path) -> std::io::Result<(File, PathBuf)> {
    let name = path.file_name().ok_or(ErrorKind::InvalidInput)?;
    for _ in 0..ATTEMPTS {
        let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
        let mut part = std::ffi::OsString::from(".");
        part.push(name);
        part.push(format!(".{}.{number}.part", std::process::id()));
        let beside = path.with_file_name(part);
        match OpenOptions::new().write(true).create_new(true).open(&beside) {
            Ok(file) => return Ok((file, beside)),
            Err(cause) if cause.kind() == ErrorKind::AlreadyExists => {}
            Err(cause) => return Err(cause),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}
