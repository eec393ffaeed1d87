//! Signals that end the guard.

use crate::errors;
use crate::transport::{GRACE, spawn};
use grammata::error::Result;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// From now on, `SIGTERM` and `SIGINT` end the servers that were started as child processes, and then this process. A
/// server that does not end within two seconds is killed.
///
/// # Errors
/// `guard/thread` if no thread can be started, or if the system permits no handler.
pub fn end_servers_on_signals() -> Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT]).map_err(|cause| errors::thread(&cause))?;
    spawn(move || {
        if let Some(signal) = signals.forever().next() {
            grammata_process::end_all(GRACE);
            let _ = emulate_default_handler(signal);
        }
    })
}
