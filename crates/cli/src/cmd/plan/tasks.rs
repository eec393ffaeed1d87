//! Files with one task a line, and the selection of tasks.

use super::errors::bad_task;
use crate::args::source;
use crate::io::errors;
use grammata::error::Result;
use grammata::limits::Limits;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;

/// Parses a number or a range of numbers: `7`, `0-5`.
pub(super) fn range(argument: &str) -> std::result::Result<RangeInclusive<usize>, String> {
    let wrong = || "it must be a number or a range such as `0-5`".to_owned();
    let number = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
    let (first, last) = match argument.split_once('-') {
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(argument)?, number(argument)?),
    };
    if first <= last { Ok(first..=last) } else { Err("the range ends before it begins".to_owned()) }
}

/// A description of a task.
#[derive(Clone, Debug, Default)]
pub(super) struct Description {
    /// The number of the task in its file, from 0, blank lines not counted; empty if the task is not from a file.
    pub(super) name: String,
    /// The text for the questions; the spec's own text if it is `None`.
    pub(super) task: Option<String>,
    /// Parameters of the spec.
    pub(super) parameters: Vec<(String, String)>,
}

/// A line that is a JSON object.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    task: String,
    #[serde(default)]
    parameters: BTreeMap<String, Value>,
}

/// Reads the tasks of a file, one on each line that is not blank: those that `only` selects, in its order, or all if it
/// is empty. A line that begins with `{` is an object with a task and parameters; any other line is the task itself.
pub(super) fn descriptions(
    path: &Path,
    only: &[RangeInclusive<usize>],
    limits: &Limits,
) -> Result<Vec<Description>> {
    let text = source::text(path, limits)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let lines: Vec<(usize, &str)> = lines.collect();
    let one = |number: usize| {
        let &(place, line) = lines.get(number).ok_or_else(|| errors::no_such_task(number, lines.len()))?;
        let name = number.to_string();
        if !line.trim_start().starts_with('{') {
            return Ok(Description { name, task: Some(line.to_owned()), parameters: Vec::new() });
        }
        let line: Line = serde_json::from_str(line).map_err(|cause| bad_task(path, place + 1, &cause))?;
        let written = |value: Value| match value {
            Value::String(text) => text,
            other => other.to_string(),
        };
        let parameters = line.parameters.into_iter().map(|(name, value)| (name, written(value)));
        Ok(Description { name, task: Some(line.task), parameters: parameters.collect() })
    };
    match only {
        [] => (0..lines.len()).map(one).collect(),
        ranges => ranges.iter().cloned().flatten().map(one).collect(),
    }
}
