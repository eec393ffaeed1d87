//! Compiled grammars by their source.

use super::folder::Folder;
use crate::diagnostic::Diagnostic;
use crate::error::Result;
use crate::explore::ExploreBudget;
use crate::mask::{CompiledGrammar, Compiler};
use crate::mask_file::MaskArchive;
use crate::syntax::{Parsed, Source, parse};
use hashbrown::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A grammar in a [`GrammarCache`].
#[derive(Debug)]
#[non_exhaustive]
pub struct CachedGrammar {
    /// The grammar, with the tables and masks that its matchers made so far.
    pub compiled: CompiledGrammar,
    /// The warnings of its front end.
    pub warnings: Vec<Diagnostic>,
}

/// Compiled grammars for one vocabulary, by source and options. Threads may share it; a grammar that several ask for
/// at once is compiled once.
///
/// What is kept is bounded: each grammar counts with its text, its automaton, and the tables and masks that its
/// matchers made, which grow. Where that exceeds the bound, the grammars asked for longest ago are let go; a sequence that
/// is still following one of them goes on undisturbed, as it holds the grammar itself. A grammar is measured when it is
/// asked for, and all are once in as many requests as there are grammars, so that a request takes no longer where there
/// are many.
#[derive(Debug)]
pub struct GrammarCache {
    compiler: Compiler,
    max_bytes: usize,
    entries: Mutex<Entries>,
    archive: Option<Arc<MaskArchive>>,
    folder: Option<Folder>,
}

/// Errors are not kept: they go to those who wait for the same compilation.
type Slot = Arc<OnceLock<Result<Arc<CachedGrammar>>>>;

#[derive(Debug, Default)]
struct Entries {
    by_source: HashMap<Arc<Source>, Entry>,
    /// How many times a grammar was asked for.
    clock: u64,
    /// Sum of the bytes of all entries when each was last measured.
    bytes: usize,
    /// Requests since all were measured.
    unmeasured: usize,
}

#[derive(Debug)]
struct Entry {
    slot: Slot,
    /// When it was last asked for.
    used: u64,
    /// Bytes when it was last measured; none before its grammar is compiled.
    bytes: usize,
}

impl Entry {
    /// The bytes of the grammar; none while it is being compiled.
    fn measure(&self, source: &Source) -> usize {
        let cached = self.slot.get().and_then(|result| result.as_ref().ok());
        cached.map_or(0, |cached| source.text().len() + cached.compiled.memory_usage())
    }
}

impl Entries {
    /// Measures the grammar of a source.
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

    /// Lets the grammars asked for longest ago go until the rest is within the bound.
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
        }
    }
}

impl GrammarCache {
    /// An empty cache that keeps at most this many bytes of grammars.
    pub fn new(compiler: Compiler, max_bytes: usize) -> GrammarCache {
        GrammarCache { compiler, max_bytes, entries: Mutex::default(), archive: None, folder: None }
    }

    /// The same with an archive of mask files behind it: a grammar that is not in memory begins with its file there, if there is one that
    /// can be read. Its masks are trusted. A [folder](GrammarCache::with_folder) is asked after it.
    ///
    /// # Errors
    /// `mask-file/other-vocabulary`.
    pub fn with_archive(self, archive: Arc<MaskArchive>) -> Result<GrammarCache> {
        let vocabulary = self.compiler.vocabulary();
        match archive.fingerprint() == vocabulary.fingerprint() {
            true => Ok(GrammarCache { archive: Some(archive), ..self }),
            false => Err(archive.other_vocabulary(vocabulary)),
        }
    }

    /// The same with a folder of [mask files](crate::mask_file) behind it, made where it is missing. A grammar that is not in memory
    /// begins with its file, if there is one; else it is compiled as ever, and a thread explores it and writes one for the next
    /// process. Past `max_file_bytes` the files that were written longest ago are removed. Several processes may share a folder.
    /// A file is used only if it is of the very grammar; its masks are trusted, so the folder should be the server's own.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn with_folder(
        self,
        folder: impl Into<PathBuf>,
        budget: ExploreBudget,
        max_file_bytes: u64,
    ) -> Result<GrammarCache> {
        let folder = Folder::new(&self.compiler, folder.into(), budget, max_file_bytes)?;
        Ok(GrammarCache { folder: Some(folder), ..self })
    }

    /// Waits until the mask files that were to be written are. A child of `fork()` has no thread that writes any, and waits for none.
    pub fn flush(&self) {
        if let Some(folder) = &self.folder {
            folder.flush();
        }
    }

    /// The grammar of a source: the one that is kept, else compiled now. One that is larger than the whole bound is
    /// given but not kept.
    ///
    /// # Errors
    /// Those of the front end and of [`Compiler::compile`].
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

    /// The place of a source's grammar, made where it is missing.
    fn slot(&self, source: &Source) -> Slot {
        let mut entries = self.entries();
        entries.clock += 1;
        let used = entries.clock;
        if let Some(entry) = entries.by_source.get_mut(source) {
            entry.used = used;
            return Arc::clone(&entry.slot);
        }
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

    /// How many grammars are kept.
    pub fn len(&self) -> usize {
        self.entries().by_source.len()
    }

    /// Whether no grammar is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of the grammars that are kept: texts, automata, tables and masks.
    pub fn memory_usage(&self) -> usize {
        let mut entries = self.entries();
        entries.measure_all();
        entries.bytes
    }

    /// Lets all grammars go, and what they have found out for each other. The memory of those that no sequence follows is given
    /// back to the allocator.
    pub fn clear(&self) {
        self.compiler.forget();
        // dropped after the lock is given back
        let _entries = std::mem::take(&mut *self.entries());
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        // nothing that could panic runs under this lock half way through a change
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
