//! Ends the server on signals.

use crate::errors;
use grammata::error::Result;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use tokio::sync::oneshot;

/// Returns what tells a [`Server`](crate::Server) to stop at the first `SIGTERM` or `SIGINT`. The second one ends the
/// process at once.
///
/// # Errors
/// The handlers or their thread cannot be set up.
pub fn stop_on_signals() -> Result<oneshot::Receiver<()>> {
    let mut signals = Signals::new([SIGTERM, SIGINT]).map_err(|cause| errors::no_thread(&cause))?;
    let (stop, stopped) = oneshot::channel();
    let wait = move || {
        let mut stop = Some(stop);
        for signal in signals.forever() {
            match stop.take() {
                Some(stop) => drop(stop.send(())),
                None => drop(emulate_default_handler(signal)),
            }
        }
    };
    let thread = std::thread::Builder::new().name("signals".to_owned()).spawn(wait);
    thread.map_err(|cause| errors::no_thread(&cause))?;
    Ok(stopped)
}
