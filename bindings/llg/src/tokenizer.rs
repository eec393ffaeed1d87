//! Tokenizers: the tokens of a model, and the grammars compiled for them.

use crate::abi::{LlgConstraintInit, LlgTokenizerInit};
use crate::border::Call;
use crate::errors;
use engine::serve::GrammarCache;
use engine::vocabulary::{LoadOptions, TokenId, Vocabulary, VocabularyBuilder};
use engine::{Compiler, Limits, Result};
use std::collections::BTreeSet;
use std::ffi::c_char;
use std::sync::Arc;

/// The tokens of a model. Clones of a handle share everything.
#[derive(Clone)]
pub struct LlgTokenizer(pub(crate) Arc<Tokenizer>);

/// The data shared by handles.
pub(crate) struct Tokenizer {
    pub(crate) vocabulary: Arc<Vocabulary>,
    pub(crate) grammars: GrammarCache,
}

/// Maximum bytes of grammars cached for later matchers with the same text.
const CACHE_BYTES: usize = 256 << 20;

/// Value of `tok_eos` if there is no such token.
const NO_TOKEN: u32 = u32::MAX;

/// First byte of the bytes of special tokens.
const SPECIAL: u8 = 0xFF;

impl Tokenizer {
    fn new(vocabulary: Vocabulary) -> Result<Tokenizer> {
        let vocabulary = Arc::new(vocabulary);
        let compiler = Compiler::new(Arc::clone(&vocabulary));
        compiler.prepare()?;
        Ok(Tokenizer { vocabulary, grammars: GrammarCache::new(compiler, CACHE_BYTES) })
    }

    fn read(call: &Call, init: &LlgTokenizerInit) -> Result<Tokenizer> {
        let vocabulary = match init.tokenizer_json.is_null() {
            true => Tokenizer::of_tokens(call, init)?,
            false => Tokenizer::of_file(call, init)?,
        };
        Tokenizer::new(vocabulary)
    }

    /// Makes a vocabulary from a list of tokens.
    fn of_tokens(call: &Call, init: &LlgTokenizerInit) -> Result<Vocabulary> {
        let width = init.vocab_size as usize;
        let lengths = call.list(init.token_lens, width, "token_lens")?;
        let sum = lengths.iter().try_fold(0usize, |sum, &length| sum.checked_add(length as usize));
        let sum = sum.ok_or_else(|| errors::no_such_size("token_bytes", usize::MAX))?;
        let mut rest = call.list(init.token_bytes, sum, "token_bytes")?;
        let mut builder = VocabularyBuilder::new(&Limits::default());
        let (mut specials, mut names) = (Vec::new(), BTreeSet::new());
        for (id, &length) in (0u32..).zip(lengths) {
            let (token, after) = rest.split_at(length as usize);
            rest = after;
            match token {
                [SPECIAL, name @ ..] => {
                    builder.push(b"");
                    let name = String::from_utf8_lossy(name).into_owned();
                    let is_new = !name.is_empty() && names.insert(name.clone());
                    // the id makes repeated or empty names unique
                    specials.push((id, if is_new { name } else { format!("{name}<[{id}]>") }));
                }
                _ => builder.push(token),
            }
        }
        for (id, name) in specials {
            builder = builder.special(TokenId::new(id), name);
        }
        builder.eos(end_token(init.tok_eos, width)?).width(width).build()
    }

    /// Makes a vocabulary from a `tokenizer.json`.
    fn of_file(call: &Call, init: &LlgTokenizerInit) -> Result<Vocabulary> {
        let text = call.text(init.tokenizer_json, "tokenizer_json")?;
        let mut options = LoadOptions::default();
        options.eos = end_token(init.tok_eos, usize::MAX)?.into_iter().collect();
        // the width is at least the file's own
        let least = Vocabulary::from_file_bytes(text.as_bytes(), &options)?.width();
        options.width = Some(least.max(init.vocab_size as usize));
        Vocabulary::from_file_bytes(text.as_bytes(), &options)
    }
}

/// The end-of-sequence token, if there is one. Fails unless it is less than `width`.
fn end_token(token: u32, width: usize) -> Result<Option<TokenId>> {
    match token {
        NO_TOKEN => Ok(None),
        _ if (token as usize) < width => Ok(Some(TokenId::new(token))),
        _ => Err(errors::token_range("tok_eos", token, width)),
    }
}

/// Fills a struct with the default parameters of a matcher.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn llg_constraint_init_set_defaults(
    init: *mut LlgConstraintInit,
    tokenizer: *const LlgTokenizer,
) {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.set(init, LlgConstraintInit::with_tokenizer(tokenizer));
}

/// Makes a tokenizer. Returns NULL on failure, with the message in `error_string`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn llg_new_tokenizer(
    tok_init: *const LlgTokenizerInit,
    error_string: *mut c_char,
    error_string_len: usize,
) -> *mut LlgTokenizer {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    match call.run(|| Tokenizer::read(&call, call.reference(tok_init, "tok_init")?)) {
        Ok(tokenizer) => call.give(LlgTokenizer(Arc::new(tokenizer))),
        Err(error) => {
            call.write_message(&error.to_string(), error_string, error_string_len);
            std::ptr::null_mut()
        }
    }
}

/// Makes another handle to a tokenizer, which must be freed separately. NULL for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn llg_clone_tokenizer(tok: *const LlgTokenizer) -> *mut LlgTokenizer {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    let tokenizer = call.run(|| Ok(call.reference(tok, "tok")?.clone()));
    tokenizer.map_or(std::ptr::null_mut(), |tokenizer| call.give(tokenizer))
}

/// Frees a handle to a tokenizer. Matchers that were made with it stay valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn llg_free_tokenizer(tok: *mut LlgTokenizer) {
    // SAFETY: the contract of the header
    unsafe { Call::new() }.free(tok);
}
