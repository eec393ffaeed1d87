//! Reads and writes server-sent events.

use super::MOST_ID;
use crate::wire::{Line, read_piece};
use std::io::{self, BufRead};

/// An event: its data, with lines joined by newlines, and its id if it has a valid one. Other fields are dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) data: Line,
    pub(super) id: Option<String>,
}

/// Reads the next event with a data field, which may be empty. The data is [`Line::TooLong`] if it has more than `most`
/// bytes, or if a line of the event has more than `most + 64` bytes. Lines that are not UTF-8 are skipped. Returns
/// `None` at the end of the stream; an event that is not complete there is dropped.
///
/// # Errors
/// Errors of the stream.
pub(super) fn read(input: &mut impl BufRead, most: usize) -> io::Result<Option<Event>> {
    let (mut data, mut id, mut has_data, mut is_long) = (String::new(), None, false, false);
    loop {
        let line = match read_piece(input, most.saturating_add(64))? {
            None => return Ok(None),
            Some(Line::TooLong) => {
                (is_long, has_data) = (true, true);
                continue;
            }
            Some(Line::NotUtf8) => continue,
            Some(Line::Text(line)) => line,
        };
        let line = line.strip_suffix('\r').unwrap_or(&line);
        if line.is_empty() {
            if has_data {
                let is_long = is_long || data.len() > most;
                return Ok(Some(Event { data: if is_long { Line::TooLong } else { Line::Text(data) }, id }));
            }
            id = None;
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" if data.len() <= most => {
                if has_data {
                    data.push('\n');
                }
                data.push_str(value);
                has_data = true;
            }
            "id" if value.len() <= MOST_ID && value.bytes().all(|byte| byte.is_ascii_graphic()) => {
                id = Some(value.to_owned());
            }
            _ => {}
        }
    }
}

/// Returns the text of an event whose data is `message`, which must be one line.
pub(super) fn written(message: &str) -> String {
    format!("event: message\ndata: {message}\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_within_their_bound() {
        let text = |text: &str, id: Option<&str>| {
            Some(Event { data: Line::Text(text.to_owned()), id: id.map(str::to_owned) })
        };
        let long = Some(Event { data: Line::TooLong, id: None });
        let big = "x".repeat(200);
        for (bytes, expected) in [
            ("data: {}\n\n".to_owned(), vec![text("{}", None), None]),
            (": a\nevent: message\nid: 7\ndata:{}\r\n\r\n".to_owned(), vec![text("{}", Some("7")), None]),
            ("data: [\ndata: 1]\n\ndata\n\n".to_owned(), vec![text("[\n1]", None), text("", None), None]),
            ("id: 1\n\ndata: a\n\n".to_owned(), vec![text("a", None)]),
            ("id: a b\ndata: a\n\n".to_owned(), vec![text("a", None)]),
            // an event that the end of the stream truncates is dropped
            ("data: a\n".to_owned(), vec![None]),
            ("data: a".to_owned(), vec![None]),
            (format!("data: {big}\n\ndata: a\n\n"), vec![long.clone(), text("a", None)]),
            (format!("{}\ndata: a\n\n", "data: 1234567\n".repeat(9)), vec![long, text("a", None)]),
        ] {
            let mut input = io::BufReader::with_capacity(3, bytes.as_bytes());
            for event in expected {
                assert_eq!(read(&mut input, 32).unwrap(), event, "{bytes:?}");
            }
        }
        let mut input = io::Cursor::new(written("{}").into_bytes());
        assert_eq!(read(&mut input, 32).unwrap(), text("{}", None));
    }
}
