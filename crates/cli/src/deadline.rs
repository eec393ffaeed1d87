//! Deadlines of commands that the user names.

use std::time::Duration;

/// Seconds in a day, the longest deadline.
const DAY: f64 = 86_400.0;

/// Reads a deadline in seconds.
pub(super) fn deadline(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    match seconds > 0.0 && seconds <= DAY {
        true => Ok(Duration::from_secs_f64(seconds)),
        false => Err(format!("not more than 0 and at most {DAY}")),
    }
}
