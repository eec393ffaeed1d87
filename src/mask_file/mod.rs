//! Mask files: what exploring has found out about a compiled grammar, for another process to begin with.
//!
//! A [`MaskFile`] holds a grammar and a deterministic graph of explored places: which byte leads where, and the mask at a place.
//! Where the graph ends, the engine goes on, made from the grammar in the file. `docs/mask-file-format.md` describes every byte.
//!
//! A [`MaskArchive`] holds many of them for one vocabulary, and what they share once; an [`ArchiveBuilder`] makes one.
//!
//! - `header` says where sections lie and has their checksums, `container` holds both, `assemble` makes the bytes of a file;
//!   `codec` reads and writes numbers;
//! - `graph` reads states, rows and masks; `words` those that masks share; `draft` writes them; `grammar` reads and writes the grammar;
//! - `check` checks all that a file says;
//! - `archive` is many files in one;
//! - `save` puts a file into its place as a whole, or not at all.
//!
//! Nothing that a file says is trusted. What is followed is range-checked where it is read, and what lies in a block without
//! its checksum, or cannot be, is as if it had not been explored. So a forged file can be wrong about its own grammar, and no
//! more.

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
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use words::SharedWords;

/// How the names of mask files end.
pub const EXTENSION: &str = "gmask";

/// Whether bytes begin as a mask file does, or as an archive of them.
pub fn is_mask_file(bytes: &[u8]) -> bool {
    [Kind::MaskFile, Kind::Archive].iter().any(|kind| bytes.starts_with(&kind.magic()))
}

/// How the names of archives of mask files end.
pub const ARCHIVE_EXTENSION: &str = "gmasks";

/// A grammar with what was explored of it, for one vocabulary.
///
/// [`Compiler::load`](crate::Compiler::load) makes a compiled grammar of it.
#[derive(Debug)]
pub struct MaskFile {
    file: Container,
    words: Arc<SharedWords>,
    /// The bytes as a file of its own, if it lies in an archive and someone has asked for them.
    alone: OnceLock<Box<[u8]>>,
}

/// A section of a mask file, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SectionSize {
    /// What it holds.
    pub name: &'static str,
    /// Bytes, without those between sections.
    pub bytes: usize,
}

/// What a mask file holds, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Contents {
    /// Bytes of the file.
    pub bytes: usize,
    /// The sections, in the order of the file.
    pub sections: Vec<SectionSize>,
    /// Explored places.
    pub states: usize,
    /// Explored places that have a mask.
    pub states_with_mask: usize,
    /// Different masks.
    pub masks: usize,
    /// Masks by their forms: lists of allowed tokens, lists of tokens that are not allowed, and shared words with what
    /// is taken away and added.
    pub forms: [usize; 3],
    /// Words that masks share, one bit a token.
    pub shared_words: usize,
}

impl MaskFile {
    /// Reads a file into memory and checks it whole.
    ///
    /// # Errors
    /// The file cannot be read or is no regular file; the limit `mask_file_bytes`; those of [`from_bytes`](MaskFile::from_bytes).
    pub fn open(path: impl AsRef<Path>, limits: &Limits) -> Result<MaskFile> {
        let path = path.as_ref();
        let (file, len) = regular_file(path, LimitKind::MaskFileBytes, limits)?;
        let mut bytes = Vec::new();
        let io = |cause: std::io::Error| Error::io(path, &cause);
        let too_large = |_| errors::too_large(LimitKind::MaskFileBytes, len as u64, limits);
        bytes.try_reserve_exact(len).map_err(too_large)?;
        // what is longer by now is not read
        file.take(len as u64).read_to_end(&mut bytes).map_err(io)?;
        MaskFile::from_bytes(bytes).map_err(|error| error.in_file(&path.display().to_string()))
    }

    /// Maps a file into memory. A block is read, and its checksum computed, when it is first needed; where it is wrong, that part
    /// is as if it had not been explored.
    ///
    /// # Safety
    /// As long as the value or a grammar made of it lives, nobody changes or shortens the file: it may be replaced by renaming
    /// another one to its name, as everything here that writes mask files does, and never be written to in its place. Where that
    /// cannot be promised, [`open`](MaskFile::open) reads it into memory.
    ///
    /// # Errors
    /// Those of [`open`](MaskFile::open); the file cannot be mapped.
    #[allow(unsafe_code)] // docs/security.md
    pub unsafe fn map(path: impl AsRef<Path>, limits: &Limits) -> Result<MaskFile> {
        let path = path.as_ref();
        // SAFETY: the caller promises that nobody changes the file while it is mapped
        let bytes = unsafe { map_file(path, LimitKind::MaskFileBytes, limits) }?;
        let file = Container::new(bytes, Kind::MaskFile);
        file.map(MaskFile::of).map_err(|error| error.in_file(&path.display().to_string()))
    }

    /// Takes the bytes of a file and checks them whole.
    ///
    /// # Errors
    /// `mask-file/no-mask-file`, `mask-file/other-version`, `mask-file/damaged-header`, `mask-file/damaged`.
    pub fn from_bytes(bytes: impl Into<Box<[u8]>>) -> Result<MaskFile> {
        let file = Container::new(Bytes::Owned(bytes.into()), Kind::MaskFile)?;
        file.check_all()?;
        Ok(MaskFile::of(file))
    }

    /// A file with words of its own.
    fn of(file: Container) -> MaskFile {
        let words = Arc::new(SharedWords::new(graph::words_count(&file), file.bytes().len()));
        MaskFile { file, words, alone: OnceLock::new() }
    }

    /// The bytes of the file. One in an archive is put together when they are first asked for, and is then the file that was put
    /// into the archive; what lies in damaged blocks is missing in it.
    pub fn as_bytes(&self) -> &[u8] {
        match self.file.is_member() {
            true => self.alone.get_or_init(|| archive::alone(&self.file).into()),
            false => self.file.bytes(),
        }
    }

    /// Puts the file into its place: written beside, synced, and renamed, so that there is never a part of it under its name.
    ///
    /// # Errors
    /// The folder cannot be written to, or is full; of a file in an archive those of [`check`](MaskFile::check).
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        if self.file.is_member() {
            self.check()?;
        }
        save(path.as_ref(), [self.as_bytes()])
    }

    /// The [fingerprint](crate::Vocabulary::fingerprint) of the vocabulary that the masks are of.
    pub fn fingerprint(&self) -> [u8; 32] {
        self.file.fingerprint()
    }

    /// SHA-256 of the grammar as it stands in the file: files of the same grammar have the same.
    pub fn grammar_hash(&self) -> [u8; 32] {
        self.file.grammar_hash()
    }

    /// What a file of a grammar has as its [hash](MaskFile::grammar_hash).
    pub fn hash_of(grammar: &Grammar) -> [u8; 32] {
        assemble::hash_of(&grammar::write(grammar))
    }

    /// Whether the file is of a grammar.
    pub fn is_of(&self, grammar: &Grammar) -> bool {
        self.file.whole(Section::Grammar).is_some_and(|section| section == grammar::write(grammar))
    }

    /// The grammar.
    ///
    /// # Errors
    /// `mask-file/grammar`, `mask-file/damaged`, and those of a [`GrammarBuilder`](crate::grammar::GrammarBuilder); limits.
    pub fn grammar(&self, limits: &Limits) -> Result<Grammar> {
        let section = self.file.whole(Section::Grammar);
        let at = self.file.section(Section::Grammar).start;
        grammar::read(section.ok_or_else(|| errors::damaged_block(at))?, limits)
    }

    /// That the file is not of a vocabulary: an error that says what differs, as far as the file tells it.
    pub(crate) fn other_vocabulary(&self, here: &Vocabulary) -> Error {
        let fingerprint = self.fingerprint();
        let width = self.width();
        let eos = self.end_tokens();
        // a forged width would be expensive
        let is_near = width / 2 <= here.width();
        let same_tokens = |eos: &Vec<TokenId>| is_near && here.fingerprint_with(width, eos) == fingerprint;
        match eos.filter(same_tokens) {
            Some(eos) => errors::other_end_tokens((width, &eos), (here.width(), here.eos())),
            None => errors::other_vocabulary(&fingerprint, &here.fingerprint()),
        }
    }

    /// What was written about how the file was made.
    pub fn about(&self) -> &str {
        self.file.whole(Section::About).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default()
    }

    /// The end-of-sequence ids of the vocabulary, as [`about`](MaskFile::about) has them; None for files of earlier versions, which do
    /// not say. Nothing checks them: the [fingerprint](MaskFile::fingerprint) decides which vocabulary a file is of.
    pub fn end_tokens(&self) -> Option<Vec<TokenId>> {
        about::end_tokens(self.about())
    }

    /// The [token index](crate::Compiler::prepare_from) of the vocabulary, if the file has it, or the archive in which it lies and
    /// that is [mapped](MaskArchive::map).
    pub fn token_index(&self) -> Option<&[u8]> {
        self.file.whole(Section::TokenIndex).filter(|index| !index.is_empty())
    }

    /// The same file with a [token index](crate::Compiler::token_index), or without one if that is empty.
    ///
    /// # Errors
    /// Of a file in an archive those of [`check`](MaskFile::check).
    pub fn with_token_index(&self, index: &[u8]) -> Result<MaskFile> {
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

    /// Checks all blocks, and that all states, rows and masks are in order. Whether they are *right*,
    /// [`CompiledGrammar::verify_masks`](crate::CompiledGrammar::verify_masks) finds out.
    ///
    /// # Errors
    /// `mask-file/damaged`, `mask-file/impossible`.
    pub fn check(&self) -> Result<()> {
        self.file.check_all()?;
        let [masks, words] = [Section::Masks, Section::Words].map(|section| self.file.section_len(section));
        let mut check = Check::new(self.len(), masks, words);
        let part = |section, at, len| Ok(self.file.part(section, at, len).map(Cow::Borrowed));
        check.states(&self.file)?;
        check.masks(&self.file, part)?;
        // an archive has those of other files beside them
        let all = 0..if self.file.is_member() { 0 } else { self.words_count() };
        all.into_iter().try_for_each(|id| check.shared_words(id, self.width(), part))
    }

    /// Sizes and counts; those of a file of its own where it lies in an archive.
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

    /// Tokens of the vocabulary.
    pub(crate) fn width(&self) -> usize {
        self.file.width()
    }

    /// How many states there are.
    pub(crate) fn state_count(&self) -> usize {
        graph::state_count(&self.file)
    }

    /// How many masks there are.
    pub(crate) fn mask_count(&self) -> usize {
        graph::mask_count(&self.file)
    }

    /// How many shared words there are.
    pub(crate) fn words_count(&self) -> usize {
        graph::words_count(&self.file)
    }

    /// A state, if there is one of this id.
    #[inline]
    pub(crate) fn state(&self, id: u32) -> Option<State> {
        graph::state(&self.file, id)
    }

    /// Where a byte leads, if that was explored.
    #[inline]
    pub(crate) fn after_byte(&self, state: State, byte: u8) -> Option<Next> {
        graph::after_byte(&self.file, state, byte)
    }

    /// Where a token leads that may come by its id, if that was explored.
    pub(crate) fn after_token(&self, state: State, token: u32) -> Option<Next> {
        graph::after_token(&self.file, state, token)
    }

    /// The places that a place leads to, each with one byte that does.
    pub(crate) fn byte_successors(&self, state: State) -> impl Iterator<Item = (u8, u32)> + '_ {
        graph::byte_successors(&self.file, state)
    }

    /// The places that tokens lead to which come by their ids.
    pub(crate) fn token_successors(&self, state: State) -> impl Iterator<Item = (u32, u32)> + '_ {
        graph::token_successors(&self.file, state)
    }

    /// A mask, if there is one of this id.
    pub(crate) fn mask(&self, id: u32) -> Option<Form<'_>> {
        graph::mask(&self.file, id)
    }

    /// Shared words, if there are some of this id: a bit for each token.
    pub(crate) fn words(&self, id: u32) -> Option<Arc<[u32]>> {
        self.words.get(&self.file, id)
    }

    /// Words in which all tokens are.
    pub(crate) fn all_words(&self) -> Arc<[u32]> {
        self.words.all(self.width())
    }

    /// Bytes of the file, or of the archive in which it lies.
    pub(crate) fn len(&self) -> usize {
        self.file.bytes().len()
    }

    /// Bytes in memory of the process's own; what an archive has for all of its files is not counted.
    pub(crate) fn owned_bytes(&self) -> usize {
        let words = if self.file.is_member() { 0 } else { self.words.memory_usage() };
        self.file.owned_bytes() + words + self.alone.get().map_or(0, |bytes| bytes.len())
    }
}

/// The bytes of a file with the checksums that they have: for tests of files that lie.
#[cfg(feature = "testing")]
#[doc(hidden)]
pub fn resealed(file: Vec<u8>) -> Vec<u8> {
    header::resealed(file)
}

/// Opens a regular file, and says how long it is. A pipe would keep whoever opens it waiting.
fn regular_file(path: &Path, kind: LimitKind, limits: &Limits) -> Result<(File, usize)> {
    let (file, found) = files::open(path)?;
    let len = usize::try_from(found).ok().filter(|&len| len <= limits.get(kind));
    let too_large = || errors::too_large(kind, found, limits).in_file(&path.display().to_string());
    Ok((file, len.ok_or_else(too_large)?))
}

/// Maps a regular file.
///
/// # Safety
/// Nobody changes or shortens the file while it is mapped.
#[allow(unsafe_code)] // what the crate's `unsafe fn`s are made of: docs/security.md
unsafe fn map_file(path: &Path, kind: LimitKind, limits: &Limits) -> Result<Bytes> {
    let (file, len) = regular_file(path, kind, limits)?;
    if len == 0 {
        return Ok(Bytes::Owned(Box::default()));
    }
    // SAFETY: the caller promises what is asked for here
    let mapped = unsafe { memmap2::MmapOptions::new().len(len).map(&file) };
    Ok(Bytes::Mapped(mapped.map_err(|cause| Error::io(path, &cause))?))
}
