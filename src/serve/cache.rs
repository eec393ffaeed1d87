//! A cache of compiled grammars by their source.

use super::folder::Folder;
use crate::diagnostic::Diagnostic;
use crate::error::Result;
use crate::explore::ExploreBudget;
use crate::mask::{CompiledGrammar, Compiler};
use crate::mask_file::MaskArchive;
use crate::syntax::{Parsed, Source, parse};
use hashbrown::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A grammar in a [`GrammarCache`].
#[derive(Debug)]
#[non_exhaustive]
pub struct CachedGrammar {
    /// The grammar, with the tables and masks that its matchers have computed so far.
    pub compiled: CompiledGrammar,
    /// The warnings of the front end that parsed the source.
    pub warnings: Vec<Diagnostic>,
}

/// Counts of a [`GrammarCache`] since it was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheStatistics {
    /// Requests whose grammar was in memory, or was being compiled for another request.
    pub hits: u64,
    /// Requests whose grammar was not in memory: it was compiled, or loaded from a mask file.
    pub misses: u64,
    /// Grammars that were evicted because the bound was exceeded.
    pub evictions: u64,
    /// Cached grammars, including those being compiled.
    pub grammars: usize,
    /// Bytes of the cached grammars as last measured; see [`GrammarCache::memory_usage`].
    pub bytes: usize,
}

/// Compiled grammars for one vocabulary, by source and options. Threads may share it; a grammar that several threads
/// request at the same time is compiled once.
///
/// The cache bounds memory. The size of a grammar includes its text, its automaton, and the tables and masks that its
/// matchers computed, which grow. If the bound is exceeded, the least recently requested grammars are evicted; a
/// sequence that still uses one of them is not affected, as it holds the grammar itself. A grammar is measured when it
/// is requested. All grammars are measured when the bound is exceeded, and after more requests than there are grammars,
/// so that the average cost of a request does not grow with their number.
pub struct GrammarCache {
    compiler: Compiler,
    max_bytes: usize,
    entries: Mutex<Entries>,
    archive: Option<Arc<MaskArchive>>,
    folder: Option<Folder>,
}

/// The result of compiling one grammar, shared by all threads that request the grammar while it is compiled. An error
/// is returned to these threads and then dropped.
type Slot = Arc<OnceLock<Result<Arc<CachedGrammar>>>>;

#[derive(Debug, Default)]
struct Entries {
    by_source: HashMap<Arc<Source>, Entry>,
    /// The number of requests so far.
    clock: u64,
    /// The number of requests that added an entry.
    misses: u64,
    evictions: u64,
    /// Sum of the bytes of all entries, as last measured.
    bytes: usize,
    /// Number of requests since all entries were measured.
    unmeasured: usize,
}

#[derive(Debug)]
struct Entry {
    slot: Slot,
    /// The value of the clock at the last request.
    used: u64,
    /// Bytes as last measured; 0 before the grammar is compiled.
    bytes: usize,
}

impl fmt::Debug for GrammarCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrammarCache")
            .field("compiler", &self.compiler)
            .field("grammars", &self.len())
            .field("max_bytes", &self.max_bytes)
            .finish_non_exhaustive()
    }
}

impl Entry {
    /// Measures the bytes of the grammar; 0 while it is being compiled.
    fn measure(&self, source: &Source) -> usize {
        let cached = self.slot.get().and_then(|result| result.as_ref().ok());
        cached.map_or(0, |cached| source.text().len() + cached.compiled.memory_usage())
    }
}

impl Entries {
    /// Measures the grammar of a source again, if it is cached, and updates the sum.
    fn measure(&mut self, source: &Source) {
        if let Some(entry) = self.by_source.get_mut(source) {
            let bytes = entry.measure(source);
            self.bytes = self.bytes - std::mem::replace(&mut entry.bytes, bytes) + bytes;
        }
    }

    fn measure_all(&mut self) {
        self.unmeasured = 0;
        self.bytes = 0;
        for (source, entry) in &mut self.by_source {
            entry.bytes = entry.measure(source);
            self.bytes += entry.bytes;
        }
    }

    fn remove(&mut self, source: &Source) {
        if let Some(entry) = self.by_source.remove(source) {
            self.bytes -= entry.bytes;
        }
    }

    /// Evicts the least recently requested grammars until the rest is within the bound. Grammars that are being
    /// compiled stay.
    fn shrink(&mut self, max_bytes: usize) {
        self.unmeasured += 1;
        if self.bytes > max_bytes || self.unmeasured > self.by_source.len() {
            self.measure_all();
        }
        if self.bytes <= max_bytes {
            return;
        }
        let compiled = self.by_source.iter().filter(|(_, entry)| entry.bytes > 0);
        let mut oldest: Vec<(u64, Arc<Source>)> =
            compiled.map(|(source, entry)| (entry.used, Arc::clone(source))).collect();
        oldest.sort_unstable_by_key(|entry| entry.0);
        for (_, source) in oldest {
            if self.bytes <= max_bytes {
                break;
            }
            self.remove(&source);
            self.evictions += 1;
        }
    }
}

impl GrammarCache {
    /// An empty cache that keeps grammars of at most `max_bytes` bytes in total.
    pub fn new(compiler: Compiler, max_bytes: usize) -> GrammarCache {
        GrammarCache { compiler, max_bytes, entries: Mutex::default(), archive: None, folder: None }
    }

    /// Adds an archive of mask files. A grammar that is not in memory is loaded from its file in the archive, if there
    /// is one that can be read. The masks of the archive are trusted. A [folder](GrammarCache::with_folder) is used
    /// only for grammars that the archive does not supply.
    ///
    /// # Errors
    /// `mask-file/other-vocabulary` if the archive is for a vocabulary with another fingerprint.
    pub fn with_archive(self, archive: Arc<MaskArchive>) -> Result<GrammarCache> {
        let vocabulary = self.compiler.vocabulary();
        match archive.fingerprint() == vocabulary.fingerprint() {
            true => Ok(GrammarCache { archive: Some(archive), ..self }),
            false => Err(archive.other_vocabulary(vocabulary)),
        }
    }

    /// Adds a folder of [mask files](crate::mask_file), which is created if it is missing. A grammar that is not in
    /// memory is loaded from its file, if there is one. Otherwise the grammar is compiled, and a background thread
    /// explores it and writes the file for the next process. If the mask files in the folder exceed `max_file_bytes` in
    /// total, the oldest ones are removed. Several processes may share a folder. A file is used only if it contains
    /// exactly the same grammar; its masks are trusted, so nobody but the server should be able to write to the folder.
    ///
    /// # Errors
    /// `io/file` if the folder cannot be created.
    pub fn with_folder(
        self,
        folder: impl Into<PathBuf>,
        budget: ExploreBudget,
        max_file_bytes: u64,
    ) -> Result<GrammarCache> {
        let folder = Folder::new(&self.compiler, folder.into(), budget, max_file_bytes)?;
        Ok(GrammarCache { folder: Some(folder), ..self })
    }

    /// Waits until pending mask files are written. A child of `fork()` has no thread that writes files, so there this
    /// returns immediately.
    pub fn flush(&self) {
        if let Some(folder) = &self.folder {
            folder.flush();
        }
    }

    /// Returns the cached grammar of a source, or compiles it. A grammar larger than the whole bound is returned but
    /// not kept.
    ///
    /// # Errors
    /// Those of the front end that parses the source, and of [`Compiler::compile`].
    pub fn get(&self, source: &Source) -> Result<Arc<CachedGrammar>> {
        let slot = self.slot(source);
        let result = slot.get_or_init(|| self.compile(source)).clone();
        let mut entries = self.entries();
        if result.is_err()
            && entries.by_source.get(source).is_some_and(|entry| Arc::ptr_eq(&entry.slot, &slot))
        {
            entries.remove(source);
        }
        entries.measure(source);
        entries.shrink(self.max_bytes);
        result
    }

    /// Whether the grammar of a source is compiled and in memory, so that [`get`](GrammarCache::get) returns at once.
    pub fn contains(&self, source: &Source) -> bool {
        self.entries().by_source.get(source).is_some_and(|entry| entry.slot.get().is_some())
    }

    /// The slot of a source's grammar, which is added if it is missing.
    fn slot(&self, source: &Source) -> Slot {
        let mut entries = self.entries();
        entries.clock += 1;
        let used = entries.clock;
        if let Some(entry) = entries.by_source.get_mut(source) {
            entry.used = used;
            return Arc::clone(&entry.slot);
        }
        entries.misses += 1;
        let slot = Slot::default();
        entries.by_source.insert(Arc::new(source.clone()), Entry { slot: Arc::clone(&slot), used, bytes: 0 });
        slot
    }

    fn compile(&self, source: &Source) -> Result<Arc<CachedGrammar>> {
        let Parsed { grammar, warnings } = parse(source)?;
        let archived = self.archive.as_ref().and_then(|archive| archive.of_grammar(&grammar).ok()?);
        let known = archived.and_then(|file| self.compiler.load(file).ok());
        let in_folder = || self.folder.as_ref().and_then(|folder| folder.read(&self.compiler, &grammar));
        let known = known.or_else(in_folder);
        let compiled = match known {
            Some(compiled) => compiled,
            None => {
                let compiled = self.compiler.compile(&grammar)?;
                if let Some(folder) = &self.folder {
                    folder.write(&self.compiler, &grammar);
                }
                compiled
            }
        };
        Ok(Arc::new(CachedGrammar { compiled, warnings }))
    }

    /// The number of cached grammars, including those being compiled.
    pub fn len(&self) -> usize {
        self.entries().by_source.len()
    }

    /// Whether no grammar is cached.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of the cached grammars: texts, automata, tables and masks.
    pub fn memory_usage(&self) -> usize {
        let mut entries = self.entries();
        entries.measure_all();
        entries.bytes
    }

    /// Counts of requests and evictions, and the size of the cache. Nothing is measured, so a call is cheap.
    pub fn statistics(&self) -> CacheStatistics {
        let entries = self.entries();
        CacheStatistics {
            hits: entries.clock - entries.misses,
            misses: entries.misses,
            evictions: entries.evictions,
            grammars: entries.by_source.len(),
            bytes: entries.bytes,
        }
    }

    /// Evicts all grammars, and drops the records that grammars of the compiler share. The memory of grammars that no
    /// sequence uses is freed.
    pub fn clear(&self) {
        self.compiler.clear_cache();
        // dropped after the lock is released
        let _grammars = {
            let mut entries = self.entries();
            (entries.bytes, entries.unmeasured) = (0, 0);
            std::mem::take(&mut entries.by_source)
        };
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        // no code under this lock can panic halfway through a change
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
