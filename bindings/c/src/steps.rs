//! Steps of a matcher: masks, accepting, and rolling back.

use crate::error::GrammataError;
use crate::failure::GrammataStatus;
use crate::matcher::GrammataMatcher;
use crate::raw::run;
use crate::vocabulary::in_range;
use std::ffi::c_char;

/// Writes the mask of the tokens that may come next: token `i` is bit `i % 32` of word `i / 32`. `count` is the number
/// of words of the buffer, at least `grammata_vocabulary_mask_words`; words beyond the mask are cleared. After an
/// end-of-sequence token the mask is empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_fill_mask(
    matcher: *mut GrammataMatcher,
    words: *mut u32,
    count: usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        let mut matcher = GrammataMatcher::acquire(&call, matcher)?;
        matcher.matcher().fill_mask(call.list_mut(words, count, "words")?)
    })
}

/// Writes the mask within a budget: at most `budget` tokens are still to come, including the next one, without the
/// end-of-sequence token. If this returns OK, then after each token of the mask it returns OK for a budget smaller by
/// one: the text will be complete within the budget. GRAMMATA_STATUS_REJECTED if no complete text is known within it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_fill_mask_within(
    matcher: *mut GrammataMatcher,
    budget: usize,
    words: *mut u32,
    count: usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        let mut matcher = GrammataMatcher::acquire(&call, matcher)?;
        matcher.matcher().fill_mask_within(budget, call.list_mut(words, count, "words")?)
    })
}

/// Accepts a token. If the mask does not allow it, the status is GRAMMATA_STATUS_REJECTED, and the matcher does not
/// move.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_accept_token(
    matcher: *mut GrammataMatcher,
    token: u32,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        let mut matcher = GrammataMatcher::acquire(&call, matcher)?;
        let token = in_range(matcher.compiled().vocabulary(), token)?;
        matcher.accept_token(token)
    })
}

/// Accepts a token if the mask allows it: `*accepted` is whether it does. A rejected token costs no more than an
/// accepted one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_try_accept(
    matcher: *mut GrammataMatcher,
    token: u32,
    accepted: *mut bool,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        call.set(accepted, false, "accepted")?;
        let mut matcher = GrammataMatcher::acquire(&call, matcher)?;
        let token = in_range(matcher.compiled().vocabulary(), token)?;
        call.set(accepted, matcher.try_accept(token)?, "accepted")
    })
}

/// Accepts the longest allowed prefix of the tokens, such as a draft of speculative decoding, each token as a step.
/// `*accepted` is its length. The status is OK even if it is 0; the matcher is after the accepted tokens, also if a
/// later token fails the call, as one outside the vocabulary does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_accept_tokens(
    matcher: *mut GrammataMatcher,
    tokens: *const u32,
    count: usize,
    accepted: *mut usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
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

/// The length of the longest prefix of the tokens that is allowed. The matcher does not move.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_validate_tokens(
    matcher: *mut GrammataMatcher,
    tokens: *const u32,
    count: usize,
    valid: *mut usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
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

/// Accepts bytes, as one step. If no completion continues so, the status is GRAMMATA_STATUS_REJECTED, and the matcher
/// does not move.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_accept_bytes(
    matcher: *mut GrammataMatcher,
    bytes: *const c_char,
    length: usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        let mut matcher = GrammataMatcher::acquire(&call, matcher)?;
        matcher.accept_bytes(call.bytes(bytes, length, "bytes")?)
    })
}

/// Accepts bytes as one step if some completion begins with them: `*accepted` is whether one does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_try_accept_bytes(
    matcher: *mut GrammataMatcher,
    bytes: *const c_char,
    length: usize,
    accepted: *mut bool,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        call.set(accepted, false, "accepted")?;
        let mut matcher = GrammataMatcher::acquire(&call, matcher)?;
        let took = matcher.try_accept_bytes(call.bytes(bytes, length, "bytes")?)?;
        call.set(accepted, took, "accepted")
    })
}

/// Undoes the last `steps` steps.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_rollback(
    matcher: *mut GrammataMatcher,
    steps: usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| GrammataMatcher::acquire(&call, matcher)?.rollback(steps))
}

/// Returns to the beginning of the text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_reset(
    matcher: *mut GrammataMatcher,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        GrammataMatcher::acquire(&call, matcher)?.reset();
        Ok(())
    })
}
