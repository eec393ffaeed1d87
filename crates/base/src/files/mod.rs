//! Opens files under one of two rules. No other module opens a file for reading.
//!
//! - A path given by the caller ([`read`], [`open`], [`open_to_resume`], [`Appended`]) may be a link. Folders, devices
//!   and sockets are refused; a pipe is read by [`read`], up to a deadline, and refused by the others.
//! - A name in a document or in a model's folder ([`find`], [`read_within`]) must resolve, links included, to a regular
//!   file within a root.
//!
//! Every function that reads stops at a maximum number of bytes, whatever length the file claims.

mod appended;
mod errors;

use crate::error::{Error, Result};
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

pub use appended::Appended;
pub use errors::no_file;

/// Maximum time to read a pipe. This includes opening it, which waits for a writer.
const PIPE_DEADLINE: Duration = Duration::from_secs(30);

/// Maximum size in bytes of a piece sent from the reading thread.
const PIECE: usize = 1 << 16;

/// Reads a whole file named by the caller: a regular file, or a pipe.
///
/// # Errors
/// The file cannot be read, or is neither a regular file nor a pipe (`io/no-file`); the pipe is not closed in 30
/// seconds (`io/slow-pipe`); or the file has more than `most` bytes: then the result of `too_large` for its length, or
/// for the number of bytes read so far.
pub fn read(path: &Path, most: usize, too_large: impl Fn(u64) -> Error) -> Result<Vec<u8>> {
    let bytes = match is_pipe(metadata(path)?.file_type()) {
        true => read_pipe(path, most, pipe_deadline())?,
        false => {
            let (file, len) = open(path)?;
            if len > most as u64 {
                return Err(too_large(len));
            }
            read_file(file, path, len as usize, most)?
        }
    };
    // a file may grow, and files of `/proc` claim length 0
    if bytes.len() > most { Err(too_large(bytes.len() as u64)) } else { Ok(bytes) }
}

/// Opens a regular file named by the caller, and returns it with its length in bytes.
///
/// # Errors
/// The file cannot be opened (`io/file`) or is not a regular file (`io/no-file`).
pub fn open(path: &Path) -> Result<(File, u64)> {
    // checked before opening, because opening a pipe waits for a writer
    check_regular(path, &metadata(path)?)?;
    let io = |cause: std::io::Error| Error::io(path, &cause);
    let file = File::open(path).map_err(io)?;
    // checked again, because the path may lead to another file by now
    let metadata = file.metadata().map_err(io)?;
    check_regular(path, &metadata)?;
    Ok((file, metadata.len()))
}

/// Opens a regular file named by the caller for reading and writing, creating it if it is missing.
///
/// # Errors
/// The file cannot be opened or created (`io/file`), or is not a regular file (`io/no-file`).
pub fn open_to_resume(path: &Path) -> Result<File> {
    let io = |cause: std::io::Error| Error::io(path, &cause);
    match path.metadata() {
        Ok(metadata) => check_regular(path, &metadata)?,
        Err(cause) if cause.kind() == ErrorKind::NotFound => {}
        Err(cause) => return Err(io(cause)),
    }
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(io)
}

/// Reads the rest of a file from its current position, at most `most + 1` bytes.
///
/// # Errors
/// The file cannot be read.
pub fn read_rest(file: &File, path: &Path, most: usize) -> Result<Vec<u8>> {
    read_file(file, path, 0, most)
}

/// Finds the regular file `name` of `folder` and resolves its links. `None` if there is no such file.
///
/// # Errors
/// The file cannot be reached (`io/file`), is not a regular file (`io/no-file`), or is outside `root`
/// (`io/outside-folder`), which must be a path without links.
pub fn find(folder: &Path, name: &Path, root: &Path) -> Result<Option<PathBuf>> {
    let path = folder.join(name);
    let real = match path.canonicalize() {
        Ok(real) => real,
        // a dangling link is an error, not a missing file
        Err(cause) if cause.kind() == ErrorKind::NotFound && path.symlink_metadata().is_err() => {
            return Ok(None);
        }
        Err(cause) => return Err(Error::io(&path, &cause)),
    };
    if !real.starts_with(root) {
        return Err(errors::outside_folder(&path, &real, root));
    }
    let metadata = real.metadata().map_err(|cause| Error::io(&path, &cause))?;
    check_regular(&path, &metadata)?;
    Ok(Some(real))
}

/// Reads the file found by [`find`]. `None` if there is no such file.
///
/// # Errors
/// Errors of [`find`]; the file cannot be read; or it has more than `most` bytes: then the result of `too_large`, as
/// for [`read`].
pub fn read_within(
    folder: &Path,
    name: &Path,
    root: &Path,
    most: usize,
    too_large: impl Fn(u64) -> Error,
) -> Result<Option<Vec<u8>>> {
    match find(folder, name, root)? {
        Some(real) => read(&real, most, too_large).map(Some),
        None => Ok(None),
    }
}

/// Resolves the links of a folder, and returns its absolute path. An empty path, such as the parent of a bare file
/// name, is the current folder.
///
/// # Errors
/// The folder does not exist or cannot be reached.
pub fn resolved(folder: &Path) -> Result<PathBuf> {
    let named = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    named.canonicalize().map_err(|cause| Error::io(folder, &cause))
}

fn metadata(path: &Path) -> Result<Metadata> {
    path.metadata().map_err(|cause| Error::io(path, &cause))
}

fn check_regular(path: &Path, metadata: &Metadata) -> Result<()> {
    if metadata.is_file() { Ok(()) } else { Err(errors::no_file(path, metadata.file_type())) }
}

#[cfg(unix)]
fn is_pipe(kind: FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&kind)
}

#[cfg(not(unix))]
fn is_pipe(_: FileType) -> bool {
    false
}

fn read_file(file: impl Read, path: &Path, expected: usize, most: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(expected);
    file.take(most as u64 + 1).read_to_end(&mut bytes).map_err(|cause| Error::io(path, &cause))?;
    Ok(bytes)
}

fn pipe_deadline() -> Duration {
    // tests of the program use a shorter deadline
    #[cfg(feature = "testing")]
    if let Some(milliseconds) =
        std::env::var("GRAMMATA_PIPE_DEADLINE").ok().and_then(|text| text.parse().ok())
    {
        return Duration::from_millis(milliseconds);
    }
    PIPE_DEADLINE
}

/// Reads a pipe until it is closed or has sent more than `most` bytes. Taking longer than `deadline` is an error. A
/// thread opens and reads the pipe, because both may block.
fn read_pipe(path: &Path, most: usize, deadline: Duration) -> Result<Vec<u8>> {
    let end = Instant::now() + deadline;
    let (sender, pieces) = sync_channel::<std::io::Result<Vec<u8>>>(1);
    let name = path.to_owned();
    let over = Arc::new(AtomicBool::new(false));
    let is_over = Arc::clone(&over);
    let work = move || {
        let mut file = match File::open(&name) {
            Ok(file) => file,
            Err(cause) => return drop(sender.send(Err(cause))),
        };
        if is_over.load(Ordering::Acquire) {
            return;
        }
        // sending fails after the deadline, because nobody receives any more
        let last = loop {
            let mut piece = vec![0; PIECE];
            let read = file.read(&mut piece).map(|len| piece.truncate(len));
            if read.is_err() || piece.is_empty() {
                break read;
            }
            if sender.send(Ok(piece)).is_err() {
                return;
            }
        };
        // the file is closed before the last message, so that the next writer does not find this reader
        drop(file);
        drop(sender.send(last.map(|()| Vec::new())));
    };
    let io = |cause: std::io::Error| Error::io(path, &cause);
    std::thread::Builder::new().name("grammata-pipe".to_owned()).spawn(work).map_err(io)?;
    let mut bytes = Vec::new();
    while bytes.len() <= most {
        match pieces.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(piece) => {
                let piece = piece.map_err(io)?;
                if piece.is_empty() {
                    break;
                }
                bytes.extend_from_slice(&piece);
            }
            Err(RecvTimeoutError::Timeout) => {
                // unblocks a thread that waits for a writer; the thread then ends without reading data meant for others
                over.store(true, Ordering::Release);
                drop(OpenOptions::new().read(true).write(true).open(path));
                return Err(errors::slow_pipe(path, deadline, bytes.len()));
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    Ok(bytes)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::limits::{LimitKind, Limits};
    use std::io::Write;
    use std::os::unix::fs::symlink;

    fn too_large(found: u64) -> Error {
        Limits::exceeded(LimitKind::SourceBytes, 10, format!("{found} bytes"))
    }

    fn pipe(folder: &Path) -> PathBuf {
        let path = folder.join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        path
    }

    #[test]
    fn a_pipe_is_read_to_its_end_its_bound_or_the_deadline() {
        let folder = tempfile::tempdir().unwrap();
        let path = pipe(folder.path());
        let second = Duration::from_secs(20);
        let write = |pieces: Vec<&'static [u8]>| {
            let path = path.clone();
            std::thread::spawn(move || {
                let mut file = OpenOptions::new().write(true).open(path).unwrap();
                // the reader may stop early
                pieces.into_iter().for_each(|piece| drop(file.write_all(piece)));
            })
        };
        for (pieces, most, expected) in
            [(vec![&b"ab"[..], b"cd"], 4, 4), (vec![], 4, 0), (vec![&[7; 300_000]], 300_000, 300_000)]
        {
            let writer = write(pieces);
            assert_eq!(read_pipe(&path, most, second).unwrap().len(), expected);
            writer.join().unwrap();
        }
        let writer = write(vec![&[7; 300_000]; 20]);
        assert_eq!(read(&path, 10, too_large).unwrap_err().code(), "limit/exceeded");
        writer.join().unwrap();
        // a pipe without a writer, and a pipe that is kept open
        let start = Instant::now();
        let short = Duration::from_millis(50);
        let error = read_pipe(&path, 10, short).unwrap_err();
        assert_eq!(error.code(), "io/slow-pipe", "{error}");
        let held = OpenOptions::new().read(true).write(true).open(&path).unwrap();
        (&held).write_all(b"abc").unwrap();
        let error = read_pipe(&path, 10, short).unwrap_err();
        assert!(error.to_string().contains("3 bytes"), "{error}");
        assert!(start.elapsed() < second);
    }

    #[test]
    fn names_in_documents_do_not_leave_their_root() {
        let [folder, outside] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let root = resolved(folder.path()).unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "text").unwrap();
        std::fs::write(outside.path().join("secret"), "secret").unwrap();
        std::fs::create_dir(at("below")).unwrap();
        symlink("../file", at("below/link")).unwrap();
        symlink(outside.path().join("secret"), at("secret")).unwrap();
        symlink(outside.path(), at("elsewhere")).unwrap();
        symlink("/dev/zero", at("zero")).unwrap();
        symlink("nothing", at("dangling")).unwrap();
        pipe(folder.path());
        let read = |name: &str| read_within(folder.path(), Path::new(name), &root, 10, too_large);
        assert_eq!(read("file").unwrap().unwrap(), b"text");
        assert_eq!(read("below/link").unwrap().unwrap(), b"text");
        assert_eq!(read("none").unwrap(), None);
        for (name, code) in [
            ("secret", "io/outside-folder"),
            ("elsewhere/secret", "io/outside-folder"),
            ("zero", "io/outside-folder"),
            ("below/../..", "io/outside-folder"),
            ("below", "io/no-file"),
            ("pipe", "io/no-file"),
            ("dangling", "io/file"),
        ] {
            let error = read(name).unwrap_err();
            assert_eq!(error.code(), code, "{name}: {error}");
        }
        std::fs::write(at("file"), "more than ten bytes").unwrap();
        assert_eq!(read("file").unwrap_err().code(), "limit/exceeded");
    }

    #[test]
    fn what_is_opened_for_a_caller_is_a_regular_file() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "text").unwrap();
        symlink("file", at("link")).unwrap();
        assert_eq!(read(&at("link"), 10, too_large).unwrap(), b"text");
        assert_eq!(open(&at("link")).unwrap().1, 4);
        let pipe = pipe(folder.path());
        for path in [folder.path(), Path::new("/dev/zero"), &pipe] {
            assert_eq!(open(path).unwrap_err().code(), "io/no-file");
            assert_eq!(open_to_resume(path).unwrap_err().code(), "io/no-file");
        }
        assert_eq!(read(Path::new("/dev/zero"), 10, too_large).unwrap_err().code(), "io/no-file");
        assert_eq!(read(&at("none"), 10, too_large).unwrap_err().code(), "io/file");
        drop(open_to_resume(&at("new")).unwrap());
        assert_eq!(open(&at("new")).unwrap().1, 0);
    }
}
