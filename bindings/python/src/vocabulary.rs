//! Vocabularies: from files, from the tokenizers of other packages, and from tokens.

use crate::arguments::{Bytes, Ids, Token, ids, limits};
use crate::errors::{self, Raise};
use grammata::TokenId;
use grammata::vocabulary::{AddedTokens, LoadOptions, VocabularyBuilder};
use grammata_python_border::ending::PythonCall;
use grammata_python_border::forking::detach;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// The tokens of one tokenizer, as one model uses them. A vocabulary is immutable; threads may share it.
///
/// >>> import grammata
/// >>> vocabulary = grammata.Vocabulary.from_tokens(["a", "b", "ab", None], specials={"<end>": 3}, eos=3, width=8)
/// >>> len(vocabulary), vocabulary.width, vocabulary.eos
/// (4, 8, [3])
/// >>> vocabulary.bytes(2), vocabulary.special(3)
/// (b'ab', '<end>')
/// >>> vocabulary.decode(vocabulary.encode_greedy("abb"))
/// b'abb'
#[pyclass(frozen, eq, hash, module = "grammata")]
#[derive(PartialEq, Eq)]
pub(crate) struct Vocabulary(pub(crate) Arc<grammata::Vocabulary>);

impl std::hash::Hash for Vocabulary {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.fingerprint().hash(state);
    }
}

/// Added tokens to treat as special in addition to those that the tokenizer flags: all, none, or some by name.
#[derive(FromPyObject)]
enum Added {
    #[pyo3(annotation = "bool")]
    All(bool),
    #[pyo3(annotation = "sequence of str")]
    Named(Vec<String>),
}

impl From<Added> for AddedTokens {
    fn from(added: Added) -> AddedTokens {
        match added {
            Added::All(false) => AddedTokens::Flagged,
            Added::All(true) => AddedTokens::Special,
            Added::Named(names) => AddedTokens::Named(names),
        }
    }
}

/// The options for reading a tokenizer that its file does not contain.
#[derive(Default)]
struct Unsaid<'a, 'py> {
    eos: Option<Ids>,
    specials: Option<BTreeMap<String, Token>>,
    added: Option<Added>,
    width: Option<usize>,
    limits: Option<&'a Bound<'py, PyAny>>,
}

impl Unsaid<'_, '_> {
    fn options(self) -> PyResult<LoadOptions> {
        let specials = self.specials.unwrap_or_default().into_iter();
        Ok(LoadOptions::default()
            .eos(self.eos.map(Ids::list).unwrap_or_default())
            .specials(specials.map(|(name, id)| (name, id.0)).collect())
            .added(self.added.map(AddedTokens::from).unwrap_or_default())
            .width(self.width)
            .limits(limits(self.limits)?))
    }

    fn read(self, py: Python<'_>, content: &[u8]) -> PyResult<Vocabulary> {
        let options = self.options()?;
        let read = detach(py, || grammata::Vocabulary::from_file_bytes(content, &options));
        Ok(Vocabulary(Arc::new(read.raise(py)?)))
    }

    fn open(self, py: Python<'_>, path: PathBuf) -> PyResult<Vocabulary> {
        let options = self.options()?;
        if path.is_dir() {
            return Err(errors::folder(&path)).raise(py);
        }
        let read = detach(py, || grammata::Vocabulary::from_file(path, &options));
        Ok(Vocabulary(Arc::new(read.raise(py)?)))
    }
}

fn type_name(object: &Bound<'_, PyAny>) -> String {
    object.get_type().name().map(|name| name.to_string()).unwrap_or_default()
}

/// The tokens of a slow tokenizer of `transformers` with the SentencePiece model `pieces`. Its ids may differ from the
/// ids of the pieces, so each id's piece is looked up by its text.
fn slow(
    tokenizer: &Bound<'_, PyAny>,
    pieces: &Bound<'_, PyAny>,
    special: Option<Added>,
) -> PyResult<VocabularyBuilder> {
    let (all, mut named) = match special {
        Some(Added::All(all)) => (all, Vec::new()),
        Some(Added::Named(names)) => (false, names),
        None => (false, Vec::new()),
    };
    let added = tokenizer.getattr("added_tokens_decoder")?;
    let unknown: i64 = pieces.call_method0("unk_id")?.extract()?;
    let mut builder = VocabularyBuilder::default();
    for id in 0..u32::try_from(tokenizer.len()?).unwrap_or(u32::MAX) {
        if let Ok(token) = added.get_item(id) {
            let content: String = token.getattr("content")?.extract()?;
            let count = named.len();
            named.retain(|name| *name != content);
            if token.getattr("special")?.extract()? || all || named.len() < count {
                builder.push(b"");
                builder = builder.special(TokenId::new(id), content);
            } else {
                builder.push(content.replace('\u{2581}', " ").as_bytes());
            }
            continue;
        }
        let text: Option<String> = tokenizer.call_method1("convert_ids_to_tokens", (id,))?.extract()?;
        let Some(text) = text else {
            builder.push(b"");
            continue;
        };
        let piece: i64 = pieces.call_method1("piece_to_id", (&text,))?.extract()?;
        let is = |what: &str| pieces.call_method1(what, (piece,))?.extract::<bool>();
        if piece == unknown || is("is_control")? {
            builder.push(b"");
            builder = builder.special(TokenId::new(id), text);
        } else if is("is_byte")? {
            // `<0x0A>`
            let byte = text.get(3..5).and_then(|digits| u8::from_str_radix(digits, 16).ok());
            builder.push(byte.as_slice());
        } else {
            builder.push(text.replace('\u{2581}', " ").as_bytes());
        }
    }
    match named.first() {
        None => Ok(builder),
        Some(name) => {
            let found = format!("{name:?} in `added_special`");
            Err(errors::tokenizer(&found, "contents of added tokens of the tokenizer")).raise(tokenizer.py())
        }
    }
}

/// The tokenizer of mistral-common within transformers' `MistralCommonBackend`; `None` for other tokenizers.
fn mistral<'py>(tokenizer: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let mut inner = tokenizer.clone();
    for part in ["tokenizer", "instruct_tokenizer", "tokenizer"] {
        match inner.getattr_opt(part)? {
            Some(part) => inner = part,
            None => return Ok(None),
        }
    }
    Ok(inner.hasattr("file_path")?.then_some(inner))
}

/// The vocabulary of a tokenizer of mistral-common, from its file.
fn of_mistral(inner: &Bound<'_, PyAny>, eos: Option<Ids>, width: Option<usize>) -> PyResult<Vocabulary> {
    let path: PathBuf = inner.getattr("file_path")?.extract()?;
    Unsaid { eos, width, ..Unsaid::default() }.open(inner.py(), path)
}

#[pymethods]
impl Vocabulary {
    /// Reads a tokenizer file: a Hugging Face `tokenizer.json`, Mistral's `tekken.json`, a SentencePiece `.model`, a
    /// tiktoken rank file, or a JSON array of tokens.
    ///
    /// `eos` are the ids that end a sequence; the default is the special tokens with well-known names. `specials` are
    /// special tokens in addition to those that the file names, `width` is the length of the model's logits, and
    /// `limits` bound what a file may cost.
    ///
    /// `added_special=True` treats all added tokens of a `tokenizer.json` as special, a list of names the flagged
    /// tokens and those named. As ordinary text, a `<think>` that the file does not flag may occur in a JSON string;
    /// only token terminals allow special tokens.
    ///
    /// Raises VocabularyError, FileError, LimitError.
    #[staticmethod]
    #[pyo3(signature = (path, *, eos=None, specials=None, added_special=None, width=None, limits=None))]
    fn from_file(
        py: Python<'_>,
        path: PathBuf,
        eos: Option<Ids>,
        specials: Option<BTreeMap<String, Token>>,
        added_special: Option<Added>,
        width: Option<usize>,
        limits: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vocabulary> {
        Unsaid { eos, specials, added: added_special, width, limits }.open(py, path)
    }

    /// Reads the content of a tokenizer file; see `from_file`.
    #[staticmethod]
    #[pyo3(signature = (content, *, eos=None, specials=None, added_special=None, width=None, limits=None))]
    fn from_file_bytes(
        py: Python<'_>,
        content: Bytes,
        eos: Option<Ids>,
        specials: Option<BTreeMap<String, Token>>,
        added_special: Option<Added>,
        width: Option<usize>,
        limits: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vocabulary> {
        Unsaid { eos, specials, added: added_special, width, limits }.read(py, content.as_ref())
    }

    /// The vocabulary of a `tokenizers.Tokenizer`.
    ///
    /// `width` is the length of the model's logits, if that exceeds the number of the tokenizer's ids. Raises
    /// VocabularyError.
    #[staticmethod]
    #[pyo3(signature = (tokenizer, *, eos=None, added_special=None, width=None))]
    fn from_tokenizers(
        tokenizer: &Bound<'_, PyAny>,
        eos: Option<Ids>,
        added_special: Option<Added>,
        width: Option<usize>,
    ) -> PyResult<Vocabulary> {
        let py = tokenizer.py();
        let _call = PythonCall::begin(py);
        let text: Option<String> = match tokenizer.getattr_opt("to_str")? {
            Some(method) => method.call0()?.extract().ok(),
            None => None,
        };
        let Some(text) = text else {
            let found = format!("{} without `to_str()`", type_name(tokenizer));
            return Err(errors::tokenizer(&found, "a `tokenizers.Tokenizer`")).raise(py);
        };
        Unsaid { eos, added: added_special, width, ..Unsaid::default() }.read(py, text.as_bytes())
    }

    /// The vocabulary of a tokenizer of `transformers`: a fast one; a slow one with a SentencePiece model (`sp_model`),
    /// whose added tokens are special if flagged, or if `added_special` says so; or a `MistralCommonBackend`, whose
    /// file is read (`tekken.json`, or a SentencePiece `.model`).
    ///
    /// Sequences end with its `eos_token_id` unless `eos` is given. `width` is `model.config.vocab_size`, if that
    /// exceeds the number of the tokenizer's ids. Raises VocabularyError.
    #[staticmethod]
    #[pyo3(signature = (tokenizer, *, eos=None, added_special=None, width=None))]
    fn from_transformers(
        tokenizer: &Bound<'_, PyAny>,
        eos: Option<Ids>,
        added_special: Option<Added>,
        width: Option<usize>,
    ) -> PyResult<Vocabulary> {
        let py = tokenizer.py();
        let _call = PythonCall::begin(py);
        let eos = match (eos, tokenizer.getattr_opt("eos_token_id")?) {
            (None, Some(own)) => own.extract()?,
            (given, _) => given,
        };
        if let Some(backend) = tokenizer.getattr_opt("backend_tokenizer")? {
            return Vocabulary::from_tokenizers(&backend, eos, added_special, width);
        }
        if let Some(inner) = mistral(tokenizer)? {
            return of_mistral(&inner, eos, width);
        }
        let Some(pieces) = tokenizer.getattr_opt("sp_model")? else {
            let found = format!("{} without `backend_tokenizer` and `sp_model`", type_name(tokenizer));
            let allowed = "a fast tokenizer of transformers, a slow one with a SentencePiece model, or a \
                           MistralCommonBackend";
            return Err(errors::tokenizer(&found, allowed)).raise(py);
        };
        let builder = slow(tokenizer, &pieces, added_special)?;
        build(py, builder.eos(eos.map(Ids::list).unwrap_or_default()), width)
    }

    /// The vocabulary of a `tiktoken.Encoding`.
    ///
    /// Sequences end with its `eot_token` unless `eos` is given. Raises VocabularyError.
    #[staticmethod]
    #[pyo3(signature = (encoding, *, eos=None, width=None))]
    fn from_tiktoken(
        encoding: &Bound<'_, PyAny>,
        eos: Option<Ids>,
        width: Option<usize>,
    ) -> PyResult<Vocabulary> {
        let py = encoding.py();
        let _call = PythonCall::begin(py);
        let Some(count) = encoding.getattr_opt("n_vocab")? else {
            let found = format!("{} without `n_vocab`", type_name(encoding));
            return Err(errors::tokenizer(&found, "a `tiktoken.Encoding`")).raise(py);
        };
        let count: u32 = count.extract()?;
        let (mut builder, bytes_of) =
            (VocabularyBuilder::default(), encoding.getattr("decode_single_token_bytes")?);
        for id in 0..count {
            match bytes_of.call1((id,)) {
                Ok(bytes) => builder.push(bytes.extract()?),
                // an unused id
                Err(error) if error.is_instance_of::<PyKeyError>(py) => builder.push(b""),
                Err(error) => return Err(error),
            }
        }
        for name in encoding.getattr("special_tokens_set")?.try_iter()? {
            let name: String = name?.extract()?;
            let id: Token = encoding.call_method1("encode_single_token", (&name,))?.extract()?;
            builder = builder.special(id.0, name);
        }
        builder = match eos {
            Some(eos) => builder.eos(eos.list()),
            None => builder.eos([encoding.getattr("eot_token")?.extract::<Token>()?.0]),
        };
        build(py, builder, width)
    }

    /// A vocabulary of these tokens, with ids from 0. `None` and an empty token are ids without bytes.
    ///
    /// A text means its UTF-8. `specials` are ids by name, `eos` the ids that end a sequence. Raises VocabularyError.
    #[staticmethod]
    #[pyo3(signature = (tokens, *, specials=None, eos=None, width=None, limits=None))]
    fn from_tokens(
        tokens: &Bound<'_, PyAny>,
        specials: Option<BTreeMap<String, Token>>,
        eos: Option<Ids>,
        width: Option<usize>,
        limits: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vocabulary> {
        let _call = PythonCall::begin(tokens.py());
        let mut builder = VocabularyBuilder::new(&self::limits(limits)?);
        for token in tokens.try_iter()? {
            match token?.extract::<Option<Bytes>>()? {
                Some(bytes) => builder.push(bytes.as_ref()),
                None => builder.push(b""),
            }
        }
        for (name, id) in specials.unwrap_or_default() {
            builder = builder.special(id.0, name);
        }
        builder = builder.eos(eos.map(Ids::list).unwrap_or_default());
        build(tokens.py(), builder, width)
    }

    /// The length of the model's logits, in tokens; a mask has one bit for each.
    #[getter]
    fn width(&self) -> usize {
        self.0.width()
    }

    /// The number of 32-bit words of a mask.
    #[getter]
    fn mask_words(&self) -> usize {
        self.0.mask_words()
    }

    /// A NumPy array of 32-bit integers with a row for each of `count` masks, all 0. `torch.from_numpy` makes a tensor
    /// that shares its memory.
    ///
    /// >>> import grammata
    /// >>> grammata.Vocabulary.from_tokens(["a"] * 100).allocate_masks(2).shape
    /// (2, 4)
    #[pyo3(signature = (count, /))]
    fn allocate_masks<'py>(&self, py: Python<'py>, count: usize) -> PyResult<Bound<'py, PyAny>> {
        let _call = PythonCall::begin(py);
        let numpy = py.import("numpy")?;
        numpy.call_method1("zeros", ((count, self.0.mask_words()), numpy.getattr("int32")?))
    }

    /// The ids that end a sequence, in ascending order.
    #[getter]
    fn eos(&self) -> Vec<u32> {
        self.0.eos().iter().map(|id| id.get()).collect()
    }

    /// The special tokens: ids by name.
    #[getter]
    fn specials(&self) -> BTreeMap<&str, u32> {
        self.0.specials().map(|(id, name)| (name, id.get())).collect()
    }

    /// SHA-256 over everything that a mask depends on.
    #[getter]
    fn fingerprint<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.fingerprint())
    }

    /// The bytes that are not tokens on their own: only longer tokens, if any, can spell them.
    #[getter]
    fn missing_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let missing = self.0.missing_bytes();
        let bytes: Vec<u8> = (0..=255u8).filter(|&byte| missing[usize::from(byte)]).collect();
        PyBytes::new(py, &bytes)
    }

    /// The bytes of an ordinary token; None for special tokens and unused ids.
    fn bytes<'py>(&self, py: Python<'py>, token: Token) -> Option<Bound<'py, PyBytes>> {
        self.0.bytes(token.0).map(|bytes| PyBytes::new(py, bytes))
    }

    /// The name of a special token; None for every other id.
    fn special(&self, token: Token) -> Option<&str> {
        self.0.special(token.0)
    }

    /// The id of the special token of this name; None if there is none.
    fn special_id(&self, name: &str) -> Option<u32> {
        self.0.special_id(name).map(TokenId::get)
    }

    /// Splits a text into tokens, taking the longest token at each place; `None` if no token fits somewhere.
    ///
    /// This is not the tokenizer's own encoding, but the tokens' bytes are those of the text.
    fn encode_greedy(&self, text: Bytes) -> Option<Vec<u32>> {
        let tokens = self.0.encode_greedy(text.as_ref())?;
        Some(tokens.into_iter().map(TokenId::get).collect())
    }

    /// The concatenated bytes of tokens; special tokens have none.
    fn decode<'py>(&self, py: Python<'py>, tokens: Vec<Token>) -> Bound<'py, PyBytes> {
        let bytes: Vec<u8> =
            ids(tokens).into_iter().flat_map(|id| self.0.bytes(id).unwrap_or_default()).copied().collect();
        PyBytes::new(py, &bytes)
    }

    /// For `pickle`: tokens, special tokens, ends and width, and the fingerprint that the result must have.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let tokens = (0..self.0.len()).map(|id| {
            let id = u32::try_from(id).ok().map(TokenId::new);
            id.and_then(|id| self.0.bytes(id)).map(|bytes| PyBytes::new(py, bytes))
        });
        let tokens: Vec<Option<Bound<'py, PyBytes>>> = tokens.collect();
        let arguments = (tokens, self.specials(), self.eos(), self.width(), self.fingerprint(py));
        let _call = PythonCall::begin(py);
        Ok((py.import("grammata._pickles")?.getattr("vocabulary")?, arguments.into_pyobject(py)?))
    }

    /// Memory held, in bytes.
    fn memory_usage(&self) -> usize {
        self.0.memory_usage()
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __repr__(&self) -> String {
        format!("<grammata.Vocabulary: {} tokens, width {}>", self.0.len(), self.0.width())
    }
}

fn build(py: Python<'_>, builder: VocabularyBuilder, width: Option<usize>) -> PyResult<Vocabulary> {
    let builder = match width {
        Some(width) => builder.width(width),
        None => builder,
    };
    Ok(Vocabulary(Arc::new(detach(py, || builder.build()).raise(py)?)))
}
