//! Tool names: generated, qualified, and restricted to a small alphabet.

use super::errors;
use super::set::ToolSet;
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Returns a name for an operation that declares none: its method in lower case and its path. `{x}` becomes `by_x`, and
/// each other run of characters that are not ASCII letters or digits becomes one `_`, or nothing at the end.
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

/// Qualifies names that occur in several sources with the labels of the sources, as `LABEL__NAME`. Tools whose names
/// are still equal cannot be called, because a call would be ambiguous.
pub(super) fn qualify(set: &mut ToolSet) {
    // the label of the source of each name; `None` if sources with several labels have the name
    let mut labels: FxHashMap<&str, Option<&str>> = FxHashMap::default();
    for tool in &set.tools {
        let label = labels.entry(&tool.name).or_insert(Some(&tool.label));
        if *label != Some(&tool.label) {
            *label = None;
        }
    }
    let qualified: Vec<usize> = (0..set.tools.len())
        .filter(|&index| {
            !set.tools[index].name.is_empty() && labels[set.tools[index].name.as_str()].is_none()
        })
        .collect();
    for index in qualified {
        let tool = &mut set.tools[index];
        tool.name = format!("{}__{}", tool.label, tool.name);
    }
    let mut indices: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (index, tool) in set.tools.iter().enumerate().filter(|(_, tool)| !tool.name.is_empty()) {
        indices.entry(&tool.name).or_default().push(index);
    }
    let mut clashes: Vec<Vec<usize>> = indices.into_values().filter(|all| all.len() > 1).collect();
    clashes.sort_unstable();
    for clash in clashes {
        for (at, &index) in clash.iter().enumerate() {
            let other = clash[usize::from(at == 0)];
            let diagnostic = {
                let (tool, other) = (&set.tools[index], &set.tools[other]);
                errors::name_clash(
                    tool.place.clone(),
                    &tool.name,
                    &other.place,
                    tool.document == other.document,
                )
            };
            set.refuse(index, diagnostic);
        }
    }
}

/// Maps names to distinct names of at most `length` characters of `A-Za-z0-9_-`. Other characters become `_`. A name
/// that is then too long, or that was changed and equals another, becomes its first characters, `_`, and eight
/// hexadecimal digits of the SHA-256 of the whole name. `length` must be at least 9, and the names must be distinct.
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
                // writing to a string cannot fail
                let _ = write!(short, "{byte:02x}");
            }
            short
        })
        .collect()
}
