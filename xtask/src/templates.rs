//! Compares chat templates with transformers: `cargo xtask full templates`.

use crate::command::{self, Result, cargo, command, root};
use crate::setup;
use std::process::Stdio;

/// The folder of the virtual environment and of the random templates.
const FOLDER: &str = "target/hosts/templates";
/// The packages whose outputs are kept.
const PACKAGES: [&str; 2] = ["transformers==5.24.0", "jinja2==3.1.6"];
const SCRIPT: &str = "crates/template/tests/make_cases.py";
/// The number of random templates, and their seed.
const RANDOM: [&str; 2] = ["20000", "5"];

/// Compares the kept outputs with those of transformers, and renders random templates with both.
pub fn check() -> Result {
    let folder = root().join(FOLDER);
    let python = setup::environment(&folder)?;
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    command::run(command(&python, &install).args(PACKAGES))?;
    command::run(&mut command(&python, &[SCRIPT, "check"]))?;
    let path = folder.join("random.json");
    let file = std::fs::File::create(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    command::run(command(&python, &[SCRIPT, "random"]).args(RANDOM).stdout(Stdio::from(file)))?;
    let test = ["test", "--package", "grammata-template", "--test", "suite", "random_templates"];
    command::run(cargo(&test).env("GRAMMATA_TEMPLATES", &path))
}
