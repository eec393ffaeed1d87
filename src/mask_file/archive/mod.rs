//! Archives: many mask files for one vocabulary in one file, which stores shared parts once.
//!
//! An archive has a row per file, sorted by name, and a list of the rows sorted by the hash of the grammar, so that a
//! file is found without reading the others. The masks and shared words of all files are in one section each.
//!
//! - `member` is the row of a file; `source` is where an archive is read from; `alone` extracts a file; `builder`
//!   builds archives.

mod alone;
mod builder;
mod member;
mod source;

pub use builder::ArchiveBuilder;

use super::check::Check;
use super::container::{Bytes, Container};
use super::header::{Kind, Section, Sections};
use super::words::SharedWords;
use super::{MaskFile, SectionSize, errors, graph, map_file, regular_file};
use crate::error::{Error, Result};
use crate::grammar::Grammar;
use crate::limits::{LimitKind, Limits};
#[cfg(feature = "serve")]
use crate::vocabulary::Vocabulary;
use member::{GRAPH, Member};
use rustc_hash::FxHashSet;
use source::{OnDisk, Source};
use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// Mask files of many grammars for one vocabulary.
///
/// ```
/// use grammata::explore::ExploreBudget;
/// use grammata::mask_file::{ArchiveBuilder, MaskArchive};
/// use grammata::syntax::regex;
/// use grammata::vocabulary::{TokenId, VocabularyBuilder};
/// use grammata::{Compiler, Limits};
/// use std::sync::Arc;
///
/// let vocabulary = VocabularyBuilder::from_tokens(["a", "b", "ab"])
///     .special(TokenId::new(3), "<end>").eos([TokenId::new(3)]).build()?;
/// let compiler = Compiler::new(Arc::new(vocabulary));
/// let mut builder = ArchiveBuilder::new(compiler.vocabulary(), &Limits::default());
/// for pattern in ["a+", "(ab)+"] {
///     let compiled = compiler.compile(&regex::compile(pattern, &regex::Options::default())?)?;
///     builder.add(pattern, &compiled.explore(&ExploreBudget::default(), &[])?)?;
/// }
/// let archive = MaskArchive::from_bytes(builder.to_bytes())?;
/// let loaded = compiler.load(archive.get("(ab)+")?.expect("it was put in"))?;
/// assert!(loaded.matcher().is_explored());
/// # Ok::<(), grammata::Error>(())
/// ```
pub struct MaskArchive {
    source: Source,
    /// Maximum size in bytes of an extracted file.
    max_file_bytes: usize,
}

impl fmt::Debug for MaskArchive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MaskArchive").field("files", &self.len()).finish_non_exhaustive()
    }
}

/// Sizes and counts of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArchiveContents {
    /// Bytes of the file.
    pub bytes: usize,
    /// The sections, in the order of the file.
    pub sections: Vec<SectionSize>,
    /// Number of mask files.
    pub files: usize,
    /// Number of shared bit sets (one bit per token) that masks of all files are stored as differences from.
    pub shared_words: usize,
}

impl MaskArchive {
    /// Opens an archive and reads only its header. Other parts are read, and their checksums computed, on demand. An
    /// extracted file is in its own memory.
    ///
    /// # Errors
    /// `io/file` if the file cannot be opened or read, `io/no-file` if it is not a regular file; `limit/exceeded` if it
    /// is larger than `mask_archive_bytes`; `mask-file/no-archive` if it does not begin as an archive;
    /// `mask-file/other-version` if a version or the byte order differs; `mask-file/damaged-header` if the header is
    /// invalid.
    pub fn open(path: impl AsRef<Path>, limits: &Limits) -> Result<MaskArchive> {
        let path = path.as_ref();
        let (file, len) = regular_file(path, LimitKind::MaskArchiveBytes, limits)?;
        let on_disk = OnDisk::new(file, path, len).map_err(|error| in_file(error, path))?;
        Ok(MaskArchive { source: Source::Disk(Box::new(on_disk)), max_file_bytes: limits.mask_file_bytes })
    }

    /// Maps an archive into memory. Files taken from it refer to the mapping and share decoded words with each other;
    /// processes share the memory.
    ///
    /// # Safety
    /// As for [`MaskFile::map`]: while the value, a file taken from it or a grammar made of such a file exists, nobody
    /// may change or truncate the archive.
    ///
    /// # Errors
    /// Those of [`open`](MaskArchive::open); `io/file` also if the file cannot be mapped.
    #[allow(unsafe_code)] // docs/security.md
    pub unsafe fn map(path: impl AsRef<Path>, limits: &Limits) -> Result<MaskArchive> {
        let path = path.as_ref();
        // SAFETY: the caller promises that nobody changes the file while it is mapped
        let bytes = unsafe { map_file(path, LimitKind::MaskArchiveBytes, limits) }?;
        let archive = MaskArchive::of(bytes).map_err(|error| in_file(error, path))?;
        Ok(MaskArchive { max_file_bytes: limits.mask_file_bytes, ..archive })
    }

    /// Reads an archive from its bytes and checks its header. Checksums of other blocks are computed on demand.
    ///
    /// # Errors
    /// `mask-file/no-archive` if the bytes do not begin as an archive; `mask-file/other-version` if a version or the
    /// byte order differs; `mask-file/damaged-header` if the header is invalid.
    pub fn from_bytes(bytes: impl Into<Box<[u8]>>) -> Result<MaskArchive> {
        MaskArchive::of(Bytes::Owned(bytes.into()))
    }

    fn of(bytes: Bytes) -> Result<MaskArchive> {
        let archive = Arc::new(Container::new(bytes, Kind::Archive)?);
        let words = Arc::new(SharedWords::new(graph::words_count(&archive), archive.bytes().len()));
        let source = Source::Memory(archive, words);
        Ok(MaskArchive { source, max_file_bytes: Limits::default().mask_file_bytes })
    }

    /// The [fingerprint](crate::Vocabulary::fingerprint) of the vocabulary that all masks are for.
    pub fn fingerprint(&self) -> [u8; 32] {
        self.source.header().fingerprint
    }

    /// The error `mask-file/other-vocabulary`: the archive is for another vocabulary than `here`. The error says
    /// whether only end tokens or the width differ, if the first file shows that.
    #[cfg(feature = "serve")]
    pub(crate) fn other_vocabulary(&self, here: &Vocabulary) -> Error {
        let first = self.name_at(0).ok().flatten().and_then(|name| self.get(&name).ok().flatten());
        match first {
            Some(file) => file.other_vocabulary(here),
            None => errors::other_vocabulary(&self.fingerprint(), &here.fingerprint()),
        }
    }

    /// The number of mask files in the archive.
    pub fn len(&self) -> usize {
        self.source.header().section_len(Section::Members) / member::ROW
    }

    /// Whether the archive has no files.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The names of the files, sorted.
    ///
    /// # Errors
    /// An item is an error of [`get`](MaskArchive::get) if the row or the name cannot be read.
    pub fn names(&self) -> impl Iterator<Item = Result<String>> + '_ {
        (0..self.len()).map(|id| self.name(&self.member(id)?))
    }

    /// The name at index `place` in sorted order; `None` if `place` is not below [`len`](MaskArchive::len).
    ///
    /// # Errors
    /// Those of [`get`](MaskArchive::get).
    pub fn name_at(&self, place: usize) -> Result<Option<String>> {
        self.at(place)?.map(|member| self.name(&member)).transpose()
    }

    /// The file with a name; `None` if there is none.
    ///
    /// # Errors
    /// `mask-file/damaged` if a block has a wrong checksum; `mask-file/impossible` if a row or a name is invalid. If
    /// the archive was [opened](MaskArchive::open), also `io/file` if it cannot be read, and `limit/exceeded` if the
    /// file without its masks is larger than `mask_file_bytes`; masks that exceed the limit count as damaged.
    pub fn get(&self, name: &str) -> Result<Option<MaskFile>> {
        self.named(name)?.map(|member| self.file(&member)).transpose()
    }

    /// Whether there is a file with a name. Only rows and names are read, not the file.
    ///
    /// # Errors
    /// Those of [`get`](MaskArchive::get).
    pub fn contains(&self, name: &str) -> Result<bool> {
        Ok(self.named(name)?.is_some())
    }

    fn named(&self, name: &str) -> Result<Option<Member>> {
        let id = self.first(|id| {
            let member = self.member(id)?;
            Ok(self.source.part(Section::Names, member.name.start, member.name.len())?.as_ref()
                < name.as_bytes())
        })?;
        let Some(member) = self.at(id)? else { return Ok(None) };
        if self.name(&member)? == name { Ok(Some(member)) } else { Ok(None) }
    }

    /// The file of exactly this grammar; `None` if there is none.
    ///
    /// # Errors
    /// Those of [`get`](MaskArchive::get).
    pub fn of_grammar(&self, grammar: &Grammar) -> Result<Option<MaskFile>> {
        let hash = MaskFile::hash_of(grammar);
        let nth = self.first(|nth| Ok(self.member(self.by_grammar(nth)?)?.grammar_hash < hash))?;
        if nth == self.len() {
            return Ok(None);
        }
        let member = self.member(self.by_grammar(nth)?)?;
        if member.grammar_hash != hash {
            return Ok(None);
        }
        Ok(Some(self.file(&member)?).filter(|file| file.is_of(grammar)))
    }

    /// The [token index](crate::Compiler::prepare_from) of the vocabulary, if the archive has one.
    ///
    /// # Errors
    /// `mask-file/damaged` if a block has a wrong checksum; `io/file` if an [opened](MaskArchive::open) archive cannot
    /// be read.
    pub fn token_index(&self) -> Result<Option<Cow<'_, [u8]>>> {
        let len = self.source.header().section_len(Section::TokenIndex);
        if len == 0 { Ok(None) } else { self.source.part(Section::TokenIndex, 0, len).map(Some) }
    }

    /// Checks the whole archive: each file as [`MaskFile::check`] does, at a cost bounded by the length of the archive.
    ///
    /// # Errors
    /// `mask-file/damaged` if a block has a wrong checksum; `mask-file/impossible` if a value is invalid, rows are not
    /// sorted, or parts overlap. If the archive was [opened](MaskArchive::open), also `io/file` if it cannot be read,
    /// and `limit/exceeded` if a file without its masks is larger than `mask_file_bytes`.
    pub fn check(&self) -> Result<()> {
        self.source.check_all()?;
        let header = self.source.header();
        let [masks, words] = [Section::Masks, Section::Words].map(|section| header.section_len(section));
        let mut check = Check::new(header.len, masks, words);
        self.check_with(&mut check).map_err(|error| self.source.in_file(error))
    }

    fn check_with(&self, check: &mut Check) -> Result<()> {
        let header = self.source.header();
        let part = |section, at, len| self.source.part(section, at, len).map(Some);
        let (mut last_name, mut last_hash): (Option<String>, Option<[u8; 32]>) = (None, None);
        let mut graphs = FxHashSet::default();
        for id in 0..self.len() {
            let member = self.member(id)?;
            check.charge(member.name.len().saturating_add(member::ROW), "file", id)?;
            let name = self.name(&member)?;
            let by_grammar = self.member(self.by_grammar(id)?)?.grammar_hash;
            if last_name.is_some_and(|last| last >= name) || last_hash.is_some_and(|last| last > by_grammar) {
                return Err(errors::impossible("file", id));
            }
            (last_name, last_hash) = (Some(name), Some(by_grammar));
            let sections = member.sections(header)?;
            // a graph that several files share is checked once
            if graphs.insert(GRAPH.map(|section| sections[section as usize].clone())) {
                let bytes = GRAPH.map(|section| sections[section as usize].len());
                check.charge(bytes.into_iter().fold(0, usize::saturating_add), "file", id)?;
                let graph = self.graph(&member, sections)?;
                check.states(&graph)?;
                check.masks(&graph, part)?;
            }
        }
        Ok(())
    }

    /// The sizes of the sections, and counts, from the header.
    pub fn contents(&self) -> ArchiveContents {
        let header = self.source.header();
        let size =
            |section: &Section| SectionSize { name: section.name(), bytes: header.section_len(*section) };
        ArchiveContents {
            bytes: header.len,
            sections: header.kinds(Kind::Archive).map(|section| size(&section)).collect(),
            files: self.len(),
            shared_words: header.section_len(Section::Words) / (header.width.div_ceil(32) * 4).max(4),
        }
    }

    /// Bytes of memory that belong to this process: of an archive read from bytes, its bytes and its table of shared
    /// words; of a [mapped](MaskArchive::map) one, only the table; of an [opened](MaskArchive::open) one, its header.
    /// Decoded words count for the grammars that use them.
    pub fn memory_usage(&self) -> usize {
        self.source.memory_usage()
    }

    /// Binary search for the first number for which `is_before` is false; it must be true for all smaller ones.
    fn first(&self, is_before: impl Fn(usize) -> Result<bool>) -> Result<usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if is_before(middle)? { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }

    fn member(&self, id: usize) -> Result<Member> {
        let row = self.source.part(Section::Members, id.saturating_mul(member::ROW), member::ROW)?;
        Member::read(&row).ok_or_else(|| errors::impossible("file", id))
    }

    fn at(&self, id: usize) -> Result<Option<Member>> {
        if id < self.len() { self.member(id).map(Some) } else { Ok(None) }
    }

    fn by_grammar(&self, nth: usize) -> Result<usize> {
        let id = self.source.part(Section::ByGrammar, nth.saturating_mul(4), 4)?;
        let id = super::codec::word(&id, 0).map(|id| id as usize).filter(|&id| id < self.len());
        id.ok_or_else(|| errors::impossible("file", nth))
    }

    fn name(&self, member: &Member) -> Result<String> {
        let name = self.source.part(Section::Names, member.name.start, member.name.len())?;
        String::from_utf8(name.into_owned()).map_err(|_| errors::impossible("the name at", member.name.start))
    }

    /// The [graph](GRAPH) of a file; without its masks if the archive is on disk.
    fn graph(&self, member: &Member, sections: Sections) -> Result<Container> {
        match &self.source {
            Source::Memory(archive, _) => Ok(Container::member(archive, sections, member.grammar_hash)),
            Source::Disk(disk) => disk.graph(member, &sections, self.max_file_bytes),
        }
    }

    fn file(&self, member: &Member) -> Result<MaskFile> {
        match &self.source {
            Source::Memory(archive, words) => {
                let sections = member.sections(archive.header())?;
                let file = Container::member(archive, sections, member.grammar_hash);
                Ok(MaskFile { file, words: Arc::clone(words), alone: OnceLock::new() })
            }
            Source::Disk(disk) => MaskFile::from_bytes(disk.take(member, self.max_file_bytes)?)
                .map_err(|error| disk.in_file(error)),
        }
    }
}

fn in_file(error: Error, path: &Path) -> Error {
    error.in_file(&path.display().to_string())
}

/// The bytes of a file in an archive, as a standalone file. Unreadable parts are left out.
pub(super) fn alone(file: &Container) -> Vec<u8> {
    let header = file.header();
    // a bound, since masks of a forged archive may overlap, and the file would have a copy of each
    let room = file.bytes().len().saturating_mul(MOST);
    let part = |section, at, len| Ok(file.part(section, at, len).map(Into::into));
    let taken = alone::take(header, part, room);
    taken.map_or_else(|_| Vec::new(), |taken| taken.bytes)
}

/// Maximum bytes of the masks and shared words of an extracted file, per byte of the archive.
const MOST: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mask_file::assemble;
    use member::OWN;

    /// An archive of `count` files; the states of file `id` begin at `start(id)`, and end where the data do.
    fn archive(count: usize, start: impl Fn(usize) -> usize) -> Vec<u8> {
        let state = [0, 0, graph::NONE, graph::NONE].map(u32::to_le_bytes).concat();
        let data = state.repeat(count);
        let (mut rows, mut names, mut by_grammar) = (Vec::new(), Vec::new(), Vec::new());
        for id in 0..count {
            let name = names.len()..names.len() + 6;
            names.extend_from_slice(format!("{id:06}").as_bytes());
            by_grammar.extend_from_slice(&(id as u32).to_le_bytes());
            let own = OWN.map(|section| match section {
                Section::States => start(id)..data.len(),
                _ => 0..0,
            });
            Member { grammar_hash: [0; 32], name, own }.write(&mut rows);
        }
        let sections: [(Section, &[u8]); 4] = [
            (Section::Members, &rows),
            (Section::Names, &names),
            (Section::ByGrammar, &by_grammar),
            (Section::Data, &data),
        ];
        let mut bytes = assemble::header(Kind::Archive, [0; 32], 8, &sections);
        assemble::pieces(&sections).for_each(|piece| bytes.extend_from_slice(piece));
        bytes
    }

    #[test]
    fn files_that_overlap_are_refused_and_files_that_share_all_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("forged.gmasks");
        // 3,000 files of 1,500 states on average: 72 MB of states in 0.5 MB
        for (start, is_good) in [(0, true), (16, false)] {
            let bytes = archive(3_000, |id| id * start);
            std::fs::write(&path, &bytes).unwrap();
            let on_disk = MaskArchive::open(&path, &Limits::default()).unwrap();
            for archive in [MaskArchive::from_bytes(bytes).unwrap(), on_disk] {
                match archive.check() {
                    Ok(()) => assert!(is_good),
                    Err(error) => assert!(!is_good && error.to_string().contains("overlap"), "{error}"),
                }
            }
        }
    }
}
