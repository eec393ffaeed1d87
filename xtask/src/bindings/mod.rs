//! Grammata for other languages: `bindings/`.

mod c;
mod install;
mod python;

pub use c::bless;
pub use install::install;

use crate::command::Result;
use crate::steps::{self, Step};

const STEPS: [Step; 2] = [("c", c::check), ("python", python::check)];

/// Checks the bindings that are named, or all.
pub fn run(names: &[String]) -> Result {
    steps::run("bindings", &STEPS, names)
}
