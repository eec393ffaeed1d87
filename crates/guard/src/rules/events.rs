//! Reads the events of a log.

use crate::errors;
use grammata::error::Result;
use serde_json::Value;

/// An event of a log with its line.
pub(super) struct LoggedEvent<'l> {
    /// The number of the line, from 1.
    pub(super) number: usize,
    pub(super) line: &'l str,
    pub(super) event: Value,
}

/// Reads the events of a log: a JSON list on each line, or an object with the event as its member `event`, such as
/// `{"time": TEXT, "event": EVENT}`. Blank lines, and the events `guide` and `client`, which change nothing, are
/// skipped.
///
/// # Errors
/// `guard/trace` for a line that is not JSON.
pub(super) fn read(log: &str) -> impl Iterator<Item = Result<LoggedEvent<'_>>> {
    let lines = log.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    lines.filter_map(|(line, number)| {
        let Ok(mut value) = serde_json::from_str::<Value>(line) else {
            return Some(Err(errors::trace(number, line, "it is not an event in JSON")));
        };
        let event = value.get_mut("event").map(Value::take).unwrap_or(value);
        let changes_nothing = event.get(0).is_some_and(|kind| kind == "guide" || kind == "client");
        (!changes_nothing).then_some(Ok(LoggedEvent { number, line, event }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn events_are_read_with_and_without_times() {
        let time = r#""time":"2026-11-29T07:08:09.123Z""#;
        let log = format!(
            "[\"client\",{{}}]\n[\"call\",\"a\",{{\"event\":1}}]\n\n{{{time},\"event\":[\"result\",{{\"x\":1}}]}}\n\
             {{{time},\"event\":[\"guide\",\"x\"]}}\n{{{time},\"event\":[\"own\",\"b\",{{}}]}}\n{{\"event\" 1}}"
        );
        let read = |logged: Result<LoggedEvent<'_>>| match logged {
            Ok(logged) => (logged.number, logged.event),
            Err(error) => (0, error.code().into()),
        };
        let found: Vec<(usize, Value)> = super::read(&log).map(read).collect();
        let expected = [
            (2, json!(["call", "a", { "event": 1 }])),
            (4, json!(["result", { "x": 1 }])),
            (6, json!(["own", "b", {}])),
            (0, json!("guard/trace")),
        ];
        assert_eq!(found, expected);
    }
}
