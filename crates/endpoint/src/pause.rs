//! Pauses between the tries of a request.

use crate::options::Options;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, SystemTime};

/// Returns the pause after a number of tries, if the server asks for none: `pause`, doubled for each further try, at most
/// `most_pause`. A random part of up to its half is taken off, so that clients that failed together do not come back
/// together.
pub(crate) fn backoff(options: &Options, tries: u32) -> Duration {
    let whole = options.pause.saturating_mul(1 << (tries.max(1) - 1).min(16)).min(options.most_pause);
    // keys of hash maps are the standard library's random numbers
    let random = RandomState::new().build_hasher().finish();
    whole.mul_f64(1.0 - random as f64 / u64::MAX as f64 / 2.0)
}

/// Returns the pause that the header `Retry-After` asks for: a number of seconds, or the time up to a date. `date` is
/// the header `Date` of the response, by which the server's clock may differ from this one. `None` if the header is
/// neither a number nor a date.
pub(crate) fn retry_after(value: &str, date: Option<&str>) -> Option<Duration> {
    if let Ok(seconds) = value.trim().parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = httpdate::parse_http_date(value.trim()).ok()?;
    let now =
        date.and_then(|date| httpdate::parse_http_date(date.trim()).ok()).unwrap_or_else(SystemTime::now);
    Some(until.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_differ() {
        let options = Options::default().pause(Duration::from_secs(1)).most_pause(Duration::from_secs(6));
        for (tries, whole) in [(0, 1), (1, 1), (2, 2), (3, 4), (4, 6), (99, 6)] {
            let whole = Duration::from_secs(whole);
            let found: Vec<Duration> = (0..50).map(|_| backoff(&options, tries)).collect();
            assert!(found.iter().all(|pause| *pause >= whole / 2 && *pause <= whole), "{tries}: {found:?}");
            assert!(found.iter().any(|pause| *pause != found[0]), "{tries}: {found:?}");
        }
    }

    #[test]
    fn seconds_and_dates_are_read() {
        const NOW: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
        for (value, seconds) in [
            ("0", Some(0)),
            (" 17 ", Some(17)),
            ("Sun, 06 Nov 1994 08:50:37 GMT", Some(60)),
            ("Sunday, 06-Nov-94 08:49:40 GMT", Some(3)),
            ("Sun Nov  6 08:49:38 1994", Some(1)),
            ("Sun, 06 Nov 1994 08:49:07 GMT", Some(0)),
            ("-1e99", None),
            ("soon", None),
            ("", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(retry_after(value, Some(NOW)), seconds.map(Duration::from_secs), "{value}");
        }
        let later = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(100));
        for date in [None, Some("x")] {
            let found = retry_after(&later, date).unwrap();
            assert!(found > Duration::from_secs(90) && found <= Duration::from_secs(100), "{found:?}");
        }
    }
}
