//! Tokenization of prompts with Hugging Face's `tokenizers`.

use super::errors;
use grammata::error::Result;
use grammata::limits::{LimitKind, Limits};
use grammata_base::files;
use std::path::Path;
use std::sync::OnceLock;
#[cfg(feature = "ort")]
use tokenizers::PostProcessor as _;

/// Tokenizes prompts as in the training of the model, without truncation or padding.
#[derive(Clone, Debug)]
pub struct PromptTokenizer {
    tokenizer: tokenizers::Tokenizer,
    /// A copy of the tokenizer that reads special tokens as text; created on first use.
    literal: OnceLock<Box<tokenizers::Tokenizer>>,
}

impl PromptTokenizer {
    /// Reads a `tokenizer.json`.
    ///
    /// # Errors
    /// The file cannot be read, is larger than `limits.tokenizer_bytes` (`limit/exceeded`), or is not a valid tokenizer
    /// (`decode/tokenizer`).
    pub fn from_file(path: &Path, limits: &Limits) -> Result<PromptTokenizer> {
        let too_large = |found: u64| {
            let found = format!("{found} bytes or more");
            let error = Limits::exceeded(LimitKind::TokenizerBytes, limits.tokenizer_bytes, found);
            error.in_file(&path.display().to_string())
        };
        let bytes = files::read(path, limits.tokenizer_bytes, too_large)?;
        let mut tokenizer = tokenizers::Tokenizer::from_bytes(&bytes)
            .map_err(|e| errors::tokenizer(format!("`{}` is not a tokenizer", path.display()), e))?;
        // a prompt must not be truncated or padded silently
        tokenizer.with_padding(None);
        tokenizer
            .with_truncation(None)
            .map_err(|e| errors::tokenizer("the tokenizer cannot be set up", e))?;
        Ok(PromptTokenizer { tokenizer, literal: OnceLock::new() })
    }

    /// Returns the tokens of `text`. Special tokens in the text are recognised. With `add_special_tokens`, the tokens
    /// are added that the post-processor of the tokenizer adds, often a beginning of sequence. Do not set it for text
    /// from a chat template, which has these tokens already.
    ///
    /// # Errors
    /// `decode/tokenizer`: the tokenizer cannot process the text.
    pub fn encode(&self, text: &str, add_special_tokens: bool) -> Result<Vec<u32>> {
        let encoding = self
            .tokenizer
            .encode_fast(text, add_special_tokens)
            .map_err(|e| errors::tokenizer("the prompt cannot be cut into tokens", e))?;
        Ok(encoding.get_ids().to_vec())
    }

    /// Returns the tokens of `text`. The spelling of a special token is read as ordinary text, and no special tokens
    /// are added. Use this method for requests and other data that are put into a prompt.
    ///
    /// # Errors
    /// `decode/tokenizer`: the tokenizer cannot process the text.
    pub fn encode_literal(&self, text: &str) -> Result<Vec<u32>> {
        let literal = self.literal.get_or_init(|| {
            let mut literal = Box::new(self.tokenizer.clone());
            literal.set_encode_special_tokens(true);
            literal
        });
        let encoding = literal
            .encode_fast(text, false)
            .map_err(|e| errors::tokenizer("the prompt cannot be cut into tokens", e))?;
        Ok(encoding.get_ids().to_vec())
    }

    /// Returns the tokens of `text` with the special tokens that the tokenizer adds: at most `most` in total if the
    /// special tokens alone do not exceed `most`. Excess tokens are removed from the end of the text.
    ///
    /// # Errors
    /// `decode/tokenizer`: the tokenizer cannot process the text.
    #[cfg(feature = "ort")]
    pub(super) fn encode_truncated(&self, text: &str, most: usize) -> Result<Truncated> {
        let failed = |e| errors::tokenizer("a text cannot be cut into tokens", e);
        let mut encoding = self.tokenizer.encode_fast(text, false).map_err(failed)?;
        let added = self.tokenizer.get_post_processor().map_or(0, |processor| processor.added_tokens(false));
        let whole = encoding.len() + added;
        encoding.truncate(most.saturating_sub(added), 0, tokenizers::TruncationDirection::Right);
        let encoding = self.tokenizer.post_process(encoding, None, true).map_err(failed)?;
        Ok(Truncated { ids: encoding.get_ids().to_vec(), whole })
    }

    /// Returns the id of a token by its text, for instance `<|im_end|>`; `None` if the tokenizer has no such token.
    pub fn token_id(&self, token: &str) -> Option<u32> {
        self.tokenizer.token_to_id(token)
    }
}

/// The tokens of a text, truncated if it was too long.
#[cfg(feature = "ort")]
pub(super) struct Truncated {
    pub(super) ids: Vec<u32>,
    /// Number of tokens of the whole text, special ones included.
    pub(super) whole: usize,
}
