//! Starts threads, which fails cleanly when the system has none left, or no memory.

use crate::errors;
use grammata::error::Result;
use std::io;

/// Bytes of address space that must be free when a thread of a session is started.
pub(crate) const ROOM: u64 = 16 << 20;

/// Runs a function that starts a thread, if `room` bytes of address space are free: a thread that finds none for its
/// first steps ends the whole process.
///
/// # Errors
/// The error of the function; `OutOfMemory`, without a call of it, if less is free.
pub(crate) fn with_room<T>(room: u64, start: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    if has_room(room) { start() } else { Err(io::ErrorKind::OutOfMemory.into()) }
}

/// Runs a function on a new thread.
///
/// # Errors
/// `guard/thread` if no thread can be started.
pub(crate) fn spawn(work: impl FnOnce() + Send + 'static) -> Result<()> {
    let thread = with_room(ROOM, || std::thread::Builder::new().spawn(work));
    thread.map(drop).map_err(|cause| errors::thread(&cause))
}

/// Returns whether the address space is not bounded, or `room` bytes of it are free. Nothing is allocated to find out:
/// while it was held, other threads could lack it.
#[cfg(target_os = "linux")]
fn has_room(room: u64) -> bool {
    use rustix::process::{Resource, getrlimit};
    let Some(most) = getrlimit(Resource::As).current else { return true };
    address_space().is_none_or(|used| used.saturating_add(room) <= most)
}

/// Returns the bytes of the address space that are in use; `None` if the system does not tell.
#[cfg(target_os = "linux")]
fn address_space() -> Option<u64> {
    use std::io::{BufRead, BufReader};
    let (status, _) = grammata_base::files::open("/proc/self/status".as_ref()).ok()?;
    let mut lines = BufReader::new(status).lines().map_while(io::Result::ok);
    let size = |line: String| line.strip_prefix("VmSize:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok();
    lines.find_map(size).map(|kilobytes| kilobytes << 10)
}

#[cfg(not(target_os = "linux"))]
fn has_room(_room: u64) -> bool {
    true
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #[test]
    fn the_address_space_is_known() {
        let used = super::address_space().unwrap();
        assert!((1 << 20..1 << 44).contains(&used), "{used}");
    }
}
