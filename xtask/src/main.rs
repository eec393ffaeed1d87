//! The repository's chores: `cargo xtask <setup|demo|test|instructions|ci>`.

mod ci;
mod command;
mod demo;
mod instructions;
mod setup;
mod test;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <task>

  setup   fetch ONNX Runtime and the model SmolLM2-135M-Instruct (into .ort/ and .models/, about 150 MB)
  demo    set up, then generate JSON under a schema and a daily plan with the model
  test    fetch ONNX Runtime if it is missing, then run all tests
  instructions [--bless]
          count the instructions of some work with valgrind, and compare them with the record, or record them
  ci      what continuous integration runs: format, lints, documentation, tests, licences, a short fuzz run
";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let task = arguments.next();
    let option = arguments.next();
    let result = match (task.as_deref(), option.as_deref()) {
        (Some("setup"), None) => setup::everything(),
        (Some("demo"), None) => demo::run(),
        (Some("test"), None) => test::run(),
        (Some("instructions"), None) => instructions::run(false),
        (Some("instructions"), Some("--bless")) => instructions::run(true),
        (Some("ci"), None) => ci::run(),
        (Some("help" | "--help" | "-h"), None) => {
            print!("{USAGE}");
            Ok(())
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}
