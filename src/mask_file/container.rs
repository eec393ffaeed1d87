//! The container: a header, a table of sections, a checksum for each block, and the sections.

use super::codec::{double_word, word};
use super::errors;
use crate::error::Result;
use sha2::{Digest, Sha256};
use std::ops::{Deref, Range};
use std::sync::atomic::{AtomicU64, Ordering};

/// How a mask file begins.
pub(super) const MAGIC: [u8; 8] = *b"\x89GMASK\r\n";

/// The version of the layout.
pub(super) const FORMAT: u32 = 1;

/// The version of what grammars mean: the same grammar under another one may have other masks.
pub(super) const SEMANTICS: u32 = 1;

/// Reads so where it was written so.
const BYTE_ORDER: u32 = 0x0102_0304;

/// Bytes of the header before the table of sections.
const HEADER: usize = 128;

/// Bytes of a row of that table.
const ROW: usize = 24;

/// Sections begin at multiples of this.
pub(super) const ALIGNMENT: usize = 64;

/// Bytes that one checksum is of.
pub(super) const BLOCK: usize = 4096;

/// Where the fields of the header lie.
mod field {
    pub(super) const FORMAT: usize = 8;
    pub(super) const SEMANTICS: usize = 12;
    pub(super) const BYTE_ORDER: usize = 16;
    pub(super) const SECTIONS: usize = 20;
    pub(super) const LENGTH: usize = 24;
    pub(super) const FINGERPRINT: usize = 32;
    pub(super) const GRAMMAR_HASH: usize = 64;
    pub(super) const WIDTH: usize = 96;
    pub(super) const BLOCKS: usize = 100;
    pub(super) const BODY: usize = 104;
    pub(super) const CHECKSUM: usize = 112;
}

/// A section of a mask file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Grammar = 0,
    States = 1,
    Rows = 2,
    TokenEdges = 3,
    MaskPlaces = 4,
    Masks = 5,
    Words = 6,
    About = 7,
}

impl Section {
    pub(super) const ALL: [Section; 8] = [
        Section::Grammar,
        Section::States,
        Section::Rows,
        Section::TokenEdges,
        Section::MaskPlaces,
        Section::Masks,
        Section::Words,
        Section::About,
    ];

    /// What people call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Section::Grammar => "grammar",
            Section::States => "states",
            Section::Rows => "rows",
            Section::TokenEdges => "token edges",
            Section::MaskPlaces => "mask places",
            Section::Masks => "masks",
            Section::Words => "words",
            Section::About => "about",
        }
    }

    /// The number that stands for it in the table of sections.
    fn kind(self) -> u32 {
        self as u32 + 1
    }
}

/// The bytes of a file.
#[derive(Debug)]
pub(super) enum Bytes {
    Owned(Box<[u8]>),
    Mapped(memmap2::Mmap),
}

impl Deref for Bytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Owned(bytes) => bytes,
            Bytes::Mapped(bytes) => bytes,
        }
    }
}

/// A file whose header is in order.
#[derive(Debug)]
pub(super) struct Container {
    bytes: Bytes,
    sections: [Range<usize>; Section::ALL.len()],
    body: usize,
    /// Per block whether its checksum was right, and whether it was wrong: two bits.
    checked: Box<[AtomicU64]>,
}

/// Blocks whose state fits into one word of [`Container::checked`].
const BLOCKS_A_WORD: usize = 32;

impl Container {
    /// Reads the header, and checks all of it.
    ///
    /// # Errors
    /// `mask-file/no-mask-file`, `mask-file/other-version`, `mask-file/damaged-header`.
    pub(super) fn new(bytes: Bytes) -> Result<Container> {
        let file: &[u8] = &bytes;
        if !file.starts_with(&MAGIC) {
            return Err(errors::no_mask_file(file.len()));
        }
        let damaged = |at: usize, what: &str| errors::damaged_header(at, what);
        if file.len() < HEADER {
            return Err(damaged(file.len(), "the file ends in it"));
        }
        let number = |at: usize| word(file, at).ok_or_else(|| damaged(at, "the file ends in it"));
        let long = |at: usize| {
            let number = double_word(file, at).and_then(|number| usize::try_from(number).ok());
            number.ok_or_else(|| damaged(at, "a number that is too large"))
        };
        let known = [
            (field::BYTE_ORDER, "byte order", BYTE_ORDER),
            (field::FORMAT, "format version", FORMAT),
            (field::SEMANTICS, "semantics version", SEMANTICS),
        ];
        for (at, name, allowed) in known {
            let found = number(at)?;
            if found != allowed {
                return Err(errors::other_reader(at, name, found, allowed));
            }
        }
        if long(field::LENGTH)? != file.len() {
            return Err(damaged(field::LENGTH, "the file has another length"));
        }
        let (body, count, blocks) = (long(field::BODY)?, number(field::SECTIONS)?, number(field::BLOCKS)?);
        if !body.is_multiple_of(ALIGNMENT) || body > file.len() || count as usize > Section::ALL.len() {
            return Err(damaged(field::BODY, "no place for the sections"));
        }
        let table = HEADER + count as usize * ROW;
        let checksums = (blocks as usize).checked_mul(4).and_then(|len| len.checked_add(table));
        let expected = (file.len() - body).div_ceil(BLOCK);
        if blocks as usize != expected || checksums.is_none_or(|end| end > body) {
            return Err(damaged(field::BLOCKS, "not a checksum for each block"));
        }
        if header_checksum(&file[..body]) != number(field::CHECKSUM)? {
            return Err(damaged(field::CHECKSUM, "it does not have its checksum"));
        }
        let mut sections = [const { 0..0 }; Section::ALL.len()];
        let mut end = body;
        for row in 0..count as usize {
            let at = HEADER + row * ROW;
            let kind = number(at)? as usize;
            let section = kind.checked_sub(1).and_then(|kind| sections.get_mut(kind));
            let section = section.ok_or_else(|| damaged(at, "a section of an unknown kind"))?;
            let (start, len) = (long(at + 8)?, long(at + 16)?);
            let range = start..start.saturating_add(len);
            // sections lie one after the other, so none overlaps another
            if start < end || range.end > file.len() || !start.is_multiple_of(ALIGNMENT) || section.end > 0 {
                return Err(damaged(at, "a section that lies outside of its place"));
            }
            end = range.end;
            *section = range;
        }
        let words = expected.div_ceil(BLOCKS_A_WORD);
        let checked = (0..words).map(|_| AtomicU64::new(0)).collect();
        Ok(Container { bytes, sections, body, checked })
    }

    /// The vocabulary's fingerprint.
    pub(super) fn fingerprint(&self) -> [u8; 32] {
        self.field(field::FINGERPRINT)
    }

    /// SHA-256 of the section of the grammar.
    pub(super) fn grammar_hash(&self) -> [u8; 32] {
        self.field(field::GRAMMAR_HASH)
    }

    /// Tokens of the vocabulary.
    pub(super) fn width(&self) -> usize {
        word(&self.bytes, field::WIDTH).map_or(0, |width| width as usize)
    }

    fn field(&self, at: usize) -> [u8; 32] {
        self.bytes.get(at..at + 32).and_then(|field| field.try_into().ok()).unwrap_or_default()
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Bytes that are in memory of the process's own.
    pub(super) fn owned_bytes(&self) -> usize {
        let owned = match &self.bytes {
            Bytes::Owned(bytes) => bytes.len(),
            Bytes::Mapped(_) => 0,
        };
        owned + size_of_val(&*self.checked)
    }

    /// Where a section lies.
    pub(super) fn section(&self, section: Section) -> Range<usize> {
        self.sections[section as usize].clone()
    }

    /// How many bytes a section has.
    pub(super) fn section_len(&self, section: Section) -> usize {
        self.sections[section as usize].len()
    }

    /// A whole section, if all of it has its checksum.
    pub(super) fn whole(&self, section: Section) -> Option<&[u8]> {
        self.part(section, 0, self.section_len(section))
    }

    /// `len` bytes of a section from `at` on, if they lie in it and have their checksum.
    #[inline]
    pub(super) fn part(&self, section: Section, at: usize, len: usize) -> Option<&[u8]> {
        let section = &self.sections[section as usize];
        if len == 0 {
            return Some(&[]);
        }
        let start = section.start.checked_add(at)?;
        let end = start.checked_add(len).filter(|&end| end <= section.end)?;
        let (first, last) = ((start - self.body) / BLOCK, (end - 1 - self.body) / BLOCK);
        for block in first..=last {
            if !self.is_whole(block) {
                return None;
            }
        }
        self.bytes.get(start..end)
    }

    /// Whether a block has its checksum, which is computed when it is first asked for.
    #[inline]
    fn is_whole(&self, block: usize) -> bool {
        let Some(word) = self.checked.get(block / BLOCKS_A_WORD) else { return true };
        match word.load(Ordering::Relaxed) >> (block % BLOCKS_A_WORD * 2) & 3 {
            0 => self.check(block),
            state => state == 1,
        }
    }

    #[cold]
    fn check(&self, block: usize) -> bool {
        let start = self.body + block * BLOCK;
        let content = &self.bytes[start..self.bytes.len().min(start + BLOCK)];
        let table = self.checksums_start() + block * 4;
        let is_right = word(&self.bytes, table) == Some(crc32fast::hash(content));
        let state = if is_right { 1u64 } else { 2 };
        self.checked[block / BLOCKS_A_WORD].fetch_or(state << (block % BLOCKS_A_WORD * 2), Ordering::Relaxed);
        is_right
    }

    fn checksums_start(&self) -> usize {
        HEADER + word(&self.bytes, field::SECTIONS).map_or(0, |count| count as usize) * ROW
    }

    /// Checks all blocks.
    ///
    /// # Errors
    /// `mask-file/damaged` with the first one that does not have its checksum.
    pub(super) fn check_all(&self) -> Result<()> {
        let blocks = (self.bytes.len() - self.body).div_ceil(BLOCK);
        match (0..blocks).find(|&block| !self.is_whole(block)) {
            Some(block) => Err(errors::damaged_block(self.body + block * BLOCK)),
            None => Ok(()),
        }
    }
}

/// The file with the checksums that its content has, as a forger would write them. What has no header stays as it is.
#[cfg(feature = "testing")]
pub(super) fn resealed(mut file: Vec<u8>) -> Vec<u8> {
    let field = |file: &[u8], at: usize| word(file, at).map_or(0, |number| number as usize);
    let body = double_word(&file, field::BODY).map_or(0, |body| body as usize);
    let (count, blocks) = (field(&file, field::SECTIONS), field(&file, field::BLOCKS));
    let table = HEADER.saturating_add(count.saturating_mul(ROW));
    if body > file.len() || body < HEADER || table.saturating_add(blocks.saturating_mul(4)) > body {
        return file;
    }
    let checksums: Vec<u32> = file[body..].chunks(BLOCK).take(blocks).map(crc32fast::hash).collect();
    for (block, checksum) in checksums.into_iter().enumerate() {
        file[table + block * 4..][..4].copy_from_slice(&checksum.to_le_bytes());
    }
    let checksum = header_checksum(&file[..body]);
    file[field::CHECKSUM..][..4].copy_from_slice(&checksum.to_le_bytes());
    file
}

/// The checksum of all before the sections, with zeros in the place of itself.
fn header_checksum(header: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&header[..field::CHECKSUM]);
    hasher.update(&[0; 4]);
    hasher.update(&header[field::CHECKSUM + 4..]);
    hasher.finalize()
}

/// The hash of a section of a grammar.
pub(super) fn hash_of(grammar: &[u8]) -> [u8; 32] {
    Sha256::digest(grammar).into()
}

/// The bytes of a file of these sections; those of one kind at most.
pub(super) fn assemble(fingerprint: [u8; 32], width: usize, sections: &[(Section, Vec<u8>)]) -> Vec<u8> {
    let body_len = |sections: &[(Section, Vec<u8>)]| {
        sections.iter().fold(0usize, |at, (_, bytes)| at.next_multiple_of(ALIGNMENT) + bytes.len())
    };
    let blocks = body_len(sections).div_ceil(BLOCK);
    let body = (HEADER + sections.len() * ROW + blocks * 4).next_multiple_of(ALIGNMENT);
    let mut file = vec![0; body];
    let mut rows = Vec::new();
    for (section, bytes) in sections {
        file.resize(file.len().next_multiple_of(ALIGNMENT), 0);
        rows.push((section.kind(), file.len() as u64, bytes.len() as u64));
        file.extend_from_slice(bytes);
    }
    let length = file.len() as u64;
    let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &MAGIC);
    put(field::FORMAT, &FORMAT.to_le_bytes());
    put(field::SEMANTICS, &SEMANTICS.to_le_bytes());
    put(field::BYTE_ORDER, &BYTE_ORDER.to_le_bytes());
    put(field::SECTIONS, &(sections.len() as u32).to_le_bytes());
    put(field::LENGTH, &length.to_le_bytes());
    put(field::FINGERPRINT, &fingerprint);
    let grammar = sections.iter().find(|(section, _)| *section == Section::Grammar);
    put(field::GRAMMAR_HASH, &hash_of(grammar.map_or(&[][..], |(_, bytes)| bytes)));
    put(field::WIDTH, &(width as u32).to_le_bytes());
    put(field::BLOCKS, &(blocks as u32).to_le_bytes());
    put(field::BODY, &(body as u64).to_le_bytes());
    for (row, (kind, start, len)) in rows.into_iter().enumerate() {
        let at = HEADER + row * ROW;
        put(at, &kind.to_le_bytes());
        put(at + 8, &start.to_le_bytes());
        put(at + 16, &len.to_le_bytes());
    }
    let checksums: Vec<u32> = file[body..].chunks(BLOCK).map(crc32fast::hash).collect();
    for (block, checksum) in checksums.into_iter().enumerate() {
        let at = HEADER + sections.len() * ROW + block * 4;
        file[at..at + 4].copy_from_slice(&checksum.to_le_bytes());
    }
    let checksum = header_checksum(&file[..body]);
    file[field::CHECKSUM..field::CHECKSUM + 4].copy_from_slice(&checksum.to_le_bytes());
    file
}
