//! The command-line program; all of it is in [`grammata::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    grammata::cli::run()
}
