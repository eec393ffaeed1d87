//! Matchers: making them, and queries that do not take a step.

use crate::error::GrammataError;
use crate::failure::{GrammataStatus, Result};
use crate::grammar::GrammataGrammar;
use crate::raw::{Call, Exclusive, Using, answer, make, run};
use crate::vocabulary::in_range;
use engine::TokenId;
use engine::mask::Distance;
use engine::matcher::EventMatcher;
use std::ffi::c_char;

/// One sequence under a grammar.
pub struct GrammataMatcher(Exclusive<EventMatcher>);

/// The kind of a distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum GrammataDistance {
    /// The number suffices, and no smaller number does.
    Exact = 0,
    /// The number suffices; whether a smaller one would is unknown.
    AtMost = 1,
    /// The vocabulary cannot spell any completion. There is no number.
    Unreachable = 2,
    /// No completion was found within the limits. There is no number.
    Unknown = 3,
}

impl GrammataMatcher {
    pub(crate) fn new(matcher: impl Into<EventMatcher>) -> GrammataMatcher {
        GrammataMatcher(Exclusive::new(matcher.into()))
    }

    /// The matcher of a handle, unless another call is using it.
    pub(crate) fn acquire<'a>(
        call: &'a Call,
        handle: *const GrammataMatcher,
    ) -> Result<Using<'a, EventMatcher>> {
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
    make!(error, out, |call| {
        let grammar = call.handle(grammar, "grammar")?;
        Ok(GrammataMatcher::new(grammar.compiled.matcher()))
    })
}

/// Makes a matcher at the beginning of a text that ends with the given tokens instead of the vocabulary's
/// end-of-sequence tokens, like the `stop_token_ids` of a request. A mask contains each of them exactly if the text may
/// end, and none of the vocabulary's that is not given. Elsewhere only a token terminal that lists such a token allows
/// it. GRAMMATA_STATUS_USAGE if there are none, or one is outside the vocabulary.
///
/// A given token with ordinary text, or one that a set "all tokens but these" contains, no longer counts as text. In
/// this case each call of this function compiles the grammar again. To get more matchers, fork the first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_new_with_end_tokens(
    grammar: *const GrammataGrammar,
    tokens: *const u32,
    count: usize,
    out: *mut *mut GrammataMatcher,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    make!(error, out, |call| {
        let grammar = call.handle(grammar, "grammar")?;
        let tokens = call.list(tokens, count, "tokens")?.iter().map(|&id| TokenId::new(id));
        Ok(GrammataMatcher::new(grammar.compiled.with_end_tokens(tokens)?.matcher()))
    })
}

/// Makes an independent matcher at the same place. It shares the accepted prefix instead of copying it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_fork(
    matcher: *mut GrammataMatcher,
    out: *mut *mut GrammataMatcher,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    make!(error, out, |call| {
        let fork = GrammataMatcher::acquire(&call, matcher)?.fork();
        Ok(GrammataMatcher::new(fork))
    })
}

/// Frees a matcher. If another call is using it, the status is GRAMMATA_STATUS_BUSY, and it is not freed.
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
    run!(error, |call| {
        let matcher = GrammataMatcher::acquire(&call, matcher)?;
        call.copy(&matcher.bytes(), buffer.cast(), capacity, length)
    })
}

/// The number of steps accepted so far, which can be rolled back. A step is one token, or the bytes of one call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_steps(
    matcher: *mut GrammataMatcher,
    steps: *mut usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    answer!(error, steps, |call| Ok(GrammataMatcher::acquire(&call, matcher)?.steps()))
}

/// Whether the text so far is a word of the grammar, so that it may end here.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_is_accepting(
    matcher: *mut GrammataMatcher,
    answer: *mut bool,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    answer!(error, answer, |call| Ok(GrammataMatcher::acquire(&call, matcher)?.is_accepting()))
}

/// Whether the text has ended, or is a word that cannot be extended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_is_finished(
    matcher: *mut GrammataMatcher,
    answer: *mut bool,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    answer!(error, answer, |call| Ok(GrammataMatcher::acquire(&call, matcher)?.is_finished()))
}

/// Whether a token may come next: its bit of the mask, without computing the mask.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_is_token_allowed(
    matcher: *mut GrammataMatcher,
    token: u32,
    answer: *mut bool,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    answer!(error, answer, |call| {
        let mut matcher = GrammataMatcher::acquire(&call, matcher)?;
        let token = in_range(matcher.compiled().vocabulary(), token)?;
        matcher.matcher().is_token_allowed(token)
    })
}

/// Whether some completion begins with these bytes. Nothing is accepted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_accepts_prefix(
    matcher: *mut GrammataMatcher,
    bytes: *const c_char,
    length: usize,
    answer: *mut bool,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    answer!(error, answer, |call| {
        let mut matcher = GrammataMatcher::acquire(&call, matcher)?;
        matcher.matcher().accepts_prefix(call.bytes(bytes, length, "bytes")?)
    })
}

/// Whether the next mask is read from the mask file that the grammar was loaded from, so that nothing is computed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_is_explored(
    matcher: *mut GrammataMatcher,
    answer: *mut bool,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    answer!(error, answer, |call| Ok(GrammataMatcher::acquire(&call, matcher)?.is_explored()))
}

/// Whether a token is in the mask within a budget. To sample faster, sample from the plain mask, call this with the
/// token, and sample from the mask within the budget only if the answer is false: the texts are as likely as with the
/// mask within the budget.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_is_token_allowed_within(
    matcher: *mut GrammataMatcher,
    token: u32,
    budget: usize,
    answer: *mut bool,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    answer!(error, answer, |call| {
        let mut matcher = GrammataMatcher::acquire(&call, matcher)?;
        let token = in_range(matcher.compiled().vocabulary(), token)?;
        matcher.matcher().is_token_allowed_within(token, budget)
    })
}

/// Checks that a complete text is known within a budget of tokens. Otherwise the status is GRAMMATA_STATUS_REJECTED,
/// and the error names the smallest budget known to suffice.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_check_budget(
    matcher: *mut GrammataMatcher,
    budget: usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| GrammataMatcher::acquire(&call, matcher)?.matcher().check_budget(budget))
}

/// The smallest number of tokens that lead to a complete text, without the end-of-sequence token; `*kind` says whether
/// `*tokens` is this number or only an upper bound. `*tokens` is 0 if no number is known.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_distance(
    matcher: *mut GrammataMatcher,
    kind: *mut GrammataDistance,
    tokens: *mut usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        let distance = GrammataMatcher::acquire(&call, matcher)?.matcher().distance()?;
        call.set(kind, known(distance), "kind")?;
        call.set(tokens, distance.known().unwrap_or_default(), "tokens")
    })
}

/// The smallest number of bytes that lead to a complete text, whether tokens spell them or not; `*kind` says whether
/// `*bytes` is this number or only an upper bound. `*bytes` is 0 if no number is known.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_distance_in_bytes(
    matcher: *mut GrammataMatcher,
    kind: *mut GrammataDistance,
    bytes: *mut usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        let distance = GrammataMatcher::acquire(&call, matcher)?.matcher().distance_in_bytes()?;
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

/// The longest byte string that every completion begins with, at most 65,536 bytes. It is empty if the text may end, if
/// more than one byte may come next, if a token of a token terminal may, or if a part bounded in tokens is open or may
/// follow.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_forced_bytes(
    matcher: *mut GrammataMatcher,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        let forced = GrammataMatcher::acquire(&call, matcher)?.matcher().forced_bytes()?;
        call.copy(&forced, buffer.cast(), capacity, length)
    })
}

/// Tokens that leave no choice: they spell a prefix of the forced bytes, or are the only tokens of token terminals that
/// may come. The list ends where a longer token might reach beyond the forced bytes. The tokens are not accepted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_forced_tokens(
    matcher: *mut GrammataMatcher,
    buffer: *mut u32,
    capacity: usize,
    length: *mut usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        let forced = GrammataMatcher::acquire(&call, matcher)?.matcher().forced_tokens()?;
        let ids: Vec<u32> = forced.iter().map(|id| id.get()).collect();
        call.copy(&ids, buffer, capacity, length)
    })
}
