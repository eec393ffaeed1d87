//! Lines of a file or of standard input, read as they come.

use crate::io::errors;
use crate::io::paths::is_standard_input;
use grammata::error::Result;
use grammata::limits::{LimitKind, Limits};
use grammata_base::files;
use grammata_guard::{Line, read_line};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// The lines of a stream that are not blank. Only the current line is in memory.
pub(crate) struct Lines {
    stream: Counted,
    path: PathBuf,
    most: usize,
}

/// A stream that counts its line breaks.
struct Counted {
    inner: Box<dyn BufRead>,
    breaks: usize,
    /// Whether bytes were read after the last line break.
    is_within: bool,
}

impl std::io::Read for Counted {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        self.inner.read(bytes)
    }
}

impl BufRead for Counted {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        // bytes that are consumed are still in the buffer
        if let Ok(buffer) = self.inner.fill_buf() {
            let read = &buffer[..amount.min(buffer.len())];
            self.breaks += read.iter().filter(|&&byte| byte == b'\n').count();
            self.is_within = read.last().map_or(self.is_within, |&byte| byte != b'\n');
        }
        self.inner.consume(amount);
    }
}

fn opened(path: &Path) -> Result<File> {
    files::open(path).map(|(file, _)| file).map_err(|error| errors::suggest(error, path))
}

impl Lines {
    /// Opens a file, or standard input as `-`. A line may have at most `limits.source_bytes` bytes.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub(crate) fn open(path: &Path, limits: &Limits) -> Result<Lines> {
        let inner: Box<dyn BufRead> = match is_standard_input(path) {
            true => Box::new(std::io::stdin().lock()),
            false => Box::new(BufReader::new(opened(path)?)),
        };
        Ok(Lines {
            stream: Counted { inner, breaks: 0, is_within: false },
            path: path.to_owned(),
            most: limits.source_bytes,
        })
    }

    /// Returns the number, from 1, and the text of the next line that is not blank; `None` at the end.
    ///
    /// # Errors
    /// The stream cannot be read, the line is too long, or it is not UTF-8.
    pub(crate) fn next(&mut self) -> Result<Option<(usize, String)>> {
        let line = read_line(&mut self.stream, self.most).map_err(|cause| errors::io(&self.path, &cause))?;
        let name = crate::io::paths::name_of(&self.path);
        // the last line may have no break
        let number = self.stream.breaks + usize::from(self.stream.is_within);
        match line {
            None => Ok(None),
            Some(Line::Text(text)) => Ok(Some((number, text))),
            Some(Line::TooLong) => {
                let found = format!("line {number} is longer");
                Err(Limits::exceeded(LimitKind::SourceBytes, self.most, found).in_file(&name))
            }
            Some(Line::NotUtf8) => Err(errors::line_not_utf8(&self.path, number)),
        }
    }
}
