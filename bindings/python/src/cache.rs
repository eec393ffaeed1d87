//! A cache of compiled grammars, with a folder of mask files behind it.

use crate::compiler::{CompiledGrammar, Compiler};
use crate::errors::Raise;
use crate::mask_file::budget;
use crate::source::Source;
use grammata::serve;
use pyo3::prelude::*;
use std::path::PathBuf;

/// Compiled grammars by their source, within a bound of bytes. Threads may share it; a grammar that several ask for at once is
/// compiled once.
///
/// With `folder`, what is not in memory begins with its mask file there; else it is compiled as ever, and a thread explores it and
/// writes one for the next process. Past `max_file_bytes` the files that were written longest ago are removed. Several processes may
/// share a folder, whose files are trusted. `states` and `work` bound exploring as of `CompiledGrammar.save`. Raises FileError.
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

    /// The grammar of a source: the one that is kept, else compiled now. Raises GrammarError, LimitError.
    #[pyo3(signature = (source, /))]
    fn get(&self, py: Python<'_>, source: &Source) -> PyResult<CompiledGrammar> {
        let found = py.detach(|| self.0.get(&source.source));
        let cached = found.map_err(|error| source.raised.exception(py, &error))?;
        Ok(CompiledGrammar { compiled: cached.compiled.clone(), warnings: cached.warnings.clone() })
    }

    /// Waits until the mask files that were to be written are. A child of `fork()` has no thread that writes any, and waits for none.
    fn flush(&self, py: Python<'_>) {
        py.detach(|| self.0.flush());
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (count, bytes) = py.detach(|| (self.0.len(), self.0.memory_usage()));
        format!("<grammata.GrammarCache: {count} grammars, {bytes} bytes>")
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        py.detach(|| self.0.len())
    }

    /// Bytes of the grammars that are kept.
    fn memory_usage(&self, py: Python<'_>) -> usize {
        py.detach(|| self.0.memory_usage())
    }

    /// Lets all grammars go.
    fn clear(&self, py: Python<'_>) {
        py.detach(|| self.0.clear());
    }
}
