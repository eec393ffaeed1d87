//! Files of tasks or queries, one a line, and which of them are chosen.

use crate::cli::{errors, source};
use crate::error::Result;
use crate::limits::Limits;
use std::ops::RangeInclusive;
use std::path::Path;

/// A number or a range of numbers: `7`, `0-5`.
pub(super) fn range(argument: &str) -> std::result::Result<RangeInclusive<usize>, String> {
    let wrong = || "it must be a number or a range such as `0-5`".to_owned();
    let number = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
    let (first, last) = match argument.split_once('-') {
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(argument)?, number(argument)?),
    };
    if first <= last { Ok(first..=last) } else { Err("the range ends before it begins".to_owned()) }
}

/// The lines of a file that are not blank, with their numbers from 0: those that are chosen, or all.
pub(super) fn lines(
    path: &Path,
    only: &[RangeInclusive<usize>],
    limits: &Limits,
) -> Result<Vec<(usize, String)>> {
    let text = source::text(path, limits)?;
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let one = |number: usize| {
        let line = lines.get(number).ok_or_else(|| errors::no_such_task(number, lines.len()))?;
        Ok((number, (*line).to_owned()))
    };
    match only {
        [] => (0..lines.len()).map(one).collect(),
        ranges => ranges.iter().cloned().flatten().map(one).collect(),
    }
}
