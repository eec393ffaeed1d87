//! The figures of `docs/architecture.md`, drawn from the engine's data on one example. The test suite checks that the
//! figures in `docs/figures` are current.

mod configuration;
mod example;
mod mask;
mod owners;
mod strategies;
mod svg;

pub use example::{SCHEMA, TEXT};

use example::Example;
use std::error::Error;
use std::path::Path;

/// Returns the figures by file name. The measured shares of strategies are read from `folder`.
///
/// # Errors
/// A file cannot be read, or the example does not compile.
pub fn all(folder: &Path) -> Result<Vec<(&'static str, String)>, Box<dyn Error>> {
    let example = Example::new()?;
    let shares = std::fs::read_to_string(folder.join("mask-strategies.tsv"))?;
    Ok(vec![
        ("configuration.svg", configuration::draw(&example)?),
        ("mask.svg", mask::draw(&example)?),
        ("owners.svg", owners::draw(&example)?),
        ("mask-strategies.svg", strategies::draw(&shares)?),
    ])
}
