//! Archives: mask files of many grammars in one file.

use crate::arguments;
use crate::arguments::Bytes;
use crate::compiler::CompiledGrammar;
use crate::errors::Raise;
use crate::mask_file::{Exploring, MaskFile};
use crate::source::Source;
use crate::vocabulary::Vocabulary;
use grammata::mask_file::{ArchiveBuilder as Builder, MaskArchive};
use grammata::syntax::parse;
use grammata_python_border::forking::detach;
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyIterator, PyList};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Mask files of many grammars for one vocabulary in one file, which stores shared parts once. `ArchiveBuilder` and
/// `grammata compile --archive` write such files. The archive is a mapping from names to `MaskFile`s; each is read when
/// it is requested. Threads may share it.
///
/// >>> import grammata, os, tempfile
/// >>> compiler = grammata.Compiler(grammata.Vocabulary.from_tokens(["a", "b"]))
/// >>> builder = grammata.ArchiveBuilder(compiler.vocabulary)
/// >>> for pattern in ("a+", "(ab)+"):
/// ...     builder.add(pattern, compiler.compile_regex(pattern))
/// >>> path = os.path.join(tempfile.mkdtemp(), "patterns.gmasks")
/// >>> builder.save(path) == os.path.getsize(path)
/// True
/// >>> archive = grammata.Archive.open(path)
/// >>> list(archive), "a+" in archive, "b+" in archive
/// (['(ab)+', 'a+'], True, False)
/// >>> compiler.load(archive["(ab)+"]).matcher().mask().ids()
/// [0]
#[pyclass(frozen, mapping, module = "grammata")]
pub(crate) struct Archive(MaskArchive);

#[pymethods]
impl Archive {
    /// Opens an archive and reads its header. The rest is read, and its checksums computed, on request. `limits` may
    /// set "mask_archive_bytes", the maximum size of the file, and "mask_file_bytes", that of one mask file in it.
    ///
    /// Raises FileError, LimitError; GrammarError if the file is not an archive.
    #[staticmethod]
    #[pyo3(signature = (path, /, *, limits=None))]
    fn open(py: Python<'_>, path: PathBuf, limits: Option<&Bound<'_, PyAny>>) -> PyResult<Archive> {
        let limits = arguments::limits(limits)?;
        detach(py, || MaskArchive::open(path, &limits)).raise(py).map(Archive)
    }

    /// The fingerprint of the vocabulary that the masks are for.
    #[getter]
    fn fingerprint<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.fingerprint())
    }

    /// The names, sorted. Raises GrammarError for a damaged archive.
    fn names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        detach(py, || self.0.names().collect::<grammata::Result<_>>()).raise(py)
    }

    /// The mask file of a name, for `Compiler.load`, or `None`. Raises GrammarError for a damaged archive, LimitError.
    #[pyo3(signature = (name, /))]
    fn get(&self, py: Python<'_>, name: &str) -> PyResult<Option<MaskFile>> {
        let found = detach(py, || self.0.get(name)).raise(py)?;
        Ok(found.map(|file| MaskFile(Arc::new(file))))
    }

    /// The mask file of a source's grammar, whatever its name, or `None`. The source is parsed but not compiled. Raises
    /// GrammarError for a damaged archive and for an invalid source, LimitError.
    #[pyo3(signature = (source, /))]
    fn find(&self, py: Python<'_>, source: &Source) -> PyResult<Option<MaskFile>> {
        let parsed = detach(py, || parse(&source.source));
        let parsed = parsed.map_err(|error| source.raised.exception(py, &error))?;
        let found = detach(py, || self.0.of_grammar(&parsed.grammar)).raise(py)?;
        Ok(found.map(|file| MaskFile(Arc::new(file))))
    }

    /// The token index of the vocabulary, for `Compiler.prepare_from`, or `None`. Raises GrammarError for a damaged
    /// archive.
    fn token_index<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let index = detach(py, || self.0.token_index()).raise(py)?;
        Ok(index.map(|index| PyBytes::new(py, &index)))
    }

    /// Sizes and counts: "bytes"; "files", the number of mask files; "shared_words", the number of shared bit
    /// sets (one bit per token) that masks are stored as differences from; and "sections", the bytes of each section.
    fn contents<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = self.0.contents();
        let sections = PyDict::new(py);
        for section in &found.sections {
            sections.set_item(section.name, section.bytes)?;
        }
        let contents = PyDict::new(py);
        contents.set_item("bytes", found.bytes)?;
        contents.set_item("files", found.files)?;
        contents.set_item("shared_words", found.shared_words)?;
        contents.set_item("sections", sections)?;
        Ok(contents)
    }

    /// Reads the whole archive. Raises GrammarError if a block, or a place or a mask of a file, is invalid.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        detach(py, || self.0.check()).raise(py)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __contains__(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        detach(py, || self.0.contains(name)).raise(py)
    }

    fn __getitem__(&self, py: Python<'_>, name: &str) -> PyResult<MaskFile> {
        self.get(py, name)?.ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.names(py)?)?.try_iter()
    }

    fn __repr__(&self) -> String {
        format!("<grammata.Archive: {} mask files>", self.0.len())
    }
}

/// Combines mask files of one vocabulary into an archive, which it holds in memory. The same files in the same order
/// give the same bytes. `limits` may set "mask_archive_bytes", the maximum size of an archive.
///
/// >>> import grammata
/// >>> compiler = grammata.Compiler(grammata.Vocabulary.from_tokens(["a", "b"]))
/// >>> builder = grammata.ArchiveBuilder(compiler.vocabulary)
/// >>> builder.add("all", compiler.compile_regex("[ab]*"), states=10)
/// >>> builder.add("one", grammata.MaskFile.from_bytes(compiler.compile_regex("a").to_bytes()))
/// >>> len(builder)
/// 2
#[pyclass(frozen, module = "grammata")]
pub(crate) struct ArchiveBuilder(Mutex<Builder>);

#[pymethods]
impl ArchiveBuilder {
    #[new]
    #[pyo3(signature = (vocabulary, *, limits=None))]
    fn new(vocabulary: &Vocabulary, limits: Option<&Bound<'_, PyAny>>) -> PyResult<ArchiveBuilder> {
        let limits = arguments::limits(limits)?;
        Ok(ArchiveBuilder(Mutex::new(Builder::new(&vocabulary.0, &limits))))
    }

    /// Adds a mask file, or a grammar, which is explored first: `documents`, `states` and `work` mean the same as in
    /// `CompiledGrammar.save`.
    ///
    /// Raises UsageError if the name is taken; GrammarError if the file is damaged or of another vocabulary;
    /// LimitError. Nothing is added then.
    #[pyo3(signature = (name, grammar, /, *, documents=None, states=None, work=None))]
    fn add(
        &self,
        py: Python<'_>,
        name: String,
        grammar: &Bound<'_, PyAny>,
        documents: Option<Vec<Bytes>>,
        states: Option<usize>,
        work: Option<u64>,
    ) -> PyResult<()> {
        if let Ok(file) = grammar.cast::<MaskFile>() {
            let file = &file.get().0;
            return detach(py, || self.with(|builder| builder.add(name, file))).raise(py);
        }
        let Ok(compiled) = grammar.cast::<CompiledGrammar>() else {
            let name = grammar.get_type().name().map(|name| name.to_string()).unwrap_or_default();
            return Err(PyTypeError::new_err(format!(
                "expected a MaskFile or a CompiledGrammar, not {name}"
            )));
        };
        let exploring = Exploring { documents: documents.unwrap_or_default(), states, work };
        let compiled = &compiled.get().compiled;
        let add = || {
            let file = exploring.run(compiled)?;
            self.with(|builder| builder.add(name, &file))
        };
        detach(py, add).raise(py)
    }

    /// Sets the token index (`Compiler.token_index`) of the archive. Token indices of its mask files are left out.
    /// Raises LimitError if the archive would be too large.
    #[pyo3(signature = (index, /))]
    fn set_token_index(&self, py: Python<'_>, index: Bytes) -> PyResult<()> {
        detach(py, || self.with(|builder| builder.set_token_index(index.as_ref().to_vec()))).raise(py)
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        detach(py, || self.with(|builder| builder.file_count()))
    }

    /// Writes the archive atomically and returns its size in bytes. Raises FileError.
    #[pyo3(signature = (path, /))]
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<usize> {
        detach(py, || self.with(|builder| builder.save(path))).raise(py)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("<grammata.ArchiveBuilder: {} mask files>", self.__len__(py))
    }
}

impl ArchiveBuilder {
    /// Runs `work` on the builder. Call it without the interpreter's lock, since another thread may hold the builder.
    fn with<R>(&self, work: impl FnOnce(&mut Builder) -> R) -> R {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
