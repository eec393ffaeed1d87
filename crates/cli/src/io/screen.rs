//! Standard output that shows control characters on a terminal instead of sending them to it.

use grammata::diagnostic::visible_lines;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};

/// A writer. If its reader is a terminal, control characters other than line ends and tabs are written as escapes, and
/// bytes that are not UTF-8 as `\xNN`; otherwise all bytes are written as they are.
#[derive(Debug)]
pub(crate) struct Screen<W> {
    inner: W,
    is_terminal: bool,
    /// The beginning of a character whose other bytes are not written yet.
    begun: Vec<u8>,
}

impl Screen<BufWriter<Stdout>> {
    /// Creates the writer of standard output, buffered.
    pub(crate) fn stdout() -> Screen<BufWriter<Stdout>> {
        let stdout = io::stdout();
        let is_terminal = stdout.is_terminal();
        Screen { inner: BufWriter::new(stdout), is_terminal, begun: Vec::new() }
    }
}

impl<W: Write> Screen<W> {
    /// Creates a writer whose reader counts as a terminal.
    pub(crate) fn escaping(inner: W) -> Screen<W> {
        Screen { inner, is_terminal: true, begun: Vec::new() }
    }

    fn show(&mut self, bytes: &[u8], is_end: bool) -> io::Result<()> {
        let mut all = std::mem::take(&mut self.begun);
        all.extend_from_slice(bytes);
        let mut left = all.len();
        for chunk in all.utf8_chunks() {
            self.inner.write_all(visible_lines(chunk.valid()).as_bytes())?;
            left -= chunk.valid().len() + chunk.invalid().len();
            // the last bytes may be the beginning of a character
            if left == 0 && !is_end && is_beginning(chunk.invalid()) {
                self.begun = chunk.invalid().to_vec();
                break;
            }
            for byte in chunk.invalid() {
                write!(self.inner, "\\x{byte:02X}")?;
            }
        }
        Ok(())
    }
}

/// Whether bytes that are not UTF-8 could be the beginning of a character.
fn is_beginning(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

impl<W: Write> Write for Screen<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_terminal {
            return self.inner.write(bytes);
        }
        self.show(bytes, false)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.is_terminal {
            self.show(b"", true)?;
        }
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(is_terminal: bool, pieces: &[&[u8]]) -> String {
        let mut screen = Screen { inner: Vec::new(), is_terminal, begun: Vec::new() };
        pieces.iter().for_each(|piece| screen.write_all(piece).unwrap());
        screen.flush().unwrap();
        String::from_utf8_lossy(&screen.inner).into_owned()
    }

    #[test]
    fn a_terminal_gets_escapes_and_a_pipe_the_bytes() {
        let text = "a\tb\u{1b}]0;x\u{7}\r\u{9b}\u{202e}é\n";
        assert_eq!(written(false, &[text.as_bytes()]), text);
        let shown = "a\tb\\u{1b}]0;x\\u{7}\\r\\u{9b}\\u{202e}é\n";
        assert_eq!(written(true, &[text.as_bytes()]), shown);
        // one byte at a time: characters are put together again
        let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(written(true, &bytes), shown);
        assert_eq!(written(true, &[b"a\xC3", b"b\xE2\x80"]), "a\\xC3b\\xE2\\x80");
    }
}
