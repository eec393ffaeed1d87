//! The log of a session: a file to which one guard at a time appends the events of a session, with their times.

use crate::errors;
use grammata::error::{Error, Result};
use grammata::limits::{LimitKind, Limits};
use grammata_agents::procedures::split_cut_line;
use grammata_base::files::Appended;
use std::path::Path;
use std::time::SystemTime;

/// The form of a log's lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogForm {
    /// Events in JSON, written as `{"time":"2026-11-29T07:08:09.123Z","event":EVENT}`. The time is in UTC.
    Events,
    /// Lines of another form, such as steps of a plan, written as they are.
    Lines,
}

/// A log that is open for writing. Each line is written in one write, and is in the file before the guard continues.
#[derive(Debug)]
pub struct Log {
    file: Appended,
    form: LogForm,
}

/// The content of a log that is continued.
#[derive(Debug, PartialEq, Eq)]
pub struct Logged {
    /// The lines, without one that was cut off.
    pub text: String,
    /// The bytes of the last line that were removed, because the line was cut off while it was written. 0 if it was
    /// not.
    pub cut: usize,
}

impl Log {
    /// Opens a new log: a file that does not exist, or is empty.
    ///
    /// # Errors
    /// `guard/log-exists` if the file has content; `io/locked` if another guard has the log open; `io/file` and
    /// `io/no-file` if the file cannot be used.
    pub fn create(path: &Path, form: LogForm) -> Result<Log> {
        let (file, _) = Appended::open(path, 0, || errors::log_exists(path))?;
        Ok(Log { file, form })
    }

    /// Opens a log of events to continue it, creating it if it is missing. If its last line was cut off, such as by a
    /// crash or a full disk, that line is removed from the file.
    ///
    /// # Errors
    /// `io/locked` if another guard has the log open; `io/file` and `io/no-file` if the file cannot be used; the limit
    /// `source_bytes`; `guard/log-text` if the file is not UTF-8.
    pub fn resume(path: &Path, limits: &Limits) -> Result<(Log, Logged)> {
        let most = limits.source_bytes;
        let too_large = || Limits::exceeded(LimitKind::SourceBytes, most, format!("more than {most} bytes"));
        let (mut file, mut bytes) =
            Appended::open(path, most, too_large).map_err(|error| error.in_file(&path.to_string_lossy()))?;
        let whole = split_cut_line(&bytes).0.len();
        let cut = bytes.len() - whole;
        bytes.truncate(whole);
        let text = String::from_utf8(bytes).map_err(|cause| errors::log_text(path, &cause.utf8_error()))?;
        if cut > 0 {
            file.shorten(whole)?;
        } else if !text.is_empty() && !text.ends_with('\n') {
            file.append(b"\n")?;
        }
        Ok((Log { file, form: LogForm::Events }, Logged { text, cut }))
    }

    /// Writes a line, given without its line end.
    ///
    /// # Errors
    /// `guard/log` if the line cannot be written. The lines before it stay readable.
    pub fn write(&mut self, line: &str) -> Result<()> {
        let written = match self.form {
            LogForm::Events => {
                let time = humantime::format_rfc3339_millis(SystemTime::now());
                self.file.append(format!("{{\"time\":\"{time}\",\"event\":{line}}}\n").as_bytes())
            }
            LogForm::Lines => self.file.append(format!("{line}\n").as_bytes()),
        };
        written.map_err(|error: Error| errors::log(self.file.path(), &error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "[\"guide\",\"x\"]\n";

    #[test]
    fn a_log_is_continued_after_its_last_whole_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        let new = "{\"time\":\"2026-11-29T07:08:09.123Z\",\"event\":[\"call\",\"a\",{\"b\":\"é\"}]}";
        for end in (0..=new.len()).rev() {
            let mut bytes = OLD.as_bytes().to_vec();
            bytes.extend_from_slice(&new.as_bytes()[..end]);
            std::fs::write(&path, &bytes).unwrap();
            let (mut log, logged) = Log::resume(&path, &Limits::default()).unwrap();
            let is_whole = end == new.len();
            assert_eq!(logged.cut, if is_whole { 0 } else { end }, "{end}");
            assert_eq!(logged.text, if is_whole { format!("{OLD}{new}") } else { OLD.to_owned() });
            log.write("[\"guide\",\"y\"]").unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(lines.len(), if is_whole { 3 } else { 2 }, "{text}");
            let last: serde_json::Value = serde_json::from_str(lines[lines.len() - 1]).unwrap();
            assert_eq!(last["event"][1], "y");
            let time = last["time"].as_str().unwrap();
            assert!(time.len() == 24 && time.ends_with('Z') && time.starts_with("20"), "{time}");
        }
    }

    #[test]
    fn what_is_no_log_is_kept_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        let open = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            let opened = Log::resume(&path, &Limits::default());
            assert_eq!(
                std::fs::read(&path).unwrap().strip_suffix(b"\n").unwrap_or(bytes),
                bytes.trim_ascii_end()
            );
            opened
        };
        // a broken line that was not cut off is an error when the rules read it
        assert_eq!(open(b"[\"guide\" 1]\n").unwrap().1.cut, 0);
        assert_eq!(open(b"garbage").unwrap().1.cut, 0);
        assert_eq!(open(b"\xff\xff\n").unwrap_err().code(), "guard/log-text");
        let error = Log::create(&path, LogForm::Events).unwrap_err();
        assert_eq!(error.code(), "guard/log-exists");
        // an empty file is a new log, but not while another guard has it open
        std::fs::write(&path, "").unwrap();
        let first = Log::create(&path, LogForm::Lines).unwrap();
        assert_eq!(Log::create(&path, LogForm::Lines).unwrap_err().code(), "io/locked");
        drop(first);
        assert!(Log::create(&path, LogForm::Lines).is_ok());
        std::fs::write(&path, "xx\n").unwrap();
        let mut limits = Limits::default();
        limits.source_bytes = 2;
        assert_eq!(Log::resume(&path, &limits).unwrap_err().code(), "limit/exceeded");
    }
}
