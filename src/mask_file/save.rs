//! Files that are there as a whole or not at all.

use crate::error::{Error, Result};
use crate::files;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The most names that are tried where others are taken.
const ATTEMPTS: u32 = 100;

/// Files of this process so far: part of the names of those that are being written.
static WRITTEN: AtomicU64 = AtomicU64::new(0);

/// Writes a file, given in pieces, beside its place, syncs it, and renames it. Who is killed meanwhile leaves a file of another name
/// (`.NAME.PROCESS.NUMBER.part`); of two that write at once, the one that renames last wins, and both files are whole.
///
/// # Errors
/// The folder cannot be written to, or is full.
pub(crate) fn save<'a>(path: &Path, pieces: impl IntoIterator<Item = &'a [u8]>) -> Result<()> {
    let io = |cause: std::io::Error| Error::io(path, &cause);
    // the name of a folder or a pipe is not taken away from it
    if let Some(metadata) = std::fs::metadata(path).ok().filter(|metadata| !metadata.is_file()) {
        return Err(files::no_file(path, metadata.file_type()));
    }
    let (mut file, beside) = beside(path).map_err(io)?;
    let written = pieces.into_iter().try_for_each(|piece| file.write_all(piece));
    let written = written.and_then(|()| file.sync_all());
    drop(file);
    let renamed = written.and_then(|()| std::fs::rename(&beside, path));
    if let Err(cause) = renamed {
        // what is left over is no mask file of anybody's
        let _ = std::fs::remove_file(&beside);
        return Err(io(cause));
    }
    // the name is as durable as the content where folders can be synced
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
