//! The header of mask files and archives: the fingerprint, the ranges of the sections, and the checksum of the header
//! itself.

use super::codec::{double_word, word};
use super::errors;
use crate::error::Result;
use std::ops::Range;

/// The version of the layout.
pub(super) const FORMAT: u32 = 1;

/// The version of the meaning of grammars: under another version the same grammar may have other masks.
pub(super) const SEMANTICS: u32 = 1;

/// A constant that reads the same only in the byte order of the writer.
pub(super) const BYTE_ORDER: u32 = 0x0102_0304;

/// Bytes of the header before the table of sections.
pub(super) const HEADER: usize = 128;

/// Bytes of a row of the table of sections.
pub(super) const ROW: usize = 24;

/// Sections begin at multiples of this many bytes.
pub(super) const ALIGNMENT: usize = 64;

/// Bytes that one checksum covers; the last block may be shorter.
pub(super) const BLOCK: usize = 4096;

/// Offsets of the header's fields, in bytes.
pub(super) mod field {
    pub(in crate::mask_file) const FORMAT: usize = 8;
    pub(in crate::mask_file) const SEMANTICS: usize = 12;
    pub(in crate::mask_file) const BYTE_ORDER: usize = 16;
    pub(in crate::mask_file) const SECTIONS: usize = 20;
    pub(in crate::mask_file) const LENGTH: usize = 24;
    pub(in crate::mask_file) const FINGERPRINT: usize = 32;
    pub(in crate::mask_file) const GRAMMAR_HASH: usize = 64;
    pub(in crate::mask_file) const WIDTH: usize = 96;
    pub(in crate::mask_file) const BLOCKS: usize = 100;
    pub(in crate::mask_file) const BODY: usize = 104;
    pub(in crate::mask_file) const CHECKSUM: usize = 112;
}

/// The kind of a file: a mask file of one grammar, or an archive of many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    MaskFile,
    Archive,
}

impl Kind {
    /// The first bytes of a file of this kind.
    pub(super) fn magic(self) -> [u8; 8] {
        match self {
            Kind::MaskFile => *b"\x89GMASK\r\n",
            Kind::Archive => *b"\x89GMARC\r\n",
        }
    }

    /// The sections that a file of this kind may have.
    pub(super) fn sections(self) -> &'static [Section] {
        match self {
            Kind::MaskFile => &[
                Section::Grammar,
                Section::States,
                Section::Rows,
                Section::TokenEdges,
                Section::MaskPlaces,
                Section::Masks,
                Section::Words,
                Section::About,
                Section::TokenIndex,
            ],
            Kind::Archive => &[
                Section::Masks,
                Section::Words,
                Section::Members,
                Section::Names,
                Section::ByGrammar,
                Section::Data,
                Section::TokenIndex,
            ],
        }
    }
}

macro_rules! sections {
    ($($section:ident $name:literal)*) => {
        /// A section of a mask file or an archive.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Section {
            $($section,)*
        }

        impl Section {
            /// All sections; the first eight are written to every mask file.
            pub(super) const ALL: [Section; [$($name),*].len()] = [$(Section::$section),*];

            /// The name shown to users.
            pub(super) fn name(self) -> &'static str {
                match self {
                    $(Section::$section => $name,)*
                }
            }
        }
    };
}

// their order gives the numbers in files
sections! {
    Grammar "grammar"
    States "states"
    Rows "rows"
    TokenEdges "token edges"
    MaskPlaces "mask places"
    Masks "masks"
    Words "words"
    About "about"
    Members "members"
    Names "names"
    ByGrammar "by grammar"
    Data "data"
    TokenIndex "token index"
}

impl Section {
    /// The number of the section in the table of sections.
    pub(super) fn kind(self) -> u32 {
        self as u32 + 1
    }
}

/// The range of each section in the file; empty if the section is missing.
pub(super) type Sections = [Range<usize>; Section::ALL.len()];

pub(super) const NO_SECTIONS: Sections = [const { 0..0 }; Section::ALL.len()];

/// A valid header.
#[derive(Clone, Debug)]
pub(super) struct Header {
    pub(super) sections: Sections,
    /// Offset of the first section: the length of everything before the sections.
    pub(super) body: usize,
    /// The length of the file in bytes.
    pub(super) len: usize,
    /// Offset of the checksums of the blocks.
    pub(super) checksums: usize,
    /// The vocabulary's fingerprint.
    pub(super) fingerprint: [u8; 32],
    /// SHA-256 of the grammar section, as the file gives it; zeros in an archive.
    pub(super) grammar_hash: [u8; 32],
    /// The width of the vocabulary, in tokens.
    pub(super) width: usize,
}

impl Header {
    pub(super) fn section_len(&self, section: Section) -> usize {
        self.sections[section as usize].len()
    }

    /// The sections of a file of this kind; the token index only if there is one.
    pub(super) fn kinds(&self, kind: Kind) -> impl Iterator<Item = Section> + '_ {
        let is_there = |section: &Section| *section != Section::TokenIndex || self.section_len(*section) > 0;
        kind.sections().iter().copied().filter(is_there)
    }

    /// The offset of the first section of a file of `len` bytes that begins with `start`; `None` if the header does not
    /// give a valid one.
    pub(super) fn body_of(start: &[u8], len: usize) -> Option<usize> {
        let body = usize::try_from(double_word(start, field::BODY)?).ok()?;
        (HEADER..=len).contains(&body).then_some(body)
    }

    /// Reads the header of a file of `len` bytes and checks it completely. `file` has at least the bytes before the
    /// first section.
    ///
    /// # Errors
    /// `mask-file/no-mask-file` or `mask-file/no-archive` if the file does not begin as a file of the kind;
    /// `mask-file/other-version` if a version or the byte order differs; `mask-file/damaged-header` if a field is
    /// impossible or the checksum of the header is wrong.
    pub(super) fn read(file: &[u8], len: usize, kind: Kind) -> Result<Header> {
        if !file.starts_with(&kind.magic()) {
            let is_archive = file.starts_with(&Kind::Archive.magic());
            return Err(match kind {
                Kind::MaskFile => errors::no_mask_file(len, is_archive),
                Kind::Archive => errors::no_archive(len, file.starts_with(&Kind::MaskFile.magic())),
            });
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
        if long(field::LENGTH)? != len {
            return Err(damaged(field::LENGTH, "the file has another length"));
        }
        let (body, count, blocks) = (long(field::BODY)?, number(field::SECTIONS)?, number(field::BLOCKS)?);
        let is_place = body.is_multiple_of(ALIGNMENT) && body <= len && body <= file.len();
        if !is_place || count as usize > kind.sections().len() {
            return Err(damaged(field::BODY, "no place for the sections"));
        }
        let checksums = HEADER + count as usize * ROW;
        let end = (blocks as usize).checked_mul(4).and_then(|len| len.checked_add(checksums));
        if blocks as usize != (len - body).div_ceil(BLOCK) || end.is_none_or(|end| end > body) {
            return Err(damaged(field::BLOCKS, "not a checksum for each block"));
        }
        if header_checksum(&file[..body]) != number(field::CHECKSUM)? {
            return Err(damaged(field::CHECKSUM, "it does not have its checksum"));
        }
        let mut sections = NO_SECTIONS;
        let mut end = body;
        for row in 0..count as usize {
            let at = HEADER + row * ROW;
            let found = number(at)?;
            let section = kind.sections().iter().find(|section| section.kind() == found);
            let section = section.map(|&section| &mut sections[section as usize]);
            let section = section.ok_or_else(|| damaged(at, "a section of an unknown kind"))?;
            let (start, section_len) = (long(at + 8)?, long(at + 16)?);
            let range = start..start.saturating_add(section_len);
            // sections are in ascending order, so they cannot overlap
            if start < end || range.end > len || !start.is_multiple_of(ALIGNMENT) || section.end > 0 {
                return Err(damaged(at, "a section that lies outside of its place"));
            }
            end = range.end;
            *section = range;
        }
        let hash = |at: usize| file.get(at..at + 32).and_then(|field| field.try_into().ok());
        Ok(Header {
            sections,
            body,
            len,
            checksums,
            fingerprint: hash(field::FINGERPRINT).unwrap_or_default(),
            grammar_hash: hash(field::GRAMMAR_HASH).unwrap_or_default(),
            width: number(field::WIDTH)? as usize,
        })
    }
}

/// The checksum of everything before the sections, computed with zeros in the place of this checksum.
pub(super) fn header_checksum(header: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&header[..field::CHECKSUM]);
    hasher.update(&[0; 4]);
    hasher.update(&header[field::CHECKSUM + 4..]);
    hasher.finalize()
}

/// Recomputes all checksums of a file, as a forger would. A file without a header stays unchanged.
#[cfg(feature = "testing")]
pub(super) fn resealed(mut file: Vec<u8>) -> Vec<u8> {
    let field = |file: &[u8], at: usize| word(file, at).map_or(0, |number| number as usize);
    let Some(body) = Header::body_of(&file, file.len()) else { return file };
    let (count, blocks) = (field(&file, field::SECTIONS), field(&file, field::BLOCKS));
    let table = HEADER.saturating_add(count.saturating_mul(ROW));
    if table.saturating_add(blocks.saturating_mul(4)) > body {
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
