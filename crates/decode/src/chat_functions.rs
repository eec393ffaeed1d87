//! The functions that Hugging Face gives to chat templates.

use minijinja::value::Value;
use minijinja::{Error, ErrorKind};
use std::time::SystemTime;

/// Returns the template functions `raise_exception`, which fails with its argument as the message, and `strftime_now`,
/// which formats `now` in UTC, or the time of the call if `now` is `None`.
pub(super) fn all(now: Option<SystemTime>) -> Vec<(&'static str, Value)> {
    let raise =
        |message: String| -> Result<Value, Error> { Err(Error::new(ErrorKind::InvalidOperation, message)) };
    let tell = move |format: &str| strftime(format, now.unwrap_or_else(SystemTime::now));
    vec![("raise_exception", Value::from_function(raise)), ("strftime_now", Value::from_function(tell))]
}

/// Converts JSON to a template value. A number that fits neither in 64 bits as an integer nor in a finite 64-bit float
/// becomes its text. The conversion does not use serde, because numbers of `serde_json` with arbitrary precision
/// serialise as objects. It recurses as deep as the JSON is nested; `serde_json` parses fewer than 128 levels.
pub(super) fn from_json(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::from(()),
        serde_json::Value::Bool(b) => Value::from(*b),
        serde_json::Value::Number(n) => match (n.as_i64(), n.as_u64(), n.as_f64()) {
            (Some(n), ..) => Value::from(n),
            (None, Some(n), _) => Value::from(n),
            (None, None, Some(n)) => Value::from(n),
            (None, None, None) => Value::from(n.to_string()),
        },
        serde_json::Value::String(s) => Value::from(s.as_str()),
        serde_json::Value::Array(items) => items.iter().map(from_json).collect(),
        serde_json::Value::Object(map) => {
            Value::from_pairs(map.iter().map(|(k, v)| (k.as_str(), from_json(v))))
        }
    }
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Formats `time` in UTC and English with those directives of C's strftime that chat templates use:
/// `%Y %m %d %B %b %A %a %H %M %S %%`. Any other directive, and a single `%` at the end, is an error. Times before 1970
/// are formatted as the start of 1970.
fn strftime(format: &str, time: SystemTime) -> Result<String, Error> {
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    let month_name = MONTHS.get(month as usize - 1).copied().unwrap_or_default();
    let day_name = DAYS.get(((days + 4) % 7) as usize).copied().unwrap_or_default();
    let mut out = String::new();
    let mut characters = format.chars();
    while let Some(c) = characters.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        out += &match characters.next() {
            Some('Y') => year.to_string(),
            Some('m') => format!("{month:02}"),
            Some('d') => format!("{day:02}"),
            Some('B') => month_name.to_owned(),
            Some('b') => month_name.chars().take(3).collect(),
            Some('A') => day_name.to_owned(),
            Some('a') => day_name.chars().take(3).collect(),
            Some('H') => format!("{:02}", second / 3600),
            Some('M') => format!("{:02}", second / 60 % 60),
            Some('S') => format!("{:02}", second % 60),
            Some('%') => "%".to_owned(),
            other => {
                let text =
                    format!("strftime_now does not know `%{}`", other.map(String::from).unwrap_or_default());
                return Err(Error::new(ErrorKind::InvalidOperation, text));
            }
        };
    }
    Ok(out)
}

/// Converts a number of days since 1 January 1970 to year, month (1 to 12) and day of the month (from 1). The
/// computation begins each year on 1 March, so that the leap day comes last, and uses eras of 400 years (146,097 days).
fn civil(days: u64) -> (u64, u64, u64) {
    // 1 March of year 0 is 719,468 days before 1 January 1970
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}
