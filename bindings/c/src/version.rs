//! The version, and the limits.

use engine::Limits;
use std::ffi::{CString, c_char};
use std::sync::OnceLock;

/// The major version of this header.
pub const GRAMMATA_VERSION_MAJOR: u32 = 0;
/// The minor version.
pub const GRAMMATA_VERSION_MINOR: u32 = 2;
/// The patch version.
pub const GRAMMATA_VERSION_PATCH: u32 = 0;

/// Parses a decimal number of the package's version.
const fn number(text: &str) -> u32 {
    let (bytes, mut value, mut at) = (text.as_bytes(), 0, 0);
    while at < bytes.len() {
        value = value * 10 + (bytes[at] - b'0') as u32;
        at += 1;
    }
    value
}

/// The header's version must be that of this package.
const _: () = assert!(
    number(env!("CARGO_PKG_VERSION_MAJOR")) == GRAMMATA_VERSION_MAJOR
        && number(env!("CARGO_PKG_VERSION_MINOR")) == GRAMMATA_VERSION_MINOR
        && number(env!("CARGO_PKG_VERSION_PATCH")) == GRAMMATA_VERSION_PATCH
);

/// The version of the library that is linked, such as `0.2.0`.
#[unsafe(no_mangle)]
pub extern "C" fn grammata_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// All limits with their defaults, as a JSON object: the values that `limits` may have in options. NULL only after a
/// defect of the library.
#[unsafe(no_mangle)]
pub extern "C" fn grammata_default_limits() -> *const c_char {
    static TEXT: OnceLock<CString> = OnceLock::new();
    let text = || serde_json::to_string(&Limits::default()).ok().and_then(|text| CString::new(text).ok());
    match TEXT.get() {
        Some(known) => known.as_ptr(),
        None => text().map_or(std::ptr::null(), |text| TEXT.get_or_init(|| text).as_ptr()),
    }
}
