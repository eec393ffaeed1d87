//! Random names of answers and calls, and the time.

use std::time::SystemTime;

/// Returns a new name that begins with `prefix`.
pub(crate) fn new(prefix: &str) -> String {
    format!("{prefix}{:032x}", rand::random::<u128>())
}

/// Returns the seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
