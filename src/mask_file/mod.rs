//! Mask files: the result of exploring a compiled grammar, for use by another process.
//!
//! A [`MaskFile`] holds a grammar and a deterministic graph of explored places: the destination of each byte, and the
//! mask at a place. Beyond the graph, the engine continues, built from the grammar in the file.
//! `docs/mask-file-format.md` describes every byte.
//!
//! A [`MaskArchive`] has many mask files for one vocabulary, and stores shared parts once; an [`ArchiveBuilder`] builds
//! one.
//!
//! - `header` has the ranges of sections and the place of their checksums, `container` the bytes of a file and which
//!   blocks were checked, `assemble` makes the bytes of a file; `codec` reads and writes numbers;
//! - `graph` reads states, rows and masks; `words` reads the words that masks share; `draft` writes them; `grammar`
//!   reads and writes the grammar;
//! - `check` checks the whole content of a file;
//! - `archive` is many files in one;
//! - `save` writes a file atomically.
//!
//! The content of a file is not trusted. Values are range-checked when they are read; blocks with a wrong checksum and
//! impossible values count as unexplored. So a forged file can give wrong answers for its own grammar, but it can do no
//! other harm.

mod about;
mod archive;
mod assemble;
mod check;
mod codec;
mod container;
mod draft;
pub(crate) mod errors;
mod grammar;
mod graph;
mod header;
mod save;
mod words;

pub(crate) use about::about;

pub use about::listed;
pub use archive::{ArchiveBuilder, ArchiveContents, MaskArchive};
pub(crate) use draft::{MaskDrafts, StateDraft, Target, write};
pub(crate) use graph::{Form, Next, START, State};
pub(crate) use save::save;
pub(crate) use words::slots;

use crate::error::{Error, Result};
use crate::files;
use crate::grammar::Grammar;
use crate::limits::{LimitKind, Limits};
use crate::vocabulary::{TokenId, Vocabulary};
use check::Check;
use container::{Bytes, Container};
use header::{Kind, Section};
use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use words::SharedWords;

/// File name extension of mask files.
pub const EXTENSION: &str = "gmask";

/// Whether bytes begin with the first eight bytes of a mask file or of an archive.
pub fn is_mask_file(bytes: &[u8]) -> bool {
    [Kind::MaskFile, Kind::Archive].iter().any(|kind| bytes.starts_with(&kind.magic()))
}

/// File name extension of archives.
pub const ARCHIVE_EXTENSION: &str = "gmasks";

/// A grammar with its explored places, for one vocabulary.
///
/// [`Compiler::load`](crate::Compiler::load) loads it as a compiled grammar.
pub struct MaskFile {
    file: Container,
    words: Arc<SharedWords>,
    /// The bytes as a standalone file, if the file is in an archive and they were requested.
    alone: OnceLock<Box<[u8]>>,
}

impl fmt::Debug for MaskFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MaskFile")
            .field("bytes", &self.file.bytes().len())
            .field("width", &self.width())
            .finish_non_exhaustive()
    }
}

/// The size of a section of a mask file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SectionSize {
    /// The name of the section.
    pub name: &'static str,
    /// Bytes, without the padding between sections.
    pub bytes: usize,
}

/// Sizes and counts of a mask file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Contents {
    /// Bytes of the file.
    pub bytes: usize,
    /// The sections, in the order of the file.
    pub sections: Vec<SectionSize>,
    /// Number of explored places.
    pub states: usize,
    /// Number of explored places that have a mask.
    pub states_with_mask: usize,
    /// Number of distinct masks.
    pub masks: usize,
    /// Number of masks per form: lists of allowed tokens, lists of forbidden tokens, and differences from shared words.
    pub forms: [usize; 3],
    /// Number of shared bit sets (one bit per token) that masks are stored as differences from.
    pub shared_words: usize,
}

impl MaskFile {
    /// Reads a file into memory and checks its header and all checksums.
    ///
    /// # Errors
    /// `io/file` if the file cannot be opened or read, `io/no-file` if it is not a regular file; `limit/exceeded` if it
    /// is larger than `mask_file_bytes`, or does not fit into memory; those of [`from_bytes`](MaskFile::from_bytes).
    pub fn open(path: impl AsRef<Path>, limits: &Limits) -> Result<MaskFile> {
        let path = path.as_ref();
        let (file, len) = regular_file(path, LimitKind::MaskFileBytes, limits)?;
        let mut bytes = Vec::new();
        let io = |cause: std::io::Error| Error::io(path, &cause);
        let too_large = |_| errors::too_large(LimitKind::MaskFileBytes, len as u64, limits);
        bytes.try_reserve_exact(len).map_err(too_large)?;
        // a file that has grown is not read further
        file.take(len as u64).read_to_end(&mut bytes).map_err(io)?;
        MaskFile::from_bytes(bytes).map_err(|error| error.in_file(&path.display().to_string()))
    }

    /// Maps a file into memory. A block is read, and its checksum computed, on first use; a block with a wrong checksum
    /// counts as unexplored.
    ///
    /// # Safety
    /// While the value or a grammar made of it exists, nobody may change or truncate the file. It may be replaced by
    /// renaming another file to its name, as all writers of mask files here do, but never be written in place. If that
    /// cannot be guaranteed, [`open`](MaskFile::open) reads the file into memory.
    ///
    /// # Errors
    /// Those of [`open`](MaskFile::open) except `mask-file/damaged`; `io/file` also if the file cannot be mapped.
    #[allow(unsafe_code)] // docs/security.md
    pub unsafe fn map(path: impl AsRef<Path>, limits: &Limits) -> Result<MaskFile> {
        let path = path.as_ref();
        // SAFETY: the caller promises that nobody changes the file while it is mapped
        let bytes = unsafe { map_file(path, LimitKind::MaskFileBytes, limits) }?;
        let file = Container::new(bytes, Kind::MaskFile);
        file.map(MaskFile::of).map_err(|error| error.in_file(&path.display().to_string()))
    }

    /// Reads a file from its bytes and checks its header and all checksums.
    ///
    /// # Errors
    /// `mask-file/no-mask-file` if the bytes do not begin as a mask file; `mask-file/other-version` if a version or the
    /// byte order differs; `mask-file/damaged-header` if the header contradicts itself or the length;
    /// `mask-file/damaged` if a block has a wrong checksum.
    pub fn from_bytes(bytes: impl Into<Box<[u8]>>) -> Result<MaskFile> {
        let file = Container::new(Bytes::Owned(bytes.into()), Kind::MaskFile)?;
        file.check_all()?;
        Ok(MaskFile::of(file))
    }

    /// A file with its own table of shared words.
    fn of(file: Container) -> MaskFile {
        let words = Arc::new(SharedWords::new(graph::words_count(&file), file.bytes().len()));
        MaskFile { file, words, alone: OnceLock::new() }
    }

    /// The bytes of the file. A file in an archive is extracted on first use. The result equals the file that was added
    /// to the archive, without a token index; damaged blocks are left out.
    pub fn as_bytes(&self) -> &[u8] {
        match self.file.is_member() {
            true => self.alone.get_or_init(|| archive::alone(&self.file).into()),
            false => self.file.bytes(),
        }
    }

    /// Writes the file atomically: to a temporary file in the same folder, which is synced and renamed.
    ///
    /// # Errors
    /// `io/no-file` if the path is a folder or another file that is not regular; `io/file` if the file cannot be
    /// written; for a file in an archive also those of [`check`](MaskFile::check).
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        if self.file.is_member() {
            self.check()?;
        }
        save(path.as_ref(), [self.as_bytes()])
    }

    /// The [fingerprint](crate::Vocabulary::fingerprint) of the vocabulary that the masks are for.
    pub fn fingerprint(&self) -> [u8; 32] {
        self.file.fingerprint()
    }

    /// SHA-256 of the grammar as encoded in the file, as the header gives it. All files of the same grammar have the
    /// same hash. [`is_of`](MaskFile::is_of) compares the grammar itself.
    pub fn grammar_hash(&self) -> [u8; 32] {
        self.file.grammar_hash()
    }

    /// The [hash](MaskFile::grammar_hash) that files of `grammar` have.
    pub fn hash_of(grammar: &Grammar) -> [u8; 32] {
        assemble::hash_of(&grammar::write(grammar))
    }

    /// Whether the file contains exactly this grammar.
    pub fn is_of(&self, grammar: &Grammar) -> bool {
        self.file.whole(Section::Grammar).is_some_and(|section| section == grammar::write(grammar))
    }

    /// Reads the grammar that the file contains.
    ///
    /// # Errors
    /// `mask-file/damaged` if a block of the grammar has a wrong checksum; `mask-file/grammar` if the grammar cannot be
    /// decoded; those of [`GrammarBuilder::build`](crate::grammar::GrammarBuilder::build), such as `limit/exceeded`.
    pub fn grammar(&self, limits: &Limits) -> Result<Grammar> {
        let section = self.file.whole(Section::Grammar);
        let at = self.file.section(Section::Grammar).start;
        grammar::read(section.ok_or_else(|| errors::damaged_block(at))?, limits)
    }

    /// The error `mask-file/other-vocabulary`: the file is for another vocabulary than `here`. The error says whether
    /// only end tokens or the width differ, if the file shows that.
    pub(crate) fn other_vocabulary(&self, here: &Vocabulary) -> Error {
        let fingerprint = self.fingerprint();
        let width = self.width();
        let eos = self.end_tokens();
        // hashing with a forged large width would be expensive
        let is_near = width / 2 <= here.width();
        let same_tokens = |eos: &Vec<TokenId>| is_near && here.fingerprint_with(width, eos) == fingerprint;
        match eos.filter(same_tokens) {
            Some(eos) => errors::other_end_tokens((width, &eos), (here.width(), here.eos())),
            None => errors::other_vocabulary(&fingerprint, &here.fingerprint()),
        }
    }

    /// The text about how the file was made; empty if it cannot be read.
    pub fn about(&self) -> &str {
        self.file.whole(Section::About).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default()
    }

    /// The end-of-sequence ids of the vocabulary according to [`about`](MaskFile::about), at most 1,024 of them; `None`
    /// if the file does not list them, as files of earlier versions, or if the list is invalid. The ids are not
    /// checked: the [fingerprint](MaskFile::fingerprint) decides for which vocabulary a file is.
    pub fn end_tokens(&self) -> Option<Vec<TokenId>> {
        about::end_tokens(self.about())
    }

    /// The [token index](crate::Compiler::prepare_from) of the vocabulary, if the file has one. A file of an archive
    /// that is in memory ([mapped](MaskArchive::map) or read from bytes) has the token index of the archive. `None` if
    /// a block of it is damaged.
    pub fn token_index(&self) -> Option<&[u8]> {
        self.file.whole(Section::TokenIndex).filter(|index| !index.is_empty())
    }

    /// A copy of the file with a [token index](crate::Compiler::token_index), or without one if `index` is empty.
    ///
    /// # Errors
    /// Those of [`check`](MaskFile::check). The copy has new checksums, so it would hide damage.
    pub fn with_token_index(&self, index: &[u8]) -> Result<MaskFile> {
        self.check()?;
        let alone = self.file.is_member().then(|| MaskFile::from_bytes(self.as_bytes())).transpose()?;
        let file = alone.as_ref().map_or(&self.file, |alone| &alone.file);
        let mut sections = Section::ALL[..8]
            .iter()
            .map(|&section| (section, file.whole(section).unwrap_or_default()))
            .collect::<Vec<_>>();
        sections.extend(Some((Section::TokenIndex, index)).filter(|(_, index)| !index.is_empty()));
        let bytes = assemble::assemble(self.fingerprint(), self.width(), &sections);
        MaskFile::from_bytes(bytes)
    }

    /// Checks all blocks, and that all states, rows and masks are well-formed.
    /// [`CompiledGrammar::verify_masks`](crate::CompiledGrammar::verify_masks) checks whether they are *correct*.
    ///
    /// # Errors
    /// `mask-file/damaged` if a block has a wrong checksum; `mask-file/impossible` if a value is invalid or parts
    /// overlap.
    pub fn check(&self) -> Result<()> {
        self.file.check_all()?;
        let [masks, words] = [Section::Masks, Section::Words].map(|section| self.file.section_len(section));
        let mut check = Check::new(self.len(), masks, words);
        let part = |section, at, len| Ok(self.file.part(section, at, len).map(Cow::Borrowed));
        check.states(&self.file)?;
        check.masks(&self.file, part)?;
        // the archive's section of words also has words of other files
        let all = 0..if self.file.is_member() { 0 } else { self.words_count() };
        all.into_iter().try_for_each(|id| check.shared_words(id, self.width(), part))
    }

    /// Sizes and counts; for a file in an archive, those of the extracted file.
    pub fn contents(&self) -> Contents {
        if self.file.is_member()
            && let Ok(alone) = MaskFile::from_bytes(self.as_bytes())
        {
            return alone.contents();
        }
        let states = (0..self.state_count()).filter_map(|id| self.state(id as u32));
        let mut forms = [0; 3];
        for id in 0..self.mask_count() {
            match graph::form_of(&self.file, id as u32) {
                Some(graph::form::LIST) => forms[0] += 1,
                Some(graph::form::ALL_BUT) => forms[1] += 1,
                Some(graph::form::NEAR) => forms[2] += 1,
                _ => {}
            }
        }
        let size =
            |section: &Section| SectionSize { name: section.name(), bytes: self.file.section_len(*section) };
        Contents {
            bytes: self.as_bytes().len(),
            sections: self.file.kinds(Kind::MaskFile).map(|section| size(&section)).collect(),
            states: self.state_count(),
            states_with_mask: states.filter(|state| state.mask().is_some()).count(),
            masks: self.mask_count(),
            forms,
            shared_words: self.words_count(),
        }
    }

    /// The width of the vocabulary, in tokens.
    pub(crate) fn width(&self) -> usize {
        self.file.width()
    }

    /// The number of states: of explored places.
    pub(crate) fn state_count(&self) -> usize {
        graph::state_count(&self.file)
    }

    pub(crate) fn mask_count(&self) -> usize {
        graph::mask_count(&self.file)
    }

    /// The number of sets of shared words.
    pub(crate) fn words_count(&self) -> usize {
        graph::words_count(&self.file)
    }

    /// The state with this id, if there is one.
    #[inline]
    pub(crate) fn state(&self, id: u32) -> Option<State> {
        graph::state(&self.file, id)
    }

    /// The destination of a byte, if it was explored.
    #[inline]
    pub(crate) fn after_byte(&self, state: State, byte: u8) -> Option<Next> {
        graph::after_byte(&self.file, state, byte)
    }

    /// The destination of a token that token edges take, if it was explored.
    pub(crate) fn after_token(&self, state: State, token: u32) -> Option<Next> {
        graph::after_token(&self.file, state, token)
    }

    /// The places that a place's bytes lead to, each with a byte that leads there.
    pub(crate) fn byte_successors(&self, state: State) -> impl Iterator<Item = (u8, u32)> + '_ {
        graph::byte_successors(&self.file, state)
    }

    /// The places that a place's token edges lead to, each with its token.
    pub(crate) fn token_successors(&self, state: State) -> impl Iterator<Item = (u32, u32)> + '_ {
        graph::token_successors(&self.file, state)
    }

    /// The mask with this id, if there is one.
    pub(crate) fn mask(&self, id: u32) -> Option<Form<'_>> {
        graph::mask(&self.file, id)
    }

    /// The shared words with this id, if the file has them: one bit per token.
    pub(crate) fn words(&self, id: u32) -> Option<Arc<[u32]>> {
        self.words.get(&self.file, id)
    }

    /// Words with the bits of all tokens set.
    pub(crate) fn all_words(&self) -> Arc<[u32]> {
        self.words.all(self.width())
    }

    /// Bytes of the file, or of the archive that contains it.
    pub(crate) fn len(&self) -> usize {
        self.file.bytes().len()
    }

    /// Bytes of memory owned by this value, without the data that an archive keeps for all of its files.
    pub(crate) fn owned_bytes(&self) -> usize {
        let words = if self.file.is_member() { 0 } else { self.words.memory_usage() };
        self.file.owned_bytes() + words + self.alone.get().map_or(0, |bytes| bytes.len())
    }
}

/// Recomputes all checksums of a file, for tests with forged files.
#[cfg(feature = "testing")]
#[doc(hidden)]
pub fn resealed(file: Vec<u8>) -> Vec<u8> {
    header::resealed(file)
}

/// Opens a regular file and returns it with its length, which is at most the limit `kind`. Pipes are refused, since
/// opening one would block.
fn regular_file(path: &Path, kind: LimitKind, limits: &Limits) -> Result<(File, usize)> {
    let (file, found) = files::open(path)?;
    let len = usize::try_from(found).ok().filter(|&len| len <= limits.get(kind));
    let too_large = || errors::too_large(kind, found, limits).in_file(&path.display().to_string());
    Ok((file, len.ok_or_else(too_large)?))
}

/// Maps a regular file. An empty file is not mapped.
///
/// # Safety
/// Nobody changes or shortens the file while it is mapped.
#[allow(unsafe_code)] // a helper of the crate's `unsafe fn`s: docs/security.md
unsafe fn map_file(path: &Path, kind: LimitKind, limits: &Limits) -> Result<Bytes> {
    let (file, len) = regular_file(path, kind, limits)?;
    if len == 0 {
        return Ok(Bytes::Owned(Box::default()));
    }
    // SAFETY: the caller promises what `map` requires
    let mapped = unsafe { memmap2::MmapOptions::new().len(len).map(&file) };
    Ok(Bytes::Mapped(mapped.map_err(|cause| Error::io(path, &cause))?))
}
