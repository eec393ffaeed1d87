//! Compiled grammars by their source.

use super::source::Source;
use crate::diagnostic::Diagnostic;
use crate::error::Result;
use crate::mask::{CompiledGrammar, Compiler};
use hashbrown::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A grammar in a [`GrammarCache`].
#[derive(Debug)]
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
/// matchers made, which grow. Where that comes to more than the bound, the grammars asked for longest ago are let go;
/// a sequence that is still following one of them goes on undisturbed, as it holds the grammar itself.
#[derive(Debug)]
pub struct GrammarCache {
    compiler: Compiler,
    max_bytes: usize,
    entries: Mutex<Entries>,
}

/// Errors are not kept: they go to those who wait for the same compilation.
type Slot = Arc<OnceLock<Result<Arc<CachedGrammar>>>>;

#[derive(Debug, Default)]
struct Entries {
    by_source: HashMap<Arc<Source>, Entry>,
    /// How many times a grammar was asked for.
    clock: u64,
}

#[derive(Debug)]
struct Entry {
    slot: Slot,
    /// When it was last asked for.
    used: u64,
}

impl Entry {
    /// The bytes of the grammar; `None` while it is being compiled.
    fn bytes(&self, source: &Source) -> Option<usize> {
        let cached = self.slot.get()?.as_ref().ok()?;
        Some(source.text().len() + cached.compiled.memory_usage())
    }
}

impl Entries {
    fn bytes(&self) -> usize {
        self.by_source.iter().filter_map(|(source, entry)| entry.bytes(source)).sum()
    }

    /// Lets the grammars asked for longest ago go until the rest is within the bound.
    fn shrink(&mut self, max_bytes: usize) {
        let mut bytes = self.bytes();
        if bytes <= max_bytes {
            return;
        }
        let mut oldest: Vec<(u64, usize, Arc<Source>)> = self
            .by_source
            .iter()
            .filter_map(|(source, entry)| Some((entry.used, entry.bytes(source)?, Arc::clone(source))))
            .collect();
        oldest.sort_unstable_by_key(|entry| entry.0);
        for (_, size, source) in oldest {
            if bytes <= max_bytes {
                break;
            }
            self.by_source.remove(&source);
            bytes -= size;
        }
    }
}

impl GrammarCache {
    /// An empty cache that keeps at most so many bytes of grammars.
    pub fn new(compiler: Compiler, max_bytes: usize) -> GrammarCache {
        GrammarCache { compiler, max_bytes, entries: Mutex::default() }
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
            entries.by_source.remove(source);
        }
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
        entries.by_source.insert(Arc::new(source.clone()), Entry { slot: Arc::clone(&slot), used });
        slot
    }

    fn compile(&self, source: &Source) -> Result<Arc<CachedGrammar>> {
        let (grammar, warnings) = source.grammar()?;
        Ok(Arc::new(CachedGrammar { compiled: self.compiler.compile(&grammar)?, warnings }))
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
        self.entries().bytes()
    }

    /// Lets all grammars go.
    pub fn clear(&self) {
        self.entries().by_source.clear();
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        // nothing that could panic runs under this lock half way through a change
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
