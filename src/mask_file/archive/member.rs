//! The row that describes a file in an archive.

use crate::error::Result;
use crate::mask_file::codec::double_word;
use crate::mask_file::errors;
use crate::mask_file::header::{Header, NO_SECTIONS, Section, Sections};
use std::ops::Range;

/// Bytes of a row.
pub(super) const ROW: usize = 144;

/// The sections that belong to one file alone, in the order of the row.
pub(super) const OWN: [Section; 6] = [
    Section::Grammar,
    Section::States,
    Section::Rows,
    Section::TokenEdges,
    Section::MaskPlaces,
    Section::About,
];

/// The sections among [`OWN`] that a check of a file reads.
pub(super) const GRAPH: [Section; 4] =
    [Section::States, Section::Rows, Section::TokenEdges, Section::MaskPlaces];

/// A file in an archive, as its row describes it.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) grammar_hash: [u8; 32],
    /// Range of the file's name in the section of names.
    pub(super) name: Range<usize>,
    /// Ranges of the file's sections in the section of data, in the order of [`OWN`].
    pub(super) own: [Range<usize>; OWN.len()],
}

impl Member {
    /// Decodes a row; `None` if its numbers are impossible.
    pub(super) fn read(row: &[u8]) -> Option<Member> {
        let range = |at: usize| {
            let start = usize::try_from(double_word(row, at)?).ok()?;
            let len = usize::try_from(double_word(row, at + 8)?).ok()?;
            Some(start..start.checked_add(len)?)
        };
        let mut own = [const { 0..0 }; OWN.len()];
        for (place, range_of) in own.iter_mut().enumerate() {
            *range_of = range(48 + place * 16)?;
        }
        Some(Member { grammar_hash: row.get(..32)?.try_into().ok()?, name: range(32)?, own })
    }

    /// Appends the encoded row to `out`.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.grammar_hash);
        for range in std::iter::once(&self.name).chain(&self.own) {
            out.extend_from_slice(&(range.start as u64).to_le_bytes());
            out.extend_from_slice(&(range.len() as u64).to_le_bytes());
        }
    }

    /// The ranges of the file's sections in the archive.
    ///
    /// # Errors
    /// `mask-file/impossible` if a range is not within the archive's section of data.
    pub(super) fn sections(&self, archive: &Header) -> Result<Sections> {
        let what = "the sections of the file whose name is at";
        self.sections_in_data(archive).ok_or_else(|| errors::impossible(what, self.name.start))
    }

    fn sections_in_data(&self, archive: &Header) -> Option<Sections> {
        let data = &archive.sections[Section::Data as usize];
        let mut sections = NO_SECTIONS;
        for shared in [Section::Masks, Section::Words, Section::TokenIndex] {
            sections[shared as usize] = archive.sections[shared as usize].clone();
        }
        for (section, own) in OWN.iter().zip(&self.own) {
            let (start, end) = (data.start.checked_add(own.start)?, data.start.checked_add(own.end)?);
            sections[*section as usize] = (end <= data.end).then_some(start..end)?;
        }
        Some(sections)
    }
}
