//! Explanations: at which byte a text leaves the grammar, and what was expected there.

use crate::error::{GrammataError, c_string};
use crate::failure::GrammataStatus;
use crate::matcher::GrammataMatcher;
use crate::raw::{Call, ask, free, make};
use crate::vocabulary::in_range;
use engine::matcher::Explanation;
use std::ffi::{CString, c_char};

/// How the grammar reads a text.
pub struct GrammataExplanation {
    explanation: Explanation,
    text: CString,
    expected: CString,
}

impl GrammataExplanation {
    fn new(explanation: Explanation) -> GrammataExplanation {
        GrammataExplanation {
            text: c_string(&explanation.to_string()),
            expected: c_string(&explanation.expected_text()),
            explanation,
        }
    }
}

/// Explains how the grammar reads bytes after those accepted so far. The matcher does not move.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_explain(
    matcher: *mut GrammataMatcher,
    bytes: *const c_char,
    length: usize,
    out: *mut *mut GrammataExplanation,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    make!(error, out, |call| {
        let mut matcher = GrammataMatcher::acquire(&call, matcher)?;
        let bytes = call.bytes(bytes, length, "bytes")?;
        Ok(GrammataExplanation::new(matcher.matcher().explain(bytes)?))
    })
}

/// Explains how the grammar reads a token. The matcher does not move.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_explain_token(
    matcher: *mut GrammataMatcher,
    token: u32,
    out: *mut *mut GrammataExplanation,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    make!(error, out, |call| {
        let mut matcher = GrammataMatcher::acquire(&call, matcher)?;
        let token = in_range(matcher.compiled().vocabulary(), token)?;
        Ok(GrammataExplanation::new(matcher.matcher().explain_token(token)?))
    })
}

/// Whether the text can be completed. False for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_explanation_is_viable(explanation: *const GrammataExplanation) -> bool {
    ask!(explanation, false, |handle| handle.explanation.is_viable())
}

/// Whether the text may end at the position. False for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_explanation_may_end(explanation: *const GrammataExplanation) -> bool {
    ask!(explanation, false, |handle| handle.explanation.may_end())
}

/// The length in bytes, from the beginning of the sequence, of the longest prefix that some word of the grammar begins
/// with. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_explanation_position(explanation: *const GrammataExplanation) -> usize {
    ask!(explanation, 0, |handle| handle.explanation.position())
}

/// The byte at which the text leaves the grammar; -1 if it does not, and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_explanation_found(explanation: *const GrammataExplanation) -> i32 {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.any(explanation).and_then(|handle| handle.explanation.found()).map_or(-1, i32::from)
}

/// What was expected at the position, on one line.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_explanation_expected(
    explanation: *const GrammataExplanation,
) -> *const c_char {
    ask!(explanation, std::ptr::null(), |handle| handle.expected.as_ptr())
}

/// The whole explanation, on one line.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_explanation_text(explanation: *const GrammataExplanation) -> *const c_char {
    ask!(explanation, std::ptr::null(), |handle| handle.text.as_ptr())
}

/// Frees an explanation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_explanation_free(explanation: *mut GrammataExplanation) {
    free!(explanation);
}
