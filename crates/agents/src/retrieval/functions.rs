//! Function names by which tools are called.

use super::tool::Tool;
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};

/// The maximum length of a name, in characters: OpenAI's bound on function names.
const LONGEST: usize = 64;
/// The number of hexadecimal digits of the hash that makes equal names unique, if they suffice.
const DIGITS: usize = 8;

/// Returns a distinct name for each tool, of 1 to 64 letters A to Z and a to z, digits, `_` and `-`.
///
/// The name is the tool's `function`, or its `name` if `function` is empty, trimmed, with other characters replaced by
/// `_`. If the result is empty, longer than 64 characters or not unique, it is cut to 55 characters, followed by `_`
/// and 8 hexadecimal digits of the SHA-256 of the tool's id (fewer characters and more digits if that name is taken).
/// So, unless hashes collide, a name does not depend on the order of the tools.
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
        // ids and thus their hashes are distinct; 63 digits replace the name completely and are the last resort
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
