//! The structs of the header, field by field.

use crate::tokenizer::LlgTokenizer;
use std::ffi::{c_char, c_void};

/// The host's tokenizer as a function: user data, bytes and their number, a token buffer and its capacity; it returns
/// the number of tokens of the bytes. It is never called, since masks need only the tokens.
pub type LlgTokenizeFn =
    Option<unsafe extern "C" fn(*const c_void, *const u8, usize, *mut u32, usize) -> usize>;

/// The tokens of a model.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LlgTokenizerInit {
    /// The number of tokens, which is also the length of the logits. With `tokenizer_json` the length is that of the
    /// file if it is greater.
    pub vocab_size: u32,
    /// The end-of-sequence token; 4294967295 if there is none.
    pub tok_eos: u32,
    /// The length of each token in bytes: `vocab_size` numbers.
    pub token_lens: *const u32,
    /// The concatenated bytes of all tokens. Those of a special token are 0xFF and its name.
    pub token_bytes: *const u8,
    /// If not NULL: the content of a `tokenizer.json`, which is read instead of `token_lens` and `token_bytes`.
    pub tokenizer_json: *const c_char,
    /// Not read.
    pub tokenize_assumes_string: bool,
    /// Not called.
    pub tokenize_fn: LlgTokenizeFn,
    /// Not read.
    pub use_approximate_greedy_tokenize_fn: bool,
    /// Not read.
    pub tokenize_user_data: *const c_void,
    /// Not read.
    pub slices: *const *const c_char,
}

/// Limits of llguidance's parser. They are in units of that parser and are not read: the engine's own limits apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct LlgParserLimits {
    /// Not read.
    pub max_items_in_row: usize,
    /// Not read.
    pub initial_lexer_fuel: u64,
    /// Not read.
    pub step_lexer_fuel: u64,
    /// Not read.
    pub step_max_items: usize,
    /// Not read.
    pub max_lexer_states: usize,
    /// Not read.
    pub max_grammar_size: usize,
    /// Not read.
    pub precompute_large_lexemes: bool,
    /// Not read.
    pub verbose_errors: bool,
}

/// The parameters of a new matcher.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LlgConstraintInit {
    /// The tokenizer.
    pub tokenizer: *const LlgTokenizer,
    /// Not read.
    pub log_buffer_level: u32,
    /// If at least 1, warnings about the grammar are written to standard error.
    pub log_stderr_level: u32,
    /// Not read: the functions that would need it are not provided.
    pub ff_tokens_ok: bool,
    /// Not read: the functions that would need it are not provided.
    pub backtrack_ok: bool,
    /// Not read.
    pub limits: LlgParserLimits,
}

impl LlgConstraintInit {
    /// llguidance's defaults: warnings go to standard error, and limits are 0, which means their defaults.
    pub(crate) fn with_tokenizer(tokenizer: *const LlgTokenizer) -> LlgConstraintInit {
        LlgConstraintInit {
            tokenizer,
            log_buffer_level: 0,
            log_stderr_level: 1,
            ff_tokens_ok: false,
            backtrack_ok: false,
            limits: LlgParserLimits::default(),
        }
    }
}
