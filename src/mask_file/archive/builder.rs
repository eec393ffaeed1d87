//! Building archives.

use super::member::{Member, OWN, ROW};
use crate::error::Result;
use crate::limits::{LimitKind, Limits};
use crate::mask_file::header::{self, ALIGNMENT, BLOCK, HEADER, Kind, Section};
use crate::mask_file::{Form, MaskFile, assemble, errors, save};
use crate::vocabulary::Vocabulary;
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::Path;

/// Combines mask files of one vocabulary into an archive, which is kept in memory until it is written. The same files
/// in the same order give the same bytes.
pub struct ArchiveBuilder {
    fingerprint: [u8; 32],
    width: usize,
    limits: Limits,
    members: BTreeMap<String, Member>,
    data: Pool,
    masks: Pool,
    words: Pool,
    token_index: Vec<u8>,
    /// Bytes of the names of all files.
    names_len: usize,
}

impl fmt::Debug for ArchiveBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArchiveBuilder").field("files", &self.file_count()).finish_non_exhaustive()
    }
}

/// Bytes that store each distinct part once.
#[derive(Debug, Default)]
struct Pool {
    bytes: Vec<u8>,
    /// Start of each part, by the SHA-256 of the part.
    known: FxHashMap<[u8; 32], usize>,
}

impl Pool {
    /// Adds a part, at a multiple of `alignment`, unless it is already there. Returns its range.
    fn add(&mut self, part: &[u8], alignment: usize) -> Range<usize> {
        if part.is_empty() {
            return 0..0;
        }
        let next = self.bytes.len().next_multiple_of(alignment);
        let start = *self.known.entry(Sha256::digest(part).into()).or_insert(next);
        if start == next {
            self.bytes.resize(next, 0);
            self.bytes.extend_from_slice(part);
        }
        start..start + part.len()
    }
}

impl ArchiveBuilder {
    /// An empty archive for a vocabulary. It can grow to at most `mask_archive_bytes` of `limits`.
    pub fn new(vocabulary: &Vocabulary, limits: &Limits) -> ArchiveBuilder {
        ArchiveBuilder {
            fingerprint: vocabulary.fingerprint(),
            width: vocabulary.width(),
            limits: limits.clone(),
            members: BTreeMap::new(),
            data: Pool::default(),
            masks: Pool::default(),
            words: Pool::default(),
            token_index: Vec::new(),
            names_len: 0,
        }
    }

    /// Sets the [token index](crate::Compiler::token_index) of the vocabulary, once for all files; token indices of the
    /// files are left out.
    ///
    /// # Errors
    /// `limit/exceeded` if the archive would exceed `mask_archive_bytes`. The token index is then not changed.
    pub fn set_token_index(&mut self, index: Vec<u8>) -> Result<()> {
        self.check_len((self.len() - self.token_index.len()).saturating_add(index.len()))?;
        self.token_index = index;
        Ok(())
    }

    /// Adds a file under a name.
    ///
    /// # Errors
    /// `mask-file/other-vocabulary` if the fingerprint or the width differs from the archive's; `mask-file/name-twice`
    /// if a file has this name already; those of [`MaskFile::check`]; `limit/exceeded` if the archive could exceed
    /// `mask_archive_bytes`. The file is then not added.
    pub fn add(&mut self, name: impl Into<String>, file: &MaskFile) -> Result<()> {
        let name = name.into();
        if file.fingerprint() != self.fingerprint || file.width() != self.width {
            return Err(errors::other_vocabulary(&file.fingerprint(), &self.fingerprint));
        }
        if self.members.contains_key(&name) {
            return Err(errors::name_twice(&name));
        }
        file.check()?;
        // a file in another archive shares its sections of masks with other files
        let alone = file.file.is_member().then(|| MaskFile::from_bytes(file.as_bytes())).transpose()?;
        let file = alone.as_ref().unwrap_or(file);
        let row = ROW + size_of::<u32>();
        self.check_len(self.len().saturating_add(file.as_bytes().len() + name.len() + row))?;
        let places: Vec<u8> = self.add_masks(file)?.iter().flat_map(|place| place.to_le_bytes()).collect();
        let own = OWN.map(|section| match section {
            Section::MaskPlaces => self.data.add(&places, ALIGNMENT),
            _ => self.data.add(file.file.whole(section).unwrap_or_default(), ALIGNMENT),
        });
        self.names_len += name.len();
        self.members.insert(name, Member { grammar_hash: file.grammar_hash(), name: 0..0, own });
        Ok(())
    }

    /// Adds the masks of a file and returns the place of each, in words of the section of masks.
    fn add_masks(&mut self, file: &MaskFile) -> Result<Vec<u32>> {
        let words_len = self.width.div_ceil(32) * 4;
        let mut places = Vec::with_capacity(file.mask_count());
        for id in 0..file.mask_count() {
            let impossible = || errors::impossible("mask", id);
            let form = file.mask(id as u32).ok_or_else(impossible)?;
            let words = match form {
                Form::Near { words, .. } => {
                    let at = words as usize * words_len;
                    let words = file.file.part(Section::Words, at, words_len).ok_or_else(impossible)?;
                    self.words.add(words, 1).start / words_len.max(1)
                }
                Form::List(_) | Form::AllBut(_) => 0,
            };
            let record = form.to_bytes(words as u32);
            let place = self.masks.add(&record, 4).start / 4;
            let full = |_| errors::too_large(LimitKind::MaskArchiveBytes, self.len() as u64, &self.limits);
            places.push(u32::try_from(place).map_err(full)?);
        }
        Ok(places)
    }

    /// The number of files added.
    pub fn file_count(&self) -> usize {
        self.members.len()
    }

    /// An upper bound on the bytes of the archive, at most 4 KiB too high: all sections with their padding, and the
    /// header.
    fn len(&self) -> usize {
        let pools = self.data.bytes.len() + self.masks.bytes.len() + self.words.bytes.len();
        let rows = self.members.len() * (ROW + size_of::<u32>());
        let sections = Section::ALL.len();
        let body = pools + self.token_index.len() + rows + self.names_len + sections * ALIGNMENT;
        let checksums = body.div_ceil(BLOCK) * size_of::<u32>();
        body + HEADER + sections * header::ROW + checksums + ALIGNMENT
    }

    fn check_len(&self, len: usize) -> Result<()> {
        let is_small = len <= self.limits.mask_archive_bytes;
        is_small
            .then_some(())
            .ok_or_else(|| errors::too_large(LimitKind::MaskArchiveBytes, len as u64, &self.limits))
    }

    /// The sections other than masks, words and data: rows, names, and rows by grammar.
    fn index(&self) -> [(Section, Vec<u8>); 3] {
        let (mut rows, mut names) = (Vec::new(), Vec::new());
        let mut by_grammar: Vec<([u8; 32], u32)> = Vec::new();
        for (id, (name, member)) in self.members.iter().enumerate() {
            let start = names.len();
            names.extend_from_slice(name.as_bytes());
            Member { name: start..names.len(), ..member.clone() }.write(&mut rows);
            by_grammar.push((member.grammar_hash, id as u32));
        }
        by_grammar.sort_unstable();
        let by_grammar = by_grammar.iter().flat_map(|(_, id)| id.to_le_bytes()).collect();
        [(Section::Members, rows), (Section::Names, names), (Section::ByGrammar, by_grammar)]
    }

    fn sections<'a>(&'a self, index: &'a [(Section, Vec<u8>); 3]) -> Vec<(Section, &'a [u8])> {
        let index = index.iter().map(|(section, bytes)| (*section, &**bytes));
        let pools =
            [(Section::Words, &self.words), (Section::Masks, &self.masks), (Section::Data, &self.data)];
        let token_index = Some((Section::TokenIndex, &*self.token_index));
        index
            .chain(pools.map(|(section, pool)| (section, &*pool.bytes)))
            .chain(token_index.filter(|(_, index)| !index.is_empty()))
            .collect()
    }

    /// The bytes of the archive, for [`MaskArchive::from_bytes`](crate::mask_file::MaskArchive::from_bytes) or for a
    /// file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let index = self.index();
        let sections = self.sections(&index);
        let mut bytes = assemble::header(Kind::Archive, self.fingerprint, self.width, &sections);
        assemble::pieces(&sections).for_each(|piece| bytes.extend_from_slice(piece));
        bytes
    }

    /// Writes the archive to a path, as [`MaskFile::save`] does. Returns its size in bytes.
    ///
    /// # Errors
    /// `io/no-file` if the path is a folder or another file that is not regular; `io/file` if the file cannot be
    /// written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<usize> {
        let index = self.index();
        let sections = self.sections(&index);
        let header = assemble::header(Kind::Archive, self.fingerprint, self.width, &sections);
        save(path.as_ref(), std::iter::once(&*header).chain(assemble::pieces(&sections)))?;
        Ok(header.len() + assemble::pieces(&sections).map(<[u8]>::len).sum::<usize>())
    }
}
