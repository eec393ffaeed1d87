//! Reading tokenizer files.
//!
//! Five formats. A SentencePiece `.model`, see [`sentencepiece`], starts with a piece; the other formats are
//! distinguished by the first character that is not white space:
//! - `{`: a Hugging Face `tokenizer.json`, see [`huggingface`], or Mistral's `tekken.json`, which has `config` and
//!   `vocab` but no `model`, see [`tekken`];
//! - `[`: a JSON array of tokens; see [`list`];
//! - a letter, a digit, `+`, `/` or `=`: a tiktoken rank file; see [`tiktoken`].
//!
//! No format says which tokens end a sequence. [`LoadOptions::eos`] does; without it, every special token with a name
//! from [`EOS_NAMES`] ends a sequence. If there is no such token, loading fails with `vocabulary/no-eos`.
//!
//! Files are not trusted: [`Limits`] bounds their size, the number of tokens and the length of each token. Anything
//! wrong with a file is an error, never a panic.

pub mod huggingface;
pub mod list;
pub mod sentencepiece;
pub mod tekken;
pub mod tiktoken;

pub use super::eos::EOS_NAMES;

use super::{TokenId, Vocabulary, VocabularyBuilder, errors};
use crate::diagnostic::{Notation, Source};
use crate::error::{Error, Result};
use crate::files;
use crate::limits::{LimitKind, Limits};
use rustc_hash::FxHashSet;
use std::path::Path;

/// The character that replaces a space in tokens of SentencePiece, unless the file names another.
const METASPACE: &str = "▁";

/// The byte of a text `<0xNN>` with two hexadecimal digits; `None` for any other text.
fn fallback_byte(text: &[u8]) -> Option<u8> {
    let &[b'<', b'0', b'x', high, low, b'>'] = text else { return None };
    let digit = |c: u8| (c as char).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

/// Selects which added tokens of a `tokenizer.json` are special. The other added tokens are ordinary text.
///
/// Files flag few of the tokens that templates and parsers of tool calls look for: `<think>` and `<tool_call>` of Qwen
/// 3 are added tokens with `"special": false`. As ordinary text, they may occur in a JSON string as single tokens,
/// which a server that splits the output by ids misreads. As special tokens, only token terminals allow them; a string
/// can still spell `<think>` with other tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum AddedTokens {
    /// The added tokens that the file flags as special.
    #[default]
    Flagged,
    /// All added tokens. Some tokenizers have added tokens for runs of spaces or newlines: such tokens become special,
    /// too.
    Special,
    /// The added tokens that the file flags, and the added tokens with these contents. A content that no added token
    /// has is an error.
    Named(Vec<String>),
}

impl AddedTokens {
    /// Whether these options make an added token with the content `content` special that the file does not flag.
    fn has(&self, content: &str) -> bool {
        match self {
            AddedTokens::Flagged => false,
            AddedTokens::Special => true,
            AddedTokens::Named(names) => names.iter().any(|name| name == content),
        }
    }

    /// The first name of [`AddedTokens::Named`] that is not among `known`, the contents of the added tokens; `None` if
    /// there is none.
    fn unknown(&self, known: &FxHashSet<&str>) -> Option<&str> {
        match self {
            AddedTokens::Named(names) => names.iter().map(String::as_str).find(|name| !known.contains(name)),
            _ => None,
        }
    }
}

grammata_base::options! {
    /// Options that complement what a tokenizer file says, and the limits for reading it.
    #[derive(Clone, Debug)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
    #[non_exhaustive]
    pub struct LoadOptions {
        /// The end-of-sequence ids. Default: empty, which selects the special tokens with well-known names.
        pub eos: Vec<TokenId>,
        /// Special tokens in addition to the special tokens that the file names; a tiktoken file names none. Default:
        /// none.
        pub specials: Vec<(String, TokenId)>,
        /// Which added tokens of a `tokenizer.json` are special. Default: the added tokens that the file flags.
        pub added: AddedTokens,
        /// The length of the model's logits, in tokens. Default: one more than the highest id.
        pub width: Option<usize>,
        /// Caps on the file's size and content.
        pub limits: Limits,
    }
}

impl Vocabulary {
    /// Reads a tokenizer file of any known format.
    ///
    /// # Errors
    ///
    /// The file cannot be read, has an unknown format, is damaged, exceeds a limit, or belongs to a tokenizer whose
    /// tokens do not have exact bytes; no end-of-sequence ids are given or known; or the options do not fit the tokens
    /// (see [`VocabularyBuilder::build`]).
    pub fn from_file(path: impl AsRef<Path>, options: &LoadOptions) -> Result<Vocabulary> {
        let path = path.as_ref();
        let in_file = |error: Error| error.in_file(&path.display().to_string());
        let content = read(path, &options.limits).map_err(in_file)?;
        Vocabulary::from_file_bytes(&content, options).map_err(in_file)
    }

    /// Reads the content of a tokenizer file of any known format.
    ///
    /// # Errors
    ///
    /// The errors of [`from_file`](Vocabulary::from_file), except the errors of reading a file.
    pub fn from_file_bytes(content: &[u8], options: &LoadOptions) -> Result<Vocabulary> {
        check_size(content.len(), &options.limits)?;
        let content = content.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(content);
        load(content, options).map_err(|error| match str::from_utf8(content) {
            Ok(text) => error.in_source(&Source::new(text, Notation::Json)),
            Err(_) => error,
        })
    }
}

fn load(content: &[u8], options: &LoadOptions) -> Result<Vocabulary> {
    if sentencepiece::is_one(content) {
        return sentencepiece::load(content, options);
    }
    match content.trim_ascii_start().first() {
        Some(b'{') => match huggingface::load(content, options) {
            Err(_) if tekken::is_one(content) => tekken::load(content, options),
            loaded => loaded,
        },
        Some(b'[') => list::load(content, options),
        Some(b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' | b'=') => {
            tiktoken::load(content, options)
        }
        _ => Err(errors::not_a_tokenizer(content)),
    }
}

/// Fails if the options name an added token that the file does not have.
fn check_added<'a>(options: &LoadOptions, added: impl Iterator<Item = &'a str>) -> Result<()> {
    let added: FxHashSet<&str> = added.collect();
    options.added.unknown(&added).map_or(Ok(()), |name| Err(errors::no_added_token(name, added)))
}

/// Reads a whole file. Fails if it has more than `tokenizer_bytes` bytes; reading stops at the limit, even if the file
/// never ends.
fn read(path: &Path, limits: &Limits) -> Result<Vec<u8>> {
    files::read(path, limits.tokenizer_bytes, |found| too_large(found, limits))
}

fn check_size(size: usize, limits: &Limits) -> Result<()> {
    if size > limits.tokenizer_bytes { Err(too_large(size as u64, limits)) } else { Ok(()) }
}

fn too_large(found: u64, limits: &Limits) -> Error {
    let found = format!("{found} bytes or more");
    Limits::exceeded(LimitKind::TokenizerBytes, limits.tokenizer_bytes, found)
}

/// Like [`finish`], for a file without added tokens: fails if the options name any.
fn finish_without_added(builder: VocabularyBuilder, options: &LoadOptions) -> Result<Vocabulary> {
    check_added(options, std::iter::empty())?;
    finish(builder, options)
}

/// Adds the special tokens, end-of-sequence ids and width of the options to the content of the file, and builds the
/// vocabulary.
fn finish(mut builder: VocabularyBuilder, options: &LoadOptions) -> Result<Vocabulary> {
    for (name, id) in &options.specials {
        builder = builder.special(*id, name);
    }
    builder = if options.eos.is_empty() {
        builder.eos_by_name()?
    } else {
        builder.eos(options.eos.iter().copied())
    };
    if let Some(width) = options.width {
        builder = builder.width(width);
    }
    builder.build()
}
