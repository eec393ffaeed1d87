//! The paths that a source file names: imports, with braces or without, and paths within the code.

use crate::tidy::{flatten, sources};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The crates of the product, each with its folder and the module that represents its root on the map of
/// docs/architecture.md. Crates without such a module are on the map themselves.
const CRATES: &[(&str, &str, Option<&str>)] = &[
    ("grammata", "src", None),
    ("grammata_agents", "crates/agents/src", None),
    ("grammata_agents_drive", "crates/agents-drive/src", Some("drive")),
    ("grammata_base", "crates/base/src", None),
    ("grammata_cli", "crates/cli/src", Some("cli")),
    ("grammata_decode", "crates/decode/src", Some("decode")),
    ("grammata_embeddings", "crates/embeddings/src", Some("embeddings")),
    ("grammata_endpoint", "crates/endpoint/src", Some("endpoint")),
    ("grammata_guard", "crates/guard/src", Some("guard")),
    ("grammata_process", "crates/process/src", Some("process")),
    ("grammata_report", "crates/report/src", Some("report")),
    ("grammata_template", "crates/template/src", Some("template")),
    ("grammata_testing", "crates/testing/src", Some("testing")),
];

/// Returns the source files of all crates of the product, with their texts.
pub(crate) fn product() -> Vec<(PathBuf, String)> {
    CRATES.iter().flat_map(|(_, folder, _)| sources(folder)).collect()
}

/// Returns the module of a source file as its segments, and whether the file may have modules below it.
pub(crate) fn module_of(file: &Path) -> (Vec<String>, bool) {
    let file = file.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap();
    let found = CRATES.iter().find_map(|(_, folder, root)| Some((file.strip_prefix(folder).ok()?, root)));
    let (below, root) = found.unwrap_or_else(|| panic!("{}: of no crate", file.display()));
    let below = below.with_extension("");
    let below = below.iter().map(|part| part.to_string_lossy().into_owned());
    let mut parts: Vec<String> = root.iter().map(|&root| root.to_owned()).chain(below).collect();
    let is_parent = parts.last().is_some_and(|last| last == "mod" || last == "lib");
    if is_parent {
        parts.pop();
    }
    (parts, is_parent)
}

/// A path that a file names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// The segments of the path, from the root of the map in docs/architecture.md on.
    pub(crate) path: Vec<String>,
    /// Whether the file exports the path with `pub use`.
    pub(crate) is_exported: bool,
    /// Whether it begins with a submodule of the file's module.
    pub(crate) is_child: bool,
}

/// Returns the paths to crates of the product that the text of a module names; names that `use` imports are resolved.
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

/// Returns a path from the root of the map on, or `None` if it begins with none of `crate`, `self`, `super` and the
/// crates of the product.
pub(crate) fn absolute(module: &[String], path: &[String]) -> Option<Vec<String>> {
    let at_root = |root: Option<&str>| root.map(str::to_owned).into_iter().collect();
    let mut full: Vec<String> = match path[0].as_str() {
        // only a crate that is one module on the map has its root there
        "crate" => {
            let own = CRATES.iter().find(|(_, _, root)| {
                root.is_some_and(|root| module.first().is_some_and(|first| first == root))
            });
            at_root(own.and_then(|(_, _, root)| *root))
        }
        "self" | "super" => module.to_vec(),
        name => at_root(CRATES.iter().find(|(own, _, _)| *own == name)?.2),
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

/// Returns the paths of at least two segments in code.
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
