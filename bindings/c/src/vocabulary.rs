//! Vocabularies.

use crate::error::{GrammataError, c_string};
use crate::failure::{self, GrammataStatus, Result};
use crate::options::{self, VocabularyOptions};
use crate::raw::{Call, ask, free, make, run};
use engine::vocabulary::{LoadOptions, TokenId, Vocabulary, VocabularyBuilder};
use std::ffi::{CStr, CString, c_char};
use std::path::PathBuf;
use std::sync::Arc;

/// The tokens of a tokenizer, as a model uses them.
pub struct GrammataVocabulary {
    pub(crate) vocabulary: Arc<Vocabulary>,
    /// Names of special tokens as C strings, sorted by id.
    names: Vec<(TokenId, CString)>,
}

impl GrammataVocabulary {
    pub(crate) fn new(vocabulary: Arc<Vocabulary>) -> GrammataVocabulary {
        let names = vocabulary.specials().map(|(id, name)| (id, c_string(name))).collect();
        GrammataVocabulary { vocabulary, names }
    }
}

/// Converts a path from C: bytes on Unix, UTF-8 elsewhere.
pub(crate) fn path(string: &CStr) -> Result<PathBuf> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        Ok(std::ffi::OsStr::from_bytes(string.to_bytes()).into())
    }
    #[cfg(not(unix))]
    {
        Ok(string.to_str().map_err(|error| failure::not_utf8("path", &error))?.into())
    }
}

/// Loads a tokenizer file: a `tokenizer.json` of Hugging Face, a `tekken.json`, a tiktoken rank file or a JSON list of
/// tokens.
///
/// Options: `eos` (list of ids; default: the special tokens with well-known names), `specials` (object from names to
/// ids, in addition to those of the file), `added` (which added tokens of a `tokenizer.json` are special: "flagged", as
/// the file says; "special", all of them; or `{"named": [...]}`, the flagged and these), `width` (of the model's
/// logits, if it exceeds the number of the tokenizer's ids), `limits`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_vocabulary_from_file(
    path: *const c_char,
    options: *const c_char,
    out: *mut *mut GrammataVocabulary,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    make!(error, out, |call| {
        let path = self::path(call.string(path, "path")?)?;
        let options = options::read::<VocabularyOptions>(&call, options)?;
        let vocabulary = Vocabulary::from_file(path, &options.into())?;
        Ok(GrammataVocabulary::new(Arc::new(vocabulary)))
    })
}

/// Loads the content of a tokenizer file. The options are those of `grammata_vocabulary_from_file`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_vocabulary_from_bytes(
    content: *const c_char,
    length: usize,
    options: *const c_char,
    out: *mut *mut GrammataVocabulary,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    make!(error, out, |call| {
        let content = call.bytes(content, length, "content")?;
        let options = options::read::<VocabularyOptions>(&call, options)?;
        let vocabulary = Vocabulary::from_file_bytes(content, &options.into())?;
        Ok(GrammataVocabulary::new(Arc::new(vocabulary)))
    })
}

/// Makes a vocabulary of tokens, given by their concatenated bytes and the length of each. Token `i` has the id `i`; a
/// token of length 0 has no bytes, like special tokens and padding.
///
/// Options: those of `grammata_vocabulary_from_file`; `eos` must be given, or a text that may continue could never end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_vocabulary_from_tokens(
    bytes: *const c_char,
    bytes_length: usize,
    lengths: *const usize,
    count: usize,
    options: *const c_char,
    out: *mut *mut GrammataVocabulary,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        call.clear(out)?;
        let mut rest = call.bytes(bytes, bytes_length, "bytes")?;
        let lengths = call.list(lengths, count, "lengths")?;
        let sum = lengths.iter().try_fold(0usize, |sum, length| sum.checked_add(*length));
        if sum != Some(bytes_length) {
            return Err(failure::lengths(sum, bytes_length));
        }
        let options = LoadOptions::from(options::read::<VocabularyOptions>(&call, options)?);
        let mut builder = VocabularyBuilder::new(&options.limits);
        for &length in lengths {
            let (token, after) = rest.split_at(length);
            builder.push(token);
            rest = after;
        }
        for (name, id) in options.specials {
            builder = builder.special(id, name);
        }
        builder = builder.eos(options.eos);
        if let Some(width) = options.width {
            builder = builder.width(width);
        }
        call.give(out, GrammataVocabulary::new(Arc::new(builder.build()?)))
    })
}

/// The length of the model's logits, in tokens; a mask has one bit per token. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_vocabulary_width(vocabulary: *const GrammataVocabulary) -> usize {
    ask!(vocabulary, 0, |handle| handle.vocabulary.width())
}

/// The number of 32-bit words of a mask. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_vocabulary_mask_words(vocabulary: *const GrammataVocabulary) -> usize {
    ask!(vocabulary, 0, |handle| handle.vocabulary.mask_words())
}

/// Whether a token is an end-of-sequence token. False for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_vocabulary_is_eos(
    vocabulary: *const GrammataVocabulary,
    token: u32,
) -> bool {
    ask!(vocabulary, false, |handle| handle.vocabulary.is_eos(TokenId::new(token)))
}

/// The end-of-sequence tokens.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_vocabulary_eos(
    vocabulary: *const GrammataVocabulary,
    buffer: *mut u32,
    capacity: usize,
    length: *mut usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        let handle = call.handle(vocabulary, "vocabulary")?;
        let ids: Vec<u32> = handle.vocabulary.eos().iter().map(|id| id.get()).collect();
        call.copy(&ids, buffer, capacity, length)
    })
}

/// The bytes of a token. They belong to the vocabulary and do not end with NUL. For special tokens and padding `*bytes`
/// is NULL and `*length` 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_vocabulary_token(
    vocabulary: *const GrammataVocabulary,
    token: u32,
    bytes: *mut *const c_char,
    length: *mut usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        let vocabulary = &call.handle(vocabulary, "vocabulary")?.vocabulary;
        let token = in_range(vocabulary, token)?;
        let found = vocabulary.bytes(token);
        call.set(length, found.map_or(0, <[u8]>::len), "length")?;
        call.set(bytes, found.map_or(std::ptr::null(), |bytes| bytes.as_ptr().cast()), "bytes")
    })
}

/// The name of a special token; NULL for every other token.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_vocabulary_special(
    vocabulary: *const GrammataVocabulary,
    token: u32,
) -> *const c_char {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    let names = call.any(vocabulary).map_or(&[][..], |handle| &handle.names);
    let at = names.binary_search_by_key(&TokenId::new(token), |entry| entry.0);
    at.ok().and_then(|at| names.get(at)).map_or(std::ptr::null(), |entry| entry.1.as_ptr())
}

/// Splits bytes into tokens, taking the longest token at each place. This is not the tokenizer's own encoding, but the
/// tokens' bytes are the given ones. GRAMMATA_STATUS_REJECTED if no token fits somewhere.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_vocabulary_encode_greedy(
    vocabulary: *const GrammataVocabulary,
    bytes: *const c_char,
    bytes_length: usize,
    buffer: *mut u32,
    capacity: usize,
    length: *mut usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        let handle = call.handle(vocabulary, "vocabulary")?;
        let bytes = call.bytes(bytes, bytes_length, "bytes")?;
        let tokens = handle.vocabulary.encode_greedy(bytes).ok_or_else(failure::no_token)?;
        let ids: Vec<u32> = tokens.iter().map(|id| id.get()).collect();
        call.copy(&ids, buffer, capacity, length)
    })
}

/// Frees a vocabulary. Compilers and grammars that were made with it stay valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_vocabulary_free(vocabulary: *mut GrammataVocabulary) {
    free!(vocabulary);
}

/// The id of a token, if masks of the vocabulary have a bit for it.
pub(crate) fn in_range(vocabulary: &Vocabulary, token: u32) -> Result<TokenId> {
    let id = TokenId::new(token);
    match id.index() < vocabulary.width() {
        true => Ok(id),
        false => Err(failure::token_range(token, vocabulary.width())),
    }
}
