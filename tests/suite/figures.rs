//! The figures of the documentation equal those that the engine draws.

use crate::drawings;
use std::path::Path;

/// Each figure equals the committed file. `UPDATE_FIGURES=1` rewrites the files.
#[test]
fn figures_are_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/figures");
    for (name, drawing) in drawings::all(&folder).unwrap() {
        if std::env::var_os("UPDATE_FIGURES").is_some() {
            std::fs::write(folder.join(name), &drawing).unwrap();
        }
        let committed = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert!(committed == drawing, "{name}: UPDATE_FIGURES=1 writes it");
    }
}

/// The page `docs/architecture.md` shows the schema and the text of the figures.
#[test]
fn figures_are_of_the_example_of_the_page() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/architecture.md");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains(drawings::SCHEMA));
    assert!(page.contains(&format!("`{}`", drawings::TEXT)));
}
