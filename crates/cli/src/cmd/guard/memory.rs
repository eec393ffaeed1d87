//! The memory of a guard with many threads.

use rustix::process::{Resource, getrlimit};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The environment variable that bounds the arenas of the allocator of glibc.
const ARENAS: &str = "MALLOC_ARENA_MAX";

/// If the address space of this process is bounded (`ulimit -v`), replaces the process by the same command with one
/// arena for all threads: otherwise glibc reserves 64 MiB of addresses for each of the first threads, up to the bound,
/// and the next allocation fails, which ends the process. Does nothing if the variable is set, or if the command cannot
/// be started again.
pub(super) fn restart_with_one_arena() {
    let is_bounded = getrlimit(Resource::As).current.is_some();
    if !is_bounded || std::env::var_os(ARENAS).is_some() {
        return;
    }
    let Ok(program) = std::env::current_exe() else { return };
    // returns only if it fails
    let _ = Command::new(program).args(std::env::args_os().skip(1)).env(ARENAS, "1").exec();
}
