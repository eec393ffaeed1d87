//! The demonstration: a real model under two grammars.

use crate::command::{self, Result, cargo};
use crate::setup;

/// The titles of the runs, and the arguments of the command-line program.
const RUNS: [(&str, &[&str]); 2] = [
    (
        "JSON under a schema",
        &[
            "generate",
            "grammars/person",
            "--model",
            ".models/smollm2",
            "--chat",
            "--prompt",
            "Give the name, age, city and hobbies of an imaginary person.",
            "--max-tokens",
            "200",
        ],
    ),
    (
        "A daily plan",
        &[
            "generate",
            "grammars/daily-plan",
            "--model",
            ".models/smollm2",
            "--chat",
            "--prompt",
            "Plan a quiet Sunday.",
            "--max-tokens",
            "400",
        ],
    ),
];

/// Sets up, builds the program and runs it on each of [`RUNS`].
pub fn run() -> Result {
    setup::everything()?;
    for (title, arguments) in RUNS {
        println!("\n== {title}");
        let program =
            ["run", "--profile", "quick", "--quiet", "--features", "ort", "--package", "grammata-cli", "--"];
        command::run(cargo(&program).args(arguments))?;
    }
    Ok(())
}
