//! Steps of a matcher: masks, what is accepted, and what is taken back.

use crate::error::GrammataError;
use crate::failure::GrammataStatus;
use crate::matcher::GrammataMatcher;
use crate::raw::Call;
use crate::vocabulary::in_range;
use std::ffi::c_char;

/// Writes the mask of the tokens that may come next: bit `i % 32` of word `i / 32` for token `i`. `count` is that of the words
/// that there is room for, `grammata_vocabulary_mask_words` at least; those past the mask are cleared. After an end-of-sequence
/// token nothing may come.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_fill_mask(
    matcher: *mut GrammataMatcher,
    words: *mut u32,
    count: usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        let mut matcher = GrammataMatcher::acquire(&call, matcher)?;
        Ok(matcher.fill_mask(call.list_mut(words, count, "words")?)?)
    })
}

/// Writes the mask within a budget: at most `budget` tokens are still to come, the next one among them, the end-of-sequence
/// token not. If this is OK once, then after each token of the mask it is OK for a budget less by one: the text is complete
/// within the budget. GRAMMATA_STATUS_REJECTED if no text is known that short.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_fill_mask_within(
    matcher: *mut GrammataMatcher,
    budget: usize,
    words: *mut u32,
    count: usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        let mut matcher = GrammataMatcher::acquire(&call, matcher)?;
        Ok(matcher.fill_mask_within(budget, call.list_mut(words, count, "words")?)?)
    })
}

/// Accepts a token. GRAMMATA_STATUS_REJECTED if the mask does not allow it; the matcher then stays where it was.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_accept_token(
    matcher: *mut GrammataMatcher,
    token: u32,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        let mut matcher = GrammataMatcher::acquire(&call, matcher)?;
        let token = in_range(matcher.compiled().vocabulary(), token)?;
        Ok(matcher.accept_token(token)?)
    })
}

/// Accepts a token if the mask allows it: `*accepted` says whether it does. A refusal costs no more than an acceptance.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_try_accept(
    matcher: *mut GrammataMatcher,
    token: u32,
    accepted: *mut bool,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        call.set(accepted, false, "accepted")?;
        let mut matcher = GrammataMatcher::acquire(&call, matcher)?;
        let token = in_range(matcher.compiled().vocabulary(), token)?;
        call.set(accepted, matcher.try_accept(token)?, "accepted")
    })
}

/// Accepts tokens until one is rejected, each as a step: `*accepted` is how many were. That is OK, also if it is none: the matcher
/// stands after the accepted ones. So drafts of speculative decoding are taken as far as they fit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_accept_tokens(
    matcher: *mut GrammataMatcher,
    tokens: *const u32,
    count: usize,
    accepted: *mut usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        call.set(accepted, 0, "accepted")?;
        let mut matcher = GrammataMatcher::acquire(&call, matcher)?;
        let tokens = call.list(tokens, count, "tokens")?;
        for (before, &token) in tokens.iter().enumerate() {
            let token = in_range(matcher.compiled().vocabulary(), token)?;
            if !matcher.try_accept(token)? {
                break;
            }
            call.set(accepted, before + 1, "accepted")?;
        }
        Ok(())
    })
}

/// How many tokens could be accepted one after the other. The matcher does not move.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_validate_tokens(
    matcher: *mut GrammataMatcher,
    tokens: *const u32,
    count: usize,
    valid: *mut usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        let mut ahead = GrammataMatcher::acquire(&call, matcher)?.fork();
        let tokens = call.list(tokens, count, "tokens")?;
        let mut fine = 0;
        for &token in tokens {
            let token = in_range(ahead.compiled().vocabulary(), token)?;
            if !ahead.try_accept(token)? {
                break;
            }
            fine += 1;
        }
        call.set(valid, fine, "valid")
    })
}

/// Accepts bytes, as one step. GRAMMATA_STATUS_REJECTED if no word goes on so; the matcher then stays where it was.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_accept_bytes(
    matcher: *mut GrammataMatcher,
    bytes: *const c_char,
    length: usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        let mut matcher = GrammataMatcher::acquire(&call, matcher)?;
        Ok(matcher.accept_bytes(call.bytes(bytes, length, "bytes")?)?)
    })
}

/// Accepts bytes as one step if a word goes on so: `*accepted` says whether one does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_try_accept_bytes(
    matcher: *mut GrammataMatcher,
    bytes: *const c_char,
    length: usize,
    accepted: *mut bool,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        call.set(accepted, false, "accepted")?;
        let mut matcher = GrammataMatcher::acquire(&call, matcher)?;
        let took = matcher.try_accept_bytes(call.bytes(bytes, length, "bytes")?)?;
        call.set(accepted, took, "accepted")
    })
}

/// Takes back the last `steps` steps.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_rollback(
    matcher: *mut GrammataMatcher,
    steps: usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || Ok(GrammataMatcher::acquire(&call, matcher)?.rollback(steps)?))
}

/// Back to the beginning.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_reset(
    matcher: *mut GrammataMatcher,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        GrammataMatcher::acquire(&call, matcher)?.reset();
        Ok(())
    })
}
