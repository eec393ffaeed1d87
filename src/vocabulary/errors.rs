//! Errors of vocabularies and tokenizer files.

use super::TokenId;
use crate::diagnostic::{Diagnostic, Place, did_you_mean, excerpt, excerpt_bytes};
use crate::error::{Error, ErrorKind};

fn vocabulary(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Vocabulary, diagnostic)
}

grammata_base::errors! {
    pub(crate) Vocabulary;

    empty() = "vocabulary/empty", "the vocabulary has no tokens"
        allowed("one token or more") help("check that this is the tokenizer's own file");

    width(width: usize, tokens: usize) = "vocabulary/width", "the width is less than the number of tokens"
        found("width {width}, {tokens} tokens")
        allowed("a width of {tokens} or more")
        help("the width is the length of the model's logits; models pad it, never shorten it");

    eos_range(id: TokenId, width: usize) =
        "vocabulary/eos-range", "an end-of-sequence id lies outside the vocabulary"
        found(id.to_string())
        allowed("ids less than {width}")
        help("take the ids from the model's `generation_config.json` (`eos_token_id`)");

    /// The error of an end-of-sequence id past the `ranks` of a rank file.
    eos_past_ranks(id: TokenId, ranks: usize) =
        "vocabulary/eos-range", "an end-of-sequence id lies past the ranks of this file, which has no special tokens"
        found("{id}, {ranks} ranks")
        allowed("ids less than {ranks}; others with their names or with the width of the model's logits")
        help("also pass the width (`LoadOptions::width`, `vocab_size` in the model's `config.json`) or the special \
        tokens (`LoadOptions::specials`)");

    special_range(name: &str, id: TokenId, width: usize) =
        "vocabulary/special-range", "a special token's id lies outside the vocabulary"
        found("`{}` with id {id}", excerpt(name))
        allowed("ids less than {width}")
        help("correct the id, or give the model's width (`LoadOptions::width`) if it is larger than the tokenizer's");

    special_twice(name: &str, first: TokenId, second: TokenId) =
        "vocabulary/special-twice", "two special tokens have one name or one id"
        found("`{}` with ids {first} and {second}", excerpt(name))
        allowed("names and ids that differ")
        help("give each special token once");

    special_name() = "vocabulary/special-name", "a special token has an empty name"
        allowed("a name of one character or more") help("grammars refer to special tokens by name");

    no_eos() = "vocabulary/no-eos", "no end-of-sequence token is known by name in this tokenizer"
        allowed("one end-of-sequence id or more")
        help("pass the model's end-of-sequence ids (`LoadOptions::eos`); see its `generation_config.json`");

    missing_model() =
        "vocabulary/format", "this JSON object is neither a Hugging Face `tokenizer.json` nor a `tekken.json`"
        at(Place::Pointer(String::new()))
        found("no `model` with a `vocab`")
        allowed("an object with `model`, `added_tokens` and `decoder`; or one with `config` and `vocab`")
        help("pass `tokenizer.json`, not `tokenizer_config.json`, `vocab.json` or `config.json`");

    unsupported_model(found: &str) =
        "vocabulary/model", "this kind of tokenizer does not give exact bytes for each token"
        at(Place::Pointer("/model".into()))
        found(found)
        allowed("BPE or Unigram, byte-level or with Metaspace and byte fallback")
        help("masks need each token's exact bytes; use a model whose tokenizer has them");

    tekken(pointer: &str, what: &'static str, found: &str, allowed: &str) = "vocabulary/tekken", (what)
        at(Place::Pointer(pointer.into()))
        found(excerpt(found))
        allowed(allowed)
        help("check that the file is whole and unedited");

    /// The error of a SentencePiece model whose field at byte `at` is damaged.
    sentencepiece_field(at: usize) = "vocabulary/sentencepiece", "a field of the model is damaged or cut off"
        at(Place::Byte(at))
        allowed("the fields of a protocol buffer: integers, numbers of 32 and 64 bits, bytes")
        help("download the file again, and check its length");

    /// The error of the piece `id` of a SentencePiece model.
    sentencepiece_piece(id: usize, what: &'static str, found: &[u8], allowed: &str) =
        "vocabulary/sentencepiece", (what)
        at(Place::Pointer(format!("/pieces/{id}")))
        found(excerpt_bytes(found))
        allowed(allowed)
        help("check that the file is whole and unedited");

    id_twice(pointer: &str, id: u32, first: &str, second: &str) =
        "vocabulary/id-twice", "two tokens have the id {id}"
        at(Place::Pointer(pointer.into()))
        found("`{}` and `{}`", excerpt(first), excerpt(second))
        allowed("each id once")
        help("the file is damaged, or was edited by hand");

    tiktoken_line(line: usize, column: usize, found: &[u8], what: &'static str) =
        "vocabulary/tiktoken", (what)
        at(Place::LineColumn { line, column })
        found(excerpt_bytes(found))
        allowed("`<token in base64> <rank>` on each line, each rank once")
        help("check that the file is whole and unedited");
}

pub(crate) fn json(content: &[u8], cause: &serde_json::Error) -> Error {
    let text = cause.to_string();
    // the diagnostic has its own field for the place that serde_json appends to its message
    let message = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message);
    let (what, help) = if cause.is_eof() {
        ("the tokenizer file ends too early", "the file is cut off: fetch or copy it again")
    } else {
        ("the tokenizer file does not have its expected form", "check that the file is whole and unedited")
    };
    vocabulary(
        Diagnostic::new("vocabulary/json", what)
            .at(json_place(content, cause.line(), cause.column()))
            .cause(message)
            .help(help),
    )
}

/// The place of a serde_json error. serde_json counts columns in bytes; a [`Place`] counts them in characters.
fn json_place(content: &[u8], line: usize, column: usize) -> Place {
    if line == 0 {
        return Place::Whole;
    }
    let text = content.split(|&b| b == b'\n').nth(line - 1).unwrap_or_default();
    let before = text.get(..column.saturating_sub(1)).unwrap_or(text);
    Place::LineColumn { line, column: String::from_utf8_lossy(before).chars().count() + 1 }
}

pub(crate) fn not_a_tokenizer(content: &[u8]) -> Error {
    let content = content.trim_ascii();
    let found = if content.is_empty() { "an empty file".to_owned() } else { excerpt_bytes(content) };
    vocabulary(
        Diagnostic::new("vocabulary/format", "this is not a tokenizer file of a known format")
            .at(Place::LineColumn { line: 1, column: 1 })
            .found(found)
            .allowed(
                "a Hugging Face `tokenizer.json`, Mistral's `tekken.json`, a SentencePiece `.model`, a tiktoken rank \
                 file, or a JSON array of tokens",
            )
            .help("pass the file of the tokenizer, not its settings; the page of the model names it"),
    )
}

pub(crate) fn unsupported_decoder(pointer: impl Into<String>, found: &str) -> Error {
    inexact_decoder(
        pointer,
        found,
        "ByteLevel; Metaspace; or a Sequence of Replace (of a string), ByteFallback, Metaspace or ByteLevel, then \
         Fuse, then Strip of one leading space",
    )
}

/// The error of a tokenizer whose decoder gives a token different bytes after different tokens.
fn inexact_decoder(pointer: impl Into<String>, found: &str, allowed: &str) -> Error {
    vocabulary(
        Diagnostic::new("vocabulary/decoder", "this decoder does not map each token to bytes independently")
            .at(Place::Pointer(pointer.into()))
            .found(found)
            .allowed(allowed)
            .help("masks need each token's exact bytes; use a model whose tokenizer has them"),
    )
}

/// The error of a SentencePiece model that replaces texts when it decodes.
pub(crate) fn sentencepiece_replaces() -> Error {
    inexact_decoder(
        "/denormalizer_spec/precompiled_charsmap",
        "replacements that are applied to decoded text",
        "no replacements, as in all models with the default `denormalization_rule_tsv`",
    )
}

/// The error of a name that no added token of the file has; `added` are the names of the file's added tokens.
pub(crate) fn no_added_token<'a>(name: &str, added: impl IntoIterator<Item = &'a str>) -> Error {
    let mut names: Vec<&str> = added.into_iter().collect();
    names.sort_unstable();
    let allowed = match &names[..] {
        [] => "none: this file has no added tokens".to_owned(),
        [some @ .., last] if some.len() < 8 => {
            some.iter().map(|name| excerpt(name) + ", ").collect::<String>() + &excerpt(last)
        }
        many => format!("the contents of the file's {} `added_tokens`", many.len()),
    };
    let help = did_you_mean(
        name,
        names.iter().copied(),
        "for another token, give its name with its id (`LoadOptions::specials`)",
    );
    vocabulary(
        Diagnostic::new("vocabulary/no-added-token", "the tokenizer has no added token of that name")
            .found(excerpt(name))
            .allowed(allowed)
            .help(help),
    )
}
