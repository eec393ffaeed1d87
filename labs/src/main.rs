//! The labs program. Its code is in [`grammata_labs`].

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(grammata_labs::run(std::env::args_os().collect()))
}
