//! The commands of `grammata-lab` that the pages show write what the pages say.
#![cfg(unix)]

use crate::pages::{Example, examples, page, shell};
use std::path::PathBuf;

const PAGES: &[&str] =
    &["docs/flows.md", "docs/procedures.md", "docs/retrieval.md", "docs/tools.md", "labs/README.md"];

#[test]
fn commands_write_what_the_pages_say() {
    let program = PathBuf::from(assert_cmd::cargo::cargo_bin!("grammata-lab"));
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for name in PAGES {
        let examples = examples(&page(name));
        for Example { line, command, output } in
            examples.into_iter().filter(|example| example.command.starts_with("grammata-lab "))
        {
            seen += 1;
            let written = shell(&command, &program);
            if written.trim_end() != output.trim_end() {
                wrong.push(format!("{name}:{line}: $ {command}\n{written}"));
            }
        }
    }
    assert!(seen >= 2, "{seen} commands are checked");
    assert!(wrong.is_empty(), "these write something else:\n{}", wrong.join("\n"));
}
