//! The sections of a mask file or an archive in memory, and which of their blocks have been checked.

use super::codec::word;
use super::errors;
use super::header::{BLOCK, Header, Kind, Section, Sections};
use crate::error::Result;
use std::ops::{Deref, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The bytes of a file.
#[derive(Debug)]
pub(super) enum Bytes {
    Owned(Box<[u8]>),
    Mapped(memmap2::Mmap),
    /// The bytes of the archive that contains the file. The archive also records the checked blocks.
    Archive(Arc<Container>),
}

impl Deref for Bytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Owned(bytes) => bytes,
            Bytes::Mapped(bytes) => bytes,
            Bytes::Archive(archive) => &archive.bytes,
        }
    }
}

/// A file with a valid header.
#[derive(Debug)]
pub(super) struct Container {
    bytes: Bytes,
    header: Header,
    /// Two bits per block: the checksum was found right, and it was found wrong. Both are 0 before the first check.
    checked: Box<[AtomicU64]>,
}

/// Blocks per word of [`Container::checked`].
const BLOCKS_A_WORD: usize = 32;

impl Container {
    /// Reads the header and checks it completely.
    ///
    /// # Errors
    /// Those of [`Header::read`].
    pub(super) fn new(bytes: Bytes, kind: Kind) -> Result<Container> {
        let header = Header::read(&bytes, bytes.len(), kind)?;
        let words = (header.len - header.body).div_ceil(BLOCK).div_ceil(BLOCKS_A_WORD);
        let checked = (0..words).map(|_| AtomicU64::new(0)).collect();
        Ok(Container { bytes, header, checked })
    }

    /// A mask file in an archive, with these sections and this hash of its grammar. All other data is the archive's.
    pub(super) fn member(archive: &Arc<Container>, sections: Sections, grammar_hash: [u8; 32]) -> Container {
        let header = Header { sections, grammar_hash, ..archive.header.clone() };
        Container { bytes: Bytes::Archive(Arc::clone(archive)), header, checked: Box::default() }
    }

    pub(super) fn header(&self) -> &Header {
        &self.header
    }

    /// The vocabulary's fingerprint.
    pub(super) fn fingerprint(&self) -> [u8; 32] {
        self.header.fingerprint
    }

    /// SHA-256 of the grammar section, as the file gives it.
    pub(super) fn grammar_hash(&self) -> [u8; 32] {
        self.header.grammar_hash
    }

    /// The width of the vocabulary, in tokens.
    pub(super) fn width(&self) -> usize {
        self.header.width
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether the container is a file in an archive.
    pub(super) fn is_member(&self) -> bool {
        matches!(self.bytes, Bytes::Archive(_))
    }

    /// Bytes of memory owned by this value; those of an archive belong to the archive.
    pub(super) fn owned_bytes(&self) -> usize {
        let owned = match &self.bytes {
            Bytes::Owned(bytes) => bytes.len(),
            Bytes::Mapped(_) | Bytes::Archive(_) => 0,
        };
        owned + size_of_val(&*self.checked)
    }

    /// The range of a section in the file.
    pub(super) fn section(&self, section: Section) -> Range<usize> {
        self.header.sections[section as usize].clone()
    }

    /// The sections of a file of this kind; the token index only if there is one.
    pub(super) fn kinds(&self, kind: Kind) -> impl Iterator<Item = Section> + '_ {
        self.header.kinds(kind)
    }

    pub(super) fn section_len(&self, section: Section) -> usize {
        self.header.sections[section as usize].len()
    }

    /// A whole section, empty if it is missing; `None` if one of its blocks has a wrong checksum.
    pub(super) fn whole(&self, section: Section) -> Option<&[u8]> {
        self.part(section, 0, self.section_len(section))
    }

    /// `len` bytes of a section from offset `at` on, empty if `len` is 0. `None` if another range is not within the
    /// section, or if one of its blocks has a wrong checksum.
    #[inline]
    pub(super) fn part(&self, section: Section, at: usize, len: usize) -> Option<&[u8]> {
        let section = &self.header.sections[section as usize];
        if len == 0 {
            return Some(&[]);
        }
        let start = section.start.checked_add(at)?;
        let end = start.checked_add(len).filter(|&end| end <= section.end)?;
        let (first, last) = ((start - self.header.body) / BLOCK, (end - 1 - self.header.body) / BLOCK);
        for block in first..=last {
            if !self.is_whole(block) {
                return None;
            }
        }
        self.bytes.get(start..end)
    }

    /// Whether a block has the right checksum, which is computed on first use.
    #[inline]
    fn is_whole(&self, block: usize) -> bool {
        let checked = match &self.bytes {
            Bytes::Archive(archive) => &archive.checked,
            Bytes::Owned(_) | Bytes::Mapped(_) => &self.checked,
        };
        let Some(word) = checked.get(block / BLOCKS_A_WORD) else { return true };
        match word.load(Ordering::Relaxed) >> (block % BLOCKS_A_WORD * 2) & 3 {
            0 => self.check(block, word),
            state => state == 1,
        }
    }

    #[cold]
    fn check(&self, block: usize, state: &AtomicU64) -> bool {
        let start = self.header.body + block * BLOCK;
        let content = &self.bytes[start..self.bytes.len().min(start + BLOCK)];
        let table = self.header.checksums + block * 4;
        let is_right = word(&self.bytes, table) == Some(crc32fast::hash(content));
        let found = if is_right { 1u64 } else { 2 };
        state.fetch_or(found << (block % BLOCKS_A_WORD * 2), Ordering::Relaxed);
        is_right
    }

    /// Checks all blocks; for a file in an archive, those of the sections that it does not share with other files.
    ///
    /// # Errors
    /// `mask-file/damaged` with the place of the first block that has a wrong checksum; for a file in an archive, with
    /// the place of its section.
    pub(super) fn check_all(&self) -> Result<()> {
        let (body, len) = (self.header.body, self.header.len);
        if self.is_member() {
            let own = Section::ALL
                .iter()
                .filter(|section| !matches!(section, Section::Masks | Section::Words | Section::TokenIndex));
            let wrong = own.copied().find(|&section| self.whole(section).is_none());
            return wrong.map_or(Ok(()), |section| Err(errors::damaged_block(self.section(section).start)));
        }
        match (0..(len - body).div_ceil(BLOCK)).find(|&block| !self.is_whole(block)) {
            Some(block) => Err(errors::damaged_block(body + block * BLOCK)),
            None => Ok(()),
        }
    }
}
