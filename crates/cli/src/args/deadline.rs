//! Deadlines in command-line arguments.

use std::time::Duration;

/// The longest deadline that is accepted, in seconds: one day.
const DAY: f64 = 86_400.0;

/// Parses a deadline in seconds, a number that is more than 0 and at most [`DAY`]. It may have a fraction.
pub(crate) fn deadline(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    match seconds > 0.0 && seconds <= DAY {
        true => Ok(Duration::from_secs_f64(seconds)),
        false => Err(format!("not more than 0 and at most {DAY}")),
    }
}
