//! The figures of `docs/architecture.md`, drawn from what the engine makes of one example. The test suite checks that those in
//! `docs/figures` are current.

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

/// The figures by file name. Shares that were measured are read from `folder`.
///
/// # Errors
/// What cannot be read or compiled.
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
