//! Trips in the formats of the TravelPlanner benchmark, planned and measured. `docs/plans.md` shows more.
//!
//! `cargo run --profile quick --example travel -- grammars/travel/tables --queries grammars/travel/queries.jsonl`

use std::process::ExitCode;

#[path = "mod.rs"]
#[allow(dead_code, unused_imports, unreachable_pub)] // the tests, which include this module, use more of it
mod travel;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match travel::run(&arguments, &mut std::io::stdout().lock()) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
