//! The sources that archives are read from: memory, or a file on disk.

use super::alone;
use super::member::{GRAPH, Member};
use crate::error::{Error, Result};
use crate::limits::{LimitKind, Limits};
use crate::mask_file::assemble::assemble;
use crate::mask_file::codec::word;
use crate::mask_file::container::{Bytes, Container};
use crate::mask_file::errors;
use crate::mask_file::header::{BLOCK, HEADER, Header, Kind, Section, Sections};
use crate::mask_file::words::SharedWords;
use std::borrow::Cow;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Debug)]
pub(super) enum Source {
    /// An archive in memory, mapped or owned, with the shared words that were decoded for any of its files.
    Memory(Arc<Container>, Arc<SharedWords>),
    Disk(Box<OnDisk>),
}

impl Source {
    pub(super) fn header(&self) -> &Header {
        match self {
            Source::Memory(archive, _) => archive.header(),
            Source::Disk(disk) => &disk.header,
        }
    }

    /// `len` bytes of a section from offset `at` on.
    ///
    /// # Errors
    /// `mask-file/damaged` if the range is not within the section, or if a block has a wrong checksum; `io/file` if an
    /// archive on disk cannot be read.
    pub(super) fn part(&self, section: Section, at: usize, len: usize) -> Result<Cow<'_, [u8]>> {
        let part = match self {
            Source::Memory(archive, _) => archive.part(section, at, len).map(Cow::Borrowed),
            Source::Disk(disk) => disk.part(&disk.header.sections, section, at, len)?.map(Cow::Owned),
        };
        let start = self.header().sections[section as usize].start;
        part.ok_or_else(|| errors::damaged_block(start.saturating_add(at)))
    }

    pub(super) fn check_all(&self) -> Result<()> {
        match self {
            Source::Memory(archive, _) => archive.check_all(),
            Source::Disk(disk) => disk.check_all(),
        }
    }

    /// Adds the file name of an archive on disk to an error.
    pub(super) fn in_file(&self, error: Error) -> Error {
        match self {
            Source::Memory(..) => error,
            Source::Disk(disk) => disk.in_file(error),
        }
    }

    pub(super) fn memory_usage(&self) -> usize {
        match self {
            Source::Memory(archive, words) => archive.owned_bytes() + words.memory_usage(),
            Source::Disk(disk) => disk.start.len(),
        }
    }
}

/// An archive on disk with its header in memory.
#[derive(Debug)]
pub(super) struct OnDisk {
    path: PathBuf,
    file: Mutex<File>,
    header: Header,
    /// Everything before the sections, checksums included.
    start: Vec<u8>,
}

impl OnDisk {
    /// Reads the header of an archive of `len` bytes.
    pub(super) fn new(mut file: File, path: &Path, len: usize) -> Result<OnDisk> {
        let io = |cause: std::io::Error| Error::io(path, &cause);
        let mut start = Vec::new();
        file.by_ref().take(HEADER as u64).read_to_end(&mut start).map_err(io)?;
        // without a valid start of the sections, reading the header fails
        if let Some(body) = Header::body_of(&start, len).filter(|_| start.starts_with(&Kind::Archive.magic()))
        {
            file.by_ref().take((body - start.len()) as u64).read_to_end(&mut start).map_err(io)?;
        }
        let header = Header::read(&start, len, Kind::Archive)?;
        Ok(OnDisk { path: path.to_owned(), file: Mutex::new(file), header, start })
    }

    /// `len` bytes of a section from offset `at` on; `None` if the range is not within the section, or if a block has a
    /// wrong checksum.
    ///
    /// # Errors
    /// `io/file` if the archive cannot be read.
    fn part(&self, sections: &Sections, section: Section, at: usize, len: usize) -> Result<Option<Vec<u8>>> {
        let section = &sections[section as usize];
        let start = section.start.checked_add(at);
        let place = start.and_then(|start| Some((start, start.checked_add(len)?)));
        let Some((start, end)) = place.filter(|&(_, end)| end <= section.end) else { return Ok(None) };
        if len == 0 {
            return Ok(Some(Vec::new()));
        }
        let body = self.header.body;
        let (first, last) = ((start - body) / BLOCK, (end - 1 - body) / BLOCK);
        let from = body + first * BLOCK;
        let blocks = self.read(from, (body + (last + 1) * BLOCK).min(self.header.len) - from)?;
        let is_whole = |(place, block): (usize, &[u8])| {
            let table = self.header.checksums + (first + place) * 4;
            word(&self.start, table) == Some(crc32fast::hash(block))
        };
        if !blocks.chunks(BLOCK).enumerate().all(is_whole) {
            return Ok(None);
        }
        Ok(blocks.get(start - from..end - from).map(<[u8]>::to_vec))
    }

    fn read(&self, at: usize, len: usize) -> Result<Vec<u8>> {
        let io = |cause: std::io::Error| Error::io(&self.path, &cause);
        let mut bytes = Vec::new();
        let too_large = |_| Error::io(&self.path, &std::io::ErrorKind::OutOfMemory.into());
        bytes.try_reserve_exact(len).map_err(too_large)?;
        bytes.resize(len, 0);
        // a thread that panicked here has only moved the file's position
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(at as u64)).map_err(io)?;
        file.read_exact(&mut bytes).map_err(io)?;
        Ok(bytes)
    }

    fn check_all(&self) -> Result<()> {
        /// Bytes per read.
        const STEP: usize = BLOCK << 8;
        let (body, len) = (self.header.body, self.header.len);
        for from in (body..len).step_by(STEP) {
            let bytes = self.read(from, STEP.min(len - from))?;
            for (place, block) in bytes.chunks(BLOCK).enumerate() {
                let at = from + place * BLOCK;
                let table = self.header.checksums + (at - body) / BLOCK * 4;
                if word(&self.start, table) != Some(crc32fast::hash(block)) {
                    return Err(self.in_file(errors::damaged_block(at)));
                }
            }
        }
        Ok(())
    }

    /// Extracts a file of the archive, and returns its bytes.
    ///
    /// # Errors
    /// `mask-file/impossible` if the row of the file is invalid; `limit/exceeded` if the sections that belong to the
    /// file alone have more than `max_bytes` bytes; `mask-file/damaged` if a part is missing, because of a wrong
    /// checksum or because its masks have more than `max_bytes` bytes; `io/file` if the archive cannot be read.
    pub(super) fn take(&self, member: &Member, max_bytes: usize) -> Result<Vec<u8>> {
        let header = Header { sections: member.sections(&self.header)?, ..self.header.clone() };
        within(member, max_bytes)?;
        let part = |section: Section, at: usize, len: usize| {
            self.part(&header.sections, section, at, len).map(|part| part.map(Cow::Owned))
        };
        let taken = alone::take(&header, part, max_bytes)?;
        match taken.missing {
            None => Ok(taken.bytes),
            Some(at) => Err(self.in_file(errors::damaged_block(at))),
        }
    }

    /// A file of the archive without its grammar, masks and shared words, read into memory.
    ///
    /// # Errors
    /// Those of [`take`](OnDisk::take).
    pub(super) fn graph(&self, member: &Member, sections: &Sections, max_bytes: usize) -> Result<Container> {
        within(member, max_bytes)?;
        let mut read: Vec<(Section, Vec<u8>)> = Vec::new();
        for section in GRAPH {
            let place = &sections[section as usize];
            let part = self.part(sections, section, 0, place.len())?;
            read.push((section, part.ok_or_else(|| errors::damaged_block(place.start))?));
        }
        let read: Vec<(Section, &[u8])> = read.iter().map(|(section, bytes)| (*section, &**bytes)).collect();
        let bytes = assemble(self.header.fingerprint, self.header.width, &read);
        Container::new(Bytes::Owned(bytes.into()), Kind::MaskFile)
    }

    pub(super) fn in_file(&self, error: Error) -> Error {
        error.in_file(&self.path.display().to_string())
    }
}

/// Checks that the sections that belong to one file alone fit into `max_bytes`.
///
/// # Errors
/// `limit/exceeded`, for the limit `mask_file_bytes`, if they do not fit.
fn within(member: &Member, max_bytes: usize) -> Result<()> {
    let own: usize = member.own.iter().map(|range| range.len()).fold(0, usize::saturating_add);
    if own > max_bytes {
        let found = format!("a mask file of {own} bytes");
        return Err(Limits::exceeded(LimitKind::MaskFileBytes, max_bytes, found));
    }
    Ok(())
}
