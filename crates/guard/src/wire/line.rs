//! Reads lines of bounded length from a stream.

use std::io::{self, BufRead};

/// A line of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// The text without the `\n` at its end. A `\r` before the `\n` is kept.
    Text(String),
    /// The line has more bytes than allowed. Its bytes were read and dropped.
    TooLong,
    /// The line is not UTF-8.
    NotUtf8,
}

/// Reads the next line that is not blank. A line of more than `most` bytes is [`Line::TooLong`]. Returns `None` at the
/// end of the stream. The end of the stream also ends a line.
///
/// # Errors
/// Errors of the stream.
pub fn read_line(input: &mut impl BufRead, most: usize) -> io::Result<Option<Line>> {
    loop {
        match read_piece(input, most)? {
            Some(Line::Text(text)) if text.bytes().all(|byte| byte.is_ascii_whitespace()) => {}
            line => return Ok(line),
        }
    }
}

/// Reads the next line, which may be blank. A line of more than `most` bytes is [`Line::TooLong`]. Returns `None` at
/// the end of the stream.
///
/// # Errors
/// Errors of the stream.
pub(crate) fn read_piece(input: &mut impl BufRead, most: usize) -> io::Result<Option<Line>> {
    let (mut bytes, mut is_long, mut is_begun) = (Vec::new(), false, false);
    loop {
        let piece = match input.fill_buf() {
            Ok(piece) => piece,
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => continue,
            Err(cause) => return Err(cause),
        };
        if piece.is_empty() && !is_begun {
            return Ok(None);
        }
        let is_end = piece.is_empty();
        is_begun = true;
        let end = piece.iter().position(|&byte| byte == b'\n');
        let text = &piece[..end.unwrap_or(piece.len())];
        if bytes.len() + text.len() > most {
            is_long = true;
            bytes = Vec::new();
        } else if !is_long {
            bytes.extend_from_slice(text);
        }
        let used = end.map_or(piece.len(), |end| end + 1);
        input.consume(used);
        if end.is_some() || is_end {
            break;
        }
    }
    Ok(Some(if is_long { Line::TooLong } else { String::from_utf8(bytes).map_or(Line::NotUtf8, Line::Text) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_within_their_bound() {
        let text = |text: &str| Some(Line::Text(text.to_owned()));
        for (bytes, expected) in [
            (&b"ab\ncd\n"[..], vec![text("ab"), text("cd"), None]),
            (b"ab", vec![text("ab"), None, None]),
            (b"\n \r\nab\r\n", vec![text("ab\r"), None]),
            (b"123456789\nab\n", vec![Some(Line::TooLong), text("ab"), None]),
            (b"12345678\n", vec![text("12345678"), None]),
            (b"123456789", vec![Some(Line::TooLong), None]),
            (b"\xff\nab", vec![Some(Line::NotUtf8), text("ab")]),
        ] {
            // small pieces, so that lines are cut in the middle
            let mut input = io::BufReader::with_capacity(3, bytes);
            for line in expected {
                assert_eq!(read_line(&mut input, 8).unwrap(), line, "{bytes:?}");
            }
        }
    }
}
