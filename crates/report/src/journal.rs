//! A file of JSON lines from which an interrupted run can be resumed.

use super::errors;
use grammata_base::error::{Error, Result};
use grammata_base::files;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::HashMap;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Maximum size in bytes of a journal to resume. Larger files are refused.
const MAX_BYTES: usize = 1 << 30;

/// Records of an experiment by id, in the order in which they were added. Each record is written to the file when it is
/// added.
///
/// The first line is `{"settings": ...}`; each further line is `{"id": ..., "record": ...}`. A last line without a
/// newline, left by a killed process, is dropped when the journal is opened.
#[derive(Debug)]
pub struct Journal<T> {
    path: PathBuf,
    file: File,
    records: Vec<(String, T)>,
    index: HashMap<String, usize>,
}

impl<T: Serialize + DeserializeOwned> Journal<T> {
    /// Opens the journal at `path`, or creates it.
    ///
    /// # Errors
    /// The file cannot be read or written (`io/file`), or is not a regular file (`io/no-file`). `evaluation/record`:
    /// the file has more than 1 GiB or is not UTF-8, or a line is not JSON or not a record. `evaluation/settings`: the
    /// file was written with other settings. `evaluation/repeated-record`: two records have the same id.
    /// `evaluation/unwritable-record`: the settings cannot be written as JSON.
    pub fn open(path: impl AsRef<Path>, settings: &impl Serialize) -> Result<Journal<T>> {
        let path = path.as_ref().to_owned();
        let settings = serde_json::to_value(settings).map_err(errors::unwritable)?;
        let file = files::open_to_resume(&path)?;
        let mut bytes = files::read_rest(&file, &path, MAX_BYTES)?;
        if bytes.len() > MAX_BYTES {
            return Err(errors::record(1, format!("the file has more than {MAX_BYTES} bytes")));
        }
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        bytes.truncate(whole);
        let text = String::from_utf8(bytes).map_err(|cause| errors::record(1, cause))?;
        let mut journal = Journal { path, file, records: Vec::new(), index: HashMap::new() };
        let mut lines = text.lines();
        if let Some(line) = lines.next() {
            check_settings(line, &settings)?;
        }
        for (number, line) in lines.enumerate() {
            journal.read(number + 2, line)?;
        }
        // the file is changed only now, so that a refused file stays as it was
        let cut = journal.file.set_len(whole as u64).and_then(|()| journal.file.seek(SeekFrom::End(0)));
        cut.map_err(|cause| Error::io(&journal.path, &cause))?;
        if whole == 0 {
            journal.write(&serde_json::json!({ "settings": settings }))?;
        }
        Ok(journal)
    }

    /// Returns the record with id `id`; `None` if there is none.
    pub fn get(&self, id: &str) -> Option<&T> {
        self.records.get(*self.index.get(id)?).map(|(_, record)| record)
    }

    /// Returns all records with their ids, in the order in which they were added.
    pub fn records(&self) -> impl ExactSizeIterator<Item = (&str, &T)> {
        self.records.iter().map(|(id, record)| (id.as_str(), record))
    }

    /// Adds a record and writes it to the file.
    ///
    /// # Errors
    /// `evaluation/repeated-record`: there is already a record with this id. `evaluation/unwritable-record`: the record
    /// cannot be written as JSON. `io/file`: the file cannot be written.
    pub fn append(&mut self, id: impl Into<String>, record: T) -> Result<()> {
        let id = id.into();
        if self.index.contains_key(&id) {
            return Err(errors::repeated(self.records.len() + 2, &id));
        }
        let value = serde_json::to_value(&record).map_err(errors::unwritable)?;
        self.write(&serde_json::json!({ "id": id, "record": value }))?;
        self.insert(id, record);
        Ok(())
    }

    /// Returns the record with id `id`. If there is none, calls `run` and adds its result first.
    ///
    /// # Errors
    /// Errors of `run` and of [`append`](Journal::append).
    pub fn get_or_run(&mut self, id: &str, run: impl FnOnce() -> Result<T>) -> Result<&T> {
        if !self.index.contains_key(id) {
            let record = run()?;
            self.append(id, record)?;
        }
        Ok(&self.records[self.index[id]].1)
    }

    fn insert(&mut self, id: String, record: T) {
        self.index.insert(id.clone(), self.records.len());
        self.records.push((id, record));
    }

    fn read(&mut self, number: usize, line: &str) -> Result<()> {
        let mut value: Value = serde_json::from_str(line).map_err(|cause| errors::record(number, cause))?;
        let record = value.get_mut("record").map(Value::take).unwrap_or_default();
        let Some(id) = value.get("id").and_then(Value::as_str) else {
            return Err(errors::record(number, "there is no `id`"));
        };
        let record = serde_json::from_value(record).map_err(|cause| errors::record(number, cause))?;
        if self.index.contains_key(id) {
            return Err(errors::repeated(number, id));
        }
        self.insert(id.to_owned(), record);
        Ok(())
    }

    fn write(&mut self, value: &Value) -> Result<()> {
        let line = format!("{value}\n");
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.flush());
        written.map_err(|cause| Error::io(&self.path, &cause))
    }
}

fn check_settings(line: &str, expected: &Value) -> Result<()> {
    let value: Value = serde_json::from_str(line).map_err(|cause| errors::record(1, cause))?;
    match value.get("settings") {
        Some(found) if found == expected => Ok(()),
        found => Err(errors::settings(&found.unwrap_or(&Value::Null).to_string(), &expected.to_string())),
    }
}
