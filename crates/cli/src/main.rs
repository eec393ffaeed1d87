//! The command-line program. Its code is in [`grammata_cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    grammata_cli::run()
}
