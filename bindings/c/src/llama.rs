//! Samplers for llama.cpp that forbid the tokens a grammar does not allow.

use crate::error::GrammataError;
use crate::failure::GrammataStatus;
use crate::llama_sampler::{self, GrammataLlamaInit};
use crate::matcher::GrammataMatcher;
use crate::options::{self, LlamaOptions};
use crate::raw::run;
use std::ffi::c_char;

/// `struct llama_sampler` of llama.cpp, which makes and frees it.
pub struct GrammataLlamaSampler(());

/// Makes a `llama_sampler` of llama.cpp that follows a copy of the matcher. It sets the logits of forbidden tokens to
/// minus infinity, and accepts chosen tokens. Cast `llama_sampler_init` to GrammataLlamaInit, and `*out` to `struct
/// llama_sampler *`. Put the sampler into the chain before samplers that drop tokens; the chain then owns it. Without a
/// chain, free it with `llama_sampler_free`.
///
/// Options: `budget` (maximum number of tokens to come, without the end-of-sequence token: the text will be complete
/// within them; GRAMMATA_STATUS_REJECTED if that is impossible).
///
/// `llama_sampler_reset` returns to the beginning of a text. After an error only the end-of-sequence tokens are
/// allowed, so that generation ends: see `grammata_llama_sampler_check`.
///
/// The interface is that of llama.cpp since 2024. Members that later versions have added are NULL here; there is room
/// for 32 in all. Check `sizeof(struct llama_sampler_i) <= sizeof(GrammataLlamaInterface)` when you compile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_llama_sampler(
    matcher: *mut GrammataMatcher,
    init: GrammataLlamaInit,
    options: *const c_char,
    out: *mut *mut GrammataLlamaSampler,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        call.clear(out)?;
        let matcher = GrammataMatcher::acquire(&call, matcher)?.matcher().fork();
        let LlamaOptions { budget } = options::read(&call, options)?;
        llama_sampler::make(&call, init, matcher, budget, out)
    })
}

/// Checks that a sampler made by `grammata_llama_sampler` still follows its text. Otherwise `*error` is the error it
/// met: a token that was accepted but not allowed, or a limit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_llama_sampler_check(
    sampler: *const GrammataLlamaSampler,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| llama_sampler::check(&call, sampler))
}
