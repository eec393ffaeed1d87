//! Mask files: the result of exploring a grammar, for use by another process.

use crate::arguments::{self, Bytes};
use crate::errors::Raise;
use grammata::explore::ExploreBudget;
use grammata::{CompiledGrammar, Limits, Result};
use grammata_python_border::forking::detach;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;
use std::sync::Arc;

/// Returns the budget for exploring: at most `states` places and `work` steps, each by default that of the library.
pub(crate) fn budget(states: Option<usize>, work: Option<u64>) -> ExploreBudget {
    let budget = ExploreBudget::default();
    let budget = states.map_or(budget.clone(), |states| budget.states(states));
    work.map_or(budget.clone(), |work| budget.work(work))
}

/// How far to explore, and which documents to explore first.
#[derive(Default)]
pub(crate) struct Exploring {
    pub(crate) documents: Vec<Bytes>,
    pub(crate) states: Option<usize>,
    pub(crate) work: Option<u64>,
}

impl Exploring {
    /// Explores a grammar along the documents, those that the grammar suggests, and what is near to them, and returns
    /// the mask file. Documents that tokens cannot spell are skipped.
    ///
    /// # Errors
    /// `limit/exceeded`: the first configuration exceeds a limit.
    pub(crate) fn run(&self, compiled: &CompiledGrammar) -> Result<grammata::MaskFile> {
        let budget = budget(self.states, self.work);
        let given = self.documents.iter();
        let documents: Vec<_> =
            given.filter_map(|text| compiled.vocabulary().encode_greedy(text.as_ref())).collect();
        compiled.explore(&budget, &documents)
    }
}

/// A mask file written by `CompiledGrammar.save` or `grammata compile`, for inspection or loading. Grammars loaded from
/// one object share its bytes.
///
/// >>> import grammata
/// >>> compiler = grammata.Compiler(grammata.Vocabulary.from_tokens(["a", "b"]))
/// >>> file = grammata.MaskFile.from_bytes(compiler.compile_regex("ab").to_bytes())
/// >>> file.fingerprint == compiler.vocabulary.fingerprint
/// True
/// >>> file.contents()["states"], file.contents()["masks"]
/// (3, 3)
/// >>> compiler.load(file).matcher().mask().ids()
/// [0]
#[pyclass(frozen, module = "grammata")]
pub(crate) struct MaskFile(pub(crate) Arc<grammata::MaskFile>);

#[pymethods]
impl MaskFile {
    /// Reads a file into memory and checks its header and checksums. `limits` may set "mask_file_bytes", the maximum
    /// size of the file.
    ///
    /// Raises FileError, LimitError; GrammarError if the file is not a mask file or is damaged.
    #[staticmethod]
    #[pyo3(signature = (path, /, *, limits=None))]
    fn open(py: Python<'_>, path: PathBuf, limits: Option<&Bound<'_, PyAny>>) -> PyResult<MaskFile> {
        let limits = arguments::limits(limits)?;
        let file = detach(py, || grammata::MaskFile::open(path, &limits)).raise(py)?;
        Ok(MaskFile(Arc::new(file)))
    }

    /// Reads a mask file from bytes; see `open`.
    #[staticmethod]
    #[pyo3(signature = (content, /))]
    fn from_bytes(py: Python<'_>, content: Bytes) -> PyResult<MaskFile> {
        let file = detach(py, || grammata::MaskFile::from_bytes(content.as_ref())).raise(py)?;
        Ok(MaskFile(Arc::new(file)))
    }

    /// The fingerprint of the vocabulary that the masks are for.
    #[getter]
    fn fingerprint<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.fingerprint())
    }

    /// SHA-256 of the grammar as encoded in the file; it is the same for files of the same grammar.
    #[getter]
    fn grammar_hash<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.grammar_hash())
    }

    /// The text about how the file was made; empty if it cannot be read.
    #[getter]
    fn about(&self) -> &str {
        self.0.about()
    }

    /// The grammar in readable form. Raises GrammarError, LimitError.
    #[pyo3(signature = (*, limits=None))]
    fn grammar(&self, py: Python<'_>, limits: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
        let limits: Limits = arguments::limits(limits)?;
        detach(py, || Ok(self.0.grammar(&limits)?.to_string())).raise(py)
    }

    /// Sizes and counts: "bytes"; explored places ("states", "states_with_mask"); "masks"; "shared_words", the count of
    /// shared bit sets (one bit per token) that masks are stored as differences from; and "sections", the bytes of each
    /// section.
    fn contents<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = detach(py, || self.0.contents());
        let sections = PyDict::new(py);
        for section in &found.sections {
            sections.set_item(section.name, section.bytes)?;
        }
        let contents = PyDict::new(py);
        contents.set_item("bytes", found.bytes)?;
        contents.set_item("states", found.states)?;
        contents.set_item("states_with_mask", found.states_with_mask)?;
        contents.set_item("masks", found.masks)?;
        contents.set_item("shared_words", found.shared_words)?;
        contents.set_item("sections", sections)?;
        Ok(contents)
    }

    /// The token index of the vocabulary stored in this file, for `Compiler.prepare_from`, or `None`. An archive has
    /// its own.
    fn token_index<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.0.token_index().map(|index| PyBytes::new(py, index))
    }

    /// A copy of the file with a token index (`Compiler.token_index`), or without one if `index` is empty.
    #[pyo3(signature = (index, /))]
    fn with_token_index(&self, py: Python<'_>, index: Bytes) -> PyResult<MaskFile> {
        let file = detach(py, || self.0.with_token_index(index.as_ref())).raise(py)?;
        Ok(MaskFile(Arc::new(file)))
    }

    /// Raises GrammarError if a block, a place or a mask is invalid. `CompiledGrammar.verify_masks` checks whether
    /// masks are correct.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        detach(py, || self.0.check()).raise(py)
    }

    /// Writes the file atomically. Raises FileError.
    #[pyo3(signature = (path, /))]
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        detach(py, || self.0.save(path)).raise(py)
    }

    /// The bytes of the file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.as_bytes())
    }

    fn __repr__(&self) -> String {
        format!("<grammata.MaskFile: {} bytes>", self.0.as_bytes().len())
    }
}
