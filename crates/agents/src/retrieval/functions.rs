//! Names by which tools are called.

use super::tool::Tool;
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};

/// Characters of a name: the bound of OpenAI's functions.
const LONGEST: usize = 64;
/// Hexadecimal digits of a hash that tells equal names apart, as long as they do.
const DIGITS: usize = 8;

/// A distinct name of each tool, of 1 to 64 letters A to Z and a to z, digits, `_` and `-`.
///
/// A tool's name is its `function`, or its name where it has none, with `_` for each other character. Where that is too long
/// or empty, or several tools have it, it is cut to 55 characters, and `_` and digits of the SHA-256 of the tool's id follow.
/// So a name does not depend on the order of the tools.
pub(super) fn function_names(tools: &[Tool]) -> Vec<String> {
    let plain: Vec<String> = tools.iter().map(plain).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    plain.iter().for_each(|name| *counts.entry(name).or_default() += 1);
    let stays = |name: &str| (1..=LONGEST).contains(&name.len()) && counts.get(name) == Some(&1);
    let mut taken: HashSet<String> = plain.iter().filter(|name| stays(name)).cloned().collect();
    let name = |(tool, plain): (&Tool, &String)| {
        if stays(plain) {
            return plain.clone();
        }
        let hash: String = Sha256::digest(&tool.id).iter().map(|byte| format!("{byte:02x}")).collect();
        let with = |digits: usize| {
            let start: String = plain.chars().take(LONGEST - 1 - digits).collect();
            format!("{start}_{}", hash.get(..digits).unwrap_or_default())
        };
        // ids are distinct, and so are their hashes: 63 digits leave nothing of the name, and are the last resort
        let free = (DIGITS..LONGEST).map(with).find(|name| !taken.contains(name));
        let name = free.unwrap_or_else(|| with(LONGEST - 1));
        taken.insert(name.clone());
        name
    };
    tools.iter().zip(&plain).map(name).collect()
}

fn plain(tool: &Tool) -> String {
    let name = if tool.function.is_empty() { &tool.name } else { &tool.function };
    let allowed = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    name.trim().chars().map(allowed).collect()
}
