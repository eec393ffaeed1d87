//! Names of tools: made ones, qualified ones, and those of formats that hold few characters.

use super::errors;
use super::set::ToolSet;
use crate::error::Result;
use rustc_hash::{FxHashMap, FxHashSet};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// The name of an operation without one: its method in lower case and its path, `{x}` as `by_x`, runs of other characters
/// as one `_`.
pub(super) fn of_operation(method: &str, path: &str) -> String {
    let mut name = method.to_lowercase();
    let mut is_gap = true;
    let last = path.rfind('}');
    let mut rest = path;
    while let Some(c) = rest.chars().next() {
        if c == '{' && last.is_some_and(|last| last > path.len() - rest.len()) {
            if !is_gap || !name.ends_with('_') {
                name.push('_');
            }
            name.push_str("by_");
            is_gap = true;
        } else if c.is_ascii_alphanumeric() {
            if is_gap && !name.ends_with('_') {
                name.push('_');
            }
            name.push(c);
            is_gap = false;
        } else {
            is_gap = true;
        }
        rest = &rest[c.len_utf8()..];
    }
    name
}

/// Qualifies the names that several tools have with the labels of their sources.
///
/// # Errors
/// Names that are equal even so.
pub(super) fn qualify(set: &mut ToolSet) -> Result<()> {
    let mut count: FxHashMap<String, usize> = FxHashMap::default();
    for tool in &set.tools {
        *count.entry(tool.name.clone()).or_insert(0) += 1;
    }
    // what those that were qualified had been called
    let mut plain: FxHashMap<usize, String> = FxHashMap::default();
    for (index, tool) in set.tools.iter_mut().enumerate() {
        if count[&tool.name] > 1 {
            let qualified = format!("{}__{}", tool.label, tool.name);
            plain.insert(index, std::mem::replace(&mut tool.name, qualified));
        }
    }
    let mut first: FxHashMap<&str, usize> = FxHashMap::default();
    let mut clashes: Vec<(usize, usize)> = Vec::new();
    for (index, tool) in set.tools.iter().enumerate() {
        if let Some(&other) = first.get(tool.name.as_str()) {
            clashes.push((other, index));
        } else {
            first.insert(&tool.name, index);
        }
    }
    let Some(&(clash, _)) = clashes.first() else { return Ok(()) };
    // all tools of the first name that is there twice, those qualified as they were, and the other names
    let name = &set.tools[clash].name;
    let has_name = |index: &usize| set.tools[*index].name == *name;
    let was: FxHashSet<&String> =
        plain.iter().filter(|(index, _)| has_name(index)).map(|(_, was)| was).collect();
    let is_told = |index: &usize| has_name(index) || plain.get(index).is_some_and(|own| was.contains(own));
    let told = (0..set.tools.len()).filter(is_told).map(|index| &set.tools[index]);
    let mut all: Vec<String> = told.map(|tool| format!("{} of {}", tool.name, tool.label)).collect();
    all.extend(
        clashes.iter().map(|(_, index)| &set.tools[*index].name).filter(|other| *other != name).cloned(),
    );
    Err(errors::name_clash(set.tools[clash].place.clone(), &all))
}

/// Names of `length` characters of `A-Za-z0-9_-` at most, different for different names: what is not in the alphabet as `_`;
/// names that are then too long, or equal to another, as their first characters, `_` and eight hexadecimal digits of the
/// SHA-256 of the whole name.
pub fn restricted<'n>(names: impl IntoIterator<Item = &'n str>, length: usize) -> Vec<String> {
    let names: Vec<&str> = names.into_iter().collect();
    let plain: Vec<String> = names
        .iter()
        .map(|name| {
            let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            name.chars().map(|c| if fits(c) { c } else { '_' }).collect()
        })
        .collect();
    let mut count: FxHashMap<&str, usize> = FxHashMap::default();
    for name in &plain {
        *count.entry(name).or_insert(0) += 1;
    }
    names
        .iter()
        .zip(&plain)
        .map(|(name, plain)| {
            let is_own = plain == name || count[plain.as_str()] == 1;
            if plain.len() <= length && is_own {
                return plain.clone();
            }
            let mut short: String = plain.chars().take(length.saturating_sub(9)).collect();
            short.push('_');
            for byte in &Sha256::digest(name.as_bytes())[..4] {
                // writing to a text does not fail
                let _ = write!(short, "{byte:02x}");
            }
            short
        })
        .collect()
}
