//! Matchers: one text under a grammar.

use crate::abi::LlgConstraintInit;
use crate::border::Call;
use crate::errors;
use crate::grammar;
use crate::state::{Following, State, warn};
use engine::{Error, Result};
use std::ffi::c_char;
use std::sync::{Arc, Mutex, MutexGuard};

/// One text under a grammar. Concurrent calls from several threads wait for each other.
pub struct LlgMatcher {
    state: Mutex<State>,
    mask_bytes: usize,
}

/// Environment variable with the number of tokens within which each text should be complete; the functions have no
/// argument for it. A value that is not a number is ignored.
const BUDGET: &str = "GRAMMATA_LLG_BUDGET";

/// The error message for a NULL handle.
const NO_MATCHER: &std::ffi::CStr = c"error[llg/null] `matcher` is NULL";

impl LlgMatcher {
    fn new(
        call: &Call,
        init: *const LlgConstraintInit,
        kind: *const c_char,
        data: *const c_char,
    ) -> LlgMatcher {
        let mut mask_bytes = 0;
        let made = call.run(|| {
            let init = call.reference(init, "init")?;
            let tokenizer = Arc::clone(&call.reference(init.tokenizer, "tokenizer")?.0);
            mask_bytes = tokenizer.vocabulary.mask_words() * size_of::<u32>();
            let source = grammar::source(call.text(kind, "constraint_type")?, call.text(data, "data")?)?;
            let grammar = tokenizer.grammars.get(&source)?;
            if init.log_stderr_level > 0 {
                grammar.warnings.iter().for_each(|warning| warn(&warning.to_string()));
            }
            let budget = std::env::var(BUDGET).ok().and_then(|text| text.parse().ok());
            Ok(Following::new(tokenizer, grammar.compiled.matcher(), budget))
        });
        let state =
            made.map_or_else(|error| State::failed(&error), |following| State::Following(following.into()));
        LlgMatcher { state: Mutex::new(state), mask_bytes }
    }

    /// Locks the state. If a panic left it in an unknown state, it becomes a failure.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| {
            self.state.clear_poison();
            let mut state = poisoned.into_inner();
            *state = State::failed(&errors::panicked(&"in an earlier call"));
            state
        })
    }
}

/// Runs `work` on a matcher. Returns 0 on success, and -1 if it fails or an earlier error exists.
fn advance(call: &Call, matcher: *const LlgMatcher, work: impl FnOnce(&mut Following) -> Result<()>) -> i32 {
    let done = call.run(|| Ok(call.reference(matcher, "matcher")?.state().advance(work)));
    if done.is_ok_and(|is_done| is_done) { 0 } else { -1 }
}

/// Makes a matcher. It is never NULL: `llg_matcher_get_error` reports errors in the grammar.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn llg_new_matcher(
    init: *const LlgConstraintInit,
    constraint_type: *const c_char,
    data: *const c_char,
) -> *mut LlgMatcher {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.give(LlgMatcher::new(&call, init, constraint_type, data))
}

/// Makes an independent matcher at the same place. NULL for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn llg_clone_matcher(matcher: *const LlgMatcher) -> *mut LlgMatcher {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    let copy = |matcher: &LlgMatcher| {
        let state = match &*matcher.state() {
            State::Following(following) => State::Following(following.fork().into()),
            State::Failed(message) => State::Failed(message.clone()),
        };
        LlgMatcher { state: Mutex::new(state), mask_bytes: matcher.mask_bytes }
    };
    let made: Result<LlgMatcher, Error> = call.run(|| call.reference(matcher, "matcher").map(copy));
    made.map_or(std::ptr::null_mut(), |matcher| call.give(matcher))
}

/// Frees a matcher.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn llg_free_matcher(matcher: *mut LlgMatcher) {
    // SAFETY: the contract of the header
    unsafe { Call::new() }.free(matcher);
}

/// The error message of a matcher; NULL if it has none. The text lives as long as the matcher. For NULL it is a static
/// message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn llg_matcher_get_error(matcher: *const LlgMatcher) -> *const c_char {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    let found = call.run(|| {
        Ok(match &*call.reference(matcher, "matcher")?.state() {
            State::Following(_) => std::ptr::null(),
            State::Failed(message) => message.as_ptr(),
        })
    });
    found.unwrap_or(NO_MATCHER.as_ptr())
}

/// Accepts a token. Returns 0, or -1 if the mask does not allow it or an earlier error exists. Errors are permanent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn llg_matcher_consume_token(matcher: *mut LlgMatcher, token: u32) -> i32 {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    advance(&call, matcher, |following| following.accept(token))
}

/// Computes the mask of the tokens that may come next. Returns 0, or -1 if this fails or an earlier error exists.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn llg_matcher_compute_mask(matcher: *mut LlgMatcher) -> i32 {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    advance(&call, matcher, Following::fill)
}

/// The mask computed since the last step: token `i` is bit `i % 32` of word `i / 32`. NULL if there is none. It is
/// valid until the next call on the matcher.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn llg_matcher_get_mask(matcher: *const LlgMatcher) -> *const u32 {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    let found = call.run(|| {
        Ok(match &*call.reference(matcher, "matcher")?.state() {
            State::Following(following) => following.mask().map_or(std::ptr::null(), <[u32]>::as_ptr),
            State::Failed(_) => std::ptr::null(),
        })
    });
    found.unwrap_or(std::ptr::null())
}

/// The length of a mask in bytes. 0 if the matcher has no tokenizer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn llg_matcher_get_mask_byte_size(matcher: *const LlgMatcher) -> usize {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.reference(matcher, "matcher").map_or(0, |matcher| matcher.mask_bytes)
}

/// Returns to the beginning of the text. Returns 0, or -1 if an earlier error exists.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn llg_matcher_reset(matcher: *mut LlgMatcher) -> i32 {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    advance(&call, matcher, |following| {
        following.reset();
        Ok(())
    })
}
