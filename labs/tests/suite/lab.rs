//! The program `grammata-lab`, run as a process, and its help texts.
//!
//! `UPDATE_SNAPSHOTS=1` writes the help texts under `labs/tests/help` anew.

pub(crate) use crate::process::{json, out, refused, run};
use std::path::Path;

#[test]
fn help_texts_are_as_recorded() {
    let commands =
        ["flow evaluate", "procedure evaluate", "procedure turns", "retrieve drafts", "retrieve evaluate"];
    // only a build with models has it
    for name in [""].into_iter().chain(commands).chain(cfg!(feature = "ort").then_some("tools eval")) {
        let arguments: Vec<&str> = name.split_whitespace().chain(["--help"]).collect();
        let found = out(0, &arguments);
        let file = if name.is_empty() { "help.txt".to_owned() } else { name.replace(' ', "-") + ".txt" };
        let path = Path::new(crate::ROOT).join("labs/tests/help").join(file);
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
            std::fs::write(&path, &found).unwrap();
        }
        let recorded = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(found, recorded, "{} differs: UPDATE_SNAPSHOTS=1 writes it anew", path.display());
    }
}
