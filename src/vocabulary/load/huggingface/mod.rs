//! Hugging Face `tokenizer.json` files.
//!
//! # What is supported
//!
//! Masks need each token's exact bytes, so the file's decoder must map each token to bytes independently:
//! - byte-level BPE (GPT-2 and its successors; Llama 3, Qwen, DeepSeek, SmolLM, GPT-4o): the printable characters of
//!   GPT-2's byte-to-character table become bytes again;
//! - BPE or Unigram with Metaspace (Llama 2, Mistral, Gemma, T5): `▁` becomes a space, and with byte fallback `<0xNN>`
//!   becomes a byte.
//!
//! WordPiece, WordLevel, BPE with `##` or `</w>` marks, and decoders that look at more than one token are errors that
//! name what was found. So is a replacement of two or more bytes after ByteFallback: the library has joined the bytes
//! of neighbouring tokens by then, so that `<0xE2>`, `<0x96>` and `<0x81>` together decode to the space of `▁`.
//! Normalizers change how a text is encoded, not what a token decodes to, except for added tokens (below).
//!
//! # Where bytes and decoded text differ
//!
//! - Llama 2, T5 and others add a space before a text when they encode it and drop one when they decode (a `Strip`
//!   after `Fuse`, or Metaspace with a prepend scheme). The added space affects the start of a text, not a token:
//!   `▁the` is always ` the` here. So a grammar whose words begin without a space does not allow `▁the` as its first
//!   token.
//! - Added tokens with `"special": true`, and the model's unknown token, are special tokens and never have bytes. Other
//!   added tokens are ordinary tokens, unless [`LoadOptions::added`] makes them special. Like the library, this module
//!   decodes them with the decoder: a byte-level decoder makes the bytes `66 FC 72` of an added `für`, and Metaspace
//!   the text `x y` of an added `x▁y`. If the token is flagged as `normalized`, the normalizer is applied to its
//!   content first, as by the crate since 0.23. In a file without a decoder they are the bytes of their content.
//! - A token that decodes to nothing is padding.
//!
//! # Why not through the `tokenizers` crate
//!
//! The crate (0.23.2) builds its merge tables when it loads a file: 0.30 s for Llama 3.1 and 1.2 s for Gemma 3,
//! compared with 0.04 s and 0.1 s for the parts needed here; and it panics on some damaged files. So this module reads
//! `model.vocab`, `added_tokens`, `decoder` and `pre_tokenizer` itself and skips the rest without keeping it. Tests
//! compare the result with the crate's encoding.

mod decoder;
mod file;
mod normalizer;

use super::{AddedTokens, LoadOptions, check_added, finish};
use crate::error::Result;
use crate::limits::{LimitKind, Limits};
use crate::vocabulary::{TokenId, Vocabulary, VocabularyBuilder, errors};
use decoder::ByteMap;
use file::{AddedToken, File, Model, Vocab};
use rustc_hash::FxHashSet;

/// Reads the content of a `tokenizer.json`.
///
/// # Errors
///
/// `vocabulary/json` or `vocabulary/format` if the file is damaged or is another kind of JSON file; `vocabulary/model`
/// or `vocabulary/decoder` if the tokenizer does not have exact bytes for each token; `vocabulary/id-twice` if tokens
/// with different texts share an id. And the errors of [`Vocabulary::from_file`].
pub fn load(content: &[u8], options: &LoadOptions) -> Result<Vocabulary> {
    super::check_size(content.len(), &options.limits)?;
    let file: File = serde_json::from_slice(content).map_err(|cause| errors::json(content, &cause))?;
    let model = file.model.as_ref().ok_or_else(errors::missing_model)?;
    check_model(model)?;
    let map = ByteMap::new(&file, model.byte_fallback.unwrap_or(false), options.limits.token_bytes)?;
    let mut builder = push_tokens(&file, model, &map, &options.limits)?;
    check_added(options, file.added().map(|token| token.content.as_str()))?;
    for (id, name) in specials(&file, model, &options.added) {
        builder = builder.special(TokenId::new(id), name);
    }
    finish(builder, options)
}

/// Fails for kinds of models without exact bytes for each token.
fn check_model(model: &Model) -> Result<()> {
    if model.vocab.is_none() {
        return Err(errors::missing_model());
    }
    match model.kind() {
        Some("BPE" | "Unigram") => {}
        Some(kind) => return Err(errors::unsupported_model(kind)),
        None => {
            return Err(errors::unsupported_model(
                "a model without a `type` that has neither merges nor a list of pieces",
            ));
        }
    }
    let marks = [
        ("continuing_subword_prefix", &model.continuing_subword_prefix),
        ("end_of_word_suffix", &model.end_of_word_suffix),
    ];
    for (name, mark) in marks {
        if let Some(mark) = mark.as_deref().filter(|mark| !mark.is_empty()) {
            return Err(errors::unsupported_model(&format!("BPE with the {name} `{mark}`")));
        }
    }
    Ok(())
}

/// Pushes the tokens of the model and the added tokens in the order of their ids, with empty tokens for gaps.
fn push_tokens(file: &File, model: &Model, map: &ByteMap, limits: &Limits) -> Result<VocabularyBuilder> {
    let entries = model.vocab.as_ref().map_or(0, Vocab::len).saturating_add(file.added().count());
    if entries > limits.vocabulary_tokens.saturating_mul(2) {
        return Err(Limits::exceeded(
            LimitKind::VocabularyTokens,
            limits.vocabulary_tokens,
            format!("{entries} entries"),
        ));
    }
    // the order puts the model's token before an added token with the same id
    let own = model.vocab.iter().flat_map(|vocab| vocab.iter()).map(|(id, text)| (id, false, text));
    let added = file.added().map(|token| (token.id, true, token.content.as_str()));
    let mut all: Vec<(u32, bool, &str)> = own.chain(added).collect();
    all.sort_by_key(|&(id, is_added, _)| (id, is_added));
    if let Some(&(id, ..)) = all.last().filter(|last| last.0 as usize >= limits.vocabulary_tokens) {
        return Err(Limits::exceeded(
            LimitKind::VocabularyTokens,
            limits.vocabulary_tokens,
            format!("id {id}"),
        ));
    }
    let mut builder = VocabularyBuilder::new(limits);
    let mut bytes = Vec::new();
    let mut last = "";
    // an added token that is also one of the model is decoded as the added one
    let normalized: FxHashSet<u32> = match (&file.normalizer, &file.decoder) {
        (Some(_), Some(_)) => file.added().filter(|token| token.normalized).map(|token| token.id).collect(),
        _ => FxHashSet::default(),
    };
    for (id, is_added, text) in all {
        if (id as usize) < builder.len() {
            if text != last {
                let pointer = if is_added { "/added_tokens" } else { "/model/vocab" };
                return Err(errors::id_twice(pointer, id, last, text));
            }
            continue;
        }
        while builder.len() < id as usize {
            builder.push(b"");
        }
        bytes.clear();
        if is_added && file.decoder.is_none() {
            bytes.extend_from_slice(text.as_bytes());
        } else if let Some(normalizer) = file.normalizer.as_ref().filter(|_| normalized.contains(&id)) {
            map.apply(&normalizer::normalized(normalizer, text, limits.token_bytes)?, &mut bytes)?;
        } else {
            map.apply(text, &mut bytes)?;
        }
        builder.push(&bytes);
        if builder.failed() {
            break;
        }
        last = text;
    }
    Ok(builder)
}

/// The special tokens with their names: the added tokens that the file or the options make special, and the model's
/// unknown token. Tokens with an empty name are left out.
fn specials<'a>(
    file: &'a File,
    model: &'a Model,
    also: &'a AddedTokens,
) -> impl Iterator<Item = (u32, &'a str)> {
    let is_special = |token: &&AddedToken| token.special || also.has(&token.content);
    let added = file.added().filter(is_special).map(|token| (token.id, token.content.as_str()));
    let unknown = model.vocab.as_ref().and_then(|vocab| {
        let name = model.unk_token.as_deref();
        vocab.iter().find(|&(id, text)| name == Some(text) || model.unk_id == Some(id))
    });
    added.chain(unknown).filter(|(_, name)| !name.is_empty())
}
