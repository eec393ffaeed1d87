//! Compares the reading of Lark grammars with the package Lark: `cargo xtask full lark`.

use crate::bindings::target;
use crate::command::{self, Result, cargo, command, root};
use crate::setup;

/// The folder of the virtual environment.
const FOLDER: &str = "target/hosts/lark";
/// The package that is compared.
const PACKAGE: &str = "lark==1.3.1";
const SCRIPT: &str = "tests/lark/compare.py";
/// The numbers of random grammars, and of texts for each, and the seed.
const RANDOM: [&str; 3] = ["200", "50", "1"];

/// Compares texts of random grammars, and words that Grammata draws.
pub fn check() -> Result {
    let python = setup::environment(&root().join(FOLDER))?;
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", PACKAGE];
    command::run(&mut command(&python, &install))?;
    command::run(&mut cargo(&["build", "--profile", "quick", "--package", "grammata-cli"]))?;
    let program = target().join("quick/grammata");
    command::run(command(&python, &[SCRIPT]).arg(program).args(RANDOM))
}
