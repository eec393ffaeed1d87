//! Mistral's `tekken.json`: byte-level BPE, with the bytes of each token in base64.
//!
//! `config` gives the number of ids (`default_vocab_size`) and how many of them, from 0, are special
//! (`default_num_special_tokens`). The tokens of `vocab` follow in the order of their ranks until all ids are used: a
//! file may have more tokens than its model uses. `special_tokens` has the names of special tokens; files up to version
//! 7 omit it, and their special tokens are the first entries of `OLD_SPECIALS`. A special id without a name is called
//! `<SPECIAL_N>`, as in the model's `tokenizer.json`.

use super::{LoadOptions, finish_without_added};
use crate::error::Result;
use crate::limits::{LimitKind, Limits};
use crate::vocabulary::{TokenId, Vocabulary, VocabularyBuilder, errors};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustc_hash::FxHashSet;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// Maximum number of special tokens of a file; real files have 1,000. The bound limits memory, since each special token
/// has a name.
const MOST_SPECIALS: usize = 1 << 16;

/// The special tokens of files that do not list them, by id.
const OLD_SPECIALS: [&str; 20] = [
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
];

/// The fields that distinguish a `tekken.json` from other JSON objects.
#[derive(Deserialize)]
struct Outline {
    model: Option<IgnoredAny>,
    config: Option<IgnoredAny>,
    vocab: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object with `config` and `vocab`")]
struct File {
    config: Config,
    vocab: Vec<Token>,
    special_tokens: Option<Vec<Special>>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object with `default_vocab_size` and `default_num_special_tokens`")]
struct Config {
    default_vocab_size: usize,
    default_num_special_tokens: usize,
}

#[derive(Deserialize)]
#[serde(expecting = "a token, an object with `rank` and `token_bytes`")]
struct Token {
    rank: usize,
    token_bytes: Box<str>,
}

#[derive(Deserialize)]
#[serde(expecting = "a special token, an object with `rank` and `token_str`")]
struct Special {
    rank: usize,
    token_str: String,
}

/// Whether a JSON object is a `tekken.json`: it has `config` and `vocab`, and lacks the `model` of a `tokenizer.json`.
pub(super) fn is_one(content: &[u8]) -> bool {
    serde_json::from_slice::<Outline>(content)
        .is_ok_and(|outline| outline.model.is_none() && outline.config.is_some() && outline.vocab.is_some())
}

/// Reads the content of a `tekken.json`.
///
/// # Errors
///
/// `vocabulary/json` if the file does not have the form that the [module](self) describes. `vocabulary/tekken` if
/// `config` gives more special tokens than ids, or more than 65,536; if ranks are out of order; if a token is not
/// base64 or has no bytes; if there are fewer tokens than `config` says; if the rank of a special token is not below
/// the number of special tokens; or if a special token has no name, or the name or rank of another one. Tokens of
/// `vocab` beyond the number that the model uses are not checked. And the errors of [`Vocabulary::from_file`].
pub fn load(content: &[u8], options: &LoadOptions) -> Result<Vocabulary> {
    let limits = &options.limits;
    super::check_size(content.len(), limits)?;
    let file: File = serde_json::from_slice(content).map_err(|cause| errors::json(content, &cause))?;
    let (size, specials) = (file.config.default_vocab_size, file.config.default_num_special_tokens);
    if size > limits.vocabulary_tokens {
        let found = format!("`default_vocab_size` {size}");
        return Err(Limits::exceeded(LimitKind::VocabularyTokens, limits.vocabulary_tokens, found));
    }
    if specials > MOST_SPECIALS.min(size) {
        let allowed = format!("at most {}", MOST_SPECIALS.min(size));
        return Err(errors::tekken(
            "/config/default_num_special_tokens",
            "more special tokens than there can be",
            &specials.to_string(),
            &allowed,
        ));
    }
    let used = size - specials;
    if file.vocab.len() < used {
        let found = file.vocab.len().to_string();
        let allowed = format!("{used} or more: `default_vocab_size` less `default_num_special_tokens`");
        return Err(errors::tekken("/vocab", "fewer tokens than `config` says", &found, &allowed));
    }
    let mut builder = VocabularyBuilder::new(limits);
    for _ in 0..specials {
        builder.push(b"");
    }
    for (place, token) in file.vocab.iter().take(used).enumerate() {
        builder.push(&bytes(place, token)?);
        if builder.failed() {
            break;
        }
    }
    for (id, name) in names(file.special_tokens, specials)?.into_iter().enumerate() {
        builder = builder.special(TokenId::new(id as u32), name);
    }
    finish_without_added(builder, options)
}

/// Decodes the bytes of a token, and checks its rank.
fn bytes(place: usize, token: &Token) -> Result<Vec<u8>> {
    if token.rank != place {
        return Err(errors::tekken(
            &format!("/vocab/{place}/rank"),
            "the ranks are not in order",
            &token.rank.to_string(),
            &format!("{place}, its place in `vocab`"),
        ));
    }
    let wrong = |what| {
        errors::tekken(&format!("/vocab/{place}/token_bytes"), what, &token.token_bytes, "bytes in base64")
    };
    match STANDARD.decode(&*token.token_bytes) {
        Ok(bytes) if bytes.is_empty() => Err(wrong("a token has no bytes")),
        Ok(bytes) => Ok(bytes),
        Err(_) => Err(wrong("a token is not in base64")),
    }
}

/// The name of each special id, in ascending order of the `count` ids.
fn names(listed: Option<Vec<Special>>, count: usize) -> Result<Vec<String>> {
    let old = |(rank, &name): (usize, &&str)| Special { rank, token_str: name.to_owned() };
    let listed = listed.unwrap_or_else(|| OLD_SPECIALS.iter().take(count).enumerate().map(old).collect());
    let mut names: Vec<Option<String>> = vec![None; count];
    let mut known = FxHashSet::default();
    for (place, special) in listed.into_iter().enumerate() {
        let wrong = |what, allowed: &str| {
            errors::tekken(&format!("/special_tokens/{place}/rank"), what, &special.rank.to_string(), allowed)
        };
        if special.token_str.is_empty() || !known.insert(special.token_str.clone()) {
            return Err(errors::tekken(
                &format!("/special_tokens/{place}/token_str"),
                "a special token has no name, or the name of an earlier one",
                &special.token_str,
                "a name of one character or more, each once",
            ));
        }
        match names.get_mut(special.rank) {
            Some(name @ None) => *name = Some(special.token_str),
            Some(_) => return Err(wrong("two special tokens have one rank", "each rank once")),
            None => {
                let allowed = format!("less than {count}, which is `default_num_special_tokens`");
                return Err(wrong("the rank of a special token is too large", &allowed));
            }
        }
    }
    let named = names.into_iter().enumerate();
    Ok(named.map(|(id, name)| name.unwrap_or_else(|| format!("<SPECIAL_{id}>"))).collect())
}
