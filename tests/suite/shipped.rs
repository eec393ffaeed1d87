//! The shipped grammars: each folder under `grammars/` with its main file and its texts.

use grammata::grammar::Grammar;
use grammata::syntax::automaton_spec::{Compiled, Options, compile};
use grammata::syntax::{gbnf, json_schema, regex};
use std::path::{Path, PathBuf};

/// The names that the main file of a folder may have; a folder has exactly one main file.
pub(crate) const MAIN_FILES: [&str; 4] = ["spec.toml", "grammar.gbnf", "schema.json", "pattern.regex"];

pub(crate) fn grammar(folder: &Path) -> Grammar {
    let path = folder.join(main_file(folder));
    let source = std::fs::read_to_string(&path).unwrap();
    match main_file(folder) {
        "spec.toml" => spec(folder, &[]).grammar,
        "grammar.gbnf" => gbnf::compile(&source, &gbnf::Options::default()).unwrap().grammar,
        "pattern.regex" => regex::compile(source.trim_end_matches('\n'), &regex::Options::default()).unwrap(),
        _ => json_schema::compile(&source, &json_schema::Options::default()).unwrap().grammar,
    }
}

/// Returns the shipped grammars that have texts, with their names and the texts that they accept.
pub(crate) fn shipped() -> impl Iterator<Item = (String, Grammar, Vec<Vec<u8>>)> {
    // plans of this spec depend on outcomes, so no text is a whole plan
    let folders = folders().into_iter().filter(|folder| !folder.ends_with("customer-service"));
    folders.map(|folder| {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let accepted = texts(&folder, "accept").into_iter().map(|(_, text)| text).collect();
        (name, grammar(&folder), accepted)
    })
}

pub(crate) fn spec(folder: &Path, parameters: &[(&str, &str)]) -> Compiled {
    let source = std::fs::read_to_string(folder.join("spec.toml")).unwrap();
    let parameters =
        parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let options = Options::default().parameters(parameters);
    compile(&source, &options).unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
}

pub(crate) fn root() -> PathBuf {
    Path::new(crate::ROOT).join("grammars")
}

/// Folders whose files are not grammars by themselves; their own tests read them.
pub(crate) const OTHERS: [&str; 3] = ["calls", "flows", "procedures"];

pub(crate) fn folders() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> =
        entries.filter(|path| path.is_dir() && !OTHERS.iter().any(|other| path.ends_with(other))).collect();
    folders.sort();
    folders
}

pub(crate) fn main_file(folder: &Path) -> &'static str {
    let found: Vec<&str> = MAIN_FILES.into_iter().filter(|name| folder.join(name).exists()).collect();
    assert_eq!(found.len(), 1, "{} has the main files {found:?}", folder.display());
    found[0]
}

/// Returns the texts of `accept` or `reject` with their paths, sorted.
pub(crate) fn texts(folder: &Path, which: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let mut texts: Vec<(PathBuf, Vec<u8>)> = std::fs::read_dir(folder.join(which))
        .unwrap_or_else(|e| panic!("{}/{which}: {e}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), std::fs::read(&path).unwrap()))
        .collect();
    texts.sort();
    assert!(texts.len() >= 2, "{} has too few texts in {which}", folder.display());
    texts
}
