//! Errors and their parts, as C reads them.

use crate::failure::GrammataStatus;
use crate::raw::{Call, ask, free};
use engine::Error;
use engine::diagnostic::{Diagnostic, Place};
use std::ffi::{CString, c_char};

/// The reason why a call failed: one or more messages about the input. It comes from `error` of any function, and is
/// freed with `grammata_error_free`.
pub struct GrammataError {
    status: GrammataStatus,
    text: CString,
    diagnostics: Vec<GrammataDiagnostic>,
}

/// One message of an error, or a warning of a grammar. It belongs to its error or grammar and must not be freed.
pub struct GrammataDiagnostic {
    code: CString,
    message: CString,
    text: CString,
    place: Option<CString>,
    file: Option<CString>,
    found: Option<CString>,
    cause: Option<CString>,
    allowed: Option<CString>,
    help: Option<CString>,
}

impl GrammataError {
    pub(crate) fn new(error: &Error) -> GrammataError {
        GrammataError {
            status: GrammataStatus::of(error),
            text: c_string(&error.to_string()),
            diagnostics: error.diagnostics().map(GrammataDiagnostic::new).collect(),
        }
    }
}

impl GrammataDiagnostic {
    pub(crate) fn new(diagnostic: &Diagnostic) -> GrammataDiagnostic {
        let place = match diagnostic.place() {
            Place::Whole => None,
            place => Some(c_string(&place.to_string())),
        };
        GrammataDiagnostic {
            code: c_string(diagnostic.code()),
            message: c_string(diagnostic.message()),
            text: c_string(&diagnostic.to_string()),
            place,
            file: diagnostic.file().map(c_string),
            found: diagnostic.found_text().map(c_string),
            cause: diagnostic.cause_text().map(c_string),
            allowed: diagnostic.allowed_text().map(c_string),
            help: diagnostic.help_text().map(c_string),
        }
    }
}

/// Converts text to a C string. A NUL, which would end it, is shown as U+2400.
pub(crate) fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{2400}")).unwrap_or_default()
}

/// A pointer that is valid as long as the string; NULL for `None`.
fn pointer(text: Option<&CString>) -> *const c_char {
    text.map_or(std::ptr::null(), |text| text.as_ptr())
}

/// The status that was returned with the error; OK for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_error_status(error: *const GrammataError) -> GrammataStatus {
    ask!(error, GrammataStatus::Ok, |error| error.status)
}

/// The whole error as the program prints it, over several lines.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_error_text(error: *const GrammataError) -> *const c_char {
    ask!(error, std::ptr::null(), |error| pointer(Some(&error.text)))
}

/// The code of the first message, such as `matcher/rejected`. Codes do not change from one release to the next.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_error_code(error: *const GrammataError) -> *const c_char {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    let first = call.any(error).and_then(|error| error.diagnostics.first());
    pointer(first.map(|diagnostic| &diagnostic.code))
}

/// The number of messages of an error: 1, or up to 20 if the parser of a grammar could recover. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_error_count(error: *const GrammataError) -> usize {
    ask!(error, 0, |error| error.diagnostics.len())
}

/// Message `index` of the error, counted from 0; NULL from the number of messages on. Messages with a line and a column
/// are in the order of the source, others in the order of the checks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_error_diagnostic(
    error: *const GrammataError,
    index: usize,
) -> *const GrammataDiagnostic {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    let diagnostic = call.any(error).and_then(|error| error.diagnostics.get(index));
    diagnostic.map_or(std::ptr::null(), |diagnostic| diagnostic)
}

/// Frees an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_error_free(error: *mut GrammataError) {
    free!(error);
}

/// The code of the message, such as `json-schema/unknown-type`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_diagnostic_code(diagnostic: *const GrammataDiagnostic) -> *const c_char {
    ask!(diagnostic, std::ptr::null(), |diagnostic| pointer(Some(&diagnostic.code)))
}

/// The message itself, on one line.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_diagnostic_message(diagnostic: *const GrammataDiagnostic) -> *const c_char {
    ask!(diagnostic, std::ptr::null(), |diagnostic| pointer(Some(&diagnostic.message)))
}

/// The whole message as the program prints it, without the word `error` or `warning` before it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_diagnostic_text(diagnostic: *const GrammataDiagnostic) -> *const c_char {
    ask!(diagnostic, std::ptr::null(), |diagnostic| pointer(Some(&diagnostic.text)))
}

/// The place in the input, such as `byte 9`, `line 2, column 4` or `#/properties/a`; NULL for the input as a whole.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_diagnostic_place(diagnostic: *const GrammataDiagnostic) -> *const c_char {
    ask!(diagnostic, std::ptr::null(), |diagnostic| pointer(diagnostic.place.as_ref()))
}

/// The file that contains the place; NULL if unknown.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_diagnostic_file(diagnostic: *const GrammataDiagnostic) -> *const c_char {
    ask!(diagnostic, std::ptr::null(), |diagnostic| pointer(diagnostic.file.as_ref()))
}

/// What was found at the message's place; NULL if there is nothing to show.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_diagnostic_found(diagnostic: *const GrammataDiagnostic) -> *const c_char {
    ask!(diagnostic, std::ptr::null(), |diagnostic| pointer(diagnostic.found.as_ref()))
}

/// The message of another library or the operating system; NULL if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_diagnostic_cause(diagnostic: *const GrammataDiagnostic) -> *const c_char {
    ask!(diagnostic, std::ptr::null(), |diagnostic| pointer(diagnostic.cause.as_ref()))
}

/// What is allowed at the message's place; NULL if not given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_diagnostic_allowed(diagnostic: *const GrammataDiagnostic) -> *const c_char {
    ask!(diagnostic, std::ptr::null(), |diagnostic| pointer(diagnostic.allowed.as_ref()))
}

/// One line of help; NULL if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_diagnostic_help(diagnostic: *const GrammataDiagnostic) -> *const c_char {
    ask!(diagnostic, std::ptr::null(), |diagnostic| pointer(diagnostic.help.as_ref()))
}
