//! The version, and what limits there are.

use engine::Limits;
use std::ffi::{CString, c_char};
use std::sync::OnceLock;

/// The version of this header: its first number.
pub const GRAMMATA_VERSION_MAJOR: u32 = 0;
/// The second number.
pub const GRAMMATA_VERSION_MINOR: u32 = 1;
/// The third number.
pub const GRAMMATA_VERSION_PATCH: u32 = 0;

/// The version of the package, number by number.
const fn number(text: &str) -> u32 {
    let (bytes, mut value, mut at) = (text.as_bytes(), 0, 0);
    while at < bytes.len() {
        value = value * 10 + (bytes[at] - b'0') as u32;
        at += 1;
    }
    value
}

/// The header is of this package.
const _: () = assert!(
    number(env!("CARGO_PKG_VERSION_MAJOR")) == GRAMMATA_VERSION_MAJOR
        && number(env!("CARGO_PKG_VERSION_MINOR")) == GRAMMATA_VERSION_MINOR
        && number(env!("CARGO_PKG_VERSION_PATCH")) == GRAMMATA_VERSION_PATCH
);

/// The version of the library that is linked, such as `0.1.0`.
#[unsafe(no_mangle)]
pub extern "C" fn grammata_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// All limits with their defaults, as a JSON object: what `limits` in the options of vocabularies and compilers may have. NULL
/// only after a defect of the library.
#[unsafe(no_mangle)]
pub extern "C" fn grammata_default_limits() -> *const c_char {
    static TEXT: OnceLock<CString> = OnceLock::new();
    let text = || serde_json::to_string(&Limits::default()).ok().and_then(|text| CString::new(text).ok());
    match TEXT.get() {
        Some(known) => known.as_ptr(),
        None => text().map_or(std::ptr::null(), |text| TEXT.get_or_init(|| text).as_ptr()),
    }
}
