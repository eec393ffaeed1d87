//! Samplers of llama.cpp: a link of its chain that forbids the tokens a grammar does not allow.

use crate::error::GrammataError;
use crate::failure::GrammataStatus;
use crate::llama_sampler::{self, GrammataLlamaInit};
use crate::matcher::GrammataMatcher;
use crate::options::{self, LlamaOptions};
use crate::raw::Call;
use std::ffi::c_char;

/// `struct llama_sampler`. llama.cpp makes and frees it.
pub struct GrammataLlamaSampler(());

/// Makes a `llama_sampler` of llama.cpp that follows a copy of the matcher: it forbids the tokens that may not come, by a logit of minus
/// infinity, and accepts those that do. Cast `llama_sampler_init` to GrammataLlamaInit, and `*out` to `struct llama_sampler *`. Put it
/// before samplers that drop tokens into the chain, which then owns it; alone, it is freed with `llama_sampler_free`.
///
/// Options: `budget` (tokens that may still come, the end-of-sequence token not counted: the text is then complete within them;
/// GRAMMATA_STATUS_REJECTED if it cannot be).
///
/// `llama_sampler_reset` goes back to the beginning of a text. An error on the way leaves the end-of-sequence tokens alone allowed, so
/// that generation ends: see `grammata_llama_sampler_check`.
///
/// The interface is that of llama.cpp since 2024, in which later versions have further members, all NULL here; there is room for 32 in all.
/// Check `sizeof(struct llama_sampler_i) <= sizeof(GrammataLlamaInterface)` when you compile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_llama_sampler(
    matcher: *mut GrammataMatcher,
    init: GrammataLlamaInit,
    options: *const c_char,
    out: *mut *mut GrammataLlamaSampler,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        call.clear(out)?;
        let matcher = GrammataMatcher::acquire(&call, matcher)?.fork();
        let LlamaOptions { budget } = options::read(&call, options)?;
        llama_sampler::make(&call, init, matcher, budget, out)
    })
}

/// Whether a sampler made by `grammata_llama_sampler` follows its text still; otherwise `*error` is what it met: a token that was
/// accepted and not allowed, or a limit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_llama_sampler_check(
    sampler: *const GrammataLlamaSampler,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || llama_sampler::check(&call, sampler))
}
