//! The paths that a source file names: imports, with braces or without, and paths within the code.

use crate::tidy::flatten;
use std::collections::HashMap;
use std::path::Path;

/// The module of a file of `src` as its segments, and whether the file may have modules below it.
pub(crate) fn module_of(file: &Path) -> (Vec<String>, bool) {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let below = file.strip_prefix(src).unwrap().with_extension("");
    let mut parts: Vec<String> = below.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let is_parent = parts.last().is_some_and(|last| last == "mod" || last == "lib");
    if is_parent {
        parts.pop();
    }
    (parts, is_parent)
}

/// A path that a file names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// The path from the crate on.
    pub(crate) path: Vec<String>,
    /// Whether it is exported again.
    pub(crate) is_exported: bool,
    /// Whether it begins with a module below that of the file.
    pub(crate) is_child: bool,
}

/// The paths of this crate that a text of a module names. Aliases (`as`) have the name that they stand for.
pub(crate) fn named(module: &[String], is_parent: bool, text: &str) -> Vec<Named> {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code: String = lines.flat_map(|line| [line, "\n"]).collect();
    let (mut found, mut known) = (Vec::new(), HashMap::<String, Vec<String>>::new());
    let mut rest = String::new();
    let mut statement: Option<String> = None;
    for line in code.lines() {
        let trimmed = line.trim_start();
        let starts = ["use ", "pub use ", "pub(crate) use ", "pub(super) use "]
            .iter()
            .any(|start| trimmed.starts_with(start));
        let open = match statement.take() {
            Some(open) => open + " " + trimmed,
            None if starts => trimmed.to_owned(),
            None => {
                rest.push_str(line);
                rest.push('\n');
                continue;
            }
        };
        let Some((tree, _)) = open.split_once(';') else {
            statement = Some(open);
            continue;
        };
        let is_exported = tree.starts_with("pub");
        let tree = tree.split_once("use ").unwrap().1;
        for mut path in flatten(tree, &[]) {
            if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
                path.pop();
            }
            if let Some(path) = absolute(module, &path) {
                known.extend(path.last().map(|last| (last.clone(), path.clone())));
                found.push(Named { path, is_exported, is_child: false });
            } else if is_parent {
                let path = [module, &path].concat();
                found.push(Named { path, is_exported, is_child: true });
            }
        }
    }
    for path in within(&rest) {
        if let Some(path) = absolute(module, &path) {
            found.push(Named { path, is_exported: false, is_child: false });
        } else if let Some(before) = known.get(&path[0]) {
            let path = [before, &path[1..]].concat();
            found.push(Named { path, is_exported: false, is_child: false });
        } else if is_parent {
            found.push(Named { path: [module, &path].concat(), is_exported: false, is_child: true });
        }
    }
    found
}

/// A path from the crate on, if it begins with `crate`, `self` or `super`.
pub(crate) fn absolute(module: &[String], path: &[String]) -> Option<Vec<String>> {
    let mut full = match path[0].as_str() {
        "crate" => Vec::new(),
        "self" | "super" => module.to_vec(),
        _ => return None,
    };
    for part in &path[usize::from(path[0] != "super")..] {
        if part == "super" {
            full.pop();
        } else {
            full.push(part.clone());
        }
    }
    Some(full)
}

/// The paths of two segments or more in code.
fn within(code: &str) -> Vec<Vec<String>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut paths = Vec::new();
    for word in code.split(|c: char| !is_word(c) && c != ':') {
        let parts: Vec<String> = word.split("::").map(str::to_owned).collect();
        let is_path = parts.len() > 1 && parts.iter().all(|part| part.chars().all(is_word));
        if is_path && !parts[0].is_empty() {
            paths.push(parts.into_iter().filter(|part| !part.is_empty()).collect());
        }
    }
    paths
}

#[test]
fn paths_are_found_in_all_their_forms() {
    let module = ["a", "b"].map(str::to_owned);
    let text = "use crate::{\n    x::{self, Y},\n    z,\n};\npub use c::D;\nuse super::e::F;\nuse std::fmt;\n\
                // crate::comment::G\nfn f() -> crate::h::I { x::j(); c::run() }\n";
    let found = |is_parent| -> Vec<String> {
        named(&module, is_parent, text).iter().map(|named| named.path.join("::")).collect()
    };
    assert_eq!(found(false), ["x", "x::Y", "z", "a::e::F", "h::I", "x::j"]);
    assert_eq!(
        found(true),
        ["x", "x::Y", "z", "a::b::c::D", "a::e::F", "a::b::std::fmt", "h::I", "x::j", "a::b::c::run"]
    );
}
