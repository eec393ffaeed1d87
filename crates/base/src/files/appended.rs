//! Files of lines to which one process at a time appends.

use super::{check_regular, errors};
use crate::error::{Error, Result};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// A file that is open for appending. It is locked: while it is open, other processes cannot open it in this way.
#[derive(Debug)]
pub struct Appended {
    file: File,
    path: PathBuf,
}

impl Appended {
    /// Opens a regular file, creating it if it is missing. Returns it with its content.
    ///
    /// # Errors
    /// `io/file` if the file cannot be opened, created or read; `io/no-file` if it is not a regular file; `io/locked`
    /// if another process has it open; the result of `too_large` if it has more than `most` bytes.
    pub fn open(path: &Path, most: usize, too_large: impl FnOnce() -> Error) -> Result<(Appended, Vec<u8>)> {
        let io = |cause: std::io::Error| Error::io(path, &cause);
        match path.metadata() {
            Ok(metadata) => check_regular(path, &metadata)?,
            Err(cause) if cause.kind() == ErrorKind::NotFound => {}
            Err(cause) => return Err(io(cause)),
        }
        let file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(io)?;
        let opened = Appended::lock(file, path)?;
        let mut bytes = Vec::new();
        (&opened.file).take(most as u64 + 1).read_to_end(&mut bytes).map_err(io)?;
        if bytes.len() > most { Err(too_large()) } else { Ok((opened, bytes)) }
    }

    fn lock(file: File, path: &Path) -> Result<Appended> {
        match file.try_lock() {
            Ok(()) => Ok(Appended { file, path: path.to_owned() }),
            Err(TryLockError::WouldBlock) => Err(errors::locked(path)),
            Err(TryLockError::Error(cause)) => Err(Error::io(path, &cause)),
        }
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends bytes with one write. If only a part can be written, such as on a full disk, this part is removed again.
    ///
    /// # Errors
    /// `io/file` if the bytes cannot be written.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.file.metadata().and_then(|metadata| {
            let length = metadata.len();
            self.file.write_all(bytes).inspect_err(|_| {
                // the error of the write is returned, not an error that follows from it
                let _ = self.file.set_len(length);
            })
        });
        written.map_err(|cause| Error::io(&self.path, &cause))
    }

    /// Shortens the file to `length` bytes.
    ///
    /// # Errors
    /// `io/file` if the file cannot be shortened.
    pub fn shorten(&mut self, length: usize) -> Result<()> {
        self.file.set_len(length as u64).map_err(|cause| Error::io(&self.path, &cause))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::limits::{LimitKind, Limits};

    fn too_large() -> Error {
        Limits::exceeded(LimitKind::SourceBytes, 10, "more bytes")
    }

    #[test]
    fn one_writer_appends_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let (mut first, bytes) = Appended::open(&path, 10, too_large).unwrap();
        assert_eq!(bytes, b"");
        first.append(b"one\n").unwrap();
        let error = Appended::open(&path, 10, too_large).unwrap_err();
        assert_eq!(error.code(), "io/locked", "{error}");
        // the lock ends with the writer, and what another program appends is kept
        drop(first);
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"tw").unwrap();
        let (mut second, bytes) = Appended::open(&path, 10, too_large).unwrap();
        assert_eq!(bytes, b"one\ntw");
        second.shorten(4).unwrap();
        second.append(b"three\n").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"one\nthree\n");
        drop(second);
        assert!(Appended::open(&path, 10, too_large).is_ok());
        let error = Appended::open(&path, 9, too_large).unwrap_err();
        assert_eq!(error.code(), "limit/exceeded");
        let error = Appended::open(folder.path(), 9, too_large).unwrap_err();
        assert_eq!(error.code(), "io/no-file");
        let error = Appended::open(&folder.path().join("none/log"), 9, too_large).unwrap_err();
        assert_eq!(error.code(), "io/file");
    }
}
