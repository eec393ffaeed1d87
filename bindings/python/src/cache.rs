//! A cache of compiled grammars, with a folder of mask files behind it.

use crate::compiler::{CompiledGrammar, Compiler};
use crate::errors::Raise;
use crate::mask_file::budget;
use crate::source::Source;
use grammata::serve;
use grammata_python_border::forking::detach;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// Compiled grammars by source, with a bound on their bytes. Threads may share it; a grammar that several threads
/// request at the same time is compiled once.
///
/// With `folder`, a grammar that is not in memory is loaded from its mask file there. If there is none, the grammar is
/// compiled, and a background thread explores it and writes the file for the next process. Beyond `max_file_bytes` the
/// oldest files are removed. Several processes may share a folder; its files are trusted. `states` and `work` bound
/// exploring as in `CompiledGrammar.save`. Raises FileError.
///
/// >>> import grammata
/// >>> cache = grammata.GrammarCache(grammata.Compiler(grammata.Vocabulary.from_tokens(["a", "b"])), max_bytes=1 << 20)
/// >>> grammar = cache.get(grammata.Source.regex("a+"))
/// >>> len(cache)
/// 1
#[pyclass(frozen, module = "grammata")]
pub(crate) struct GrammarCache(serve::GrammarCache);

#[pymethods]
impl GrammarCache {
    #[new]
    #[pyo3(signature = (compiler, *, max_bytes=256 << 20, folder=None, max_file_bytes=1 << 30, states=None, work=None))]
    fn new(
        py: Python<'_>,
        compiler: &Compiler,
        max_bytes: usize,
        folder: Option<PathBuf>,
        max_file_bytes: u64,
        states: Option<usize>,
        work: Option<u64>,
    ) -> PyResult<GrammarCache> {
        let cache = serve::GrammarCache::new(compiler.compiler.clone(), max_bytes);
        Ok(GrammarCache(match folder {
            Some(folder) => cache.with_folder(folder, budget(states, work), max_file_bytes).raise(py)?,
            None => cache,
        }))
    }

    /// Returns the cached grammar of a source, or compiles it. Raises GrammarError, LimitError.
    #[pyo3(signature = (source, /))]
    fn get(&self, py: Python<'_>, source: &Source) -> PyResult<CompiledGrammar> {
        let found = detach(py, || self.0.get(&source.source));
        let cached = found.map_err(|error| source.raised.exception(py, &error))?;
        Ok(CompiledGrammar { compiled: cached.compiled.clone(), warnings: cached.warnings.clone() })
    }

    /// Waits until pending mask files are written. A child of `fork()` has no thread that writes files, so there this
    /// returns immediately.
    fn flush(&self, py: Python<'_>) {
        // not counted as a call: it waits for a thread that waits for forks
        py.detach(|| self.0.flush());
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (count, bytes) = detach(py, || (self.0.len(), self.0.memory_usage()));
        format!("<grammata.GrammarCache: {count} grammars, {bytes} bytes>")
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        detach(py, || self.0.len())
    }

    /// Bytes of the cached grammars.
    fn memory_usage(&self, py: Python<'_>) -> usize {
        detach(py, || self.0.memory_usage())
    }

    /// Counts since the cache was created: "hits", "misses" and "evictions"; and the number of "grammars" and their
    /// "bytes" as last measured.
    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = detach(py, || self.0.statistics());
        let statistics = PyDict::new(py);
        statistics.set_item("hits", found.hits)?;
        statistics.set_item("misses", found.misses)?;
        statistics.set_item("evictions", found.evictions)?;
        statistics.set_item("grammars", found.grammars)?;
        statistics.set_item("bytes", found.bytes)?;
        Ok(statistics)
    }

    /// Removes all grammars from memory.
    fn clear(&self, py: Python<'_>) {
        detach(py, || self.0.clear());
    }
}
