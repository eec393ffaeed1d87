//! Matchers: how they are made, and what they know without taking a step.

use crate::error::GrammataError;
use crate::failure::{GrammataStatus, Result};
use crate::grammar::GrammataGrammar;
use crate::raw::{Call, Exclusive, Using};
use crate::vocabulary::in_range;
use engine::mask::Distance;
use engine::{Matcher, TokenId};
use std::ffi::c_char;

/// One sequence under a grammar.
pub struct GrammataMatcher(Exclusive<Matcher>);

/// What is known of a distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum GrammataDistance {
    /// The number does, and no fewer.
    Exact = 0,
    /// The number is known to do; whether fewer would, is not.
    AtMost = 1,
    /// The vocabulary cannot spell any completion. There is no number.
    Unreachable = 2,
    /// No completion was found within the limits. There is no number.
    Unknown = 3,
}

impl GrammataMatcher {
    pub(crate) fn new(matcher: Matcher) -> GrammataMatcher {
        GrammataMatcher(Exclusive::new(matcher))
    }

    /// The matcher of a handle, if no other call is using it.
    pub(crate) fn acquire<'a>(call: &'a Call, handle: *const GrammataMatcher) -> Result<Using<'a, Matcher>> {
        call.handle(handle, "matcher")?.0.acquire()
    }
}

/// Makes a matcher at the beginning of a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_new(
    grammar: *const GrammataGrammar,
    out: *mut *mut GrammataMatcher,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        call.clear(out)?;
        let grammar = call.handle(grammar, "grammar")?;
        call.give(out, GrammataMatcher::new(grammar.compiled.matcher()))
    })
}

/// Makes a matcher at the beginning of a text that ends with these tokens, in place of the vocabulary's end-of-sequence tokens: the
/// `stop_token_ids` of a request. A mask has each of them exactly where the text may end, and none of the others; only a token
/// terminal that lists a token takes it elsewhere. GRAMMATA_STATUS_USAGE if there are none, or one is outside of the vocabulary.
///
/// A token that is ordinary text is text no longer. The grammar is compiled again for each such call: fork the matcher if more are
/// needed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_new_with_end_tokens(
    grammar: *const GrammataGrammar,
    tokens: *const u32,
    count: usize,
    out: *mut *mut GrammataMatcher,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        call.clear(out)?;
        let grammar = call.handle(grammar, "grammar")?;
        let tokens = call.list(tokens, count, "tokens")?.iter().map(|&id| TokenId::new(id));
        call.give(out, GrammataMatcher::new(grammar.compiled.with_end_tokens(tokens)?.matcher()))
    })
}

/// Makes a matcher of its own at the same place. What was accepted so far is shared, not copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_fork(
    matcher: *mut GrammataMatcher,
    out: *mut *mut GrammataMatcher,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        call.clear(out)?;
        let fork = GrammataMatcher::acquire(&call, matcher)?.fork();
        call.give(out, GrammataMatcher::new(fork))
    })
}

/// Frees a matcher. GRAMMATA_STATUS_BUSY if another call is using it: it is then not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_free(matcher: *mut GrammataMatcher) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    if matcher.is_null() {
        return GrammataStatus::Ok;
    }
    let retired = call.run(std::ptr::null_mut(), || call.handle(matcher, "matcher")?.0.retire());
    if retired == GrammataStatus::Ok {
        call.free(matcher);
    }
    retired
}

/// The bytes accepted so far.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_bytes(
    matcher: *mut GrammataMatcher,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        let matcher = GrammataMatcher::acquire(&call, matcher)?;
        call.copy(&matcher.bytes(), buffer.cast(), capacity, length)
    })
}

/// How many steps were accepted so far and can be rolled back. A step is one token, or the bytes of one call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_steps(
    matcher: *mut GrammataMatcher,
    steps: *mut usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || call.set(steps, GrammataMatcher::acquire(&call, matcher)?.steps(), "steps"))
}

/// Whether the text so far is a word of the grammar, so that it may end here.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_is_accepting(
    matcher: *mut GrammataMatcher,
    answer: *mut bool,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        let accepting = GrammataMatcher::acquire(&call, matcher)?.is_accepting();
        call.set(answer, accepting, "answer")
    })
}

/// Whether the text has ended, or is a word that nothing can be added to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_is_finished(
    matcher: *mut GrammataMatcher,
    answer: *mut bool,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        let finished = GrammataMatcher::acquire(&call, matcher)?.is_finished();
        call.set(answer, finished, "answer")
    })
}

/// Whether a token may come next: what the mask says of it, without a mask.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_may_come(
    matcher: *mut GrammataMatcher,
    token: u32,
    answer: *mut bool,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        let mut matcher = GrammataMatcher::acquire(&call, matcher)?;
        let token = in_range(matcher.compiled().vocabulary(), token)?;
        call.set(answer, matcher.may_come(token)?, "answer")
    })
}

/// Whether a word goes on with these bytes. Nothing is accepted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_may_continue(
    matcher: *mut GrammataMatcher,
    bytes: *const c_char,
    length: usize,
    answer: *mut bool,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        let mut matcher = GrammataMatcher::acquire(&call, matcher)?;
        let goes_on = matcher.may_continue(call.bytes(bytes, length, "bytes")?)?;
        call.set(answer, goes_on, "answer")
    })
}

/// Whether the next mask is read from the mask file that the grammar was loaded from, and nothing is computed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_is_explored(
    matcher: *mut GrammataMatcher,
    answer: *mut bool,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        let explored = GrammataMatcher::acquire(&call, matcher)?.is_explored();
        call.set(answer, explored, "answer")
    })
}

/// Whether a token is in the mask within a budget. Draw from the plain mask, ask this of the token, and draw from the mask
/// within the budget only if the answer is no: that gives the same texts as the mask within the budget, sooner.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_may_come_within(
    matcher: *mut GrammataMatcher,
    token: u32,
    budget: usize,
    answer: *mut bool,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        let mut matcher = GrammataMatcher::acquire(&call, matcher)?;
        let token = in_range(matcher.compiled().vocabulary(), token)?;
        call.set(answer, matcher.may_come_within(token, budget)?, "answer")
    })
}

/// Whether a complete text is known within a budget of tokens. GRAMMATA_STATUS_REJECTED if not; the error names the least budget
/// that is known to do.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_check_budget(
    matcher: *mut GrammataMatcher,
    budget: usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || Ok(GrammataMatcher::acquire(&call, matcher)?.check_budget(budget)?))
}

/// How few tokens lead to a complete text, the end-of-sequence token not counted. `*tokens` is 0 where there is no number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_distance(
    matcher: *mut GrammataMatcher,
    kind: *mut GrammataDistance,
    tokens: *mut usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        let distance = GrammataMatcher::acquire(&call, matcher)?.distance()?;
        call.set(kind, known(distance), "kind")?;
        call.set(tokens, distance.known().unwrap_or_default(), "tokens")
    })
}

/// How few bytes lead to a complete text, whether tokens spell them or not. `*bytes` is 0 where there is no number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_distance_in_bytes(
    matcher: *mut GrammataMatcher,
    kind: *mut GrammataDistance,
    bytes: *mut usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        let distance = GrammataMatcher::acquire(&call, matcher)?.distance_in_bytes()?;
        call.set(kind, known(distance), "kind")?;
        call.set(bytes, distance.known().unwrap_or_default(), "bytes")
    })
}

fn known(distance: Distance) -> GrammataDistance {
    match distance {
        Distance::Exact(_) => GrammataDistance::Exact,
        Distance::AtMost(_) => GrammataDistance::AtMost,
        Distance::Unreachable => GrammataDistance::Unreachable,
        Distance::Unknown => GrammataDistance::Unknown,
    }
}

/// The longest byte string that every completion begins with, 65,536 bytes at most. Empty where the text may end, where more
/// than one byte may come, or a token by its id.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_forced_bytes(
    matcher: *mut GrammataMatcher,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        let forced = GrammataMatcher::acquire(&call, matcher)?.forced_bytes()?;
        call.copy(&forced, buffer.cast(), capacity, length)
    })
}

/// Tokens that leave no choice: they spell the beginning of the forced bytes, and are tokens by their ids where nothing else may
/// come. They are not accepted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_forced_tokens(
    matcher: *mut GrammataMatcher,
    buffer: *mut u32,
    capacity: usize,
    length: *mut usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        let forced = GrammataMatcher::acquire(&call, matcher)?.forced_tokens()?;
        let ids: Vec<u32> = forced.iter().map(|id| id.get()).collect();
        call.copy(&ids, buffer, capacity, length)
    })
}
