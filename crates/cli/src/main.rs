//! The command-line program; all of it is in [`grammata_cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    grammata_cli::run()
}
